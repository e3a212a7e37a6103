"""Studies train without something and say what it was worth: on pages of invented sites."""

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from research import out_of_fold, studies, trials
from research.out_of_fold import Decided, PageRow
from tests.evaluation.invented import write_sets
from victor_html.elements import ELEMENTS
from victor_spark.evaluation import gold, labelling
from victor_spark.evaluation.crf import training_pages
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.extractors import cascade
from victor_spark.model.features import from_conf
from victor_spark.train.crf import silenced, without


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = write_sets(tmp_path_factory.mktemp("studies") / "pages", n_sites=4)
    forum = directory / "forum.jsonl"
    forum.write_text(forum.read_text().replace('"meta"', '"lang": "pl", "meta"'))
    return directory


@pytest.fixture(scope="module")
def pages(data: Path) -> list[LabelledPage]:
    return [
        labelling.label(page)
        for path in gold.find(data).values()
        for page in gold.read(path)
        if gold.usable(page)
    ]


def half_right(pages: list[LabelledPage], directory: Path) -> None:
    """Writes what was found of each page out of fold: a word F1 of .5."""
    half = Decided(5, 5, 0.5)
    rows = [PageRow(page.gold.set, page.gold.id, page.site, "en", None, 0, 15, half, half) for page in pages]
    out_of_fold.write(directory / out_of_fold.FILE_NAME, rows)


def test_pages_teach_with_the_elements_of_their_source_and_with_their_set() -> None:
    raw = gold.GoldPage(set="news", id="1", html="<script>x</script><p>Two words</p>", gold="Two words")
    labelled = [labelling.label(raw)]
    (taught,) = training_pages(labelled)
    assert taught.collection == "news"
    assert taught.blocks.source_elements[ELEMENTS.index("script")]
    left = cascade.left(labelled[0].page, np.ones(1, dtype=bool))
    assert left.blocks.source_elements[ELEMENTS.index("script")]


