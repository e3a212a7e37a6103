"""Limits for removing templates after a trained cleaner: chosen on half of the sites, measured on the rest.

Recall may fall by no more than half a point on any site, and mean F1 may not fall.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, Final

from victor_spark import words
from victor_spark.blocks import Page
from victor_spark.document import Document
from victor_spark.errors import InputError
from victor_spark.evaluation import measures, template_gain
from victor_spark.evaluation.measures import Overlap, Quality
from victor_spark.evaluation.template_gain import ModelsFor, Pages
from victor_spark.logs import track
from victor_spark.rendering.plain import plain_text
from victor_spark.rendering.shown import trimmed
from victor_spark.settings import Settings
from victor_spark.templates import coverage
from victor_spark.templates.coverage import Guard
from victor_spark.templates.mine import MiningSettings, mine, sample
from victor_spark.templates.site import SiteTemplates

MOST_LOST: Final = 0.005
"""Of a site's recall."""
GRID: Final = tuple(
    Guard(sure, most, n) for n, sure, most in product((3, 10), (0.2, 0.4, 0.5, 0.6, 0.7), (0.1, 0.3, 0.5))
)


@dataclass(frozen=True, slots=True)
class Measured:
    """A page as the cleaner left it, marked with its site's templates, and the gold's words."""

    document: Document
    page: Page
    n_pages: int
    gold: list[str]
    alone: Overlap


def tested(pages: Pages, cleaner: str, grouping: str, models_for: ModelsFor) -> dict[str, list[Measured]]:
    """The pages of every site, cleaned, with the templates of the site."""
    found = {}
    for site, of_site in track(pages.items(), "sites for the guard", len(pages)):
        documents = template_gain.cleaned(of_site, Settings(cleaner), models_for(of_site))
        mined = mine(site, sample(document.columns.text for document in documents), MiningSettings())
        with template_gain.written(mined, grouping) as path:
            templates = SiteTemplates(path)
            found[site] = [
                _tested(document, templates, page.gold or "")
                for document, page in zip(documents, of_site, strict=True)
            ]
    return found


def _tested(document: Document, templates: SiteTemplates, gold: str) -> Measured:
    page = templates.before(Page(document.html, document.columns, document.url))
    wanted = words.words(gold)
    alone = measures.overlap(words.words(document.text), wanted)
    return Measured(document, page, templates.n_pages(page), wanted, alone)


def figures(sites: Mapping[str, Sequence[Measured]]) -> dict[str, Any]:
    """The effect of each guard on both halves of the sites, and the guard that the first half chooses."""
    alone = {site: measures.macro(page.alone for page in pages) for site, pages in sites.items()}
    halves = [sorted(site for site in sites if _half(site) == number) for number in (0, 1)]
    if not all(halves):
        raise InputError("the guard needs sites with several gold pages in both halves")
    rows: list[dict[str, Any]] = []
    for guard in track(GRID, "guards", len(GRID)):
        after = {site: measures.macro(_after(page, guard) for page in of) for site, of in sites.items()}
        rows.append({"guard": asdict(guard), "halves": [_effect(alone, after, half) for half in halves]})
    harmless = [row for row in rows if row["halves"][0]["most_lost"] <= MOST_LOST]
    chosen = max(harmless, key=lambda row: (row["halves"][0]["f1"], -row["guard"]["most"]))
    return {
        "n_sites": [len(half) for half in halves],
        "n_pages": [sum(len(sites[site]) for site in half) for half in halves],
        "rows": rows,
        "chosen": chosen,
        "in_use": next(row for row in rows if row["guard"] == asdict(coverage.GUARD)),
    }


def _half(site: str) -> int:
    return hashlib.sha256(site.encode()).digest()[-1] % 2


def _after(tested: Measured, guard: Guard) -> Overlap:
    document, blocks = tested.document, tested.page.blocks
    kept, cut = coverage.taken_out(tested.page, document.kept, document.scores, tested.n_pages, guard)
    if cut is None:
        return tested.alone
    text = plain_text(trimmed(blocks, cut), kept)
    return measures.overlap(words.words(text), tested.gold)


def _effect(
    alone: Mapping[str, Quality], after: Mapping[str, Quality], sites: Sequence[str]
) -> dict[str, Any]:
    lost = {site: alone[site].recall - after[site].recall for site in sites}
    worst = max(lost, key=lost.__getitem__)
    return {
        "f1": sum(after[site].f1 - alone[site].f1 for site in sites) / len(sites),
        "most_lost": lost[worst],
        "worst": worst,
        "n_above": sum(loss > MOST_LOST for loss in lost.values()),
    }
