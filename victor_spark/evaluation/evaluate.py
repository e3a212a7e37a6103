"""An evaluation from gold to figures: `victor evaluate`.

Figures are per cleaner, over all pages and per set, language and page type, as plain dicts.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations
from typing import Any, Final, TypeAlias

import numpy as np

from victor_spark import __version__
from victor_spark.blocks import Float64
from victor_spark.errors import InputError
from victor_spark.evaluation import contained, gold, measures, measuring
from victor_spark.evaluation.gold import GoldPage, Source
from victor_spark.evaluation.measures import ALL, Counts, ThresholdCurve
from victor_spark.evaluation.measuring import BLOCKS, Measurement, Plan
from victor_spark.logs import track

SECONDS: Final = 120.0
"""How long a cleaner may take for one page, its measures included."""

UNKNOWN: Final = "unknown"

GROUPINGS: Final[Mapping[str, Callable[[Measurement], str]]] = {
    ALL: lambda _: ALL,
    "set": lambda page: page.set,
    "language": lambda page: page.language or UNKNOWN,
    "page type": lambda page: page.page_type or UNKNOWN,
}
"""How pages are grouped → the group of a page."""

Table: TypeAlias = dict[str, list[Measurement]]
"""Name of the cleaner → one measurement per page; the order of pages is the same for all cleaners."""


@dataclass(frozen=True, slots=True)
class Gold:
    """The chosen gold after a check: a function that reads it again, the number of pages and their hash."""

    pages: Callable[[], Iterator[GoldPage]]
    n_pages: int
    fingerprint: str


def check(
    sources: Sequence[Source], sets: Sequence[str] = (), split: str | None = None, limit: int | None = None
) -> Gold:
    """Reads all gold once, so that errors in it are found before the first page; InputError without pages."""
    known = {name for name, _ in sources}
    if unknown := [name for name in sets if name not in known]:
        raise InputError(f"no set {', '.join(unknown)} in the gold (choose from {', '.join(sorted(known))})")
    pages = partial(gold.chosen, sources, sets, split, limit)
    ids: set[tuple[str, str]] = set()
    fingerprint = gold.fingerprint(gold.distinct(track(pages(), "reading gold pages", 0), ids))
    if not ids:
        parts = [f"sets {', '.join(sets)}"] if sets else []
        parts += [f"split {split}"] if split else []
        chosen = f" ({'; '.join(parts)})" if parts else ""
        raise InputError(f"no page with gold to evaluate on{chosen}")
    return Gold(pages, len(ids), fingerprint)


def locally(
    pages: Iterable[GoldPage], plan: Plan, *, n_jobs: int, seconds: float = SECONDS
) -> Iterator[Measurement]:
    """Measures in child processes: a page on which a cleaner hangs or crashes is recorded as a failure."""
    work = contained.Work(
        make=partial(measuring.measurer, plan),
        n_steps=len(plan.names),
        failed=partial(measuring.failed, plan),
        seconds=seconds,
    )
    return contained.results(pages, work, n_jobs=n_jobs)


def run(
    gold: Gold, plan: Plan, about: dict[str, Any], *, n_jobs: int, seconds: float = SECONDS
) -> tuple[dict[str, Any], Table]:
    """Runs every cleaner on every page: the content of results.json, and the measurements."""
    n = gold.n_pages * len(plan.names)
    measurements = list(track(locally(gold.pages(), plan, n_jobs=n_jobs, seconds=seconds), "evaluating", n))
    rows = table(measurements, plan.names)
    return {
        "version": __version__,
        "options": about,
        "gold": {"n_pages": gold.n_pages, "sha256": gold.fingerprint},
        "cleaners": list(plan.names),
        "measures": list(plan.measures),
        **compare(rows, plan.measures),
    }, rows


def table(measurements: Sequence[Measurement], names: Sequence[str]) -> Table:
    """The measurements by cleaner, pages ordered by set and id."""
    ordered = sorted(measurements, key=lambda each: (each.set, each.id))
    return {name: [each for each in ordered if each.cleaner == name] for name in names}


def compare(rows: Table, wanted: Sequence[str]) -> dict[str, Any]:
    """All figures: grouping → group → cleaner → figures; the differences; the failures."""
    measured = [name for name in wanted if name != BLOCKS]
    drawn = {
        name: {key: np.round(column, 6).tolist() for key, column in asdict(each).items()}
        for name, each in curves(rows).items()
    }
    return {
        "figures": {name: _grouped(rows, measured, group) for name, group in GROUPINGS.items()},
        "differences": differences(rows, measured),
        "curves": drawn,
        "failures": failures(rows),
    }


def measured(results: Mapping[str, Any]) -> list[str]:
    """The measures that any page has."""
    figures = results["figures"][ALL][ALL].values()
    return [name for name in results["measures"] if any(name in each["measures"] for each in figures)]


def main_measure(results: Mapping[str, Any]) -> str | None:
    """The measure of the charts and of the worst pages: word F1, or the first that pages have."""
    figures = next(iter(results["figures"][ALL][ALL].values()))
    return "words" if "words" in figures["measures"] else next(iter(figures["measures"]), None)


def f1(page: Measurement, measure: str) -> float:
    """The page's F1 in one measure, NaN where it was not measured."""
    overlap = page.overlaps.get(measure)
    return measures.quality(overlap).f1 if overlap else np.nan


