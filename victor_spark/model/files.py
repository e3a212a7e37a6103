"""The file of a model: one .npz without pickles. A model that does not fit this code raises ModelError."""

import io
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import LABELS, Int32
from victor_spark.errors import ModelError
from victor_spark.model import revision, trees
from victor_spark.model.crf import Model
from victor_spark.model.features import FeatureTable, from_json
from victor_spark.model.trees import Trees
from victor_spark.model.weights import Names, Origins, Weights
from victor_spark.model.weights import check as check_weights

FORMAT: Final = 4
FILE_NAME: Final = "weights.npz"

_TREES: Final = ("first", "last")

_ARRAYS: Final = ("singles", "boundary", "bias", "transitions", "conjunctions", "conjunction_weights")
_WEIGHTS: Final = ("name_words", "name_weights", "origin_weights")


def to_bytes(model: Model) -> bytes:
    """The model as one .npz."""
    stored = {"format": FORMAT, "table": model.table.as_json(), "about": dict(model.about)}
    arrays = {name: getattr(model, name) for name in _ARRAYS}
    if (weights := model.weights) is not None:
        learnt = (weights.names.words, weights.names.weights, weights.origins.weights)
        arrays |= dict(zip(_WEIGHTS, learnt, strict=True))
    for place in _TREES:
        if (grown := getattr(model, place)) is not None:
            arrays |= {f"{place}_{name}": getattr(grown, name) for name in trees.ARRAYS}
    buffer = io.BytesIO()
    description = np.frombuffer(json.dumps(stored, ensure_ascii=False).encode(), dtype=np.uint8)
    np.savez_compressed(buffer, description=description, **arrays)
    return buffer.getvalue()


@lru_cache(maxsize=4)  # a run loads its model several times
def from_bytes(stored: bytes, name: str = "model") -> Model:
    """The model in `stored`; ModelError when it is damaged or doesn't fit this code."""
    try:
        with np.load(io.BytesIO(stored), allow_pickle=False) as arrays:
            description = json.loads(arrays["description"].tobytes())
            columns = {key: np.ascontiguousarray(arrays[key]) for key in _ARRAYS}
            learnt = {key: np.ascontiguousarray(arrays[key]) for key in arrays.keys() - {*_ARRAYS}}
            stated = description["format"]
    except Exception as error:  # numpy and zipfile raise many types for damaged files
        raise ModelError(f"{name}: damaged, or not a model of victor-spark") from error
    if stated != FORMAT:
        raise ModelError(f"{name}: model format {stated!r}, this code reads {FORMAT}: train it again")
    try:
        table = from_json(description["table"])
        _check(table, columns)
        weights, first, last = _learnt(table, learnt)
    except (KeyError, ModelError) as error:
        raise ModelError(f"{name}: {error}") from error
    about = description.get("about", {})
    return Model(table=table, weights=weights, first=first, last=last, about=about, **columns)


def _learnt(
    table: FeatureTable, arrays: Mapping[str, npt.NDArray[Any]]
) -> tuple[Weights, Trees, Trees] | tuple[None, None, None]:
    """The learnt weights and both groups of trees, or None for each if the table's feature set has none.

    Raises ModelError if they are missing or damaged, or stored for a feature set that has none.
    """
    of_trees = {f"{place} trees": tuple(f"{place}_{name}" for name in trees.ARRAYS) for place in _TREES}
    for part, names in {"learnt weights": _WEIGHTS, **of_trees}.items():
        if table.is_learnt and not arrays.keys() >= {*names}:
            raise ModelError(f"the model's {part} are missing")
        if not table.is_learnt and not arrays.keys().isdisjoint(names):
            raise ModelError(f"its feature set has no {part}")
    if not table.is_learnt:
        return None, None, None
    words, of_words, of_elements = (arrays[name] for name in _WEIGHTS)
    weights = Weights(Names(words, of_words), Origins(of_elements, table.elements))
    check_weights(weights)
    first, last = (Trees(*(arrays[name] for name in names)) for names in of_trees.values())
    trees.check(first, len(table.names) - 1)
    trees.check(last, len(table.names) + len(revision.ADDED))
    return weights, first, last


def _check(table: FeatureTable, columns: Mapping[str, npt.NDArray[Any]]) -> None:
    """Raises ModelError for weights that don't fit the table, because the decoder does not check them."""
    n_labels, width = len(LABELS), 2 * table.reach + 1
    rows, n_weights = conjunction_rows(table)
    shapes = {
        "singles": (len(table.names), most_bins(table), width, n_labels),
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


def most_bins(table: FeatureTable) -> int:
    """The largest number of bins that a feature has."""
    return max(map(table.n_bins, range(len(table.names))))


def read_bytes(path: Path) -> bytes:
    """The bytes of a model directory's weights (or of the file itself)."""
    file = path / FILE_NAME if path.is_dir() else path
    try:
        return file.read_bytes()
    except OSError as error:
        reason = f"holds no {FILE_NAME}" if path.is_dir() else f"no model ({error.strerror or error})"
        raise ModelError(f"{path}: {reason}") from error


def conjunction_rows(table: FeatureTable) -> tuple[Int32, int]:
    """The rows that kernels.crf.state_scores reads, and how many weights they point to."""
    width = 2 + 3 * max((len(parts) for parts in table.conjunctions), default=0)
    rows = np.zeros((len(table.conjunctions), width), dtype=np.int32)
    n_weights = 0
    for number, parts in enumerate(table.conjunctions):
        steps = table.strides(number)
        rows[number, :2] = n_weights, len(parts)
        for part, ((feature, offset), step) in enumerate(zip(parts, steps, strict=True)):
            rows[number, 2 + 3 * part : 5 + 3 * part] = feature, offset, step
        n_weights += steps[0] * table.n_bins(parts[0][0])
    return rows, n_weights
