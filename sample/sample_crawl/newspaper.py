"""Podhorský list: a Czech newspaper with today's template, comments and advertisements."""

from collections.abc import Sequence
from html import escape
from typing import Final

from sample_crawl import markup, pages, texts
from sample_crawl.pages import Link, WebPage
from sample_crawl.texts import Post, Text

SITE: Final = "podhorsky-list"
HOST: Final = "https://www.podhorsky-list.example"
SECTIONS: Final = {"Titulní strana": "/", "Doprava": "/doprava", "Kultura": "/kultura"}
ADVERTISEMENT: Final = (
    '<div class="ad ad--inline"><span>Inzerce</span><a href="/r/7">Jarní výprodej sekaček u Nováků</a></div>'
)


def web_pages(edition: int = 0) -> list[WebPage]:
    """All articles, then the front page and two section pages with nothing but teasers."""
    articles = texts.read(SITE, edition)
    links = [Link(_url(i, text), text.title) for i, text in enumerate(articles)]
    found = [_article(text, i, links) for i, text in enumerate(articles)]
    return found + [_index(name, path, articles, links) for name, path in SECTIONS.items()]


def _url(position: int, text: Text) -> str:
    year, month, _ = text.fields["iso"].split("-")
    return f"{HOST}/zpravy/{year}/{month}/{text.slug}-{1041 + 7 * position}.html"


def _article(text: Text, position: int, links: Sequence[Link]) -> WebPage:
    related = pages.others(links, position, 3)
    article = pages.fill(
        f"{SITE}.article",
        title=escape(text.title, quote=False),
        short_title=pages.shorten(text.title),
        section=text.fields["section"],
        author=text.fields["author"],
        iso=text.fields["iso"],
        date=text.fields["date"],
        n_comments=len(text.posts),
        body=_body(text, related[0], position),
        tags=", ".join(f'<a href="/tema/{tag}">{tag}</a>' for tag in text.fields["tags"].split(", ")),
        related="".join(f'<div class="card"><h4>{link.anchor()}</h4></div>' for link in related),
        comments="".join(_comment(post) for post in text.posts) or "<p>Zatím žádné příspěvky.</p>",
    )
    url = links[position].url
    structured = pages.json_ld(text, url, "Podhorský list")
    html = _frame(article, text.title, url, "article", links, position, structured)
    return WebPage(url, SITE, "cs", "article", html, texts.gold(text))


def _body(text: Text, related: Link, position: int) -> str:
    """The article with what editors and advertisers push between its paragraphs."""
    blocks = [markup.modern(block) for block in text.body]
    blocks[0] = blocks[0].replace("<p>", '<p class="perex">')
    if position % 2:
        blocks.insert(2, f'<p class="read-also"><strong>Čtěte také:</strong> {related.anchor()}</p>')
    if position % 3:
        blocks.insert(4, ADVERTISEMENT)
    return "\n".join(blocks)


def _comment(post: Post) -> str:
    tools = '<a href="#">Odpovědět</a> <a href="#">Nahlásit</a> <span class="votes">+3 / −1</span>'
    head = f'<p class="comment__head"><b>{post.author}</b> <span>{post.time}</span></p>'
    return f'<div class="comment">{head}{markup.body(post.blocks, markup.modern)}{tools}</div>'


def _index(name: str, path: str, articles: Sequence[Text], links: Sequence[Link]) -> WebPage:
    chosen = [i for i, text in enumerate(articles) if path == "/" or text.fields["section"] == name]
    teasers = "\n".join(
        f'<div class="teaser"><a href="{links[i].url}"><img src="/media/t{i}.jpg" alt=""></a>'
        f"<h3>{links[i].anchor()}</h3><p>{escape(pages.first_paragraph(articles[i]), quote=False)}</p>"
        f'<a href="{links[i].url}">Celý článek</a></div>'
        for i in reversed(chosen)
    )
    pager = '<div class="pager"><a href="?s=2">Starší články</a></div>'
    main = f'<div class="teasers"><div class="section-title">{name}</div>{teasers}{pager}</div>'
    html = _frame(main, name, HOST + path, "index", links, len(path), "")
    return WebPage(HOST + path, SITE, "cs", "index", html, "")


def _frame(
    main: str, title: str, url: str, kind: str, links: Sequence[Link], position: int, structured: str
) -> str:
    most_read = pages.list_items(pages.others(links, position % len(links), 5, step=2))
    return pages.fill(
        SITE,
        main=main,
        title=escape(title),
        url=url,
        kind=kind,
        most_read=most_read,
        json_ld=structured,
    )