def test_a_study_of_sets_needs_several_and_features_that_know_origins(
    data: Path, pages: list[LabelledPage], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    half_right(pages, tmp_path)
    assert run("sets", "--data", str(data), "--results", str(tmp_path)) == 2  # with victor-2008
    assert "needs several of them, and features that know origins" in capsys.readouterr().err


def test_the_newer_sets_are_studied_too(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "SHARES", (1.0,))
    pages, more = tmp_path / "pages", tmp_path / "more"
    for directory, name in ((pages, "news"), (more, "aed"), (more, "other")):
        directory.mkdir(exist_ok=True)
        text = (data / "news.jsonl").read_text()
        (directory / f"{name}.jsonl").write_text(text.replace('"news"', f'"{name}"'))
    words = ("curve", "--data", str(pages), "--results", str(tmp_path), "--again")
    assert run(*words) == 0
    found = json.loads((tmp_path / "curve.json").read_text())
    assert set(found["100% of the sites"]["sets"]) == {"news", "aed"}


def test_every_feature_but_the_guess_is_in_one_group() -> None:
    table = from_conf(trials.FEATURE_SET)
    found = Counter(name for group in trials.GROUPS for name in trials.of_group(table, group))
    assert set(found.values()) == {1}
    assert set(table.names) - set(found) == {"score"}


def test_a_silent_feature_is_zero_everywhere_and_the_others_are_as_before(pages: list[LabelledPage]) -> None:
    table = from_conf(trials.FEATURE_SET)
    blocks = pages[0].page.blocks
    loud = table.values(blocks)
    silent = silenced(without(table, ["block.words"]), loud.copy())
    row = table.names.index("block.words")
    assert loud[row].any()
    assert not silent[row].any()
    loud[row] = 0.0
    assert (loud == silent).all()


def test_larger_shares_hold_the_smaller_ones_and_none_of_the_fold_that_is_tested(
    pages: list[LabelledPage],
) -> None:
    planned = trials.of_shares(pages, from_conf(trials.FEATURE_SET), trials.fold_of(pages, 2))
    for smaller, larger in pairwise(planned):
        assert all(set(few.trained) <= set(more.trained) for few, more in zip(smaller, larger, strict=True))
    for fold in planned[-1]:
        assert not {pages[row].site for row in fold.tested} & {pages[row].site for row in fold.trained}
        assert len(fold.trained) + len(fold.tested) == len(pages)
    assert sorted(row for fold in planned[0] for row in fold.tested) == list(range(len(pages)))


def test_a_language_left_out_takes_its_sites_with_it(pages: list[LabelledPage]) -> None:
    moved = [replace(page, site="forum0.example") if page.site == "news0.example" else page for page in pages]
    (trial,) = trials.without_language(moved, from_conf(trials.FEATURE_SET), ["pl"])
    assert {trials.language_of(moved[row]) for row in trial.tested} == {"pl"}
    assert {trials.language_of(moved[row]) for row in trial.trained} == {"en"}
    assert {moved[row].site for row in trial.trained} == {"news1.example", "news2.example", "news3.example"}


def run(*words: str) -> int:
    return studies.main([*words, "--folds", "2", "--iterations", "5", "--features", "victor-2008"])


def test_results_are_kept_and_not_made_twice(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("curve", "--data", str(data), "--results", str(tmp_path))
    (tmp_path / "curve.json").write_text(
        json.dumps(
            {
                name: {"n_trained": 1, "n_tested": 2, "word_f1": 0.5, "mean_over_sets": 0.25}
                for name in ("10% of the sites", "25% of the sites", "50% of the sites")
            }
        )
    )
    assert run(*words) == 0
    found = json.loads((tmp_path / "curve.json").read_text())
    assert found["10% of the sites"]["word_f1"] == 0.5
    assert found["100% of the sites"]["word_f1"] > 0.8
    assert set(found["100% of the sites"]["sets"]) == {"forum", "news"}
    assert "100% of the sites" in capsys.readouterr().out


def test_ablation_sets_groups_and_stages_beside_everything(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "GROUPS", {"words of class and id": ("hint.",)})
    words = ["ablation", "--data", str(data), "--results", str(tmp_path), "--folds", "2", "--iterations", "5"]
    assert studies.main(words) == 0
    found = json.loads((tmp_path / "ablation.json").read_text())
    assert list(found) == [*trials.STAGES, "without words of class and id"]
    assert "difference" not in found[trials.ALL_STAGES]
    for row in found.values():
        assert row["word_f1"] > 0.5
        assert row["n_trained"] + row["n_tested"] == 16


def test_a_language_is_compared_with_what_was_found_out_of_fold(
    data: Path, pages: list[LabelledPage], tmp_path: Path
) -> None:
    half_right(pages, tmp_path)
    assert run("languages", "--data", str(data), "--results", str(tmp_path)) == 0
    found = json.loads((tmp_path / "languages.json").read_text())
    assert set(found) == {"en", "pl"}
    row = found["pl"]
    assert (row["n_trained"], row["n_tested"]) == (8, 8)
    assert row["with_it"] == pytest.approx(0.5)
    assert row["difference"]["mean"] == pytest.approx(row["word_f1"] - 0.5, abs=1e-5)


def test_a_set_left_out_takes_its_sites_with_it_and_is_tested_with_and_without_origins(
    pages: list[LabelledPage],
) -> None:
    moved = [replace(page, site="forum0.example") if page.site == "news0.example" else page for page in pages]
    ((trial, bare),) = trials.without_set(moved, from_conf(trials.FEATURE_SET), ["forum"])
    assert (trial.trained, trial.tested) == (bare.trained, bare.tested)
    assert {moved[row].gold.set for row in trial.tested} == {"forum"}
    assert {moved[row].site for row in trial.trained} == {"news1.example", "news2.example", "news3.example"}
    assert not trial.table.silent
    silent = {bare.table.names[row] for row in bare.table.silent}
    assert silent == {name for name in trial.table.names if name.startswith("origin.")}


def test_sets_are_compared_with_what_was_found_out_of_fold(
    data: Path, pages: list[LabelledPage], tmp_path: Path
) -> None:
    half_right(pages, tmp_path)
    words = ["sets", "--data", str(data), "--results", str(tmp_path), "--folds", "2", "--iterations", "5"]
    assert studies.main(words) == 0
    found = json.loads((tmp_path / "sets.json").read_text())
    assert set(found) == {"forum", "news"}
    row = found["forum"]
    assert row["with_it"] == pytest.approx(0.5)
    assert row["difference"]["mean"] == pytest.approx(row["word_f1"] - row["without_origins"], abs=1e-5)


def test_a_language_without_pages_is_one_clear_line(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = PageRow("news", "1", "x", "en", None, 0, 1, Decided(1, 1, 1.0), Decided(1, 1, 1.0))
    out_of_fold.write(tmp_path / out_of_fold.FILE_NAME, [row])
    assert run("languages", "--data", str(data), "--results", str(tmp_path), "--languages", "xx") == 2
    assert "without language 'xx'" in capsys.readouterr().err


def test_results_out_of_fold_that_lack_a_set_are_one_clear_line(
    data: Path, pages: list[LabelledPage], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    half_right([page for page in pages if page.gold.set == "news"], tmp_path)
    words = ["sets", "--data", str(data), "--results", str(tmp_path), "--folds", "2", "--iterations", "5"]
    assert studies.main(words) == 2
    assert "has no result of forum " in capsys.readouterr().err
