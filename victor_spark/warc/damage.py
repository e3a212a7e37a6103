"""How damage is spoken of: a range that can't be read, and the reasons why reading may stop."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Damage:
    """A range of the shard, [offset, offset + length), that can't be read, and why; the status of its row."""

    offset: int
    length: int
    reason: str
    status: str = "corrupt_record"


class CorruptError(Exception):
    """The archive is damaged here; reading may go on elsewhere."""


class CutError(Exception):
    """The file ends before its last record or member does; the message says within what."""


class SourceError(Exception):
    """The file can't be read here (disk, network): not the archive's damage, and the end of the shard."""
