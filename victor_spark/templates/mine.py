"""Mines the templates of a site from a sample of its pages (Foschini, section 3).

The key of a page is a hash of its text, so a text that was fetched several times counts once. The sample
takes pages by ascending keys until it reaches its limit of pages or of characters. So it depends on the pages
alone, not on their order or on the tasks that read them. Of near-identical pages, the first is mined.
"""

import heapq
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import compress
from math import ceil
from typing import Final, NamedTuple

import numpy as np

from victor_spark import minhash
from victor_spark.blocks import Bool, Int32, UInt8
from victor_spark.errors import UsageError
from victor_spark.templates import patterns, repeats
from victor_spark.templates.patterns import Patterns
from victor_spark.templates.repeats import Corpus, Repeats
from victor_spark.templates.table import NO_TEMPLATES, OK, TOO_FEW_PAGES, Mined, Template
from victor_spark.templates.tokens import TEXT, TOKENISERS, VIEWS, Spans, Tokeniser, Vocabulary, spans, words


@dataclass(frozen=True, slots=True)
class MiningSettings:
    """How templates are mined; equal settings and texts give equal templates. UsageError for invalid ones.

    `view`: the one of VIEWS that the texts are in. `patterns`: the user's mutable patterns as (name, regular
    expression), besides those of conf/mutable.toml. `min_pages`: the fewest distinct pages of a site.
    """

    view: str = TEXT
    patterns: tuple[tuple[str, str], ...] = ()
    min_pages: int = 3

    def __post_init__(self) -> None:
        if self.view not in VIEWS:
            raise UsageError(f"the view must be one of {', '.join(VIEWS)}, not {self.view}")
        if self.min_pages < 2:
            raise UsageError("--min-pages must be at least 2")
        if self.patterns:
            patterns.patterns(self.patterns)


MIN_DOCUMENTS: Final = 3
MIN_SHARE: Final = 0.05
"""The cut-off is at least this number and at least this share of the pages."""

MIN_SECTION_SHARE: Final = 0.2
"""A string below the cut-off is a template, too, if this share of the pages has it and its lines are short
and whole (repeats.of_sections): a menu of one section, or a notice that alternates with others."""

MIN_DUPLICATE_JACCARD: Final = 0.98
"""Two pages are near-identical if the Jaccard similarity of their distinct tokens is at least this."""


def mine(site: str, texts: Sequence[str], settings: MiningSettings = MiningSettings()) -> Mined:
    """The templates of one site; no text raises an error."""
    mutable = patterns.patterns(settings.patterns)
    pages = _read(texts, TOKENISERS[settings.view], mutable)
    n_pages = len(pages.texts)
    if n_pages < settings.min_pages:
        reason = f"{n_pages} distinct pages of {len(texts)}, at least {settings.min_pages} are needed"
        return Mined(site, settings.view, TOO_FEW_PAGES, reason, len(texts), n_pages, 0, ())
    corpus = repeats.corpus(pages.symbols, pages.n_symbols)
    edges = np.concatenate([np.append(of_page, np.uint8(0)) for of_page in pages.edges])
    found = repeats.repeats(corpus, edges, least_length=2, least_documents=2)
    anchors, in_pages = repeats.anchored(found)
    eligible = (in_pages >= 2) & ~repeats.republished(found, n_pages)
    frequencies = in_pages[eligible]
    cut_off = max(repeats.cut_off(frequencies, n_pages), MIN_DOCUMENTS, ceil(MIN_SHARE * n_pages))
    below = min(cut_off, max(MIN_DOCUMENTS, ceil(MIN_SECTION_SHARE * n_pages)))
    chosen = (in_pages >= cut_off) | ((in_pages >= below) & repeats.of_sections(edges, found, anchors))
    rows = np.flatnonzero(eligible & chosen).astype(np.int32)
    # At least one token must be literal: mutable patterns alone would match any date.
    fixed = np.cumsum(np.append(0, corpus.symbols >= len(mutable.names)))
    rows = rows[fixed[found.position[rows] + found.length[rows]] > fixed[found.position[rows]]]
    rows = rows[~repeats.inside_others(corpus, found, rows, anchors[rows], below)]
    if len(rows):
        rows = repeats.uncovered(corpus, edges, found, rows, anchors[rows])
    columns = (rows, anchors[rows], in_pages[rows])
    templates = tuple(_templates(pages, corpus, found, columns, mutable))
    status = OK if templates else NO_TEMPLATES
    why = None if templates else f"no string is on {cut_off} of {n_pages} pages"
    return Mined(site, settings.view, status, why, len(texts), n_pages, cut_off, templates)


class _Pages(NamedTuple):
    """The distinct pages: their texts, and the symbols and edges of their tokens by a tokeniser."""

    texts: list[str]
    symbols: list[Int32]
    edges: list[UInt8]
    n_symbols: int
    tokeniser: Tokeniser


