"""An evaluation from gold to written results: `victor evaluate`."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from victor_spark import __version__, resources
from victor_spark.errors import InputError
from victor_spark.evaluation import comparison, contained, gold, measures, measuring, report
from victor_spark.evaluation.comparison import Table
from victor_spark.evaluation.gold import Choice, GoldPage, Source
from victor_spark.evaluation.measuring import Measurement, Plan
from victor_spark.evaluation.progress import track

SECONDS: Final = 120.0
"""How long a cleaner may take for one page, its measures included."""


@dataclass(frozen=True, slots=True)
class Gold:
    """The chosen gold after a check: its sources, the number of pages and their hash."""

    sources: Sequence[Source]
    choice: Choice
    n_pages: int
    fingerprint: str

    def pages(self) -> Iterator[GoldPage]:
        """Reads the pages again."""
        return gold.chosen(self.sources, self.choice)


def check(sources: Sequence[Source], choice: Choice) -> Gold:
    """Reads all gold once, so that errors in it are found before the first page; InputError without pages."""
    known = {source.set for source in sources}
    if unknown := [name for name in choice.sets if name not in known]:
        raise InputError(f"no set {', '.join(unknown)} in the gold; there are: {', '.join(sorted(known))}")
    ids: set[tuple[str, str]] = set()
    hashes: list[str] = []
    for page in gold.chosen(sources, choice):
        if (page.set, page.id) in ids:
            raise InputError(f"two gold pages of the set {page.set} have the id {page.id}")
        ids.add((page.set, page.id))
        hashes.append(gold.fingerprint([page]))
    if not ids:
        parts = [f"sets {', '.join(choice.sets)}"] if choice.sets else []
        parts += [f"split {choice.split}"] if choice.split else []
        chosen = f" ({'; '.join(parts)})" if parts else ""
        raise InputError(f"no page with gold to evaluate on{chosen}")
    return Gold(sources, choice, len(ids), gold.of_hashes(hashes))


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
    gold: Gold, plan: Plan, output: Path, about: dict[str, Any], *, n_jobs: int, seconds: float = SECONDS
) -> dict[str, Any]:
    """Runs every cleaner on every page, writes OUTPUT, and returns the content of its results.json."""
    n = gold.n_pages * len(plan.names)
    measurements = list(track(locally(gold.pages(), plan, n_jobs=n_jobs, seconds=seconds), "evaluating", n))
    rows = comparison.table(measurements, plan.names)
    results = {
        "version": __version__,
        "options": about,
        "gold": {"n_pages": gold.n_pages, "sha256": gold.fingerprint},
        "cleaners": list(plan.names),
        "measures": list(plan.measures),
        **comparison.compare(rows, plan.measures),
    }
    write(output, results, rows, gold, plan)
    return results


def write(output: Path, results: dict[str, Any], rows: Table, gold: Gold, plan: Plan) -> None:
    """results.json, results.csv with a line per page and cleaner, and report.html."""
    with resources.written(output):
        output.mkdir(parents=True, exist_ok=True)
        stored = json.dumps(_finite(results), indent=1, ensure_ascii=False)
        (output / "results.json").write_text(stored + "\n", encoding="utf-8")
        names = [name for name in plan.measures if name != measuring.BLOCKS]
        with (output / "results.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            head = [f"{name}_{part}" for name in names for part in _PARTS]
            writer.writerow([*_PAGE_COLUMNS, *head, "block_accuracy", "block_f1"])
            writer.writerows(_cells(page, names) for pages in rows.values() for page in pages)
        worst = report.worst_pages(rows, gold.pages(), plan, comparison.main_measure(results))
        (output / "report.html").write_text(report.html(results, rows, worst), encoding="utf-8")


def _finite(value: Any) -> Any:
    """The value with null for NaN, which JSON lacks."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and value != value else value  # noqa: PLR0124 - only NaN isn't itself


_PAGE_COLUMNS: Final = (
    "set", "id", "site", "language", "page_type", "cleaner", "status", "reason", "seconds", "n_characters",
)  # fmt: skip
_PARTS: Final = ("precision", "recall", "f1")


def _cells(page: Measurement, names: Sequence[str]) -> list[Any]:
    """A line of results.csv; what was not measured is empty."""
    cells = [getattr(page, column) for column in _PAGE_COLUMNS]
    cells = [round(cell, 5) if isinstance(cell, float) else cell for cell in cells]
    for name in names:
        overlap = page.overlaps.get(name)
        quality = measures.quality(overlap) if overlap else None
        cells += [f"{getattr(quality, part):.5f}" if quality else "" for part in _PARTS]
    blocks = measures.block_measures(page.blocks) if page.blocks else None
    return [*cells, *(f"{blocks.accuracy:.5f} {blocks.f1:.5f}".split() if blocks else ["", ""])]
