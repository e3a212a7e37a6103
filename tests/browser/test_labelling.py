"""Labelling in a real browser: by mouse, by keyboard, by touch, with undo and after a reload."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.desk import Desk, Server, labelled
from tests.browser.pages import (
    FIRST,
    FOOTER,
    HEADLINE,
    HIDDEN,
    HOME,
    LAST,
    N_BLOCKS,
    SECOND,
    SECOND_END,
    SUBHEADING,
)

pytestmark = pytest.mark.browser

Sit = Callable[[str], Desk]


def marks(*runs: tuple[int, int, int]) -> str:
    return labelled(N_BLOCKS, runs)


def test_clicking_the_first_and_the_last_block_labels_the_run(desk: Sit, server: Server) -> None:
    anna = desk("Anna").open("Late boat")
    anna.click(FIRST)
    expect(anna.page.locator("#text")).to_contain_text("click its last block")
    anna.click(LAST)
    anna.expect(marks((FIRST, LAST, 1)))
    anna.press("1")  # nothing is selected: this chooses the label for what comes
    anna.click(SUBHEADING)
    anna.click(SUBHEADING)
    anna.expect(marks((FIRST, LAST, 1), (SUBHEADING, SUBHEADING, 0)))
    assert server.labels("Late boat", "Anna") == anna.shown()


def test_shift_click_drag_and_a_key_label_too(desk: Sit) -> None:
    anna = desk("Berta").open("Late boat")
    anna.click(FIRST)
    anna.click(SECOND_END, "Shift")
    anna.expect(marks((FIRST, SECOND_END, 1)))
    anna.page.get_by_role("radio", name="header").click()
    anna.drag(HEADLINE, FIRST, SECOND)
    anna.expect(marks((HEADLINE, SECOND, 0), (SECOND + 1, SECOND_END, 1)))
    anna.click(FIRST)
    anna.press("2")
    anna.expect(
        marks((HEADLINE, HEADLINE, 0), (FIRST, FIRST, 1), (SECOND, SECOND, 0), (SECOND + 1, SECOND_END, 1))
    )


def test_a_container_at_a_time(desk: Sit) -> None:
    anna = desk("Cara").open("Late boat")
    anna.click(SECOND)
    anna.press("w", "2")
    anna.expect(marks((SECOND, SECOND_END, 1)))
    anna.press("Escape", "x")
    anna.click(SECOND)
    anna.press("w", "w")
    expect(anna.page.locator("#where")).to_contain_text("article")
    anna.press("2")
    anna.expect(marks((HEADLINE, HIDDEN, 1)))
    anna.click(FOOTER, "Alt")
    anna.press("1")
    anna.expect(marks((HEADLINE, HIDDEN, 1), (FOOTER, FOOTER + 1, 0)))
    anna.click(SECOND, "Alt")
    anna.page.get_by_role("button", name="Widen").click()
    anna.page.get_by_role("button", name="Narrow").click()
    anna.press("3")
    anna.expect(marks((HEADLINE, FIRST, 1), (SUBHEADING, HIDDEN, 1), (FOOTER, FOOTER + 1, 0)))


def test_the_keyboard_alone_does_a_page(desk: Sit, server: Server) -> None:
    anna = desk("Dora").join()
    anna.ready()
    title = anna.page.title().removesuffix(" – Victor")
    moves = ["j"] * (HEADLINE + 1) if title.isascii() else ["j"]
    anna.press(*moves, "1", "ArrowDown", "J", "Shift+ArrowDown", "2")
    shown = anna.shown()
    assert shown.count("0") == 1
    assert shown.count("1") == 3
    anna.press("k", "Space", "j", "j", "Space")
    stored = anna.shown()
    assert stored.count("1") > 3
    anna.saved()
    anna.done()
    expect(anna.page).not_to_have_title(f"{title} – Victor")
    assert server.labels(title, "Dora") == stored
    anna.ready().press("b")
    expect(anna.page).to_have_title(f"{title} – Victor")


def test_moving_passes_by_what_the_page_hides_and_the_plain_view_shows_it(desk: Sit) -> None:
    anna = desk("Emma").open("Late boat")
    expect(anna.page.locator("#verdict")).to_contain_text("1 hidden")
    anna.click(LAST)
    anna.press("j")
    expect(anna.block(FOOTER)).to_have_class(re.compile("v-cur"))
    anna.plain()
    expect(anna.block(HIDDEN)).to_be_visible()


def test_keys_typed_while_another_view_loads_are_not_lost(desk: Sit) -> None:
    anna = desk("Edda").open("Late boat")
    anna.click(FIRST)
    anna.press(*"hhhhh2")
    anna.ready("plain=1").expect(marks((FIRST, FIRST, 1)))
    expect(anna.page.locator("#page iframe")).to_have_count(1)


def test_keys_that_reach_the_old_view_after_its_successor_was_asked_for_count_too(desk: Sit) -> None:
    anna = desk("Ella").open("Late boat")
    anna.click(FIRST)
    anna.frame.locator("html").evaluate(
        "() => [...'hhhhh2'].forEach(key => document.dispatchEvent(new KeyboardEvent('keydown', {key})))"
    )
    anna.ready("plain=1").expect(marks((FIRST, FIRST, 1)))
    expect(anna.page.locator("#page iframe")).to_have_count(1)


def test_undo_and_redo_go_back_beyond_a_reload(desk: Sit, server: Server) -> None:
    anna = desk("Fina").open("Late boat")
    anna.click(FIRST)
    anna.press("2")
    anna.click(LAST)
    anna.press("1")
    anna.expect(marks((FIRST, FIRST, 1), (LAST, LAST, 0)))
    anna.press("u")
    anna.expect(marks((FIRST, FIRST, 1)))
    anna.press("U")
    anna.expect(marks((FIRST, FIRST, 1), (LAST, LAST, 0)))
    anna.page.reload()
    anna.ready().expect(marks((FIRST, FIRST, 1), (LAST, LAST, 0)))
    anna.press("u", "u")
    anna.expect(marks())
    expect(anna.page.get_by_role("button", name="Undo")).to_be_disabled()
    anna.press("u", "U")
    anna.expect(marks((FIRST, FIRST, 1)))
    assert server.labels("Late boat", "Fina") == marks((FIRST, FIRST, 1))


def test_a_reload_in_the_middle_shows_the_same_page_as_it_was(desk: Sit) -> None:
    anna = desk("Gerda").join().ready()
    title = anna.page.title()
    anna.press("j", "j", "1")
    shown = anna.shown()
    anna.page.reload()
    anna.ready()
    assert anna.page.title() == title
    anna.expect(shown)


@pytest.mark.parametrize(
    ("title", "first"),
    [("عبارة الصباح", "الرئيسية"), ("朝の船", "ホーム")],
    ids=["right to left", "Japanese"],
)
def test_other_scripts(desk: Sit, title: str, first: str) -> None:
    anna = desk("Hanna").open(title)
    assert anna.frame.locator("html").get_attribute("dir") == ("rtl" if first != "ホーム" else None)
    anna.block(HOME).hover()
    expect(anna.page.locator("#text")).to_have_text(first)
    n = anna.frame.locator("v-b").count()
    anna.click(n - 2)
    anna.click(n - 1)
    anna.expect(labelled(n, [(n - 2, n - 1, 1)]))


def test_a_tablet_in_the_hand(browser: Browser, server: Server) -> None:
    with browser.new_context(
        viewport={"width": 768, "height": 1024}, has_touch=True, is_mobile=True
    ) as context:
        ida = Desk(context.new_page(), server, "Ida").open("Late boat")
        ida.tap(FIRST)
        ida.tap(LAST)
        ida.expect(marks((FIRST, LAST, 1)))
        ida.page.get_by_role("radio", name="header").tap()
        ida.tap(HEADLINE)
        ida.tap(HEADLINE)
        ida.expect(marks((HEADLINE, HEADLINE, 0), (FIRST, LAST, 1)))
        width = ida.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width[0] <= width[1]
        sizes = ida.page.evaluate(
            "() => [...document.querySelectorAll('.bar button')].filter(b => b.offsetParent)"
            ".map(b => b.offsetHeight)"
        )
        assert min(sizes) >= 44  # what a finger hits
        ida.page.get_by_role("button", name="Done").tap()
        expect(ida.page).not_to_have_title("Late boat – Victor")


def test_help_names_every_label_and_closes(desk: Sit) -> None:
    anna = desk("Jana").open("Late boat")
    anna.press("?")
    help_ = anna.page.get_by_role("dialog")
    expect(help_).to_contain_text("header, text, other")
    anna.press("2")  # keys are the dialog's now
    anna.press("Escape")
    expect(help_).to_have_count(0)
    assert anna.shown() == marks()


def test_every_control_has_a_name(desk: Sit) -> None:
    anna = desk("Kaja").open("Late boat")
    anna.page.get_by_role("button", name="Menu").click()
    unnamed = anna.page.evaluate(
        "() => [...document.querySelectorAll('button, input, a, iframe, [role]')].filter(e =>"
        " !(e.getAttribute('aria-label') || e.textContent.trim() || e.title || e.labels?.length"
        " || ['alert', 'status', 'menu', 'toolbar'].includes(e.role))).map(e => e.outerHTML)"
    )
    assert unnamed == []
    anna.page.get_by_role("menuitem", name="Guidelines").click()
    expect(anna.page.get_by_role("heading", name="Guidelines")).to_be_visible()


@pytest.mark.parametrize("width", [320, 360, 640, 1280])
def test_every_control_is_within_the_window(browser: Browser, server: Server, width: int) -> None:
    with browser.new_context(viewport={"width": width, "height": 700}) as context:
        anna = Desk(context.new_page(), server, "Lena").open("Late boat")
        outside = anna.page.evaluate(
            "() => [...document.querySelectorAll('#bar button')].filter(e => e.offsetWidth"
            " && e.getBoundingClientRect().right > innerWidth).map(e => e.outerHTML)"
        )
        assert outside == []
