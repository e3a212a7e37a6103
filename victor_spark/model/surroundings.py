"""Features of `victor-2`: a block, its surroundings and its page, computed by kernels once per page.

They work on paragraphs (runs of blocks without a paragraph break) and block-level elements, whose numbers
are copied to the blocks: link density, text density in windows, the element with the densest text (the idea
of readability), the best run of paragraphs (a maximum-sum span), statistics of paragraphs with the same
ancestors, words of class and id, and overlap with the title. They include the paper's features except those
of language and of regular expressions, which do not improve the result.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Final, TypeAlias

import numpy as np

from victor_spark.blocks import ROWS, Blocks, Float32, Float64, Int32, UInt8
from victor_spark.html import tags
from victor_spark.kernels import KEY, code_points, num, slots, views
from victor_spark.kernels import blocks as of_blocks
from victor_spark.kernels import surroundings as kernel

CONTAINERS: Final = tags.CONTAINERS[:29]
HINTS: Final = tags.GROUPS[:28]
"""Containers and groups that are features; names added to html.tags later are not: models don't know them."""

SPLITS: Final = {"p": "p", "br": "br", "hr": "hr", "class-inline": "inline", "class-block": "block"}
CHARACTERS: Final = {
    "alpha": "n_letters", "num": "n_digits", "punct": "n_punctuation", "white": "n_white", "other": "n_other"
}  # fmt: skip
TOKENS: Final = {kind: f"n_{kind}_tokens" for kind in ("alpha", "num", "mix", "other")}

COUNTS: Final = {
    **{f"split.{name}": f"n_split_{column}" for name, column in SPLITS.items()},
    **{f"char.{kind}-abs": column for kind, column in CHARACTERS.items()},
    **{f"token.{kind}-abs": column for kind, column in TOKENS.items()},
    "sentence.count": "n_sentences",
    "sentence-begin": "sentence_begin",
    "sentence-end": "sentence_end",
    "heading.level": "heading_level",
    "depth": "depth",
}
"""Feature → the column of Blocks that it is."""

_OF_BLOCKS: Final = (
    *(f"container.{name}" for name in CONTAINERS),
    *(f"hint.{name}" for name in HINTS),
    *COUNTS,
    *num.RATIOS,
    "block.title",  # the share of the title that the block repeats
)

_SPANS: Final = np.array([(30.0, 3.0, 1.0), (60.0, 8.0, 1.5), (150.0, 15.0, 2.0)])
"""For each kind of run: a paragraph's most words that count, its cost in words, the cost of a linked word."""

_RUNS: Final = ("best", *(f"span{number}" for number in range(len(_SPANS))))
"""Runs of paragraphs: those inside the best element, and those with the highest sums."""

_OF_PARAGRAPHS: Final = (
    *(f"paragraph.{name}" for name in num.PARAGRAPH),
    *(f"paragraph.words[{by}]" for by in range(-num.WORDS_REACH, num.WORDS_REACH + 1) if by),
    *(f"paragraph.links[{by}]" for by in range(-num.LINKS_REACH, num.LINKS_REACH + 1) if by),
    *(f"window.{name}[{reach}]" for reach in num.WINDOWS.values() for name in num.WINDOW),
    *(f"{run}.distance" for run in _RUNS),  # negative before it, 0 inside, positive after
    *(f"{kin}.{name}" for kin in ("path", "class") for name in num.KIN),
    *num.SINCE,
    *(
        f"around.{name}[{n}]"  # of the element that the paragraph begins in, [0], and those around it
        for n in range(num.N_AROUND)
        for name in num.AROUND
    ),
)
_OF_PAGE: Final = (
    *(f"{run}.share" for run in _RUNS),
    *(f"page.{name}" for name in num.PAGE),
    *(f"document.{name}" for name in num.DOCUMENT),
)
_N_DOCUMENT: Final = len(num.DOCUMENT)

NAMES: Final = (*_OF_BLOCKS, *_OF_PARAGRAPHS, *_OF_PAGE)
"""The rows that `rows_of` fills."""

MOST_TITLE: Final = 512
"""Characters of the title that blocks are compared with."""

