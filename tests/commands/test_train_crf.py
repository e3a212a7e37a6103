"""`victor train crf`: from annotated pages to a model directory that cleans pages, or one clear line."""

import json
from pathlib import Path

import pytest

from tests.evaluation.invented import write_sets
from victor_spark import cli, train
from victor_spark.commands import train_crf
from victor_spark.errors import InputError, UsageError, VictorError
from victor_spark.extractors import MODELS
from victor_spark.model.files import from_bytes, read_bytes
from victor_spark.pipeline import cleaning, models
from victor_spark.resources import directory
from victor_spark.settings import Settings
from victor_spark.train.crf import MAX_BLOCKS
from victor_spark.warc.records import Record


def run(*words: str) -> int:
    parser = cli.parser("train crf", train_crf.TRAIN)
    return train_crf.run(parser.parse_args(words))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("train")
    data, output = write_sets(directory / "pages"), directory / "mine"
    words = ("--features", "victor-2008", "--folds", "3", "--iterations", "30")
    assert run("--data", str(data), "--output", str(output), *words) == 0
    return output


def test_the_model_directory_holds_weights_card_metrics_and_pictures(trained: Path) -> None:
    names = {"weights.npz", "CARD.md", "metrics.json", "curve.png", "reliability.png", "word_f1.png"}
    names.add("out_of_fold.jsonl.gz")
    assert {path.name for path in trained.iterdir()} == names


def test_metrics_are_per_cleaner_and_set(trained: Path) -> None:
    metrics = json.loads((trained / "metrics.json").read_text())
    assert metrics["training_pages"] == {"forum": 12, "news": 12}
    for rows in metrics["cross_validation"].values():
        assert list(rows) == ["forum", "news", "all"]
        assert rows["all"]["word_f1"]["mean"] > 0.9


def test_the_card_names_sets_licences_and_the_papers_figures(trained: Path) -> None:
    card = (trained / "CARD.md").read_text()
    assert "| news | 12 |" in card
    assert "| 91.13 | 92.23 | 80.75 | 79.88 |" in card
    assert "train crf --data PAGES" in card


def test_the_model_cleans_a_page_of_another_site(trained: Path) -> None:
    settings = Settings(model=str(trained))
    text = "The mayor opened the new bridge over the river and the council will vote on the winter budget."
    html = f"<body><ul><li><a href='/'>Home</a></li></ul><p>{text}</p><div>Copyright x</div></body>".encode()
    document = cleaning(settings, models(settings))(Record(None, None, "", 0, len(html), html))
    assert document.text == text


def test_without_further_options_the_features_are_those_of_victor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipes: list[train_crf.Recipe] = []
    monkeypatch.setattr(train_crf, "_write", lambda *arguments: recipes.append(arguments[3]))
    data = write_sets(tmp_path / "pages")
    assert run("--data", str(data), "--output", str(tmp_path / "mine"), "--folds", "0") == 0
    shipped = from_bytes(read_bytes(directory("models") / MODELS["victor"]))
    assert recipes[0].table.feature_set == shipped.table.feature_set
    assert recipes[0].table.names == shipped.table.names


@pytest.mark.parametrize("words", [[], ["--start-from", "victor"]])
def test_without_the_extra_one_line_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    missing = {"catboost", "sklearn"}
    there = train.find_spec
    monkeypatch.setattr(train, "find_spec", lambda name: None if name in missing else there(name))
    with pytest.raises(UsageError, match=r"needs catboost and sklearn: pip install 'victor-spark\[train\]'"):
        run("--data", str(tmp_path), "--output", str(tmp_path / "mine"), *words)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--data", "nowhere"], "no directory of annotated pages"),
        (["--sets", "blogs"], "no set blogs"),
        (["--features", "victor-1984"], "victor-1984"),
        (["--folds", "1"], "--folds"),
        (["--folds", "50"], "sites"),
        (["--output", "/dev/null/model"], "cannot write"),
    ],
)
def test_wrong_usage_is_one_clear_line_and_exit_code_two(
    tmp_path: Path, options: list[str], message: str
) -> None:
    data = write_sets(tmp_path / "pages")
    with pytest.raises(VictorError, match=message) as raised:
        run("--data", str(data), "--output", str(tmp_path / "model"), *options)
    assert raised.value.exit_code == 2
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "model").exists()


