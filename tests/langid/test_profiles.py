"""Profiles files: round trip, one language at a time, and one clear line for other files."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.langid.conftest import Speak
from victor_spark.errors import ModelError, UsageError
from victor_spark.langid.profiles import Profiles
from victor_spark.langid.settings import settings
from victor_spark.train import langid


@pytest.fixture(scope="module")
def three(speak: Speak) -> Profiles:
    return langid.train((name, speak(number, 2000)) for number, name in enumerate(["aa", "bb", "cc"]))


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def changed(data: bytes, **arrays: np.ndarray) -> bytes:
    with np.load(io.BytesIO(data)) as old:
        output = io.BytesIO()
        np.savez(output, **{**old, **arrays})
        return output.getvalue()


def test_a_file_read_and_written_again_is_the_same(three: Profiles) -> None:
    data = three.to_bytes()
    assert Profiles.from_bytes(data).to_bytes() == data


def test_what_was_counted_can_be_read(three: Profiles) -> None:
    lines = list(Profiles.from_bytes(three.to_bytes()).listing("bb"))
    assert lines[0].startswith("# bb: 400 n-grams")
    assert lines[1].startswith("1\t")
    assert any(line.count("_") == 2 for line in lines[402:])


def test_adding_a_language_leaves_the_others_bytes_alone(three: Profiles, speak: Speak) -> None:
    before = members(three.to_bytes())
    after = members(langid.train([("ab", speak(9, 2000))], three.profiles).to_bytes())
    own = {name for name in before if "/" in name}
    assert {name for name in after if "/" in name} - own == {
        "ab/trigrams.npy",
        "ab/gains.npy",
        "ab/ngrams.npy",
    }
    assert all(before[name] == after[name] for name in own)


def test_replacing_a_language_leaves_the_others_bytes_alone(three: Profiles, speak: Speak) -> None:
    before = members(three.to_bytes())
    after = members(langid.train([("bb", speak(9, 2000))], three.profiles).to_bytes())
    differing = {name.split("/")[0] for name in before if "/" in name and before[name] != after[name]}
    assert differing == {"bb"}


def test_only_what_a_language_needs_is_loaded(shipped: Profiles, root: Path) -> None:
    some = Profiles.load(root / "models" / "langid" / "profiles.npz", ["cs"])
    assert {"cs", "sk", *shipped.nearest["cs"]} <= set(some.profiles)
    assert len(some.languages) < 50
    assert some.profiles["sk"].ngrams == shipped.profiles["sk"].ngrams
    assert set(settings().anchors.languages) <= set(some.profiles)


def test_the_file_is_small_and_without_pickles(root: Path) -> None:
    data = (root / "models" / "langid" / "profiles.npz").read_bytes()
    assert len(data) <= 3_000_000
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        assert all(arrays[name].dtype == np.uint8 for name in arrays)


def test_more_languages_than_a_file_holds_are_refused(three: Profiles) -> None:
    profile = three.profiles["aa"]
    with pytest.raises(UsageError, match="256 languages, but a profiles file holds 255"):
        Profiles.of({f"l{number}": profile for number in range(256)})


def test_an_unknown_language_is_named_with_what_comes_near(three: Profiles) -> None:
    with pytest.raises(UsageError, match=r"no profile of language 'bx' \(did you mean bb"):
        Profiles.from_bytes(three.to_bytes(), ["bx"])
    with pytest.raises(UsageError, match="no profile of language 'zz'"):
        next(iter(three.listing("zz")))


def test_other_formats_and_other_files_are_no_profiles(three: Profiles, tmp_path: Path) -> None:
    data = three.to_bytes()
    future = changed(data, format=np.array([99], np.uint8))
    with pytest.raises(ModelError, match="format 99, but this code reads 1"):
        Profiles.from_bytes(future)
    other = io.BytesIO()
    np.savez(other, weights=np.zeros(3))
    damaged = changed(data, **{"bb/gains": np.zeros(3, np.uint8)})
    for wrong in (b"", b"text", data[:5000], other.getvalue(), damaged):
        with pytest.raises(ModelError):
            Profiles.from_bytes(wrong)
    with pytest.raises(ModelError, match=r"can't read language profiles .*missing\.npz"):
        Profiles.load(tmp_path / "missing.npz")
