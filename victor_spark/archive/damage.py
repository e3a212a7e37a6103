"""How damage is spoken of: a range that can't be read, and the two reasons why reading may stop."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Damage:
    """A range of the shard, [offset, offset + length), that can't be read, and why."""

    offset: int
    length: int
    reason: str


class CorruptError(Exception):
    """The archive is damaged here; reading may go on elsewhere."""


class SourceError(Exception):
    """The file can't be read here (disk, network): not the archive's damage, and the end of the shard."""
