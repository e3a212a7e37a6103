"""A record of an archive before anyone has looked into its block."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from victor_spark.blocks import Record


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


class Place(NamedTuple):
    """Where a record lies: at `position` of what the member at offset `start` holds, 0 for a plain record."""

    start: int
    position: int


@dataclass(frozen=True, slots=True)
class Passed:
    """A record that can't be read: reading begins with it and passes over its block; its row says why.

    `blind`: its header isn't read either, and reading goes on where a search finds the next record or member.
    """

    place: Place
    status: str
    reason: str
    blind: bool = False


def _ignore(_: object) -> None:
    """For a reader that no one watches."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """How a shard is read, the first time or after a process died of it.

    `begin` is told the place of each record before it is read, `progress` how many bytes of the shard were
    read for the first time since. Without `fast` nothing is read ahead: what goes wrong is the fault of the
    record that `begin` was told last.
    """

    begin: Callable[[Place], None] = _ignore
    progress: Callable[[int], None] = _ignore
    fast: bool = True
    passed: Passed | None = None


FIRST: Final = Attempt()
Understand = Callable[[RawRecord], Record | None]
"""Makes a page record of a raw one, its length still 0; None for what is no html."""
