"""Canonical HTML → Blocks: the segmentation that all cleaners share (Victor, section 3.1, step 4)."""

import re
import threading
from functools import cached_property
from html import unescape
from typing import Any, Final

import numpy as np

from victor_html.elements import in_source
from victor_spark.blocks import AFTERWARDS, COLUMNS, LATER, ROWS, Blocks, UInt8, zeros
from victor_spark.html import listings
from victor_spark.html.characters import properties
from victor_spark.html.tags import BIT, GROUPS, tables, words
from victor_spark.kernels import content, markup, num, text_of, views


def segment(html: str, source_elements: UInt8 | None = None) -> Blocks:
    """Cuts canonical HTML into text blocks and takes all counts; linear in len(html).

    A block is a maximal run of text without a tag inside, trimmed of white space as by `str.strip`. Runs of
    white space and the text of `title` are no blocks. `source_elements` are those of the page's source
    (`Canonical.elements`); by default, those of its canonical HTML.
    """
    room = _kept.room
    n_blocks, n_elements, n_named, n_text = room.scanned(html)
    if n_blocks < 0:
        room = _Room(len(html), html.count("<") + 1)
        n_blocks, n_elements, n_named, n_text = room.scanned(html)
    rows = np.empty((len(ROWS), n_blocks), dtype=np.int32)
    rows[:_N_SCANNED] = room.rows[:, :n_blocks]
    hashes = np.empty(n_blocks, dtype=np.uint64)
    text = room.text[:n_text].copy()
    if n_blocks:
        content.measure(*views(text, properties(), rows, hashes))
    containers = room.containers[:n_blocks].copy()
    path, class_path = room.paths[:, :n_blocks].copy()
    named_elements = room.named_elements[:, : n_named + 1].copy()
    columns: dict[str, Any] = dict(zip(ROWS, rows, strict=True))
    blocks = Blocks(
        **columns,
        **zeros(n_blocks, LATER, AFTERWARDS),
        letters_hash=hashes,
        gaps=np.zeros(0, dtype=np.uint32),
        containers=containers,
        in_list_item=(containers & _LIST_ITEM > 0).view(np.uint8),
        path=path,
        class_path=class_path,
        hints=room.hints[:, :n_blocks].copy(),
        elements=room.elements[:, : n_elements + 1].copy(),
        named_elements=named_elements,
        name_words=room.name_words[: named_elements[num.NAMED_END, n_named]].copy(),
        source_elements=(
            in_source(html.encode("utf-8", "replace")) if source_elements is None else source_elements
        ),
        title=title(html),
        points=text,
        text=text_of(text),
    )
    return listings.found(blocks, room.points[: len(html)])


class _Room:
    """The scan, and the arrays that it fills, for pages up to a number of code points and of `<`."""

    def __init__(self, n_points: int, n_tags: int) -> None:
        n, tags, named = n_tags + 1, tables(), words()
        self.points = np.empty(n_points, dtype=np.uint32)
        self.rows = np.empty((_N_SCANNED, n), dtype=np.int32)
        self.containers = np.empty(n, dtype=np.uint64)
        self.paths = np.empty((len(num.PATH), n), dtype=np.uint64)
        self.hints = np.empty((len(GROUPS), n), dtype=np.uint8)
        self.elements = np.empty((len(num.ELEMENTS), n), dtype=np.int32)
        self.named_elements = np.empty((len(num.NAMED_ELEMENTS), n), dtype=np.int32)
        self.name_words = np.empty(n_points // num.POINTS_PER_WORD + 1, dtype=np.uint32)
        self.text = np.empty(n_points + n, dtype=np.uint32)
        stacks = (
            np.empty((n, len(num.STACK)), dtype=np.int32),
            np.empty(n, dtype=np.uint64),
            np.empty((n, len(num.PATH)), dtype=np.uint64),
            np.empty((n, len(GROUPS)), dtype=np.int32),
        )
        values = (
            np.empty((_KEPT_VALUES, len(num.KEPT_VALUE)), dtype=np.int32),
            np.empty((_KEPT_VALUES, len(num.KEPT_BITS)), dtype=np.uint64),
            np.empty((_KEPT_VALUES, _MOST_NAME_WORDS), dtype=np.uint32),
        )
        self._scan = markup.Scan(
            GROUPS.index("hidden"),
            BIT["img"],
            *views(self.points, properties(), tags.slots, tags.slot_tags, tags.flags, tags.levels),
            *views(tags.masks, named.slots, named.slot_groups, *stacks, self.rows, self.containers),
            *views(self.paths, self.hints, self.elements, self.named_elements),
            *views(self.name_words, self.text, *values),
        )

    def scanned(self, html: str) -> tuple[int, int, int, int]:
        """The result of `Scan.run` for a page; -1 blocks if the page is too long."""
        n = len(html)
        if n > len(self.points):
            return -1, 0, 0, 0
        if n:
            self.points[:n].view(f"U{n}")[0] = html
        found: tuple[int, int, int, int] = self._scan.run(n)
        return found


_KEPT_POINTS: Final = 1 << 20
_KEPT_TAGS: Final = 16_463
"""Pages with as many code points and `<` use the same arrays, one set a thread. That no row of these is a
multiple of 4,096 bytes long keeps their beginnings apart in the processor's cache."""
_N_SCANNED: Final = sum("markup" in COLUMNS[name].notes for name in ROWS)
"""The scan fills this number of the first columns of `ROWS`."""
_KEPT_VALUES: Final = 512
_MOST_NAME_WORDS: Final = 32


class _Kept(threading.local):
    @cached_property
    def room(self) -> _Room:
        return _Room(_KEPT_POINTS, _KEPT_TAGS)


_kept = _Kept()
_LIST_ITEM: Final = np.uint64(BIT["li"])
_TITLE: Final = re.compile(r"<title(?: [^>]*)?>([^<]*)</title>")


def title(html: str) -> str | None:
    """The text of the first `title` element of canonical HTML, white space collapsed."""
    match = _TITLE.search(html)
    return " ".join(unescape(match[1]).split()) or None if match else None
