"""Identification by fastText: a small model trained here, and one clear line for other files."""

import sys
from pathlib import Path

import pytest

from tests.langid.conftest import Speak
from victor_spark.errors import ModelError, UsageError
from victor_spark.langid import fasttext_model
from victor_spark.langid.identify import UNKNOWN
from victor_spark.langid.normalise import normalised

LANGUAGES = ("cs", "nso", "sr_latn")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, speak: Speak) -> Path:
    fasttext = pytest.importorskip("fasttext")
    folder = tmp_path_factory.mktemp("model")
    words = {name: normalised(speak(number, 3000)).split() for number, name in enumerate(LANGUAGES)}
    lines = [
        f"__label__victor:{name} {' '.join(of[i : i + n])}\n"
        for n in (4, 9, 20)
        for name, of in words.items()
        for i in range(0, len(of), n)
    ]
    (folder / "lines.txt").write_text("".join(sorted(lines, key=lambda line: line[::-1])), "utf-8")
    options = {"dim": 4, "minn": 2, "maxn": 5, "bucket": 2000, "thread": 12, "verbose": 0, "epoch": 25}
    trained = fasttext.train_supervised(input=str(folder / "lines.txt"), lr=0.5, minCount=10**9, **options)
    trained.quantize(qnorm=True)
    trained.save_model(str(folder / "lid.ftz"))
    return folder / "lid.ftz"


def test_a_trained_model_tells_its_languages(model: Path, speak: Speak) -> None:
    guesses = fasttext_model.identifier(model)([speak(number, 40) for number in range(3)])
    assert [guess.language for guess in guesses] == list(LANGUAGES)
    assert all(0.5 < guess.score <= 1 for guess in guesses)


def test_nothing_and_odd_characters_are_survived(model: Path, speak: Speak) -> None:
    identify = fasttext_model.identifier(model)
    assert identify([]) == []
    assert identify(["", "x", "12 34"]) == [UNKNOWN] * 3
    [guess] = identify([speak(0, 20).replace(" ", "\n") + " \ud800"])
    assert guess.language == "cs"


def test_models_of_others_get_the_text_as_it_is_and_iso_codes(tmp_path: Path, speak: Speak) -> None:
    fasttext = pytest.importorskip("fasttext")
    lines = tmp_path / "lines.txt"
    labels = ("ces_Latn", "cmn_Hani")
    lines.write_text("".join(f"__label__{label} {speak(i, 9)}\n" for i, label in enumerate(labels)) * 50)
    options = {"dim": 4, "minn": 1, "maxn": 3, "bucket": 1000, "thread": 12, "verbose": 0, "epoch": 20}
    path = tmp_path / "other.bin"
    fasttext.train_supervised(input=str(lines), **options).save_model(str(path))
    guesses = fasttext_model.identifier(path)([speak(0, 20), speak(1, 20)])
    assert [guess.language for guess in guesses] == ["cs", "zh"]


def test_files_that_are_no_models(model: Path, tmp_path: Path) -> None:
    whole = model.read_bytes()
    for i, content in enumerate([b"", b"no model", whole[:30], whole[:400], whole[:-1], whole + b"x"]):
        (tmp_path / f"wrong{i}.ftz").write_bytes(content)
    for path in (*tmp_path.glob("wrong*"), tmp_path):
        with pytest.raises(ModelError) as caught:
            fasttext_model.identifier(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
    with pytest.raises(ModelError, match="can't read language model"):
        fasttext_model.identifier(tmp_path / "missing.bin")


def test_word_vectors_are_no_language_model(tmp_path: Path, speak: Speak) -> None:
    fasttext = pytest.importorskip("fasttext")
    lines = tmp_path / "lines.txt"
    lines.write_text(f"{speak(0, 500)}\n")
    path = tmp_path / "vectors.bin"
    model = fasttext.train_unsupervised(str(lines), dim=4, minCount=1, bucket=100, thread=12, verbose=0)
    model.save_model(str(path))
    with pytest.raises(ModelError, match="none that classifies languages"):
        fasttext_model.identifier(path)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "fasttext", None)
    with pytest.raises(UsageError, match=r"pip install 'victor-spark\[fasttext\]'"):
        fasttext_model.identifier(tmp_path / "any.bin")
