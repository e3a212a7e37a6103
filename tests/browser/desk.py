"""For the browser tests: a server to start, kill and start again, and an annotator's browser window."""

import json
import os
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import FrameLocator, Locator, Page, expect

from tests.browser.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "sesame"
MAIN = "import sys; from victor_spark.cli import main; sys.exit(main(sys.argv[1:]))"


class Server:
    """`victor annotate` as a process of its own, always on the same port."""

    def __init__(self, store: Path, *arguments: str, port: int | None = None) -> None:
        self.store = store
        self.arguments = arguments
        self.port = port or free_port()
        self.log = store.with_suffix(".log")
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The server's address."""
        return f"http://127.0.0.1:{self.port}"

    def start(self, *inputs: str) -> "Server":
        """Starts the server, and waits until it answers."""
        command = ["annotate", *inputs, "--store", str(self.store), "--port", str(self.port)]
        command += ["--token", TOKEN, *self.arguments]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", MAIN, *command],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stderr=log,
                stdout=log,
            )
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                self.get("/api/session")
            except OSError:
                time.sleep(0.05)
            else:
                return self
        self.kill()
        raise AssertionError(f"the server did not start: {self.log.read_text(encoding='utf-8')}")

    def fill_the_disk(self) -> None:
        """From now on the server's files cannot grow."""
        self._limit_files(self.store.with_name(f"{self.store.name}-wal").stat().st_size)

    def make_room(self) -> None:
        """Removes the limit on file sizes."""
        self._limit_files(resource.RLIM_INFINITY)

    def _limit_files(self, size: int) -> None:
        assert self.process is not None
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def kill(self, how: int = signal.SIGKILL) -> None:
        """Kills the server, as a power cut would."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(timeout=20)

    def get(self, path: str) -> Any:
        """A JSON answer."""
        asked = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(asked, timeout=20) as answer:
            return json.load(answer)

    def page(self, title: str) -> int:
        """The number of the page with that title."""
        session, listed = self.get("/api/session"), self.get("/api/pages?annotator=Setup&limit=1000")
        return next(
            page["page"] for page in [*listed["pages"], *session["practice"]] if page["title"] == title
        )

    def labels(self, title: str, annotator: str) -> str:
        """The labels in the store."""
        asked = urllib.parse.urlencode({"annotator": annotator})
        return str(self.get(f"/api/pages/{self.page(title)}?{asked}")["labels"])


def free_port() -> int:
    """A port below the range for clients, so that no other program takes it while the server is down."""
    for port in random.SystemRandom().sample(range(15_000, 32_000), 100):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)):
                return port
    raise AssertionError("no free port")


# Waits until the frame has reported all keys and clicks, and has drawn their effects.
SETTLED = """async () => {
  for (const turn of [1, 2]) await new Promise((done) => {
    const frame = document.querySelector('#page iframe[data-ready]:not(.leaving)')?.contentWindow;
    if (!frame) return done();
    const hear = ({ source, data }) => {
      if (source !== frame || data?.type !== 'settled') return;
      removeEventListener('message', hear);
      done();
    };
    addEventListener('message', hear);
    frame.postMessage({ type: 'settle' }, '*');
  });
}"""


class Desk:
    """The browser window of an annotator."""

    def __init__(self, page: Page, server: Server, name: str) -> None:
        self.page, self.server, self.name = page, server, name

    @property
    def frame(self) -> FrameLocator:
        """The page in its frame."""
        return self.page.frame_locator("#page iframe:not(.leaving)")

    def join(self, where: str = "") -> "Desk":
        """Opens the tool by the address that the server printed, and enters the annotator's name."""
        self.page.goto(f"{self.server.url}/?token={TOKEN}")
        self.page.wait_for_url(f"{self.server.url}/")
        if where:
            self.page.goto(f"{self.server.url}/{where}")
        self.page.fill("#name", self.name)
        self.page.keyboard.press("Enter")
        return self

    def open(self, title: str) -> "Desk":
        """Opens the page with that title."""
        number = self.server.page(title)
        return self.join(f"#/page/{number}").ready(f"/frame/{number}")

    def ready(self, source: str = "/frame/") -> "Desk":
        """Waits until a page (whose frame has `source` in its address) is ready for labels."""
        self.page.locator(f'#page iframe:not(.leaving)[data-ready][src*="{source}"]').wait_for()
        expect(self.block(0)).to_have_class(re.compile("v-l"))
        return self

    @property
    def number(self) -> int:
        """The number of the page that is shown; 0 if none is."""
        shown = self.page.locator("#page iframe:not(.leaving)")
        return int(str(shown.get_attribute("src")).split("/")[-1].split("?")[0]) if shown.count() else 0

    def plain(self) -> "Desk":
        """Switches to the plain view."""
        self.press("h")
        return self.ready("plain=1")

    def done(self) -> None:
        """Marks the page as done, and waits for the next one."""
        before = self.number
        self.press("Enter")
        own = f'[src="/frame/{before}"], [src="/frame/{before}?plain=1"]'
        expect(self.page.locator(f"#page iframe:is({own})")).to_have_count(0)

    def block(self, number: int) -> Locator:
        """A block in the frame."""
        return self.frame.locator(f"#vb-{number}")

    def place(self, number: int) -> tuple[float, float]:
        """The position of the first line of a block on the screen."""
        return self.place_of(self.block(number))

    def place_of(self, element: Locator) -> tuple[float, float]:
        """The position of the first line of an element of the frame on the screen."""
        x, y = element.evaluate(
            "b => { b.scrollIntoView({block: 'center'}); const r = b.getClientRects()[0];"
            " return [r.left + 4, r.top + r.height / 2]; }"
        )
        around = self.page.locator("#page iframe:not(.leaving)").bounding_box()
        assert around is not None
        return around["x"] + x, around["y"] + y

    def click(self, number: int, holding: str | None = None) -> None:
        """Clicks a block, with a key held down."""
        PATIENCE.step(f"click on block {number}")
        if holding:
            self.page.keyboard.down(holding)
        self.page.mouse.click(*self.place(number))
        if holding:
            self.page.keyboard.up(holding)
        self.settled()

    def tap(self, number: int) -> None:
        """Touches a block."""
        PATIENCE.step(f"touch of block {number}")
        self.page.touchscreen.tap(*self.place(number))
        self.settled()

    def drag(self, first: int, *others: int) -> None:
        """Drags the mouse from a block to the last of the others."""
        PATIENCE.step(f"drag from block {first}")
        self.page.mouse.move(*self.place(first))
        self.page.mouse.down()
        for number in others:
            self.page.mouse.move(*self.place(number))
        self.page.mouse.up()
        self.settled()

    def press(self, *keys: str) -> None:
        """Presses keys, one after the other."""
        for key in keys:
            PATIENCE.step(f"press of {key}")
            self.page.keyboard.press(key)
        self.settled()

    def settled(self) -> None:
        """Waits until keys and clicks were sent from the frame to the tool, and the labels back."""
        PATIENCE.step("the frame's answer")
        self.page.evaluate(SETTLED)

    def saved(self) -> None:
        """Waits until everything is on the server."""
        expect(self.page.locator("#save")).to_have_class("save saved")

    def shown(self) -> str:
        """The labels as the frame shows them, a digit a block."""
        PATIENCE.step("a look at the labels")
        return str(self.frame.locator("html").evaluate(
            "() => [...document.querySelectorAll('v-b')].map(b => /v-l(\\d)/.exec(b.className)[1]).join('')"
        ))  # fmt: skip

    def expect(self, labels: str) -> None:
        """Waits until these labels are shown and stored."""
        blocks = self.frame.locator("v-b")
        expect(blocks).to_have_class([re.compile(rf"\bv-l{label}\b") for label in labels])
        self.saved()


def labelled(n_blocks: int, runs: Sequence[tuple[int, int, int]], other: int = 2) -> str:
    """A label string: all `other`, but for these runs (first, last, label)."""
    labels = [other] * n_blocks
    for first, last, label in runs:
        labels[first : last + 1] = [label] * (last - first + 1)
    return "".join(map(str, labels))