def test_a_model_that_is_there_is_overwritten_only_when_asked(tmp_path: Path) -> None:
    data, output = write_sets(tmp_path / "pages", n_sites=2), tmp_path / "mine"
    output.mkdir()
    (output / "weights.npz").write_text("mine")
    words = ["--data", str(data), "--output", str(output), "--folds", "0", "--iterations", "2"]
    words += ["--features", "victor-2008"]
    with pytest.raises(VictorError, match=r"holds files \(weights\.npz\).*--overwrite"):
        run(*words)
    assert (output / "weights.npz").read_text() == "mine"
    assert run(*words, "--overwrite") == 0
    assert models(Settings(model=str(output)))


@pytest.mark.parametrize("start", [["--features", "victor-2008"], ["--start-from", "victor"]])
def test_of_one_site_nothing_is_measured_and_the_reason_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], start: list[str]
) -> None:
    data, output = write_sets(tmp_path / "pages", n_sites=1), tmp_path / "mine"
    with (data / "news.jsonl").open("a") as file:
        # Its html does not hold the gold: the page is not learnt from, and its site does not count.
        row = {"id": "2", "host": "b.example", "html": "<p>Switch on JavaScript.</p>", "gold": "Another text"}
        file.write(json.dumps(row))
    words = ["--gold", str(data / "news.jsonl"), "--output", str(output), "--iterations", "2"]
    assert run(*words, *start) == 0
    report = "not measured: all pages to learn from are of one site"
    assert f"victor: {report}" in capsys.readouterr().err
    assert (
        json.loads((output / "metrics.json").read_text())["not_measured"] in (output / "CARD.md").read_text()
    )


def test_of_fewer_sites_than_folds_every_site_is_a_fold(tmp_path: Path) -> None:
    data, output = write_sets(tmp_path / "pages", n_sites=2), tmp_path / "mine"
    words = ["--gold", str(data / "news.jsonl"), "--output", str(output), "--features", "victor-2008"]
    assert run(*words, "--iterations", "2") == 0
    assert json.loads((output / "metrics.json").read_text())["n_folds"] == 2


def test_a_measurement_that_the_user_turned_off_is_reported_as_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = write_sets(tmp_path / "pages", n_sites=2)
    words = ["--data", str(data), "--output", str(tmp_path / "mine"), "--folds", "0", "--iterations", "2"]
    assert run(*words) == 0
    assert "victor: not measured: --folds 0" in capsys.readouterr().err


def test_only_pages_with_their_gold_and_of_a_usual_length_are_learnt_from(tmp_path: Path) -> None:
    path = write_sets(tmp_path / "pages", n_sites=2) / "news.jsonl"
    others = (
        {"id": "no-gold", "html": "<p>Switch on JavaScript.</p>", "gold": None},
        {"id": "elsewhere", "html": "<p>Switch on JavaScript.</p>", "gold": "A text from somewhere else."},
        {"id": "long", "html": "<p>One more line" * (MAX_BLOCKS + 1), "gold": "One more line\n" * MAX_BLOCKS},
    )
    path.write_text(path.read_text() + "".join(f"{json.dumps(row)}\n" for row in others))
    output = tmp_path / "mine"
    words = ["--gold", str(path), "--output", str(output), "--features", "victor-2008"]
    assert run(*words, "--iterations", "2", "--folds", "0") == 0
    metrics = json.loads((output / "metrics.json").read_text())
    assert (metrics["n_labelled_pages"], metrics["training_pages"]) == (6, {"news": 4})
    model = from_bytes(read_bytes(output))
    assert model.about["n_training_pages"] == 4


