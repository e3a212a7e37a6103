"""A browser that hangs fails one test, not the run: it is ended with a message, and another starts."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Error

from tests.browser.patience import Patience

pytestmark = pytest.mark.browser


def test_a_browser_that_does_not_answer_is_ended_in_words(launch: Callable[[], Browser]) -> None:
    stuck = launch()
    page = stuck.new_page()
    patience = Patience(seconds=1)
    patience.watch(stuck)
    patience.step("press of h")
    with pytest.raises(Error, match=r"closed|crashed"):
        page.evaluate("() => new Promise(() => {})")
    assert patience.late == "the browser did not answer for 1 seconds: press of h"
    assert not stuck.is_connected()
