"""The statements of a page's markup about the page, read from the source before scripts are dropped.

A kernel finds the tags in one pass; their content is read on first use. All counts are bounded, so that the
time is linear in the length of the page.
"""

import re
import sys
from bisect import bisect_right
from functools import cache, cached_property, lru_cache
from html import escape, unescape
from typing import Final, NamedTuple

import numpy as np

from victor_spark.kernels import statements as kernel
from victor_spark.kernels import views
from victor_spark.kernels.num import Stated
from victor_spark.metadata.vocabulary import vocabulary

MAX_VALUE: Final = 2_000
"""The most characters of a value: fewer than the digits at which Python refuses to read a number."""
_MAX_SOURCE: Final = 4 * MAX_VALUE  # the bytes of these
MAX_JSON: Final = 2_000_000
"""The most bytes of JSON-LD that are read in a page."""
_WINDOW: Final = 1_500  # the most bytes of an element that are searched for its text
_BELOW: Final = 5_000
_ABOVE: Final = 500
_MAX_BELOW: Final = 1_200
"""The most bytes below and above a heading that are searched for a byline and a date; characters below it."""
_MAX_HEADINGS: Final = 6
_MAX_PARTS: Final = 10  # places at which a title may end or begin, and those at which a part may be repeated
_BEFORE_TITLE: Final = 200  # the bytes before a title that are searched for the tags around it
_MAX_MARK: Final = 300  # the most characters of an element's attributes that are read as its mark
_MAX_NAME: Final = 32  # the most characters of an element's name that are read


class Marked(NamedTuple):
    """An element: the attribute and the words that mark it as a name or a date; its start tag."""

    mark: str
    start: int
    end: int


