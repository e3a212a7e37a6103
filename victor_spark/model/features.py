"""Feature sets, and their tables: features become bins, and bins attributes of a CRF (Victor, section 3.1).

A published name means one list of features for ever: a change makes a new name. A new feature is a row of a
set with a new name (FEATURE_SETS), whose file in conf/features/ names the set that it extends as `base`.
There, a feature needs a row only if it has bins.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from victor_spark import configuration
from victor_spark.blocks import Blocks, Float32
from victor_spark.errors import ConfigurationError, ModelError, suggestion
from victor_spark.html.tags import words
from victor_spark.kernels import crf as kernel
from victor_spark.kernels import views
from victor_spark.model import surroundings, victor_2008
from victor_spark.model.surroundings import Fill
from victor_spark.model.trees import TreesOptions
from victor_spark.model.victor_2008 import Patterns, compile_patterns
from victor_spark.model.weights import FEATURES, Weights
from victor_spark.resources import directory

Strip: TypeAlias = Callable[[int, int], Float32]
"""Gives the features of a range of blocks: from the first argument to the second, which is excluded."""
Guess: TypeAlias = Callable[[Float32], Float32]
"""Gives each block's log-odds of content from the values of the other features."""


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """The features of blocks: their own names, and what fills their rows for a page with at least one block.

    If the set `is_learnt`, features of trained weights follow, then the score of trees on all others.
    """

    own: tuple[str, ...]
    rows_of: Callable[[Blocks, Patterns], Fill]
    is_learnt: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The features in the order of their rows."""
        return (*self.own, *FEATURES, SCORE) if self.is_learnt else self.own


SCORE: Final = "score"
"""The feature that trees compute from the others: the log-odds of content."""

LANGUAGE: Final = frozenset({"langid1", "langid2"})
"""Features that need language profiles. They do not improve victor-2008 on our pages (docs/quality.md)."""

FEATURE_SETS: Final[Mapping[str, FeatureSet]] = {
    "victor-2008": FeatureSet(victor_2008.NAMES, victor_2008.rows_of),
    "victor-2": FeatureSet(surroundings.NAMES, surroundings.rows_of, is_learnt=True),
    "victor-3": FeatureSet(surroundings.NAMES, surroundings.rows_of, is_learnt=True),
}

Conjunction = tuple[tuple[int, int], ...]
"""(feature index, offset) of each part."""

MAX_BINS = 255


@dataclass(frozen=True)
class FeatureTable:
    """One feature set with its bins, offsets, conjunctions and patterns; features in the order stored."""

    feature_set: str
    names: tuple[str, ...]
    edges: tuple[tuple[float, ...], ...]
    offsets: tuple[tuple[int, ...], ...]
    conjunctions: tuple[Conjunction, ...]
    expressions: Mapping[str, list[str]]
    trees: TreesOptions
    patterns: Patterns = field(compare=False, repr=False, default_factory=dict)
    elements: tuple[str, ...] = ()
    """The model's vocabulary of elements: the columns of its weights of origins, where it has any."""
    silent: tuple[int, ...] = ()
    """Features that training may not use (`train.crf.without`). Not stored."""

    @property
    def reach(self) -> int:
        """The number of blocks on each side that the feature template reaches."""
        return max((abs(offset) for offsets in self.offsets for offset in offsets), default=0)

    def n_bins(self, feature: int) -> int:
        """How many bins a feature has: one more than edges."""
        return len(self.edges[feature]) + 1

    def strides(self, number: int) -> list[int]:
        """The amount that a bin of each part adds to the code of a conjunction, whose digits are the bins."""
        steps = [1]
        for feature, _ in reversed(self.conjunctions[number][1:]):
            steps.append(steps[-1] * self.n_bins(feature))
        return steps[::-1]

    @property
    def is_learnt(self) -> bool:
        """Whether models of this table have weights and trees beside the CRF."""
        return FEATURE_SETS[self.feature_set].is_learnt

    def values(self, blocks: Blocks, weights: Weights | None = None, guess: Guess | None = None) -> Float32:
        """The features of all blocks, those of weights and guess where given: (n_features, n_blocks)."""
        if not len(blocks):
            return np.empty((len(self.names), 0), dtype=np.float32)
        return self.strips(blocks, weights, guess)(0, len(blocks))

    def strips(
        self, blocks: Blocks, weights: Weights | None = None, guess: Guess | None = None, n_more: int = 0
    ) -> Strip:
        """A function of a range of blocks (a strip) that gives their values; the page has at least one block.

        All values of a large page may take much memory. Without `weights`, their features and the score are
        left out; without `guess`, the score is. With `guess`, there is room for `n_more` rows below.
        """
        features = FEATURE_SETS[self.feature_set]
        fills = [(len(features.own), features.rows_of(blocks, self.patterns))]
        if not self.is_learnt:
            weights = guess = None
        if weights is not None:
            fills.append((len(FEATURES), weights.rows_of(blocks)))
        n_values = sum(n_rows for n_rows, _ in fills)

        def strip(first: int, end: int) -> Float32:
            n_rows = n_values if guess is None else n_values + 1 + n_more
            rows = np.empty((n_rows, end - first), dtype=np.float32)
            n_known = 0
            for n_of_part, fill in fills:
                fill(first, rows[n_known : n_known + n_of_part])
                n_known += n_of_part
            if guess is not None:
                rows[n_known] = guess(rows[:n_known])
            return rows

        return strip

    def bins(self, values: Float32) -> npt.NDArray[np.uint8]:
        """The bins of these values, 0 for features without edges: shape (n_features, n_blocks)."""
        codes = np.zeros((len(self.names), values.shape[1]), dtype=np.uint8)
        flat, first = self._flat_edges
        kernel.bins(*views(values, flat, first, codes))
        return codes

    @cached_property
    def _flat_edges(self) -> tuple[Float32, npt.NDArray[np.int32]]:
        flat = np.array([edge for of_feature in self.edges for edge in of_feature], dtype=np.float32)
        return flat, np.cumsum([0, *map(len, self.edges)]).astype(np.int32)

    def as_json(self) -> dict[str, Any]:
        """The table as it is stored inside a model."""
        stored = {
            "feature_set": self.feature_set,
            "features": {
                name: {"edges": list(self.edges[row]), "offsets": list(self.offsets[row])}
                for row, name in enumerate(self.names)
            },
            "conjunctions": [
                [f"{self.names[feature]}@{offset}" for feature, offset in parts]
                for parts in self.conjunctions
            ],
            "patterns": self.expressions,
        }
        if self.is_learnt:
            stored |= {"trees": asdict(self.trees), "words": words().digest}
            stored["elements"] = " ".join(self.elements)
        return stored


