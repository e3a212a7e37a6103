"""The sample of annotated pages that the quality gate and the reproductions train and measure on."""

import hashlib
from pathlib import Path

from victor_spark.evaluation import gold
from victor_spark.evaluation.gold import GoldPage


def fixed_sample(directory: Path, per_set: int) -> list[GoldPage]:
    """At most `per_set` usable pages of every set: those of the dev split first, by hash of their id."""
    chosen = []
    for path in gold.find(directory).values():
        pages = [page for page in gold.read(path) if gold.usable(page)]
        chosen += sorted(pages, key=lambda page: (page.split != "dev", _hash(page.id)))[:per_set]
    return chosen


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
