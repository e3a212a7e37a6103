"""From the texts of one site's pages to its templates (Foschini, section 3)."""

from collections.abc import Sequence
from dataclasses import dataclass

from victor_spark.templates.template import TOO_FEW_PAGES, Mined


@dataclass(frozen=True, slots=True)
class MiningSettings:
    """How templates are mined; equal settings and texts give equal templates.

    `view`: which of VIEWS the texts are. `patterns`: user's mutable patterns, (name, regular expression),
    beside those of conf/mutable.toml. `min_pages`: fewer distinct pages are not mined. `min_documents`
    and `min_share`: the cut-off is never below so many pages, nor this share of them. `max_page_share`:
    a template longer than this share of the pages it stands on is no template, but an article that
    the site republishes (where most pages have it, it may be longer).
    """

    view: str = "text"
    patterns: tuple[tuple[str, str], ...] = ()
    min_pages: int = 3
    min_documents: int = 3
    min_share: float = 0.05
    max_page_share: float = 0.5


def mine(site: str, texts: Sequence[str], settings: MiningSettings = MiningSettings()) -> Mined:
    """The templates of one site. UsageError for settings that make no sense; never fails on a text."""
    raise NotImplementedError


def too_few(site: str, settings: MiningSettings, n_seen: int, n_pages: int) -> Mined:
    """What is said of a site that can't be mined."""
    reason = f"{n_pages} distinct pages, at least {settings.min_pages} are needed"
    return Mined(site, settings.view, TOO_FEW_PAGES, reason, n_seen, n_pages, 0, (0,) * 100, ())
