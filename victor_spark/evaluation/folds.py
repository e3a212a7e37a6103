"""Which pages are held out together: folds by site, since a site's pages share its template."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from victor_spark.blocks import Int32
from victor_spark.errors import UsageError


def by_site(sites: Sequence[str], sets: Sequence[str], n_folds: int) -> Int32:
    """The fold of every page: no site in two folds, folds of like size, and so within every set.

    Sites go, the largest first, to the fold that has fewest pages of their set, then fewest
    pages. The order of the pages doesn't matter and nothing is random.
    """
    if n_folds < 2:
        raise UsageError(f"cross-validation needs at least 2 folds, not {n_folds}")
    if len(set(sites)) < n_folds:
        raise UsageError(f"{n_folds} folds by site need at least as many sites; there are {len(set(sites))}")
    fold_of = _assigned(_pages_of_sites(sites, sets), n_folds)
    return np.array([fold_of[site] for site in sites], dtype=np.int32)


def _pages_of_sites(sites: Sequence[str], sets: Sequence[str]) -> dict[str, Counter[str]]:
    pages: dict[str, Counter[str]] = defaultdict(Counter)
    for site, set_name in zip(sites, sets, strict=True):
        pages[site][set_name] += 1
    return pages


def _assigned(pages: dict[str, Counter[str]], n_folds: int) -> dict[str, int]:
    """Site → fold."""
    sizes = [Counter[str]() for _ in range(n_folds)]
    fold_of = {}
    for site in sorted(pages, key=lambda site: (-pages[site].total(), _shuffled(site))):
        main_set = min(pages[site], key=lambda name: (-pages[site][name], name))
        fold = min(range(n_folds), key=lambda row: (sizes[row][main_set], sizes[row].total(), row))
        sizes[fold] += pages[site]
        fold_of[site] = fold
    return fold_of


def _shuffled(site: str) -> str:
    """An order of sites that has nothing to do with their names."""
    return hashlib.sha256(site.encode("utf-8", "surrogatepass")).hexdigest()
