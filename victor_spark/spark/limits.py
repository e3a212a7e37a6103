"""How much one page may cost before its row says `timeout` or `out_of_memory`."""

from dataclasses import dataclass
from typing import Final

from victor_spark.errors import UsageError

WALL_FACTOR: Final = 30
"""So many times its CPU seconds a page may take by the clock: a loaded machine kills no innocent page."""

MIN_MEGABYTES: Final = 64  # what reading and sending rows may take

OPEN_FACTOR: Final = 30
"""So many times a page's seconds may pass until the first record of a shard is found."""

REMOTE_SECONDS: Final = 30.0
"""At least so many reading a remote record may take: a slow server is not the record's fault."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a page may use; and whether it is cleaned in a child process, without which nothing is enforced.

    `page_seconds` is CPU time, and as much again for every megabyte of the page; of the annotated pages none
    takes a hundredth of the default (bench/deadline.py), so most pages that reach it would never end. Reading
    a record, html or not, may take as long, by the bytes of the shard that are read for it.
    `page_megabytes` is address space beyond what the process had before its first page.
    """

    page_seconds: float = 20.0
    page_megabytes: int = 1024
    sandbox: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.page_seconds < 1e6:
            raise UsageError(f"{self.page_seconds:g} seconds is no time for a page")
        if not MIN_MEGABYTES <= self.page_megabytes < 1 << 20:
            raise UsageError(
                f"{self.page_megabytes} MB is no memory for a page (the least is {MIN_MEGABYTES} MB)"
            )

    def seconds(self, n_bytes: int) -> float:
        """CPU seconds for a page, or for reading a record, of that size."""
        return self.page_seconds * (1.0 + n_bytes / 1e6)