class Evidence:
    """The statements of one page's UTF-8 source, each kind read when it is first asked for."""

    def __init__(self, markup: bytes) -> None:
        self._markup = markup
        self._found = np.empty((kernel.N_KINDS * kernel.MOST + 1, len(Stated._fields)), dtype=np.int32)
        counts = np.zeros(kernel.N_KINDS, dtype=np.int32)
        source = np.frombuffer(markup, dtype=np.uint8)
        kernel.statements(*views(source, _NAMES, self._found, counts))
        self._counts: list[int] = counts.tolist()
        self._read: dict[int, list[str]] = {}

    def _rows(self, kind: int) -> list[list[int]]:
        """The tags of a kind, in the order of the source: the columns of `Stated`."""
        first = kind * kernel.MOST
        rows: list[list[int]] = self._found[first : first + self._counts[kind]].tolist()
        return rows

    @cached_property
    def meta(self) -> dict[str, list[str]]:
        """Contents of `meta` by lower-cased property, name or itemprop."""
        return self._named(kernel.META, _known_names())

    @cached_property
    def links(self) -> dict[str, list[str]]:
        """Addresses of `link` by rel, those of the page itself only."""
        return self._named(kernel.LINK, _RELATIONS)

    def _named(self, kind: int, known: dict[bytes, str]) -> dict[str, list[str]]:
        """The values of elements of a kind, by those of their names that are known."""
        found: dict[str, list[str]] = {}
        for _, _, _, first, first_end, second, second_end in self._rows(kind):
            names = self._markup[first:first_end].lower().split()  # of RDFa's `property` several
            name = next(filter(None, map(known.get, names)), None)
            if name is not None and (content := _value(self._markup[second:second_end])):
                found.setdefault(name, []).append(content)
        return found

    @cached_property
    def language(self) -> str | None:
        """The language that the element `html` states."""
        first = next((self._attributes(start, end) for start, end, *_ in self._rows(kernel.HTML)), {})
        return first.get("lang") or first.get("xml:lang")

    @cached_property
    def title(self) -> str | None:
        """The text of `title`."""
        return next((self._text(start, end) for start, end, *_ in self._rows(kernel.TITLE)), None)

    @cached_property
    def headings(self) -> list[str]:
        """The texts of the first `h1`, "" of those without; before them, the title, if it is `repeated`."""
        return [text for *_, text in self._headings]

    @property
    def repeated(self) -> list[str]:
        """The title, if no `h1` holds more than a link home, but another element repeats it; else []."""
        return [text for *_, text in self._repeated]

    @property
    def _headings(self) -> list[tuple[int, int, str]]:
        """Where each heading starts, where its start tag ends (of the title, the text), and the text."""
        return [*self._repeated, *self._h1]

    @cached_property
    def _h1(self) -> list[tuple[int, int, str]]:
        rows = self._rows(kernel.HEADING)[:_MAX_HEADINGS]
        return [(start, end, self._text(start, end)) for start, end, *_ in rows]

    @cached_property
    def _repeated(self) -> list[tuple[int, int, str]]:
        """Where a title in the head, or a part of one before or after a bar, is the text of an element.

        Nowhere if an `h1` holds more than a link home. The part begins the title and is in a heading or an
        element named so; or it has half of the title and is not in a link. Headings come first, then parts
        that begin the title, then the longest ones.
        """
        if any(text and not _HOME.match(self._markup, end) for _, end, text in self._h1):
            return []
        markup, found = self._markup, []
        body = max(markup.find(b"</title"), 0)
        title = (*self.meta.get("og:title", ()), self.title or "")[0]
        pieces = _ENDS.split(title, _MAX_PARTS)
        parts = {"".join(pieces[a:b]) for n in range(len(pieces)) for a, b in ((0, n), (n + 1, None))}
        for part in {title, *parts}.difference(["", *self.meta.get("og:site_name", ())]):
            at, source = body, escape(part, quote=False).encode()
            begins, is_most = title.startswith(part), 2 * len(part) >= len(title)
            if not (begins or is_most):
                continue
            for _ in range(_MAX_PARTS):
                if (at := markup.find(source, at + 1)) < 0:
                    break
                end = at + len(source)
                opened = _OPENED.search(markup[max(at - _BEFORE_TITLE, 0) : at].rstrip())
                if opened is None or _END_TAG.match(markup, end) is None:
                    continue
                heading, is_apart = _OF_TITLE.search(opened[0]), b"<a " not in opened[0].lower()
                if heading or (is_apart and is_most):
                    level = -int(heading[1] or 7) if heading else 0
                    found.append((bool(heading), begins, len(part), level, is_apart, -at, end, part))
        return [(-at, end, part) for *_, at, end, part in sorted(found)[-1:]]

    def headings_of_site(self) -> list[str]:
        """The texts of the headings that link to the site's home page."""
        return [text for _, end, text in self._headings if _HOME.match(self._markup, end)]

    def around(self, heading: int) -> tuple[list[str], list[str]]:
        """The lines of text below one of the headings, and those just above it; none without headings."""
        for start, end, _ in self._headings[heading : heading + 1]:
            above = self._markup[max(start - _ABOVE, 0) : start]
            below = self._markup[end : end + _BELOW]
            if (behind := below.lower().find(b"</h1")) >= 0:
                below = below[behind + 5 :]
            above = above[above.find(b">") + 1 :]
            if (raw := _RAW.search(above)) and raw[1]:  # the end of a script that begins further above
                above = above[raw.start() :]
            return _lines(below, _MAX_BELOW), _lines(above)
        return [], []

    @cached_property
    def json_ld(self) -> list[str]:
        """The texts of JSON-LD scripts, not yet read."""
        texts: list[str] = []
        left = MAX_JSON
        for *_, second, second_end in self._rows(kernel.JSON_LD):
            left -= second_end - second
            if left >= 0:
                texts.append(self._markup[second:second_end].decode("utf-8", "replace"))
        return texts

    @cached_property
    def marked(self) -> dict[re.Pattern[str], list[Marked]]:
        """Elements that itemprop, rel, class or id mark as an author or a date, by patterns of _MARKS."""
        found: dict[re.Pattern[str], list[Marked]] = {}
        rows = self._rows(kernel.MARKED)
        items = [row[0] for row in rows if row[2] == _ITEMPROP]
        review = _REVIEW.search(self._markup, 0, items[-1]) if items and b"review" in self._markup else None
        of_reviews = {start for start in items if review and start > review.start()}
        for start, end, rank, first, first_end, _, _ in rows:
            mark, patterns = _mark(rank, self._markup[first : min(first_end, first + _MAX_SOURCE)])
            if not patterns or start in of_reviews or _NOT_TEXT.match(self._markup, start):
                continue
            for pattern in patterns:
                found.setdefault(pattern, []).append(Marked(mark, start, end))
        return found

    def holds(self, pattern: re.Pattern[bytes], start: int = 0, end: int = sys.maxsize) -> bool:
        """Whether an expression matches in a part of the source."""
        return pattern.search(self._markup, max(start, 0), end) is not None

    def apart(self, start: int) -> bool:
        """Whether an element that starts there stands in navigation, a label, or a form without an `h1`."""
        before = bisect_right(self._apart, (start,))
        return before > 0 and start < self._apart[before - 1][1]

    @cached_property
    def _apart(self) -> list[tuple[int, int]]:
        """Where such elements begin and end, none inside another."""
        found: list[tuple[int, int]] = []
        opened: dict[bytes, int] = {}
        headings = [start for start, *_ in self._rows(kernel.HEADING)]
        for match in _APART.finditer(self._markup):
            if not match[1]:
                opened.setdefault(match[2].lower(), match.start())
            elif (begin := opened.pop(match[2].lower(), -1)) >= 0 and not any(
                begin < heading < match.start() for heading in headings[:_MAX_HEADINGS]
            ):
                while found and found[-1][0] > begin:
                    found.pop()
                found.append((begin, match.start()))
        return found

    @cached_property
    def times(self) -> list[tuple[str, str]]:
        """The `time` elements: the words that mark one, and the time that it states."""
        found: list[tuple[str, str]] = []
        rows = self._rows(kernel.TIME)
        comments = self._markup.find(b'id="comments"', 0, rows[-1][0] if rows else 0)
        for start, end, *_ in rows:
            attributes = self._attributes(start, end)
            mark = " ".join((attributes.get("itemprop", ""), attributes.get("class", ""))).lower()[:_MAX_MARK]
            if not 0 <= comments < start and not _NOT_OF_THE_PAGE.search(mark):
                stated = " ".join(attributes.get("datetime", "")[:MAX_VALUE].split())
                stated = stated if any(map(str.isdecimal, stated)) else self._text(start, end)
                found.append((f"time {mark}".strip(), stated))
        return found

    def _attributes(self, start: int, end: int) -> dict[str, str]:
        found: dict[str, str] = {}
        for match in _ATTRIBUTE.finditer(self._markup[start:end].decode("utf-8", "replace")):
            value = match[2] or match[3] or match[4]
            if value is not None:
                found.setdefault(match[1].lower(), unescape(value[:MAX_VALUE]))
        return found

    def _text(self, start: int, end: int) -> str:
        """The text of the element with a start tag, without tags; cut at _WINDOW bytes."""
        return " ".join(self._lines(start, end))

    def _lines(self, start: int, end: int, *, of_item: bool = False) -> list[str]:
        """The lines of text of an element; with `of_item`, those of the names of microdata in it, if any."""
        inside = self._inside(start, end)
        names = _ITEM_NAME.findall(inside) if of_item else []
        return [line for _, text in names for line in _lines(text)] or _lines(inside)

    def _inside(self, start: int, end: int) -> bytes:
        """The markup of the element with a start tag, cut at _WINDOW bytes."""
        inside = self._markup[end : end + _WINDOW]
        name = _NOT_IN_NAME.split(self._markup[start + 1 : start + _MAX_NAME + 1], 1)[0]
        depth = 1
        for tag in re.finditer(rb"(?i)<(/?)%s(?![\w-])" % name, inside):
            depth += -1 if tag[1] else name == b"span"  # others that hold their like are boxes
            if not depth:
                return inside[: tag.start()]
        return inside

    def ends(self, heading: str) -> set[str]:
        """The text of an `h1` up to each tag in it, and from there on."""
        inside = next((self._inside(start, end) for start, end, text in self._h1 if text == heading), b"")
        pieces = _TAG.split(inside.decode("utf-8", "replace"))
        return {"".join(part) for n in range(len(pieces)) for part in (pieces[:n], pieces[n:])}

    @property
    def licenses(self) -> set[str]:
        """The address of the links with rel=license outside figures; no address, if they lead to several."""
        found = set()
        for start, end, rank, *_ in self._rows(kernel.MARKED):
            attributes = self._attributes(start, end) if rank == _REL else {}
            if "license" in attributes.get("rel", "").split() and attributes.get("href"):
                before = self._markup[max(start - _BELOW, 0) : start]
                if before.rfind(b"<figure") <= before.rfind(b"</figure"):
                    found.add(attributes["href"])
        return found if len(found) == 1 else set()

    def stated(self, one: Marked) -> list[str]:
        """The value that an element states in an attribute, or else the lines of its text."""
        if one.start not in self._read:
            attributes = self._attributes(one.start, one.end)
            value = attributes.get("content") or attributes.get("datetime")
            if self._markup[one.start : one.start + 5] == b"<abbr":  # of a microformat
                value = value or attributes.get("title")
            of_item = one.mark.startswith("itemprop")
            lines = [" ".join(value.split())] if value else self._lines(one.start, one.end, of_item=of_item)
            if not lines and (inside := _MICRODATA.match(self._markup, one.end, one.end + _WINDOW)):
                lines = [_value(inside[1])]
            self._read[one.start] = lines
        return self._read[one.start]


