"""UTF-8 markup → canonical HTML by the kernels, wherever they read a page exactly as the parser library does.

The library builds an object a node and takes every attribute apart, for a tree of which the canonical HTML
keeps a third; the kernels write the same string in a quarter of the time (bench/pipeline.py). What they don't
read they leave to the library; that both agree is held by tests on tag soup and on all pages at hand.
"""

import re
from typing import Final, NamedTuple

import numpy as np

from victor_spark.html.elements import byte_classes, elements, in_source, references
from victor_spark.kernels import construction, serializer, tokenizer
from victor_spark.kernels import source as kernel
from victor_spark.page import Int32, UInt8

_STANDARD: Final = re.compile(
    rb"""<!doctype\s+html(?:\s*|\s+public\s+["']-//w3c//dtd\s(?:xhtml\s[^"']*|html\s4\.01(?:\stransitional)?//[^"']*)"""
    rb"""["']\s*["']http://www\.w3\.org/[^"']*["']\s*|\s+system\s+["']about:legacy-compat["']\s*)""",
    re.IGNORECASE,
)
"""Document types that are certainly no quirks mode."""
_HTML: Final = re.compile(rb"<!doctype\s+html(?![^\s>])", re.IGNORECASE)


class Parsed(NamedTuple):
    """Canonical HTML (None: for the library), and which of construction.ELEMENTS the source has (1 or 0)."""

    html: str | None
    elements: UInt8


def parse(markup: bytes) -> Parsed:
    """The canonical HTML of a page, as far as the kernels don't leave it to the library."""
    used = np.zeros(len(construction.ELEMENTS), dtype=np.uint8)
    source = memoryview(markup)
    if b"\0" in markup or (tokens := _tokens(markup, source, used)) is None:
        return Parsed(None, in_source(markup))
    return Parsed(_html(markup, source, tokens), used)


def _html(markup: bytes, source: memoryview, tokens: Int32) -> str | None:
    doctype = _doctype(markup, tokens)
    if doctype and not _HTML.match(doctype):
        return None
    nodes = _tree(markup, source, tokens, _quirks(doctype))
    if nodes is None:
        return None
    for room in (2 * len(markup) + 65_536, 8 * len(markup) + 65_536):
        if (html := _serialized(source, tokens, nodes, room)) is not None:
            return "<!DOCTYPE html>" + html if doctype else html
    return None


def _tokens(markup: bytes, source: memoryview, used: UInt8) -> Int32 | None:
    table = elements()
    n_tags = kernel.count(source, ord("<"))
    tokens = np.empty((2 * n_tags + 2, len(tokenizer.COLUMNS)), dtype=np.int32)
    n_tokens = tokenizer.Tokenizer(
        markup,
        source,
        memoryview(byte_classes()),
        memoryview(table.slots),
        memoryview(table.slot_names),
        memoryview(table.contents),
        memoryview(tokens),
        memoryview(np.empty(tokenizer.MOST_ATTRIBUTES, dtype=np.uint32)),
        memoryview(used),
    ).tokenize()
    return tokens[:n_tokens] if n_tokens >= 0 else None


def _tree(markup: bytes, source: memoryview, tokens: Int32, quirks: int) -> Int32 | None:
    table = elements()
    room = 3 * len(tokens) + 64
    nodes = np.empty((room, len(construction.COLUMNS)), dtype=np.int32)
    n_nodes = construction.Builder(
        markup,
        source,
        memoryview(tokens),
        memoryview(table.flags),
        memoryview(table.starts),
        memoryview(table.ends),
        memoryview(nodes),
        memoryview(np.empty(room, dtype=np.int32)),
        memoryview(np.empty(room, dtype=np.uint8)),
        memoryview(np.empty(room, dtype=np.int32)),
        quirks,
    ).build(len(tokens))
    return nodes[:n_nodes] if n_nodes >= 0 else None


def _serialized(source: memoryview, tokens: Int32, nodes: Int32, room: int) -> str | None:
    table, named = elements(), references()
    out = np.empty(room, dtype=np.uint8)
    length = serializer.Serializer(
        source,
        memoryview(tokens),
        memoryview(nodes),
        memoryview(table.flags),
        memoryview(table.letters),
        memoryview(table.letter_ends),
        memoryview(named.slots),
        memoryview(named.rows),
        memoryview(named.expansions),
        memoryview(named.c1),
        memoryview(out),
        memoryview(np.empty((tokenizer.MOST_ATTRIBUTES, 2), dtype=np.int32)),
    ).serialize()
    return str(memoryview(out)[:length], "utf-8") if length >= 0 else None


def _doctype(markup: bytes, tokens: Int32) -> bytes:
    """The document type, empty where the page has none or has it too late."""
    for name, kind, start, end, flags, _ in tokens[:16].tolist():
        if kind == tokenizer.KINDS.index("doctype"):
            return markup[start:end]
        if name or flags & 1:
            break
    return b""


def _quirks(doctype: bytes) -> int:
    """Whether the page is read in quirks mode: 0 no, 1 yes, 2 not known."""
    if not doctype:
        return 1
    return 0 if _STANDARD.fullmatch(doctype) else 2
