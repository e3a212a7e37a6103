"""Kimatu's text elements, how they look, its blocks and their four ratios.

Kimatu, sections 3.2 and 3.3, and step 1 of section 3.4.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import Blocks, Bool, Float64, Int32, Page
from victor_spark.html.tags import TAG, VOID
from victor_spark.model import decision
from victor_spark.words import words

Column: TypeAlias = npt.NDArray[Any]

MAX_WORDS: Final = 500
"""The first words of a text, which are compared with those of others."""

_MARK: Final = re.compile(
    r"""(?<!\b\w)\.(?=[\s"'”’»)\]]|\Z)"""  # points, except those of times, figures, acronyms and initials
    r"""|[,;:!?…"”’»)\]](?=[\s.,;:!?…"”’»)\]]|\Z)"""
    r"""|(?:(?<=\s)|(?<![\s\S]))["“„«‘(]"""
    r"""|[。！？．｡；：，、「」『』《》।॥؟۔،؛·]""",
)
"""Punctuation where a phrase begins or ends."""

_TAG: Final = re.compile(TAG)
_ATTRIBUTE: Final = re.compile(r'([^\s=]++)(?:="([^"]*+)")?')

_SHAPING: Final = (
    "h1", "h2", "h3", "h4", "h5", "h6", "b strong", "i em cite var dfn address", "u ins", "s strike del",
    "tt code kbd samp", "pre", "big", "small", "sub", "sup", "center", "blockquote q", "li", "dt", "dd", "th",
    "caption figcaption", "a", "button", "label", "legend", "mark",
)  # fmt: skip
_SHAPE_BIT: Final = {name: 1 << bit for bit, names in enumerate(_SHAPING) for name in names.split()}
_PRESENTATIONAL: Final = frozenset({"style", "align", "bgcolor", "background", "color", "face", "size"})

MAX_ATTRIBUTES_READ: Final = 100_000
"""Characters of one tag's attributes that are looked at."""


class _Look(NamedTuple):
    """The look of a text: bits of the shaping tags, nearest class, number of the attributes in force."""

    tags: int = 0
    css_class: str = ""
    attributes: int = 0


def appearance(page: Page) -> tuple[Int32, Int32]:
    """The appearance of each text element (equal numbers: the same), and the link of each block (0: none).

    The appearance is that of the innermost element that contains all text of the text element. Reads the
    canonical HTML once; linear in its length, however deeply it is nested.
    """
    open_elements = [(_Look(), 0)]  # the look of text there, and its link
    attributes: dict[tuple[int, str, str], int] = {}
    looks: list[_Look] = []
    links: list[int] = []
    n_links = last = depth = 0
    tags = _TAG.finditer(page.html)
    tag = next(tags, None)
    for start, paragraph in zip(page.blocks.start.tolist(), page.blocks.paragraph.tolist(), strict=True):
        lowest = len(open_elements)  # the smallest number of open elements since the block before
        while tag is not None and tag.start() < start:
            if tag[2] in VOID:  # in a formula, it has an end tag
                pass
            elif tag[1]:
                del open_elements[max(len(open_elements) - 1, 1) :]
                lowest = min(lowest, len(open_elements))
            else:
                n_links += tag[2] == "a"
                outer, link = open_elements[-1]
                look = _opened(outer, tag[2], tag[3], attributes)
                open_elements.append((look, n_links if tag[2] == "a" else link))
            tag = next(tags, None)
        links.append(open_elements[-1][1])
        if paragraph != last:
            last, depth = paragraph, len(open_elements)
            looks.append(open_elements[-1][0])
        elif lowest < depth:
            depth, looks[-1] = lowest, open_elements[lowest - 1][0]
    numbers = {look: number for number, look in enumerate(dict.fromkeys(looks))}
    look_numbers = np.array([numbers[look] for look in looks], dtype=np.int32)
    return look_numbers, np.array(links, dtype=np.int32)


def _opened(outer: _Look, name: str, source: str, attributes: dict[tuple[int, str, str], int]) -> _Look:
    """How text in an element looks; `source` are its attributes, numbered in `attributes`."""
    css_class, in_force = outer.css_class, outer.attributes
    for match in _ATTRIBUTE.finditer(source, 0, MAX_ATTRIBUTES_READ):
        key, value = match[1], match[2] or ""
        if key == "class":
            css_class = " ".join(value.split()) or css_class
        elif key in _PRESENTATIONAL:
            in_force = attributes.setdefault((in_force, key, value), len(attributes) + 1)
    return _Look(outer.tags | _SHAPE_BIT.get(name, 0), css_class, in_force)


@dataclass(frozen=True)
class Elements:
    """The text elements of a page as columns; `of_block` is the element of each block of the page.

    `n_words`, `n_marks` (punctuation as a phrase boundary) and `n_links` are counts, `look` numbers
    the appearance, `first` is the row of the element's first block.
    """

    page: Blocks
    of_block: Int32
    first: Column
    look: Int32
    n_words: Column
    n_marks: Column
    n_links: Column

    @cached_property
    def words(self) -> list[list[str]]:
        """The first MAX_WORDS words of every element."""
        pieces: list[list[str]] = [[] for _ in self.look]
        for element, text in zip(self.of_block.tolist(), self.page.texts(), strict=True):
            pieces[element].append(text)
        return [words(" ".join(piece))[:MAX_WORDS] for piece in pieces]


@dataclass(frozen=True, slots=True)
class KimatuBlocks:
    """Near elements of one look, numbered by where they begin; `of_element` is the block of each element.

    The other columns are over these blocks: the look, as `Elements.look`, counts, and words per element.
    """

    elements: Elements
    of_element: Int32
    look: Int32
    n_elements: Column
    n_words: Column
    n_marks: Column
    n_links: Column
    average_words: Float64

    def __len__(self) -> int:
        return len(self.look)


@dataclass(frozen=True, slots=True)
class Constants:
    """All of conf/kimatu.toml: weights, ratios, shares of words, distances in text elements.

    The first five make content relevance of the four ratios; three of these are relative to a maximum.
    `near` joins elements (step 1); a candidate is deleted when its distance is more than `far` times the
    geometric mean and its ratio is not above `high_ratio` (step 6).
    """

    length_weight: float
    average_length_weight: float
    longest_average: float
    marks_per_word: float
    links_per_element: float
    short_element: float
    function_share: float
    quote_words: int
    quote_share: float
    near: int
    sure_ratio: float
    dispersed_ratio: float
    dispersed_near: int
    far: float
    high_ratio: float
    relevant_ratio: float
    relevant_near: int
    heading_words: int


def elements(page: Page) -> Elements:
    """The text elements of a page, counted."""
    blocks = page.blocks
    looks, links = appearance(page)
    of_block = (np.cumsum(np.diff(blocks.paragraph, prepend=0) != 0) - 1).astype(np.int32)
    n = len(looks)
    first = np.searchsorted(of_block, np.arange(n))
    begins = np.ones(len(blocks), dtype=bool)
    begins[1:] = (np.diff(links) != 0) | (np.diff(of_block) != 0)
    marks = np.fromiter((mark.start() for mark in _MARK.finditer(blocks.text)), np.int64)
    marked_blocks = np.searchsorted(blocks.text_start, marks, side="right") - 1
    return Elements(
        page=blocks,
        of_block=of_block,
        first=first,
        look=looks,
        n_words=np.bincount(of_block, decision.n_words(blocks), n),
        n_marks=np.bincount(of_block, np.bincount(marked_blocks, minlength=len(blocks)), n),
        n_links=np.bincount(of_block, (links > 0) & begins, n),
    )


def detect(found: Elements, near: int) -> KimatuBlocks:
    """Step 1: an element joins the last one of its look when it follows within `near` elements."""
    last: dict[int, int] = {}
    numbers: list[int] = []
    n_blocks = 0
    for row, look in enumerate(found.look.tolist()):
        before = last.get(look)
        if before is not None and row - before <= near:
            numbers.append(numbers[before])
        else:
            numbers.append(n_blocks)
            n_blocks += 1
        last[look] = row
    of_element = np.array(numbers, dtype=np.int32)
    look = np.zeros(n_blocks, dtype=np.int32)
    look[of_element] = found.look
    counts = (np.ones(len(numbers)), found.n_words, found.n_marks, found.n_links)
    n_elements, n_words, n_marks, n_links = (np.bincount(of_element, each, n_blocks) for each in counts)
    average = n_words / n_elements
    return KimatuBlocks(found, of_element, look, n_elements, n_words, n_marks, n_links, average)


def content_relevance(blocks: KimatuBlocks, constants: Constants) -> Float64:
    """The linear combination of the four ratios, one row per block.

    Lengths are in words. An average length ratio is 1 at most, since the longest average it is
    divided by has a maximum; the ratios that are subtracted are 1 at most too.
    """
    n_words = blocks.n_words
    longest = min(blocks.average_words.max(initial=0.0), constants.longest_average)
    length = n_words / n_words.max(initial=1.0)
    average = np.minimum(blocks.average_words / max(longest, 1.0), 1.0)
    marks = np.minimum(blocks.n_marks / np.maximum(n_words, 1) / constants.marks_per_word, 1.0)
    links = np.minimum(blocks.n_links / blocks.n_elements / constants.links_per_element, 1.0)
    weighted = constants.length_weight * length + constants.average_length_weight * average
    return np.asarray(weighted - (1 - marks) - links)


def distances(blocks: KimatuBlocks, chosen: Bool) -> Float64:
    """How many elements each block is from the nearest chosen one other than itself (next to it: 1)."""
    best = np.full(len(blocks), np.inf)
    rows = blocks.of_element.tolist()
    is_chosen = chosen.tolist()
    for order in (range(len(rows)), range(len(rows) - 1, -1, -1)):
        (own, at), (other, other_at) = (-1, 0), (-1, 0)  # the last chosen block, the last of another one
        for row in order:
            block = rows[row]
            nearest, where = (own, at) if own != block else (other, other_at)
            if nearest >= 0:
                best[block] = min(best[block], abs(row - where))
            if is_chosen[block]:
                if own != block:
                    other, other_at = own, at
                own, at = block, row
    return best
