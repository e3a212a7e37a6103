"""From the texts of one site's pages to its templates (Foschini, section 3)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from victor_spark.blocks import Int32, UInt8
from victor_spark.errors import UsageError
from victor_spark.templates import patterns, repeats, sites
from victor_spark.templates.patterns import Patterns
from victor_spark.templates.repeats import Corpus, Repeats
from victor_spark.templates.table import NO_TEMPLATES, OK, TOO_FEW_PAGES, Mined, Template
from victor_spark.templates.tokens import TEXT, TOKENISERS, VIEWS, Spans, Vocabulary, spans, words


@dataclass(frozen=True, slots=True)
class MiningSettings:
    """How templates are mined; equal settings and texts give equal templates.

    `view`: which of VIEWS the texts are. `patterns`: user's mutable patterns, (name, regular expression),
    beside those of conf/mutable.toml. `min_pages`: fewer distinct pages are not mined; pages are
    the same when `twin_likeness` of their distinct tokens are. `min_documents` and `min_share`: the
    cut-off is never below this number or share of pages. Below it, from `min_section_share` of the
    pages on, strings of a section of the site, or that alternate between its pages, are accepted: menus and
    notices, whose lines are short and whole (repeats.of_sections), not articles. Strings shorter than
    `n_free_tokens` must stand at the edges of lines (`line_ratio` of them, repeats.standing).
    `max_page_share`: a template longer than this share of the pages it stands on is an article that the
    site republishes (unless most pages have it).
    """

    view: str = TEXT
    patterns: tuple[tuple[str, str], ...] = ()
    min_pages: int = 3
    min_documents: int = 3
    min_share: float = 0.05
    min_section_share: float = 0.2
    max_page_share: float = 0.5
    n_free_tokens: int = 8
    line_ratio: float = 0.9
    twin_likeness: float = 0.98


def mine(site: str, texts: Sequence[str], settings: MiningSettings = MiningSettings()) -> Mined:
    """The templates of one site. UsageError for invalid settings; no text causes an error."""
    check(settings)
    mutable = patterns.patterns(settings.patterns)
    pages = _read(texts, settings, mutable)
    n_pages = len(pages.numbers)
    if n_pages < settings.min_pages:
        reason = f"{n_pages} distinct pages of {len(texts)}, at least {settings.min_pages} are needed"
        return Mined(
            site, settings.view, TOO_FEW_PAGES, reason, len(texts), n_pages, 0, (0,) * repeats.N_BINS, ()
        )
    ground = repeats.corpus(pages.symbols, pages.n_symbols)
    edges = np.zeros(len(ground.symbols), dtype=np.uint8)
    for first, of_page in zip(ground.first.tolist(), pages.edges, strict=True):
        edges[first : first + len(of_page)] = of_page
    found = repeats.repeats(ground, edges, least_length=2, least_documents=2)
    how = repeats.standing(found, n_free_tokens=settings.n_free_tokens, line_ratio=settings.line_ratio)
    eligible = how.document_frequency >= 2
    eligible &= ~repeats.republished(found, n_pages, most=settings.max_page_share)
    frequencies = how.document_frequency[eligible]
    cut_off = max(repeats.cut_off(frequencies, n_pages), _guard(n_pages, settings.min_share, settings))
    chosen = how.document_frequency >= cut_off
    below = min(cut_off, _guard(n_pages, settings.min_section_share, settings))
    chosen |= (how.document_frequency >= below) & repeats.of_sections(edges, found, how.anchors)
    rows = np.flatnonzero(eligible & chosen).astype(np.int32)
    # At least one token is literal: mutable patterns alone match any date.
    fixed = np.cumsum(np.append(0, ground.symbols >= len(mutable.names)))
    rows = rows[fixed[found.position[rows] + found.length[rows]] > fixed[found.position[rows]]]
    rows = rows[~repeats.hanging(ground, found, rows, how.anchors[rows], below)]
    if len(rows):
        rows = repeats.needed(ground, edges, found, rows, how.anchors[rows])
    templates = tuple(_templates(texts, pages, ground, found, how, rows, settings, mutable))
    return Mined(
        site=site,
        view=settings.view,
        status=OK if templates else NO_TEMPLATES,
        reason=None if templates else f"no string is on {cut_off} of {n_pages} pages",
        n_seen=len(texts),
        n_pages=n_pages,
        cut_off=cut_off,
        histogram=tuple(repeats.histogram(frequencies, n_pages).tolist()),
        templates=templates,
    )


def check(settings: MiningSettings) -> None:
    """Raises UsageError for invalid settings."""
    if settings.view not in VIEWS:
        raise UsageError(f"the view must be one of {', '.join(VIEWS)}, not {settings.view}")
    if settings.min_pages < 2 or settings.min_documents < 2:
        raise UsageError("min_pages and min_documents must be at least 2")
    for name in ("min_share", "min_section_share", "max_page_share", "line_ratio", "twin_likeness"):
        if not 0 <= getattr(settings, name) <= 1:
            raise UsageError(f"{name} must be between 0 and 1, not {getattr(settings, name)}")
    patterns.patterns(settings.patterns)


def _guard(n_pages: int, least_share: float, settings: MiningSettings) -> int:
    """The least document frequency of a template."""
    return max(settings.min_documents, int(np.ceil(least_share * n_pages)))


@dataclass(frozen=True, slots=True)
class _Pages:
    """The distinct pages: their numbers among the texts, and symbols and edges of each one's tokens."""

    numbers: list[int]
    symbols: list[Int32]
    edges: list[UInt8]
    n_symbols: int


