"""The annotated pages that models are trained and measured on, and a fixed sample of them."""

import hashlib
import os
from pathlib import Path
from typing import Final

from victor_spark.evaluation import gold
from victor_spark.evaluation.gold import GoldPage

NEWER: Final = ("aed", "fundus")
"""Sets in `more/`, beside the directory of the older ones."""


_REPOSITORY: Final = Path(__file__).resolve().parents[1]


def data_directory() -> Path | None:
    """The optional annotated data: $VICTOR_DATA, else ../shared/data beside the repository."""
    directory = Path(os.environ.get("VICTOR_DATA") or _REPOSITORY.parent / "shared" / "data")
    return directory if directory.is_dir() else None


def files(directory: Path) -> dict[str, Path]:
    """Set name → file: all sets in `directory`, then those of NEWER that are in `more/` beside it."""
    more = directory.with_name("more")
    newer = gold.find(more) if more.is_dir() else {}
    return gold.find(directory) | {name: newer[name] for name in NEWER if name in newer}


def fixed_sample(directory: Path, per_set: int) -> list[GoldPage]:
    """At most `per_set` usable pages of every set: those of the dev split first, by hash of their id."""
    chosen = []
    for path in files(directory).values():
        pages = [page for page in gold.read(path) if gold.usable(page)]
        chosen += sorted(pages, key=lambda page: (page.split != "dev", _hash(page.id)))[:per_set]
    return chosen


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
