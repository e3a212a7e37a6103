"""The file of `victor explain` in a browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from victor_spark.cli import main

pytestmark = pytest.mark.browser

PAGE = """<title>Ferry</title><main><h1>The ferry is back</h1>
<p>She left the harbour on Monday with forty passengers and a goat, after three weeks in dry dock.</p></main>
<div style="display:none"><p>We value your privacy.</p></div>
<p style="visibility: hidden">Seen by nobody.</p><section hidden><p>Hidden, too.</p></section>"""


def test_what_the_page_hides_can_be_seen_and_asked_about(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    assert main(["explain", str(tmp_path / "page.html"), "--output", str(tmp_path / "why.html")]) == 0
    page = browser.new_page()
    page.goto((tmp_path / "why.html").as_uri())
    why = page.locator("#victor-why")
    expect(why).to_be_hidden()
    for text in ("We value your privacy.", "Seen by nobody.", "Hidden, too."):
        block = page.locator("v-b", has_text=text)
        expect(block).to_be_visible()
        block.hover()
        expect(why).to_contain_text("other")
    page.close()
