"""The noun of the sample crawl, a web page with its gold text, and how templates are filled."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import Final

from sample_crawl.texts import Text

TEMPLATES: Final = Path(__file__).parents[1] / "templates"


@dataclass(frozen=True, slots=True)
class WebPage:
    """One page of an invented site, and what a perfect cleaner says of it."""

    url: str
    site: str
    language: str | None
    kind: str  # article, thread, index or hostile
    html: str
    gold: str
    charset: str = "utf-8"
    content_type: str = "text/html; charset=utf-8"

    @property
    def status(self) -> str:
        """The status of the page's row: nothing worth keeping on an index page."""
        return "ok" if self.gold else "empty"


@dataclass(frozen=True, slots=True)
class Link:
    """A page of the same site that others point to."""

    url: str
    title: str

    def anchor(self) -> str:
        """The link as an element."""
        return f'<a href="{escape(self.url)}">{escape(self.title, quote=False)}</a>'


def fill(template: str, **slots: str | int) -> str:
    """The file `sample/templates/<template>.html` with its `$slots` filled; each must be given."""
    return _template(template).substitute(slots)


def list_items(links: Sequence[Link]) -> str:
    """Links as the items of a list."""
    return "".join(f"<li>{link.anchor()}</li>" for link in links)


def others(links: Sequence[Link], position: int, n: int, *, step: int = 3) -> list[Link]:
    """n links other than the one at `position`, different ones for different pages."""
    rest = [*links[position + 1 :], *links[:position]]
    return [rest[(i * step + position) % len(rest)] for i in range(n)]


def neighbours(links: Sequence[Link], position: int) -> dict[str, str]:
    """The slots of a pager: URL and title of the page before and of the page after."""
    before, after = links[position - 1], links[(position + 1) % len(links)]
    return {
        "previous_url": before.url,
        "previous_title": escape(before.title, quote=False),
        "next_url": after.url,
        "next_title": escape(after.title, quote=False),
    }


def json_ld(text: Text, url: str, publisher: str) -> str:
    """The structured data that news sites put into a script element (no body text in it)."""
    facts = {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": text.title,
        "datePublished": text.fields["iso"],
        "author": {"@type": "Person", "name": text.fields["author"]},
        "publisher": {"@type": "Organization", "name": publisher},
        "mainEntityOfPage": url,
    }
    return f'<script type="application/ld+json">{json.dumps(facts, ensure_ascii=False)}</script>'


def shorten(title: str, n: int = 24) -> str:
    """The title as a breadcrumb shows it."""
    return title if len(title) <= n else title[:n].rstrip() + "…"


def first_paragraph(text: Text) -> str:
    """What a teaser quotes: the first lines of the text, cut off."""
    blocks = text.body or text.posts[0].blocks
    return shorten(next(block.lines[0] for block in blocks if block.kind == "paragraph"), 90)


@cache
def _template(name: str) -> Template:
    return Template((TEMPLATES / f"{name}.html").read_text(encoding="utf-8"))
