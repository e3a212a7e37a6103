"""Constants of a rule cleaner fitted on annotated pages: one after the other, by mean word F1."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from victor_spark import words
from victor_spark.blocks import Bool, Float64, Int32
from victor_spark.evaluation.labelling import LabelledPage

T = TypeVar("T")
Grid: TypeAlias = Mapping[str, Sequence[Any]]
"""Field of a dataclass ("near"), or of one inside it ("steps.near") → the values to try."""

MAX_ROUNDS: Final = 4
N_STANDARD_ERRORS: Final = 1.96
"""Standard errors on one side of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class PageBag:
    """The words of a page for word F1: the block of each, and the id of the gold word or -1."""

    rows: Int32
    ids: Int32
    n_gold: Int32

    def f1(self, kept: Bool) -> float:
        """Word F1 of the kept blocks, as `measures.quality` defines it."""
        ids = self.ids[kept[self.rows]]
        total = len(ids) + int(self.n_gold.sum())
        found = np.bincount(ids[ids >= 0], minlength=len(self.n_gold))
        return 2 * int(np.minimum(found, self.n_gold).sum()) / total if total else 1.0


def bag(page: LabelledPage) -> PageBag:
    """The bag of a page's words beside those of its gold."""
    page_words, rows = words.block_words(page.page.blocks)
    ids: dict[str, int] = {}
    gold = [ids.setdefault(word, len(ids)) for word in words.words(page.gold.gold or "")]
    own = np.array([ids.get(word, -1) for word in page_words], dtype=np.int32)
    n_gold = np.bincount(np.array(gold, dtype=np.int32), minlength=len(ids)).astype(np.int32)
    return PageBag(rows, own, n_gold)


def coordinate(
    score: Callable[[T], Float64], given: T, grid: Grid, report: Callable[[str], None]
) -> tuple[T, float]:
    """The best constants found by trying all values of one field at a time, until a round gains nothing.

    `score` gives F1 per page. A value is used when its mean gain is above N_STANDARD_ERRORS standard errors
    over pages; a smaller gain may be chance. Starts with the first value of each field; fields that the
    grid does not name stay as `given`. Returns the constants and their mean F1.
    """
    best = given
    for name, values in grid.items():
        best = changed(best, name, values[0])
    reached = score(best)
    report(f"start: {reached.mean():.4f}")
    for _ in range(MAX_ROUNDS):
        before = best
        for name, values in grid.items():
            others = [value for value in values if value != get(best, name)]
            scores = [score(changed(best, name, value)) for value in others]
            row = int(np.argmax([each.mean() for each in scores]))
            if _is_better(scores[row], reached):
                best, reached = changed(best, name, others[row]), scores[row]
                report(f"{name} = {others[row]}: {reached.mean():.4f}")
        if best == before:
            break
    return best, float(reached.mean())


def _is_better(found: Float64, reached: Float64) -> bool:
    gain = found - reached
    return bool(gain.mean() > max(N_STANDARD_ERRORS * gain.std() / np.sqrt(len(gain)), 0.0))


def get(constants: Any, name: str) -> Any:
    """The value of a field, also of one inside another ("steps.near")."""
    first, _, rest = name.partition(".")
    return get(getattr(constants, first), rest) if rest else getattr(constants, first)


def changed(constants: T, name: str, value: Any) -> T:
    """The dataclass with one field changed, also one inside another."""
    first, _, rest = name.partition(".")
    inner = changed(getattr(constants, first), rest, value) if rest else value
    return replace(constants, **{first: inner})  # type: ignore[type-var] # a dataclass, whatever T is
