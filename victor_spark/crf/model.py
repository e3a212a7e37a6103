"""A trained CRF as dense arrays: read from CRFsuite's binary file, stored as one .npz, no pickles."""

import io
import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pycrfsuite

from victor_spark.crf import attributes, revision, trees
from victor_spark.crf import weights as of_weights
from victor_spark.crf.feature_sets import Strip
from victor_spark.crf.names import Names
from victor_spark.crf.origins import Origins
from victor_spark.crf.table import FeatureTable, from_json
from victor_spark.crf.trees import Trees
from victor_spark.crf.weights import Weights
from victor_spark.errors import ModelError
from victor_spark.page import LABELS, Blocks, Bool, Float32, Float64, Int32

FORMAT: Final = 4
FILE_NAME: Final = "weights.npz"
CRFSUITE_NAME: Final = "model.crfsuite"

_TREES: Final = ("first", "last")

_HEADER: Final = struct.Struct("<4sI4sIIIIIIIII")
_FEATURE: Final = np.dtype([("type", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])


@dataclass(frozen=True)
class Model:
    """Weights ready for the decoder, with the feature table they were trained on.

    singles: (n_features, n bins, 2 reach + 1, 3); boundary: (2 reach + 1, 3); bias: (3,);
    transitions: (from, to); conjunctions: see kernels.crf.state_scores. `weights`, and the trees before
    and after the CRF, `first` and `last`, are there where the table needs them.
    """

    table: FeatureTable
    singles: Float64
    boundary: Float64
    bias: Float64
    transitions: Float64
    conjunctions: Int32
    conjunction_weights: Float64
    weights: Weights | None
    first: Trees | None
    last: Trees | None
    about: Mapping[str, Any]

    def values(self, blocks: Blocks) -> Float32:
        """All features of all blocks: shape (n_features, n_blocks)."""
        return self.table.values(blocks, self.weights, self.first)

    def strips(self, blocks: Blocks) -> Strip:
        """The same for some blocks at a time, of a page with at least one."""
        return self.table.strips(blocks, self.weights, self.first)


_ARRAYS: Final = (
    "singles",
    "boundary",
    "bias",
    "transitions",
    "conjunctions",
    "conjunction_weights",
)


def to_bytes(model: Model) -> bytes:
    """The model as one .npz."""
    stored = {
        "format": FORMAT,
        "table": model.table.as_json(),
        "about": dict(model.about),
    }
    arrays = {name: getattr(model, name) for name in _ARRAYS}
    if (weights := model.weights) is not None:
        learnt = (weights.names.words, weights.names.weights, weights.origins.weights)
        arrays |= dict(zip(_LEARNT, learnt, strict=True))
    for place in _TREES:
        if (grown := getattr(model, place)) is not None:
            arrays |= {f"{place}_{name}": getattr(grown, name) for name in trees.ARRAYS}
    buffer = io.BytesIO()
    description = np.frombuffer(json.dumps(stored, ensure_ascii=False).encode(), dtype=np.uint8)
    np.savez_compressed(buffer, description=description, **arrays)
    return buffer.getvalue()


def from_bytes(stored: bytes, name: str = "model") -> Model:
    """The model in `stored`; ModelError when it is damaged or doesn't fit this code."""
    try:
        with np.load(io.BytesIO(stored), allow_pickle=False) as arrays:
            description = json.loads(arrays["description"].tobytes())
            columns = {key: np.ascontiguousarray(arrays[key]) for key in _ARRAYS}
            weights = _learnt(arrays)
            grown = {place: _trees(arrays, place) for place in _TREES}
            stated = description["format"]
    except Exception as error:  # numpy and zipfile raise whatever the damage leads them to
        reason = " ".join(str(error).split()).partition(". ")[0]  # numpy goes on with unsafe advice
        raise ModelError(f"{name}: not a model of victor-spark ({reason})") from error
    if stated != FORMAT:
        raise ModelError(f"{name}: model format {stated!r}, this code reads {FORMAT}")
    try:
        table = from_json(description["table"])
        _check(table, columns)
        _check_weights(table, weights)
        _check_trees(table, grown)
    except (KeyError, ModelError) as error:
        raise ModelError(f"{name}: {error}") from error
    return Model(
        table=table,
        weights=weights,
        first=grown["first"],
        last=grown["last"],
        about=description.get("about", {}),
        **columns,
    )


_LEARNT: Final = ("name_words", "name_weights", "origin_weights")


def _learnt(arrays: Mapping[str, npt.NDArray[Any]]) -> Weights | None:
    if not set(_LEARNT) <= arrays.keys():  # an older model: its table says so better
        return None
    words, weights, of_origins = (np.ascontiguousarray(arrays[name]) for name in _LEARNT)
    return Weights(Names(words, weights), Origins(of_origins))


def _trees(arrays: Mapping[str, npt.NDArray[Any]], place: str) -> Trees | None:
    names = {name: f"{place}_{name}" for name in trees.ARRAYS}
    if not arrays.keys() & set(names.values()):
        return None
    return Trees(**{name: np.ascontiguousarray(arrays[stored]) for name, stored in names.items()})


def _check_weights(table: FeatureTable, weights: Weights | None) -> None:
    """Raises ModelError for a model without its learnt weights, or with some that nobody asks for."""
    if (weights is not None) != table.is_learnt:
        raise ModelError(
            "the model's learnt weights are missing" if weights is None else "weights without use"
        )
    if weights is not None:
        of_weights.check(weights)


def _check_trees(table: FeatureTable, grown: Mapping[str, Trees | None]) -> None:
    """Raises ModelError for a model without its trees, or with those of another feature table."""
    n_features = {"first": len(table.names) - 1, "last": len(table.names) + revision.N_ADDED}
    for place, found in grown.items():
        if (found is not None) != table.is_learnt:
            raise ModelError(
                f"the model's {place} trees are missing" if found is None else "trees without use"
            )
        if found is not None:
            trees.check(found, n_features[place])


def _check(table: FeatureTable, columns: Mapping[str, npt.NDArray[Any]]) -> None:
    """Raises ModelError for weights that don't belong to the table: the decoder trusts them."""
    n_labels, width = len(LABELS), 2 * table.reach + 1
    rows, n_weights = _conjunction_rows(table)
    shapes = {
        "singles": (len(table.names), _most_bins(table), width, n_labels),
        "boundary": (width, n_labels),
        "bias": (n_labels,),
        "transitions": (n_labels, n_labels),
        "conjunction_weights": (n_weights, n_labels),
    }
    for name, shape in shapes.items():
        if (weights := columns[name]).shape != shape:
            raise ModelError(f"{name} of shape {weights.shape}, the table needs {shape}")
        if weights.dtype != np.float64 or not np.isfinite(weights).all():
            raise ModelError(f"{name} are not finite 64-bit numbers")
    if columns["conjunctions"].dtype != np.int32 or not np.array_equal(columns["conjunctions"], rows):
        raise ModelError("conjunctions are not those of the table")


def _most_bins(table: FeatureTable) -> int:
    return max(map(table.n_bins, range(len(table.names))))


def read_bytes(path: Path) -> bytes:
    """The bytes of a model directory's weights (or of the file itself)."""
    file = path / FILE_NAME if path.is_dir() else path
    try:
        return file.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: no model there ({error.strerror or error})") from error


def from_crfsuite(
    path: Path,
    table: FeatureTable,
    about: Mapping[str, Any],
    weights: Weights | None = None,
    first: Trees | None = None,
) -> Model:
    """Dense weights of a model that python-crfsuite trained on `attributes.sequences(table, …)`."""
    states, transitions, known = _weights(path)
    reach = table.reach
    none = np.zeros(len(LABELS))
    singles = np.zeros((len(table.names), _most_bins(table), 2 * reach + 1, len(LABELS)))
    for feature, offsets in enumerate(table.offsets):
        for offset in offsets:
            for code in range(1, table.n_bins(feature)):
                name = attributes.single_name(table, feature, offset, code)
                singles[feature, code, offset + reach] = states.get(name, none)
    boundary = [states.get(attributes.boundary_name(offset), none) for offset in range(-reach, reach + 1)]
    rows, of_rows = _conjunctions(table, states)
    return Model(
        table=table,
        singles=singles,
        boundary=np.array(boundary),
        bias=states.get(attributes.BIAS, none) + np.where(known, 0.0, NEVER),
        transitions=transitions,
        conjunctions=rows,
        conjunction_weights=of_rows,
        weights=weights,
        first=first,
        last=None,
        about=about,
    )


def state_weights(path: Path) -> dict[str, Float64]:
    """The weights of every attribute in CRFsuite's own file, one per label, 0 where it has none."""
    return _weights(path)[0]


def _conjunctions(table: FeatureTable, states: Mapping[str, Float64]) -> tuple[Int32, Float64]:
    rows, n_weights = _conjunction_rows(table)
    weights = np.zeros((n_weights, len(LABELS)))
    borders = [*rows[:, 0].tolist(), n_weights]
    for number, (first, end) in enumerate(pairwise(borders)):
        for code in range(end - first):
            weights[first + code] = states.get(attributes.conjunction_name(number, code), 0.0)
    return rows, weights


def _conjunction_rows(table: FeatureTable) -> tuple[Int32, int]:
    """The rows that kernels.crf.state_scores reads, and how many weights they point to."""
    width = 2 + 3 * max((len(parts) for parts in table.conjunctions), default=0)
    rows = np.zeros((len(table.conjunctions), width), dtype=np.int32)
    n_weights = 0
    for number, parts in enumerate(table.conjunctions):
        steps = attributes.strides(table, number)
        rows[number, :2] = n_weights, len(parts)
        for part, ((feature, offset), step) in enumerate(zip(parts, steps, strict=True)):
            rows[number, 2 + 3 * part : 5 + 3 * part] = feature, offset, step
        n_weights += steps[0] * table.n_bins(parts[0][0])
    return rows, n_weights


NEVER: Final = -1e4
"""The weight of a label that was not in the training pages: its probability is 0."""


def _weights(path: Path) -> tuple[dict[str, Float64], Float64, Bool]:
    """State weights by attribute name, the transition matrix, and which of LABELS the model knows.

    CRFsuite's own dump prints six decimals; the weights are read from the file's FEAT section
    (type 0: attribute → label, type 1: label → label), as 64-bit floats.
    """
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    info = tagger.info()
    tagger.close()
    label_of = {int(number): LABELS.index(label) for label, number in info.labels.items()}
    name_of = {int(number): name for name, number in info.attributes.items()}
    states: dict[str, Float64] = {}
    transitions = np.zeros((len(LABELS), len(LABELS)))
    for kind, source, target, weight in _features(path.read_bytes()):
        if kind == 0:
            states.setdefault(name_of[source], np.zeros(len(LABELS)))[label_of[target]] = weight
        else:
            transitions[label_of[source], label_of[target]] = weight
    return states, transitions, np.isin(np.arange(len(LABELS)), list(label_of.values()))


def _features(model: bytes) -> Iterator[tuple[int, int, int, float]]:
    magic, _, kind, _, _, _, _, offset, *_ = _HEADER.unpack_from(model)
    section, _, n_features = struct.unpack_from("<4sII", model, offset)
    if (magic, kind, section) != (b"lCRF", b"FOMC", b"FEAT"):
        raise ModelError("not a first-order CRFsuite model")
    rows = np.frombuffer(model, dtype=_FEATURE, count=n_features, offset=offset + 12)
    return iter(rows.tolist())
