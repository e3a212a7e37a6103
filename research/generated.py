"""Generated pages: invented markup of kinds that the annotated sets lack, with text of many languages.

python -m research.generated --text DATA/langid/train --pages 300 --output generated.jsonl

Each page is of an invented site: a layout, a dialect of class names (or none), and one kind of content
between widgets that interrupt, surround or follow it. The gold text is what the template wrote as content.
Sentences and words are drawn at run time from texts in many languages; names of classes are the only words of
this file. 300 such pages in training did not help (docs/quality.md, "More sets in training").
"""

import argparse
import json
import lzma
import random
from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Final

_LEAST_WORDS: Final = 4
_MOST_LINES: Final = 2000

_DIALECTS: Final = 4
"""Names by meaning, prefixed names, utility names without meaning, no names."""

_NAMES: Final = {
    "nav": "nav menu navbar main-menu site-nav navigation topnav",
    "head": "header masthead site-header page-head top",
    "foot": "footer site-footer page-footer bottom colophon",
    "side": "sidebar aside side secondary rail",
    "article": "article post entry story article-body post-content entry-content body-text content",
    "title": "title headline entry-title page-title article__title",
    "byline": "byline author meta article-meta posted-on",
    "pay": "paywall subscription offer piano regwall plus-teaser membership",
    "news": "newsletter signup subscribe mailing inline-newsletter app-box",
    "consent": "consent embed-consent placeholder gdpr opt-in cmp-embed",
    "related": "related read-more see-also also-interesting inline-related teaser more-on",
    "comments": "comments comment-list discussion reader-comments responses",
    "further": "further more-stories next-article recommended latest top-stories teaser-list",
    "bio": "bio author-box about-author author-bio profile",
    "card": "card item product-item tile result list-item product teaser-item",
    "grid": "grid products results list listing collection cards",
    "price": "price amount cost money",
    "filter": "filters facets refine filter-list",
    "thread": "thread topic messages posts discussion",
    "message": "message post reply post-body topic-post answer",
    "user": "user avatar member poster username",
    "signature": "signature sig user-sig",
    "gallery": "gallery slideshow slides media-list",
    "caption": "caption figcaption media-caption description",
    "tabs": "tabs tab-list code-tabs switcher",
    "step": "step instructions directions method",
    "feature": "feature benefit usp section-block hero",
}


