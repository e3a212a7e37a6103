"""Pictures for model cards and reports: matplotlib without a screen, loaded when one is drawn."""

import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from victor_spark.evaluation.measures import Interval, Reliability, ThresholdCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes  # heavy, and needed only where a picture is drawn
    from matplotlib.figure import Figure


def curves(curves: Mapping[str, ThresholdCurve], *, title: str) -> "Figure":
    """Precision and recall by threshold of P(other), as Victor's Figure 2: one pair of lines per name."""
    figure, axes = figure_of(7, 4.5, title)
    for name, curve in curves.items():
        (line,) = axes.plot(curve.thresholds, curve.precision, label=f"{name}: precision")
        axes.plot(curve.thresholds, curve.recall, "--", color=line.get_color(), label=f"{name}: recall")
    axes.set(xlabel="a block is kept when P(other) <", ylabel="of blocks", xlim=(0, 1), ylim=(0, 1.02))
    axes.legend(loc="lower center", fontsize="small")
    return figure


def reliability(drawn: Reliability, *, title: str) -> "Figure":
    """How often blocks are content, by the probability that was stated."""
    figure, axes = figure_of(4.5, 4.5, title)
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    axes.plot(drawn.stated, drawn.true, marker="o", markersize=4)
    axes.set(xlabel="P(content) stated", ylabel="share that is content", xlim=(0, 1), ylim=(0, 1))
    return figure


def bars(bars: Mapping[str, Mapping[str, Interval]], *, title: str, measure: str) -> "Figure":
    """One group of bars per set, one bar per cleaner, with bootstrap intervals: bars[cleaner][set]."""
    sets = sorted({name for intervals in bars.values() for name in intervals})
    figure, axes = figure_of(max(6.0, 1.1 * len(sets)), 4.5, title)
    width = 0.8 / max(len(bars), 1)
    for number, (cleaner, intervals) in enumerate(bars.items()):
        rows = [row for row, name in enumerate(sets) if name in intervals]
        there = [intervals[sets[row]] for row in rows]
        means = np.array([each.mean for each in there])
        errors = np.maximum([means - [each.low for each in there], [each.high for each in there] - means], 0)
        centres = np.array(rows) + number * width
        axes.bar(centres, means, width, yerr=errors, capsize=2, label=cleaner)
    names = [f"{name:.40}" for name in sets]  # longer ones leave no room for the bars
    axes.set_xticks([row + 0.4 - width / 2 for row in range(len(sets))], names, rotation=30, ha="right")
    axes.set(ylabel=measure, ylim=(0, 1))
    figure.legend(loc="outside upper right", fontsize="small", ncols=min(len(bars), 4))
    return figure


def svg(figure: "Figure", name: str) -> str:
    """The picture as an element of an html page; `name` makes its ids differ from those of other pictures."""
    import matplotlib as mpl

    file = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    drawn = file.getvalue()
    drawn = re.sub(r"<metadata>.*?</metadata>", "", drawn[drawn.index("<svg") :], flags=re.DOTALL)
    return re.sub(r'(\bid="|url\(#|href="#)', rf"\1{name}-", drawn)


def figure_of(width: float, height: float, title: str = "") -> "tuple[Figure, Axes]":
    """An empty picture with a grid; width and height in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot(title=title, axisbelow=True)
    axes.grid(alpha=0.3)
    return figure, axes


def save(figure: "Figure", path: Path) -> None:
    """Writes a picture; the ending of `path` is the format."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
