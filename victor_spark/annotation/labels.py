"""The labels of a store, and the label string of a page: one base-36 digit per block."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from victor_spark.blocks import LABELS
from victor_spark.errors import AnnotationError, UsageError

DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
ROLES: Final = LABELS
Runs = list[list[int]]
"""[[first, last, label], …]: blocks first to last, inclusive, have this label."""

# Colours that are distinct for all kinds of colour vision (Okabe and Ito 2008); "other" is grey.
_COLOURS: Final = (
    "#b45309", "#0072b2", "#6b7280", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7c3aed", "#111827"
)  # fmt: skip
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,23}")


@dataclass(frozen=True)
class Label:
    """A label of annotators, and the one of ROLES that replaces it in the export."""

    name: str
    role: str
    key: str
    colour: str


DEFAULT: Final = tuple(Label(name, name, str(i + 1), _COLOURS[i]) for i, name in enumerate(LABELS))


def parse(words: Sequence[str]) -> tuple[Label, ...]:
    """The default labels and those of `--label NAME=ROLE`; UsageError if one is invalid."""
    labels = list(DEFAULT)
    for word in words:
        name, _, role = word.partition("=")
        if not _NAME.fullmatch(name) or role not in ROLES:
            raise UsageError(
                f"--label {word}: expected NAME=ROLE, a short lower-case name and {', '.join(ROLES)}"
            )
        if any(label.name == name for label in labels):
            raise UsageError(f"--label {word}: the label {name} exists")
        number = len(labels)
        if number >= len(_COLOURS):
            raise UsageError(f"at most {len(_COLOURS)} labels")
        labels.append(Label(name, role, str(number + 1), _COLOURS[number]))
    return tuple(labels)


def encode(numbers: Iterable[int]) -> str:
    """Label numbers as a label string."""
    return "".join(DIGITS[number] for number in numbers)


def decode(labels: str) -> list[int]:
    """A label string as label numbers."""
    return [DIGITS.index(digit) for digit in labels]


def runs_of(labels: str, blocks: Iterable[int]) -> Runs:
    """The labels of these blocks (ascending) as runs."""
    runs: Runs = []
    for block in blocks:
        label = DIGITS.index(labels[block])
        if runs and runs[-1][1] == block - 1 and runs[-1][2] == label:
            runs[-1][1] = block
        else:
            runs.append([block, block, label])
    return runs


def apply(labels: str, runs: Runs) -> str:
    """The label string after these runs are applied."""
    for first, last, label in runs:
        labels = labels[:first] + DIGITS[label] * (last - first + 1) + labels[last + 1 :]
    return labels


def differing(labels: str, others: str) -> list[int]:
    """The blocks that two label strings of one page label differently."""
    return [block for block, (a, b) in enumerate(zip(labels, others, strict=True)) if a != b]


def spans(blocks: Iterable[int]) -> list[list[int]]:
    """Ascending block numbers as [[first, last], …]."""
    groups = groupby(enumerate(blocks), key=lambda pair: pair[1] - pair[0])
    return [[members[0][1], members[-1][1]] for members in (list(group) for _, group in groups)]


def checked_runs(runs: Any, label: Any, *, n_blocks: int, n_labels: int) -> Runs:
    """The runs that a browser sent, with the label; AnnotationError unless they are within the page."""
    if type(label) is not int or not 0 <= label < n_labels:
        raise AnnotationError(f"there is no label {label!r}")
    if not isinstance(runs, list) or not runs or len(runs) > max(n_blocks, 1):
        raise AnnotationError("runs must be a list of [first, last]")
    checked = []
    for run in runs:
        if not isinstance(run, list) or len(run) != 2 or any(type(number) is not int for number in run):
            raise AnnotationError("runs must be a list of [first, last]")
        first, last = sorted(run)
        if first < 0 or last >= n_blocks:
            raise AnnotationError(f"the page has the blocks 0 to {n_blocks - 1}, not {first} to {last}")
        checked.append([first, last, label])
    if sum(last - first + 1 for first, last, _ in checked) > n_blocks:
        raise AnnotationError("runs overlap")
    return checked
