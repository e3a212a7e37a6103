"""`python -m research.evaluate_extrinsic`: table, files, and wrong usage in one line."""

import csv
import json
from pathlib import Path

import pytest

from research.evaluate_extrinsic import main
from research.tests import news


def test_the_table_and_the_files_hold_every_cleaner_and_the_gold_cleaning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = news.write(tmp_path / "news.jsonl")
    words = ["--gold", str(gold), "--cleaner", "kimatu", "line-block", "--output", str(tmp_path / "out")]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "6 pages, 2 of them relevant" in shown
    for name in ("English", "Russian", "kimatu", "line-block", "reference"):
        assert name in shown

    figures = json.loads((tmp_path / "out" / "extrinsic.json").read_text())["figures"]
    assert list(figures) == ["kimatu", "line-block", "reference"]
    assert figures["reference"]["all"] == {
        "true_positives": 2,
        "false_positives": 0,
        "false_negatives": 0,
        "true_negatives": 4,
        "precision": 1.0,
        "recall": 1.0,
        "f1": 1.0,
    }
    with (tmp_path / "out" / "extrinsic.csv").open(encoding="utf-8") as stream:
        assert len(list(csv.DictReader(stream))) == 3 * 3
    with (tmp_path / "out" / "pages.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 3 * 6
    found = [row for row in rows if row["cleaner"] == "reference" and row["found"] == "True"]
    assert [(row["id"], row["disease"]) for row in found] == [("en/0", "cholera"), ("ru/0", "холера")]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--gold", "nowhere.jsonl", "--cleaner", "kimatu"], "nowhere.jsonl"),
        (["--gold", "news.jsonl", "--cleaner", "soap"], "'soap'"),
        (["--gold", "news.jsonl", "--cleaner", "kimatu+"], "kimatu+"),
        (["--gold", "news.jsonl", "--cleaner", "kimatu", "--jobs", "0"], "--jobs"),
        (["--gold", "news.jsonl", "--cleaner", "kimatu", "--output", "news.jsonl"], "cannot write"),
        (["--gold", "empty.jsonl", "--cleaner", "kimatu"], "meta.epidemic"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    says: str,
) -> None:
    news.write(tmp_path / "news.jsonl")
    (tmp_path / "empty.jsonl").touch()
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("evaluate_extrinsic: error: ")
    assert says in lines[0]