class Page:
    """One page while it is written: its markup, and the lines that are content."""

    def __init__(self, seed: int, texts: Sequence[Sequence[str]]) -> None:
        self.random = random.Random(seed)
        self.lines = self.random.choice(texts)
        self.dialect = self.random.randrange(_DIALECTS)
        self.html: list[str] = []
        self.gold: list[str] = []
        self.prefix = self.random.choice(("c-", "td-", "o_", "js-", "tm-", "")) + self.random.choice("abcdef")
        self.modern = self.random.random() < 0.8
        self.currency = self.random.choice(("€", "$", "£", "¥", "zł", "₹", "kr"))

    def chance(self, probability: float) -> bool:
        """Whether something of this probability happens."""
        return self.random.random() < probability

    def sentence(self) -> str:
        """A sentence of the page's language."""
        return self.random.choice(self.lines)

    def sentences(self, low: int, high: int) -> str:
        """Several of them."""
        return " ".join(self.sentence() for _ in range(self.random.randint(low, high)))

    def phrase(self, low: int, high: int) -> str:
        """A few words out of a sentence; of an unspaced script, some characters."""
        text, n = self.sentence().strip(".。!?"), self.random.randint(low, high)
        words = text.split()
        if len(words) < _LEAST_WORDS and len(text) > 4 * n:
            first = self.random.randrange(len(text) - 3 * n)
            return text[first : first + 3 * n]
        first = self.random.randrange(max(1, len(words) - n))
        return " ".join(words[first : first + n])

    def price(self) -> str:
        """A price in the page's currency."""
        return f"{self.currency}{self.random.randint(1, 900)}.{self.random.randint(0, 99):02}"

    def date(self) -> str:
        """A day, in one of three forms."""
        year, month, day = (self.random.randint(*each) for each in ((2005, 2026), (1, 12), (1, 28)))
        return self.random.choice(
            (f"{day}.{month}.{year}", f"{year}-{month:02}-{day:02}", f"{month}/{day}/{year}")
        )

    def named(self, meaning: str) -> str:
        """The class attribute of an element: by meaning, prefixed, meaningless, or none."""
        name = random.Random(f"{self.prefix}{meaning}").choice(_NAMES[meaning].split())
        if self.dialect == 0:
            return f' class="{name}"'
        if self.dialect == 1:
            return f' class="{self.prefix}{name}"'
        if self.dialect == 2:
            return f' class="{self.prefix}{random.Random(meaning + self.prefix).randrange(16**5):x}"'
        return ""

    def open(self, tag: str, meaning: str) -> None:
        """Begins an element."""
        self.html.append(f"<{tag if self.modern else 'div'}{self.named(meaning)}>")

    def close(self, tag: str) -> None:
        """Ends an element."""
        self.html.append(f"</{tag if self.modern else 'div'}>")

    def put(self, tag: str, text: str, meaning: str = "", *, keep: bool = False, link: bool = False) -> None:
        """One element with text; `keep`: it is content."""
        inside = f'<a href="/{self.random.randrange(9999)}">{escape(text)}</a>' if link else escape(text)
        self.html.append(f"<{tag}{self.named(meaning) if meaning else ''}>{inside}</{tag}>")
        if keep and text.strip():
            self.gold.append(text)

    def paragraph(self, *, keep: bool = True) -> None:
        """A paragraph, some with a link inside."""
        text = self.sentences(1, 5)
        words = text.split(" ")
        inside = escape(text)
        if self.chance(0.2) and len(words) > 3:
            at = self.random.randrange(1, len(words) - 1)
            linked = f'<a href="/{at}">{escape(words[at])}</a>'
            inside = " ".join([*map(escape, words[:at]), linked, *map(escape, words[at + 1 :])])
        self.html.append(f"<p>{inside}</p>")
        if keep:
            self.gold.append(text)


def _links(page: Page, low: int, high: int, tag: str = "li") -> None:
    for _ in range(page.random.randint(low, high)):
        page.put(tag, page.phrase(1, 4), link=True)


def paywall(page: Page) -> None:
    """An offer with advantages and prices."""
    page.open("div", "pay")
    page.put(page.random.choice(("h2", "h3", "p", "strong")), page.phrase(3, 8))
    page.html.append("<ul>" + "".join(f"<li>{escape(page.phrase(4, 12))}</li>" for _ in range(4)) + "</ul>")
    page.put("p", page.sentences(1, 2))
    page.put("button", f"{page.phrase(1, 3)} {page.price()}")
    page.close("div")


def newsletter(page: Page) -> None:
    """A box that asks for an address."""
    page.open("aside", "news")
    page.put("h3", page.phrase(2, 6))
    page.put("p", page.sentences(1, 2))
    page.html.append("<form><input type=email>")
    page.put("button", page.phrase(1, 2))
    page.html.append("</form>")
    page.close("aside")


def consent(page: Page) -> None:
    """A placeholder for embedded content."""
    page.open("figure", "consent")
    page.put("p", page.phrase(2, 5))
    page.put("p", page.sentences(2, 3))
    page.put("button", page.phrase(1, 4))
    page.close("figure")


def related(page: Page) -> None:
    """One to three linked headlines, some with a teaser."""
    page.open(page.random.choice(("aside", "div", "ul")), "related")
    if page.chance(0.5):
        page.put("strong", page.phrase(1, 3))
    for _ in range(page.random.randint(1, 3)):
        page.put(page.random.choice(("p", "div", "h4")), page.phrase(5, 12), link=True)
        if page.chance(0.3):
            page.put("p", page.sentence())
    page.html.append("</div>")


def credit(page: Page) -> None:
    """A picture with its credit."""
    page.html.append('<figure><img src="x.jpg">')
    page.put("small" if page.chance(0.5) else "span", f"© {page.phrase(1, 3)}")
    page.html.append("</figure>")


