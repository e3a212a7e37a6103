"""Ends a browser that stops responding, with a message: Playwright has no time limit for keys and scripts."""

import os
import signal
import threading
from typing import Final

from playwright.sync_api import Browser

SECONDS: Final = 90.0
"""Longer than anything takes on a busy machine, and than every time-out that Playwright has itself."""


class Patience:
    """Watches one step after the other; kills the browser when one takes too long, and `late` says which."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self.late: str | None = None
        self._browser: int | None = None
        self._timer: threading.Timer | None = None

    def watch(self, browser: Browser) -> None:
        """From now on it is this browser that must answer."""
        session = browser.new_browser_cdp_session()
        processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
        session.detach()
        self._browser = next((process["id"] for process in processes if process["type"] == "browser"), None)
        self.late = None
        self.step("the beginning of the test")

    def step(self, what: str) -> None:
        """The step before has ended, this one begins."""
        self.rest()
        if self._browser is not None:
            self._timer = threading.Timer(self.seconds, self._end, [what])
            self._timer.daemon = True
            self._timer.start()

    def rest(self) -> None:
        """Nothing is waited for."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self, what: str) -> None:
        self.late = f"the browser did not answer for {self.seconds:g} seconds: {what}"
        if self._browser is not None:
            os.kill(self._browser, signal.SIGKILL)  # what waits for it ends with an error


PATIENCE: Final = Patience()
"""That of the test which is running."""
