"""Canonical HTML → Blocks: the only segmentation there is (Victor, section 3.1, step 4)."""

import re
from html import unescape
from typing import Any, Final

import numpy as np

from victor_html.elements import in_source
from victor_spark.blocks import LATER, ROWS, Blocks, UInt8, zeros
from victor_spark.html import listings
from victor_spark.html.characters import properties
from victor_spark.html.tags import BIT, GROUPS, tables, words
from victor_spark.kernels import code_points, content, markup, text_of, views
from victor_spark.kernels.num import STACK


def segment(html: str, source_elements: UInt8 | None = None) -> Blocks:
    """Cuts canonical HTML into text blocks and takes all counts; linear in len(html).

    A block is a maximal run of text without a tag inside, trimmed of white space as `str.strip`
    does; runs of white space alone are none, `title` holds none. `source_elements` are those of the page's
    source (`Canonical.elements`), or else of its canonical HTML.
    """
    points = code_points(html)
    n_tags = markup.n_tags(*views(points)) + 1
    tags = tables()
    rows = np.empty((len(ROWS), n_tags + 1), dtype=np.int32)
    containers = np.empty(n_tags + 1, dtype=np.uint64)
    named = words()
    paths = np.empty((2, n_tags + 1), dtype=np.uint64)
    hints = np.empty((len(GROUPS), n_tags + 1), dtype=np.uint8)
    elements = np.zeros((2, n_tags + 1), dtype=np.int32)
    named_elements = np.zeros((2, n_tags + 1), dtype=np.int32)
    name_words = np.empty(len(points) // 4 + 1, dtype=np.uint32)
    text = np.empty(len(points) + n_tags + 1, dtype=np.uint32)
    stacks = (
        np.empty((n_tags + 1, len(STACK)), dtype=np.int32),
        np.empty(n_tags, dtype=np.uint64),
        np.empty((n_tags, 2), dtype=np.uint64),
        np.empty((n_tags + 1, len(GROUPS)), dtype=np.int32),
    )
    n_blocks, n_text = markup.Scan(
        GROUPS.index("hidden"),
        BIT["img"],
        *views(points, properties(), tags.slots, tags.slot_tags, tags.flags, tags.levels, tags.masks),
        *views(named.slots, named.slot_groups, *stacks, rows, containers, paths, hints),
        *views(elements, named_elements, name_words, text),
    ).run()
    rows = rows[:, :n_blocks].copy()
    columns: dict[str, Any] = dict(zip(ROWS, rows, strict=True))
    hashes = np.empty(n_blocks, dtype=np.uint64)
    if n_blocks:
        content.measure(*views(text, properties(), rows, hashes))
    n_named = np.count_nonzero(named_elements[1])
    decoded = text[:n_text].copy()
    blocks = Blocks(
        **columns,
        **zeros(n_blocks, LATER),
        letters_hash=hashes,
        gaps=np.zeros(0, dtype=np.uint32),
        containers=containers[:n_blocks].copy(),
        in_list_item=(containers[:n_blocks] & _LIST_ITEM > 0).view(np.uint8),
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
        points=decoded,
        text=text_of(decoded),
    )
    return listings.found(blocks, points)


_LIST_ITEM: Final = np.uint64(BIT["li"])
_TITLE: Final = re.compile(r"<title(?: [^>]*)?>([^<]*)</title>")


def title(html: str) -> str | None:
    """The text of the first `title` element of canonical HTML, white space collapsed."""
    match = _TITLE.search(html)
    return " ".join(unescape(match[1]).split()) or None if match else None
