"""Model files: round trip, and one clear line for files that do not fit."""

import io
import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.html.pages import blocks_of
from tests.model.conftest import Trained, some_pages
from victor_spark.errors import ModelError
from victor_spark.model import crf, trees
from victor_spark.model.crf import Model
from victor_spark.model.features import FeatureTable
from victor_spark.model.files import FORMAT, from_bytes, read_bytes, to_bytes
from victor_spark.train.crf import train
from victor_spark.train.crfsuite import TrainingOptions, from_crfsuite, read_weights

ARRAYS = ("singles", "boundary", "bias", "transitions", "conjunctions", "conjunction_weights")
on_one_model = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)


@pytest.fixture(scope="session")
def model(table: FeatureTable) -> Model:
    """A small model."""
    return train(some_pages(1, 8), table, TrainingOptions(max_iterations=3))


@pytest.fixture(scope="session")
def stored(model: Model) -> bytes:
    return to_bytes(model)


def rewritten(stored: bytes, **changes: Any) -> bytes:
    """The file with other arrays; None leaves one out. `description` is given as JSON."""
    with np.load(io.BytesIO(stored)) as arrays:
        columns: dict[str, Any] = dict(arrays)
    for name, value in changes.items():
        if value is None:
            del columns[name]
        elif name == "description":
            columns[name] = np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)
        else:
            columns[name] = value
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **columns)
    return buffer.getvalue()


def refused(stored: bytes) -> str:
    """The one line with which the bytes are refused."""
    with pytest.raises(ModelError) as raised:
        from_bytes(stored, "models/x")
    assert len(str(raised.value).splitlines()) == 1
    assert str(raised.value).startswith("models/x: ")
    return str(raised.value)


def test_a_stored_model_is_loaded_unchanged(trained: Trained) -> None:
    again = from_bytes(to_bytes(trained.model))
    assert again.table == trained.model.table
    assert again.about == trained.model.about
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(again, name), getattr(trained.model, name))
    blocks = blocks_of("<p>Some page.<p>Of words")
    np.testing.assert_array_equal(crf.marginals(again, blocks), crf.marginals(trained.model, blocks))


def test_a_model_of_another_table_is_refused(model: Model, stored: bytes) -> None:
    description = {"format": FORMAT, "table": model.table.as_json(), "about": {}}
    table = description["table"]
    without = {name: row for name, row in table["features"].items() if name != "position"}
    extra = {**table["features"], "container.q": {"edges": [1], "offsets": [0]}}
    farther = {**table["features"], "position": {"edges": [1], "offsets": [7]}}
    finer = {**table["features"], "position": {"edges": list(range(100)), "offsets": [0]}}
    for features, complaint in (
        (without, "position"),
        (extra, r"container.q"),
        (farther, "shape"),
        (finer, "shape"),
    ):
        other = {**description, "table": {**table, "features": features}}
        assert complaint in refused(rewritten(stored, description=other))
    fewer = {**description, "table": {**table, "conjunctions": table["conjunctions"][1:]}}
    swapped = {**description, "table": {**table, "conjunctions": table["conjunctions"][::-1]}}
    assert "conjunction" in refused(rewritten(stored, description=fewer))
    assert "conjunction" in refused(rewritten(stored, description=swapped))


@pytest.mark.parametrize("other", [FORMAT - 1, FORMAT + 1])
def test_a_model_of_another_format_is_refused(model: Model, stored: bytes, other: int) -> None:
    description = {"format": other, "table": model.table.as_json(), "about": {}}
    assert f"format {other}" in refused(rewritten(stored, description=description))


@pytest.mark.parametrize(
    "description", [[], {}, "x", None, {"format": FORMAT}, {"format": FORMAT, "table": []}]
)
def test_a_strange_description_is_refused(stored: bytes, description: Any) -> None:
    refused(rewritten(stored, description=description) if description is not None else stored[:0])


