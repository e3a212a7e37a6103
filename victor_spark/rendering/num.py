"""The numbers that the kernels of this folder share, by name, as those of kernels/num.py."""

from functools import partial
from typing import Final

from victor_html import num as parser
from victor_spark.kernels import num

KINDS: Final = tuple(
    "other void img br hr input "
    "h1 h2 h3 h4 h5 h6 p block li ul ol table thead tr td th caption a strong em strike sup sub code pre "
    "quote figure figcaption dl dt dd details summary math button picture noscript".split()
)
"""Kinds of elements, by their tags; those up to `input` have no end tag, except `other`."""
KIND: Final = {name: place for place, name in enumerate(KINDS)}
MARKS: Final = tuple("math callout title code block anchor hidden notes picture".split())
"""Marks of an element by words of class, role and id: bits."""
ELEMENT: Final = tuple("kind marks start inner end parent first last flags stack".split())
"""The columns of elements, in document order.

`start`: of the tag, `inner`: the end of that, `end`: the start of its end tag; `parent`: the row of the
element around it (-1: none); blocks `first` to `last` (not included) are inside it. `marks` is -1 until it is
needed. `stack` is that of the open elements.
"""
FLAGS: Final = ("shown", "captioned", "notes", "refs", "back", "asides", "between")
"""Flags of an element: an image or a link around one that is shown, a figure whose caption is shown, a
footnote, a reference to one, what leads back from it, a footnote inside a line, a notice that kept text may
follow: bits."""
OPS: Final = tuple(
    "close root p heading list item callout title table row cell footnote "
    "quote figure caption dl dt dd details summary "
    "link strong em strike sup sub codespan text space br code hr image math ref".split()
)
"""Nodes: those before `link` are blocks, others stand in lines, those from `text` on have no end."""
NODE: Final = ("op", "a", "b", "end")
"""The columns of nodes, in document order; a node's `end` is the row of its `close`, whose `a` is the node.

`a` and `b`: heading: level; list: first number (-1: none); item: number (-1), state of its box (0: none,
1: open, 2: checked); cell: columns and rows, negative in a header; text: from and to which code point; code,
callout, footnote, link, image, math, ref: the place of its value; math: whether it stands by itself.
"""
FRAME: Final = ("end", "op", "node", "outer", "saved", "level", "lazy")
"""The columns of the stack of open nodes: `end` in the html, the one around, what holds outside."""


NUMBERS: Final = parser.named(
    {f"CHAR_{name}": num.NUMBERS[name] for name in ("CLASS_MASK", "OTHER", "LETTER", "DIGIT", "WHITE")},
    {f"WHITE_{name}": num.NUMBERS[name] for name in ("LINES", "PROSE", "CODE")},
    {name: num.NUMBERS[name] for name in ("FNV_PRIME", "SMALL", "FIRST_WIDE")},
    num.numbered("UP_TO_", ("kept", "size", "kept_size", "next")),
    num.numbered("KIND_", KINDS),
    {f"MARK_{name.upper()}": 1 << bit for bit, name in enumerate(MARKS)},
    {f"FLAG_{name.upper()}": 1 << bit for bit, name in enumerate(FLAGS)},
    num.numbered("E_", ELEMENT),
    num.numbered("", OPS),
    num.numbered("N_", NODE),
    num.numbered("F_", FRAME),
)
globals().update(NUMBERS)

check, hashed = parser.check, parser.hashed
compiled_with = partial(parser.compiled_with, numbers=NUMBERS)
