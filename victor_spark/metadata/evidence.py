"""What a page's markup states about itself, read from the source before scripts are dropped.

One pass of a kernel finds the tags; what is inside them is read when it is asked for. All counts are
bounded, so that the cost grows with the page alone.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from html import unescape
from typing import Final

import numpy as np

from victor_spark.kernels import statements as kernel
from victor_spark.kernels import views
from victor_spark.metadata.vocabulary import vocabulary

MAX_VALUE: Final = 2_000
"""Characters of a value that are kept: fewer than the digits of a number that Python refuses to read."""
MAX_JSON: Final = 2_000_000
"""Bytes of JSON-LD that are read in a page."""
_WINDOW: Final = 1_500
"""Bytes of an element in which its text is looked for."""
_MAX_MARK: Final = 300
"""Characters of the attributes of an element that are read as its mark."""


@dataclass(frozen=True, slots=True)
class Marked:
    """An element that its attributes mark as a name or a date: the attribute and its words, the text."""

    mark: str
    text: str


class Evidence:
    """The statements of one page's UTF-8 source, each kind read when it is first asked for."""

    def __init__(self, markup: bytes) -> None:
        self._markup = markup
        self._tags: dict[int, list[tuple[int, int]]] = {}
        for kind, start, end in self._found(marked=False):
            self._tags.setdefault(kind, []).append((start, end))

    def _found(self, *, marked: bool) -> list[list[int]]:
        found = np.empty((kernel.N_KINDS * kernel.MOST, 3), dtype=np.int32)
        source = np.frombuffer(self._markup, dtype=np.uint8)
        n = kernel.statements(*views(source, found, np.zeros(kernel.N_KINDS, np.int32)), marked)
        rows: list[list[int]] = found[:n].tolist()
        return rows

    @cached_property
    def meta(self) -> dict[str, list[str]]:
        """Contents of `meta` by lower-cased property, name or itemprop."""
        found: dict[str, list[str]] = {}
        for start, end in self._tags.get(kernel.META, ()):
            named = _META_NAME.finditer(self._markup, start, end)
            if not any(name[1].lower() in _known_names() for name in named):
                continue
            attributes = self._attributes(start, end)
            stated = attributes.get("property") or attributes.get("name") or attributes.get("itemprop") or ""
            if content := _tidy(attributes.get("content", "")):
                found.setdefault(stated.lower(), []).append(content)
        return found

    @cached_property
    def links(self) -> dict[str, list[str]]:
        """Addresses of `link` by rel, those of the page itself only."""
        found: dict[str, list[str]] = {}
        for start, end in self._tags.get(kernel.LINK, ()):
            if _RELATION.search(self._markup, start, end) is not None:
                attributes = self._attributes(start, end)
                if address := attributes.get("href", "").strip():
                    found.setdefault(attributes.get("rel", "").lower().strip(), []).append(address)
        return found

    @cached_property
    def language(self) -> str | None:
        """What `html` states as the language."""
        first, _ = next(self._each(kernel.HTML), ({}, 0))
        return first.get("lang") or first.get("xml:lang")

    @cached_property
    def title(self) -> str | None:
        """The text of `title`."""
        return next((self._text(end, b"title") for _, end in self._tags.get(kernel.TITLE, ())), None)

    @cached_property
    def headings(self) -> list[str]:
        """The texts of the first `h1`."""
        texts = (self._text(end, b"h1") for _, end in self._tags.get(kernel.HEADING, ())[:10])
        return [text for text in texts if text][:5]

    @cached_property
    def json_ld(self) -> list[str]:
        """The texts of JSON-LD scripts, not yet read."""
        texts: list[str] = []
        left = MAX_JSON
        for _, start in self._tags.get(kernel.JSON_LD, ()):
            closing = _SCRIPT_END.search(self._markup, start)
            end = closing.start() if closing else len(self._markup)
            left -= end - start
            if left >= 0:
                texts.append(self._markup[start:end].decode("utf-8", "replace"))
        return texts

    @cached_property
    def marked(self) -> list[Marked]:
        """Elements that itemprop, rel, class or id mark as an author or a date."""
        elements = (self._marked(start, end) for _, start, end in self._found(marked=True))
        return [element for element in elements if element is not None]

    @cached_property
    def times(self) -> list[Marked]:
        """The `time` elements."""
        found = []
        for attributes, end in self._each(kernel.TIME):
            text = _tidy(attributes.get("datetime", "")) or self._text(end, b"time")
            mark = " ".join((attributes.get("itemprop", ""), attributes.get("class", ""))).lower()[:_MAX_MARK]
            if text:
                found.append(Marked(mark, text))
        return found

    def _each(self, kind: int) -> Iterator[tuple[dict[str, str], int]]:
        """The attributes of each tag of a kind, and where it ends."""
        for start, end in self._tags.get(kind, ()):
            yield self._attributes(start, end), end

    def _attributes(self, start: int, end: int) -> dict[str, str]:
        found: dict[str, str] = {}
        for match in _ATTRIBUTE.finditer(self._markup[start:end].decode("utf-8", "replace")):
            value = match[2] or match[3] or match[4]
            if value is not None:
                value = value[:MAX_VALUE]
                found.setdefault(match[1].lower(), unescape(value) if "&" in value else value)
        return found

    def _text(self, start: int, name: bytes) -> str:
        """The text of an element from the end of its start tag on, without tags; cut at _WINDOW bytes."""
        inside = self._markup[start : start + _WINDOW]
        if (end := re.search(rb"</%s(?![\w-])" % name, inside, re.IGNORECASE)) is not None:
            inside = inside[: end.start()]
        return _tidy(unescape(_MARKUP.sub(" ", inside.decode("utf-8", "replace"))))

    def _marked(self, start: int, end: int) -> Marked | None:
        name = _NAME.match(self._markup, start + 1)
        if name is None or name[0].lower() in _NOT_TEXT:
            return None
        attributes = self._attributes(start, end)
        for key in ("itemprop", "rel", "class", "id", "data-testid"):
            words = attributes.get(key, "").lower()[:_MAX_MARK]
            if any(mark in words for mark in ("author", "byline", "publish", "date")):
                value = attributes.get("content") or attributes.get("datetime")
                text = _tidy(value) if value else self._text(end, name[0])
                return Marked(f"{key}={words}", text) if text else None
        return None


@cache
def _known_names() -> frozenset[bytes]:
    """Names of `meta` elements that say something about the page."""
    return frozenset(name.encode() for name in vocabulary().meta_names)


def _tidy(text: str) -> str:
    return " ".join(text[:MAX_VALUE].split())


_ATTRIBUTE: Final = re.compile(r"""([^\s"'<>/=]++)\s*+(?:=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++)))?""")
"""With the names that have no value, so that no name is looked at again from its second letter on."""
_MARKUP: Final = re.compile(
    r"<(?:(?:script|style|svg)\b.*?</(?:script|style|svg)|!--.*?--|[^>]*+)>", re.DOTALL
)
_SCRIPT_END: Final = re.compile(rb"</script", re.IGNORECASE)
_META_NAME: Final = re.compile(rb"""\b(?:property|name|itemprop)\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
_RELATION: Final = re.compile(rb"canonical|licen[cs]e", re.IGNORECASE)
_NAME: Final = re.compile(rb"[A-Za-z][A-Za-z0-9]{0,31}")
_NOT_TEXT: Final = frozenset((b"body", b"img", b"input", b"form"))
