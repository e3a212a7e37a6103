"""What a table has of one site, for people: its layouts with examples, and its repeated texts."""

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from victor_spark.blocks import OTHER
from victor_spark.sites import decision, evidence
from victor_spark.sites.decision import SiteModel
from victor_spark.sites.evidence import Places
from victor_spark.sites.table import OF_SITE

KEPT: Final = 0.5
"""Layouts with this P(content) are shown as kept."""


class Layout(NamedTuple):
    """A layout: a text in it, the share of the site's pages that have it, and its P(content)."""

    example: str
    share: float
    p: float

    @property
    def is_kept(self) -> bool:
        """Whether the text of the layout is kept, as a rule."""
        return self.p >= KEPT


class SiteLayouts(NamedTuple):
    """The most frequent layouts in the order of a page, texts with their share of pages, and all counts."""

    site: str
    n_pages: int
    n_layouts: int
    n_kept: int
    n_texts: int
    layouts: list[Layout]
    texts: list[tuple[float, str]]


def of_site(rows: pa.Table, model: SiteModel, limit: int) -> SiteLayouts:
    """The rows of a site (columns of `table.SITES`), with at most `limit` layouts and texts."""
    key, n_pages, log_odds = (rows[name].to_numpy() for name in ("key", *evidence.SUMS))
    examples, position = rows["example"].to_pylist(), rows["position"].to_numpy()
    n_site = int(n_pages[key == OF_SITE].sum())
    share = np.minimum(n_pages / max(n_site, 1), 1.0)
    mean = evidence.mean_log_odds(log_odds, n_pages)
    found = np.zeros((len(evidence.EVIDENCE), len(key)), np.float32)
    found[[evidence.CONSENSUS, evidence.N_PAGES, evidence.SHARE]] = mean, n_pages, share
    p = 1.0 / (1.0 + np.exp(-mean))
    own = np.stack([np.zeros_like(p), p, 1.0 - p], axis=1)
    p = 1.0 - decision.revised(model, own, np.ones(len(key)), found)[:, OTHER]

    def most(chosen: Places) -> Places:
        return chosen[np.argsort(-n_pages[chosen], kind="stable")][:limit]

    is_text = key & 1 == evidence.TEXT
    layouts, texts = np.flatnonzero(~is_text), np.flatnonzero(is_text & (key != OF_SITE))
    shown = sorted(most(layouts).tolist(), key=lambda row: (position[row], row))
    return SiteLayouts(
        rows["site"][0].as_py(),
        n_site,
        len(layouts),
        int((p[layouts] >= KEPT).sum()),
        len(texts),
        [Layout(examples[row] or "", float(share[row]), float(p[row])) for row in shown],
        [(float(share[row]), examples[row] or "") for row in most(texts).tolist()],
    )
