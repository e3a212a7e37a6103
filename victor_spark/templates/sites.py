"""Which site a page belongs to, and which of a site's pages are mined: a sample, near-identical ones once.

A grouping is written `registered-domain`, `host`, or `path-prefix:N` (the host and the first N folders of the
path: a blog farm, the courses of a university). Pages from files have no host: their site is their folder.

The sample depends on the pages alone, not on their order, nor on which task read which. A page's key is a
hash of its text, so a text counts once however often it was fetched. The sample is the longest run of
smallest keys that keeps to a number of pages and a number of characters.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from typing import Final
from urllib.parse import urlsplit

import numpy as np

from victor_spark import minhash
from victor_spark.blocks import Bool, Int32
from victor_spark.errors import UsageError
from victor_spark.hosts import host_name, registered_domain

REGISTERED_DOMAIN: Final = "registered-domain"
HOST: Final = "host"
PATH_PREFIX: Final = "path-prefix"
GROUPINGS: Final = (REGISTERED_DOMAIN, HOST, f"{PATH_PREFIX}:N")


def check_grouping(text: str) -> str:
    """The grouping; UsageError where it is invalid."""
    _n_folders(text)
    return text


def site(url: str | None, grouping: str = REGISTERED_DOMAIN) -> str | None:
    """The site of a URL; None where the URL has neither host nor folder."""
    try:
        parts = urlsplit(url or "")
    except ValueError:  # such as "http://[half an address/"
        return None
    host = host_name(url)
    if not host:
        return "/".join(["file://", *_folders(parts.path)]) if parts.scheme == "file" else None
    if grouping == REGISTERED_DOMAIN:
        return registered_domain(host) or host
    return "/".join([host, *_folders(parts.path)[: _n_folders(grouping)]])


def _folders(path: str) -> list[str]:
    """The folders of a path; what follows the last slash is a page in them."""
    return [folder for folder in path.split("/")[:-1] if folder]


@cache
def _n_folders(grouping: str) -> int:
    name, _, number = grouping.partition(":")
    if grouping in (REGISTERED_DOMAIN, HOST):
        return 0
    if name == PATH_PREFIX and number.isdecimal() and 1 <= int(number) <= 20:
        return int(number)
    raise UsageError(
        f"no grouping {grouping!r}: registered-domain, host or path-prefix:N with N from 1 to 20"
    )


MAX_PAGES: Final = 500
MAX_CHARACTERS: Final = 20_000_000
"""Of a site's sample: bounds the memory of mining it."""
MAX_PAGE_CHARACTERS: Final = 1_000_000
"""Of one page; of a longer page the two ends are mined, where templates are."""

KEY_BYTES: Final = 16


def key(text: str) -> bytes:
    """A hash that orders texts at random."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()


def ends(text: str, length: int = MAX_PAGE_CHARACTERS) -> str:
    """The text, or the two ends of a longer one."""
    return text if len(text) <= length else f"{text[: length // 2]}\n{text[-(length // 2) :]}"


@dataclass(slots=True)
class Smallest:
    """Which texts of a stream are in its sample so far; holds keys and lengths, no texts.

    A text that is not in the sample of a part of the stream is not in the sample of the whole: each task
    sends on what it takes, and the receiver of all tasks takes again. A text that ends the run of smallest
    keys is sent on too, since later keys are out even where they are short enough.
    """

    max_pages: int = MAX_PAGES
    max_characters: int = MAX_CHARACTERS
    _heap: list[tuple[int, bytes, int]] = field(default_factory=list, repr=False)  # largest key first
    _keys: set[bytes] = field(default_factory=set, repr=False)
    _n_characters: int = 0
    _bar: bytes | None = None

    def take(self, key: bytes, length: int) -> tuple[bool, list[bytes]]:
        """Whether the text matters, and the keys that are out now (the text's own may be among them)."""
        if key in self._keys or (self._bar is not None and key >= self._bar):
            return False, []
        heapq.heappush(self._heap, (-int.from_bytes(key), key, length))
        self._keys.add(key)
        self._n_characters += length
        gone = []
        while len(self._heap) > self.max_pages or (
            self._n_characters > self.max_characters and len(self._heap) > 1
        ):
            _, self._bar, length = heapq.heappop(self._heap)
            self._keys.discard(self._bar)
            self._n_characters -= length
            gone.append(self._bar)
        return True, gone


def sample(
    texts: Iterable[str], max_pages: int = MAX_PAGES, max_characters: int = MAX_CHARACTERS
) -> list[str]:
    """The sample of these texts, in the order of their keys; holds no more than that at a time."""
    smallest, kept = Smallest(max_pages, max_characters), dict[bytes, str]()
    for text in map(ends, texts):
        own = key(text)
        matters, gone = smallest.take(own, len(text))
        if matters:
            kept[own] = text
        for each in gone:
            del kept[each]
    return [kept[each] for each in sorted(kept)]


N_BANDS: Final = 6
N_ROWS: Final = 6
MOST_COMPARED: Final = 16
"""The number of pages in a bucket of a band that a page is compared with."""


def distinct(pages: Sequence[Int32], least_likeness: float) -> Bool:
    """Which pages, given as symbols, have no near-identical page before them; empty pages do not count.

    Two pages are alike when the share of distinct symbols that both have (Jaccard) is at least
    `least_likeness`. Candidates are found by MinHash: `N_BANDS` bands of `N_ROWS` values.
    """
    sets = [np.unique(page) for page in pages]
    buckets: dict[int, list[int]] = defaultdict(list)
    first = np.zeros(len(pages), dtype=bool)
    for number, symbols in enumerate(sets):
        if not len(symbols):
            continue
        hashes = minhash.hashes_of(symbols.astype(np.uint64))
        keys = minhash.buckets(hashes, N_ROWS, N_BANDS * N_ROWS).tolist()
        others = {other for key in keys for other in buckets[key][-MOST_COMPARED:]}
        if any(_likeness(symbols, sets[other]) >= least_likeness for other in others):
            continue
        first[number] = True
        for key in keys:
            buckets[key].append(number)
    return first


def _likeness(one: Int32, other: Int32) -> float:
    if min(len(one), len(other)) < 0.5 * max(len(one), len(other)):
        return 0.0
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common / (len(one) + len(other) - common)
