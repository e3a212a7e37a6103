"""The histogram of a site's repeated strings with its cut-off (Foschini, Figure 3.2), drawn or in letters."""

from collections.abc import Mapping, Sequence
from math import ceil, log10
from pathlib import Path
from typing import Any, Final

from victor_spark.evaluation.pictures import figure_of, save

_ROWS: Final = 20
_WIDTH: Final = 50


def lines(histogram: Sequence[int], cut_off: int, n_pages: int) -> list[str]:
    """The histogram for a terminal, bars by the logarithm of their count, the cut-off as a line."""
    step = max(len(histogram) // _ROWS, 1)
    counts = [sum(histogram[first : first + step]) for first in range(0, len(histogram), step)]
    longest = max((_length(count) for count in counts), default=0) or 1
    shown = [" share of pages   strings (log scale)"]
    at = cut_bin(histogram, cut_off, n_pages)
    for row, count in enumerate(counts):
        if row * step <= at < (row + 1) * step:
            shown.append(f" {'-' * 14} cut-off: {cut_off} of {n_pages} pages {'-' * 14}")
        bar = "#" * min(_WIDTH, ceil(_WIDTH * _length(count) / longest))
        share = f"{row * step / len(histogram):>5.0%} – {(row + 1) * step / len(histogram):>4.0%}"
        shown.append(f" {share} {count:>8} {bar}".rstrip())
    return shown


def draw(histogram: Sequence[int], cut_off: int, n_pages: int, path: Path, *, title: str) -> None:
    """The same as a picture; the ending of `path` (png, svg, pdf) is the format."""
    figure, axes = figure_of(7, 4)
    n_bins = len(histogram)
    left = [100 * number / n_bins for number in range(n_bins)]
    axes.bar(left, list(histogram), width=100 / n_bins, align="edge")
    cut = 100 * cut_bin(histogram, cut_off, n_pages) / n_bins
    axes.axvline(cut, color="tab:red", label=f"cut-off: {cut_off} of {n_pages} pages")
    axes.set_yscale("symlog", linthresh=1)
    axes.set(
        xlabel="% of the site's pages that hold a string", ylabel="strings", xlim=(0, 100), ylim=(0, None)
    )
    axes.set_title(title)
    axes.legend()
    save(figure, path)


def cut_bin(histogram: Sequence[int], cut_off: int, n_pages: int) -> int:
    """The bin that a document frequency of `cut_off` falls into."""
    return min(len(histogram) - 1, cut_off * len(histogram) // max(n_pages, 1))


def _length(count: int) -> float:
    return log10(count) + 1 if count > 0 else 0.0


def draw_curve(points: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Injected tokens removed and clean tokens lost, by pages a site (evaluation.injection.Point)."""
    figure, _ = figure_of(7, 6)
    figure.clear()
    above, below = figure.subplots(2, 1)
    for everywhere, label in ((True, "templates on all pages"), (False, "templates on some pages")):
        chosen = [point for point in points if point["everywhere"] == everywhere]
        sizes = [point["n_pages"] for point in chosen]
        above.plot(sizes, [100 * point["removed"] for point in chosen], marker="o", label=label)
        below.plot(sizes, [100 * point["lost"] for point in chosen], marker="o", label=label)
    above.axhline(99, color="grey", linestyle=":", label="99 %")
    below.axhline(0.5, color="grey", linestyle=":", label="0.5 %")
    above.set(ylabel="injected tokens removed, %", ylim=(90, 100.5), xscale="log")
    below.set(ylabel="clean tokens lost, %", xlabel="pages a site", ylim=(0, 0.6), xscale="log")
    for axes in (above, below):
        axes.axvline(10, color="grey", linewidth=0.8)
        axes.set_xticks([point["n_pages"] for point in points if point["everywhere"]])
        axes.set_xticklabels([str(point["n_pages"]) for point in points if point["everywhere"]])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
    save(figure, path)
