"""A record of an archive before anyone has looked into its block."""

from collections.abc import Callable
from dataclasses import dataclass

from victor_spark.page import Record


@dataclass(frozen=True, slots=True)
class RawRecord:
    """One record: where it begins, its WARC type, its fields, and its block to be read once, forward.

    `field` gives a WARC field by name, in any case. `read(n)` gives at most `n` bytes more of the block,
    fewer only at its end. `block_length` is the length the header declares.
    """

    offset: int
    type: str
    field: Callable[[str], str | None]
    read: Callable[[int], bytes]
    block_length: int


Understand = Callable[[RawRecord], Record | None]
"""Makes a page record of a raw one, its length still 0; None for what is no html."""
