"""Λαογραφικό Μουσείο Αλμυρόβρυσης: the news of a Greek museum, from a content management system."""

from collections.abc import Sequence
from html import escape
from typing import Final

from sample_crawl import markup, pages, texts
from sample_crawl.pages import Link, WebPage
from sample_crawl.texts import Text

SITE: Final = "museum-almyrovrysi"
HOST: Final = "https://www.museum-almyrovrysi.example"


def web_pages(edition: int = 0) -> list[WebPage]:
    """All news, then the list of them."""
    news = texts.read(SITE, edition)
    links = [Link(f"{HOST}/nea/{text.slug}/", text.title) for text in news]
    return [*(_article(text, i, links) for i, text in enumerate(news)), _index(news, links)]


def _article(text: Text, position: int, links: Sequence[Link]) -> WebPage:
    article = pages.fill(
        f"{SITE}.article",
        section=text.fields["section"],
        title=escape(text.title, quote=False),
        iso=text.fields["iso"],
        date=text.fields["date"],
        body=markup.body(text.body, markup.modern),
        **pages.neighbours(links, position),
    )
    html = _frame(article, text.title, "post", links, position)
    return WebPage(links[position].url, SITE, "el", "article", html, texts.gold(text))


def _index(news: Sequence[Text], links: Sequence[Link]) -> WebPage:
    teasers = "\n".join(
        f'<div class="post-teaser"><h2>{link.anchor()}</h2><span>{text.fields["date"]}</span>'
        f"<p>{pages.first_paragraph(text)}</p>"
        f'<a class="more" href="{link.url}">Διαβάστε περισσότερα</a></div>'
        for text, link in zip(reversed(news), reversed(links), strict=True)
    )
    html = _frame(teasers, "Νέα", "archive", links, 0)
    return WebPage(f"{HOST}/nea/", SITE, "el", "index", html, "")


def _frame(main: str, title: str, kind: str, links: Sequence[Link], position: int) -> str:
    latest = pages.list_items(pages.others(links, position, 5, step=2))
    return pages.fill(SITE, main=main, title=escape(title), kind=kind, latest=latest)
