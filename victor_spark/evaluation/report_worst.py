"""The pages with the lowest F1 of a cleaner: its text and the gold side by side, differences coloured."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

import numpy as np

from victor_spark import scripts
from victor_spark.evaluation import comparison, matching, measures, measuring
from victor_spark.evaluation.comparison import Table
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.measuring import Measurement, Plan

N_PAGES: Final = 20
MAX_CHARACTERS: Final = 12_000
"""Of a text that are shown; the measures use all of it."""

_UNSPACED: Final = scripts.character_class(scripts.WORD_CHARACTERS)
_PIECE: Final = re.compile(rf"\s+|[^\W{_UNSPACED}]+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class WorstPage:
    """A measurement and the two texts compared; `gold` is the snippets where there is no gold text."""

    measurement: Measurement
    ours: str
    gold: str


def find(rows: Table, pages: Iterable[GoldPage], plan: Plan, measure: str) -> dict[str, list[WorstPage]]:
    """Cleaner → its pages of lowest F1, the worst first. These pages are read and cleaned again."""
    chosen = {name: _lowest(measurements, measure) for name, measurements in rows.items()}
    wanted = {(page.set, page.id) for measurements in chosen.values() for page in measurements}
    gold_pages = {(page.set, page.id): page for page in pages if (page.set, page.id) in wanted}
    cleaners = measuring.cleaners_of(plan)
    return {
        name: [_worst(page, gold_pages[page.set, page.id], cleaners[name]) for page in measurements]
        for name, measurements in chosen.items()
    }


def _lowest(measurements: Sequence[Measurement], measure: str) -> list[Measurement]:
    measured = [page for page in measurements if not np.isnan(comparison.f1(page, measure))]
    return sorted(measured, key=lambda page: (comparison.f1(page, measure), page.set, page.id))[:N_PAGES]


def _worst(measurement: Measurement, page: GoldPage, clean: measuring.Clean) -> WorstPage:
    """A page that failed is not cleaned again, since it could crash this process."""
    ours = "" if comparison.is_failure(measurement) else clean(page).text
    return WorstPage(measurement, ours, page.gold if page.gold is not None else _snippets(page))


def _snippets(page: GoldPage) -> str:
    lines = [f"with: {text}" for text in page.meta.get("with") or ()]
    return "\n".join(lines + [f"without: {text}" for text in page.meta.get("without") or ()])


def html(worst: Sequence[WorstPage], measure: str) -> str:
    """The pages as html, each to be opened."""
    return "\n".join(_page(page, measure) for page in worst)


def _page(page: WorstPage, measure: str) -> str:
    measured = page.measurement
    overlap = measured.overlaps[measure]
    quality = measures.quality(overlap)
    figures = f"F1 {quality.f1:.3f}, precision {quality.precision:.3f}, recall {quality.recall:.3f}"
    facts = ", ".join(filter(None, [measured.set, measured.language, measured.page_type]))
    if measured.status != "ok":
        facts += f" — {measured.status}: {measured.reason or ''}"
    title = f"{figures} · {escape(measured.id)} <small>{escape(facts)}</small>"
    ours, gold = sides(page.ours, page.gold)
    return (
        f"<details><summary>{title}</summary>\n"
        f'<div class="sides"><div><h4>cleaned{_cut(page.ours)}</h4><div class="text">{ours}</div></div>'
        f'<div><h4>gold{_cut(page.gold)}</h4><div class="text">{gold}</div></div></div></details>'
    )


def _cut(text: str) -> str:
    return (
        f" (the first {MAX_CHARACTERS:,} of {len(text):,} characters)" if len(text) > MAX_CHARACTERS else ""
    )


def sides(ours: str, gold: str) -> tuple[str, str]:
    """The beginnings of both texts as html; what the other, whole, hasn't got (by words) is marked."""
    found, wanted = _PIECE.findall(ours), _PIECE.findall(gold)
    our_words, gold_words = (
        [row for row, piece in enumerate(each) if not piece.isspace()] for each in (found, wanted)
    )
    blocks = matching.blocks([found[row] for row in our_words], [wanted[row] for row in gold_words]).tolist()
    in_gold = {our_words[row] for start, _, length in blocks for row in range(start, start + length)}
    in_ours = {gold_words[row] for _, start, length in blocks for row in range(start, start + length)}
    return "".join(_marked(found, in_gold, "extra")), "".join(_marked(wanted, in_ours, "missing"))


def _marked(pieces: Sequence[str], common: set[int], css: str) -> Iterator[str]:
    """The first pieces as html, escaped; runs that aren't common in one element, also over white space."""
    inside = False
    left = MAX_CHARACTERS
    for row, piece in enumerate(pieces):
        left -= len(piece)
        if left < 0:
            break
        if piece.isspace():
            yield piece
            continue
        if (row not in common) != inside:
            inside = not inside
            yield f'<mark class="{css}">' if inside else "</mark>"
        yield escape(piece)
    if inside:
        yield "</mark>"
