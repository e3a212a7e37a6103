"""Canonical HTML → Blocks: the only segmentation there is (Victor, section 3.1, step 4)."""

import re
from html import unescape
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import Blocks, Int32, UInt8, UInt32
from victor_spark.html import listings
from victor_spark.html.characters import properties
from victor_spark.html.elements import in_source
from victor_spark.html.tags import BIT, tables
from victor_spark.html.words import GROUPS
from victor_spark.html.words import table as word_table
from victor_spark.kernels import code_points, content, markup

_INSIDE: Final = np.array([BIT["li"]], dtype=np.uint64)
"""The container that a column of its own tells of."""


def segment(html: str, source_elements: UInt8 | None = None) -> Blocks:
    """Cuts canonical HTML into text blocks and takes all counts; linear in len(html).

    A block is a maximal run of text without a tag inside, trimmed of white space as `str.strip`
    does; runs of white space alone are none, `title` holds none. `source_elements` are those of the page's
    source (`Canonical.elements`), or else of its canonical HTML.
    """
    points = code_points(html)
    n_tags = markup.n_tags(memoryview(points)) + 1
    tags = tables()
    rows = np.empty((len(markup.COLUMNS), n_tags + 1), dtype=np.int32)
    containers = np.empty(n_tags + 1, dtype=np.uint64)
    inside = np.empty((len(_INSIDE), n_tags + 1), dtype=np.uint8)
    words = word_table()
    paths = np.empty((2, n_tags + 1), dtype=np.uint64)
    hints = np.empty((len(GROUPS), n_tags + 1), dtype=np.uint8)
    elements = np.zeros((2, n_tags + 1), dtype=np.int32)
    named_elements = np.zeros((2, n_tags + 1), dtype=np.int32)
    name_words = np.empty(len(points) // 4 + 1, dtype=np.uint32)
    text = np.empty(len(points) + n_tags + 1, dtype=np.uint32)
    packed = markup.scan(
        memoryview(points),
        memoryview(properties()),
        memoryview(tags.slots),
        memoryview(tags.slot_tags),
        memoryview(tags.flags),
        memoryview(tags.levels),
        memoryview(tags.masks),
        memoryview(words.slots),
        memoryview(words.slot_groups),
        GROUPS.index("hidden"),
        memoryview(np.empty(n_tags, dtype=np.int32)),
        memoryview(np.empty((n_tags + 1, 8), dtype=np.int32)),
        memoryview(np.empty(n_tags, dtype=np.uint64)),
        memoryview(np.empty((n_tags, 2), dtype=np.uint64)),
        memoryview(np.empty((n_tags + 1, len(GROUPS)), dtype=np.int32)),
        memoryview(rows),
        memoryview(containers),
        memoryview(_INSIDE),
        memoryview(inside),
        memoryview(paths),
        memoryview(hints),
        memoryview(elements),
        memoryview(named_elements),
        memoryview(name_words),
        memoryview(text),
    )
    n_blocks, n_text = packed >> 32, packed & 0xFFFFFFFF
    columns = dict(zip(markup.COLUMNS, rows[:, :n_blocks].copy(), strict=True))
    n_named = np.count_nonzero(named_elements[1])
    decoded = text[:n_text].copy()
    blocks = Blocks(
        **columns,
        line_number=np.zeros(n_blocks, dtype=bool),
        gaps=np.zeros(0, dtype=np.uint32),
        gap_ends=np.zeros(n_blocks, dtype=np.int32),
        **_content(text, columns["text_start"], columns["text_end"]),
        containers=containers[:n_blocks].copy(),
        in_list_item=inside[0, :n_blocks].copy(),
        path=paths[0, :n_blocks].copy(),
        class_path=paths[1, :n_blocks].copy(),
        hints=hints[:, :n_blocks].copy(),
        elements=elements,
        named_elements=named_elements[:, : n_named + 1].copy(),
        name_words=name_words[: named_elements[1, n_named]].copy(),
        source_elements=(
            in_source(html.encode("utf-8", "replace")) if source_elements is None else source_elements
        ),
        title=title(html),
        langid1=np.zeros(n_blocks, dtype=np.float32),
        langid2=np.zeros(n_blocks, dtype=np.float32),
        template_share=np.zeros(n_blocks, dtype=np.float32),
        points=decoded,
        text=decoded.tobytes().decode("utf-32-le", "surrogatepass"),
    )
    return listings.found(blocks, points)


def _content(text: UInt32, starts: Int32, ends: Int32) -> dict[str, npt.NDArray[Any]]:
    """The text columns of Blocks, by name."""
    rows = np.empty((len(content.COLUMNS), len(starts)), dtype=np.int32)
    hashes = np.empty(len(starts), dtype=np.uint64)
    if len(starts):
        content.measure(
            memoryview(text),
            memoryview(starts),
            memoryview(ends),
            memoryview(properties()),
            memoryview(rows),
            memoryview(hashes),
        )
    return {**dict(zip(content.COLUMNS, rows, strict=True)), "letters_hash": hashes}


_TITLE: Final = re.compile(r"<title(?: [^>]*)?>([^<]*)</title>")


def title(html: str) -> str | None:
    """The text of the first `title` element of canonical HTML, white space collapsed."""
    match = _TITLE.search(html)
    return " ".join(unescape(match[1]).split()) or None if match else None
