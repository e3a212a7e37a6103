"""Tables of tags, and of words in class and id, with their meaning for the scan; and hash tables of them."""

import hashlib
from collections.abc import Iterator
from functools import cache
from typing import AnyStr, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from victor_html import elements
from victor_html.elements import hashed
from victor_spark import configuration
from victor_spark.blocks import Blocks, Bool
from victor_spark.errors import ConfigurationError
from victor_spark.kernels.num import TAG_FLAGS
from victor_spark.resources import directory

CONTAINERS: Final = (
    "p", "a", "u", "img", "class-header", "class-bold", "class-italic", "class-list", "class-form",
    "noscript", "pre", "li", "table", "blockquote", "article", "main", "nav", "aside", "header",
    "footer", "figure", "figcaption", "dl", "dt", "button", "label", "section", "address", "time",
)  # fmt: skip
"""Bit i of `Blocks.containers`: an ancestor of the block belongs to CONTAINERS[i]. New names come last."""

BIT: Final = {name: 1 << i for i, name in enumerate(CONTAINERS)}

_ELEMENTS: Final = {element: number for number, element in enumerate(elements.ELEMENTS)}


def has(blocks: Blocks, element: str) -> bool:
    """Whether the source of the page has such an element; one of victor_html's ELEMENTS."""
    number = _ELEMENTS[element]
    return len(blocks.source_elements) > number and bool(blocks.source_elements[number])


def inside(blocks: Blocks, container: str) -> Bool:
    """Which blocks have an ancestor that belongs to a name of CONTAINERS."""
    return np.asarray((blocks.containers & np.uint64(BIT[container])) != 0)


def occurrences(markup: AnyStr, part: AnyStr) -> Iterator[int]:
    """Where a part, such as the beginning of a tag, occurs; an expression takes ten times as long."""
    at = markup.find(part)
    while at >= 0:
        yield at
        at = markup.find(part, at + 1)


_MEMBERS: Final = {
    "class-header": "h1 h2 h3 h4 h5 h6",
    "class-bold": "b strong",
    "class-italic": "i em cite dfn var",
    "class-list": "ul ol dl menu dir",
    "class-form": "form fieldset select textarea button label legend option optgroup",
}
_BLOCK_LEVEL_NAMES: Final = (
    "html body frameset address article aside blockquote caption center col colgroup dd details dialog dir"
    " div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li listing"
    " main menu nav noscript ol optgroup option p pre search section select summary table tbody td textarea"
    " tfoot th thead title tr ul"
)
VOID: Final = frozenset([*elements.VOID.split(), "keygen"])
"""Elements without an end tag; the parser library leaves `keygen` in."""
BLOCK_LEVEL: Final = frozenset(_BLOCK_LEVEL_NAMES.split())
_FLAGGED: Final = {flag: frozenset([flag]) for flag in TAG_FLAGS} | {
    "void": VOID,
    "block_level": BLOCK_LEVEL,
    "td": frozenset(["td", "th"]),
    "skipped": frozenset(["title"]),
    "preformatted": frozenset(["listing", "pre", "textarea"]),  # canonical HTML has no xmp, no plaintext
}
"""The tags with each of TAG_FLAGS."""

TAG: Final = r'<(/?)(?!!)([^\s/>]++)((?:[^>=]|=(?:"[^"]*+")?)*+)>'
"""The pattern of a tag, as the segmentation reads it: a quote opens a value only right after `=`."""


class TagTables(NamedTuple):
    """Columns over tags (row 0: a tag not listed), and the hash slots that lead to the rows."""

    names: tuple[str, ...]
    slots: npt.NDArray[np.uint32]
    slot_tags: npt.NDArray[np.int16]
    flags: npt.NDArray[np.uint16]
    levels: npt.NDArray[np.uint8]
    masks: npt.NDArray[np.uint64]


@cache
def tables() -> TagTables:
    """The tag tables as arrays, made once per process."""
    members = {name: _MEMBERS.get(name, name).split() for name in CONTAINERS}
    names = ("", *sorted(VOID.union(BLOCK_LEVEL, *members.values())))
    flags = [sum(1 << bit for bit, flag in enumerate(TAG_FLAGS) if name in _FLAGGED[flag]) for name in names]
    levels = [int(name[1]) if name in members["class-header"] else 0 for name in names]
    masks = np.array([sum(BIT[own] for own in BIT if name in members[own]) for name in names], np.uint64)
    slots, slot_tags = hashed({name: row for row, name in enumerate(names) if row}, 1024)
    columns = slot_tags.astype(np.int16), np.array(flags, np.uint16), np.array(levels, np.uint8), masks
    return TagTables(names, slots, *columns)


GROUPS: Final = (
    "article", "content", "text", "post", "comment", "related", "teaser", "share", "side", "nav",
    "crumb", "head", "foot", "ad", "consent", "subscribe", "byline", "meta", "tag", "media", "title",
    "lead", "form", "product", "list", "hidden", "quote", "document",
)  # fmt: skip
"""Groups of words in class, id, role and itemprop that state an element's purpose. New ones come last."""


class WordTable(NamedTuple):
    """Hash slots that lead from a word to its group, and a digest of all the words."""

    digest: str
    slots: npt.NDArray[np.uint32]
    slot_groups: npt.NDArray[np.uint8]


@cache
def words() -> WordTable:
    """The table of conf/words.toml, made once per process; ConfigurationError when it is malformed."""
    path = directory("conf") / "words.toml"
    groups = configuration.toml(path)
    if tuple(groups) != GROUPS:
        raise ConfigurationError(f"{path}: the groups must be {', '.join(GROUPS)}, in this order")
    numbers: dict[str, int] = {}
    for number, (group, members) in enumerate(groups.items()):
        if not isinstance(members, list) or not all(isinstance(word, str) for word in members):
            raise ConfigurationError(f"{path}: {group} must be a list of words")
        for word in members:
            if word in numbers:
                raise ConfigurationError(f"{path}: {word} is listed twice")
            numbers[word] = number
    slots, values = hashed(numbers, 2048)
    slot_groups = values.astype(np.uint8)
    digest = hashlib.sha256(slots.tobytes() + slot_groups.tobytes()).hexdigest()
    return WordTable(digest, slots, slot_groups)
