"""What a table has of one site, for people: its layouts in the order of a page, and its repeated texts."""

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from victor_spark.blocks import OTHER
from victor_spark.sites import decision, evidence
from victor_spark.sites.decision import SiteModel
from victor_spark.sites.table import OF_SITE

_KEPT: Final = 0.5


class Part(NamedTuple):
    """A layout or a text: the share of the site's pages, an example in an element; P(content) of a layout."""

    share: float
    example: str
    element: str
    p: float
    is_kept: bool


class Site(NamedTuple):
    """A site with its parts, the layouts in the order of a page and the most frequent texts first."""

    name: str
    n_pages: int
    layouts: list[Part]
    texts: list[Part]


def of_site(rows: pa.Table, model: SiteModel) -> Site:
    """The site of these rows (columns of `table.SITES`)."""
    key, n_pages, log_odds = (rows[name].to_numpy() for name in ("key", *evidence.SUMS))
    n_site = int(n_pages[key == OF_SITE].sum())
    share = np.minimum(n_pages / max(n_site, 1), 1.0)
    mean = evidence.mean_log_odds(log_odds, n_pages)
    found = np.zeros((len(evidence.EVIDENCE), len(key)), np.float32)
    found[[evidence.CONSENSUS, evidence.N_PAGES, evidence.SHARE]] = mean, n_pages, share
    own = 1.0 / (1.0 + np.exp(-mean))
    own = np.stack([np.zeros_like(own), own, 1.0 - own], axis=1)
    p = 1.0 - decision.revised(model, own, np.ones(len(key)), found)[:, OTHER]
    examples, elements = ([each or "" for each in rows[name].to_pylist()] for name in ("example", "element"))
    parts = list(map(Part, share.tolist(), examples, elements, p.tolist(), (p >= _KEPT).tolist()))
    position, is_text = rows["position"].to_numpy(), key & 1 == evidence.TEXT
    layouts = sorted(np.flatnonzero(~is_text).tolist(), key=lambda row: (position[row], row))
    texts = [parts[row] for row in np.flatnonzero(is_text & (key != OF_SITE)).tolist()]
    return Site(rows["site"][0].as_py(), n_site, [parts[row] for row in layouts], sorted(texts, reverse=True))
