"""The markup around each block: the paper's examples (section 3.2), and what counts as a paragraph."""

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.html.pages import blocks_of, texts_of
from victor_html.elements import fnv1a
from victor_spark.errors import ConfigurationError
from victor_spark.html.tags import BIT, CONTAINERS, GROUPS, tables, words


def column(source: str, name: str) -> list[Any]:
    """One column of the page's blocks."""
    values: list[Any] = getattr(blocks_of(source), name).tolist()
    return values


def containers(source: str) -> list[set[str]]:
    """The classes of each block's ancestors."""
    return [{name for name in CONTAINERS if mask & BIT[name]} for mask in column(source, "containers")]


def groups(source: str, name: str) -> list[list[str]]:
    """Texts of the blocks that share a number in a column, in order of first appearance."""
    found: dict[int, list[str]] = defaultdict(list)
    blocks = blocks_of(source)
    for text, group in zip(texts_of(blocks), getattr(blocks, name).tolist(), strict=True):
        found[group].append(text)
    return list(found.values())


def test_the_papers_snippet_has_three_blocks() -> None:
    source = "<p>Hello <b>world</b>!</p>"
    assert texts_of(blocks_of(source)) == ["Hello", "world", "!"]
    assert containers(source) == [{"p"}, {"p", "class-bold"}, {"p"}]
    assert column(source, "space_before") == [0, 1, 0]


def test_the_papers_div_groups() -> None:
    source = "<div>a<div>b<br>c</div>d<div>e<br>f</div>g</div>"
    assert groups(source, "div_group") == [["a", "d", "g"], ["b", "c"], ["e", "f"]]
    assert column(f"{source}x", "div_group")[-1] == 0


def test_td_groups_are_those_of_the_innermost_cell() -> None:
    source = "<table><tr><th>a<td>b<table><tr><td>c<p>d</table>e</table>f"
    assert groups(source, "td_group") == [["a"], ["b", "e"], ["c", "d"], ["f"]]
    assert column(source, "td_group")[-1] == 0


def test_containers_are_those_of_all_ancestors() -> None:
    source = (
        "<form><ul><li><h2><u><a><em>x</em></a></u></h2></li></ul></form>"
        "<noscript><pre>y</pre></noscript><article><nav><blockquote>z"
    )
    assert containers(source) == [
        {"class-form", "class-list", "li", "class-header", "u", "a", "class-italic"},
        {"noscript", "pre"},
        {"article", "nav", "blockquote"},
    ]


def test_an_image_marks_the_text_after_it_in_the_same_block_level_element() -> None:
    source = "<p>a<img>b <b>c</b></p><div>d <a><img>e</a> f</div>"
    assert ["img" in names for names in containers(source)] == [False, True, True, False, True, False]


@pytest.mark.parametrize(
    ("between", "p", "br", "hr", "inline", "block"),
    [
        ("<br>", 0, 1, 0, 1, 0),
        ("<br> <br/><br>", 0, 3, 0, 3, 0),
        ("<b> </b><i></i>", 0, 0, 0, 4, 0),
        ("<hr>", 0, 0, 1, 0, 1),
        ("<p></p><p>", 3, 0, 0, 0, 3),
        ("<div><p></p></div>", 2, 0, 0, 0, 4),
        ("<!-- x --><img><hr><hr><span>", 0, 0, 2, 2, 2),
        ("<ul><li><a>", 0, 0, 0, 1, 2),
        ("<unknown>", 0, 0, 0, 1, 0),
    ],
)
def test_split_counts_opening_and_closing_tags_since_the_previous_block(
    between: str, p: int, br: int, hr: int, inline: int, block: int
) -> None:
    blocks = blocks_of(f"<body>x{between}y")
    names = ("n_split_p", "n_split_br", "n_split_hr", "n_split_inline", "n_split_block")
    assert [int(getattr(blocks, name)[1]) for name in names] == [p, br, hr, inline, block]


