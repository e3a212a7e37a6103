"""No action of an annotator is lost: server killed, browser closed, two windows, two annotators."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests.browser.desk import Desk, Server, labelled
from tests.browser.pages import FIRST, HEADLINE, LAST, N_BLOCKS, SUBHEADING

pytestmark = pytest.mark.browser

Sit = Callable[[str], Desk]
FAILED = re.compile("failed")


def marks(*runs: tuple[int, int, int]) -> str:
    return labelled(N_BLOCKS, runs)


@pytest.fixture(scope="module")
def frail(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that a test may kill, if it starts it again."""
    store = tmp_path_factory.mktemp("frail") / "annotations.sqlite"
    started = Server(store, "--no-prelabels", "--overlap", "1", "--overlap-annotators", "9")
    yield started.start(str(folder / "Late boat.html"))
    started.kill()


def test_a_server_killed_and_started_again_has_everything(context: BrowserContext, frail: Server) -> None:
    anna = Desk(context.new_page(), frail, "Anna").open("Late boat")
    anna.click(FIRST)
    anna.press("2")
    anna.saved()
    frail.kill()
    anna.click(HEADLINE)
    anna.press("1", "Escape")
    anna.click(LAST)
    anna.press("1", "2", "u", "U", "Escape")
    expect(anna.page.locator("#save")).to_have_class(FAILED)
    expect(anna.page.locator("#notice")).to_contain_text("5 actions kept in this browser")
    assert anna.shown() == marks((FIRST, FIRST, 1), (HEADLINE, HEADLINE, 0), (LAST, LAST, 1))
    frail.start()
    anna.saved()
    assert frail.labels("Late boat", "Anna") == anna.shown()
    anna.press("u", "u")
    anna.expect(marks((FIRST, FIRST, 1), (HEADLINE, HEADLINE, 0)))


def test_what_waits_survives_a_closed_browser_window(context: BrowserContext, frail: Server) -> None:
    anna = Desk(context.new_page(), frail, "Berta").open("Late boat")
    frail.kill()
    anna.click(FIRST)
    anna.press("2", "Enter")
    expect(anna.page.locator("#save")).to_have_class(FAILED)
    anna.page.close()
    frail.start()
    again = context.new_page()
    again.goto(frail.url)  # her name is known to the browser
    expect(again.locator("#overview")).to_contain_text("All done")
    assert frail.labels("Late boat", "Berta") == marks((FIRST, FIRST, 1))
    assert frail.get("/api/progress?annotator=Berta")["annotators"][0]["n_done"] == 1


def test_a_window_that_opens_the_page_shows_what_was_not_sent_yet(
    context: BrowserContext, frail: Server
) -> None:
    anna = Desk(context.new_page(), frail, "Cara").open("Late boat")
    anna.page.route("**/actions", lambda route: route.abort())
    anna.click(FIRST)
    anna.press("2")
    expect(anna.page.locator("#save")).to_have_class(FAILED)
    anna.page.reload()
    anna.ready()
    assert anna.shown() == marks((FIRST, FIRST, 1))
    assert frail.labels("Late boat", "Cara") == marks()
    anna.page.unroute("**/actions")
    anna.expect(marks((FIRST, FIRST, 1)))
    assert frail.labels("Late boat", "Cara") == marks((FIRST, FIRST, 1))


def test_an_answer_that_got_lost_does_nothing_twice(context: BrowserContext, frail: Server) -> None:
    anna = Desk(context.new_page(), frail, "Dora").open("Late boat")
    lost = []

    def lose_the_answer(route) -> None:  # type: ignore[no-untyped-def]
        route.fetch()
        if len(lost) < 2:
            lost.append(route.request.post_data)
            route.abort()
        else:
            route.continue_()

    anna.page.route("**/actions", lose_the_answer)
    anna.click(FIRST)
    anna.press("2", "1", "u")
    anna.expect(marks((FIRST, FIRST, 1)))
    assert len({json.loads(body)["id"] for body in lost}) == 1  # the same action, sent again under its name
    assert frail.labels("Late boat", "Dora") == anna.shown()


