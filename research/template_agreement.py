"""Whether the published expressions say all: Python's `re` and the interval rule against our automaton."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from victor_spark.blocks import Int32, unite
from victor_spark.logs import track
from victor_spark.templates import table
from victor_spark.templates.matcher import NEAR, Matcher
from victor_spark.templates.mine import MiningSettings, mine, sample


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of one site: pages whose text is the same either way, and characters that templates take out."""

    site: str
    n_pages: int
    n_templates: int
    n_same: int
    n_removed: int


def agreements(sites: Sequence[tuple[str, Sequence[str]]], view: str = "text") -> Iterator[Agreement]:
    """Of each site with templates (name, texts of all its pages in the view); progress on stderr."""
    for name, texts in track(sites, f"re against automaton, {view}", len(sites)):
        found = mine(name, sample(texts), MiningSettings(view=view))
        if found.templates:
            yield _agreement(name, texts, table.rows(found, _NOW), view)


_NOW = datetime(2025, 1, 1, tzinfo=UTC)


def _agreement(site: str, texts: Sequence[str], published: pa.Table, view: str) -> Agreement:
    expressions = published["regex"].to_pylist()
    matcher = Matcher(zip(published["tokens"].to_pylist(), expressions, strict=True), view)
    n_same = n_removed = 0
    for text in texts:
        ours = remove(text, matcher.intervals(text))
        n_same += ours == remove(text, by_expressions(text, expressions))
        n_removed += len(text) - len(ours)
    return Agreement(site, len(texts), len(expressions), n_same, n_removed)


def by_expressions(text: str, expressions: Iterable[str], near: int = NEAR) -> Int32:
    """The definition of `Matcher.intervals`, with Python's `re`, one expression after the other."""
    matches = sorted(match.span() for regex in expressions for match in re.finditer(regex, text))
    columns = np.array(matches, dtype=np.int32).reshape(-1, 2)
    return unite(columns[:, 0], columns[:, 1], near)


def remove(text: str, intervals: Int32) -> str:
    """`text` without the intervals."""
    kept, position = [], 0
    for start, end in intervals.tolist():
        kept.append(text[position:start])
        position = end
    return "".join(kept) + text[position:]


def total(found: Iterable[Agreement]) -> Agreement:
    """All sites together."""
    rows = list(found)
    n_pages, n_templates = sum(row.n_pages for row in rows), sum(row.n_templates for row in rows)
    n_same, n_removed = sum(row.n_same for row in rows), sum(row.n_removed for row in rows)
    return Agreement(f"{len(rows)} sites", n_pages, n_templates, n_same, n_removed)
