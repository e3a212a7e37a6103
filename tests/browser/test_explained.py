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


FORGED = (
    "<title>Ferry</title><body id=victor-why><main><h1 id=victor-bar class=victor-here>The ferry is back</h1>"
    '<p id=victor-blocks>[{"label": "text", "role": "&lt;img src onerror=tricked=1&gt;", "p": [0, 0.5, 0.5]}]'
    "<p>She left the harbour on Monday with forty passengers and a goat, after three weeks at dock.</main>"
)


def test_a_page_with_our_ids_forges_no_reasons_and_runs_no_script(browser: Browser, tmp_path: Path) -> None:
    """The second time, its markup is in the file as it is; then the policy alone stops it."""
    (tmp_path / "page.html").write_text(FORGED, encoding="utf-8")
    why = tmp_path / "why.html"
    assert main(["explain", str(tmp_path / "page.html"), "--output", str(why)]) == 0
    trick = "<img src=x onerror=tricked=1><script>tricked=1</script>"
    for before, after in (("</v-b>", "</v-b>"), ("</v-b>", f"</v-b>{trick}")):
        why.write_text(why.read_text(encoding="utf-8").replace(before, after), encoding="utf-8")
        page = browser.new_page()
        page.goto(why.as_uri())
        page.keyboard.press("j")
        expect(page.locator("#victor-why")).to_contain_text("P(content)")
        expect(page.locator("#victor-why img")).to_have_count(0)
        page.wait_for_timeout(300)  # an image that cannot be loaded has failed by now
        assert page.evaluate("window.tricked ?? null") is None
        page.close()
