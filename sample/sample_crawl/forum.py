"""The Mender's Yard: an English discussion forum with author boxes, signatures and quotations."""

import tomllib
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any, Final

from sample_crawl import markup, pages, texts
from sample_crawl.pages import Link, WebPage
from sample_crawl.texts import Post, Text

SITE: Final = "menders-yard"
HOST: Final = "http://forum.menders-yard.example"


def web_pages(edition: int = 0) -> list[WebPage]:
    """All threads, then the list of threads."""
    threads = texts.read(SITE, edition)
    links = [Link(f"./viewtopic.php?f=7&t={_number(i)}", text.title) for i, text in enumerate(threads)]
    found = [_thread(text, i, links) for i, text in enumerate(threads)]
    return [*found, _index(threads, links)]


def _number(position: int) -> int:
    return 312 + 19 * position


def _thread(text: Text, position: int, links: Sequence[Link]) -> WebPage:
    number = _number(position)
    thread = pages.fill(
        f"{SITE}.thread",
        title=escape(text.title, quote=False),
        number=number,
        n_posts=len(text.posts),
        posts="\n".join(_post(post, i, text, number) for i, post in enumerate(text.posts)),
        section=text.fields["section"],
        similar=pages.list_items(pages.others(links, position, 4)),
    )
    html = pages.fill(
        SITE, title=escape(text.title), kind="topic", section=text.fields["section"], main=thread
    )
    url = f"{HOST}/viewtopic.php?f=7&t={number}"
    return WebPage(url, SITE, "en", "thread", html, texts.gold(text, with_posts=True))


def _post(post: Post, position: int, text: Text, number: int) -> str:
    member = _members()[post.author]
    return pages.fill(
        f"{SITE}.post",
        id=number * 10 + position,
        parity="even" if position % 2 else "odd",
        subject=escape(text.title, quote=False),
        user=sorted(_members()).index(post.author) + 51,
        author=post.author,
        time=post.time,
        content=markup.body(post.blocks, markup.forum),
        signature=member["signature"],
        rank=member["rank"],
        n_written=member["posts"],
        joined=member["joined"],
        place=member["place"],
    )


def _index(threads: Sequence[Text], links: Sequence[Link]) -> WebPage:
    rows = "\n".join(
        f'<li class="row"><dl><dt>{link.anchor()}<br />{text.posts[0].author}, {text.posts[0].time}</dt>'
        f'<dd class="count">{len(text.posts) - 1} answers</dd>'
        f'<dd class="count">{len(text.title) * 17} views</dd>'
        f'<dd class="newest">Newest by {text.posts[-1].author}<br />{text.posts[-1].time}</dd></dl></li>'
        for text, link in zip(threads, links, strict=True)
    )
    main = f'<div class="threads"><ul class="list">{rows}</ul></div>'
    html = pages.fill(SITE, title="Threads", kind="forum", section="All threads", main=main)
    return WebPage(f"{HOST}/viewforum.php?f=7", SITE, "en", "index", html, "")


@cache
def _members() -> dict[str, dict[str, Any]]:
    return tomllib.loads((texts.TEXTS / f"{SITE}.members.toml").read_text(encoding="utf-8"))
