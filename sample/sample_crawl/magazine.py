"""街角手帖: a Japanese magazine, written without spaces, its html minified to a single line."""

import re
from collections.abc import Sequence
from typing import Final

from sample_crawl import markup, pages, texts
from sample_crawl.pages import Link, WebPage
from sample_crawl.texts import Text

SITE: Final = "machikado-techo"
HOST: Final = "https://machikado-techo.example"
FOLDERS: Final = {"歩く": "walk", "食べる": "eat", "つくる": "make", "考える": "think"}


def web_pages(edition: int = 0) -> list[WebPage]:
    """All articles, then the front page."""
    articles = texts.read(SITE, edition)
    links = [Link(f"{HOST}/{FOLDERS[text.fields['section']]}/{text.slug}/", text.title) for text in articles]
    found = [_article(text, i, links) for i, text in enumerate(articles)]
    return [*found, _index(articles, links)]


def _article(text: Text, position: int, links: Sequence[Link]) -> WebPage:
    article = pages.fill(
        f"{SITE}.article",
        section=text.fields["section"],
        title=text.title,
        short_title=pages.shorten(text.title, 12),
        iso=text.fields["iso"],
        date=text.fields["date"],
        author=text.fields["author"],
        body=markup.body(text.body, markup.modern),
        tags=" ".join(f'<a href="/tag/">{tag}</a>' for tag in text.fields["tags"].split(", ")),
        related="".join(
            f'<div class="c-card">{link.anchor()}</div>' for link in pages.others(links, position, 3)
        ),
        **pages.neighbours(links, position),
    )
    url = links[position].url
    html = _frame(article, text.title, url, "single", links, position, pages.json_ld(text, url, "街角手帖"))
    return WebPage(url, SITE, "ja", "article", html, texts.gold(text))


def _index(articles: Sequence[Text], links: Sequence[Link]) -> WebPage:
    cards = "".join(
        f'<div class="c-card"><span class="c-card__cat">{text.fields["section"]}</span>{link.anchor()}'
        f"<p>{pages.shorten(pages.first_paragraph(text), 40)}</p><time>{text.fields['date']}</time></div>"
        for text, link in zip(reversed(articles), reversed(links), strict=True)
    )
    html = _frame(f'<div class="c-cards">{cards}</div>', "ホーム", f"{HOST}/", "home", links, 0, "")
    return WebPage(f"{HOST}/", SITE, "ja", "index", html, "")


def _frame(
    main: str, title: str, url: str, kind: str, links: Sequence[Link], position: int, structured: str
) -> str:
    most_read = pages.list_items(pages.others(links, position, 5, step=2))
    html = pages.fill(
        SITE, main=main, title=title, url=url, kind=kind, most_read=most_read, json_ld=structured
    )
    return re.sub(r"\s*\n\s*", "", html)
