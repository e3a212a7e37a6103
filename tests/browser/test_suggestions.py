"""Suggestions, practice pages and disagreements in the browser."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.desk import Desk, Server, labelled
from tests.browser.pages import FIRST, HEADLINE, LAST, N_BLOCKS, SUBHEADING

pytestmark = pytest.mark.browser

Sit = Callable[[str], Desk]


@pytest.fixture
def helped(root: Path, tmp_path: Path) -> Iterator[Server]:
    """A server whose pages the model has labelled."""
    started = Server(tmp_path / "helped.sqlite", "--order", "uncertain", "--limit", "12")
    yield started.start(str(root / "sample" / "crawl-00000.warc.gz"))
    started.kill()


def test_suggestions_are_hatched_and_uncertain_blocks_one_key_away(browser: Browser, helped: Server) -> None:
    with browser.new_context() as context:
        anna = Desk(context.new_page(), helped, "Anna").join().ready()
        suggested = anna.shown()
        uncertain = anna.frame.locator("v-b.v-u")
        n = uncertain.count()
        assert n > 0
        expect(anna.page.locator("#marked")).to_contain_text(str(n))
        anna.press("n")
        current = anna.frame.locator("v-b.v-cur")
        expect(current).to_have_class(re.compile("v-u"))
        expect(anna.page.locator(".marginals")).to_have_attribute(
            "aria-label", re.compile(r"header \d+ %, text")
        )
        label = int(re.search(r"v-l(\d)", current.get_attribute("class") or "")[1])  # type: ignore[index]
        anna.press(str(label + 1))  # she agrees: nothing changes, but the block is looked at
        expect(current).not_to_have_class(re.compile(r"v-u|v-s\b"))
        expect(uncertain).to_have_count(n - 1)
        anna.press("x")
        anna.expect("2" * len(suggested))
        anna.press("r")
        anna.expect(suggested)
        anna.press("u")
        anna.expect("2" * len(suggested))


def test_practice_tells_what_gold_says_and_why(desk: Sit, server: Server) -> None:
    session = server.get("/api/session")
    anna = desk("Olga").open(session["practice"][0]["title"])
    anna.press("Enter")
    dialog = anna.page.get_by_role("dialog")
    expect(dialog).to_contain_text("from the gold annotation")
    dialog.get_by_role("button", name="Look at them").click()
    wrong = anna.frame.locator("v-b.v-w")
    n = wrong.count()
    expect(anna.frame.locator("v-b.v-cur")).to_have_class(re.compile("v-w"))
    expect(anna.page.locator("#verdict")).to_contain_text("expected")
    anna.press("2" if "text" in anna.page.locator("#verdict .fault").inner_text() else "1")
    expect(wrong).to_have_count(n - 1)


def test_a_judge_decides_where_two_differ(browser: Browser, server: Server) -> None:
    with browser.new_context() as context:
        for name, block in (("Petra", FIRST), ("Quentin", LAST)):
            annotator = Desk(context.new_page(), server, name).open("Slow tide")
            annotator.click(HEADLINE)
            annotator.press("1", "Escape")
            annotator.click(block)
            annotator.press("2")
            annotator.saved()
            annotator.done()
            annotator.page.evaluate("localStorage.clear()")
        rosa = Desk(context.new_page(), server, "Rosa").join("#/overview")
        rosa.page.get_by_role("link", name="Slow tide").first.click()
        rosa.ready()
        expect(rosa.page.locator("#marked")).to_have_text(re.compile("2.?disputed"))
        rosa.press("n")
        expect(rosa.page.locator("#verdict")).to_contain_text("Petra")
        expect(rosa.page.locator("#verdict")).to_contain_text("Quentin")
        rosa.press("2", "n", "2")
        rosa.expect(labelled(N_BLOCKS, [(HEADLINE, HEADLINE, 0), (FIRST, FIRST, 1), (LAST, LAST, 1)]))
        rosa.press("Enter")
        disagreements = rosa.page.locator(
            ".column > section", has=rosa.page.get_by_role("heading", name="Disagreements")
        )
        expect(disagreements.get_by_role("row", name="Slow tide")).to_contain_text("Rosa")


def test_progress_counts_and_skipped_pages_come_back(desk: Sit) -> None:
    sara = desk("Sara").join().ready()
    expect(sara.page.locator("#figures")).to_contain_text("0 /")
    first = sara.page.title()
    sara.done()
    expect(sara.page.locator("#figures")).to_contain_text("1 /")
    second = sara.ready().page.title()
    assert second != first
    sara.press("s")
    expect(sara.page).not_to_have_title(second)
    sara.page.goto(sara.page.url.split("#")[0] + "#/overview")
    expect(sara.page.get_by_role("row", name="Sara").first).to_contain_text("1")


def test_a_store_of_own_labels(browser: Browser, folder: Path, tmp_path: Path) -> None:
    own = Server(tmp_path / "own.sqlite", "--no-prelabels", "--label", "comment=other")
    own.start(str(folder / "Late boat.html"))
    try:
        with browser.new_context() as context:
            anna = Desk(context.new_page(), own, "Anna").open("Late boat")
            anna.click(SUBHEADING)
            anna.press("4")
            anna.expect(labelled(N_BLOCKS, [(SUBHEADING, SUBHEADING, 3)]))
    finally:
        own.kill()
