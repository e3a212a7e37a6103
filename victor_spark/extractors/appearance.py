"""How each text element of a page looks, and which link each block stands in: one pass of the canonical HTML.

Adds to the block columns: tags that shape the look of text, presentational attributes, and classes (Kimatu,
section 3.2).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from victor_spark.blocks import Int32, Page
from victor_spark.html.tags import tables
from victor_spark.kernels.num import TAG_FLAGS

_TAG: Final = re.compile(r'<(/?)(?!!)([^\s/>]++)((?:[^>=]|=(?:"[^"]*+")?)*+)>')
"""As the segmentation reads tags: a quote opens a value only right after `=`."""

_ATTRIBUTE: Final = re.compile(r'([^\s=]++)(?:="([^"]*+)")?')

_SHAPING: Final = (
    "h1", "h2", "h3", "h4", "h5", "h6", "b strong", "i em cite var dfn address", "u ins", "s strike del",
    "tt code kbd samp", "pre", "big", "small", "sub", "sup", "center", "blockquote q", "li", "dt", "dd", "th",
    "caption figcaption", "a", "button", "label", "legend", "mark",
)  # fmt: skip
_SHAPE_BIT: Final = {name: 1 << bit for bit, names in enumerate(_SHAPING) for name in names.split()}

PRESENTATIONAL: Final = frozenset({"style", "align", "bgcolor", "background", "color", "face", "size"})

MAX_ATTRIBUTES_READ: Final = 100_000
"""Characters of one tag's attributes that are looked at."""


class Look(NamedTuple):
    """What shapes text here: bits of the shaping tags, nearest class, number of the attributes in force."""

    tags: int = 0
    css_class: str = ""
    attributes: int = 0


@dataclass(frozen=True, slots=True)
class Appearance:
    """`look` has one row per text element (equal numbers look the same), `link` one per block (0: in none).

    A text element is a paragraph of the segmentation: the blocks with one number in
    `Blocks.paragraph`. It looks as the innermost element that holds all of its text does.
    """

    look: Int32
    link: Int32


@cache
def tags_with(flag: str) -> frozenset[str]:
    """Names of the elements with one of kernels.num.TAG_FLAGS: "void" (no end tag) or "block_level"."""
    table = tables()
    bit = 1 << TAG_FLAGS.index(flag)
    return frozenset(
        name for name, flags in zip(table.names, table.flags.tolist(), strict=True) if flags & bit
    )


@dataclass(slots=True)
class _Walk:
    """State of the scan: looks and links of the open elements, the look of the current paragraph."""

    looks: list[Look] = field(default_factory=lambda: [Look()])
    links: list[int] = field(default_factory=lambda: [0])
    n_links: int = 0
    attributes: dict[tuple[int, str, str], int] = field(default_factory=dict)

    def tag(self, *, closing: bool, name: str, attributes: str) -> None:
        """Opens or closes an element; linear in the length of its attributes."""
        if closing:
            if len(self.looks) > 1:
                self.looks.pop()
                self.links.pop()
        elif name not in tags_with("void"):
            self.looks.append(self._opened(name, attributes))
            if name == "a":
                self.n_links += 1
            self.links.append(self.n_links if name == "a" else self.links[-1])

    def _opened(self, name: str, attributes: str) -> Look:
        tags, css_class, in_force = self.looks[-1]
        tags |= _SHAPE_BIT.get(name, 0)
        for match in _ATTRIBUTE.finditer(attributes, 0, MAX_ATTRIBUTES_READ):
            key, value = match[1], match[2] or ""
            if key == "class":
                css_class = " ".join(value.split()) or css_class
            elif key in PRESENTATIONAL:
                in_force = self.attributes.setdefault((in_force, key, value), len(self.attributes) + 1)
        return Look(tags, css_class, in_force)


def appearance(page: Page) -> Appearance:
    """Reads the canonical HTML once; linear in its length, however deeply it is nested."""
    numbers: dict[Look, int] = {}
    looks: list[int] = []
    links: list[int] = []
    last, depth = 0, 0
    look = Look()
    for paragraph, lowest, walk in _blocks(page):
        links.append(walk.links[-1])
        if paragraph != last:
            if last:
                looks.append(numbers.setdefault(look, len(numbers)))
            last, depth, look = paragraph, len(walk.looks), walk.looks[-1]
        elif lowest < depth:
            depth, look = lowest, walk.looks[lowest - 1]
    if last:
        looks.append(numbers.setdefault(look, len(numbers)))
    return Appearance(np.array(looks, dtype=np.int32), np.array(links, dtype=np.int32))


def _blocks(page: Page) -> Iterator[tuple[int, int, _Walk]]:
    """For every block: its paragraph, the least number of open elements since the block before, the walk."""
    walk = _Walk()
    lowest = 1
    rows = zip(page.blocks.start.tolist(), page.blocks.paragraph.tolist(), strict=True)
    row = next(rows, None)
    for match in _TAG.finditer(page.html):
        while row and row[0] < match.start():
            yield row[1], lowest, walk
            row, lowest = next(rows, None), len(walk.looks)
        if row is None:
            return
        walk.tag(closing=bool(match[1]), name=match[2], attributes=match[3])
        lowest = min(lowest, len(walk.looks))
    while row:
        yield row[1], lowest, walk
        row, lowest = next(rows, None), len(walk.looks)