def _read(texts: Sequence[str], settings: MiningSettings, mutable: Patterns) -> _Pages:
    vocabulary, tokeniser = Vocabulary(), TOKENISERS[settings.view]
    n_patterns = len(mutable.names)
    symbol_of = np.empty(1 << 12, dtype=np.int32)
    symbols, edges = [], []
    for text in texts:
        found = spans(text, tokeniser)
        ids, new = vocabulary.number(found)
        known, n = vocabulary.n - len(new), vocabulary.n
        if n > len(symbol_of):
            symbol_of = np.concatenate([symbol_of, np.empty(max(n, len(symbol_of)), dtype=np.int32)])
        kinds = np.array([mutable.first_match(word) for word in words(text, found, new)], dtype=np.int32)
        symbol_of[known:n] = np.where(kinds >= 0, kinds, n_patterns + np.arange(known, n, dtype=np.int32))
        symbols.append(symbol_of[ids])
        edges.append(found.edges.copy())
    numbers = np.flatnonzero(sites.distinct(symbols, settings.twin_likeness)).tolist()
    kept = [symbols[number] for number in numbers]
    return _Pages(numbers, kept, [edges[number] for number in numbers], n_patterns + vocabulary.n)


def _templates(
    texts: Sequence[str],
    pages: _Pages,
    ground: Corpus,
    found: Repeats,
    how: repeats.Standing,
    rows: Int32,
    settings: MiningSettings,
    mutable: Patterns,
) -> Iterator[Template]:
    """The published form of some repeats, in the order of their first occurrence."""
    tokeniser = TOKENISERS[settings.view]
    page, of_page = -1, Spans(*(np.empty(0) for _ in range(4)))  # type: ignore[arg-type]
    for row in rows[np.lexsort((-found.length[rows], found.position[rows]))].tolist():
        position, length = int(found.position[row]), int(found.length[row])
        if ground.documents[position] != page:
            page = int(ground.documents[position])
            text = texts[pages.numbers[page]]
            of_page = spans(text, tokeniser)
        begin = position - int(ground.first[page])
        symbols = ground.symbols[position : position + length].tolist()
        places = np.arange(begin, begin + length, dtype=np.int32)
        tokens = tuple(
            patterns.mutable(mutable.expressions[symbol])
            if symbol < len(mutable.names)
            else patterns.literal(word)
            for symbol, word in zip(symbols, words(text, of_page, places), strict=True)
        )
        yield Template(
            regex=patterns.glue(tokens, int(how.anchors[row]), tokeniser),
            tokens=tokens,
            n_tokens=length,
            document_frequency=int(how.document_frequency[row]),
            n_occurrences=int(found.n_occurrences[row, max(0, int(how.anchors[row]))]),
            whole_lines=float(found.n_occurrences[row, 3] / found.n_occurrences[row, 0]),
            example=text[int(of_page.starts[begin]) : int(of_page.ends[begin + length - 1])],
        )
