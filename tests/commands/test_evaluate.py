"""`victor evaluate`: its files and errors; no page ends the run."""

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.evaluation.invented import write_sets
from victor_spark.cli import main
from victor_spark.evaluation import report
from victor_spark.evaluation.measuring import MEASURES
from victor_spark.extractors import MODELS, peers
from victor_spark.resources import directory


def evaluate(gold: Path, output: Path, *arguments: object) -> int:
    """The exit code of the command, run in this process."""
    return main([str(each) for each in ("evaluate", "--gold", gold, "--output", output, *arguments)])


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sets(tmp_path_factory.mktemp("gold") / "pages", n_sites=3, n_pages=1)


@pytest.fixture(scope="module")
def output(gold: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a run of two cleaners and a cascade over all pages."""
    folder = tmp_path_factory.mktemp("out") / "deep" / "er"
    names = ["victor", "kimatu", "kimatu+line-block"]
    assert (
        main(["evaluate", "--gold", str(gold), "--cleaner", *names, "--output", str(folder), "--jobs", "1"])
        == 0
    )
    return folder


@pytest.fixture(scope="module")
def results(output: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((output / "results.json").read_text(encoding="utf-8"))
    return loaded


def test_results_hold_every_measure_by_set_language_and_page_type(results: dict[str, Any]) -> None:
    assert set(results["figures"]) == {"all", "set", "language", "page type"}
    assert set(results["figures"]["set"]) == {"forum", "news"}
    figures = results["figures"]["all"]["all"]["victor"]
    assert set(figures["measures"]) == set(MEASURES) - {"snippets", "blocks"}
    assert figures["n_pages"] == 6
    assert figures["pages_per_second"] > 0
    words = figures["measures"]["words"]
    assert 0 <= words["f1_low"] <= words["f1"] <= words["f1_high"] <= 1
    assert results["gold"]["n_pages"] == 6
    pairs = [(pair["first"], pair["second"]) for pair in results["differences"]]
    assert pairs == [
        ("victor", "kimatu"),
        ("victor", "kimatu+line-block"),
        ("kimatu", "kimatu+line-block"),
    ]
    assert "victor" in results["curves"]
    assert "kimatu" not in results["curves"]


def test_there_is_a_csv_line_per_page_and_cleaner_whose_mean_is_in_the_results(
    output: Path, results: dict[str, Any]
) -> None:
    with (output / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["cleaner"] == "kimatu"]
    assert len(rows) == 6
    for name in ("words", "TM", "CHA"):
        mean = sum(float(row[f"{name}_f1"]) for row in rows) / 6
        shown = results["figures"]["all"]["all"]["kimatu"]["measures"][name]["f1"]
        assert mean == pytest.approx(shown, abs=1e-4)


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag in {"details", "mark", "table", "div", "svg"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in {"details", "mark", "table", "div", "svg"}:
            assert self.open.pop() == tag


def test_the_report_is_one_well_formed_page_that_loads_nothing(output: Path) -> None:
    report = (output / "report.html").read_text(encoding="utf-8")
    parser = _Elements()
    parser.feed(report)
    assert not parser.open
    tags = [tag for tag, _ in parser.found]
    assert not {"script", "link", "img", "iframe"} & set(tags)
    assert tags.count("svg") >= 2  # curve, bars by set
    assert not re.search(r"url\(\s*['\"]?(?!#)", report)
    every = [pair for _, attributes in parser.found for pair in attributes.items()]
    assert all(str(value).startswith("#") for key, value in every if key.endswith("href"))
    ids = [attributes["id"] for _, attributes in parser.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert tags.count("details") >= 3 * 6


def test_texts_cleaned_elsewhere_are_measured_as_cleaneval_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in {"gold": "<h>a\n<p>b c", "perfect": "<h>a\n<p>b c", "half": "<p>a"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "7.txt").write_text(f"URL: http://a.example\n{text}\n")
    arguments = [
        "--gold",
        str(tmp_path / "gold"),
        "--cleaned",
        str(tmp_path / "perfect"),
        str(tmp_path / "half"),
    ]
    assert (
        main(["evaluate", *arguments, "--output", str(tmp_path / "out"), "--measures", "TO", "TM", "IU"]) == 0
    )
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    perfect, half = results["figures"]["all"]["all"].values()
    assert perfect["measures"]["TM"]["f1"] == 1
    assert half["measures"]["TO"]["recall"] == pytest.approx(1 / 3)
    assert half["measures"]["TM"]["f1"] == pytest.approx(2 / 7)
    assert half["measures"]["IU"]["f1"] == pytest.approx(4 / 7)


def test_a_page_that_fails_counts_as_empty_and_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("gold/1.txt", "gold/2.txt", "texts/2.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("High water at six.")
    assert evaluate(tmp_path / "gold", tmp_path / "out", "--cleaned", tmp_path / "texts") == 0
    shown = capsys.readouterr().out
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    figures = next(iter(results["figures"]["all"]["all"].values()))
    assert [failure["id"] for failure in results["failures"]] == ["gold/1"]
    assert figures["n_failed"] == 1
    assert figures["empty_ratio"] == figures["measures"]["words"]["f1"] == 0.5
    assert "failed: " in shown
    assert "<h2>Failures</h2>" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--cleaner", "soap"], "no cleaner 'soap'"),
        (["--cleaner", "victor+"], "victor+"),
        ([], "nothing to evaluate: add --cleaner NAME..., --model DIR or --cleaned FOLDER..."),
        (["--cleaner", "victor", "--measures", "shine"], "no measure 'shine'"),
        (["--cleaner", "victor", "--sets", "weather"], "no set weather"),
        (["--cleaner", "victor", "--split", "test"], "split test"),
        (["--cleaner", "victor", "--limit", "0"], "--limit"),
        (["--cleaner", "victor", "--timeout", "0"], "--timeout must be positive"),
        (["--cleaner", "victor", "--pages", "."], "--pages"),
        (["--cleaned", "nowhere"], "--cleaned nowhere"),
        (["--cleaner", "victor", "--model", "nowhere"], "nowhere"),
        (["--model", __file__], "test_evaluate.py"),
        (["--cleaner", "kimatu", "--model", "."], "needs one cleaner with a model in --cleaner, not none"),
        (["--cleaner", "victor", "victor-2008", "--model", "."], "in --cleaner, not victor, victor-2008"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(
    gold: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert evaluate(gold, tmp_path / "out", *arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line
    assert not (tmp_path / "out").exists()


def test_blocks_alone_are_measured_without_texts(gold: Path, tmp_path: Path) -> None:
    assert evaluate(gold, tmp_path / "out", "--cleaner", "kimatu", "--measures", "blocks", "--jobs", 1) == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["differences"] == []
    assert results["figures"]["all"]["all"]["kimatu"]["blocks"]["accuracy"] > 0.5
    assert "<table" in (tmp_path / "out" / "report.html").read_text()


def test_the_first_pages_of_each_set_are_measured(gold: Path, tmp_path: Path) -> None:
    words = ("--cleaner", "kimatu", "--measures", "words", "--jobs", 1)
    assert evaluate(gold, tmp_path / "out", *words, "--limit", 2) == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["gold"]["n_pages"] == 4


def test_a_cleaner_needs_the_pages_of_gold_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gold").mkdir()
    (tmp_path / "gold" / "1.txt").write_text("High water at six.")
    assert evaluate(tmp_path / "gold", tmp_path / "out", "--cleaner", "kimatu") == 2
    assert "gold holds no pages: add --pages FOLDER with their html" in capsys.readouterr().err


def test_the_terminal_shows_a_few_failures_and_counts_the_others(results: dict[str, Any]) -> None:
    failure = {"cleaner": "victor", "set": "news", "id": "news/1", "status": "timeout", "reason": "no result"}
    lines = list(report.terminal_lines(results | {"failures": [failure] * 7}))
    assert lines[-2:] == [
        "failed: victor on news news/1: timeout (no result)",
        "failed: 2 more, all in the report",
    ]


def test_a_trained_model_is_measured_in_place_of_the_cleaner_s_own(
    gold: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, other = (directory("models") / MODELS[name] for name in ("victor", "victor-2008"))
    asked = {
        "shipped": ["--cleaner", "victor", "kimatu"],
        "own": ["--model", own],
        "other": ["--cleaner", "kimatu", "victor", "--model", other],
    }
    figures = {}
    for name, arguments in asked.items():
        assert evaluate(gold, tmp_path / name, *arguments, "--measures", "words", "blocks", "--jobs", 1) == 0
        results = json.loads((tmp_path / name / "results.json").read_text())
        figures[name] = {
            cleaner: (found["measures"]["words"]["f1"], results["curves"].get(cleaner))
            for cleaner, found in results["figures"]["all"]["all"].items()
        }
    assert figures["own"]["victor"] == figures["shipped"]["victor"] != figures["other"]["victor"]
    assert figures["other"]["kimatu"] == figures["shipped"]["kimatu"]
    assert "--model" in json.loads((tmp_path / "other" / "results.json").read_text())["options"]["command"]


def test_results_that_are_there_are_overwritten_only_when_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("gold/1.txt", "texts/1.txt", "out/results.json"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("High water at six.")
    arguments = ["--cleaned", tmp_path / "texts"]
    assert evaluate(tmp_path / "gold", tmp_path / "out", *arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "holds files (results.json); choose another --output or add --overwrite" in line
    assert (tmp_path / "out" / "results.json").read_text() == "High water at six."
    assert evaluate(tmp_path / "gold", tmp_path / "out", *arguments, "--overwrite") == 0
    assert json.loads((tmp_path / "out" / "results.json").read_text())["gold"]["n_pages"] == 1


def test_an_evaluation_that_fails_leaves_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("gold/1.txt", "texts/1.txt"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("High water at six.")

    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report, "html", full)
    assert evaluate(tmp_path / "gold", tmp_path / "deep" / "out", "--cleaned", tmp_path / "texts") == 2
    assert "No space left" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"gold", "texts"}


def test_a_peer_that_is_not_installed_names_the_extra(
    gold: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = [name for name, peer in peers.PEERS.items() if not peers.installed(peer)]
    if not missing:
        pytest.skip("all peers are installed here")
    assert evaluate(gold, tmp_path, "--cleaner", missing[0]) == 2
    assert "victor-spark[peers]" in capsys.readouterr().err


def test_an_output_that_cannot_be_written_is_known_before_the_first_page(
    gold: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert (
        main(["evaluate", "--gold", str(gold), "--cleaner", "victor", "--output", str(tmp_path / "file")])
        == 2
    )
    (line,) = capsys.readouterr().err.splitlines()
    assert "cannot write" in line


def test_help_of_the_command_is_its_own_and_shows_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "--help"]) == 0
    assert "--cleaned" in capsys.readouterr().out
