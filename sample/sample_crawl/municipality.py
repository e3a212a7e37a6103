"""Gmina Krzewiny Leśne: a Polish municipality of 2006, nested tables in ISO-8859-2."""

from collections.abc import Sequence
from typing import Final

from sample_crawl import markup, pages, texts
from sample_crawl.pages import Link, WebPage

SITE: Final = "gmina-krzewiny"
HOST: Final = "http://www.krzewiny-lesne.example"
CHARSET: Final = "iso-8859-2"
CONTENT_TYPE: Final = "text/html"  # the charset stands in the meta element alone


def web_pages(edition: int = 0) -> list[WebPage]:
    """All notices, then the home page with its list of news."""
    notices = texts.read(SITE, edition)
    links = [Link(f"aktualnosci.php?id={101 + i}", text.title) for i, text in enumerate(notices)]
    found = [_page(f"{HOST}/{link.url}", "article", _notice(text, i), texts.gold(text), links, i)
             for i, (text, link) in enumerate(zip(notices, links, strict=True))]  # fmt: skip
    rows = "\n".join(
        f"<TR><TD WIDTH=70>{text.fields['date']}</TD><TD><IMG SRC=gfx/strzalka.gif> {link.anchor()}</TD></TR>"
        for text, link in zip(notices, links, strict=True)
    )
    news = f"<SPAN CLASS=naglowek>Wiadomości</SPAN><TABLE CELLPADDING=3>{rows}</TABLE>"
    return [*found, _page(f"{HOST}/index.html", "index", news, "", links, 0)]


def _notice(text: texts.Text, position: int) -> str:
    return pages.fill(
        f"{SITE}.article",
        section=text.fields["section"],
        title=text.title,
        date=text.fields["date"],
        body=markup.body(text.body, markup.table_layout),
        number=101 + position,
    )


def _page(url: str, kind: str, main: str, gold: str, links: Sequence[Link], position: int) -> WebPage:
    latest = "<BR>".join(f"&middot; {link.anchor()}" for link in pages.others(links, position, 4))
    html = pages.fill(SITE, main=main, latest=latest)
    return WebPage(url, SITE, "pl", kind, html, gold, CHARSET, CONTENT_TYPE)
