"""How rows become files: in folders by the values of a column, in files of about a size."""

from dataclasses import dataclass
from typing import Final

from victor_spark.errors import UsageError

PARTITION_COLUMNS: Final = ("language", "crawl")
FILE_BYTES: Final = 256 << 20
"""The files' size where rows go to folders: without one, every task would write a file into each of them."""

WAVE_FACTOR: Final = 16
"""Input that gives a file of a certain size, about: cleaned text is a small part of an archive."""


@dataclass(frozen=True, slots=True)
class Layout:
    """`partition_by`: a column whose values become folders; `file_bytes`: None is a file a task."""

    partition_by: str | None = None
    file_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.partition_by not in (None, *PARTITION_COLUMNS):
            known = " or ".join(PARTITION_COLUMNS)
            raise UsageError(f"pages can be partitioned by {known}, not by {self.partition_by}")

    @property
    def wanted_bytes(self) -> int | None:
        """The size files should have; None: as it comes."""
        return self.file_bytes or (FILE_BYTES if self.partition_by else None)

    @property
    def wave_bytes(self) -> int:
        """Input that a wave needs at least, to fill a file."""
        return WAVE_FACTOR * (self.wanted_bytes or 0)
