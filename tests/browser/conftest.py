"""A browser and servers of the annotation tool, for tests that use it as an annotator does."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.browser import chromium, pages

pytest.importorskip("playwright", reason="pip install playwright (it is in the dev extra)")

from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from tests.browser.desk import Desk, Server
from tests.browser.patience import PATIENCE

ARTICLES = (
    "Late boat",
    "Long fog",
    "Lost boot",
    "Two crates",
    "Slow tide",
    "Old pier",
    "New mast",
    "Dry dock",
)


@pytest.fixture(scope="session")
def launch() -> Iterator[Callable[[], Browser]]:
    """Starts Chromium; without one the tests are skipped, unless CI says that they must run."""
    found = chromium.find()
    if found is None:
        if os.environ.get("VICTOR_NEEDS_BROWSER"):
            pytest.fail(f"no browser here: {chromium.HINT}")
        pytest.skip(f"no browser here: {chromium.HINT}")
    expect.set_options(timeout=30_000)  # a busy machine is slow, and nobody waits longer than needed
    with sync_playwright() as playwright:
        yield lambda: playwright.chromium.launch(**chromium.launching(found))


@pytest.fixture(scope="session")
def browsers(launch: Callable[[], Browser]) -> Iterator[list[Browser]]:
    """The one that all tests share, the last of these: another one comes where it had to be ended."""
    started: list[Browser] = []
    yield started
    for browser in started:
        browser.close()


@pytest.fixture
def browser(launch: Callable[[], Browser], browsers: list[Browser]) -> Iterator[Browser]:
    """Chromium, and the words for it when it does not answer."""
    if not browsers or not browsers[-1].is_connected():
        browsers.append(launch())
    PATIENCE.watch(browsers[-1])
    yield browsers[-1]
    PATIENCE.rest()
    if PATIENCE.late:
        pytest.fail(PATIENCE.late)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages as files."""
    folder = tmp_path_factory.mktemp("pages")
    for title in ARTICLES:
        (folder / f"{title}.html").write_text(pages.article(title), encoding="utf-8")
    for name in ("right-to-left.html", "japanese.html"):
        shutil.copy(pages.FOLDER / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with these pages, all of it `other` to begin with."""
    store = tmp_path_factory.mktemp("store") / "annotations.sqlite"
    started = Server(store, "--no-prelabels", "--overlap", "1").start(str(folder))
    yield started
    started.kill()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser without a past."""
    opened = browser.new_context(viewport={"width": 1280, "height": 800})
    opened.set_default_timeout(30_000)
    yield opened
    opened.close()


@pytest.fixture
def desk(context: BrowserContext, server: Server) -> Callable[[str], Desk]:
    """An annotator by name, at a desk of her own."""

    def sit(name: str) -> Desk:
        return Desk(context.new_page(), server, name)

    return sit
