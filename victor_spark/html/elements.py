"""Tables of the tokenizer, the tree construction and the serialiser: elements and character references."""

import re
from functools import cache
from html.entities import html5
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from victor_spark.html.hashing import hashed
from victor_spark.kernels import construction, tokenizer

_FLAGGED: Final = {
    "void": "area base basefont bgsound br col embed frame hr img input link meta param source track wbr",
    "special": (
        "address applet area article aside base basefont bgsound blockquote body br button caption center col"
        " colgroup dd details dir div dl dt embed fieldset figcaption figure footer form frame frameset"
        " h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe img input keygen li link listing main marquee"
        " menu meta nav noembed noframes noscript object ol p param plaintext pre script search section"
        " select source style summary table tbody td template textarea tfoot th thead title tr track ul wbr"
        " xmp"
    ),
    "scope": "applet caption html table td th marquee object template select",
    "implied_end": "dd dt li optgroup option p rb rp rt rtc",
    "dropped": "object applet canvas link meta base param source track embed svg template",
    "ends_drawing": (
        "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li"
        " listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var font"
    ),
}
_STARTS: Final = {
    "block": (
        "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer"
        " header hgroup main menu nav ol p search section summary ul"
    ),
    "heading": "h1 h2 h3 h4 h5 h6",
    "preformatted": "pre listing",
    "form": "form",
    "li": "li",
    "dd": "dd dt",
    "button": "button",
    "a": "a",
    "formatting": "b big code em font i s small strike strong tt u",
    "nobr": "nobr",
    "marked": "applet marquee object",
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
    "ignored": "caption col colgroup head tbody td tfoot th thead tr",
    "head": "base basefont bgsound link meta noframes script style template title",
    "html": "html body",
    "drawing": "svg",
    "elsewhere": "math plaintext xmp frameset frame selectedcontent keygen",
}
_ENDS: Final = {
    "block": (
        "address article aside blockquote button center details dialog dir div dl fieldset figcaption figure"
        " footer header hgroup listing main menu nav ol pre search section select summary ul"
    ),
    "form": "form",
    "p": "p",
    "li": "li",
    "dd": "dd dt",
    "heading": "h1 h2 h3 h4 h5 h6",
    "formatting": "a b big code em font i nobr s small strike strong tt u",
    "marked": "applet marquee object",
    "br": "br",
    "body": "body html",
}
_CONTENTS: Final = {
    "dropped": "style iframe noembed noframes",
    "script": "script",
    "text": "title textarea",
    "foreign": "svg",
    "elsewhere": "math plaintext xmp frameset frame selectedcontent keygen",
}
_HOLDS_HTML: Final = "foreignobject desc title"


class Elements(NamedTuple):
    """Columns over the elements of `construction.ELEMENTS`, and the hash slots that lead to them."""

    slots: npt.NDArray[np.uint32]
    slot_names: npt.NDArray[np.int32]
    contents: npt.NDArray[np.uint8]
    flags: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.uint8]
    ends: npt.NDArray[np.uint8]
    letters: npt.NDArray[np.uint8]
    letter_ends: npt.NDArray[np.int32]


class References(NamedTuple):
    """Named character references: hash slots, and rows of (code point, second or 0, stands alone)."""

    slots: npt.NDArray[np.uint32]
    rows: npt.NDArray[np.int32]
    expansions: npt.NDArray[np.uint32]
    c1: npt.NDArray[np.uint32]


@cache
def elements() -> Elements:
    """The table of elements, built once per process."""
    names = construction.ELEMENTS
    slots, slot_names = hashed({name: number for number, name in enumerate(names) if number}, 1024)
    contents = _column(names, _CONTENTS, tokenizer.CONTENTS)
    contents += 64 * _is_in(names, _FLAGGED["ends_drawing"]) + 128 * _is_in(names, _HOLDS_HTML)
    flags = np.zeros(len(names), dtype=np.uint8)
    for flag, members in _FLAGGED.items():
        flags |= _is_in(names, members) << construction.FLAGS.index(flag)
    lengths = np.array([0, *(len(name) for name in names)])
    return Elements(
        slots,
        slot_names,
        contents,
        flags,
        _column(names, _STARTS, construction.STARTS),
        _column(names, _ENDS, construction.ENDS),
        np.frombuffer("".join(names).encode(), dtype=np.uint8),
        np.cumsum(lengths).astype(np.int32),
    )


def in_source(markup: bytes) -> npt.NDArray[np.uint8]:
    """Which of construction.ELEMENTS have a start tag in a page's source: 1 or 0, shape (n_elements,).

    For the few pages that the tokenizer does not read. Unlike the tokenizer, it also counts text that looks
    like a tag in scripts, styles, comments and drawings.
    """
    found = {tag[1].lower() for tag in _TAG.finditer(markup)}
    return np.array([bool(name) and name.encode() in found for name in construction.ELEMENTS], dtype=np.uint8)


_TAG: Final = re.compile(rb"<([a-zA-Z][^\s/>]*)")


@cache
def references() -> References:
    """The character references of the standard, built once per process."""
    names = tuple(sorted({name.rstrip(";") for name in html5}))
    slots, rows = hashed({name: row for row, name in enumerate(names)}, 8192)
    expansions = np.zeros((len(names), 3), dtype=np.uint32)
    for row, name in enumerate(names):
        points = [ord(letter) for letter in html5.get(name + ";", html5.get(name, ""))]
        expansions[row, : len(points)] = points
        expansions[row, 2] = name in html5
    c1 = [ord(bytes([byte]).decode("cp1252", "replace")) for byte in range(128, 160)]
    c1 = [byte if point == 0xFFFD else point for byte, point in enumerate(c1, start=128)]
    return References(slots, rows, expansions, np.array(c1, dtype=np.uint32))


@cache
def byte_classes() -> npt.NDArray[np.uint8]:
    """Classes of bytes: 1 not white, 2 special in text, 4 special in attributes, 8 white space, 16 letter."""
    classes = np.ones(256, dtype=np.uint8)
    for byte in b"\t\n\f\r ":
        classes[byte] = 8
    for byte in b"&>\r\xc2":
        classes[byte] |= 2
    for byte in b"&<>\r\xc2":
        classes[byte] |= 4
    for letter in range(26):
        classes[[65 + letter, 97 + letter]] |= 16
    return classes


def _is_in(names: tuple[str, ...] | list[str], members: str) -> npt.NDArray[np.uint8]:
    return np.isin(names, members.split()).astype(np.uint8)


def _column(
    names: tuple[str, ...] | list[str], groups: dict[str, str], order: tuple[str, ...]
) -> npt.NDArray[np.uint8]:
    column = np.zeros(len(names), dtype=np.uint8)
    for group, members in groups.items():
        column[_is_in(names, members) > 0] = order.index(group)
    return column