@pytest.mark.parametrize("name", ["description", *ARRAYS])
def test_a_missing_array_is_refused(stored: bytes, name: str) -> None:
    refused(rewritten(stored, **{name: None}))


@pytest.mark.parametrize(
    ("name", "part"), [("name_weights", "learnt weights"), (f"last_{trees.ARRAYS[0]}", "last trees")]
)
def test_learnt_arrays_of_a_feature_set_that_has_none_are_refused(
    stored: bytes, name: str, part: str
) -> None:
    assert refused(rewritten(stored, **{name: np.zeros(3)})).endswith(f"its feature set has no {part}")


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_another_shape_type_or_with_nan_is_refused(
    model: Model, stored: bytes, name: str
) -> None:
    weights = getattr(model, name)
    refused(rewritten(stored, **{name: weights[:-1]}))
    refused(rewritten(stored, **{name: weights.astype(np.float32)}))
    if name != "conjunctions":
        refused(rewritten(stored, **{name: np.full_like(weights, np.nan)}))


@pytest.mark.parametrize(
    "foreign",
    [b"", b"PK", b"PK\x05\x06" + bytes(18), b"lCRF" + bytes(100), b"\x93NUMPY", b"<html>", b"\0" * 5000],
)
def test_foreign_files_are_refused(foreign: bytes) -> None:
    refused(foreign)


def test_an_array_alone_is_refused() -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(3))
    refused(buffer.getvalue())


@given(end=st.integers(0, 2000))
@on_one_model
def test_a_clipped_file_is_refused(stored: bytes, end: int) -> None:
    refused(stored[: -1 - end])


@given(place=st.integers(0), byte=st.integers(1, 255))
@on_one_model
def test_a_file_with_a_changed_byte_is_refused_or_whole(
    model: Model, stored: bytes, place: int, byte: int
) -> None:
    place %= len(stored)
    damaged = stored[:place] + bytes([stored[place] ^ byte]) + stored[place + 1 :]
    loaded = None
    with suppress(ModelError):
        loaded = from_bytes(damaged)
    if loaded is not None:  # the byte belongs to what only archivers read
        assert all(np.array_equal(getattr(loaded, name), getattr(model, name)) for name in ARRAYS)


def test_pickles_are_not_loaded(stored: bytes) -> None:
    refused(rewritten(stored, bias=np.array([{"a": 1}], dtype=object)))


def test_a_model_directory_and_its_file_are_read(tmp_path: Path, stored: bytes) -> None:
    (tmp_path / "weights.npz").write_bytes(stored)
    assert read_bytes(tmp_path) == read_bytes(tmp_path / "weights.npz") == stored


@pytest.mark.parametrize(
    ("missing", "says"), [("nowhere", "nowhere: no model"), (".", ": holds no weights.npz")]
)
def test_a_missing_model_is_an_error(tmp_path: Path, missing: str, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        read_bytes(tmp_path / missing)


def test_the_weights_are_those_of_crfsuites_own_dump(trained: Trained, tmp_path: Path) -> None:
    info = trained.tagger.info()
    table, reach = trained.model.table, trained.model.table.reach
    for (name, label), weight in list(info.state_features.items())[::50]:
        if "[" not in name or name.startswith(("conjunction", "boundary")):
            continue
        feature, _, place = name.partition("[")
        offset, _, code = place.partition("]=")
        row = ("header", "text", "other").index(label)
        ours = trained.model.singles[table.names.index(feature), int(code), int(offset) + reach, row]
        assert ours == pytest.approx(weight, abs=1e-6)
    again = from_crfsuite(read_weights(trained.path), table, {})
    assert again.transitions.tolist() == trained.model.transitions.tolist()


def test_a_model_keeps_its_description(model: Model) -> None:
    report = replace(model, about={"trained_on": "a few pages", "říjen": 3})
    assert from_bytes(to_bytes(report)).about == {"trained_on": "a few pages", "říjen": 3}