def comments(page: Page) -> None:
    """Readers' comments in whole sentences."""
    page.open("section", "comments")
    page.put("h3", f"{page.phrase(1, 2)} ({page.random.randint(1, 90)})")
    for _ in range(page.random.randint(2, 15)):
        page.html.append("<div>")
        page.put("b", page.phrase(1, 2), "user")
        page.put("span", page.date())
        page.paragraph(keep=False)
        page.put("a", page.phrase(1, 1))
        page.html.append("</div>")
    page.close("section")


def further(page: Page) -> None:
    """Teasers of other pages, or a whole further story."""
    page.open("section", "further")
    page.put("h2", page.phrase(1, 4))
    if page.chance(0.25):
        page.put("h1" if page.chance(0.3) else "h2", page.phrase(5, 10), link=True)
        for _ in range(page.random.randint(2, 6)):
            page.paragraph(keep=False)
    for _ in range(page.random.randint(2, 9)):
        page.html.append("<article>" if page.modern else "<div>")
        page.put("h3", page.phrase(4, 10), link=True)
        if page.chance(0.6):
            page.put("p", page.sentence())
        page.html.append("</article>" if page.modern else "</div>")
    page.close("section")


def biography(page: Page) -> None:
    """The author in whole sentences."""
    page.open("div", "bio")
    page.put("h4", page.phrase(2, 3), link=True)
    page.put("p", page.sentences(1, 4))
    page.close("div")


_BETWEEN: Final = (paywall, newsletter, consent, related, related, credit)
_AFTER: Final = (comments, further, further, biography, newsletter, paywall, related)


def article(page: Page) -> None:
    """An article of today, interrupted."""
    page.put("h1", page.phrase(5, 12), "title", keep=True)
    page.put("div", f"{page.phrase(2, 3)} · {page.date()}", "byline")
    page.open("div", "article")
    widgets = [page.random.choice(_BETWEEN) for _ in range(page.random.randint(0, 4))]
    for _ in range(page.random.randint(4, 20)):
        page.paragraph()
        if page.chance(0.15):
            page.put("h2", page.phrase(3, 8), keep=True)
        if widgets and page.chance(0.4):
            widgets.pop()(page)
    if page.chance(0.5):
        page.close("div")
        page.open("div", "related")
    for _ in range(page.random.randint(1, 4)):
        page.random.choice(_AFTER)(page)
    page.close("div")


def listing(page: Page) -> None:
    """Products or results: names, prices and short texts of cards are the content."""
    page.put("h1", page.phrase(1, 5), "title", keep=True)
    if page.chance(0.4):
        page.paragraph()
    if page.chance(0.7):
        page.open("aside", "filter")
        _links(page, 5, 30, page.random.choice(("li", "label", "div")))
        page.close("aside")
    has_price, has_text, is_linked = page.chance(0.7), page.chance(0.6), page.chance(0.7)
    heading = page.random.choice(("h2", "h3", "h4", "div", "span"))
    item = page.random.choice(("li", "div", "article", "tr"))
    page.html.append(f"<{'table' if item == 'tr' else 'ul' if item == 'li' else 'div'}{page.named('grid')}>")
    cell = "td" if item == "tr" else None
    for _ in range(page.random.randint(6, 50)):
        page.html.append(f"<{item}{page.named('card')}>")
        page.put(cell or heading, page.phrase(2, 9), keep=True, link=is_linked)
        if has_text:
            page.put(cell or "p", page.sentences(1, 2) if page.chance(0.5) else page.phrase(4, 9), keep=True)
        if has_price:
            page.put(cell or "span", page.price(), "price", keep=True)
        if page.chance(0.5):
            page.put("button", page.phrase(1, 2))
        page.html.append(f"</{item}>")
    page.html.append(f"</{'table' if item == 'tr' else 'ul' if item == 'li' else 'div'}>")
    page.html.append("<nav>")
    for number in range(1, page.random.randint(3, 9)):
        page.put("a", str(number))
    page.html.append("</nav>")
    if page.chance(0.5):
        for _ in range(page.random.randint(1, 4)):
            page.put("h2", page.phrase(2, 6), keep=True)
            page.paragraph()


