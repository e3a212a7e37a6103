"""How fast an expert annotates: every key and click of a scripted session in a real browser, and their time.

Needs a browser (tests/browser/chromium.py finds one) and the extra `annotate` and `playwright`.

The script has the right labels (sample/gold.jsonl, aligned with the blocks). It labels the sample crawl
twice: from scratch, and beginning with the model's suggestions, by the fastest of a few obvious ways. All
actions are done in the browser, and the labels in the store are compared with the right ones.

Times are those of the keystroke-level model (Card, Moran and Newell 1980, "The keystroke-level model for user
performance time with interactive systems", CACM 23:7): K a key, P pointing, B pressing or letting go a
button, M thinking before an action. One hand is on the keys, one on the mouse: no homing (H). Reading is
added: M for every screenful of the page and K to scroll on, M and K for every uncertain block. R, the tool's
own time, is measured.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from statistics import mean, median
from typing import Any, Final

import numpy as np

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the browser and the desk are those of the tests

from playwright.sync_api import expect, sync_playwright  # noqa: E402

from tests.browser import chromium, pages  # noqa: E402 - needs the path
from tests.browser.desk import Desk, Server  # noqa: E402
from victor_spark.blocks import OTHER, TEXT  # noqa: E402
from victor_spark.evaluation import labelling  # noqa: E402
from victor_spark.evaluation.gold import GoldPage  # noqa: E402

K, P, B, M = 0.20, 1.10, 0.10, 1.35
SECONDS: Final = {"K": K, "P": P, "B": B, "M": M}
SCREEN: Final = 700
"""Pixels of a page that are seen at once."""

COLUMNS: Final = (
    "begins with", "pages", "exact", "keys", "pointings", "thinking", "looking s", "working s", "tool s",
    "s a page: mean (median)", "pages/h", "s left at 200 pages/h",
)  # fmt: skip

Labels = list[int]


@dataclass(frozen=True)
class Step:
    """One move: its operators, and the blocks to click (numbers) and keys to press (words)."""

    operators: str
    does: tuple[int | str, ...]
    first: int = 0
    last: int = -1
    label: int = OTHER

    @property
    def seconds(self) -> float:
        """By the keystroke-level model."""
        return sum(SECONDS[operator] for operator in self.operators)


@dataclass
class Session:
    """The results of a session, a row a page."""

    seconds: list[float] = field(default_factory=list)
    looks: list[float] = field(default_factory=list)
    responses: list[float] = field(default_factory=list)
    operators: Counter[str] = field(default_factory=Counter)
    n_exact: int = 0


def fix(first: int, last: int, label: int) -> Step:
    """Labels a run: one block by a click and its label's key, more by that key and two clicks."""
    key = str(label + 1)
    if first == last:
        return Step("MPBBK", (first, key, "Escape"), first, last, label)
    return Step("MKPBBPBB", (key, first, last), first, last, label)


def fixes(labels: Labels, wanted: Labels) -> Iterator[Step]:
    """One run after the other until the labels are right."""
    wrong = [(block, right) for block, right in enumerate(wanted) if labels[block] != right]
    for _, members in groupby(enumerate(wrong), key=lambda pair: (pair[1][0] - pair[0], pair[1][1])):
        run = [fault for _, fault in members]
        yield fix(run[0][0], run[-1][0], run[0][1])


def spanned(labels: Labels, wanted: Labels) -> Iterator[Step]:
    """First all from the first to the last block of the text, then the exceptions in between."""
    content = [block for block, label in enumerate(wanted) if label == TEXT]
    if content:
        first, last = content[0], content[-1]
        yield fix(first, last, TEXT)
        yield from fixes([*labels[:first], *[TEXT] * (last - first + 1), *labels[last + 1 :]], wanted)


def plan(labels: Labels, wanted: Labels) -> list[Step]:
    """The cheapest of the obvious ways from these labels to the right ones."""
    clear = Step("MK", ("x",))
    blank = [OTHER] * len(wanted)
    ways = [list(fixes(labels, wanted)), list(spanned(labels, wanted))]
    ways += [[clear, *fixes(blank, wanted)], [clear, *spanned(blank, wanted)]]
    right = [way for way in ways if apply(labels, way) == wanted]
    return min(right, key=lambda way: sum(step.seconds for step in way))


