"""Labelled pages that know what the templates of their site cover: for models that look at template_share."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from victor_spark.blocks import Page
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.evaluation.progress import track
from victor_spark.templates import sample, views
from victor_spark.templates.matcher import Matcher
from victor_spark.templates.mine import MiningSettings, mine

MIN_PAGES: Final = 5
"""Sites with fewer pages have no templates, as in a crawl that saw little of them."""


def with_shares(pages: Sequence[LabelledPage], settings: MiningSettings) -> list[LabelledPage]:
    """The pages in their order; those of sites with enough pages with their shares. No gold is looked at."""
    by_site: dict[str, list[int]] = {}
    for row, page in enumerate(pages):
        by_site.setdefault(page.site, []).append(row)
    large = [rows for rows in by_site.values() if len(rows) >= MIN_PAGES]
    marked = list(pages)
    for rows in track(large, "mining sites", len(large)):
        texts = [views.view(settings.view, pages[row].page) for row in rows]
        found = mine(pages[rows[0]].site, sample.sample(texts), settings)
        matcher = Matcher(((each.tokens, each.regex) for each in found.templates), settings.view)
        for row in rows:
            marked[row] = replace(pages[row], page=_marked(pages[row].page, matcher, settings.view))
    return marked


def _marked(page: Page, matcher: Matcher, view: str) -> Page:
    return views.marked(page, views.covered(view, page, matcher.intervals(views.view(view, page))))
