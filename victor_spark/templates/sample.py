"""A sample of a site's pages that depends on the pages alone: not on their order, nor on who saw which.

A page's key is a hash of its text, so a text counts once however often it was fetched. The sample is the
longest run of smallest keys that keeps to a number of pages and a number of characters.
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

MAX_PAGES: Final = 500
MAX_CHARACTERS: Final = 20_000_000
"""Of a site's sample: bounds the memory of mining it."""
MAX_PAGE_CHARACTERS: Final = 1_000_000
"""Of one page; a longer one is looked at by its two ends, where templates are."""

KEY_BYTES: Final = 16


def key(text: str) -> bytes:
    """A hash that orders texts as chance would."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()


def ends(text: str, length: int = MAX_PAGE_CHARACTERS) -> str:
    """The text, or the two ends of a longer one."""
    return text if len(text) <= length else f"{text[: length // 2]}\n{text[-(length // 2) :]}"


@dataclass(slots=True)
class Smallest:
    """Which texts of a stream are in its sample so far; holds keys and lengths, no texts.

    A text that is not taken matters to no longer stream: so each task passes on what it takes, and whoever
    gets all of that takes again. That includes a text that ends the run of smallest keys: those behind it
    are out, even if they were short enough.
    """

    max_pages: int = MAX_PAGES
    max_characters: int = MAX_CHARACTERS
    _heap: list[tuple[bytes, int]] = field(default_factory=list, repr=False)  # largest key first
    _keys: set[bytes] = field(default_factory=set, repr=False)
    _n_characters: int = 0
    _bar: bytes | None = None

    def take(self, key: bytes, length: int) -> tuple[bool, list[bytes]]:
        """Whether the text matters, and the keys that are out now (the text's own may be among them)."""
        if key in self._keys or (self._bar is not None and key >= self._bar):
            return False, []
        heapq.heappush(self._heap, (_inverted(key), length))
        self._keys.add(key)
        self._n_characters += length
        gone = []
        while len(self._heap) > self.max_pages or (
            self._n_characters > self.max_characters and len(self._heap) > 1
        ):
            gone.append(self._drop_largest())
        return True, gone

    def _drop_largest(self) -> bytes:
        inverted, length = heapq.heappop(self._heap)
        largest = _inverted(inverted)
        self._keys.discard(largest)
        self._n_characters -= length
        self._bar = largest
        return largest


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


def _inverted(key: bytes) -> bytes:
    """The key that sorts the other way round."""
    return bytes(255 - byte for byte in key)