@pytest.mark.parametrize(
    ("source", "paragraphs"),
    [
        ("a<br>b", [["a", "b"]]),
        ("a<br><br>b", [["a"], ["b"]]),
        ("a<br>\n<br>b", [["a"], ["b"]]),
        ("a<br>b<br>c", [["a", "b", "c"]]),
        ("a <b>b</b><i>c</i>d", [["a", "b", "c", "d"]]),
        ("<p>a<p>b", [["a"], ["b"]]),
        ("<li>a<li>b", [["a"], ["b"]]),
        ("a<hr>b", [["a"], ["b"]]),
        ("<div>a<div></div>b</div>", [["a"], ["b"]]),
        ("<td>a</td>", [["a"]]),
        ("<table><td>a<td>b</table>", [["a"], ["b"]]),
        ("a<img>b<wbr>c", [["a", "b", "c"]]),
    ],
)
def test_inline_tags_and_one_br_join_block_tags_and_two_br_split(
    source: str, paragraphs: list[list[str]]
) -> None:
    assert groups(source, "paragraph") == paragraphs


def test_heading_level_is_that_of_the_innermost_heading() -> None:
    assert column("<h1>a<b>b</b></h1>c<h6>d</h6><div><h3><p>e</p></h3>f</div>", "heading_level") == [
        1,
        1,
        0,
        6,
        3,
        0,
    ]


def test_list_blocks_are_marked() -> None:
    assert column("a<ul><li>d<p>e</ul><pre>f</pre>", "in_list_item") == [0, 1, 1, 0]


def test_white_space_is_that_of_the_innermost_element_that_says_so() -> None:
    source = (
        "a<pre>b<i>c</i></pre><xmp>d</xmp><textarea>e</textarea>"
        "<p style='COLOR:red;White-Space : Pre-Line'>f<b style='white-space:normal'>g</b>"
        "<b style='white-space: -moz-pre-wrap; white-space:pre-wrap'>h</b></p>"
        "<pre style='white-space: pre-wrap'>i<b style='white-space:nowrap'>j</b></pre>"
        "<p style='white-space:pre;white-space: inherit'>k<p style='white-space:what'>l"
        "<p style='white-space :pre-line'>m<p style='x-white-space:pre'>n"
        "<p style='display:none;white-space:break-spaces;visibility:hidden'>o"
        "<p data-style='white-space:pre'>p"
    )
    assert column(source, "white_space") == [0, 3, 3, 3, 3, 1, 0, 2, 3, 0, 3, 0, 1, 0, 2, 0]


def test_a_listing_is_an_outermost_element_of_its_white_space() -> None:
    source = (
        "<pre>a<i>b</i><pre>c</pre>d</pre>e<pre>f</pre><div style='white-space:pre-wrap'>g<pre>h</pre>i</div>"
    )
    assert groups(source, "listing") == [["a", "b", "c", "d"], ["e"], ["f"], ["g", "i"], ["h"]]


def test_space_before_says_where_the_page_has_white_space() -> None:
    assert column("<b>a</b><b>b</b> <b>c</b>&nbsp;<b>d</b><b> e</b><b>f </b><b>g</b>", "space_before") == [
        0,
        0,
        1,
        1,
        1,
        0,
        1,
    ]


def test_a_line_break_is_white_space() -> None:
    assert column("a<br>b<b>c</b><wbr>d", "space_before") == [0, 1, 0, 0]


def test_depth_counts_open_elements_whatever_the_attributes_hold() -> None:
    assert column('<p title="</p>"">a<b>b</b></p>c', "depth") == [3, 4, 2]


def test_blocks_of_one_block_level_parent_share_its_number() -> None:
    source = "<div>a<b>b</b><p>c</p>d</div>e"
    assert groups(source, "parent_block") == [["a", "b", "d"], ["c"], ["e"]]


def test_the_innermost_tag_is_named() -> None:
    names = tables().names
    assert [names[row] for row in column("<p>a<b>b</b><mark>c", "tag")] == ["p", "b", ""]


def test_every_tag_is_found_in_the_look_up_table_and_no_other_word_is() -> None:
    table = tables()
    mask = np.uint32(len(table.slots) - 1)

    def look_up(name: str) -> int:
        slot = int(np.uint32(fnv1a(name)) & mask)
        while table.slots[slot] not in (0, fnv1a(name)):
            slot = (slot + 1) % len(table.slots)
        return int(table.slot_tags[slot])

    assert [look_up(name) for name in table.names[1:]] == list(range(1, len(table.names)))
    assert [look_up(name) for name in ("span", "font", "x-y", "h7", "para", "é")] == [0] * 6


