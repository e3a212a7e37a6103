"""The targets of fuzzing: each makes an input from bytes and compares the product's result with an oracle.

`python -m tests.fuzz.targets TARGET FILE...` runs a target on files, as reproducers of failures are kept.
"""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from html import unescape
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

from tests.fuzz import built  # before all that imports kernels
from tests.html.pages import BLOCK_LEVEL, HOSTILE, INLINE, ODD, VOID, blocks_of, same, texts_of
from tests.html.visible_text import runs
from tests.kernels.test_alignment import best_score, score
from tests.kernels.test_uncompiled import from_source
from tests.templates.test_matcher import PIECES, by_expressions
from tests.templates.test_repeats import by_definition, strings
from tests.templates.test_tokens import EXPRESSIONS
from victor_html.elements import in_source
from victor_html.parse import parse
from victor_spark import pipeline
from victor_spark.evaluation import cleaneval
from victor_spark.html.canonical import by_library, canonical
from victor_spark.html.charset import as_utf8
from victor_spark.html.segment import segment
from victor_spark.kernels import code_points, crf, letters, ngrams, source
from victor_spark.kernels import memory_views as views
from victor_spark.langid import normalise, repair, scores
from victor_spark.langid.profiles import Profiles
from victor_spark.settings import Settings
from victor_spark.statuses import STATUSES
from victor_spark.templates import patterns as template_patterns
from victor_spark.templates.matcher import Matcher
from victor_spark.templates.repeats import corpus, repeats, suffix_array
from victor_spark.templates.tokens import TOKENISERS, spans
from victor_spark.warc.records import Record
from victor_spark.words import match

MOST_MARKUP: Final = 4000
"""The parser library needs extreme time and memory for some pages, so inputs are short."""
UNWRITABLE: Final = re.compile("\r|<form|<select")
"""Canonical HTML that a parser may read as another tree: carriage returns, nested forms and selects."""
LABELS: Final = (
    *(None, "utf-8", "latin1", "windows-1250", "utf-16", "shift_jis", "gb18030", "iso-2022-jp", "euc-kr"),
    *("big5", "hz", "x-user-defined", "utf-7", "", "\0", "rot13", "cp037", "windows-31j", "replacement"),
)


@dataclass(frozen=True)
class Target:
    """A check that raises if the product is wrong, its corpus, and the number of inputs for a commit."""

    check: Callable[[bytes], None]
    corpus: str
    n_inputs: int


def as_text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def reads_as_the_library(content: bytes) -> None:
    """The kernels' canonical HTML equals the library's, unless they leave the page to it."""
    markup = as_text(content)[:MOST_MARKUP].encode()
    read = parse(markup)
    if markup.endswith(b"<!"):  # the library makes a comment of text that came long before
        return
    assert read.html in (None, by_library(markup.decode()))
    assert not (read.elements > in_source(markup)).any()


def blocks_are_the_visible_text(content: bytes) -> None:
    """Blocks are ordered in the canonical HTML, and have all the text that another parser reads in it."""
    html = canonical(content[:MOST_MARKUP]).html
    blocks = segment(html)
    texts = texts_of(blocks)
    places = list(zip(blocks.start.tolist(), blocks.end.tolist(), strict=True))
    borders = [border for place in places for border in place]
    assert borders == sorted(set(borders))
    assert not borders or (borders[0] >= 0 and borders[-1] <= len(html))
    for (start, end), text in zip(places, texts, strict=True):
        assert unescape(html[start:end]) == text == text.strip() != ""
    if not re.search("<[^>]*<", html):  # such names of tags are more than the other parser can read
        assert texts == runs(html)
    if not UNWRITABLE.search(html):
        assert texts_of(blocks_of(html)) == texts


def is_cleaned(content: bytes) -> None:
    """Any bytes as a page give a document with a listed status, with the shipped models."""
    document = cleaner()(Record(None, "http://site.example/", "made.warc.gz", 0, len(content), content))
    assert document.status in STATUSES


@cache
def cleaner() -> Callable[[Record], Any]:
    settings = Settings()
    return pipeline.cleaning(settings, pipeline.models(settings))


def is_decoded(content: bytes) -> None:
    """Any bytes with any charset label are decoded: the markup is UTF-8, and its charset has a name."""
    label = LABELS[content[0] % len(LABELS)] if content else None
    markup, charset, *_ = as_utf8(content[1:], label)
    markup.decode()
    assert charset


@cache
def twin(name: str) -> Any:
    """A module of the package made from its source, which works with uncompiled kernels."""
    return from_source(name)


@cache
def slow_segment() -> ModuleType:
    made: ModuleType = twin("html.segment")
    made.__dict__.update(markup=twin("kernels.markup"), content=twin("kernels.content"), views=views)
    return made


def scans_as_uncompiled(content: bytes) -> None:
    """Segmentation is the same compiled and uncompiled, also of html that is not canonical."""
    lone = "\ud800" if content[:1] == b"\xed" else ""
    html = lone + content[:600].decode("utf-8", "replace")
    assert same(slow_segment().segment(html), segment(html))


