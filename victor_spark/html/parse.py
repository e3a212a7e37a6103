"""UTF-8 markup → canonical HTML by the kernels, wherever they read a page exactly as the parser library does.

The library builds an object a node and takes every attribute apart, for a tree of which the canonical HTML
keeps a third; the kernels write the same string in a quarter of the time (bench/pipeline.py). What they don't
read they leave to the library; that both agree is held by tests on tag soup and on all pages at hand.
"""

import re
from typing import Final, NamedTuple

import numpy as np

from victor_spark.blocks import Int32, UInt8
from victor_spark.html.elements import byte_classes, elements, in_source, references
from victor_spark.kernels import construction, serializer, tokenizer
from victor_spark.kernels import source as kernel

_STANDARD: Final = re.compile(
    rb"""<!doctype\s+html(?:\s*|\s+public\s+(["'])-//w3c//dtd\s(?:xhtml\s[^"']*|html\s4\.01(?:\stransitional)?//[^"']*)"""
    rb"""\1\s*(["'])http://www\.w3\.org/[^"']*\2\s*|\s+system\s+(["'])about:legacy-compat\3\s*)""",
    re.IGNORECASE,
)
"""Document types that are certainly no quirks mode."""
_HTML: Final = re.compile(rb"<!doctype\s+html(?![^\s>])", re.IGNORECASE)

_STEPS_A_BYTE: Final = 32
_STEPS: Final = 1_000_000
"""The budget of steps from one open element to the next: so many a byte of the page, and so many more."""


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
    room = 3 * len(tokens) + 64
    nodes = np.empty((room, len(construction.COLUMNS)), dtype=np.int32)
    builder = _builder(markup, source, tokens, nodes, _quirks(doctype), _copies(markup))
    if (n_nodes := builder.build(len(tokens))) < 0:
        return None
    return _written(source, tokens, nodes[:n_nodes], doctype)


def beyond_budget(markup: bytes) -> str | None:
    """The canonical HTML of a page that is beyond the budget of a tree, of what fits; None for others.

    Takes time and memory in proportion to the page, whatever it holds: no page goes to the library, which
    has no budget, before this says that it is none of those.
    """
    markup = markup.replace(b"\0", "\N{REPLACEMENT CHARACTER}".encode())
    source, n_tags = memoryview(markup), markup.count(b"<")
    tokens = np.empty((2 * n_tags + 2, len(tokenizer.COLUMNS)), dtype=np.int32)
    for most_copied in (_copies(markup), 0):
        reader = _tokenizer(markup, source, tokens, np.zeros(len(construction.ELEMENTS), dtype=np.uint8))
        room = 5 * n_tags + most_copied // construction.COPY + 200
        nodes = np.empty((room, len(construction.COLUMNS)), dtype=np.int32)
        builder = _builder(markup, source, tokens, nodes, 0, most_copied)
        at = where = 0
        while at < len(markup) and where >= 0:
            at = reader.follow(at, where)
            where = builder.follow(reader.count())
        if not builder.is_beyond() and most_copied:
            return None
        found = tokens[: reader.count()]
        if (html := _written(source, found, nodes[: builder.end()], _doctype(markup, found))) is not None:
            break
    return html or ""


def _copies(markup: bytes) -> int:
    """How many bytes the tags of elements may take that are opened again: twice the page, and 8 kB."""
    return 2 * len(markup) + 8192


def _written(source: memoryview, tokens: Int32, nodes: Int32, doctype: bytes) -> str | None:
    """The nodes as HTML; None when that takes more than eight times the page."""
    for room in (2 * len(source) + 65_536, 8 * len(source) + 65_536):
        if (html := _serialized(source, tokens, nodes, room)) is not None:
            return "<!DOCTYPE html>" + html if doctype else html
    return None


def _tokens(markup: bytes, source: memoryview, used: UInt8) -> Int32 | None:
    n_tags = kernel.count(source, ord("<"))
    tokens = np.empty((2 * n_tags + 2, len(tokenizer.COLUMNS)), dtype=np.int32)
    n_tokens = _tokenizer(markup, source, tokens, used).tokenize()
    return tokens[:n_tokens] if n_tokens >= 0 else None


def _tokenizer(markup: bytes, source: memoryview, tokens: Int32, used: UInt8) -> tokenizer.Tokenizer:
    table = elements()
    return tokenizer.Tokenizer(
        markup,
        source,
        memoryview(byte_classes()),
        memoryview(table.slots),
        memoryview(table.slot_names),
        memoryview(table.contents),
        memoryview(tokens),
        memoryview(np.empty(tokenizer.MOST_ATTRIBUTES, dtype=np.uint32)),
        memoryview(used),
    )


def _builder(
    markup: bytes, source: memoryview, tokens: Int32, nodes: Int32, quirks: int, most_copied: int
) -> construction.Builder:
    table, room = elements(), len(nodes)
    return construction.Builder(
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
        _STEPS_A_BYTE * len(markup) + _STEPS,
        most_copied,
    )


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
