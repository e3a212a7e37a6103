"""Active content of a page does nothing in the frame; pages of 5 MB and right-to-left pages work."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests.browser import pages
from tests.browser.desk import Desk, Server, labelled

pytestmark = pytest.mark.browser


@dataclass
class Elsewhere:
    """A server that must not get any request."""

    url: str = ""
    asked: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    """Listens on loopback and logs the requests."""
    found = Elsewhere()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        do_POST = do_HEAD = do_OPTIONS = do_GET  # noqa: N815 - the library's names

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield found
        server.shutdown()


@pytest.fixture(scope="module")
def server(elsewhere: Elsewhere, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a page of tricks and a huge page."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "tricks.html").write_text(pages.hostile(elsewhere.url), encoding="utf-8")
    (folder / "huge.html").write_text(pages.huge(), encoding="utf-8")
    started = Server(folder / "annotations.sqlite", "--no-prelabels").start(str(folder / "*.html"))
    yield started
    started.kill()


@dataclass
class Watched:
    """An annotator at a page, and all requests of the browser."""

    desk: Desk
    requests: list[str]
    errors: list[str]


@pytest.fixture
def watched(browser: Browser, server: Server) -> Iterator[Watched]:
    """The page of tricks, open; requests are counted from the beginning."""
    with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        requests: list[str] = []
        errors: list[str] = []
        context.on("request", lambda request: requests.append(request.url))
        context.on("weberror", lambda error: errors.append(str(error.error)))
        yield Watched(Desk(context.new_page(), server, "Anna").open("Tricks"), requests, errors)


def assert_dead(watched: Watched, elsewhere: Elsewhere) -> None:
    """No script ran, no other server got a request, and the address is unchanged."""
    page = watched.desk.page
    page.wait_for_timeout(300)  # what would come, would come by now: the meta refresh asks for 0 seconds
    assert page.evaluate("window.tricked") is None
    assert watched.desk.frame.locator("html").evaluate("() => window.tricked ?? null") is None
    assert elsewhere.asked == []
    assert [url for url in watched.requests if not url.startswith(f"{watched.desk.server.url}/")] == []
    assert page.url.startswith(watched.desk.server.url)
    assert page.context.pages == [page]
    assert len(page.frames) == 2
    assert page.frames[1].url == f"{watched.desk.server.url}/frame/{watched.desk.server.page('Tricks')}"
    assert watched.errors == []


def test_no_trick_runs_when_the_page_is_shown(watched: Watched, elsewhere: Elsewhere) -> None:
    assert_dead(watched, elsewhere)
    frame = watched.desk.frame
    expect(frame.get_by_text("The first paragraph is honest.")).to_be_visible()
    gone = "script:not([nonce]), iframe, object, embed, svg, math, link, base, meta[http-equiv], form, img"
    assert frame.locator(gone).count() == 0
    assert frame.locator("[onclick], [onerror], [onload], [href], [src], [srcset], [action]").count() == 0


def test_no_trick_runs_in_the_plain_view(watched: Watched, elsewhere: Elsewhere) -> None:
    watched.desk.plain()
    expect(watched.desk.frame.locator("body.v-plain")).to_be_visible()
    watched.desk.page.wait_for_timeout(300)
    assert elsewhere.asked == []
    assert watched.desk.page.evaluate("window.tricked") is None


def test_no_trick_runs_when_everything_is_clicked(watched: Watched, elsewhere: Elsewhere) -> None:
    desk = watched.desk
    kinds = ["pointerover", "mouseover", "focus", "mousedown", "click", "auxclick", "dblclick", "submit"]
    desk.frame.locator("html").evaluate(
        "(_, kinds) => document.querySelectorAll('body *').forEach(e => { for (const kind of kinds)"
        " e.dispatchEvent(new MouseEvent(kind, {bubbles: true, cancelable: true, view: window})) })",
        kinds,
    )
    desk.press("Escape")
    for words in ("a script link", "away", "Send the form", "data"):
        for button in ("left", "middle"):
            desk.page.mouse.click(*desk.place_of(desk.frame.get_by_text(words, exact=True)), button=button)
    desk.press("Tab", "Tab")
    assert_dead(watched, elsewhere)


def test_the_frame_cannot_ask_the_tool_for_anything(watched: Watched) -> None:
    """Even if a script ran there: its origin is opaque and its policy lets nothing out."""
    frame = watched.desk.page.frames[1]
    tried = """async () => {
      const out = [];
      for (const ask of [() => fetch('/api/session'), () => fetch('http://127.0.0.1:1/'),
          () => parent.document.title, () => localStorage.length, () => document.cookie,
          () => top.location.reload()]) {
        try { await ask(); out.push(String(ask)); } catch { /* as it should be */ }
      }
      return out; }"""
    assert frame.evaluate(tried) == []


def test_every_block_of_the_page_of_tricks_can_be_labelled(watched: Watched) -> None:
    desk = watched.desk
    n = desk.frame.locator("v-b").count()
    desk.press("g", "Space", "G", "Space")
    desk.saved()
    stored = desk.server.labels("Tricks", "Anna")
    assert len(stored) == n
    assert set(stored) == {"1"}


def test_two_thousand_blocks_and_five_megabytes(context: BrowserContext, server: Server) -> None:
    anna = Desk(context.new_page(), server, "Anna").open("Huge")
    n = anna.frame.locator("v-b").count()
    assert n == 2000
    watch = "() => { window.n = 0; new MutationObserver(found => { window.n += found.length })"
    anna.frame.locator("html").evaluate(
        f"{watch}.observe(document.body, {{attributes: true, subtree: true, childList: true}}) }}"
    )
    anna.click(3)
    anna.press("1", "j", "2", "Escape")
    anna.saved()
    assert anna.frame.locator("html").evaluate("() => window.n") < 20  # a block changes: one class, not 2,000
    anna.click(10)
    anna.press("End")
    anna.click(n - 1, "Shift")
    anna.saved()
    assert server.labels("Huge", "Anna") == labelled(n, [(3, 3, 0), (4, 4, 1), (n - 1, n - 1, 1)])
    anna.press("x", "u")
    anna.saved()
    assert server.labels("Huge", "Anna") == anna.shown()


def test_a_store_without_pages_says_so(context: BrowserContext, tmp_path: Path) -> None:
    (tmp_path / "blank.html").write_text("<html><body></body></html>", encoding="utf-8")
    empty = Server(tmp_path / "empty.sqlite", "--no-prelabels").start(str(tmp_path / "blank.html"))
    try:
        anna = Desk(context.new_page(), empty, "Anna").join()
        expect(anna.page.locator("#overview")).to_contain_text("no pages yet")
    finally:
        empty.kill()
