"""A templates table as cleaning uses it: what of this page do the templates of its site cover?"""

import pyarrow as pa
import pyarrow.compute as pc

from victor_spark.blocks import Bool, Page
from victor_spark.errors import InputError
from victor_spark.templates import sites, table, views


def view(templates: pa.Table) -> str:
    """The one view that the templates are of; InputError where they are of several."""
    names = pc.unique(templates["view"]).to_pylist()
    if len(names) > 1:
        raise InputError(f"a templates table of several views ({', '.join(names)}): mine one at a time")
    return str(names[0]) if names else views.TEXT


class SiteTemplates:
    """Built once per process; the matcher of a site is made when its first page comes."""

    def __init__(self, templates: pa.Table) -> None:
        self.view = view(templates)
        self._grouping = table.grouping(templates)
        self._matchers = table.Matchers(templates, self.view)
        counted = templates.group_by("site").aggregate([("n_pages", "max")])
        self._n_pages = dict(
            zip(counted["site"].to_pylist(), counted["n_pages_max"].to_pylist(), strict=True)
        )

    def n_pages(self, page: Page) -> int:
        """How many pages of this page's site its templates come from."""
        return int(self._n_pages.get(sites.site(page.url, self._grouping), 0))

    def marked(self, page: Page, kept: Bool | None = None) -> Page:
        """The page that knows what templates cover; `cleaned` ones wait for what the cleaner `kept`."""
        if self.view == views.CLEANED and kept is None:
            return page
        site = sites.site(page.url, self._grouping)
        matcher = self._matchers.of(site) if site else None
        if matcher is None or not len(page.blocks):
            return page
        found = matcher.intervals(views.view(self.view, page, kept))
        return views.marked(page, views.covered(self.view, page, found, kept)) if len(found) else page
