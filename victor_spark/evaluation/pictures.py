"""Pictures for model cards and reports: matplotlib without a screen, loaded when one is drawn."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from victor_spark.evaluation.measures import Interval, ThresholdCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes  # heavy, and needed only where a picture is drawn


def draw_curves(curves: Mapping[str, ThresholdCurve], path: Path, *, title: str) -> None:
    """Precision and recall by threshold of P(other), as Victor's Figure 2: one pair of lines a name.

    The ending of `path` (png, svg, pdf) is the format.
    """
    figure, axes = _figure(7, 4.5)
    for name, curve in curves.items():
        (line,) = axes.plot(curve.thresholds, curve.precision, label=f"{name}: precision")
        axes.plot(curve.thresholds, curve.recall, "--", color=line.get_color(), label=f"{name}: recall")
    axes.set(xlabel="a block is kept when P(other) <", ylabel="of blocks", xlim=(0, 1), ylim=(0, 1.02))
    axes.set_title(title)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower center", fontsize="small")
    _save(figure, path)


def draw_bars(bars: Mapping[str, Mapping[str, Interval]], path: Path, *, title: str, measure: str) -> None:
    """One group of bars a set, one bar a cleaner, with the bootstrap intervals: bars[cleaner][set]."""
    sets = sorted({name for intervals in bars.values() for name in intervals})
    figure, axes = _figure(max(6.0, 1.1 * len(sets)), 4.5)
    width = 0.8 / max(len(bars), 1)
    for number, (cleaner, intervals) in enumerate(bars.items()):
        there = [
            (row + number * width, intervals[name]) for row, name in enumerate(sets) if name in intervals
        ]
        means = [interval.mean for _, interval in there]
        errors = [
            [max(0.0, interval.mean - interval.low) for _, interval in there],
            [max(0.0, interval.high - interval.mean) for _, interval in there],
        ]
        axes.bar([x for x, _ in there], means, width, yerr=errors, capsize=2, label=cleaner)
    axes.set_xticks([row + 0.4 - width / 2 for row in range(len(sets))], sets, rotation=30, ha="right")
    axes.set(ylabel=measure, ylim=(0, 1))
    axes.set_title(title)
    figure.legend(loc="outside upper right", fontsize="small", ncols=len(bars))
    _save(figure, path)


def _figure(width: float, height: float) -> "tuple[Any, Axes]":
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def _save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
