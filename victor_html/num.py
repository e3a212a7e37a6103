"""The parser's numbers by name: elements with their flags, columns, kinds, and insertion modes.

Kernels take them from here uncompiled. Compiled, they are constants of C: setup.py writes them to num.pxd,
with the types of arrays that all kernels use (`ARRAYS`).
"""

from collections.abc import Mapping, Sequence
from typing import Final
from zlib import crc32

from victor_html import elements as tables


def named(*parts: Mapping[str, int]) -> dict[str, int]:
    """The numbers of all tables, and DIGEST: a kernel compiled with other numbers has another one."""
    numbers = {name: number for table in parts for name, number in table.items()}
    assert len(numbers) == sum(map(len, parts)), "two numbers have the same name"
    return numbers | {"DIGEST": crc32(repr(numbers).encode()) >> 1}


NUMBERS: Final = named(
    {name.upper(): number for number, name in enumerate(tables.ELEMENTS) if name},
    {name.upper(): 1 << bit for bit, name in enumerate(tables.ELEMENT_FLAGS)},
    {f"START_{name.upper()}": number for number, name in enumerate(tables.STARTS)},
    {f"END_{name.upper()}": number for number, name in enumerate(tables.ENDS)},
    {f"HOLDS_{name.upper()}": number for number, name in enumerate(tables.CONTENTS)},
    {name.upper(): number for number, name in enumerate(tables.MODES)},
    {f"TOKEN_{name.upper()}": column for column, name in enumerate(tables.TOKEN_COLUMNS)},
    {name.upper(): number for number, name in enumerate(tables.TOKEN_KINDS)},
    {name.upper(): 1 << bit for bit, name in enumerate(tables.TOKEN_FLAGS)},
    {name.upper(): column for column, name in enumerate(tables.NODE_COLUMNS)},
    {f"IS_{name.upper()}": 1 << bit for bit, name in enumerate(tables.BYTE_CLASSES)},
    {f"REFERENCE_{name.upper()}": column for column, name in enumerate(tables.REFERENCE_COLUMNS)},
    {f"SPAN_{name.upper()}": column for column, name in enumerate(tables.SPAN_COLUMNS)},
    {f"QUIRKS_{name.upper()}": number for number, name in enumerate(tables.QUIRKS)},
    {f"PLACE_{name.upper()}": number for number, name in enumerate(tables.PLACES)},
    {
        "TABLE_PART": sum(
            1 << tables.ELEMENT_FLAGS.index(part) for part in ("columns", "row_group", "row", "cell")
        ),
        "CONTENT": tables.ENDS_DRAWING - 1,
        "CONTENT_ENDS_DRAWING": tables.ENDS_DRAWING,
        "HOLDS_HTML": tables.HOLDS_HTML,
        "MOST_ATTRIBUTES": tables.MOST_ATTRIBUTES,
        "TOO_MANY_ATTRIBUTES": tables.TOO_MANY_ATTRIBUTES,
        "FNV_SEED": tables.FNV_SEED,
        "FNV_PRIME": tables.FNV_PRIME,
        "SMALL_LETTER": tables.SMALL_LETTER,
        "COPY": tables.COPY,
        "LONGEST_NAME": tables.LONGEST_NAME,
    },
    # The adoption agency (13.2.6.4.7): rounds; after how many elements one forgets those that are formatting.
    # How many active formatting elements are alike (13.2.4.3).
    {"ADOPTION_ROUNDS": 8, "ADOPTION_PASSED": 3, "MOST_ALIKE": 3},
    # The first rows of nodes. What an open element is (0: not open): as PLACES; a template has the sum of
    # OPEN_TEMPLATE and the insertion mode of its content.
    {"NO_NODE": 0, "DOCUMENT": 1},
    {"OPEN_HTML": 1, "OPEN_FOREIGN": 2, "OPEN_HOLDER": 3, "OPEN_TEMPLATE": 16},
)
_ITEMS: Final = {
    "Byte": "unsigned char",
    "Int16": "short",
    "UInt16": "unsigned short",
    "Int": "int",
    "UInt": "unsigned int",
    "Int64": "long long",
    "UInt64": "unsigned long long",
    "Float": "float",
    "Double": "double",
}
ARRAYS: Final = {f"{name}s": f"const {item}[::1]" for name, item in _ITEMS.items()} | {
    f"{name}Rows": f"const {item}[:, ::1]" for name, item in _ITEMS.items()
}
"""The types, in C, of arrays that kernels only read: num.Ints has one dimension, num.IntRows two."""

globals().update(NUMBERS, **dict.fromkeys(ARRAYS, memoryview))

Vectorised: Final = None
"""What a function without a result returns that is compiled twice: for all processors, and for AVX2."""


def check() -> None:
    """Uncompiled, a kernel has these numbers; compiled, it calls `compiled_with` (see setup.py)."""


def hashed(code: int, c: int) -> int:
    """One step of FNV-1a of 32 bits: from the hash `code` of some letters to that with `c` after them."""
    return ((code ^ c) * tables.FNV_PRIME) & 0xFFFFFFFF


def place(slots: Sequence[int], code: int) -> int:
    """The slot of a code in an open-addressing table (elements.open_table), or the free one it would get."""
    slot = code & (len(slots) - 1)
    while slots[slot] not in (code, 0):
        slot = (slot + 1) & (len(slots) - 1)
    return slot


def compiled_with(digest: int, numbers: Mapping[str, int] = NUMBERS) -> None:
    """Raises ImportError for a kernel that was compiled with other numbers."""
    if digest != numbers["DIGEST"]:
        raise ImportError("a kernel was compiled from other tables than these: run ./dev setup")
