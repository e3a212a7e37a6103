"""The templates of a table: marked on a page before the cleaner, removed from its kept text after it."""

from functools import lru_cache
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from victor_spark import hosts
from victor_spark.blocks import Bool, Page, Scores
from victor_spark.errors import InputError
from victor_spark.site_files import N_CACHED, SiteFiles, by_site
from victor_spark.templates import table
from victor_spark.templates.coverage import covered, marked, taken_out, view
from victor_spark.templates.matcher import Matcher
from victor_spark.templates.tokens import CLEANED, TEXT

N_MATCHERS: Final = 256
"""The most sites of which a process keeps the matchers."""


class SiteTemplates:
    """The templates in a table, read at the first page of a site; arguments are those of `SiteFiles`."""

    def __init__(self, path: str, listed: bytes | None = None) -> None:
        self.files = SiteFiles(path, table.KIND, listed)
        names = {name for low, high, *_ in self.files.bounds("view") for name in (low, high)} or {TEXT}
        if len(names) > 1:
            several = f"the table has templates of several views ({', '.join(names)})"
            raise InputError(f"{several}: mine one at a time")
        self.view = names.pop()
        self._near, self._of_site = lru_cache(N_CACHED)(self._read), lru_cache(N_MATCHERS)(self._made)

    def n_pages(self, page: Page) -> int:
        """The number of pages that the templates of this page's site were mined from."""
        return self._of(page)[1]

    def before(self, page: Page) -> Page:
        """The page for the cleaner: with the characters marked that templates of its site cover.

        `after` marks those of the view `cleaned`, which consists of the kept blocks.
        """
        return page if self.view == CLEANED else self._marked(page)

    def after(self, page: Page, kept: Bool, scores: Scores) -> tuple[Page, Bool, Bool | None]:
        """The page after the decision, the kept blocks that stay, and the code points cut out of these."""
        page = self._marked(page, kept) if self.view == CLEANED else page
        return page, *taken_out(page, kept, scores, self.n_pages(page))

    def _marked(self, page: Page, kept: Bool | None = None) -> Page:
        matcher, _ = self._of(page)
        if matcher is None or not len(page.blocks):
            return page
        found = matcher.intervals(view(self.view, page, kept))
        return marked(page, covered(self.view, page, found, kept)) if len(found) else page

    def _of(self, page: Page) -> tuple[Matcher | None, int]:
        """The matcher of a page's site, and the number of pages; None without templates."""
        site = hosts.site(page.url, self.files.grouping) or ""
        return self._of_site(site) if site in self._near(*self.files.span(site))[1] else (None, 0)

    def _read(self, first: int, end: int) -> tuple[pa.Table, dict[str, slice]]:
        rows = self.files.read(first, end, table.MATCHED)
        return rows, by_site(rows)

    def _made(self, site: str) -> tuple[Matcher, int]:
        near, places = self._near(*self.files.span(site))
        rows = near[places[site]].filter(pc.equal(near["view"][places[site]], self.view))
        table.refuse_faults(rows, self.files.location)
        pairs = zip(rows["tokens"].to_pylist(), rows["regex"].to_pylist(), strict=True)
        return Matcher(pairs, self.view), pc.max(rows["n_pages"]).as_py()
