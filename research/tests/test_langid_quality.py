"""What the shipped models must reach on the test texts, which are not shipped: skipped without them.

`research/results/langid.json` holds the figures of the profiles as shipped, and those of the fastText model
that they are compared with: VICTOR_WRITE_METRICS=1 writes it.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from research import FOLDER, langid_measure
from victor_spark.commands.lists import SHARES
from victor_spark.langid import encoding, fasttext_model
from victor_spark.langid.identify import Identifier
from victor_spark.langid.profiles import Profiles

FLOORS = {"beesley": 0.97, "fasttext": 0.985, "cavnar-trenkle": 0.94}
DETECTION = {
    "legacy read as utf-8": 0.96,
    "utf-8 read as windows-1252": 0.94,
    "legacy read as windows-1252": 0.65,
    "koi8-r and windows-1251 swapped": 0.94,
}
N_ENCODING_WORDS, N_ENCODING_TEXTS = 60, 30


@pytest.fixture(scope="module")
def folder(annotated: Path) -> Path:
    path = annotated / "langid" / "test"
    if not path.is_dir():
        pytest.skip(f"no test texts in {path}")
    return path


@pytest.fixture(scope="module")
def tests(folder: Path) -> Mapping[int, dict[str, list[str]]]:
    """Texts of so many words, by language."""
    files = langid_measure.texts(folder)
    pieces = {
        n: {name: langid_measure.pieces(path, name, n) for name, path in files.items()} for n in (5, 20)
    }
    long = {
        name: langid_measure.pieces(path, name, N_ENCODING_WORDS, N_ENCODING_TEXTS)
        for name, path in files.items()
    }
    return {**pieces, N_ENCODING_WORDS: long}


@pytest.fixture(scope="module")
def metrics() -> Any:
    """The published figures; what a test puts into it is written when VICTOR_WRITE_METRICS is set."""
    path = FOLDER / "results" / "langid.json"
    figures = json.loads(path.read_text()) if path.exists() else {}
    measured: dict[str, Any] = {}
    yield {"published": figures, "measured": measured}
    if os.environ.get("VICTOR_WRITE_METRICS"):
        path.write_text(json.dumps({**figures, **measured}, indent=2, sort_keys=True) + "\n")


def check(metrics: Any, name: str, value: float) -> None:
    """Keeps a figure, and holds that the published one is this one."""
    metrics["measured"][name] = round(value, 4)
    if not os.environ.get("VICTOR_WRITE_METRICS"):
        assert metrics["published"][name] == pytest.approx(value, abs=0.002)


def identifier(name: str, profiles: Profiles) -> Identifier:
    if name == "fasttext":
        pytest.importorskip("fasttext")
        return fasttext_model.identifier(FOLDER / "models" / "langid" / "victor-lid.ftz")
    return langid_measure.IDENTIFIERS[name](profiles)


@pytest.mark.parametrize("name", FLOORS)
def test_accuracy_of_twenty_words(
    shipped: Profiles, tests: Mapping[int, dict[str, list[str]]], metrics: Any, name: str
) -> None:
    identify = identifier(name, shipped)
    for n_words in (20, 5):
        exact, grouped = langid_measure.accuracy(identify, tests[n_words])
        check(metrics, f"{name}, {n_words} words, accuracy", exact)
        check(metrics, f"{name}, {n_words} words, grouped accuracy", grouped)
        assert n_words == 5 or grouped >= FLOORS[name]


def test_the_shares_that_victor_languages_prints(
    root: Path, shipped: Profiles, tests: Mapping[int, dict[str, list[str]]]
) -> None:
    found = langid_measure.by_language(identifier("beesley", shipped), tests[20])
    path = root / "models" / "langid" / SHARES
    if os.environ.get("VICTOR_WRITE_METRICS"):
        lines = (f'"{name}": [{exact:.3f}, {group:.3f}]' for name, (exact, group) in found.items())
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    published = json.loads(path.read_text())
    assert {name: pytest.approx(shares, abs=0.004) for name, shares in found.items()} == published


def test_block_features_tell_czech_from_its_nearest(
    shipped: Profiles, tests: Mapping[int, dict[str, list[str]]], metrics: Any
) -> None:
    for target in ("cs", "en", "zh"):
        names = [target, *shipped.nearest[target][:5]]
        langid1, langid2 = langid_measure.feature_auc(
            shipped, target, {name: tests[5][name] for name in names}
        )
        check(metrics, f"langid1, {target} against its nearest five, AUC", langid1)
        check(metrics, f"langid2, {target} against its nearest five, AUC", langid2)
        assert langid1 >= 0.97
        assert langid2 >= 0.95


def test_broken_encodings_are_found(
    shipped: Profiles, tests: Mapping[int, dict[str, list[str]]], metrics: Any
) -> None:
    for kind, broken in langid_measure.mojibake(tests[N_ENCODING_WORDS]).items():
        found = sum(encoding.problem(text, shipped) is not None for text in broken) / len(broken)
        check(metrics, f"encoding, {kind}, found", found)
        assert found >= DETECTION[kind], kind


def test_good_encodings_raise_no_alarm(
    shipped: Profiles, tests: Mapping[int, dict[str, list[str]]], metrics: Any
) -> None:
    good = [text for texts in tests[N_ENCODING_WORDS].values() for text in texts]
    alarms = [problem for text in good if (problem := encoding.problem(text, shipped))]
    check(metrics, "encoding, false alarms", len(alarms) / len(good))
    assert len(alarms) < 0.005 * len(good), alarms


def test_good_texts_and_those_restored_from_misreading_are_counted(shipped: Profiles) -> None:
    text = "L’été dernier, l’élève a déjeuné à côté du château ; il y était déjà allé, à pied, l’hiver."
    assert list(langid_measure.repair_lines([text], shipped)) == [
        "good texts: 1, changed: 0",
        "utf-8 read as windows-1252: 1, restored exactly 100.0%, dropped 0.0%",
    ]