def product(page: Page) -> None:
    """A product: name, price, description and properties; not the carousels of others."""
    page.put("h1", page.phrase(2, 8), "title", keep=True)
    page.put("span", page.price(), "price", keep=page.chance(0.5))
    page.put("button", page.phrase(1, 3))
    for _ in range(page.random.randint(0, 4)):
        page.put("label", page.phrase(1, 2))
    page.open("section", "article")
    for _ in range(page.random.randint(1, 4)):
        page.paragraph()
    page.html.append("<ul>")
    for _ in range(page.random.randint(2, 8)):
        page.put("li", page.phrase(3, 10), keep=True)
    page.html.append("</ul><table>")
    for _ in range(page.random.randint(3, 12)):
        page.html.append("<tr>")
        page.put("th", page.phrase(1, 2), keep=True)
        page.put("td", page.phrase(1, 4), keep=True)
        page.html.append("</tr>")
    page.html.append("</table>")
    page.close("section")
    for _ in range(page.random.randint(1, 3)):
        page.open("section", "further")
        page.put("h2", page.phrase(2, 4))
        for _ in range(page.random.randint(4, 12)):
            page.html.append(f"<div{page.named('card')}>")
            page.put("a", page.phrase(2, 8))
            page.put("span", page.price(), "price")
            page.html.append("</div>")
        page.close("section")


def thread(page: Page) -> None:
    """A board: the messages are the content; users, signatures and buttons are not."""
    page.put("h1", page.phrase(3, 10), "title", keep=True)
    page.open("div", "thread")
    item = page.random.choice(("div", "article", "li"))
    sides = page.chance(0.6)
    for _ in range(page.random.randint(2, 25)):
        page.html.append(f"<{item}{page.named('message')}>")
        page.put(page.random.choice(("a", "b", "h4")), page.phrase(1, 1), "user")
        page.put("span", page.date())
        if sides:
            for _ in range(page.random.randint(1, 4)):
                page.put("div", f"{page.phrase(1, 1)}: {page.random.randint(1, 9999)}")
        page.html.append("<div>")
        for _ in range(page.random.choice((1, 1, 1, 2, 4))):
            page.paragraph()
        page.html.append("</div>")
        if page.chance(0.3):
            page.put("div", page.phrase(3, 14), "signature")
        for _ in range(page.random.randint(0, 3)):
            page.put("a", page.phrase(1, 2))
        page.html.append(f"</{item}>")
    page.close("div")
    if page.chance(0.5):
        further(page)


def recipe(page: Page) -> None:
    """Ingredients and steps, and readers below."""
    page.put("h1", page.phrase(2, 6), "title", keep=True)
    page.paragraph()
    page.put("h2", page.phrase(1, 2), keep=True)
    page.html.append("<ul>")
    for _ in range(page.random.randint(4, 14)):
        page.put("li", f"{page.random.randint(1, 500)} {page.phrase(1, 4)}", keep=True)
    page.html.append("</ul>")
    page.put("h2", page.phrase(1, 2), keep=True)
    page.html.append("<ol>")
    for _ in range(page.random.randint(3, 10)):
        page.put("li", page.sentences(1, 2), "step", keep=True)
    page.html.append("</ol>")
    for _ in range(page.random.randint(1, 3)):
        page.random.choice(_AFTER)(page)


def gallery(page: Page) -> None:
    """Pictures with captions."""
    page.put("h1", page.phrase(3, 8), "title", keep=True)
    page.paragraph()
    page.open("div", "gallery")
    for _ in range(page.random.randint(4, 25)):
        page.html.append('<figure><img src="y.jpg">')
        page.put("figcaption", page.sentences(1, 2), "caption", keep=True)
        page.html.append("</figure>")
    page.close("div")
    further(page)


