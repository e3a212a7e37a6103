"""Bad input ends before Spark starts: one clear line on stderr, exit 2, nothing left behind."""

import gzip
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.spark.crawl import PARAGRAPH, Response, Victor, page, write_warc


def good(folder: Path) -> Path:
    return write_warc(
        folder / "good.warc.gz", [Response("http://example.com/", page("A", PARAGRAPH).encode())]
    )


def missing_file(folder: Path) -> list[object]:
    return [folder / "missing.warc.gz"]


def list_of_missing_files(folder: Path) -> list[object]:
    (folder / "warc.paths").write_text("crawl/a.warc.gz\ncrawl/b.warc.gz\n")
    return [folder / "warc.paths"]


def unreadable_list(folder: Path) -> list[object]:
    (folder / "warc.paths.gz").write_bytes(gzip.compress(b"a.warc.gz\n" * 1000)[:-40])
    return [folder / "warc.paths.gz"]


def empty_list(folder: Path) -> list[object]:
    (folder / "warc.paths").write_text("\n\n")
    return [folder / "warc.paths"]


def empty_shard(folder: Path) -> list[object]:
    (folder / "empty.warc.gz").touch()
    return [folder / "empty.warc.gz"]


def a_pdf(folder: Path) -> list[object]:
    (folder / "paper.pdf").write_bytes(b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n")
    return [folder / "paper.pdf"]


def prose(folder: Path) -> list[object]:
    (folder / "notes.txt").write_text("Nothing of this\nis the name of a file.\n")
    return [good(folder), folder / "notes.txt"]


def fifo(folder: Path) -> list[object]:
    os.mkfifo(folder / "pipe.warc.gz")
    return [good(folder), folder / "pipe.warc.gz"]


def link_to_nothing(folder: Path) -> list[object]:
    (folder / "link.warc.gz").symlink_to("gone.warc.gz")
    return [good(folder), folder / "link.warc.gz"]


def name_that_is_not_utf8(folder: Path) -> list[object]:
    return [good(folder).rename(os.fsdecode(bytes(folder) + b"/caf\xe9.warc.gz"))]


def directory_without_archives(folder: Path) -> list[object]:
    (folder / "crawl").mkdir()
    (folder / "crawl" / "notes.txt").write_text("nothing here")
    return [folder / "crawl"]


def glob_without_match(folder: Path) -> list[object]:
    return [folder / "*.warc.zst"]


def model_of_something_else(folder: Path) -> list[object]:
    (folder / "model.npz").write_bytes(b"PK\x03\x04 but no model")
    return [good(folder), "--model", folder / "model.npz"]


def missing_model(folder: Path) -> list[object]:
    return [good(folder), "--model", folder / "no-model"]


def unknown_cleaner(folder: Path) -> list[object]:
    return [good(folder), "--cleaner", "victor-1899"]


def threshold_beyond_one(folder: Path) -> list[object]:
    return [good(folder), "--threshold", "1.5"]


def no_number(folder: Path) -> list[object]:
    return [good(folder), "--partitions", "many"]


def unknown_option(folder: Path) -> list[object]:
    return [good(folder), "--fast"]


def stdin_as_a_shard(_: Path) -> list[object]:
    return ["-"]


def format_of_rows(folder: Path) -> list[object]:
    return [good(folder), "--format", "markdown"]


@pytest.mark.parametrize(
    "arguments",
    [
        missing_file,
        list_of_missing_files,
        unreadable_list,
        empty_list,
        empty_shard,
        a_pdf,
        prose,
        fifo,
        link_to_nothing,
        name_that_is_not_utf8,
        directory_without_archives,
        glob_without_match,
        model_of_something_else,
        missing_model,
        unknown_cleaner,
        threshold_beyond_one,
        no_number,
        unknown_option,
        stdin_as_a_shard,
        format_of_rows,
    ],
    ids=lambda function: function.__name__,
)
def test_one_line_exit_2_and_no_output(
    tmp_path: Path, victor: Victor, arguments: Callable[[Path], list[object]]
) -> None:
    outcome = victor("clean", *arguments(tmp_path), "--output", tmp_path / "out")
    assert outcome.code == 2
    assert len(outcome.lines) == 1
    assert outcome.lines[0].startswith("victor: error: ")
    assert not (tmp_path / "out").exists()


def test_an_output_that_is_a_file_stays_that_file(tmp_path: Path, victor: Victor) -> None:
    (tmp_path / "out").write_text("mine")
    outcome = victor("clean", good(tmp_path), "--output", tmp_path / "out")
    assert (outcome.code, len(outcome.lines)) == (2, 1)
    assert "is a file" in outcome.lines[0]
    assert (tmp_path / "out").read_text() == "mine"


def test_an_output_with_other_files_is_left_alone(tmp_path: Path, victor: Victor) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    outcome = victor("clean", good(tmp_path), "--output", tmp_path / "out")
    assert (outcome.code, len(outcome.lines)) == (2, 1)
    assert "thesis.tex" in outcome.lines[0]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.tex"]


def test_an_output_without_a_parent_is_refused(tmp_path: Path, victor: Victor) -> None:
    outcome = victor("clean", good(tmp_path), "--output", tmp_path / "no" / "such" / "out")
    assert (outcome.code, len(outcome.lines)) == (2, 1)
    assert "parent directory" in outcome.lines[0]
    assert not (tmp_path / "no").exists()


def test_an_output_below_a_file_is_refused(tmp_path: Path, victor: Victor) -> None:
    outcome = victor("clean", good(tmp_path), "--output", good(tmp_path) / "out")
    assert (outcome.code, len(outcome.lines)) == (2, 1)


def test_an_unwritable_output_is_refused(tmp_path: Path, victor: Victor) -> None:
    """Its parent is there: that is not the reason."""
    outcome = victor("clean", good(tmp_path), "--output", "/proc/victor")
    assert (outcome.code, len(outcome.lines)) == (2, 1)
    assert "/proc/victor: can't write there: " in outcome.lines[0]
    assert "parent" not in outcome.lines[0]


def test_an_output_that_is_a_broken_link_is_refused(tmp_path: Path, victor: Victor) -> None:
    """By `victor plan`, too: it says what `victor clean` would."""
    (tmp_path / "out").symlink_to(tmp_path / "disk" / "out")
    for command in ("clean", "plan"):
        outcome = victor(command, good(tmp_path), "--output", tmp_path / "out")
        assert (outcome.code, len(outcome.lines)) == (2, 1)
        assert outcome.lines[0].endswith("/out: is a file or a broken link; --output is a directory")


@pytest.mark.parametrize(
    "words",
    [
        ["clean", "page.warc.gz", "--output", ""],
        ["plan", "page.warc.gz", "--output="],
        ["status", ""],
        ["export", "out", "", "--to", "jsonl"],
        ["dedup", "out", "--output", ""],
    ],
)
def test_an_empty_path_is_refused_by_the_name_of_its_option(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, victor: Victor
) -> None:
    """As of a variable that a script does not set: it must not be the working folder."""
    monkeypatch.chdir(tmp_path)
    outcome = victor(*words)
    assert (outcome.code, len(outcome.lines)) == (2, 1)
    assert re.search(r"argument (--output|OUT|DEST): must not be empty \(see victor", outcome.lines[0])
    assert not list(tmp_path.iterdir())