HIDDEN = GROUPS.index("hidden")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("hidden = [", "unseen = [", "the groups must be "),
        ("hidden = [", "hidden = [1, ", "hidden must be a list of words"),
        ("hidden = [", 'hidden = ["modal", "modal", ', "modal is listed twice"),
    ],
)
def test_a_malformed_table_of_words_is_named(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, says: str
) -> None:
    (tmp_path / "conf").mkdir()
    content = (root / "conf" / "words.toml").read_text()
    assert content.count(old) == 1
    (tmp_path / "conf" / "words.toml").write_text(content.replace(old, new))
    monkeypatch.setenv("VICTOR_HOME", str(tmp_path))
    with pytest.raises(ConfigurationError, match=re.escape(f"{tmp_path}/conf/words.toml: {says}")):
        words.__wrapped__()


@pytest.mark.parametrize(
    ("attribute", "is_hidden", "words"),
    [
        ('style="display:none"', True, {1}),
        ('style="color:red; DISPLAY:  None; margin:0"', True, {1}),
        ('style="visibility: hidden"', True, {1}),
        ("style='display:none;background:url(\"x\")'", True, {1}),
        ("hidden", True, {1}),
        ('aria-hidden="true"', False, {2}),
        ('aria-hidden="false"', False, set()),
        ('style="display:block"', False, set()),
        ('style="overflow:hidden; border:none"', False, set()),
        ('style="-webkit-backface-visibility: hidden; backface-visibility:hidden"', False, set()),
        ('style="color:red;visibility:hidden"', True, {1}),
        ('style="display:"', False, set()),
        ('data-style="display:none"', False, set()),
        ('data-hidden="true"', False, {2}),
        ('data-hidden="0"', False, set()),
        ('data-ishidden="true"', False, set()),
        ('title="display:none"', False, set()),
    ],
)
def test_elements_that_are_not_shown_are_known(attribute: str, is_hidden: bool, words: set[int]) -> None:
    blocks = blocks_of(f"<p>before</p><section {attribute}><p>in <i>it</i></p></section><p>after</p>")
    distances = blocks.hints[HIDDEN].tolist()
    assert distances == ([255, 1, 2, 255] if is_hidden else [255] * 4)
    assert set(blocks.name_words.tolist()) == words


def test_the_words_of_a_hidden_element_count_beside_it() -> None:
    blocks = blocks_of("<p class='note' style='display:none'>text</p>")
    assert blocks.name_words.tolist() == [fnv1a("note"), 1]


@pytest.mark.parametrize("between", ["", "<hr class='b-c'>", "<p id='own' class='lead-text Main'>x</p>"])
def test_words_that_come_again_are_read_alike(between: str) -> None:
    blocks = blocks_of(f"<p class='lead-text Main'>a</p>{between}<p class='lead-text Main'>b</p>")
    ends = blocks.named_elements[1].tolist()
    first, last = (blocks.name_words[ends[e - 1] : ends[e]].tolist() for e in (1, len(ends) - 1))
    assert first == last != []
    assert blocks.class_path[0] == blocks.class_path[-1]
    assert (blocks.hints[:, 0] == blocks.hints[:, -1]).all()


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("<body class=page-about><p class=a>x", "<body id=page-7 class=home><p class=a>x", True),
        ("<html class=js><body><p class=a>x", "<p class=a>x", True),
        ("<body><p class=a>x", "<body><p class=b>x", False),
        ("<body><div class=a><p>x", "<body><div><p>x", False),
    ],
)
def test_the_classes_of_html_and_body_are_no_part_of_a_layout(one: str, other: str, is_same: bool) -> None:
    paths = [blocks_of(each).class_path[0] for each in (one, other)]
    assert (paths[0] == paths[1]) == is_same


def test_words_are_read_where_a_quote_is_missing_before_them() -> None:
    blocks = blocks_of(
        '<div style=\'color:red class=" note"\'>a</div><div style="x: y; class=" note">b</div>'
    )
    assert [blocks.name_words.tolist()] == [[fnv1a("note")]]
