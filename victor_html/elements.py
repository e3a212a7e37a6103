"""Tables of the tokenizer, the tree construction and the serialiser: elements and character references.

And how kernels look names up: open-addressing tables from their hashes to numbers.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from html.entities import html5
from string import ascii_letters
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

ELEMENTS: Final = (
    " html head body title base basefont bgsound link meta noframes script style template noscript"
    " table caption colgroup col tbody tfoot thead tr td th p li dd dt h1 h2 h3 h4 h5 h6"
    " form button a nobr b big code em font i s small strike strong tt u applet marquee object"
    " area br embed img wbr input param source track hr textarea iframe noembed select optgroup option"
    " rb rtc rp rt svg math plaintext xmp frameset frame image pre listing selectedcontent keygen"
    " address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer"
    " header hgroup main menu nav ol search section summary ul"
    " canvas ruby span var sub sup foreignobject desc q cite audio video"
).split(" ")
"""The elements that the standard names, by number; 0 is any other."""
LONGEST_NAME: Final = max(map(len, ELEMENTS))

TOKEN_COLUMNS: Final = ("name", "kind", "start", "end", "flags", "name_start")
"""A token: its element's number (below 0: an element not in ELEMENTS), one of TOKEN_KINDS, the span of its
text or attributes in the source, TOKEN_FLAGS as bits, where a tag's name starts."""
TOKEN_KINDS: Final = ("text", "start", "end", "doctype", "raw")
TOKEN_FLAGS: Final = ("not_white", "care", "after_comment", "attributes", "unclean", "joined", "closed")
NODE_COLUMNS: Final = ("parent", "first", "last", "next", "previous", "name", "token")
"""A node: its relatives (0: none), its element (0: text), its token (-1: implied). The `first` and `last` of
a text node are its span in the source, its `token` the flags of its token."""
REFERENCE_COLUMNS: Final = ("first", "second", "alone")
"""A character reference: its code point, a second one or 0, whether it stands without a semicolon."""
SPAN_COLUMNS: Final = ("start", "end")
"""Where something begins and ends."""
QUIRKS: Final = ("no", "yes", "unknown")
"""Whether the document type asks for quirks mode."""
PLACES: Final = ("html", "foreign", "holder")
"""Where a token stands: in HTML, in a drawing or formula, in an element there that holds HTML."""
MODES: Final = (
    "before_html before_head in_head in_head_noscript after_head in_body"
    " in_table in_caption in_column_group in_table_body in_row in_cell"
    " after_body after_after_body in_template"
).split(" ")
"""The insertion modes (13.2.4.1), in an order that `<` compares: before the body, in it, after it."""
NOT_PLAIN: Final = b'"&<>\r\xc2'
_WHITE: Final = b"\t\n\f\r "
_BYTES: Final = {
    "not_white": bytes(byte for byte in range(256) if byte not in _WHITE),
    "care": b"&>\r\xc2",
    "white": _WHITE,
    "letter": ascii_letters.encode(),
    "not_plain": NOT_PLAIN,
}
BYTE_CLASSES: Final = tuple(_BYTES)
"""What a byte may be, as bits; the first two are those of TOKEN_FLAGS. `care`: in text, it may have to be
resolved or escaped; `not_plain`: there or in an attribute, or it is a quote."""

VOID: Final = "area base basefont bgsound br col embed frame hr img input link meta param source track wbr"
"""Elements without an end tag."""
DROPPED: Final = "object applet canvas link meta base param source track embed svg template"
"""Elements that the canonical HTML lacks, beside RAW_TEXT."""
_SKIPPED_TEXT: Final = "style iframe noembed noframes"
RAW_TEXT: Final = f"script {_SKIPPED_TEXT}"
"""Elements that are dropped with their raw text."""
HTML_INTEGRATION_POINTS: Final = "foreignobject desc title"
"""Elements of a drawing that hold HTML."""
_HEADINGS: Final = "h1 h2 h3 h4 h5 h6"
_BLOCKS: Final = (
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer"
    " header hgroup main menu nav ol search section summary ul"
)
_FORMATTING: Final = "b big code em font i s small strike strong tt u"
_MARKED: Final = "applet marquee object"
"""Elements that put a marker into the list of active formatting elements, as cells and captions do."""
_SCOPE: Final = f"{_MARKED} caption html table td th template select"
_HEAD_CONTENT: Final = "base basefont bgsound link meta noframes script style template title"
_COLUMNS: Final = "caption colgroup col"
_ROW_GROUPS: Final = "tbody tfoot thead"
_CELLS: Final = "td th"
_LEFT_TO_LIBRARY: Final = "math plaintext xmp frameset frame selectedcontent keygen"

