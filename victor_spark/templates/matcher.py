"""Which parts of a text are templates: all of a site's templates as one automaton over tokens.

The rule: every template is sought in the whole text, as `re.finditer` would seek its expression (the
order of templates doesn't matter); the intervals of all matches are united, and those that at most
`near` characters separate are one (Foschini, section 3.4.1).
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from victor_spark.blocks import Int32
from victor_spark.templates import regexes
from victor_spark.templates.tokens import TOKENISERS, Vocabulary, spans, words
from victor_spark.templates.trie import Trie, trie

NEAR: Final = 10
"""Intervals at most so many characters apart are one."""
MOST_WORDS: Final = 1 << 18
"""So many distinct tokens of texts are remembered; then the matcher forgets them and starts afresh."""


class Matcher:
    """The templates of one site, ready to be applied to texts of `view`.

    `templates`: each one's tokens and expression (Template.tokens, Template.regex). Not safe to share
    between threads; it remembers the tokens of texts it has seen.
    """

    def __init__(
        self, templates: Iterable[tuple[Sequence[str], str]], view: str = "text", *, near: int = NEAR
    ) -> None:
        self._tokeniser = TOKENISERS[view]
        self._near = near
        self._symbols: dict[str, int] = {}
        rows = [(tuple(tokens), regexes.anchors_of(regex, self._tokeniser)) for tokens, regex in templates]
        strings = [
            tuple(self._symbols.setdefault(token, len(self._symbols)) for token in row) for row, _ in rows
        ]
        self._trie: Trie = trie(strings, [anchors for _, anchors in rows])
        spoken = {token: regexes.said_literally(token) for token in self._symbols}
        self._literals = {word: self._symbols[token] for token, word in spoken.items() if word is not None}
        mutable = [token for token, word in spoken.items() if word is None]
        self._mutable = [(self._symbols[token], re.compile(token)) for token in mutable]
        self._any_mutable = re.compile("|".join(mutable) or "(?!)")
        self._forget()

    def intervals(self, text: str) -> Int32:
        """Shape (n, 2): ordered, disjoint code point intervals that templates cover, near ones merged."""
        found = spans(text, self._tokeniser)
        ids, new = self._vocabulary.number(found)
        self._learn(words(text, found, new))
        covered = self._trie.covered(self._sets[ids], found.edges, self._set_heads, self._set_symbols)
        (begin,) = np.nonzero(covered)
        merged = unite(found.starts[begin], found.ends[covered[begin] - 1], self._near)
        if self._vocabulary.n > MOST_WORDS:
            self._forget()
        return merged

    def _forget(self) -> None:
        self._vocabulary = Vocabulary()
        self._sets = np.zeros(1 << 10, dtype=np.int32)
        self._known_sets: dict[tuple[int, ...], int] = {(): 0}
        self._set_heads = np.zeros(2, dtype=np.int32)
        self._set_symbols = np.empty(0, dtype=np.int32)

    def _learn(self, new: Sequence[str]) -> None:
        """Notes for tokens never seen before which of the templates' symbols they are."""
        numbers = [self._set_number(word) for word in new]
        n = self._vocabulary.n
        if n > len(self._sets):
            self._sets = np.concatenate([self._sets, np.zeros(max(n, len(self._sets)), dtype=np.int32)])
        self._sets[n - len(new) : n] = numbers
        if len(self._known_sets) >= len(self._set_heads):
            members = list(self._known_sets)
            self._set_heads = np.cumsum([0, *map(len, members)]).astype(np.int32)
            self._set_symbols = np.array([s for symbols in members for s in symbols], dtype=np.int32)

    def _set_number(self, word: str) -> int:
        literal = self._literals.get(word)
        symbols: tuple[int, ...] = () if literal is None else (literal,)
        if self._any_mutable.fullmatch(word):
            symbols += tuple(symbol for symbol, pattern in self._mutable if pattern.fullmatch(word))
        return self._known_sets.setdefault(symbols, len(self._known_sets))


def unite(starts: Int32, ends: Int32, near: int) -> Int32:
    """Shape (n, 2): the union of intervals, ordered by their starts; those at most `near` apart are one."""
    if not len(starts):
        return np.empty((0, 2), dtype=np.int32)
    reached = np.maximum.accumulate(ends)
    apart = np.flatnonzero(starts[1:] - reached[:-1] > near) + 1
    first = np.concatenate([[0], apart])
    last = np.concatenate([apart, [len(starts)]]) - 1
    return np.stack([starts[first], reached[last]], axis=1).astype(np.int32)


def remove(text: str, intervals: Int32) -> str:
    """`text` without the intervals."""
    kept, position = [], 0
    for start, end in intervals.tolist():
        kept.append(text[position:start])
        position = end
    return "".join(kept) + text[position:]


def by_expressions(text: str, expressions: Iterable[str], near: int = NEAR) -> Int32:
    """What `Matcher.intervals` gives, by Python's `re`, one expression after the other: the rule itself."""
    matches = sorted(match.span() for regex in expressions for match in re.finditer(regex, text))
    columns = np.array(matches, dtype=np.int32).reshape(-1, 2)
    return unite(columns[:, 0], columns[:, 1], near)