def failures(rows: Table) -> list[dict[str, Any]]:
    """The pages on which a cleaner failed; they count as an empty output."""
    return [
        {"cleaner": name, "set": page.set, "id": page.id, "status": page.status, "reason": page.reason}
        for name, pages in rows.items()
        for page in pages
        if page.is_failure
    ]


def curves(rows: Table) -> dict[str, ThresholdCurve]:
    """Victor's Figure 2 for every cleaner with probabilities other than 0 and 1."""
    found = {}
    for name, pages in rows.items():
        scored = [page.scored for page in pages if page.scored]
        if any(((p_other > 0) & (p_other < 1)).any() for p_other, _ in scored):
            found[name] = measures.threshold_curve(*map(np.concatenate, zip(*scored, strict=True)))
    return found


def differences(rows: Table, measured: Sequence[str]) -> list[dict[str, Any]]:
    """Every pair of cleaners: the mean difference of F1 in every measure, its interval and p-value."""
    if not measured:
        return []
    sites = [page.site for page in next(iter(rows.values()))]
    columns = {name: _columns([rows[name]], measured) for name in rows}
    found = []
    for first, second in combinations(rows, 2):
        every = measures.differences(columns[first], columns[second], sites)
        by_measure = {name: asdict(each) for name, each in zip(measured, every, strict=True) if each.n_pages}
        found.append({"first": first, "second": second, "f1": by_measure})
    return found


def _grouped(
    rows: Table, measured: Sequence[str], group: Callable[[Measurement], str]
) -> dict[str, dict[str, Any]]:
    """Group → cleaner → figures over the pages of that group."""
    groups = np.array([group(page) for page in next(iter(rows.values()))])
    found = {}
    for name in sorted(set(groups.tolist())):
        members = np.flatnonzero(groups == name).tolist()
        own = [[pages[row] for row in members] for pages in rows.values()]
        low, high = measures.intervals(_columns(own, measured), [page.site for page in own[0]])
        bounds = np.stack([low, high], axis=1).reshape(len(rows), len(measured), 2).tolist()
        found[name] = {
            cleaner: _figures(pages, dict(zip(measured, of_cleaner, strict=True)))
            for cleaner, pages, of_cleaner in zip(rows, own, bounds, strict=True)
        }
    return found


def _columns(tables: Sequence[Sequence[Measurement]], measured: Sequence[str]) -> Float64:
    """F1: one row per page; for each table, one after the other, one column per measure."""
    columns = [[f1(page, name) for page in pages] for pages in tables for name in measured]
    return np.array(columns).reshape(len(columns), len(tables[0])).T


def _figures(pages: Sequence[Measurement], bounds: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """The figures of a cleaner; `bounds`: measure → the interval of its mean F1."""
    seconds = sum(page.seconds for page in pages)
    counts = [page.blocks for page in pages if page.blocks is not None]
    by_measure = {}
    for name, (low, high) in bounds.items():
        if overlaps := [page.overlaps[name] for page in pages if name in page.overlaps]:
            by_measure[name] = {
                "n_pages": len(overlaps),
                **asdict(measures.macro(overlaps)),
                "f1_median": float(np.median([measures.quality(each).f1 for each in overlaps])),
                **{f"micro_{key}": value for key, value in asdict(measures.micro(overlaps)).items()},
                "f1_low": low,
                "f1_high": high,
            }
    return {
        "n_pages": len(pages),
        "n_sites": len({page.site for page in pages}),
        "empty_ratio": float(np.mean([page.n_characters == 0 for page in pages])),
        "n_failed": sum(page.is_failure for page in pages),
        "pages_per_second": round(len(pages) / seconds, 1) if seconds else None,
        "measures": by_measure,
        BLOCKS: _block_figures(counts),
        "blocks_of_pages_with_content": _block_figures(list(filter(measures.has_content, counts))),
    }


def _block_figures(counts: Sequence[Counts]) -> dict[str, Any] | None:
    return {"n_pages": len(counts), **measures.block_measures(counts)} if counts else None
