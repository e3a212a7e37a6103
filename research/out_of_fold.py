"""The results of a cross-validation page by page, as `victor train crf` writes them beside a model."""

import gzip
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from victor_spark.errors import InputError
from victor_spark.evaluation import measures
from victor_spark.evaluation.cross_validation import OUT_OF_FOLD as FILE_NAME
from victor_spark.evaluation.measures import Overlap

__all__ = ["FILE_NAME", "Decided", "PageRow", "read", "write"]


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
        """F1 of the words; 1 where both the gold and the output are empty."""
        return measures.quality(self.words).f1

    @property
    def key(self) -> tuple[str, str]:
        """Set and id."""
        return self.set, self.id

    @classmethod
    def from_json(cls, stored: dict[str, object]) -> Self:
        """A row of the file; TypeError for anything else."""
        known = {**stored, **{name: Decided(**stored[name]) for name in ("decided", "unrejected")}}  # type: ignore[arg-type]
        del known["word_f1"], known["empty"]
        return cls(**known)  # type: ignore[arg-type]


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


def write(path: Path, rows: Iterable[PageRow]) -> None:
    """Writes rows as `victor train crf` does."""
    stored = [{**asdict(row), "word_f1": row.word_f1, "empty": row.decided.n_found == 0} for row in rows]
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in stored).encode(), mtime=0))
