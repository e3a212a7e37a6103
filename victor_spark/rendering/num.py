"""The numbers that the kernels of this folder share, by name, as those of kernels/num.py."""

from functools import partial
from typing import Final, NamedTuple

from victor_html import num as parser
from victor_spark.blocks import Int32
from victor_spark.kernels import num

KINDS: Final = tuple(
    "other void img br hr input "
    "h1 h2 h3 h4 h5 h6 p block li ul ol table thead tr td th caption a strong em strike sup sub code pre "
    "quote figure figcaption dl dt dd details summary math button picture noscript".split()
)
"""Kinds of elements, by their tags; those up to `input` have no end tag, except `other`."""
KIND: Final = {name: place for place, name in enumerate(KINDS)}
MARKS: Final = tuple("math callout title code block anchor hidden notes picture notice side hover".split())
"""Marks of an element by words of class, role and id: bits."""


class Elements(NamedTuple):
    """The elements of a page in document order.

    `start`: of the tag, `inner`: the end of that, `end`: the start of its end tag; `parent`: the row of the
    element around it (-1: none); blocks `first` to `last` (not included) are inside it. `marks` is -1 until
    it is needed.
    """

    kind: Int32
    marks: Int32
    start: Int32
    inner: Int32
    end: Int32
    parent: Int32
    first: Int32
    last: Int32
    flags: Int32


ELEMENT: Final = (*Elements._fields, "stack")
"""The columns of elements, and the stack of the open ones."""
FLAGS: Final = ("shown", "notes", "refs", "back", "asides", "between")
"""Flags of an element: an image or a link around one that is shown, a footnote, a reference to one, what
leads back from it, a footnote inside a line, a notice or formula that kept text may follow: bits."""
OPS: Final = tuple(
    "close root p heading list item callout title table row cell footnote "
    "quote figure caption dl dt dd details summary "
    "link strong em strike sup sub codespan text space br code hr image math ref".split()
)
"""Nodes: those before `link` are blocks, others stand in lines, those from `text` on have no end."""
N_OP, N_A, N_B, N_END = NODE = range(4)
"""The columns of nodes, in document order; a node's `end` is the row of its `close`, whose `a` is the node.

`a` and `b`: heading: level; list: first number (-1: none), whether it counts down; item: number (-1), state
of its box (0: none, 1: open, 2: checked); cell: columns and rows, negative in a header; text: from and to
which code point; code, callout, footnote, link, image, math, ref: the place of its value; math: whether it
stands by itself.
"""
FRAME: Final = ("end", "op", "node", "outer", "saved", "level", "lazy")
"""The columns of the stack of open nodes: `end` in the html, the one around, what holds outside."""

UP_TO_SIZE, UP_TO_KEPT_SIZE, UP_TO_NEXT = UP_TO = range(3)
"""Before each block: characters, kept characters; the next kept block."""
LONGEST_LABEL: Final = 11
"""The most characters of a footnote's label, with the line breaks between its blocks."""
MOST_UP: Final = 4
"""The most elements between a text and the element that hides it."""

NUMBERS: Final = parser.named(
    {name: value for name, value in vars().items() if isinstance(value, int)},
    {f"CHAR_{name}": num.NUMBERS[name] for name in ("CLASS_MASK", "OTHER", "LETTER", "DIGIT", "WHITE")},
    {f"WHITE_{name}": num.NUMBERS[name] for name in ("LINES", "PROSE", "CODE")},
    {name: num.NUMBERS[name] for name in ("FNV_SEED", "FNV_PRIME", "SMALL", "FIRST_WIDE")},
    num.numbered("KIND_", KINDS),
    {f"MARK_{name.upper()}": 1 << bit for bit, name in enumerate(MARKS)},
    {f"FLAG_{name.upper()}": 1 << bit for bit, name in enumerate(FLAGS)},
    num.numbered("E_", ELEMENT),
    num.numbered("", OPS),
    num.numbered("F_", FRAME),
)
globals().update(NUMBERS, **dict.fromkeys(parser.ARRAYS, memoryview))

check, hashed, place = parser.check, parser.hashed, parser.place
compiled_with = partial(parser.compiled_with, numbers=NUMBERS)
