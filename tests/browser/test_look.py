"""`victor look` in a browser."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.annotation.serving import Server

pytestmark = pytest.mark.browser

SENTENCE = "The harbour master counted the boats twice that morning, because nobody believed the first count."
PAGE = (
    "<title>Boats</title><script>document.title = 'taken over'; top.location = 'about:blank'</script>"
    f"<nav><a href=/>Home</a></nav><h1>Boats</h1>{f'<p>{SENTENCE} {SENTENCE}</p>' * 4}"
    "<form action=//elsewhere.example><button autofocus>Send</button></form>"
    "<meta http-equiv=refresh content=0>"
    f"<ul class=comments><li class=comment>I counted them as well. {SENTENCE}</ul>"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    page = tmp_path_factory.mktemp("pages") / "boats.html"
    page.write_text(PAGE, encoding="utf-8")
    served = Server([str(page), "--no-open"], command="look")
    yield served
    served.stop()


@pytest.fixture
def window(browser: Browser, server: Server) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1400, "height": 850})
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: "elsewhere" not in request.url or faults.append(request.url))
    page.goto(server.address)
    expect(page.locator("#panel pre")).to_contain_text(SENTENCE)
    yield page
    assert faults == []
    page.close()


def test_blocks_have_colours_and_reasons(window: Page) -> None:
    frame = window.frame_locator("#frame")
    paragraph = frame.locator("v-b.victor-text", has_text=SENTENCE).first
    paragraph.hover()
    expect(frame.locator("#victor-why")).to_contain_text("P(content)")
    expect(frame.locator("v-b.victor-other", has_text="Home")).to_be_visible()


def test_keys_go_from_block_to_block_before_the_page_is_clicked(window: Page) -> None:
    """Not while something is typed or chosen."""
    frame = window.frame_locator("#frame")
    why = frame.locator("#victor-why")
    expect(frame.locator("v-b.victor-text").first).to_be_visible()  # its script has run
    window.keyboard.press("j")
    expect(why).to_contain_text("Block 0:")
    window.get_by_role("tab").first.click()
    window.keyboard.press("j")
    expect(why).to_contain_text("Block 1:")
    window.locator("#pages").press("k")
    window.locator("#panel").press("j")
    expect(why).to_contain_text("Block 2:")


def test_a_threshold_and_a_role_change_page_and_text_and_stay_in_the_address(window: Page) -> None:
    text = window.locator("#panel pre")
    window.select_option("#decides", "threshold")
    window.locator("#threshold").fill("1")
    window.locator("#threshold").dispatch_event("change")
    expect(text).to_contain_text("Home")
    expect(window.frame_locator("#frame").locator("v-b.victor-other")).to_have_count(0)
    window.locator("#roles summary").click()
    window.locator("#role-list label", has_text="comment").locator("select").select_option("drop")
    expect(text).not_to_contain_text("I counted them")
    window.reload()
    expect(text).to_contain_text("Home")
    expect(text).not_to_contain_text("I counted them")


def test_every_tab_shows_something(window: Page) -> None:
    tabs = window.get_by_role("tab")
    for title in ("Markdown source", "HTML", "JSON", "Metadata"):
        tabs.filter(has_text=re.compile(f"^{title}$")).click()
        expect(window.locator("#panel")).to_contain_text("Boats" if title == "Metadata" else SENTENCE)
    tabs.filter(has_text=re.compile("^Markdown$")).click()
    expect(window.frame_locator("#panel iframe").locator("p").first).to_contain_text(SENTENCE)
    tabs.filter(has_text="Other cleaners").click()
    window.get_by_role("checkbox", name="kimatu").check()
    expect(window.locator(".others article", has_text="kimatu")).to_contain_text("word F1 with ours")


def test_the_page_with_its_reasons_can_be_saved_and_read_without_the_server(
    window: Page, browser: Browser, tmp_path: Path
) -> None:
    with window.expect_download() as saving:
        window.get_by_text("Save as a file").click()
    file = tmp_path / saving.value.suggested_filename
    saving.value.save_as(file)
    saved = browser.new_page()
    saved.goto(file.as_uri())
    expect(saved.locator("v-b.victor-text").first).to_contain_text(SENTENCE)
    saved.get_by_text("Markdown", exact=True).click()
    expect(saved.locator("#victor-bar pre").nth(1)).to_contain_text(SENTENCE)
    saved.close()


def test_html_can_be_pasted(window: Page) -> None:
    window.get_by_text("Open …").click()
    window.locator("#html").fill(
        f"<title>Pasted</title><h1>Pasted</h1><p>Another page. {SENTENCE} {SENTENCE}"
    )
    window.locator("#opening").get_by_text("Open", exact=True).click()
    expect(window.locator("#panel pre")).to_contain_text("Another page.")
    expect(window.locator("#verdict")).to_contain_text("Pasted")
