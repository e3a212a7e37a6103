"""What is known of a page's site, beside the cleaner `victor`."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Final

from victor_spark.blocks import Page, Scores
from victor_spark.errors import UsageError
from victor_spark.extractors import victor
from victor_spark.model.decision import n_words
from victor_spark.resources import directory
from victor_spark.sites import decision, evidence, table
from victor_spark.sites.decision import SiteModel
from victor_spark.sites.evidence import Known
from victor_spark.templates.sites import site

MODEL: Final = "sites/model.json"
TABLE: Final = "site-table"
"""The names of the site model, and of the list of a table's files, among the models of a run."""


def check(cleaner: str, sites: str | None) -> None:
    """UsageError if a cleaner can't use a table of sites."""
    if sites and cleaner != victor.NAME:
        raise UsageError(f"--sites needs the cleaner {victor.NAME}, not {cleaner}")


def model() -> dict[str, bytes]:
    """The bytes of the site model, by name; ModelError if it is damaged."""
    found = (directory("models") / MODEL).read_bytes()
    decision.from_bytes(found, MODEL)
    return {MODEL: found}


def models(sites: str) -> dict[str, bytes]:
    """What a table of sites needs in each process; InputError if it can't be used."""
    files = table.listing(sites)
    table.SiteTable(sites, files)
    return {**model(), TABLE: files}


def cleaner(
    inner: Callable[[Page], Scores], sites: str, models: Mapping[str, bytes]
) -> Callable[[Page], Scores]:
    """The cleaner, with what a table of sites has of the page's site."""
    opened = cache(partial(table.SiteTable, sites, models[TABLE]))  # by the process that cleans, not before
    site_model = decision.from_bytes(models[MODEL])

    def clean(page: Page) -> Scores:
        scores, known = inner(page), opened()
        of_site = known.of(site(page.url, known.grouping))
        return scores if of_site is None else revised(page, scores, of_site, site_model, is_among=False)

    return clean


def revised(page: Page, scores: Scores, known: Known, model: SiteModel, *, is_among: bool = True) -> Scores:
    """The scores of a page with what is known of its site; `is_among`: the page is a part of `known`."""
    blocks, own = page.blocks, scores.probabilities
    found = evidence.evidence(blocks, own, known, is_among=is_among)
    return victor.scores(decision.revised(model, own, n_words(blocks), found), blocks)
