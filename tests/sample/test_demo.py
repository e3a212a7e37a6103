"""The demo cleans the sample crawl with the real job, and prints the values of the job's rows."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.messages import messages
from victor_spark.cli import main
from victor_spark.words import words

pytestmark = pytest.mark.spark


@dataclass(frozen=True)
class Demo:
    """The output of the demo without the folder's name, and the rows of its records, by URL."""

    stdout: str
    rows: dict[str | None, dict[str, Any]]


RUN = """
import sys
from importlib import util
from victor_spark.cli import main
find = util.find_spec
util.find_spec = lambda name: None if name == sys.argv[1] else find(name)  # as where it is not installed
sys.exit(main(["demo", "--no-open", *sys.argv[2:]]))
"""


def run_demo(
    folder: Path, *arguments: str, lacking: str = "", encoding: str = "utf-8"
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", RUN, lacking, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(scope="module")
def demo(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """A demo on the session of these tests; in its own process, it starts one as `victor clean` does."""
    assert spark
    output = tmp_path_factory.mktemp("demo") / "out"
    with io.TextIOWrapper(io.BytesIO(), encoding="utf-8") as stdout, contextlib.redirect_stdout(stdout):
        assert main(["demo", "--no-open", "--output", str(output)]) == 0
        stdout.seek(0)
        shown = stdout.read()
    assert "victor-bar" in (output / "explained.html").read_text(encoding="utf-8")
    table = pq.read_table(output / "pages").to_pylist()
    rows = {row["url"]: row for row in table if row["warc_record_offset"] is not None}
    return Demo(shown.replace(f"{output.parent}/", ""), rows)


@pytest.fixture(scope="module")
def gold(root: Path) -> list[dict[str, Any]]:
    lines = (root / "sample" / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def f1(found: list[str], wanted: list[str]) -> float:
    return 2 * (Counter(found) & Counter(wanted)).total() / (len(found) + len(wanted))


def test_every_line_of_gold_is_a_row(demo: Demo, gold: list[dict[str, Any]]) -> None:
    assert {line["url"] for line in gold} == set(demo.rows)


def test_the_statuses_printed_are_those_of_the_rows(demo: Demo, gold: list[dict[str, Any]]) -> None:
    printed = re.search(r"^Statuses of (\d+) records\n  (.+)$", demo.stdout, re.MULTILINE)
    assert printed is not None
    counts = dict(pair.rsplit(" ", 1) for pair in printed[2].split(", "))
    assert {name: int(n) for name, n in counts.items()} == Counter(
        row["status"] for row in demo.rows.values()
    )
    n_expected = sum(demo.rows[line["url"]]["status"] == line["status"] for line in gold)
    assert f"status equals the gold: {n_expected} of {printed[1]}" in demo.stdout


def test_every_unexpected_status_is_named(demo: Demo, gold: list[dict[str, Any]]) -> None:
    for line in gold:
        found = demo.rows[line["url"]]["status"]
        if found != line["status"]:
            assert f"{line['url']}: {found}, expected {line['status']}" in demo.stdout


def test_the_f1_printed_for_each_site_is_that_of_its_rows(demo: Demo, gold: list[dict[str, Any]]) -> None:
    scores = defaultdict(list)
    for line in gold:
        if line["gold"]:
            row, wanted = demo.rows[line["url"]], words(line["gold"])
            everything = " \n".join(block["text"] for block in row["blocks"] or ())
            pair = f1(words(row["text"] or ""), wanted), f1(words(everything), wanted)
            scores[line["site"]].append(pair)
            scores["all"].append(pair)
    for name, pairs in scores.items():
        ours, theirs = (fmean(column) for column in zip(*pairs, strict=True))
        numbers = rf"{len(pairs)} +[\d.]+ +[\d.]+ +{ours:.3f} +[\d.]+ +{theirs:.3f}$"
        assert re.search(rf"^  {name} .*{numbers}", demo.stdout, re.MULTILINE), name


def test_every_article_begins_with_its_headline(demo: Demo, gold: list[dict[str, Any]]) -> None:
    without_headings = "gmina-krzewiny"  # its headlines are a line of the text
    n_pages = 0
    for line in gold:
        if line["kind"] == "article" and line["site"] != without_headings:
            headline, _, _ = line["gold"].partition("\n")
            assert demo.rows[line["url"]]["text"].startswith(f"{headline}\n"), line["url"]
            n_pages += 1
    assert n_pages == 37


def test_the_page_shown_begins_as_its_row_does(demo: Demo) -> None:
    address = re.search(r"^A page: (\S+)$", demo.stdout, re.MULTILINE)
    assert address is not None
    row = demo.rows[address[1]]
    assert f"{row['n_kept_blocks']} of {row['n_blocks']} blocks kept" in demo.stdout
    shown = re.findall(r"^  \| (.*?)…?$", demo.stdout, re.MULTILINE)
    assert shown
    for line, paragraph in zip(shown, row["text"].split("\n"), strict=False):
        assert paragraph.startswith(line)


def test_each_status_but_ok_is_shown_with_a_reason(demo: Demo) -> None:
    for status in {row["status"] for row in demo.rows.values()} - {"ok"}:
        reasons = {row["reason"] for row in demo.rows.values() if row["status"] == status}
        printed = re.search(rf"^  {status} +(.+)  \(", demo.stdout, re.MULTILINE)
        assert printed is not None, status
        assert printed[1] in reasons


def test_no_line_is_wider_than_a_terminal_but_for_paths_to_copy(demo: Demo) -> None:
    copied = ("$ ", "  python -c", "Rows are in")
    wide = [line for line in demo.stdout.splitlines() if len(line) > 110]
    assert [line for line in wide if not line.startswith(copied)] == []


def test_without_spark_it_prints_the_same_and_says_so(demo: Demo, tmp_path: Path) -> None:
    """Its stdout is UTF-8 also where that of Python is not, as on Windows."""
    shown = run_demo(tmp_path, "--output", "out", lacking="pyspark", encoding="cp1252")
    assert shown.returncode == 0, shown.stderr
    line = "victor: pyspark is not installed: the sample is cleaned in this process, without Spark"
    assert messages(shown.stderr) == [line]
    assert shown.stdout == demo.stdout
    assert pq.read_table(tmp_path / "out" / "pages").num_rows == len(demo.rows) + 1
    again = run_demo(tmp_path, "--output", "out", lacking="pyspark")
    assert (again.returncode, again.stdout) == (0, shown.stdout)


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    mine = tmp_path / "demo-out" / "mine.txt"
    mine.parent.mkdir()
    mine.write_text("not of a demo")
    refused = run_demo(tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "demo-out: holds other files (mine.txt)" in messages(refused.stderr)[-1]


def test_with_spark_too_the_default_folder_is_replaced(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job refuses a folder with files that are not its own, such as the page of an earlier demo."""
    assert spark
    monkeypatch.chdir(tmp_path)
    for name in ("pages/wave-00000.parquet", "_run/config.json", "explained.html"):
        (tmp_path / "demo-out" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "demo-out" / name).write_text("of an earlier demo")
    assert main(["demo", "--no-open"]) == 0
    assert "victor-bar" in (tmp_path / "demo-out" / "explained.html").read_text(encoding="utf-8")


def test_the_default_folder_is_replaced_if_a_demo_made_it(tmp_path: Path) -> None:
    output = tmp_path / "demo-out"
    for name in ("pages/wave-00000.parquet", "_run/config.json", "explained.html"):
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        (output / name).write_text("of an earlier demo")
    replaced = run_demo(tmp_path, lacking="pyspark")
    assert replaced.returncode == 0, replaced.stderr
    assert [file.name for file in (output / "pages").iterdir()] == ["part-0.parquet"]
    assert not (output / "_run").exists()
    assert "victor-bar" in (output / "explained.html").read_text(encoding="utf-8")
