"""Reads a page's JSON-LD: repairs it, flattens its graphs. `extract` chooses values, such as the date."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from html import unescape
from typing import Any, Final

from victor_spark.metadata.evidence import MAX_VALUE

MAX_THINGS: Final = 2_000
"""The most objects of a page that are read."""
_TAIL: Final = 200  # characters at the end of a script that are searched for the end of a comment

Thing = dict[str, Any]


def things(texts: Iterable[str]) -> list[Thing]:
    """The objects of a page's JSON-LD except reviews, breadth first: an object precedes those inside it."""
    found: list[Thing] = []
    waiting = [value for text in texts if isinstance(value := read(text), _NESTED)]
    for value in waiting:
        if isinstance(value, list):
            waiting += [inner for inner in value[:MAX_THINGS] if isinstance(inner, _NESTED)]
            continue
        found.append(value)
        if len(found) == MAX_THINGS:
            break
        waiting += [one for name, one in value.items() if isinstance(one, _NESTED) and name not in _OF_OTHERS]
    return found


_NESTED: Final = (dict, list)
_OF_OTHERS: Final = frozenset(("review", "reviews", "comment", "itemListElement"))
"""Fields with works about the object, or works in a list, which have other authors and dates."""


def read(text: str) -> Any:
    """The value of one script; None where it can't be read."""
    text = _BEFORE.sub("", text.strip())
    if text.endswith((">", "/")):
        text = text[:-_TAIL] + _BEHIND.sub("", text[-_TAIL:])
    with suppress(RecursionError):
        for attempt in _attempts(text):
            with suppress(ValueError):
                return _DECODER.decode(attempt)
    return None


def _attempts(text: str) -> Iterator[str]:
    yield text
    mended = _COMMENT.sub("", _BAD_ESCAPE.sub(r"\\\\", text))
    mended = _MISSING_COMMA.sub(r"\1,\2", _TRAILING_COMMA.sub(r"\1", mended)).rstrip("; \n")
    yield mended
    yield _QUOTE.sub(lambda quote: quote[0] if quote[1] or quote[2] else '\\"', mended)
    yield from (mended + end for end in ("}", "]}"))
    if "&quot;" in mended:
        with suppress(ValueError):  # a number of thousands of digits
            yield unescape(mended)
    pieces: list[str] = []  # objects after each other
    end = 0
    with suppress(ValueError, RecursionError):
        while len(pieces) < MAX_THINGS and (white := _WHITE.match(mended, end)):
            _, end = _DECODER.raw_decode(mended, white.end())
            pieces.append(mended[white.end() : end])
    if pieces:
        yield f"[{','.join(pieces)}]" if len(pieces) > 1 else pieces[0]


_DECODER: Final = json.JSONDecoder(strict=False)
_BEFORE: Final = re.compile(r"\A(?:<!--|/\*.*?\*/|//\s*)?\s*(?:<!\[CDATA\[)?\s*(?:\*/)?", re.DOTALL)
_BEHIND: Final = re.compile(r"(?://)?\s*(?:\]\]>|-->|/\*.*?\*/)\s*\Z", re.DOTALL)
_COMMENT: Final = re.compile(r"(?m)(?<=\s)//[^\n\"/]*$|/\*[^\"*/]*\*/")
_TRAILING_COMMA: Final = re.compile(r",(\s*[}\]])")
_MISSING_COMMA: Final = re.compile(r'(["}\]])([^\S\n]*\n\s*")')
_QUOTE: Final = re.compile(r'([\[{,:]\s*|\\)?"(?=(\s*[,:}\]])?)')
"""A quotation mark; what before it or behind it shows that it begins or ends a text, or is escaped."""
_WHITE: Final = re.compile(r"\s*")
_BAD_ESCAPE: Final = re.compile(r'\\(?!["\\/bfnrtu])')


def types(thing: Thing) -> tuple[str, ...]:
    """The types of an object, without the vocabulary's address; one with a headline is an article."""
    stated = thing.get("@type") or thing.get("type")
    every = stated if isinstance(stated, list) else [stated]
    found = tuple([one.replace(":", "/").rpartition("/")[2] for one in every if isinstance(one, str)])
    return found or (("Article",) if "headline" in thing else ())


def strings(value: Any, key: str, by_id: dict[str, Thing]) -> Iterator[str]:
    """The texts of a value: a text itself, the field `key` of an object or of the object that a reference
    ({"@id": …}) names, or the texts of a list.
    """
    for one in (value if isinstance(value, list) else [value])[:100]:
        is_reference = isinstance(one, dict) and "@id" in one and not one.get(key)
        inner = by_id.get(str(one["@id"]), one) if is_reference else one
        if isinstance(inner, dict):
            parts = [part for part in map(inner.get, ("givenName", "familyName")) if isinstance(part, str)]
            inner = inner.get(key) or inner.get("@value") or " ".join(parts)
        for text in inner[:100] if isinstance(inner, list) else [inner]:
            text = text.get("@value") or text.get(key) if isinstance(text, dict) else text  # noqa: PLW2901
            text = str(text) if type(text) is int else text  # noqa: PLW2901
            if isinstance(text, str) and text.strip():
                yield " ".join(unescape(text[:MAX_VALUE]).encode("utf-8", "replace").decode().split())
