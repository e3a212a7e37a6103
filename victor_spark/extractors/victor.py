"""Victor: block marginals from the CRF, and a decision per page (Victor, sections 3.1 and 5.2).

Evidence from the other pages of its site can revise the marginals of a page.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Final, TypeAlias

import numpy as np

from victor_spark import roles
from victor_spark.blocks import Blocks, Bool, Cleaner, Float32, Float64, Page, Scores
from victor_spark.hosts import site
from victor_spark.model import decision
from victor_spark.model.crf import marginals
from victor_spark.model.decision import by_expected_f1
from victor_spark.model.files import from_bytes
from victor_spark.resources import directory
from victor_spark.sites import evidence, table
from victor_spark.sites.evidence import Known, SiteModel

NAME: Final = "victor"
DEFAULT_THRESHOLD: Final = 0.5
"""The paper's default: a block stays when P(other) is below it."""

Decided: TypeAlias = tuple[Bool, Bool | None]
"""The blocks to keep, and those of them that are kept as the page's headline only."""
Decision: TypeAlias = Callable[[Float64, Blocks], Decided]


def decide(probabilities: Float64, blocks: Blocks, beta: float = 1.0, staying: Bool | None = None) -> Decided:
    """Keeps the blocks with the highest expected F of the page, those `staying`, and its headline.

    Blocks without words, such as brackets, add nothing to that: in a kept paragraph the likely ones stay.
    """
    words = decision.n_words(blocks)
    kept = by_expected_f1(probabilities, words, beta)
    likely = decision.by_threshold(probabilities, DEFAULT_THRESHOLD) & (words == 0) & ~kept
    if likely.any():
        kept |= likely & np.isin(blocks.paragraph, blocks.paragraph[kept])
    if staying is not None and kept.any():
        kept = kept | staying
    headline = roles.headline(blocks, kept)
    return kept | headline, headline


def decide_2(probabilities: Float64, blocks: Blocks, beta: float = 1.0) -> Decided:
    """The decision of `victor-2`: by the expected F1 alone, in the same way on every page."""
    return by_expected_f1(probabilities, decision.n_words(blocks), beta, least=0.1, sure=0.0), None


def decide_2008(probabilities: Float64, _blocks: Blocks) -> Decided:
    """The decision of `victor-2008`: blocks with P(other) < 0.5 are kept, as in the paper."""
    return decision.by_threshold(probabilities, DEFAULT_THRESHOLD), None


def load(model: bytes, decide: Decision = decide) -> Cleaner:
    """A cleaner that keeps the blocks chosen by `decide`: by default `victor`. ModelError for a bad model."""
    trained = from_bytes(model)
    return lambda page: scores(marginals(trained, page.blocks), page.blocks, decide)


def scores(probabilities: Float64, blocks: Blocks, decide: Decision = decide) -> Scores:
    """The scores that a cleaner gives for a page's probabilities; without `decide`, those of `victor`."""
    kept, headline = decide(probabilities, blocks)
    expected_f1 = decision.expected_f1(probabilities, decision.n_words(blocks), kept)
    return Scores(probabilities, kept, expected_f1, headline=headline)


SITE_MODEL: Final = f"sites/{evidence.FILE_NAME}"
SITE_TABLE: Final = "site-table"
"""The names of the site model, and of the list of a table's files, among the models of a run."""


def site_model() -> dict[str, bytes]:
    """The bytes of the site model, by name; ModelError if it is damaged."""
    found = (directory("models") / SITE_MODEL).read_bytes()
    evidence.model_from_bytes(found, SITE_MODEL)
    return {SITE_MODEL: found}


def with_sites(inner: Cleaner, sites: str, models: Mapping[str, bytes]) -> Cleaner:
    """The cleaner, with its probabilities revised by a table of sites."""
    # Opened for the first page with an address, and so by the process that cleans the crawl.
    opened = cache(partial(table.SiteTable, sites, models[SITE_TABLE]))
    weights = evidence.model_from_bytes(models[SITE_MODEL])

    def clean(page: Page) -> Scores:
        own = inner(page)
        of_site = (known := opened()).of(site(page.url, known.files.grouping)) if page.url else None
        return own if of_site is None else revised(page, own, of_site, weights, is_among=False)

    return clean


def revised(page: Page, own: Scores, known: Known, model: SiteModel, *, is_among: bool = True) -> Scores:
    """The scores of a page, revised by the sums of its site; `is_among`: the sums include the page."""
    found = evidence.evidence(page.blocks, own.probabilities, known, is_among=is_among)
    return with_evidence(page.blocks, own, found, model)


def with_evidence(blocks: Blocks, own: Scores, found: Float32, model: SiteModel) -> Scores:
    """The scores revised by evidence of the site: text without any is not dropped from a page with text."""
    staying = own.kept & (found[evidence.N_PAGES] == 0)
    if own.headline is not None:
        staying &= ~own.headline
    words = decision.n_words(blocks)
    probabilities = evidence.revised(model, own.probabilities, words, found, blocks.paragraph)
    return scores(probabilities, blocks, partial(decide, staying=staying))
