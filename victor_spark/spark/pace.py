"""How many pages a second a run cleaned as time went on: its waves as a curve."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from victor_spark.spark.progress import clock

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 960, 240, 52, 24, 12
_N_BINS: Final = 160
_STEPS: Final = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400)

Floats = npt.NDArray[np.float64]


def spans(waves: Sequence[Mapping[str, Any]]) -> tuple[Floats, Floats, Floats, list[float]]:
    """Begin, end and pages of each wave, in seconds of time in which any wave ran; and where that was cut.

    Without the time between the runs of a command that was stopped, however long; a clock that was put back
    in between makes no time negative.
    """
    known = [wave for wave in waves if wave["finished_at"] and wave["seconds"]]
    ends = np.array([datetime.fromisoformat(wave["finished_at"]).timestamp() for wave in known])
    begins = ends - np.array([wave["seconds"] for wave in known])
    pages = np.array([wave["n_pages"] for wave in known], dtype=np.float64)
    order = np.argsort(begins, kind="stable")
    begins, ends, pages = begins[order], ends[order], pages[order]
    cuts, idle, latest = list[float](), 0.0, begins[0] if len(begins) else 0.0
    origin = latest
    shifts = np.zeros(len(begins))
    for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        if begin > latest + 1.0:
            idle += begin - latest
            cuts.append(float(begin - idle - origin))
        latest = max(latest, end)
        shifts[number] = idle + origin
    return begins - shifts, ends - shifts, pages, cuts


def rates(begins: Floats, ends: Floats, pages: Floats) -> tuple[Floats, Floats]:
    """The bounds of even stretches of time, and the pages per second in each."""
    total = float(ends.max())
    bounds = np.linspace(0.0, total, min(_N_BINS, max(4 * len(pages), 12)) + 1)
    rate = np.zeros(len(bounds) - 1)
    for begin, end, n in zip(begins, ends, pages, strict=True):
        overlap = np.minimum(bounds[1:], end) - np.maximum(bounds[:-1], begin)
        rate += np.maximum(overlap, 0.0) * n / (end - begin)
    return bounds, rate / np.diff(bounds)


def svg(waves: Sequence[Mapping[str, Any]]) -> str | None:
    """The curve as an SVG image; None where no wave says when it ran."""
    begins, ends, pages, cuts = spans(waves)
    if not len(begins):
        return None
    bounds, rate = rates(begins, ends, pages)
    top = _ceiling(float(rate.max()))
    body = "".join([*_scales(float(bounds[-1]), top), *_curve(bounds, rate, top), *_pauses(cuts, bounds[-1])])
    label = f"pages per second over {clock(float(bounds[-1]))}, at most {rate.max():.0f}"
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">{body}</svg>'


def _x(seconds: float, total: float) -> float:
    return _LEFT + (_WIDTH - _LEFT - 12) * seconds / total


def _y(rate: float, top: float) -> float:
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - rate / top)


def _curve(bounds: Floats, rate: Floats, top: float) -> Iterator[str]:
    total = float(bounds[-1])
    points = [
        f"{_x(x, total):.1f},{_y(r, top):.1f}"
        for r, (low, high) in zip(rate, pairwise(bounds), strict=True)
        for x in (low, high)
    ]
    floor = f"{_y(0, top):.1f}"
    yield f'<path class="area" d="M{_LEFT},{floor} L{" L".join(points)} L{_x(total, total):.1f},{floor} Z"/>'
    yield f'<path class="curve" d="M{" L".join(points)}"/>'


def _scales(total: float, top: float) -> Iterator[str]:
    for rate in np.linspace(0.0, top, 5):
        y = _y(rate, top)
        yield f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - 12}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{rate:,.10g}</text>'
    step = next((step for step in _STEPS if total / step <= 9), total / 6)
    for second in np.arange(0.0, total, step):
        shown = clock(second) if second else "0"
        yield f'<text x="{_x(second, total):.1f}" y="{_HEIGHT - 6}" text-anchor="middle">{shown}</text>'


def _pauses(cuts: Sequence[float], total: float) -> Iterator[str]:
    for cut in cuts:
        x = _x(cut, total)
        yield f'<line class="pause" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>'


def _ceiling(rate: float) -> float:
    """The next round number that four even steps lead to."""
    if rate <= 0:
        return 4.0
    unit = 10.0 ** np.floor(np.log10(rate))
    return float(next(step * unit for step in (1, 2, 4, 8, 10, 20) if step * unit >= rate))