_FLAGGED: Final = {
    "void": VOID,
    "special": (
        "address applet area article aside base basefont bgsound blockquote body br button caption center col"
        " colgroup dd details dir div dl dt embed fieldset figcaption figure footer form frame frameset"
        f" {_HEADINGS} head header hgroup hr html iframe img input keygen li link listing main marquee"
        " menu meta nav noembed noframes noscript object ol p param plaintext pre script search section"
        " select source style summary table tbody td template textarea tfoot th thead title tr track ul wbr"
        " xmp"
    ),
    "scope": _SCOPE,
    "list_scope": f"{_SCOPE} ol ul",
    "button_scope": f"{_SCOPE} button",
    "table_scope": "html table template",
    "implied_end": "dd dt li optgroup option p rb rp rt rtc",
    "dropped": DROPPED,
    "heading": _HEADINGS,
    "columns": _COLUMNS,
    "row_group": _ROW_GROUPS,
    "row": "tr",
    "cell": _CELLS,
    "head_content": _HEAD_CONTENT,
    "noscript_content": "basefont bgsound link meta noframes style",
    "ends_drawing": (
        f"b big blockquote body br center code dd div dl dt em embed {_HEADINGS} head hr i img li"
        " listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var font"
    ),
}
_STARTS: Final = {
    "block": f"{_BLOCKS} p",
    "heading": _HEADINGS,
    "preformatted": "pre listing",
    "form": "form",
    "li": "li",
    "dd": "dd dt",
    "button": "button",
    "a": "a",
    "formatting": _FORMATTING,
    "nobr": "nobr",
    "marked": _MARKED,
    "table": "table",
    "void": "area br embed img wbr image",
    "input": "input",
    "void_inside": "param source track",
    "hr": "hr",
    "raw": "textarea iframe noembed",
    "select": "select",
    "optgroup": "optgroup",
    "option": "option",
    "ruby_base": "rb rtc",
    "ruby_text": "rp rt",
    "ignored": f"head {_COLUMNS} {_ROW_GROUPS} tr {_CELLS}",
    "head": _HEAD_CONTENT,
    "html": "html body",
    "drawing": "svg",
    "elsewhere": _LEFT_TO_LIBRARY,
}
_ENDS: Final = {
    "block": f"{_BLOCKS} button listing pre select",
    "form": "form",
    "p": "p",
    "li": "li",
    "dd": "dd dt",
    "heading": _HEADINGS,
    "formatting": f"{_FORMATTING} a nobr",
    "marked": _MARKED,
    "br": "br",
    "body": "body html",
}
_CONTENTS: Final = {
    "dropped": _SKIPPED_TEXT,
    "script": "script",
    "text": "title textarea",
    "foreign": "svg",
    "elsewhere": _LEFT_TO_LIBRARY,
}
ELEMENT_FLAGS: Final = tuple(_FLAGGED)
STARTS: Final = ("ordinary", *_STARTS)
"""What the start tag of an element does in a body."""
ENDS: Final = ("ordinary", *_ENDS)
"""What its end tag does there."""
CONTENTS: Final = ("nodes", *_CONTENTS)
"""What an element holds: nodes; raw text that is dropped; a script; text with references; foreign elements;
something that only the parser library reads right."""
ENDS_DRAWING: Final = 64
HOLDS_HTML: Final = 128
"""Added to the place in CONTENTS: of an element that ends a drawing, of one in drawings that holds HTML."""
MOST_ATTRIBUTES: Final = 64
TOO_MANY_ATTRIBUTES: Final = 500
"""A tag with more is beyond the budget: the library compares each attribute with all before it."""
FNV_SEED: Final = 2166136261
FNV_PRIME: Final = 16777619
"""Of the 32-bit FNV-1a hash."""
SMALL_LETTER: Final = 32
"""The bit that makes an ASCII letter a small one, and no other character a letter but @ [ \\ ] ^ _."""
COPY: Final = 16
"""How many bytes the tags of an element that is opened again count as, without attributes."""


class Elements(NamedTuple):
    """Columns over the elements of `ELEMENTS`, and the hash slots that lead to them.

    After the `letters` of all names come LONGEST_NAME more, so that as many can be copied from any place.
    """

    slots: npt.NDArray[np.uint32]
    slot_names: npt.NDArray[np.int32]
    contents: npt.NDArray[np.uint8]
    flags: npt.NDArray[np.uint16]
    starts: npt.NDArray[np.uint8]
    ends: npt.NDArray[np.uint8]
    letters: npt.NDArray[np.uint8]
    letter_ends: npt.NDArray[np.int32]