def precleans_as_uncompiled(content: bytes) -> None:
    """Dropping of textless elements is the same compiled and uncompiled."""
    html = as_text(content[1:800])
    assert twin("kernels.source").drop_textless(html) == source.drop_textless(html)


def halves(content: bytes) -> tuple[str, str]:
    """Two texts of few letters."""
    letters_there = content[0] % 6 + 2 if content else 2
    text = "".join(chr(ord("a") + byte % letters_there) for byte in content[2:300])
    cut = content[1] * len(text) // 256 if len(content) > 1 else 0
    return text[:cut], text[cut:]


def matches_as_difflib(content: bytes) -> None:
    """Matching blocks match what those of difflib match."""
    a, b = halves(content)
    theirs = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    expected, found = (
        sorted((i + k, j + k) for i, j, length in blocks for k in range(length))
        for blocks in (theirs, cleaneval.matching_blocks(a, b).tolist())
    )
    assert found == expected
    assert cleaneval.overlap(a, b).n_common == len(expected)


def aligns_optimally(content: bytes) -> None:
    """The alignment is as good as that of the dense dynamic programme."""
    a, b = halves(content[:60])
    matched = match([*a], [*b])
    assert score(matched.tolist()) == best_score([*a], [*b])
    assert all(a[i] == b[j] for i, j in enumerate(matched.tolist()) if j >= 0)


GAPS: Final = (" ", "\n", "", "\u00a0 \n")
SPOKEN: Final = ("a", "b", "(c)", "12:30", "7", "<p", ">", "</p", "#x", "ab")