def _read(texts: Sequence[str], tokeniser: Tokeniser, mutable: Patterns) -> _Pages:
    vocabulary, n_patterns = Vocabulary(), len(mutable.names)
    first_matches: list[int] = []
    ids, edges = [], []
    for text in texts:
        found = spans(text, tokeniser)
        numbers, new = vocabulary.number(found)
        first_matches.extend(map(mutable.first_match, words(text, found, new)))
        ids.append(numbers)
        edges.append(found.edges.copy())
    kinds = np.array(first_matches, dtype=np.int32)
    symbol_of = np.where(kinds >= 0, kinds, n_patterns + np.arange(len(kinds), dtype=np.int32))
    symbols = [symbol_of[numbers] for numbers in ids]
    is_distinct = distinct(symbols, MIN_DUPLICATE_JACCARD)
    kept, symbols = list(compress(texts, is_distinct)), list(compress(symbols, is_distinct))
    edges = list(compress(edges, is_distinct))
    return _Pages(kept, symbols, edges, n_patterns + vocabulary.n, tokeniser)


def _templates(
    pages: _Pages, corpus: Corpus, found: Repeats, columns: tuple[Int32, Int32, Int32], mutable: Patterns
) -> Iterator[Template]:
    """The published form of some repeats, in the order of their first occurrence.

    `columns`: the rows of the repeats, their anchors, and the document frequency of each with its anchors.
    """
    page, of_page = -1, Spans(*(np.empty(0) for _ in range(4)))  # type: ignore[arg-type]
    order = np.lexsort((-found.length[columns[0]], found.position[columns[0]]))
    for row, anchors, in_pages in zip(*(column[order].tolist() for column in columns), strict=True):
        position, length = int(found.position[row]), int(found.length[row])
        if corpus.documents[position] != page:
            page = int(corpus.documents[position])
            text = pages.texts[page]
            of_page = spans(text, pages.tokeniser)
        begin = position - int(corpus.first[page])
        symbols = corpus.symbols[position : position + length].tolist()
        places = np.arange(begin, begin + length, dtype=np.int32)
        tokens = tuple(
            patterns.mutable(mutable.expressions[symbol]) if symbol < len(mutable.names) else re.escape(word)
            for symbol, word in zip(symbols, words(text, of_page, places), strict=True)
        )
        yield Template(
            regex=patterns.glue(tokens, anchors, pages.tokeniser),
            tokens=tokens,
            n_tokens=length,
            document_frequency=in_pages,
            n_occurrences=int(found.n_occurrences[row, max(0, anchors)]),
            whole_lines=float(found.n_occurrences[row, 3] / found.n_occurrences[row, 0]),
            example=text[int(of_page.starts[begin]) : int(of_page.ends[begin + length - 1])],
        )


MAX_PAGES: Final = 500
MAX_CHARACTERS: Final = 20_000_000
"""Limits of a site's sample, which bound the memory of mining it."""
MAX_PAGE_CHARACTERS: Final = 1_000_000
"""Limit of one page. Of a longer page the beginning and the end are mined: most templates are there."""

KEY_BYTES: Final = 16


def page_key(text: str) -> bytes:
    """A hash of a text; the order of these keys is random, and the same in every run."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()


def ends(text: str) -> str:
    """The text; if it is longer than MAX_PAGE_CHARACTERS, its beginning and its end."""
    half = MAX_PAGE_CHARACTERS // 2
    return text if len(text) <= MAX_PAGE_CHARACTERS else f"{text[:half]}\n{text[-half:]}"


@dataclass(slots=True)
class Smallest:
    """Decides which texts of a stream are in its sample so far; holds keys and lengths, no texts.

    A text that is not in the sample of a part of the stream is not in the sample of the whole. So each task
    sends only the texts that it takes, and the receiver takes among the texts of all tasks again. The first
    text beyond the limit is sent, too: it excludes all larger keys, also those of short texts that would fit.
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
        while len(self._heap) > (self.max_pages if self._n_characters <= self.max_characters else 1):
            _, self._bar, length = heapq.heappop(self._heap)
            self._keys.discard(self._bar)
            self._n_characters -= length
            gone.append(self._bar)
        return True, gone


def sample(
    texts: Iterable[str], max_pages: int = MAX_PAGES, max_characters: int = MAX_CHARACTERS
) -> list[str]:
    """The sample of these texts, in the order of their keys; never holds more texts than a sample has."""
    smallest, kept = Smallest(max_pages, max_characters), dict[bytes, str]()
    for text in map(ends, texts):
        own = page_key(text)
        matters, gone = smallest.take(own, len(text))
        if matters:
            kept[own] = text
        for each in gone:
            del kept[each]
    return [kept[each] for each in sorted(kept)]


N_BANDS: Final = 6
N_ROWS: Final = 6
MOST_COMPARED: Final = 16
"""A page is compared with at most this number of pages of each bucket."""


def distinct(pages: Sequence[Int32], least_jaccard: float) -> Bool:
    """Which pages, given as symbols, have no near-identical page before them; False for empty pages.

    Two pages are near-identical when the share of distinct symbols that both have (Jaccard) is at least
    `least_jaccard`. Candidates are found by MinHash: `N_BANDS` bands of `N_ROWS` values.
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
        if any(_are_alike(symbols, sets[other], least_jaccard) for other in others):
            continue
        first[number] = True
        for key in keys:
            buckets[key].append(number)
    return first


def _are_alike(one: Int32, other: Int32, least: float) -> bool:
    if min(len(one), len(other)) < least * max(len(one), len(other)):
        return False
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common >= least * (len(one) + len(other) - common)
