"""The documentation site as readers see it, opened as files: a phone, a desktop, the search."""

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.patience import PATIENCE
from tests.conftest import ROOT
from victor_spark import __version__

GUIDES = {
    "cluster": "running.html",
    "author and date": "metadata.html",
    "annotate pages": "annotate.html",
    "train a model": "new-language.html",
    "compare with trafilatura": "coming-from.html",
    "expected_f1": "",
    "memory": "running.html",
    "out of memory": "running.html",
    "resume a killed run": "running.html",
    "duplicates": "dedup.html",
    "language": "new-language.html",
    "exit code": "deploy.html",
    "threshold": "running.html",
    "templates": "templates-howto.html",
    "s3": "running.html",
    "yarn": "deploy.html",
    "annotate": "annotate.html",
    "markdown": "structure.html",
    "warc": "running.html",
}
"""Words typed into the search → the page that comes first: a guide, before generated ones."""
SITE = ROOT / "build" / "site" / __version__

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.mark.skipif(not (SITE / "index.html").is_file(), reason="no site in build/site: ./dev docs")
@pytest.mark.parametrize("width", [390, 1400])
def test_no_page_is_wider_than_the_screen_and_the_search_finds_words(browser: Browser, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.set_default_timeout(60_000)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    wide = []
    for file in sorted(SITE.rglob("*.html")):
        PATIENCE.step(f"opens {file.name}")
        page.goto(file.as_uri(), wait_until="domcontentloaded")
        if page.evaluate("document.scrollingElement.scrollWidth") > width:
            wide.append(file.name)
    assert wide == []
    PATIENCE.step("the search")
    page.goto((SITE / "index.html").as_uri())
    page.locator("input.md-search__input, label.md-header__button[for=__search]").locator(
        "visible=true"
    ).first.click()
    for typed, first in GUIDES.items():
        page.locator("input.md-search__input").fill("")
        page.locator("input.md-search__input").press_sequentially(typed)
        found = page.locator(".md-search-result__item").first.locator(".md-search-result__link").first
        expect(found).to_have_attribute("href", re.compile(f"/{first}"))
    assert [url for url in asked if not url.startswith("file:")] == []
    context.close()