def apply(labels: Labels, steps: Sequence[Step]) -> Labels:
    """The labels after these steps."""
    labels = list(labels)
    for step in steps:
        if step.does == ("x",):
            labels = [OTHER] * len(labels)
        else:
            labels[step.first : step.last + 1] = [step.label] * (step.last - step.first + 1)
    return labels


def reading(height: float, n_uncertain: int) -> Step:
    """Looking at the page, a screenful at a time, and at every uncertain block."""
    n_screens = max(1, int(np.ceil(height / SCREEN)))
    return Step("M" + "KM" * (n_screens - 1) + "KM" * n_uncertain, ("n",) * n_uncertain)


class Expert:
    """Labels pages at a desk, and records the times."""

    def __init__(self, desk: Any, right: dict[str, Labels]) -> None:
        self.desk, self.right, self.session = desk, right, Session()

    def page(self) -> None:
        """Does the page that is shown: look, label, done; one without right labels is skipped."""
        desk = self.desk
        number = desk.number
        state = desk.server.get(f"/api/pages/{number}?annotator={desk.name}")
        if state["url"] not in self.right:
            desk.press("s")
            expect(desk.page.locator(f'#page iframe[src="/frame/{number}"]')).to_have_count(0)
            return
        wanted = self.right[state["url"]]
        height = desk.frame.locator("html").evaluate("() => document.documentElement.scrollHeight")
        look = reading(height, len(state["uncertain"]))
        steps = [look, *plan([int(digit) for digit in state["labels"]], wanted)]
        for step in steps:
            self._do(step)
        desk.saved()
        stored = desk.server.get(f"/api/pages/{number}?annotator={desk.name}")["labels"]
        self._done(steps, look, exact=stored == "".join(map(str, wanted)))

    def _do(self, step: Step) -> None:
        for move in step.does:
            if isinstance(move, int):
                self.desk.click(move)
            else:
                self.desk.press(move)
        if step.does and step.does[-1] == "n":
            self.desk.press("Escape")

    def _done(self, steps: Sequence[Step], look: Step, *, exact: bool) -> None:
        frame = "document.querySelector('#page iframe[data-ready]:not(.leaving)')"
        shown = f"() => {frame}?.src ?? document.body.className"
        before = self.desk.page.evaluate(shown)
        began = time.perf_counter()
        self.desk.press("Enter")
        while self.desk.page.evaluate(shown) in (before, "has-page"):
            pass
        response = time.perf_counter() - began
        session = self.session
        session.responses.append(response)
        session.looks.append(look.seconds)
        session.seconds.append(sum(step.seconds for step in steps) + K + response)
        session.operators.update(operator for step in steps for operator in step.operators)
        session.operators["K"] += 1
        session.n_exact += exact


def right_labels(server: Any) -> dict[str, Labels]:
    """URL → the right label of every block, for the pages of the sample whose gold their blocks hold."""
    gold = map(json.loads, (ROOT / "sample" / "gold.jsonl").open(encoding="utf-8"))
    texts = {row["url"]: row["gold"] for row in gold if row["status"] in ("ok", "empty")}
    listed = server.get("/api/pages?annotator=Bench&limit=1000")["pages"]
    found = {}
    for page in listed:
        html = stored_markup(server.store, page["page"])
        if page["url"] not in texts:
            continue
        labelled = labelling.label(GoldPage(page["url"], "sample", html, texts[page["url"]], page["url"]))
        if labelled.found > 0.98 or not texts[page["url"]]:
            found[page["url"]] = labelled.labels.tolist()
    return found


def stored_markup(store: Path, number: int) -> str:
    """A page's markup as the store has it."""
    from victor_spark.annotation.store import content, open_existing

    opened = open_existing(store)
    try:
        return content(opened, number).markup
    finally:
        opened.close()