class References(NamedTuple):
    """Named character references: hash slots, and rows of REFERENCE_COLUMNS; what 128 … 159 mean."""

    slots: npt.NDArray[np.uint32]
    rows: npt.NDArray[np.int32]
    expansions: npt.NDArray[np.uint32]
    c1: npt.NDArray[np.uint32]


def hashed(numbers: Mapping[str, int], size: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32]]:
    """The slots with the names' hashes (0: free), and the number in each; `size` is a power of two."""
    slots, places = open_table([fnv1a(name) for name in numbers], size)
    return slots, np.array([*numbers.values(), 0], dtype=np.int32)[places]


def open_table(codes: Sequence[int], size: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32]]:
    """The slots with the codes (0: free), and which of the codes is in each (free: as many as there are)."""
    slots = np.zeros(size, dtype=np.uint32)
    places = np.full(size, len(codes), dtype=np.int32)
    for place, code in enumerate(codes):
        slot = code % size
        while slots[slot]:
            slot = (slot + 1) % size
        slots[slot], places[slot] = code, place
    return slots, places


def fnv1a(name: str) -> int:
    """The 32-bit FNV-1a hash over code points, as the scan computes it."""
    code = FNV_SEED
    for letter in name:
        code = ((code ^ ord(letter)) * FNV_PRIME) & 0xFFFFFFFF
    return code


@cache
def elements() -> Elements:
    """The elements' table, made once per process."""
    slots, slot_names = hashed({name: number for number, name in enumerate(ELEMENTS) if number}, 1024)
    contents = _column(_CONTENTS, CONTENTS)
    contents += ENDS_DRAWING * _is_in(_FLAGGED["ends_drawing"]) + HOLDS_HTML * _is_in(HTML_INTEGRATION_POINTS)
    flags = np.zeros(len(ELEMENTS), dtype=np.uint16)
    for flag, members in _FLAGGED.items():
        flags |= _is_in(members).astype(np.uint16) << ELEMENT_FLAGS.index(flag)
    lengths = np.array([0, *(len(name) for name in ELEMENTS)])
    return Elements(
        slots,
        slot_names,
        contents,
        flags,
        _column(_STARTS, STARTS),
        _column(_ENDS, ENDS),
        np.frombuffer("".join((*ELEMENTS, " " * LONGEST_NAME)).encode(), dtype=np.uint8),
        np.cumsum(lengths).astype(np.int32),
    )


def in_source(markup: bytes) -> npt.NDArray[np.uint8]:
    """Which of ELEMENTS begin anywhere in a page's source: 1 or 0, shape (n_elements,).

    For the few pages that the tokenizer does not read. Unlike the tokenizer, it also counts text that looks
    like a tag in scripts, styles, comments and drawings.
    """
    found = {tag[1].lower() for tag in _TAG.finditer(markup)}
    return np.array([bool(name) and name.encode() in found for name in ELEMENTS], dtype=np.uint8)


_TAG: Final = re.compile(rb"<([a-zA-Z][^\s/>]*)")


@cache
def references() -> References:
    """The character references of the standard, built once per process."""
    names = tuple(sorted({name.rstrip(";") for name in html5}))
    slots, rows = hashed({name: row for row, name in enumerate(names)}, 8192)
    expansions = np.zeros((len(names), len(REFERENCE_COLUMNS)), dtype=np.uint32)
    for row, name in enumerate(names):
        points = [ord(letter) for letter in html5.get(name + ";", html5.get(name, ""))]
        expansions[row, : len(points)] = points
        expansions[row, REFERENCE_COLUMNS.index("alone")] = name in html5
    c1 = [ord(bytes([byte]).decode("cp1252", "replace")) for byte in range(128, 160)]
    c1 = [byte if point == 0xFFFD else point for byte, point in enumerate(c1, start=128)]
    return References(slots, rows, expansions, np.array(c1, dtype=np.uint32))


@cache
def byte_classes() -> npt.NDArray[np.uint8]:
    """BYTE_CLASSES of each byte."""
    classes = np.zeros(256, dtype=np.uint8)
    for bit, members in enumerate(_BYTES.values()):
        classes[list(members)] |= 1 << bit
    return classes


def _is_in(members: str) -> npt.NDArray[np.uint8]:
    return np.isin(ELEMENTS, members.split()).astype(np.uint8)


def _column(groups: dict[str, str], order: tuple[str, ...]) -> npt.NDArray[np.uint8]:
    column = np.zeros(len(ELEMENTS), dtype=np.uint8)
    for group, members in groups.items():
        column[_is_in(members) > 0] = order.index(group)
    return column
