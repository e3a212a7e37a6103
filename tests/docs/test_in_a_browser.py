"""The documentation site as readers see it, opened as files: a phone, a desktop, the search."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tests.annotation.browser import chromium
from tests.conftest import ROOT
from victor_spark import __version__

SITE = ROOT / "build" / "site" / __version__

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.fixture
def browser_path() -> Path:
    """A browser; a site that is built."""
    if not (SITE / "index.html").is_file():
        pytest.skip("no site in build/site: ./dev docs")
    found = chromium.find()
    if found is None:
        if os.environ.get("VICTOR_NEEDS_BROWSER"):
            pytest.fail(f"no browser here: {chromium.HINT}")
        pytest.skip(f"no browser here: {chromium.HINT}")
    return found


@pytest.mark.parametrize("width", [390, 1400])
def test_no_page_is_wider_than_the_screen_and_the_search_finds_words(browser_path: Path, width: int) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**chromium.launching(browser_path))
        page = browser.new_context(viewport={"width": width, "height": 900}).new_page()
        page.set_default_timeout(60_000)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        wide = []
        for file in sorted(SITE.rglob("*.html")):
            page.goto(file.as_uri(), wait_until="domcontentloaded")
            if page.evaluate("document.scrollingElement.scrollWidth") > width:
                wide.append(file.name)
        assert wide == []
        page.goto((SITE / "index.html").as_uri())
        page.locator("input.md-search__input, label.md-header__button[for=__search]").locator(
            "visible=true"
        ).first.click()
        page.locator("input.md-search__input").press_sequentially("expected_f1")
        page.locator(".md-search-result__link").first.wait_for()
        assert [url for url in asked if not url.startswith("file:")] == []
        browser.close()