@cache
def _known_names() -> dict[bytes, str]:
    """Names of `meta` elements that state a field; those of Dublin Core also as in `dc:date`."""
    names = [name for names in vocabulary().meta.values() for name in names]
    return {form.encode(): name for name in names for form in (_DUBLIN_CORE.sub(r"\1:", name), name)}


def _value(source: bytes) -> str:
    """The value of an attribute."""
    return " ".join(unescape(source[:_MAX_SOURCE].decode("utf-8", "replace")[:MAX_VALUE]).split())


@lru_cache(500)
def _mark(rank: int, value: bytes) -> tuple[str, list[re.Pattern[str]]]:
    """The mark of an element with this value of an attribute, and those of _MARKS that match it."""
    words = _value(value).lower()[:_MAX_MARK]
    mark = f"{kernel.ATTRIBUTES[rank]}={words}"
    if _NOT_OF_THE_PAGE.search(words):
        return mark, []
    return mark, [pattern for pattern, word in _MARKS.items() if word in mark and pattern.search(mark)]


def _lines(markup: bytes, most: int = _BELOW) -> list[str]:
    """The lines of text of a piece of markup, up to about `most` characters; most elements begin one."""
    found = []
    for match in _LINE.finditer(markup.decode("utf-8", "replace")):
        line = match[1]
        if "<" in line:
            line = _INSIDE_LINES.sub(" ", _INSIDE_WORDS.sub("", line))
        if tidy := " ".join(unescape(line).split()):
            found.append(tidy)
            most -= len(tidy)
            if most < 0:
                break
    return found


