"""The results of an evaluation as lines for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from victor_spark.evaluation import report
from victor_spark.evaluation.comparison import ALL

_N_FAILURES: Final = 5
_WIDTH: Final = 9


def lines(results: Mapping[str, Any]) -> Iterator[str]:
    """The table of cleaners, their differences from the first one, and the first failures."""
    figures = results["figures"][ALL][ALL]
    measured = [
        name for name in results["measures"] if any(name in each["measures"] for each in figures.values())
    ]
    width = max(len("cleaner"), *map(len, figures)) + 2
    measure = report.main_measure(results)
    head = "".join(f"{name:>{_WIDTH}}" for name in measured)
    head += f"  {'95 % interval':>15}{'median':>8}{'empty':>7}{'failed':>7}{'pages/s':>9}"
    yield f"{'cleaner':<{width}}{'pages':>6}{head}"
    for cleaner, each in figures.items():
        yield f"{cleaner:<{width}}" + _row(each, measured, measure)
    if measure:
        yield f"F1, mean over pages; interval and median of {measure}; pages/s of processor time"
        yield from _differences(results["differences"], measure, next(iter(figures)))
    yield from _failures(results["failures"])


def _row(figures: Mapping[str, Any], measured: Sequence[str], measure: str | None) -> str:
    there = figures["measures"]
    cells = "".join(
        f"{there[name]['f1']:>{_WIDTH}.4f}" if name in there else f"{'–':>{_WIDTH}}" for name in measured
    )
    main = there.get(measure)
    interval = f"{main['f1_low']:.3f} – {main['f1_high']:.3f}" if main else "–"
    median = f"{main['f1_median']:.4f}" if main else "–"
    speed = f"{figures['pages_per_second']:.1f}" if figures["pages_per_second"] else "–"
    return (
        f"{figures['n_pages']:>6}{cells}  {interval:>15}{median:>8}"
        f"{figures['empty_ratio']:>7.1%}{figures['n_failed']:>7}{speed:>9}"
    )


def _differences(found: Sequence[Mapping[str, Any]], measure: str, first: str) -> Iterator[str]:
    for pair in found:
        each = pair["f1"].get(measure)
        if pair["first"] == first and each:
            yield (
                f"{pair['first']} − {pair['second']}: {each['mean']:+.4f} "
                f"({each['low']:+.4f} … {each['high']:+.4f}), p = {each['p']:.4f}"
            )


def _failures(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for each in found[:_N_FAILURES]:
        yield f"failed: {each['cleaner']} on {each['set']} {each['id']}: {each['status']} ({each['reason']})"
    if len(found) > _N_FAILURES:
        yield f"failed: {len(found) - _N_FAILURES} more, all in the report"
