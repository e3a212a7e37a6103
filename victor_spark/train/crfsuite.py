"""Converts for CRFsuite: blocks into attributes as strings, and its model file into dense weights."""

import struct
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import LABELS, Bool, Float64, UInt8
from victor_spark.errors import ModelError
from victor_spark.model import files
from victor_spark.model.crf import Model
from victor_spark.model.features import FeatureTable
from victor_spark.model.trees import Trees
from victor_spark.model.weights import Weights

CRFSUITE_NAME: Final = "model.crfsuite"
_HEADER: Final = struct.Struct("<4sI4sIIIIIIIII")
_FEATURE: Final = np.dtype([("type", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])

BIAS: Final = "bias"

ALGORITHMS: Final = {"lbfgs": {"c1": 0.0, "c2": 1.0}, "ap": {}}
"""L-BFGS with L1 (c1) and L2 (c2) regularisation; averaged perceptron."""

Progress = Callable[[int, float], None]
"""Called after each iteration with its number and the loss."""
Fitted: TypeAlias = tuple[dict[str, Float64], Float64, Bool]
"""State weights (one per label) by attribute name, the transition matrix, which of LABELS are there."""


@dataclass(frozen=True)
class TrainingOptions:
    """How to train; `parameters` go to CRFsuite and override the algorithm's defaults."""

    algorithm: str = "lbfgs"
    max_iterations: int = 100
    parameters: Mapping[str, float] = field(default_factory=dict)


def fit(
    pages: Iterable[tuple[Any, UInt8]], options: TrainingOptions, progress: Progress | None = None
) -> Fitted:
    """The weights of a CRF trained on pages, each as CRFsuite takes its blocks and their labels.

    Raises ModelError for an unknown algorithm.
    """
    import pycrfsuite

    class Trainer(pycrfsuite.Trainer):  # type: ignore[misc]
        """Reports each iteration; python-crfsuite itself prints either everything or nothing."""

        def message(self, message: str) -> None:
            """Called with each line of CRFsuite's log."""
            if self.logparser.feed(message) == "iteration" and progress:
                info = self.logparser.last_iteration
                progress(int(info.get("num", 0)), float(info.get("loss", 0.0)))

    if options.algorithm not in ALGORITHMS:
        raise ModelError(f"unknown algorithm {options.algorithm!r}: one of {', '.join(ALGORITHMS)}")
    trainer = Trainer(verbose=False, algorithm=options.algorithm)
    trainer.set_params(
        {**ALGORITHMS[options.algorithm], "max_iterations": options.max_iterations, **options.parameters}
    )
    for items, labels in pages:
        trainer.append(pycrfsuite.ItemSequence(items), [LABELS[label] for label in labels.tolist()])
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, CRFSUITE_NAME)
        trainer.train(str(path))
        return read_weights(path)


def boundary_name(offset: int) -> str:
    """The attribute of a block that has no neighbour at `offset`."""
    return f"boundary[{offset}]"


def single_name(table: FeatureTable, feature: int, offset: int, code: int) -> str:
    """The attribute of a block whose neighbour at `offset` has `code` as its bin of `feature`."""
    return f"{table.names[feature]}[{offset}]={code}"


def conjunction_name(number: int, code: int) -> str:
    """`code` is the mixed-radix number of the parts' bins, the last part running fastest."""
    return f"conjunction[{number}]={code}"


def sequences(table: FeatureTable, codes: npt.NDArray[np.uint8]) -> list[list[str]]:
    """One list of attribute names a block; `codes` as FeatureTable.bins gives them."""
    n_blocks = codes.shape[1]
    items: list[list[str]] = [[BIAS] for _ in range(n_blocks)]
    for offset in range(-table.reach, table.reach + 1):
        for row in range(n_blocks):
            if not 0 <= row + offset < n_blocks:
                items[row].append(boundary_name(offset))
    for feature, offsets in enumerate(table.offsets):
        columns = codes[feature].tolist()
        for offset in offsets:
            names = [single_name(table, feature, offset, code) for code in range(table.n_bins(feature))]
            for row in range(max(0, -offset), min(n_blocks, n_blocks - offset)):
                if code := columns[row + offset]:
                    items[row].append(names[code])
    for number, parts in enumerate(table.conjunctions):
        total = np.zeros(n_blocks, dtype=np.int64)
        for (feature, offset), stride in zip(parts, table.strides(number), strict=True):
            first, last = max(0, -offset), min(n_blocks, n_blocks - offset)
            if first < last:
                total[first:last] += codes[feature, first + offset : last + offset].astype(np.int64) * stride
        for row in np.flatnonzero(total).tolist():
            items[row].append(conjunction_name(number, int(total[row])))
    return items


def from_crfsuite(
    fitted: Fitted,
    table: FeatureTable,
    about: Mapping[str, Any],
    weights: Weights | None = None,
    first: Trees | None = None,
) -> Model:
    """A model of the weights that CRFsuite fitted to `sequences(table, …)`, as dense arrays."""
    states, transitions, known = fitted
    reach = table.reach
    none = np.zeros(len(LABELS))
    singles = np.zeros((len(table.names), files.most_bins(table), 2 * reach + 1, len(LABELS)))
    for feature, offsets in enumerate(table.offsets):
        for offset in offsets:
            for code in range(1, table.n_bins(feature)):
                name = single_name(table, feature, offset, code)
                singles[feature, code, offset + reach] = states.get(name, none)
    boundary = [states.get(boundary_name(offset), none) for offset in range(-reach, reach + 1)]
    rows, n_weights = files.conjunction_rows(table)
    of_rows = np.zeros((n_weights, len(LABELS)))
    for number, (first_code, end) in enumerate(pairwise([*rows[:, 0].tolist(), n_weights])):
        for code in range(end - first_code):
            of_rows[first_code + code] = states.get(conjunction_name(number, code), 0.0)
    return Model(
        table=table,
        singles=singles,
        boundary=np.array(boundary),
        bias=states.get(BIAS, none) + np.where(known, 0.0, NEVER),
        transitions=transitions,
        conjunctions=rows,
        conjunction_weights=of_rows,
        weights=weights,
        first=first,
        last=None,
        about=about,
    )


NEVER: Final = -1e4
"""The weight of a label that was not in the training pages: its probability is 0."""


def read_weights(path: Path) -> Fitted:
    """The weights in CRFsuite's file.

    CRFsuite's own dump prints six decimals; the weights are read from the file's FEAT section
    (type 0: attribute → label, type 1: label → label), as 64-bit floats.
    """
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    info = tagger.info()
    tagger.close()
    label_of = {int(number): LABELS.index(label) for label, number in info.labels.items()}
    name_of = {int(number): name for name, number in info.attributes.items()}
    states: dict[str, Float64] = {}
    transitions = np.zeros((len(LABELS), len(LABELS)))
    stored = path.read_bytes()
    magic, _, kind, _, _, _, _, offset, *_ = _HEADER.unpack_from(stored)
    section, _, n_features = struct.unpack_from("<4sII", stored, offset)
    if (magic, kind, section) != (b"lCRF", b"FOMC", b"FEAT"):
        raise ModelError("not a first-order CRFsuite model")
    rows = np.frombuffer(stored, dtype=_FEATURE, count=n_features, offset=offset + 12)
    for kind, source, target, weight in rows.tolist():
        if kind == 0:
            states.setdefault(name_of[source], np.zeros(len(LABELS)))[label_of[target]] = weight
        else:
            transitions[label_of[source], label_of[target]] = weight
    return states, transitions, np.isin(np.arange(len(LABELS)), list(label_of.values()))
