"""Properties of every cleaner that consists of rules, for any page; and their files of constants."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from tests.extractors.pages import kept, page
from tests.html import pages
from victor_spark import clean, resources
from victor_spark.blocks import Page, Scores
from victor_spark.errors import ConfigurationError
from victor_spark.extractors import kimatu, line_block, load

LOADED: dict[str, Callable[[Page], Scores]] = {name: load(name, {}) for name in ("kimatu", "line-block")}
FILES = {"kimatu.toml": kimatu.load, "line_block.toml": line_block.load}

ARTICLE = (
    "The council, after years of delay, opened the new bridge over the river on Monday. “It is a good day”, "
    "the mayor said, and cut the ribbon; hundreds of people, some of them in boats, had come to see it."
)
MENU = "".join(f"<li><a href='/{name}'>{name}</a></li>" for name in ("Home", "News", "Sport", "Contact"))
FOOT = "<hr><table><tr><td></table><div><a href='/'>"
NEWS = (
    f"<title>Council opens bridge - Daily Example</title><body><ul>{MENU}</ul><h1>Council opens bridge</h1>"
    f"<p>{ARTICLE}</p><p>{ARTICLE[::-1].title()}, it said.</p>{FOOT}Top</a></div></body>"
)
CHINESE = (
    "<title>市议会开放新桥</title><body><ul><li><a href='/'>首页</a></li><li><a href='/n'>新闻</a></li></ul>"
    f"<p>{'经过多年的延误，市议会星期一开放了河上的新桥。“这是美好的一天”，市长说。' * 3}</p>"
    f"<p>{'数百人前来观看，其中一些人乘船而来，市长剪了彩。' * 4}</p>{FOOT}返回</a></div></body>"
)


@pytest.mark.parametrize("name", LOADED)
@given(source=pages.articles | pages.strings)
@settings(max_examples=80)
def test_every_block_gets_one_label_for_certain(name: str, source: str) -> None:
    of = page(source)
    scores = LOADED[name](of)
    assert scores.probabilities.shape == (len(of.blocks), 3)
    assert set(np.unique(scores.probabilities)) <= {0.0, 1.0}
    assert (scores.probabilities.sum(axis=1) == 1).all()
    assert scores.kept.tolist() == (scores.probabilities[:, 2] == 0).tolist()
    assert scores.expected_f1 is None


@pytest.mark.parametrize("name", LOADED)
def test_the_article_stays_and_the_menu_goes(name: str) -> None:
    of = page(NEWS)
    texts = kept(of, LOADED[name](of))
    assert ARTICLE in texts
    assert not {"Home", "News", "Sport", "Contact", "Top"} & set(texts)


@pytest.mark.parametrize("name", LOADED)
def test_a_chinese_article_stays_and_its_menu_goes(name: str) -> None:
    of = page(CHINESE)
    assert [text[:3] for text in kept(of, LOADED[name](of))] == ["经过多", "数百人"]


@pytest.mark.parametrize("name", LOADED)
@pytest.mark.parametrize("source", ["", "<p> </p>", "<img src=x><hr>", "<title>only a title</title>"])
def test_a_page_without_text_has_scores_without_rows(name: str, source: str) -> None:
    assert LOADED[name](page(source)).probabilities.shape == (0, 3)


@pytest.mark.parametrize("name", LOADED)
@pytest.mark.parametrize(
    "source",
    [
        "<div class=a style='color:red'>" * 100_000 + "word",
        "<b>" * 100_000 + "word",
        "<p>Here, word for word, it is said again; nothing else.</p>" * 20_000,
        "".join(f"<p class=c{i}>Word, and word; {i} times word.</p>" for i in range(10_000)),
        f"<p {'=' * 300_000} class='{'a ' * 300_000}'>word</p>",
        "word" + "\n<i>\n" * 50_000 + "word",
    ],
    ids=["nested", "nested inline", "paragraphs", "classes", "attributes", "lines"],
)
def test_a_hostile_page_costs_time_in_proportion_to_its_length(name: str, source: str) -> None:
    of = page(source)  # anything quadratic would run into the time limit of the tests
    assert len(LOADED[name](of).kept) == len(of.blocks)


@pytest.mark.parametrize("name", LOADED)
def test_the_cleaner_works_by_name_on_a_whole_page(name: str) -> None:
    document = clean(NEWS, cleaner=name)
    assert document.status == "ok"
    assert ARTICLE in document.text.split("\n")
    assert document.expected_f1 is None


@pytest.mark.parametrize("name", LOADED)
def test_a_page_with_nothing_to_keep_is_empty(name: str) -> None:
    document = clean(f"<ul>{MENU}</ul>", cleaner=name)
    assert (document.status, document.text) == ("empty", "")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("near =", "far_off = 1\nnear =", "far_off: unknown key"),
        ("near =", "# near =", "near: missing key"),
        ("near =", "near = 'by' #", "near = 'by' is not a whole number"),
        ("near =", "near = true #", "near = True is not a whole number"),
        ("near =", "near == ", "Invalid value"),
        ("near =", "[[near =", "Expected"),
    ],
)
@pytest.mark.parametrize("file", FILES)
def test_a_bad_file_of_constants_is_one_clear_line(
    tmp_path: Path, file: str, old: str, new: str, complaint: str
) -> None:
    path = tmp_path / file
    stored = (resources.directory("conf") / file).read_text("utf-8")
    path.write_text(stored.replace("\n" + old, "\n" + new), "utf-8")
    with pytest.raises(ConfigurationError, match=complaint) as raised:
        FILES[file](path)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("file", FILES)
def test_constants_are_read_when_the_cleaner_is_made(
    tmp_path: Path, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VICTOR_HOME", str(tmp_path))
    (tmp_path / "conf").mkdir()
    with pytest.raises(ConfigurationError, match="No such file"):
        FILES[file]()
    monkeypatch.undo()
    shutil.copy(resources.directory("conf") / file, tmp_path / "conf")
    monkeypatch.setenv("VICTOR_HOME", str(tmp_path))
    FILES[file]()
