"""Finds templates in a text: all templates of a site as one automaton over tokens.

The rule: every template is searched in the whole text, as `re.finditer` finds its expression (the
order of templates doesn't matter); the intervals of all matches are united, and those that at most
NEAR characters separate are merged (Foschini, section 3.4.1).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from victor_spark.blocks import Int32, UInt8, unite
from victor_spark.kernels import tokens as kernel
from victor_spark.kernels import views
from victor_spark.templates import patterns
from victor_spark.templates.tokens import TEXT, TOKENISERS, Vocabulary, spans, words

NEAR: Final = 10
"""Intervals that at most this number of characters separate are merged."""
MOST_WORDS: Final = 1 << 18
"""The most distinct tokens that a matcher stores; with more, all are deleted."""


class Matcher:
    """The templates of one site, ready to be applied to texts of `view`.

    `templates`: tokens and expressions. Not for several threads: it stores the tokens of earlier texts.
    """

    def __init__(
        self, templates: Iterable[tuple[Sequence[str], str]], view: str = TEXT, *, near: int = NEAR
    ) -> None:
        self._tokeniser = TOKENISERS[view]
        self._near = near
        symbols, strings, anchors = dict[str, int](), [], []
        for tokens, regex in templates:
            strings.append(tuple(symbols.setdefault(token, len(symbols)) for token in tokens))
            anchors.append(patterns.anchors_of(regex, self._tokeniser))
        self._trie = trie(strings, anchors)
        literals = {token: patterns.literal_token(token) for token in symbols}
        self._literals = {word: symbols[token] for token, word in literals.items() if word is not None}
        mutable = [token for token, word in literals.items() if word is None]
        self._mutable = [(symbols[token], re.compile(token)) for token in mutable]
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
        """Records which symbols of the templates the new tokens match."""
        numbers, n = [], self._vocabulary.n
        for word in new:
            literal = self._literals.get(word)
            symbols: tuple[int, ...] = () if literal is None else (literal,)
            if self._any_mutable.fullmatch(word):
                symbols += tuple(symbol for symbol, pattern in self._mutable if pattern.fullmatch(word))
            numbers.append(self._known_sets.setdefault(symbols, len(self._known_sets)))
        if n > len(self._sets):
            self._sets = np.concatenate([self._sets, np.zeros(max(n, len(self._sets)), dtype=np.int32)])
        self._sets[n - len(new) : n] = numbers
        if len(self._known_sets) >= len(self._set_heads):
            members = list(self._known_sets)
            self._set_heads = np.cumsum([0, *map(len, members)]).astype(np.int32)
            self._set_symbols = np.array([s for symbols in members for s in symbols], dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Trie:
    """Many strings of symbols, searched together: the arrays of kernels.tokens; `stack` is its work space."""

    heads: Int32
    children: Int32
    symbols: Int32
    strings: Int32
    following: Int32
    anchors: UInt8
    stack: Int32

    def covered(
        self, sets: Int32, edges: UInt8, set_heads: Int32, set_symbols: Int32, before: int | None = None
    ) -> Int32:
        """For each token, the token before which the longest match that starts there ends (0: none starts).

        Token i is any of the symbols set_symbols[set_heads[s]:set_heads[s + 1]] with s = sets[i]. Only
        strings numbered less than `before` are searched.
        """
        last, covered = np.zeros(len(self.anchors), dtype=np.int32), np.empty(len(sets), dtype=np.int32)
        tokens = (sets, edges, set_heads, set_symbols)
        tree = (self.heads, self.children, self.symbols, self.strings, self.following, self.anchors)
        limit = len(self.anchors) if before is None else before
        work = (last, self.stack, covered)
        kernel.spans(*views(*tokens, *tree), limit, *views(*work))
        return covered


def trie(strings: Sequence[tuple[int, ...]], anchors: Sequence[int]) -> Trie:
    """The trie of strings; equal ones, differently anchored, share a path."""
    nodes = dict[tuple[int, int], int]()  # of a parent and a symbol
    ends = []
    for string in strings:
        node = 0
        for symbol in string:
            node = nodes.setdefault((node, symbol), len(nodes) + 1)
        ends.append(node)
    n = len(nodes) + 1
    held, following = np.full(n, -1, dtype=np.int32), np.full(len(strings), -1, dtype=np.int32)
    for number in reversed(range(len(strings))):
        following[number], held[ends[number]] = held[ends[number]], number
    ordered = sorted(nodes)
    edges = np.array(ordered, dtype=np.int32).reshape(-1, 2)
    return Trie(
        heads=np.searchsorted(edges[:, 0], np.arange(n + 1)).astype(np.int32),
        children=np.array([nodes[edge] for edge in ordered], dtype=np.int32),
        symbols=edges[:, 1].copy(),
        strings=held,
        following=following,
        anchors=np.array(anchors, dtype=np.uint8),
        stack=np.empty((2, n + 1), dtype=np.int32),
    )
