"""Gold in every format is read as pages; a file that is no gold gives an error of one line."""

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from tests.evaluation.invented import write_sets
from victor_spark.errors import InputError, UsageError, VictorError
from victor_spark.evaluation import evaluate, gold
from victor_spark.evaluation.gold import GoldPage

HTML = "<body><ul><li>home</li></ul><h1>Tides</h1><p>High water at six — and low at noon.</p></body>"
GOLD = "URL: http://tides.example/1\n\n<h>Tides\n<p>High water at six — and low\nat noon.\n"


def read(
    paths: list[Path], pages: Path | None = None, sets: tuple[str, ...] = (), **choice: Any
) -> list[GoldPage]:
    found = gold.sources([str(path) for path in paths], None if pages is None else str(pages))
    return list(gold.chosen(found, sets, **choice))


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """CleanEval's layout: a folder of gold texts, a folder of pages in their wrapper, matched by number."""
    gold, pages = tmp_path / "gold", tmp_path / "pages"
    gold.mkdir()
    pages.mkdir()
    (gold / "1-cleaned.txt").write_text(GOLD, encoding="utf-8")
    wrapped = f'<text id="x" title="" encoding="windows-1252">{HTML}</text>\n'
    (pages / "1.html").write_bytes(wrapped.encode("cp1252"))
    (gold / "2.txt").write_text("only text\nin two lines", encoding="utf-8")
    (pages / "2.html").write_text(HTML, encoding="utf-8")
    return gold, pages


def test_cleaneval_folders_match_by_stem_and_the_wrapper_is_no_page(folders: tuple[Path, Path]) -> None:
    marked, plain = read([folders[0]], folders[1])
    assert (marked.id, marked.set, marked.url) == ("gold/1", "gold", "http://tides.example/1")
    assert marked.html == HTML
    assert marked.gold == "Tides\nHigh water at six — and low at noon."
    assert gold.marked(marked) == GOLD
    assert plain.gold == "only text\nin two lines"
    assert gold.marked(plain) == "<p>only text\n<p>in two lines"


def test_the_encoding_in_the_wrapper_is_that_of_the_page_and_hidden_files_are_none(
    folders: tuple[Path, Path],
) -> None:
    wrapped = '<text id="x" encoding="windows-1250"><p>Loď pluje.</p></text>'
    (folders[1] / "2.html").write_bytes(wrapped.encode("cp1250"))
    (folders[0] / ".2.txt").write_text("of an editor")
    (folders[1] / ".2.html").write_text("of an editor")
    assert [page.html for page in read([folders[0]], folders[1])][1] == "<p>Loď pluje.</p>"


def test_gold_texts_without_a_page_are_left_out_and_named(folders: tuple[Path, Path]) -> None:
    (folders[1] / "1.html").unlink()
    assert [page.id for page in read([folders[0]], folders[1])] == ["gold/2"]
    (line,) = gold.unmatched([str(folders[0])], str(folders[1]), [])
    assert line.startswith("1 of the gold texts")
    assert line.endswith(": 1")


def test_folders_where_nothing_matches_are_refused(folders: tuple[Path, Path]) -> None:
    for page in folders[1].iterdir():
        page.rename(page.with_name(f"page{page.name}"))
    with pytest.raises(InputError, match=r"no gold text in .* has a page"):
        read([folders[0]], folders[1])


def test_snippets_and_their_pages_are_gold_without_text(tmp_path: Path) -> None:
    table = {"http://tides.example/1": {"file": "cache/1.html", "with": ["High water"], "without": ["home"]}}
    (tmp_path / "evaldata.json").write_text(json.dumps(table))
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "1.html").write_text(HTML)
    (page,) = read([tmp_path / "evaldata.json"], tmp_path / "html")
    assert (page.set, page.gold, page.meta["without"]) == ("evaldata", None, ["home"])
    (tmp_path / "html" / "1.html").rename(tmp_path / "html" / "other.html")
    with pytest.raises(InputError, match="none of the 1 files"):
        read([tmp_path / "evaldata.json"], tmp_path / "html")


def test_sets_splits_and_limits_choose_pages(tmp_path: Path) -> None:
    folder = write_sets(tmp_path / "pages")
    assert len(read([folder])) == 24
    assert {page.set for page in read([folder], sets=("news",))} == {"news"}
    assert {page.split for page in read([folder], split="dev")} == {"dev"}
    assert [page.set for page in read([folder], limit=2)] == ["forum"] * 2 + ["news"] * 2
    assert len(read([folder / "news.jsonl"])) == 12


def test_hard_pages_and_pages_without_gold_are_left_out(tmp_path: Path) -> None:
    rows = [
        {"id": "hard", "html": HTML, "gold": "x", "meta": {"hard": True}},
        {"id": "none", "html": HTML, "gold": None},
        {"id": "good", "html": HTML, "gold": "x"},
    ]
    with lzma.open(tmp_path / "some.jsonl.xz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    assert [page.id for page in read([tmp_path / "some.jsonl.xz"])] == ["good"]


def _empty(path: Path) -> tuple[str, ...]:
    (path / "empty.jsonl").touch()
    return ("empty.jsonl",)


def _no_files(path: Path) -> tuple[str, ...]:
    (path / "nothing").mkdir()
    return ("nothing", "nothing")


def _twice(path: Path) -> tuple[str, ...]:
    row = json.dumps({"id": "1", "html": HTML, "gold": "x"})
    (path / "a.jsonl").write_text(f"{row}\n{row}\n")
    return ("a.jsonl",)


def _texts_without_pages(path: Path) -> tuple[str, ...]:
    (path / "gold").mkdir()
    (path / "gold" / "1.txt").write_text(GOLD)
    return ("gold",)


def _pages_too_many(path: Path) -> tuple[str, ...]:
    write_sets(path / "sets")
    return ("sets", "sets")


def _pages_of_no_folder(path: Path) -> tuple[str, ...]:
    _texts_without_pages(path)
    return ("gold", "nowhere")


def _snippets_of_another_form(path: Path) -> tuple[str, ...]:
    (path / "snippets.json").write_text('{"http://harbour.example/": {"page": "1.html"}}')
    return ("snippets.json", ".")


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda _: ("missing",), InputError, "no such file or folder of annotated pages"),
        (_empty, InputError, "no page with gold"),
        (_no_files, InputError, "no files in"),
        (_twice, InputError, "two gold pages"),
        (_texts_without_pages, UsageError, "--pages"),
        (_pages_too_many, UsageError, "--pages"),
        (_pages_of_no_folder, InputError, "--pages .*nowhere: not a directory"),
        (_snippets_of_another_form, InputError, "not a table of URL → file, with, without"),
    ],
)
def test_a_file_that_is_no_gold_gives_one_clear_error(
    tmp_path: Path, make: object, error: type[VictorError], says: str
) -> None:
    assert callable(make)
    path, *pages = (str(tmp_path / name) for name in make(tmp_path))
    with pytest.raises(error, match=says) as caught:
        evaluate.check(gold.sources([path], *pages))
    assert "\n" not in str(caught.value)


def test_a_set_that_is_not_there_is_named(tmp_path: Path) -> None:
    sources = gold.sources([str(write_sets(tmp_path / "sets"))])
    with pytest.raises(InputError, match=r"no set weather in the gold \(choose from forum, news\)"):
        evaluate.check(sources, ("weather",))
