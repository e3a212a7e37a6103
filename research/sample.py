"""The sample of annotated pages that the quality gate and the reproductions train and measure on."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from victor_spark.evaluation import gold
from victor_spark.evaluation.gold import GoldPage

NEWER: Final = ("aed", "fundus")
"""The sets of data/more that models are trained on."""


def fixed_sample(directory: Path, per_set: int, names: Sequence[str] = ()) -> list[GoldPage]:
    """At most `per_set` usable pages of every set or of `names`: the dev split first, by hash of id."""
    chosen = []
    for path in gold.find(directory, names).values():
        pages = [page for page in gold.read(path) if gold.usable(page)]
        chosen += sorted(pages, key=lambda page: (page.split != "dev", _hash(page.id)))[:per_set]
    return chosen


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
