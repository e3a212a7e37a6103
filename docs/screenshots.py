"""Takes the pictures of docs/pictures: `victor annotate`, `victor look` and a report, of the sample crawl.

python docs/screenshots.py
"""

import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the browser and the desk are those of the tests

from PIL import Image  # noqa: E402 - needs the path, as all below
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright  # noqa: E402

from tests.annotation.serving import Server as Looking  # noqa: E402
from tests.browser import chromium  # noqa: E402
from tests.browser.desk import Desk, Server  # noqa: E402
from victor_spark.cli import main as main_of_victor  # noqa: E402

PICTURES: Final = ROOT / "docs" / "pictures"
SIZE: Final = {"width": 1280, "height": 760}
ARTICLE: Final = "most-pres-bystrinku"
LEAD: Final = "Řidiči v Horní Lomničce"
LATER: Final = "Most z roku 1936"


def main() -> int:
    """Takes all of them."""
    found = chromium.find()
    if found is None:
        print(f"no browser: {chromium.HINT}", file=sys.stderr)
        return 1
    expect.set_options(timeout=30_000)
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(**chromium.launching(found))
        server = Server(Path(folder) / "annotations.sqlite", "--overlap", "0.3", "--order", "uncertain")
        server.start(*map(str, sorted((ROOT / "sample").glob("crawl-*.warc.gz"))))
        try:
            take_all(browser, server)
            look(browser)
            report(browser, Path(folder) / "out")
        finally:
            server.kill()
            browser.close()
    return 0


def take_all(browser: Browser, server: Server) -> None:
    """The page at work, practice, two annotators' disagreement, the overview, a tablet."""
    listed = server.get("/api/pages?annotator=Anna&limit=1000")["pages"]
    number = next(page["page"] for page in listed if ARTICLE in (page["url"] or ""))
    with browser.new_context(viewport=SIZE, reduced_motion="reduce") as context:
        at_work(context, server, number)
        practice(context, server)
    for name, word in (("Anna", LATER), ("Ben", LEAD)):
        with browser.new_context(viewport=SIZE) as context:
            annotate(Desk(context.new_page(), server, name), number, word)
    with browser.new_context(viewport=SIZE, reduced_motion="reduce") as context:
        judge(context, server, number)
    size = {"width": 768, "height": 1024}
    with browser.new_context(viewport=size, has_touch=True, is_mobile=True) as context:
        desk = Desk(context.new_page(), server, "Dora").join(f"#/page/{number}").ready(f"/frame/{number}")
        desk.tap(block_with(desk, LEAD))
        take(desk.page, "annotate-tablet")


def report(browser: Browser, output: Path) -> None:
    """The report of a run over the sample crawl, from the statuses on: above are times of this machine."""
    shards = map(str, sorted((ROOT / "sample").glob("crawl-*.warc.gz")))
    if main_of_victor(["clean", *shards, "--output", str(output)]) == 0:
        with browser.new_context(viewport=SIZE) as context:
            page = context.new_page()
            page.goto((output / "_run" / "report.html").as_uri())
            statuses = page.get_by_text("Statuses of the pages")
            statuses.evaluate("heading => window.scrollTo(0, heading.getBoundingClientRect().top - 40)")
            take(page, "run-report")


def look(browser: Browser) -> None:
    """The reasons of a paragraph of the first article, and its Markdown."""
    shard = str(ROOT / "sample" / "crawl-00000.warc.gz")
    serving = Looking([shard, "--no-open"], command="look")
    try:
        with browser.new_context(viewport=SIZE) as context:
            page = context.new_page()
            page.goto(serving.address)
            page.get_by_role("tab", name="Markdown", exact=True).click()
            expect(page.frame_locator("#panel iframe").locator("p").first).to_be_visible()
            page.frame_locator("#frame").locator("v-b", has_text=LEAD).hover(position={"x": 40, "y": 8})
            take(page, "look")
    finally:
        serving.stop()


def block_with(desk: Desk, words: str) -> int:
    """The number of the block that begins so."""
    element = desk.frame.locator("v-b", has_text=words).first
    return int(element.get_attribute("data-b") or 0)


def at_work(context: BrowserContext, server: Server, number: int) -> None:
    """A run begun at the first paragraph, the pointer on the last."""
    desk = Desk(context.new_page(), server, "Eva").join(f"#/page/{number}").ready(f"/frame/{number}")
    desk.plain()
    first, last = block_with(desk, LEAD), block_with(desk, LATER)
    desk.click(first)
    desk.page.mouse.move(*desk.place(last))
    take(desk.page, "annotate")


def practice(context: BrowserContext, server: Server) -> None:
    """What practice says after a page without a label."""
    number = server.get("/api/session")["practice"][0]["page"]
    page = context.new_page()
    page.goto(f"{server.url}/#/practice/{number}")
    desk = Desk(page, server, "Eva").ready()
    desk.press("Enter")
    page.get_by_role("button", name="Look at them").click()
    take(desk.page, "annotate-practice")


def annotate(desk: Desk, number: int, words: str) -> None:
    """Labels the page as suggested, but for one paragraph."""
    desk.join(f"#/page/{number}").ready(f"/frame/{number}")
    desk.plain()
    desk.click(block_with(desk, words))
    desk.press("3")
    desk.saved()
    desk.done()


def judge(context: BrowserContext, server: Server, number: int) -> None:
    """The overview, and the page that two label differently."""
    desk = Desk(context.new_page(), server, "Carla").join("#/overview")
    expect(desk.page.get_by_role("heading", name="Pages")).to_be_visible()
    take(desk.page, "annotate-overview")
    desk.page.goto(f"{server.url}/#/judge/{number}")
    desk.ready().press("n")
    take(desk.page, "annotate-judge")


def take(page: Page, name: str) -> None:
    """One picture, small enough for a repository."""
    page.wait_for_timeout(600)
    shot = PICTURES / f"{name}.png"
    page.screenshot(path=shot)
    with Image.open(shot) as image:
        image.save(shot.with_suffix(".webp"), quality=82, method=6)
    shot.unlink()


if __name__ == "__main__":
    sys.exit(main())
