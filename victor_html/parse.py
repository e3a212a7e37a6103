"""UTF-8 markup → canonical HTML by the kernels, wherever they read a page exactly as the parser library does.

The library builds an object a node and takes every attribute apart, for a tree of which the canonical HTML
keeps a third; the kernels write the same string in a quarter of the time (bench/pipeline.py). What they don't
read they leave to the library; that both agree is held by tests on tag soup and on all pages at hand.
"""

import re
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from victor_html import construction, serializer, tokenizer
from victor_html.elements import (
    COPY,
    ELEMENTS,
    MOST_ATTRIBUTES,
    NODE_COLUMNS,
    TOKEN_COLUMNS,
    TOKEN_KINDS,
    byte_classes,
    elements,
    in_source,
    references,
)

UInt8 = npt.NDArray[np.uint8]
Int32 = npt.NDArray[np.int32]

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
    """Canonical HTML (None: for the library), and which of ELEMENTS the source has (1 or 0)."""

    html: str | None
    elements: UInt8


def parse(markup: bytes) -> Parsed:
    """The canonical HTML of a page, as far as the kernels do not leave it to the library."""
    used = np.zeros(len(ELEMENTS), dtype=np.uint8)
    tokens = _token_rows(markup)
    n_tokens = -1 if b"\0" in markup else _tokenizer(markup, tokens, used).tokenize()
    if n_tokens < 0:
        return Parsed(None, in_source(markup))
    tokens = tokens[:n_tokens]
    doctype = _doctype(markup, tokens)
    if doctype and not _HTML.match(doctype):
        return Parsed(None, used)
    nodes = _node_rows(3 * n_tokens + 64)
    quirks = 1 if not doctype else 0 if _STANDARD.fullmatch(doctype) else 2  # 0 no, 1 yes, 2 not known
    n_nodes = _builder(markup, tokens, nodes, quirks, _copies(markup)).build(n_tokens)
    return Parsed(_serialized(markup, tokens, nodes[:n_nodes], doctype) if n_nodes >= 0 else None, used)


def beyond_budget(markup: bytes) -> str | None:
    """The canonical HTML of a page that is beyond the budget of a tree, of what fits; None for others.

    Takes time and memory in proportion to the page, whatever it holds. The library has no budget, so that a
    page goes to it only after this function has returned None.
    """
    markup = markup.replace(b"\0", "\N{REPLACEMENT CHARACTER}".encode())
    tokens = _token_rows(markup)
    html = None
    for most_copied in (_copies(markup), 0):
        reader = _tokenizer(markup, tokens, np.zeros(len(ELEMENTS), dtype=np.uint8))
        nodes = _node_rows(5 * _n_tags(markup) + most_copied // COPY + 200)
        builder = _builder(markup, tokens, nodes, 0, most_copied)
        at = where = 0
        while at < len(markup) and where >= 0:
            at = reader.follow(at, where)
            where = builder.follow(reader.count())
        if most_copied and not (builder.is_beyond() or reader.is_beyond()):
            return None
        found = tokens[: reader.count()]
        html = _serialized(markup, found, nodes[: builder.end()], _doctype(markup, found))
        if html is not None:
            break
    return html or ""


def _copies(markup: bytes) -> int:
    """How many bytes the tags of elements may take that are opened again: twice the page, and 8 kB."""
    return 2 * len(markup) + 8192


def _n_tags(markup: bytes) -> int:
    """How many `<` there are: no page has more tags."""
    return int(tokenizer.count_tags(memoryview(markup)))


def _token_rows(markup: bytes) -> Int32:
    return np.empty((2 * _n_tags(markup) + 2, len(TOKEN_COLUMNS)), dtype=np.int32)


def _node_rows(n: int) -> Int32:
    return np.empty((n, len(NODE_COLUMNS)), dtype=np.int32)


def _views(*buffers: bytes | npt.NDArray[Any]) -> list[memoryview]:
    """The buffers as kernels take them, compiled or not."""
    return [memoryview(buffer) for buffer in buffers]


class _Tables(NamedTuple):
    """The tables of each kernel as views, in the kernel's order."""

    tokenizer: list[memoryview]
    builder: list[memoryview]
    serializer: list[memoryview]


@cache
def _tables() -> _Tables:
    """The tables' views, made once per process."""
    table, named, classes = elements(), references(), byte_classes()
    return _Tables(
        _views(classes, table.slots, table.slot_names, table.contents),
        _views(table.flags, table.starts, table.ends),
        _views(
            *(classes, table.flags, table.letters, table.letter_ends),
            *(named.slots, named.rows, named.expansions, named.c1),
        ),
    )


def _tokenizer(markup: bytes, tokens: Int32, used: UInt8) -> tokenizer.Tokenizer:
    names = np.empty(MOST_ATTRIBUTES, dtype=np.uint32)
    return tokenizer.Tokenizer(markup, *_tables().tokenizer, *_views(markup, tokens, names, used))


def _builder(
    markup: bytes, tokens: Int32, nodes: Int32, quirks: int, most_copied: int
) -> construction.Builder:
    room = len(nodes)
    stack, is_open, formatting = (np.empty(room, dtype=kind) for kind in (np.int32, np.uint8, np.int32))
    return construction.Builder(
        markup,
        quirks,
        _STEPS_A_BYTE * len(markup) + _STEPS,
        most_copied,
        *_tables().builder,
        *_views(markup, tokens, nodes, stack, is_open, formatting),
    )


def _serialized(markup: bytes, tokens: Int32, nodes: Int32, doctype: bytes) -> str | None:
    """The nodes as HTML; None when that takes more than eight times the page."""
    names = np.empty((MOST_ATTRIBUTES, 2), dtype=np.int32)
    for room in (2 * len(markup) + 65_536, 8 * len(markup) + 65_536):
        out = np.empty(len(_DOCTYPE) + room, dtype=np.uint8)
        out[: len(_DOCTYPE)] = _DOCTYPE
        views = _views(markup, tokens, nodes, out[len(_DOCTYPE) :], names)
        length = serializer.Serializer(*_tables().serializer, *views).serialize()
        if length >= 0:
            start = 0 if doctype else len(_DOCTYPE)
            return str(memoryview(out)[start : len(_DOCTYPE) + length], "utf-8")
    return None


_DOCTYPE: Final = np.frombuffer(b"<!DOCTYPE html>", dtype=np.uint8)


def _doctype(markup: bytes, tokens: Int32) -> bytes:
    """The document type, empty where the page has none or has it too late."""
    for name, kind, start, end, flags, _ in tokens[:16].tolist():
        if kind == TOKEN_KINDS.index("doctype"):
            return markup[start:end]
        if name or flags & 1:
            break
    return b""
