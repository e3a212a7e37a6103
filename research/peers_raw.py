"""What other people's extractors find on annotated pages, each given the raw html: words, page by page.

Beside `victor evaluate --cleaner trafilatura`, where they get the canonical HTML that our cleaners get, this
is how their users run them.
"""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Final

from victor_spark import words
from victor_spark.blocks import Page
from victor_spark.errors import InputError
from victor_spark.evaluation import contained, labelling, measures
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.measures import Overlap
from victor_spark.extractors import check_name, peers

NAMES: Final = ("trafilatura", "readability", "resiliparse", "justext", "boilerpipe")
"""The cleaners compared; jusText with the stop list of the page's language."""

SECONDS: Final = 60.0
"""How long one tool may take for a page."""


@dataclass(frozen=True, slots=True)
class PeerRow:
    """The overlap of one tool's text with the gold's words; `failure`: why the tool gave no text."""

    set: str
    id: str
    peer: str
    n_found: int
    n_common: int
    n_gold: int
    failure: str | None = None

    @property
    def f1(self) -> float:
        """Word F1."""
        return measures.quality(Overlap(self.n_common, self.n_found, self.n_gold)).f1


def versions(names: Sequence[str]) -> dict[str, str]:
    """Cleaner → the tool and its version; UsageError where one isn't installed."""
    for name in names:
        check_name(name)
    packages = {name: peers.PEERS[name].package for name in names}
    return {name: f"{package} {metadata.version(package)}" for name, package in packages.items()}


def measure(pages: Iterable[GoldPage], names: Sequence[str], *, n_jobs: int) -> Iterator[PeerRow]:
    """A row for every page and tool, in child processes: a page that a tool hangs on is an empty output.

    The language of a page is its annotation's: jusText alone looks at it.
    """
    work = contained.Work(
        make=partial(_measurer, tuple(names)),
        n_steps=len(names),
        failed=partial(_failed, tuple(names)),
        seconds=SECONDS,
    )
    return contained.results(pages, work, n_jobs=n_jobs)


def write(path: Path, rows: Iterable[PeerRow]) -> None:
    """Writes the rows in the order of set, page and tool; the same rows make the same bytes."""
    ordered = sorted(rows, key=lambda row: (row.set, row.id, row.peer))
    lines = [json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in ordered]
    path.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


def read(path: Path) -> list[PeerRow]:
    """The rows in `path`; InputError with its name where that can't be read."""
    try:
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        return [PeerRow(**json.loads(line)) for line in lines]
    except (OSError, EOFError, ValueError, TypeError) as error:
        raise InputError(f"{path}: no results of peers ({error})") from error


def _measurer(names: tuple[str, ...]) -> Callable[[GoldPage, int], Iterator[PeerRow]]:
    tools = {name: peers.extractor(name) for name in names}
    no_blocks = labelling.label(GoldPage("", "", "", "")).page.blocks

    def measure(page: GoldPage, first: int) -> Iterator[PeerRow]:
        raw = Page(page.html, no_blocks, url=page.url, language=page.language)
        wanted = words.words(page.gold or "")
        for name in names[first:]:
            found = measures.overlap(words.words(tools[name](raw)), wanted)
            yield PeerRow(page.set, page.id, name, found.n_found, found.n_common, found.n_gold)

    return measure


def _failed(names: tuple[str, ...], page: GoldPage, step: int, status: str, reason: str) -> PeerRow:
    n_gold = len(words.words(page.gold or ""))
    return PeerRow(page.set, page.id, names[step], 0, 0, n_gold, f"{status}: {reason}"[:80])
