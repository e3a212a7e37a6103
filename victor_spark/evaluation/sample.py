"""The fixed sample of gold pages that the gate looks at, and a hash that notices when it changes."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from victor_spark.evaluation import gold
from victor_spark.evaluation.gold import GoldPage

PAGES_PER_SET: Final = 60


def fixed(directory: Path, per_set: int = PAGES_PER_SET) -> list[GoldPage]:
    """At most `per_set` usable pages of every set: those of the dev split first, by hash of their id."""
    chosen = []
    for path in gold.find(directory).values():
        usable = [page for page in gold.read(path) if gold.usable(page)]
        chosen += sorted(usable, key=lambda page: (page.split != "dev", _hash(page.id)))[:per_set]
    return chosen


def fingerprint(pages: Sequence[GoldPage]) -> str:
    """A hash of the pages' ids, html and gold, whatever their order."""
    return of_hashes([_hash(json.dumps([page.set, page.id, page.html, page.gold])) for page in pages])


def of_hashes(hashes: Sequence[str]) -> str:
    """One hash of those of many pages, whatever their order."""
    return _hash("\n".join(sorted(hashes)))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
