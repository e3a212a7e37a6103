"""The README's examples: its Python prints the output below it, and its commands succeed."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import victor_html
import victor_spark
from victor_spark.cli import main
from victor_spark.statuses import STATUSES
from victor_spark.tables import PAGES

PACKAGES = [Path(package.__file__).parent for package in (victor_html, victor_spark)]


def blocks(root: Path, language: str, page: str = "README.md") -> list[str]:
    """The fenced code blocks of a language, in order."""
    text = (root / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(root: Path, name: str) -> list[list[str]]:
    """The command lines that begin with `name`, without their comments, as words."""
    lines = "".join(blocks(root, "sh")).replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.startswith(f"{name} ")]


@pytest.fixture
def here(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the README's page.html and the sample crawl."""
    (tmp_path / "page.html").write_text(blocks(root, "html")[0], encoding="utf-8")
    (tmp_path / "sample").symlink_to(root / "sample")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_python_examples_print_the_output_shown_below_them(root: Path, here: Path, page: str) -> None:
    examples, shown = blocks(root, "python", page), blocks(root, "text", page)
    assert examples
    for source, output in zip(examples, shown, strict=True):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, page, "exec"), {})
        assert printed.getvalue() == output


def test_victor_prints_the_text_of_a_page(root: Path, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = [words for words in commands(root, "victor") if words[1] == "clean" and "--output" not in words]
    assert pages
    for words in pages:
        assert main(words[1:]) == 0, words
        assert "quieter" in capsys.readouterr().out, words


@pytest.mark.spark
def test_victor_writes_the_rows_of_shards(spark: SparkSession, root: Path, here: Path) -> None:
    jobs = [words for words in commands(root, "victor") if words[1] != "clean" or "--output" in words]
    assert {words[1] for words in jobs} == {"clean", "dedup", "export", "plan", "status"}
    assert spark
    for words in jobs:
        assert main(words[1:]) == 0, words
        output = words[words.index("--output") + 1] if "--output" in words else "out"
        if words[1] == "clean":
            assert pq.read_table(here / output / "pages").num_rows > 0


def test_spark_submit_gets_the_path_of_an_existing_job(root: Path) -> None:
    submitted = commands(root, "spark-submit")
    assert submitted
    for words in submitted:
        assert [root / word for word in words if word.startswith("jobs/") and (root / word).is_file()], words


def test_every_column_and_status_is_documented(root: Path) -> None:
    text = (root / "docs" / "output.md").read_text(encoding="utf-8")
    missing = [name for name in (*PAGES.names, *STATUSES) if f"`{name}`" not in text]
    assert missing == []


def test_links_lead_to_files(root: Path) -> None:
    for page in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]:
        targets = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
        for package in PACKAGES:  # maybe those of a wheel
            targets = [re.sub(rf"^(\.\./)?{package.name}(?=/)", str(package), name) for name in targets]
        assert [name for name in targets if not (page.parent / name).exists()] == [], page


def test_links_to_headings_lead_to_headings(root: Path) -> None:
    for page in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        for name, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
            target = page.parent / name if name else page
            heads = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
            assert anchor in slugs, (page.name, name, anchor)


def test_the_index_lists_every_document(root: Path) -> None:
    listed = set(
        re.findall(r"\]\((\w[^)#:/]*\.md)\)", (root / "docs" / "README.md").read_text(encoding="utf-8"))
    )
    assert listed == {page.name for page in (root / "docs").glob("*.md")} - {"README.md"}


def test_the_readme_fits_its_limit(root: Path) -> None:
    assert len((root / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
