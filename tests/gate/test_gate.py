"""The gate passes figures at their floors, fails lower ones, detects changed gold, and runs without gold."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from research import sample
from tests.evaluation.invented import write_sets
from tests.gate import gate
from victor_spark.evaluation import gold


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_sets(tmp_path / "data" / "pages")
    return tmp_path / "data"


def run(data: Path, *options: str) -> int:
    return gate.main(["--data", str(data), "--floors", str(data / "floors.toml"), "--jobs", "1", *options])


def cached(measure: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its first result kept: the pages are the same in every call."""
    results: list[Any] = []

    def measured(pages: Sequence[gold.GoldPage], *, n_jobs: int) -> Any:
        results[:] = results or [measure(pages, n_jobs=n_jobs)]
        return results[0]

    return measured


def test_pinned_figures_pass_and_lower_ones_fail(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "seen", cached(gate.seen))
    monkeypatch.setattr(gate, "unseen", cached(gate.unseen))
    assert run(data) == 1  # nothing pinned yet
    assert run(data, "--pin") == 0
    assert run(data) == 0
    assert "nothing fell" in capsys.readouterr().out
    floors = data / "floors.toml"
    head, _, rest = floors.read_text().partition('"all" = ')
    floors.write_text(f'{head}"all" = 1.500{rest[5:]}')
    assert run(data) == 1
    assert "below its floor 1.500" in capsys.readouterr().out
    assert run(data, "--pin") == 2
    assert run(data, "--pin", "--lower-because", "the floor was wrong") == 0
    assert "the floor was wrong" in floors.read_text()


def test_changed_gold_pages_are_detected_before_the_measurement(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (data / "floors.toml").write_text('gold = "of other pages"\n')
    assert run(data) == 1
    assert "not those the floors were pinned on" in capsys.readouterr().out


def test_without_gold_pages_the_gate_measures_nothing_and_passes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate.main(["--data", str(tmp_path / "nowhere")]) == 0
    assert "nothing measured" in capsys.readouterr().out


def test_the_sample_is_fixed_takes_the_dev_split_first_and_its_hash_identifies_it(data: Path) -> None:
    pages = sample.fixed_sample(data / "pages", 6)
    assert pages == sample.fixed_sample(data / "pages", 6)
    assert {(page.set, page.split) for page in pages} == {("news", "dev"), ("forum", "dev")}
    assert gold.fingerprint(pages) == gold.fingerprint(pages[::-1])
    other = [*pages[1:], gold.GoldPage(id=pages[0].id, set=pages[0].set, html=pages[0].html, gold="changed")]
    assert gold.fingerprint(pages) != gold.fingerprint(other)


def test_the_sample_includes_the_newer_sets_but_no_unknown_ones(data: Path) -> None:
    older = sample.fixed_sample(data / "pages", 6)
    assert set(sample.files(data / "pages")) == {"news", "forum"}
    write_sets(data / "more")
    (data / "more" / "news.jsonl").rename(data / "more" / "aed.jsonl")
    assert set(sample.files(data / "pages")) == {"news", "forum", "aed"}
    assert [page for page in sample.fixed_sample(data / "pages", 6) if page.set != "aed"] == older