def test_files_of_one_name_in_two_folders_are_both_learnt_from(tmp_path: Path) -> None:
    one, other = (write_sets(tmp_path / name, n_sites=2) / "news.jsonl" for name in ("one", "other"))
    other.write_text(other.read_text().replace('"id": "news', '"id": "more'))
    output = tmp_path / "mine"
    words = ["--gold", str(one), str(other), "--output", str(output), "--features", "victor-2008"]
    assert run(*words, "--iterations", "2", "--folds", "0") == 0
    assert json.loads((output / "metrics.json").read_text())["training_pages"] == {"news": 8}


def test_two_pages_of_one_id_are_refused_before_the_training(tmp_path: Path) -> None:
    path = write_sets(tmp_path / "pages", n_sites=2) / "news.jsonl"
    path.write_text(path.read_text().replace("news/1/0", "news/0/1"))
    with pytest.raises(InputError, match="two gold pages of the set news have the id news/0/1"):
        run("--gold", str(path), "--output", str(tmp_path / "mine"), "--features", "victor-2008")
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize("text", ["A text from somewhere else entirely.", "", " \n"])
def test_data_without_any_gold_that_its_html_holds_is_refused(tmp_path: Path, text: str) -> None:
    row = {"id": "1", "html": "<p>Switch on JavaScript.</p>", "gold": text}
    (tmp_path / "lost.jsonl").write_text(json.dumps(row))
    with pytest.raises(VictorError, match="its html holds"):
        run("--data", str(tmp_path), "--output", str(tmp_path / "model"), "--folds", "0")
    assert not (tmp_path / "model").exists()


def test_a_trained_model_is_adapted_and_measured_beside_what_it_was(trained: Path, tmp_path: Path) -> None:
    data = write_sets(tmp_path / "pages", n_sites=3)
    output = tmp_path / "adapted"
    words = ["--gold", str(data / "news.jsonl"), "--start-from", str(trained), "--output", str(output)]
    assert run(*words, "--iterations", "5") == 0
    metrics = json.loads((output / "metrics.json").read_text())
    assert metrics["feature_set"] == "victor-2008"
    assert metrics["n_folds"] == 3
    assert {"victor", "victor, before"} & set(metrics["cross_validation"]) or len(
        metrics["cross_validation"]
    ) == 2
    assert "--start-from mine --strength 0.25" in (output / "CARD.md").read_text()
    settings = Settings(cleaner="victor-2008", model=str(output))
    html = b"<body><p>The mayor opened the new bridge over the river and the council will vote.</p></body>"
    assert cleaning(settings, models(settings))(Record(None, None, "", 0, len(html), html)).status == "ok"


def test_an_adaptation_without_strength_has_the_weights_of_its_start(trained: Path, tmp_path: Path) -> None:
    data, output = write_sets(tmp_path / "pages", n_sites=1), tmp_path / "adapted"
    words = ["--gold", str(data / "news.jsonl"), "--start-from", str(trained), "--output", str(output)]
    assert run(*words, "--iterations", "2", "--folds", "0", "--strength", "0") == 0
    start, adapted = (from_bytes(read_bytes(path)) for path in (trained, output))
    assert adapted.bias.tolist() == start.bias.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--start-from", "nobody"], "neither a CRF cleaner"),
        (["--start-from", "victor", "--features", "victor-2008"], "cannot be combined with --start-from"),
        (["--strength", "0.5"], "--strength needs --start-from"),
        (["--sets", "news"], "--sets selects files in --data"),
    ],
)
def test_options_that_do_not_go_together_are_one_clear_line(
    tmp_path: Path, options: list[str], message: str
) -> None:
    data = write_sets(tmp_path / "pages", n_sites=1)
    with pytest.raises(VictorError, match=message):
        run("--gold", str(data / "news.jsonl"), "--output", str(tmp_path / "o"), *options)
