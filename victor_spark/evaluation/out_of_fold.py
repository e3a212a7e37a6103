"""The results of a cross-validation page by page, written beside the model: numbers and ids, no text.

One JSON object a line, gzipped: figures over any group of pages can be computed without training again.
"""

import gzip
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Self

from victor_spark.blocks import Bool
from victor_spark.errors import InputError
from victor_spark.evaluation import cross_validation, measures
from victor_spark.evaluation.cross_validation import PageResult
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.evaluation.measures import Overlap
from victor_spark.model import decision

FILE_NAME: Final = "out_of_fold.jsonl.gz"


@dataclass(frozen=True, slots=True)
class Decided:
    """Words kept of a page, those of them that the gold has too, and the F1 that was expected."""

    n_found: int
    n_common: int
    expected_f1: float


@dataclass(frozen=True, slots=True)
class PageRow:
    """A page cleaned by a model that was trained without its site.

    `decided` is the cleaner's output, `unrejected` the output without the page-level reject (different only
    where the output is empty). `n_gold` are the words of the gold text.
    """

    set: str
    id: str
    site: str
    language: str | None
    page_type: str | None
    fold: int
    n_gold: int
    decided: Decided
    unrejected: Decided

    @property
    def words(self) -> Overlap:
        """The overlap with the gold."""
        return Overlap(self.decided.n_common, self.decided.n_found, self.n_gold)

    @property
    def words_unrejected(self) -> Overlap:
        """The same without the page-level reject."""
        return Overlap(self.unrejected.n_common, self.unrejected.n_found, self.n_gold)

    @property
    def word_f1(self) -> float:
        """F1 of the words; 1 where nothing is wanted and nothing is there."""
        return measures.quality(self.words).f1

    @property
    def key(self) -> tuple[str, str]:
        """Set and id."""
        return self.set, self.id

    @classmethod
    def from_json(cls, stored: dict[str, object]) -> Self:
        """A row as `as_json` gave it; TypeError for anything else."""
        known = {**stored, **{name: Decided(**stored[name]) for name in ("decided", "unrejected")}}  # type: ignore[arg-type]
        del known["word_f1"], known["empty"]
        return cls(**known)  # type: ignore[arg-type]

    def as_json(self) -> dict[str, object]:
        """The row, with word F1 and whether it is empty, for readers without this code."""
        return asdict(self) | {"word_f1": round(self.word_f1, 6), "empty": self.decided.n_found == 0}


def rows(pages: Sequence[LabelledPage], results: Sequence[PageResult]) -> list[PageRow]:
    """A row for each result, which stand in the order of the pages."""
    return [_row(page, result) for page, result in zip(pages, results, strict=True)]


def write(path: Path, rows: Iterable[PageRow]) -> None:
    """Writes the rows; the same rows make the same bytes."""
    lines = [json.dumps(row.as_json(), ensure_ascii=False) + "\n" for row in rows]
    path.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


def read(path: Path) -> list[PageRow]:
    """The rows in `path`; InputError with its name where that can't be read."""
    try:
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        rows = [PageRow.from_json(json.loads(line)) for line in lines]
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: no results out of fold ({error})") from error
    if not rows:
        raise InputError(f"{path}: no results out of fold (it is empty)")
    return rows


def _row(page: LabelledPage, result: PageResult) -> PageRow:
    marginals, weights = result.scores.probabilities, decision.n_words(page.page.blocks)
    kept = result.scores.kept
    decided = _decided(page, result, kept)
    if not kept.any():
        kept = decision.by_expected_f1(marginals, weights, least=0.0)
    return PageRow(
        set=page.gold.set,
        id=page.gold.id,
        site=page.site,
        language=page.gold.language or page.page.language,
        page_type=page.gold.meta.get("page_type"),
        fold=result.fold,
        n_gold=result.words.n_gold,
        decided=decided,
        unrejected=_decided(page, result, kept) if kept.any() else decided,
    )


def _decided(page: LabelledPage, result: PageResult, kept: Bool) -> Decided:
    marginals, weights = result.scores.probabilities, decision.n_words(page.page.blocks)
    same = kept is result.scores.kept
    words = result.words if same else cross_validation.word_overlap(page, kept)
    return Decided(words.n_found, words.n_common, round(decision.expected_f1(marginals, weights, kept), 6))