def documentation(page: Page) -> None:
    """Sections with code in tabs."""
    page.put("h1", page.phrase(1, 5), "title", keep=True)
    for _ in range(page.random.randint(3, 10)):
        page.put("h2", page.phrase(1, 5), keep=True)
        page.paragraph()
        if page.chance(0.6):
            page.html.append(f"<div{page.named('tabs')}>")
            _links(page, 2, 5, "button")
            for _ in range(page.random.randint(1, 3)):
                names = [page.random.choice("abcxyz") + str(page.random.randint(1, 9)) for _ in range(8)]
                page.put("pre", "\n".join(f"{one} = {other}()" for one, other in pairwise(names)), keep=True)
            page.html.append("</div>")


def service(page: Page) -> None:
    """The services of a company, in short sections."""
    page.put("h1", page.phrase(3, 8), "title", keep=True)
    for _ in range(page.random.randint(4, 14)):
        page.open("section", "feature")
        page.put(page.random.choice(("h2", "h3")), page.phrase(2, 7), keep=True)
        page.put("p", page.sentences(1, 2), keep=True)
        if page.chance(0.4):
            page.put("a", page.phrase(1, 3))
        page.close("section")


KINDS: Final[dict[str, tuple[Callable[[Page], None], int]]] = {
    "article": (article, 6),
    "listing": (listing, 4),
    "product": (product, 3),
    "forum": (thread, 4),
    "recipe": (recipe, 1),
    "gallery": (gallery, 1),
    "documentation": (documentation, 1),
    "service": (service, 2),
}
"""Kind → what writes it, and how often it is drawn."""


def generate(texts: Sequence[Sequence[str]], n_pages: int, seed: int = 0) -> Iterator[dict[str, object]]:
    """Pages as `victor train crf` reads them; the same seed and texts make the same pages."""
    drawn = random.Random(seed)
    names, weights = list(KINDS), [weight for _, weight in KINDS.values()]
    for number in range(n_pages):
        kind = drawn.choices(names, weights)[0]
        page = Page(drawn.randrange(2**32), texts)
        page.html.append(
            f"<!DOCTYPE html><html><head><title>{escape(page.phrase(3, 8))}</title></head><body>"
        )
        page.open("header", "head")
        page.html.append(f"<nav{page.named('nav')}><ul>")
        _links(page, 4, 25)
        page.html.append("</ul></nav>")
        page.close("header")
        has_side, first = page.chance(0.5), page.chance(0.4)
        if has_side and first:
            _side(page)
        page.open("main", "article")
        if page.chance(0.4):
            page.put("div", " › ".join(page.phrase(1, 2) for _ in range(3)))
        KINDS[kind][0](page)
        page.close("main")
        if has_side and not first:
            _side(page)
        page.open("footer", "foot")
        _links(page, 3, 25, page.random.choice(("li", "a", "p")))
        page.put("p", f"© {page.sentence()}")
        page.close("footer")
        page.html.append("</body></html>")
        name, host = f"generated/{seed}-{number}", f"s{seed}-{number}.invalid"
        yield {"id": name, "url": None, "host": host, "html": "\n".join(page.html)} | {
            "gold": "\n".join(page.gold),
            "meta": {"page_type": kind},
        }


def _side(page: Page) -> None:
    page.open("aside", "side")
    for _ in range(page.random.randint(1, 3)):
        page.random.choice((further, newsletter, related))(page)
    page.close("aside")


def texts_of(directory: Path) -> list[list[str]]:
    """The first lines of each file of text in a directory, one language a file."""
    found = []
    for path in sorted(directory.glob("*.txt*")):
        with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8") as lines:
            texts = [line.strip() for _, line in zip(range(_MOST_LINES), lines, strict=False)]
        found.append([text for text in texts if 20 < len(text) < 400])
    return [lines for lines in found if lines]


def main() -> int:
    """Writes the pages as JSON lines."""
    parser = argparse.ArgumentParser(
        prog="python -m research.generated",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--text", metavar="DIR", type=Path, required=True, help="*.txt[.xz], one a language")
    parser.add_argument("--pages", metavar="N", type=int, default=300, help="default: %(default)s")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--output", metavar="FILE", type=Path, required=True)
    options = parser.parse_args()
    pages = generate(texts_of(options.text), options.pages, options.seed)
    options.output.write_text("".join(json.dumps(page, ensure_ascii=False) + "\n" for page in pages))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
