"""UTF-8 markup → canonical HTML by the kernels, wherever they read a page exactly as the parser library does.

The library builds an object for each node and parses every attribute, and the canonical HTML keeps a third
of that tree. The kernels write the same string in a quarter of the time (bench/pipeline.py). They leave some
pages to the library. Tests on tag soup and on all pages at hand compare the two.
"""

import re
import threading
from functools import cache, cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from victor_html import construction, serializer, tokenizer
from victor_html.elements import (
    COPY,
    ELEMENTS,
    MOST_ATTRIBUTES,
    NODE_COLUMNS,
    PLACES,
    QUIRKS,
    SPAN_COLUMNS,
    TOKEN_COLUMNS,
    TOKEN_FLAGS,
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
"""Document types that certainly do not ask for quirks mode."""
_HTML: Final = re.compile(rb"<!doctype\s+html(?![^\s>])", re.IGNORECASE)

_STEPS_A_BYTE: Final = 32
_STEPS: Final = 1_000_000
"""The budget of steps from one open element to the next: _STEPS, and _STEPS_A_BYTE for each of the page."""


class Parsed(NamedTuple):
    """Canonical HTML (None: for the library), and which of ELEMENTS the source has (1 or 0)."""

    html: str | None
    elements: UInt8


def parse(markup: bytes) -> Parsed:
    """The canonical HTML of a page, as far as the kernels do not leave it to the library."""
    if b"\0" in markup:
        return Parsed(None, in_source(markup))
    room = _kept.room if len(markup) <= _KEPT_BYTES else _Room(markup.count(b"<"))
    room.tokenizer.begin(markup)
    n_tokens = room.tokenizer.tokenize()
    if n_tokens < 0 and room.tokenizer.count() == len(room.tokens):
        room = _Room(markup.count(b"<"))
        room.tokenizer.begin(markup)
        n_tokens = room.tokenizer.tokenize()
    if n_tokens < 0:
        return Parsed(None, in_source(markup))
    used = room.used.copy()
    doctype = _doctype(markup, room.tokens[: min(n_tokens, _MOST_BEFORE)])
    if doctype and not _HTML.match(doctype):
        return Parsed(None, used)
    quirks = "yes" if not doctype else "no" if _STANDARD.fullmatch(doctype) else "unknown"
    room.builder.begin(markup, QUIRKS.index(quirks), _steps(markup), _copies(markup), _most_nodes(n_tokens))
    return Parsed(room.serialized(markup, doctype) if room.builder.build(n_tokens) >= 0 else None, used)


def beyond_budget(markup: bytes) -> str | None:
    """The canonical HTML of a page that is beyond the budget of a tree, of what fits; None for others.

    Takes time and memory in proportion to the page, whatever it holds. The library has no budget, so that a
    page goes to it only after this function has returned None.
    """
    markup = markup.replace(b"\0", "\N{REPLACEMENT CHARACTER}".encode())
    html, n_tags = None, markup.count(b"<")
    for most_copied in (_copies(markup), 0):
        n_nodes = 5 * n_tags + most_copied // COPY + 200
        room = _Room(n_tags, n_nodes)
        reader, builder = room.tokenizer, room.builder
        reader.begin(markup)
        builder.begin(markup, QUIRKS.index("no"), _steps(markup), most_copied, n_nodes)
        at, place = 0, PLACES.index("html")
        while at < len(markup) and place >= 0:
            at = reader.follow(at, place)
            place = builder.follow(reader.count())
        if most_copied and not (builder.is_beyond() or reader.is_beyond()):
            return None
        builder.end()
        html = room.serialized(markup, _doctype(markup, room.tokens[: min(reader.count(), _MOST_BEFORE)]))
        if html is not None:
            break
    return html or ""


def _most_nodes(n_tokens: int) -> int:
    """The most nodes of a tree that is within the budget: elements may be implied or opened again."""
    return 3 * n_tokens + 64


def _steps(markup: bytes) -> int:
    return _STEPS_A_BYTE * len(markup) + _STEPS


def _copies(markup: bytes) -> int:
    """How many bytes the tags of elements may take that are opened again: twice the page, and 8 kB."""
    return 2 * len(markup) + 8192


def _views(*buffers: memoryview | npt.NDArray[Any]) -> list[memoryview]:
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
        _views(classes, table.flags, table.starts, table.ends),
        _views(
            *(classes, table.flags, table.letters, table.letter_ends),
            *(named.slots, named.rows, named.expansions, named.c1),
        ),
    )


class _Room:
    """The kernels, and the arrays that they fill of a page with up to `n_tags` times `<`."""

    def __init__(self, n_tags: int, n_nodes: int | None = None) -> None:
        n_tokens = 2 * n_tags + 2
        n_nodes = _most_nodes(n_tokens) if n_nodes is None else n_nodes
        self.tokens = np.empty((n_tokens, len(TOKEN_COLUMNS)), dtype=np.int32)
        self.used = np.empty(len(ELEMENTS), dtype=np.uint8)
        nodes = np.empty((n_nodes, len(NODE_COLUMNS)), dtype=np.int32)
        stack, formatting = np.empty((2, n_nodes), dtype=np.int32)
        is_open = np.empty(n_nodes, dtype=np.uint8)
        hashes = np.empty(MOST_ATTRIBUTES, dtype=np.uint32)
        tables = _tables()
        self.tokenizer = tokenizer.Tokenizer(*tables.tokenizer, *_views(self.tokens, hashes, self.used))
        self.builder = construction.Builder(
            *tables.builder, *_views(self.tokens, nodes, stack, is_open, formatting)
        )
        self._nodes = nodes
        self._names = np.empty((MOST_ATTRIBUTES, len(SPAN_COLUMNS)), dtype=np.int32)
        self._output: tuple[memoryview, serializer.Serializer | None] = memoryview(b""), None

    def serialized(self, markup: bytes, doctype: bytes) -> str | None:
        """The nodes as HTML; None when that takes more than eight times the page."""
        for room in (2 * len(markup) + 65_536, 8 * len(markup) + 65_536):
            out, kernel = self._output
            if kernel is None or len(_DOCTYPE) + room > len(out):
                out = memoryview(np.empty(len(_DOCTYPE) + room, dtype=np.uint8))
                out[: len(_DOCTYPE)] = _DOCTYPE
                views = _views(self.tokens, self._nodes, out[len(_DOCTYPE) :], self._names)
                kernel = serializer.Serializer(*_tables().serializer, *views)
                self._output = out, kernel  # both at once: the kernel writes into `out` without a check
            length = kernel.serialize(markup, room)
            if length >= 0:
                start = 0 if doctype else len(_DOCTYPE)
                return str(out[start : len(_DOCTYPE) + length], "utf-8")
        return None


_KEPT_TAGS: Final = 16_384
_KEPT_BYTES: Final = 2 << 20
"""Pages with as many `<` and bytes use the same arrays, one set a thread."""


class _Kept(threading.local):
    @cached_property
    def room(self) -> _Room:
        return _Room(_KEPT_TAGS)


_kept = _Kept()
_MOST_BEFORE: Final = 16
"""How many tokens may be looked at to find the document type."""
_DOCTYPE: Final = b"<!DOCTYPE html>"


def _doctype(markup: bytes, tokens: Int32) -> bytes:
    """The document type, empty where the page has none or has it too late."""
    for name, kind, start, end, flags, _ in map(np.ndarray.tolist, tokens):
        if kind == TOKEN_KINDS.index("doctype"):
            return markup[start:end]
        if name or flags & 1 << TOKEN_FLAGS.index("not_white"):
            break
    return b""