def from_conf(feature_set: str) -> FeatureTable:
    """The table of conf/features/<feature_set>.toml with conf/patterns.toml.

    A file that names a `base` has its features and conjunctions, too. In a set with trees, which see all
    features, those without bins need not be listed.
    """
    conf = directory("conf")
    path = conf / "features" / f"{feature_set}.toml"
    if not path.is_file():
        near = suggestion(feature_set, FEATURE_SETS)
        raise ConfigurationError(f"no feature set {feature_set!r}{near or f': {path} is missing'}")
    stored = {"feature_set": feature_set, "patterns": configuration.toml(conf / "patterns.toml")}
    stored |= _with_base(path)
    known, with_bins = FEATURE_SETS.get(feature_set), stored.get("features")
    if known is not None and known.is_learnt and isinstance(with_bins, dict):
        stored["features"] = dict.fromkeys(known.names, _NO_BINS) | with_bins
    return from_json(stored, ConfigurationError)


def _with_base(path: Path) -> dict[str, Any]:
    own = configuration.toml(path)
    if (base := own.pop("base", None)) is None:
        return own
    of_base = _with_base(path.with_name(f"{base}.toml"))
    return {
        **of_base,
        **own,
        "features": of_base["features"] | own.get("features", {}),
        "conjunctions": [*of_base["conjunctions"], *own.get("conjunctions", [])],
    }


def from_json(stored: Mapping[str, Any], error: type[Exception] = ModelError) -> FeatureTable:
    """The table from the result of `as_json` or from conf/; raises `error` if it doesn't fit the code."""
    try:
        feature_set, features = stored["feature_set"], stored["features"]
        strange = {f"{name}.{key}" for name, of in features.items() for key in of if key not in _FEATURE_KEYS}
        if strange := strange | stored.keys() - _KEYS:
            raise error(f"feature set {feature_set}: unknown key {', '.join(sorted(strange))}")
        names, known = tuple(features), FEATURE_SETS[feature_set].names
        if names != known:
            unlike = sorted(set(names) ^ set(known)) or ["the order"]
            raise error(f"feature set {feature_set}: code and table differ in {', '.join(unlike)}")
        edges = tuple(tuple(map(float, features[name]["edges"])) for name in names)
        offsets = tuple(tuple(map(int, features[name]["offsets"])) for name in names)
        conjunctions = tuple(
            tuple((names.index(name), int(by)) for name, _, by in (part.rpartition("@") for part in parts))
            for parts in stored["conjunctions"]
        )
        expressions = {family: list(of_family) for family, of_family in stored["patterns"].items()}
        patterns = compile_patterns(expressions)
        trees = TreesOptions.from_json(stored.get("trees", {}))
        elements = stored["elements"] if FEATURE_SETS[feature_set].is_learnt else ()
        elements = tuple(elements.split(" ") if isinstance(elements, str) else elements)
    except ConfigurationError as problem:
        raise error(str(problem)) from problem
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise error(f"feature table: {problem!r}") from problem
    if any(list(row) != sorted(set(row)) or len(row) > MAX_BINS for row in edges):
        raise error(f"feature set {feature_set}: bin edges must ascend, {MAX_BINS} at most")
    if any(len(set(row)) < len(row) for row in offsets) or not all(conjunctions):
        raise error(f"feature set {feature_set}: an offset is repeated, or a conjunction has no parts")
    if stored.get("words", ours := words().digest) != ours:
        raise error(f"feature set {feature_set}: not trained with conf/words.toml as it is: train it again")
    return FeatureTable(
        feature_set, names, edges, offsets, conjunctions, expressions, trees, patterns, elements
    )


_KEYS: Final = frozenset(
    {"feature_set", "features", "conjunctions", "patterns", "trees", "words", "elements"}
)
_NO_BINS: Final[Mapping[str, list[float]]] = {"edges": [], "offsets": []}
_FEATURE_KEYS: Final = frozenset(_NO_BINS)
