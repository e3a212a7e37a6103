"""The examples of docs/ run: here, in the test that is named, or the reason is given."""

import argparse
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from pyspark.sql import SparkSession

from tests.conftest import ROOT
from tests.test_readme import blocks
from victor_spark import cli
from victor_spark.commands import COMMANDS

RUN: Final = ("coming-from", "dedup", "export", "running", "structure", "templates-howto", "tutorial")
"""Pages whose commands `victor ...` run here, on the sample crawl."""

NOT_HERE: Final = {
    "--master": "the tests have one session of Spark",
    "https://": "needs the network",
    "s3://": "needs S3: ./dev test-s3",
    "lake.": "needs a catalog: ./dev test-spark",
    "trafilatura": "not installed here: ./dev test-adapters",
}
"""Part of a command of those pages that does not run here → reason."""

ELSEWHERE: Final = {
    "README": "test_the_example_of_the_index",
    "annotate": "browser/test_the_loop.py",
    "common-crawl": "s3/test_common_crawl.py",
    "deploy": "deployment/test_deployment.py",
    "evaluation": "needs annotated pages: research/tests",
    "exploring": "spark/test_datasource.py",
    "look": "opens a browser: browser",
    "new-language": "browser/test_the_loop.py",
    "pipelines": "adapters/test_adapters.py",
    "python": "test_readme.py",
}
PAGES: Final = sorted((ROOT / "docs").glob("*.md"))


def commands(page: Path) -> Iterator[list[str]]:
    """The command lines `victor ...` of a page, as words without their comments."""
    inside = False
    for line in page.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        inside ^= line.startswith("```")
        if inside or line.startswith("    "):
            command = re.split(r"\s{3,}", line.strip().removeprefix("$ "))[0]
            if command.startswith("victor ") and not command.startswith("victor: "):
                yield shlex.split(command, comments=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_page_is_one_that_victor_takes(page: Path) -> None:
    for _, *words in commands(page):
        name = next(name for name in (" ".join(words[:2]), words[0]) if name in COMMANDS)
        parsed = cli.parser(name, cli.loaded(name)).parse_args(words[len(name.split()) :])
        assert isinstance(parsed, argparse.Namespace)


def test_every_page_with_examples_says_where_they_run() -> None:
    with_examples = {
        page.stem for page in PAGES if [*commands(page), *blocks(ROOT, "python", f"docs/{page.name}")]
    }
    assert with_examples == {*RUN, *ELSEWHERE}
    tests = [name for name in ELSEWHERE.values() if name.endswith(".py")]
    assert [name for name in tests if not (ROOT / "tests" / name).is_file()] == []


@pytest.fixture(scope="module")
def clean_run(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the pages start from."""
    folder = tmp_path_factory.mktemp("docs")
    shards = sorted((ROOT / "sample").glob("crawl-*.warc.gz"))
    (folder / "page.html").write_text(blocks(ROOT, "html")[0], encoding="utf-8")
    (folder / "ferries.html").write_text(blocks(ROOT, "html")[0], encoding="utf-8")
    (folder / "sample").symlink_to(ROOT / "sample")
    (folder / "april.warc.gz").symlink_to(shards[0])
    for month in ("crawl", "march"):
        (folder / month).mkdir()
        (folder / month / shards[0].name).symlink_to(shards[0])
    assert spark
    assert cli.main(["clean", str(shards[0]), "--output", str(folder / "finished")]) == 0
    return folder


@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", RUN)
def test_the_commands_of_a_page_run(
    page: str, clean_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for entry in clean_run.iterdir():
        (tmp_path / entry.name).symlink_to(entry)
    (tmp_path / "finished").unlink()
    if page in ("dedup", "export"):
        shutil.copytree(clean_run / "finished", "out")
    n_run = 0
    for _, *words in commands(ROOT / "docs" / f"{page}.md"):
        if any(part in word for word in words for part in NOT_HERE):
            continue
        if page == "running" and "out" in words and "--by-site" in words:
            shutil.rmtree("out")  # another section of the page
        assert cli.main([word.replace("example.org", "podhorsky-list.example") for word in words]) == 0, words
        n_run += 1
    assert n_run


@pytest.mark.spark
def test_the_python_of_the_tutorial_reads_the_rows(
    clean_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (source,) = blocks(ROOT, "python", "docs/tutorial.md")
    monkeypatch.chdir(tmp_path)
    Path("out").symlink_to(clean_run / "finished")
    exec(compile(source, "tutorial.md", "exec"), {})
    assert "'ok':" in capsys.readouterr().out


def test_the_tutorial_shows_the_text_that_victor_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    page.write_text(blocks(ROOT, "html")[0], encoding="utf-8")
    assert cli.main(["clean", str(page)]) == 0
    assert capsys.readouterr().out == blocks(ROOT, "text", "docs/tutorial.md")[0]


def test_the_example_of_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "page.html").write_text(blocks(ROOT, "html")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(blocks(ROOT, "python", "docs/README.md")[0], "README.md", "exec"), names)
    status, markdown = capsys.readouterr().out.split("\n", 1)
    assert status.startswith("ok en The island ferry is back")
    assert "**much quieter**" in markdown