def test_a_full_disk_is_reported_and_waited_for(context: BrowserContext, frail: Server) -> None:
    anna = Desk(context.new_page(), frail, "Emma").open("Late boat")
    anna.click(FIRST)
    anna.press("2", "Escape")
    anna.expect(marks((FIRST, FIRST, 1)))
    frail.fill_the_disk()
    anna.click(LAST)
    anna.press("1")
    expect(anna.page.locator("#notice")).to_contain_text("Is the disk full? Saved actions are safe.")
    expect(anna.page.locator("#notice")).to_contain_text("1 action kept in this browser")
    anna.page.reload()  # looking needs no room
    anna.ready()
    assert anna.shown() == marks((FIRST, FIRST, 1), (LAST, LAST, 0))
    assert frail.labels("Late boat", "Emma") == marks((FIRST, FIRST, 1))
    frail.make_room()
    anna.expect(marks((FIRST, FIRST, 1), (LAST, LAST, 0)))
    expect(anna.page.locator("#notice")).to_be_hidden()
    assert frail.labels("Late boat", "Emma") == anna.shown()


def test_what_waits_for_one_store_never_comes_into_another(
    context: BrowserContext, folder: Path, tmp_path: Path
) -> None:
    one = Server(tmp_path / "one.sqlite", "--no-prelabels").start(str(folder / "Late boat.html"))
    other = Server(tmp_path / "other.sqlite", "--no-prelabels", port=one.port)
    try:
        anna = Desk(context.new_page(), one, "Anna").open("Late boat")
        one.kill()
        anna.click(FIRST)
        anna.press("2")
        other.start(str(folder / "Late boat.html"))
        expect(anna.page.locator("#notice")).to_contain_text("another store is served now (other.sqlite)")
        expect(anna.page.locator("#save")).to_have_class(FAILED)
        anna.page.reload()  # the other store's own work, with nothing in it
        anna.ready().expect(marks())
        anna.click(LAST)
        anna.press("1")
        anna.expect(marks((LAST, LAST, 0)))
        other.kill()
        one.start()
        anna.page.reload()
        anna.ready().expect(marks((FIRST, FIRST, 1)))
        assert one.labels("Late boat", "Anna") == marks((FIRST, FIRST, 1))
        one.kill()
        other.start()
        assert other.labels("Late boat", "Anna") == marks((LAST, LAST, 0))
    finally:
        one.kill()
        other.kill()


def test_two_annotators_at_once_do_not_meet(browser: Browser, server: Server) -> None:
    with browser.new_context() as here, browser.new_context() as there:
        anna = Desk(here.new_page(), server, "Lea").open("Long fog")
        ben = Desk(there.new_page(), server, "Max").open("Long fog")
        anna.click(FIRST)
        ben.click(LAST)
        anna.press("2", "Escape")
        ben.press("1", "Escape")
        ben.click(HEADLINE)
        ben.press("1")
        anna.expect(marks((FIRST, FIRST, 1)))
        ben.expect(marks((LAST, LAST, 0), (HEADLINE, HEADLINE, 0)))
        assert server.labels("Long fog", "Lea") == anna.shown()
        assert server.labels("Long fog", "Max") == ben.shown()


def test_two_windows_of_one_annotator_come_to_the_same(desk: Sit, server: Server) -> None:
    anna = desk("Nina").open("Lost boot")
    again = Desk(anna.page.context.new_page(), server, "Nina")
    again.page.goto(anna.page.url)
    again.ready()
    anna.click(FIRST)
    anna.press("2", "Escape")
    anna.saved()
    again.click(SUBHEADING)
    again.press("1")
    again.expect(marks((FIRST, FIRST, 1), (SUBHEADING, SUBHEADING, 0)))
    assert server.labels("Lost boot", "Nina") == again.shown()
    anna.expect(again.shown())  # without a key or click in this window
