"""Annotated pages are read unchanged; errors name the file and the line."""

import gzip
import json
import lzma
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from victor_spark.errors import InputError
from victor_spark.evaluation import gold
from victor_spark.evaluation.gold import GoldPage

ROW: dict[str, Any] = {
    "id": "news/1",
    "url": "http://www.noviny.example/a",
    "host": "www.noviny.example",
    "lang": "cs",
    "html": "<p>Most je otevřen.</p>",
    "gold": "Most je otevřen.",
    "meta": {"comments_gold": "Konečně!"},
    "split": "dev",
}


def write(path: Path, *rows: object) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".xz":
        path.write_bytes(lzma.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["news.jsonl", "news.jsonl.xz"])
def test_a_page_keeps_all_that_is_known_of_it(tmp_path: Path, name: str) -> None:
    (page,) = gold.read(write(tmp_path / name, ROW))
    assert (page.id, page.set, page.html, page.gold) == ("news/1", "news", ROW["html"], ROW["gold"])
    assert (page.language, page.meta["comments_gold"], page.split) == ("cs", "Konečně!", "dev")
    assert gold.site(page) == "noviny.example"


def test_pages_without_gold_and_hard_pages_are_not_usable(tmp_path: Path) -> None:
    rows = [ROW, ROW | {"gold": None}, ROW | {"meta": {"hard": True}}, ROW | {"gold": ""}]
    pages = gold.read(write(tmp_path / "news.jsonl", *rows))
    assert [gold.usable(page) for page in pages] == [True, False, False, True]


def test_sets_are_found_by_name_and_unknown_ones_refused(tmp_path: Path) -> None:
    forum, news = write(tmp_path / "forum.jsonl", ROW), write(tmp_path / "news.jsonl.xz", ROW)
    assert gold.find(tmp_path) == {"forum": forum, "news": news}
    assert gold.find(tmp_path, ["news"]) == {"news": news}
    with pytest.raises(InputError, match="no set blogs"):
        gold.find(tmp_path, ["blogs"])


def test_a_missing_or_empty_directory_is_refused(tmp_path: Path) -> None:
    for directory in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match=str(directory)):
            gold.find(directory)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"id": "x"}, "has no html"),
        ({"html": "<p>x", "gold": "x"}, "has no id"),
        ([1], "not an annotated page ('list' object is not a mapping)"),
        (ROW | {"html": None}, "not an annotated page (html has the wrong type)"),
        (ROW | {"gold": 1}, "not an annotated page (gold has the wrong type)"),
        (ROW | {"meta": [1]}, "not an annotated page (meta has the wrong type)"),
    ],
)
def test_a_row_that_is_no_page_is_named_by_its_line(tmp_path: Path, row: object, says: str) -> None:
    path = write(tmp_path / "news.jsonl", ROW, row)
    with pytest.raises(InputError, match=re.escape(f"news.jsonl, line 2: {says}")):
        list(gold.read(path))


def test_a_byte_order_mark_is_no_part_of_the_first_page(tmp_path: Path) -> None:
    path = tmp_path / "edited.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(ROW).encode())
    assert [page.id for page in gold.read(path)] == [ROW["id"]]


def test_a_lone_surrogate_is_a_question_mark_and_a_pair_is_a_character(tmp_path: Path) -> None:
    row = ROW | {"id": "\ud800", "gold": "Most \udfff 🌉", "meta": {"\udbff": 1}}
    path = write(tmp_path / "news.jsonl", row)
    (page,) = gold.read(path)
    assert (page.id, page.gold, page.meta) == ("?", "Most ? 🌉", {"?": 1})


@pytest.mark.parametrize("content", [gzip.compress(b"{}"), "{}".encode("utf-16"), b'{"id": "\xe9"}'])
def test_a_file_in_another_encoding_says_what_gold_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "news.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"news.jsonl.gz: not UTF-8 \(.*\); gold is JSON lines, plain or"):
        list(gold.read(path))


def test_a_damaged_file_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "clipped.jsonl.xz"
    path.write_bytes(lzma.compress(json.dumps(ROW).encode())[:-20])
    with pytest.raises(InputError, match="can't read"):
        list(gold.read(path))


def test_sites_are_registered_domains_and_blogs_are_their_own() -> None:
    assert gold.site_of("www.obec.co.uk:8080", None, "") == "obec.co.uk"
    assert gold.site_of("zahrada.blogspot.com", None, "") == "zahrada.blogspot.com"
    assert gold.site_of("localhost", None, "") == "localhost"


@pytest.mark.parametrize(
    "html",
    [
        '<link rel="canonical" href="https://www.obec.example/a">',
        "<meta property='og:url' content='http://obec.example/'>",
        '<a href="http://a.example/">1</a> <a href="http://obec.example/">2</a> <a href="http://m.obec.example/">3</a>',
    ],
    ids=["canonical link", "open graph", "most links"],
)
def test_a_page_without_host_gives_its_site_away(html: str) -> None:
    assert gold.site_of(None, None, html) == "obec.example"


def test_a_page_that_names_no_host_has_no_known_site() -> None:
    assert gold.site_of(None, None, "<p>text</p>") is None


def test_the_host_goes_before_the_address_and_a_page_without_either_is_a_site_of_its_own() -> None:
    page = GoldPage("news/1", "news", "<p>Most", "Most")
    assert gold.site(page) == "news/1"
    assert gold.site(replace(page, host="a.example", url="http://b.example/")) == "a.example"


def test_the_hash_of_gold_depends_on_its_pages_but_not_on_their_order() -> None:
    pages = [GoldPage(f"{n}", "news", "<p>Most", "Most") for n in range(5)]
    assert gold.fingerprint(pages) == gold.fingerprint(pages[::-1])
    for change in ({"id": "9"}, {"set": "x"}, {"html": "<p>"}, {"gold": ""}):
        assert gold.fingerprint([replace(pages[0], **change), *pages[1:]]) != gold.fingerprint(pages)


def test_a_labelled_dom_is_no_markup_of_cleaneval() -> None:
    page = GoldPage("1", "news", "<p>Most", "Most", gold_markup="<div class=text><p>Most</p></div>")
    assert gold.marked(page) == "<p>Most"