def finds_what_expressions_find(content: bytes) -> None:
    """Templates cover what Python's `re` finds with their expressions."""
    numbers = iter(content)
    view = ("text", "html")[next(numbers, 0) % 2]
    near = next(numbers, 0) % 4
    pairs = []
    for _ in range(next(numbers, 0) % 6):
        anchors = next(numbers, 0) % 4
        pieces = [PIECES[next(numbers, 0) % len(PIECES)] for _ in range(2 + next(numbers, 0) % 3)]
        pairs.append((pieces, template_patterns.glue(pieces, anchors, TOKENISERS[view])))
    text = "".join(SPOKEN[n % len(SPOKEN)] + GAPS[n // 16 % len(GAPS)] for n in [*numbers][:200])
    found = Matcher(pairs, view, near=near).intervals(text)
    assert found.tolist() == by_expressions(text, [regex for _, regex in pairs], near).tolist()


def repeats_are_those_of_the_definition(content: bytes) -> None:
    """The suffix array is sorted, classes are the maximal repeats."""
    pages = [np.array([*part], dtype=np.int32) % 3 for part in content[1:40].split(b"\xff")]
    ground = corpus(pages, 3)
    places, text = suffix_array(ground.symbols), ground.symbols.tolist()
    assert places.tolist() == sorted(range(len(text)), key=lambda place: text[place:])
    least = content[0] % 3 + 1 if content else 1
    edges = np.zeros(len(text), dtype=np.uint8)
    found = repeats(ground, edges, least_length=least, least_documents=1)
    assert sorted(strings(ground, found)) == sorted(by_definition(pages, least, 1))


@cache
def profiles() -> Profiles:
    return Profiles.load(built.ROOT / "models" / "langid" / "profiles.npz")


def languages_score_as_uncompiled(content: bytes) -> None:
    """Folding of letters and the scores of all languages are the same compiled and uncompiled."""
    texts = as_text(content[:200]).split("\n")
    shipped, lanes = profiles(), lanes_there()
    words = normalise.folded(*normalise.joined(texts))
    n = len(texts)
    tables = scores.trigram_table(shipped), scores.lane_table(shipped, lanes)
    ranks = scores.rank_table(shipped, lanes, True)
    outputs = []
    for kernel in (ngrams, twin("kernels.ngrams")):
        gains, n_gains = np.zeros((2, n, len(shipped.languages)), np.int32), np.zeros((2, n), np.int32)
        for found, n_found, table in zip(gains, n_gains, tables, strict=True):
            columns = views(words[0], normalise.folding_table(), *words[1:], table.slots, table.entries)
            kernel.score_trigrams(*columns, 64, *views(found, n_found))
        distances, n_ngrams = np.zeros((n, ranks.ranks.shape[1]), np.uint16), np.zeros(n, np.int32)
        counts, seen = np.zeros(len(ranks.ranks), np.int32), np.zeros(len(ranks.ranks), np.int32)
        scratch = (counts, seen, np.zeros(9, np.int32), np.zeros(9, np.int32))
        of_ranks = views(*words, ranks.slots, ranks.roots, ranks.ranks)
        kernel.rank_distances(*of_ranks, 64, *views(*scratch, distances, n_ngrams))
        outputs.append((gains, n_gains, distances, n_ngrams))
    for mine, theirs in zip(*outputs, strict=True):
        assert (mine == theirs).all()


@cache
def lanes_there() -> tuple[str, ...]:
    return scores.lanes_of(profiles(), ("cs",))


def decodes_as_all_sequences(content: bytes) -> None:
    """Marginals are those of all label sequences."""
    n = content[0] % 5 + 1 if content else 1
    numbers = (np.frombuffer(content[1:].ljust(3 * n + 9, b"\0"), np.uint8)[: 3 * n + 9] - 128.0) / 16
    states, transitions = numbers[: 3 * n].reshape(-1, 3).copy(), numbers[3 * n :].reshape(3, 3).copy()
    sequences = np.array(list(product(range(3), repeat=n)))
    scores = states[range(n), sequences].sum(axis=1)
    scores += transitions[sequences[:, :-1], sequences[:, 1:]].sum(axis=1)
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    expected = np.array([[weights[sequences[:, i] == label].sum() for label in range(3)] for i in range(n)])
    marginals = np.empty((n, 3))
    crf.forward_backward(*map(memoryview, (states.copy(), transitions, marginals)))
    np.testing.assert_allclose(marginals, expected, atol=1e-9)


def bytes_are_what_python_says(content: bytes) -> None:
    """The beginnings of iframes, and the check for UTF-8, equal those in Python."""
    view = memoryview(content)
    assert source.is_utf8(view) == (content.decode("utf-8", "replace").encode() == content)
    for start in range(0, len(content) + 1, 7):
        assert source.find(view, b"<iframe", 2, start) == content.find(b"<iframe", start)


def letters_count_as_uncompiled(content: bytes) -> None:
    """The census of letters and the words of doubtful ones are the same compiled and uncompiled."""
    points, results = code_points(as_text(content[:400])), []
    for kernel in (letters, twin("kernels.letters")):
        counts, kinds = np.zeros(8, dtype=np.int32), np.empty(len(points), dtype=np.uint8)
        kernel.census(*map(memoryview, (points, repair.beginnings(), counts)))
        n_doubtful = kernel.tell_kinds(*map(memoryview, (points, normalise.folding_table(), kinds)))
        words = np.zeros(len(points), dtype=np.uint32)
        views = [memoryview(points), memoryview(kinds)]
        ends = [kernel.words_with(*views, *wanted, memoryview(words)) for wanted in ((12, 2), (16, 1))]
        results.append((counts.tolist(), kinds.tolist(), n_doubtful, words.tolist(), ends))
    assert results[0] == results[1]


def tokens_are_matches(content: bytes) -> None:
    """The tokens of a text are the matches of the tokenisation expression."""
    text = as_text(content)
    for view, expression in EXPRESSIONS.items():
        found = spans(text, TOKENISERS[view])
        pairs = list(zip(found.starts.tolist(), found.ends.tolist(), strict=True))
        assert pairs == [match.span() for match in re.finditer(expression, text)]


TARGETS: Final = {
    "parse": Target(reads_as_the_library, "html", 16000),
    "blocks": Target(blocks_are_the_visible_text, "html", 12000),
    "clean": Target(is_cleaned, "html", 2500),
    "charset": Target(is_decoded, "text", 20000),
    "scan": Target(scans_as_uncompiled, "html", 800),
    "preclean": Target(precleans_as_uncompiled, "html", 4000),
    "matching": Target(matches_as_difflib, "text", 4000),
    "alignment": Target(aligns_optimally, "text", 5000),
    "matcher": Target(finds_what_expressions_find, "text", 5000),
    "repeats": Target(repeats_are_those_of_the_definition, "text", 800),
    "languages": Target(languages_score_as_uncompiled, "text", 500),
    "crf": Target(decodes_as_all_sequences, "text", 5000),
    "source": Target(bytes_are_what_python_says, "html", 12000),
    "letters": Target(letters_count_as_uncompiled, "text", 2500),
    "tokens": Target(tokens_are_matches, "html", 8000),
}
"""By name; those that run uncompiled code get fewer inputs."""

NAMES: Final = (*INLINE, *BLOCK_LEVEL, *ODD, *VOID)
WORDS: Final = tuple(
    word.encode("utf-8", "surrogatepass")
    for word in (
        *HOSTILE,
        *(f"<{name}>" for name in NAMES),
        *(f"</{name}>" for name in NAMES),
        *("<meta charset=", "<p ", ' a="', "='", "&#", "<!--", "-->", "<![CDATA[", "\n", "\u0301", "\ufeff"),
    )
)
"""The words that mutation inserts."""


def seeds(target: Target) -> Iterator[bytes]:
    """The corpus of a target."""
    for path in sorted(Path(__file__).with_name("corpus").joinpath(target.corpus).iterdir()):
        yield path.read_bytes()


if __name__ == "__main__":
    for name in sys.argv[2:]:
        TARGETS[sys.argv[1]].check(Path(name).read_bytes())
        print(f"{sys.argv[1]} is right on {name}")
