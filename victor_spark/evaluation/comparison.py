"""Measurements of many pages → figures per cleaner, over all pages and per set, language and page type.

All figures are plain dicts, for results.json, the terminal table and the report.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any, Final

import numpy as np

from victor_spark.blocks import Float64
from victor_spark.evaluation import measures, resampling
from victor_spark.evaluation.measures import ThresholdCurve
from victor_spark.evaluation.measuring import BLOCKS, THRESHOLDS, Measurement

ALL: Final = "all"
UNKNOWN: Final = "unknown"

GROUPINGS: Final[Mapping[str, Callable[[Measurement], str]]] = {
    ALL: lambda _: ALL,
    "set": lambda page: page.set,
    "language": lambda page: page.language or UNKNOWN,
    "page type": lambda page: page.page_type or UNKNOWN,
}
"""How pages are grouped → the group of a page."""

Table = dict[str, list[Measurement]]
"""Name of the cleaner → a measurement a page, every cleaner's in the same order of pages."""


def table(measurements: Sequence[Measurement], names: Sequence[str]) -> Table:
    """The measurements by cleaner, pages in the order of set and id, whatever order they were made in."""
    ordered = sorted(measurements, key=lambda each: (each.set, each.id))
    return {name: [each for each in ordered if each.cleaner == name] for name in names}


def compare(rows: Table, wanted: Sequence[str]) -> dict[str, Any]:
    """All figures: grouping → group → cleaner → figures; the differences; the failures."""
    measured = [name for name in wanted if name != BLOCKS]
    return {
        "figures": {name: _grouped(rows, measured, group) for name, group in GROUPINGS.items()},
        "differences": differences(rows, measured),
        "curves": {name: asdict_curve(each) for name, each in curves(rows).items()},
        "failures": failures(rows),
    }


def main_measure(results: Mapping[str, Any]) -> str | None:
    """The measure that charts and the worst pages go by: word F1, or the first that pages have."""
    figures = next(iter(results["figures"][ALL][ALL].values()))
    return "words" if "words" in figures["measures"] else next(iter(figures["measures"]), None)


def f1(page: Measurement, measure: str) -> float:
    """The page's F1 in one measure, NaN where it hasn't got it."""
    overlap = page.overlaps.get(measure)
    return measures.quality(overlap).f1 if overlap else np.nan


def is_failure(page: Measurement) -> bool:
    """Whether the cleaner failed on this page, instead of finding content or none."""
    return page.status not in {"ok", "empty"}


def failures(rows: Table) -> list[dict[str, Any]]:
    """The pages on which a cleaner failed; they count as an empty output."""
    return [
        {"cleaner": name, "set": page.set, "id": page.id, "status": page.status, "reason": page.reason}
        for name, pages in rows.items()
        for page in pages
        if is_failure(page)
    ]


def curves(rows: Table) -> dict[str, ThresholdCurve]:
    """Victor's Figure 2 for every cleaner with probabilities other than 0 and 1."""
    found = {}
    for name, pages in rows.items():
        each = [page.curve for page in pages if page.curve]
        if any(curve.graded for curve in each):
            n_kept, n_right = np.array([(curve.n_kept, curve.n_right) for curve in each]).sum(axis=0)
            n_content = sum(curve.n_content for curve in each)
            found[name] = measures.curve_of_counts(THRESHOLDS, n_kept, n_right, n_content)
    return found


def asdict_curve(curve: ThresholdCurve) -> dict[str, list[float]]:
    """A curve as lists."""
    return {key: np.round(column, 6).tolist() for key, column in asdict(curve).items()}


def differences(rows: Table, measured: Sequence[str]) -> list[dict[str, Any]]:
    """Every pair of cleaners: the mean difference of F1 in every measure, its interval and p-value."""
    if not measured or not rows:
        return []
    sites = [page.site for page in next(iter(rows.values()))]
    columns = {name: _columns([rows[name]], measured) for name in rows}
    found = []
    for first, second in combinations(rows, 2):
        every = resampling.differences(columns[first], columns[second], sites)
        by_measure = {name: asdict(each) for name, each in zip(measured, every, strict=True) if each.n_pages}
        found.append({"first": first, "second": second, "f1": by_measure})
    return found


def _grouped(
    rows: Table, measured: Sequence[str], group: Callable[[Measurement], str]
) -> dict[str, dict[str, Any]]:
    groups = [group(page) for page in next(iter(rows.values()))]
    return {
        name: _figures(
            {
                cleaner: [page for page, own in zip(pages, groups, strict=True) if own == name]
                for cleaner, pages in rows.items()
            },
            measured,
        )
        for name in sorted(set(groups))
    }


def _figures(rows: Table, measured: Sequence[str]) -> dict[str, Any]:
    """Cleaner → figures over the pages of one group."""
    sites = [page.site for page in next(iter(rows.values()))]
    values = _columns(list(rows.values()), measured)
    low, high = resampling.intervals(values, sites)
    bounds = zip(low.reshape(len(rows), -1).tolist(), high.reshape(len(rows), -1).tolist(), strict=True)
    return {
        cleaner: _cleaner_figures(pages, measured, lows, highs)
        for (cleaner, pages), (lows, highs) in zip(rows.items(), bounds, strict=True)
    }


def _columns(tables: Sequence[Sequence[Measurement]], measured: Sequence[str]) -> Float64:
    """F1 with a row a page, and a column a measure of each of the tables, one table after the other."""
    columns = [[f1(page, name) for page in pages] for pages in tables for name in measured]
    return np.array(columns).reshape(len(columns), -1).T


def _cleaner_figures(
    pages: Sequence[Measurement], measured: Sequence[str], lows: Sequence[float], highs: Sequence[float]
) -> dict[str, Any]:
    seconds = sum(page.seconds for page in pages)
    counts = [page.blocks for page in pages if page.blocks]
    with_content = [each for each in counts if each.n_content_annotated]
    by_measure = {
        name: _measure_figures(pages, name) | {"f1_low": low, "f1_high": high}
        for name, low, high in zip(measured, lows, highs, strict=True)
        if any(name in page.overlaps for page in pages)
    }
    return {
        "n_pages": len(pages),
        "n_sites": len({page.site for page in pages}),
        "empty_ratio": float(np.mean([page.n_characters == 0 for page in pages])),
        "n_failed": sum(map(is_failure, pages)),
        "pages_per_second": round(len(pages) / seconds, 1) if seconds else None,
        "measures": by_measure,
        BLOCKS: _block_figures(counts),
        "blocks_of_pages_with_content": _block_figures(with_content),
    }


def _measure_figures(pages: Sequence[Measurement], measure: str) -> dict[str, Any]:
    """Means over pages (macro), the median, and all pages taken as one (micro)."""
    overlaps = [page.overlaps[measure] for page in pages if measure in page.overlaps]
    macro, micro = measures.macro(overlaps), measures.micro(overlaps)
    return {
        "n_pages": len(overlaps),
        **asdict(macro),
        "f1_median": float(np.median([measures.quality(each).f1 for each in overlaps])),
        **{f"micro_{key}": value for key, value in asdict(micro).items()},
    }


def _block_figures(counts: Sequence[measures.BlockCounts]) -> dict[str, Any] | None:
    if not counts:
        return None
    return {"n_pages": len(counts), **asdict(measures.block_measures(measures.total(counts)))}