def session(browser: Any, options: Sequence[str], limit: int) -> Session:
    """Labels the sample crawl with a server started with these options."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "bench.sqlite", *options)
        server.start(*map(str, sorted((ROOT / "sample").glob("crawl-*.warc.gz"))))
        context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
        try:
            right = right_labels(server)
            expert = Expert(Desk(context.new_page(), server, "Expert").join().ready(), right)
            while expert.desk.number and len(expert.session.seconds) < limit:
                expert.desk.ready()
                expert.page()
        finally:
            context.close()
            server.kill()
    return expert.session


def latency(browser: Any) -> dict[str, list[float]]:
    """Milliseconds from a key to its effect on the screen, on a page of 2,000 blocks and 5 MB."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "huge.html").write_text(pages.huge(), encoding="utf-8")
        server = Server(Path(folder) / "huge.sqlite", "--no-prelabels").start(f"{folder}/huge.html")
        try:
            desk = Desk(browser.new_page(), server, "Expert").open("Huge")
            desk.press("Home", "Space", "End", "Space", "Home")
            for what, keys in KEYS.items():
                desk.frame.locator("html").evaluate(WATCH)
                for key in keys:
                    desk.press(key)
                    desk.page.wait_for_timeout(100)
                found[what] = sorted(desk.frame.locator("html").evaluate("() => window.found"))
        finally:
            server.kill()
    return found


KEYS: Final = {
    "a label": ("j", "2", "j", "1", "J", "3") * 10,
    "all labels at once, and back": ("x", "u") * 10,
    "the whole page selected, and let go": ("w", "W") * 10,
}
WATCH: Final = """() => { window.found = []; let began = 0;
  window.watching?.abort(); window.watching = new AbortController();
  addEventListener('keydown', event => { began = event.timeStamp }, {capture: true, signal: watching.signal});
  new MutationObserver(() => { if (began) requestAnimationFrame(now => {
    if (began) window.found.push(performance.now() - began); began = 0 }) })
    .observe(document.body, {attributes: true, subtree: true}) }"""


def report(title: str, done: Session) -> str:
    """A row of the table."""
    n = len(done.seconds)
    each = mean(done.seconds)
    keys, clicks = done.operators["K"] / n, done.operators["P"] / n
    hands = each - mean(done.looks) - mean(done.responses)
    return (
        f"| {title} | {n} | {done.n_exact} | {keys:.1f} | {clicks:.1f} | {done.operators['M'] / n:.1f}"
        f" | {mean(done.looks):.1f} | {hands:.1f} | {mean(done.responses):.2f}"
        f" | {each:.1f} ({median(done.seconds):.1f}) | {3600 / each:.0f} | {18 - each:.1f} |"
    )


def main() -> int:
    """Prints the tables, or says that there is no browser."""
    expect.set_options(timeout=30_000)
    parser = argparse.ArgumentParser(description="A scripted expert session of the annotation tool.")
    parser.add_argument("--pages", type=int, default=1000, metavar="N", help="only the first N pages")
    arguments = parser.parse_args()
    found = chromium.find()
    if found is None:
        print(f"no browser, nothing measured: {chromium.HINT}")
        return 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**chromium.launching(found))
        scratch = session(browser, ("--no-prelabels", "--order", "site"), arguments.pages)
        helped = session(browser, ("--order", "site"), arguments.pages)
        delays = latency(browser)
        browser.close()
    print("## Annotating the sample crawl\n")
    print(f"| {' | '.join(COLUMNS)} |\n|---{'|--:' * (len(COLUMNS) - 1)}|")
    print(report("nothing", scratch))
    print(report("suggestions", helped))
    print(f"\nK {K} s, P {P} s, B {B} s, M {M} s; a screenful is {SCREEN} pixels; means a page. The")
    print("last column: what is left for reading, if 200 pages an hour are to be done.")
    print("\n2,000 blocks, 5 MB: milliseconds from a key to the screen, median and 95 %\n")
    for what, times in delays.items():
        print(f"- {what}: {median(times):.0f}, {times[int(len(times) * 0.95)]:.0f} ({len(times)} keys)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