_ATTRIBUTE: Final = re.compile(r"""([^\s"'<>/=]++)\s*+(?:=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++)))?""")
"""With the names that have no value, so that no name is looked at again from its second letter on."""
_NAMES: Final = np.array(kernel.NAMES, dtype=np.uint64)
_RELATIONS: Final = {b"canonical": "canonical", b"license": "license", b"licence": "license"}
_MARKS: Final = {
    re.compile(r"^(?:itemprop=|property=(?:\w+:)?)author"): "author",
    re.compile("^rel=author"): "rel=author",
    re.compile(r"(?<![^\W_])(?:author[-_]*name|byline[-_]*(?:name|author))"): "",
    re.compile(r"class=.*\bbyline"): "byline",
    re.compile(r"class=.*\bauthor\b"): "author",
    re.compile("class=.*author"): "author",
    re.compile("href=.*/authors?/"): "/author",
    re.compile("class=.*user-?_?name"): "name",
    re.compile(r"^(?:itemprop=|property=(?:\w+:)?)datepublished"): "datepublished",
    re.compile("publish(?<!status-publish)(?!.*modified)"): "publish",
    re.compile("date(?!.*update)"): "date",
}
"""Marks of elements that hold authors (the surest first), a user, or a date; and a word that each has."""
ITEM, RELATION, *BYLINES, USER, DATE_ITEM, PUBLISH, DATE = _MARKS
_REL: Final = kernel.ATTRIBUTES.index("rel")
_ITEMPROP: Final = kernel.ATTRIBUTES.index("itemprop")
_NOT_OF_THE_PAGE: Final = re.compile(
    "comment|follow|warning|input|(?<!p)review_|widget-date|teaser[_-]*date|birth"
)
"""Words that mark authors and dates of comments, reviews and other texts, and fields of a form."""
_REVIEW: Final = re.compile(rb"""itemprop=["']?reviews?["'\s>]""")
"""The beginning of a review of the page's subject: authors and dates after it are those of reviews."""
_MICRODATA: Final = re.compile(
    rb"""(?:\s*<(?:meta|link)\b[^<>]*>)*?\s*<(?:meta|link) itemprop=["']?name["']? content=["']([^"'<>]+)"""
)
"""The name in the first element inside another one."""
_ITEM_NAME: Final = re.compile(rb"""(?s)<(\w+)\b[^<>]*\sitemprop=["']?name\b[^<>]*>(.*?)</\1\b""")
"""An element with the name in microdata, and what is in it."""
_HOME: Final = re.compile(
    rb"(?i)\s*(?:<(?:span|div)\b[^<>]*>\s*)?<a\s[^<>]*?"
    rb"(?:href=[\"']?(?:https?://[^/\"'\s<>]+/?|/)[\"'\s>]|rel=[\"']?home\b|accesskey=[\"']?[h1]\b)"
)
_END_TAG: Final = re.compile(rb"\s*</")
_OPENED: Final = re.compile(rb"(?:<[^/<>][^<>]*>\s*)+\Z")
_OF_TITLE: Final = re.compile(rb"(?i)<h([2-6])\b|\s(?:class|id)=[^=<>]*(?:title|subject|headline)")
BARS: Final = r"\s+(?:[|–—\-·•»«/~<>⋆★@]+|::+|:(?=\s+r/))\s+|\s*[|｜»«]\s*|[_-](?<=[⺀-\uffff].)-?(?=\S)"
"""What stands between the title of a page and the name of its site."""
_ENDS: Final = re.compile(rf"({BARS}|:\s+)")
_APART: Final = re.compile(rb"<(/?)(form|label|nav)\b", re.IGNORECASE)
_NOT_SHOWN: Final = r"<(?:(?:script|style|svg)\b(?s:.*?)</(?:script|style|svg)|!--(?s:.*?)--)(?:>|\Z)"
_INLINE: Final = (
    r"</?(?!a>\s*<a\s)"  # between two links, a line ends
    r"(?:[aAbBiIuU]|abbr|bdi|em|EM|font|FONT|small|span|SPAN|strong|STRONG|sup|time)\b[^<>]*+>"
)
_RUBY: Final = r"</?r(?:t|p|b|tc|uby)\b[^<>]*+>"
_RAW: Final = re.compile(rb"<(/?)(?:script|style)\b")
_TAG: Final = re.compile(f"{_NOT_SHOWN}|<[^<>]*>")
_INSIDE_LINES: Final = re.compile(f"{_NOT_SHOWN}|{_INLINE}")
_INSIDE_WORDS: Final = re.compile(rf"<r[tp]\b.*?(?=</?r(?:t|p|b|uby)\b|\Z)|{_RUBY}|<wbr/?>")
"""Elements with the pronunciation of a word, the tags around them, and places for hyphens."""
_LINE: Final = re.compile(
    rf"(?:{_NOT_SHOWN}|<[^>]*+>?|\s++)*+((?:[^<]++|{_NOT_SHOWN}|{_INLINE}|{_RUBY}|<wbr/?>)*+)"
)
"""Tags and what is not shown, then a line with the tags in it."""
_DUBLIN_CORE: Final = re.compile(r"\A(dc|dcterms)\.")
_NOT_IN_NAME: Final = re.compile(rb"[^A-Za-z0-9]")
_NOT_TEXT: Final = re.compile(rb"<(?:body|img|input|form)(?![A-Za-z0-9])", re.IGNORECASE)
