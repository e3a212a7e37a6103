"""`victor train ncleaner`: from annotated pages to a model directory that cleans pages, or one clear line."""

import json
import shlex
from pathlib import Path

import pytest

from tests.evaluation.invented import write_sets
from victor_spark import cli
from victor_spark.commands import train_ngrams
from victor_spark.errors import VictorError
from victor_spark.extractors.ncleaner import from_bytes
from victor_spark.pipeline import cleaning, models
from victor_spark.settings import Settings
from victor_spark.warc.records import Record


def run(*words: str) -> int:
    parser = cli.parser("train ncleaner", train_ngrams.NCLEANER)
    return train_ngrams.train_ncleaner(parser.parse_args(words))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sets(tmp_path_factory.mktemp("ncleaner") / "pages")


def test_the_model_directory_holds_weights_card_and_metrics(data: Path, tmp_path: Path) -> None:
    assert run("--data", str(data), "--output", str(tmp_path / "mine")) == 0
    assert {path.name for path in (tmp_path / "mine").iterdir()} == {"weights.npz", "CARD.md", "metrics.json"}
    metrics = json.loads((tmp_path / "mine" / "metrics.json").read_text())
    # half of the sites are of the split that is measured on
    assert metrics["training_pages"] == {"forum": 6, "news": 6}
    assert list(metrics["held_out"]) == ["forum", "news", "all"]
    assert metrics["held_out"]["all"]["n_pages"] == 12
    assert metrics["held_out"]["all"]["word_f1"]["mean"] > 0.9
    assert "| news | 6 |" in (tmp_path / "mine" / "CARD.md").read_text()


@pytest.mark.parametrize("options", [[], ["--non-lexical"], ["--uncalibrated"]])
def test_five_pairs_make_a_model_that_cleans_a_page_of_another_site(
    data: Path, tmp_path: Path, options: list[str]
) -> None:
    output = tmp_path / "mine"
    assert run("--data", str(data), "--sets", "news", "--pairs", "5", "--output", str(output), *options) == 0
    metrics = json.loads((output / "metrics.json").read_text())
    assert metrics["n_training_pages"] == 5
    assert metrics["command"] == shlex.join(
        ["victor", "train", "ncleaner", "--data", "PAGES", "--sets", "news", "--pairs", "5", *options]
    )
    model = from_bytes((output / "weights.npz").read_bytes())
    assert model.lexical == (options != ["--non-lexical"])
    settings = Settings(cleaner="ncleaner", model=str(output))
    text = "The mayor opened the new bridge over the river and the council will vote on the winter budget."
    html = f"<body><ul><li>Home</li><li>About</li></ul><p>{text}</p><div>Copyright x</div></body>".encode()
    document = cleaning(settings, models(settings))(Record(None, None, "", 0, len(html), html))
    assert document.text == text


def test_the_pages_of_a_model_do_not_depend_on_their_order(data: Path, tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    for path in data.iterdir():
        lines = path.read_text().splitlines(keepends=True)
        (tmp_path / "pages" / path.name).write_text("".join(reversed(lines)))
    for name, pages in (("one", data), ("two", tmp_path / "pages")):
        run("--data", str(pages), "--pairs", "4", "--output", str(tmp_path / name))
    one, two = (from_bytes((tmp_path / name / "weights.npz").read_bytes()) for name in ("one", "two"))
    assert one.ratios.trigrams.tolist() == two.ratios.trigrams.tolist()
    assert one.calibration.tolist() == two.calibration.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--data", "nowhere"], "no directory of annotated pages"),
        (["--sets", "blogs"], "no set blogs"),
        (["--pairs", "0"], "--pairs"),
        (["--pairs", "1000"], "only 12 pages"),
        (["--output", "/dev/null/model"], "cannot write"),
    ],
)
def test_wrong_usage_is_one_clear_line_and_exit_code_two(
    data: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    with pytest.raises(VictorError, match=message) as raised:
        run("--data", str(data), "--output", str(tmp_path / "model"), *options)
    assert raised.value.exit_code == 2
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "model").exists()


def test_an_existing_model_stays_and_missing_measurements_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one_site, output = write_sets(tmp_path / "pages", n_sites=1), tmp_path / "mine"
    words = ["--data", str(one_site), "--output", str(output)]
    assert run(*words) == 0
    assert "not measured: " in capsys.readouterr().err
    with pytest.raises(VictorError, match=r"holds files .*--overwrite"):
        run(*words)
    assert run(*words, "--overwrite") == 0


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ("A text from somewhere else entirely.", "no page .* has a gold text that its html holds"),
        (
            "The ferry leaves the pier at seven in the morning.",
            "need both text that is kept and text that is not",
        ),
    ],
)
def test_data_that_teaches_nothing_is_refused(tmp_path: Path, gold: str, message: str) -> None:
    html = "<p>The ferry leaves the pier at seven in the morning.</p>"
    (tmp_path / "lost.jsonl").write_text(json.dumps({"id": "1", "html": html, "gold": gold}))
    with pytest.raises(VictorError, match=message) as raised:
        run("--data", str(tmp_path), "--output", str(tmp_path / "model"))
    assert raised.value.exit_code == 2