_rows: Final = attrgetter(*ROWS)
_COUNT_ROWS: Final = np.array([ROWS.index(name) for name in COUNTS.values()], dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Layout:
    """One page as paragraphs and elements.

    `words`, `linked` and `of_block` (n_blocks): the words of each block, whether it is in a link, and its
    paragraph; `places` and `sums`: one column per paragraph, rows num.PLACES and num.SUMS; `last_inside`
    (n_elements): the last element inside each.
    """

    words: Int32
    linked: UInt8
    of_block: Int32
    places: Int32
    sums: Float64
    last_inside: Int32


@lru_cache(maxsize=1)
def layout_of(blocks: Blocks) -> Layout:
    """The paragraphs and elements of a page with at least one block."""
    n, words = len(blocks), blocks.n_words
    linked = tags.inside(blocks, "a").view(np.uint8)
    of_block = np.empty(n, dtype=np.int32)
    places = np.empty((len(num.PLACES), n), dtype=np.int32)
    sums = np.empty((len(num.SUMS), n))
    columns = (blocks.paragraph, words, linked, blocks.n_sentences, blocks.parent_block, blocks.elements)
    filled = (of_block, places, sums, slots(n))
    packed = of_blocks.layout(*views(*columns, blocks.path, blocks.class_path, *filled), KEY)
    n_elements, n_paragraphs = packed >> 32, packed & 0xFFFFFFFF
    places = np.ascontiguousarray(places[:, :n_paragraphs])
    sums = np.ascontiguousarray(sums[:, :n_paragraphs])
    last_inside = blocks.elements[num.ELEMENTS_LAST_INSIDE, :n_elements]
    return Layout(words, linked, of_block, places, sums, last_inside)


Fill: TypeAlias = Callable[[int, Float32], None]
"""Fills rows of features, as many columns as there are, for the blocks from a given one on."""


def rows_of(blocks: Blocks, _patterns: object = None) -> Fill:
    """A function that fills `rows` (len(NAMES), n blocks) of a page with at least one block."""
    n, page = len(blocks), layout_of(blocks)
    numbers = np.empty(len(_OF_PAGE), dtype=np.float32)
    duplicates = np.empty((len(num.TWINS), n), dtype=np.int32)
    ratios = np.empty((len(num.GROUP_RATIOS), blocks.elements.shape[1]))  # no more groups than elements
    columns = (page.words, blocks.n_sentences, blocks.depth, blocks.div_group, blocks.td_group)
    filled = (slots(n), duplicates, ratios, numbers[-_N_DOCUMENT:])
    mean_depth = of_blocks.of_page(*views(*columns, blocks.letters_hash, page.linked, *filled), KEY)
    table = _table(blocks, page, numbers[:-_N_DOCUMENT])
    title = (blocks.title or "")[:MOST_TITLE]

    def fill(first: int, rows: Float32) -> None:
        these = slice(first, first + rows.shape[1])
        counts = _rows(blocks) if rows.shape[1] == n else [column[these] for column in _rows(blocks)]
        hints = np.ascontiguousarray(blocks.hints[: len(HINTS), these])
        own = (np.concatenate(counts).reshape(len(ROWS), -1), page.words[these], blocks.containers[these])
        of_all = (page.places, duplicates, ratios, _COUNT_ROWS)
        arrays = views(*own, hints, page.of_block[these], rows, *of_all)
        of_blocks.of_blocks(*arrays, len(CONTAINERS), first, mean_depth)
        texts = (blocks.points, blocks.text_start[these], blocks.text_end[these], blocks.n_letters[these])
        of_blocks.title_shares(*views(*texts, code_points(title), rows[len(_OF_BLOCKS) - 1]))
        kernel.spread(*views(table, page.of_block[these], numbers), len(_OF_BLOCKS), memoryview(rows))

    return fill


def _table(blocks: Blocks, page: Layout, numbers: Float32) -> Float32:
    """The rows of paragraphs (len(_OF_PARAGRAPHS), n_paragraphs), and the numbers of the page."""
    n, n_elements = page.places.shape[1], len(page.last_inside)
    table = np.empty((len(_OF_PARAGRAPHS), n), dtype=np.float32)
    columns = (page.places, page.sums, page.last_inside, blocks.heading_level, _SPANS)
    elements, scratch = np.empty((len(num.ELEMENT_SUMS), n_elements)), np.empty((len(num.SCRATCH), n))
    runs = np.empty((len(_RUNS), len(num.RUN)), dtype=np.int32)
    kernel.of_paragraphs(*views(*columns, elements, scratch, runs, table, numbers))
    return table
