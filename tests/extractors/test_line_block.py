"""Lines, line-blocks, the three features and the rules of line-block, by hand (Pan Ei San)."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from tests.extractors.pages import page
from tests.html import pages
from victor_spark.extractors import line_block
from victor_spark.extractors.line_block import Features, Options, Thresholds, line_blocks, lines

OPTIONS = Options(
    near=1,
    constant=Thresholds(ttr=30.0, attr=0.2, tkd=2.0),
    deviation=Thresholds(ttr=1.0, attr=1.0, tkd=1.0),
)

FORMATTED = """\
<div>
  <h1>Bridge opened</h1>

  <p>One <b>two</b> three.</p>
  <ul>
    <li>
      <a href="/">Home</a>
    </li>
    <li>
      <a href="/n">News</a>
    </li>
  </ul>
</div>
"""
MINIFIED = (
    '<div><h1>Bridge opened</h1><p>One <b>two</b> three.</p><ul><li><a href="/">Home</a></li>'
    '<li><a href="/n">News</a></li></ul></div>'
)


@pytest.mark.parametrize("source", [FORMATTED, MINIFIED], ids=["formatted", "minified"])
def test_lines_end_at_block_level_tags_however_the_source_is_laid_out(source: str) -> None:
    found = lines(page(f"<body>{source}"))
    heading, one, two, three, home, news = found.of_block.tolist()
    assert one == two == three == heading + 1
    # <ul> is a line, and so is each item with its link
    assert [home - three, news - home] == [2, 1]
    assert found.n_tags[[heading, one, home, news]].tolist() == [2, 4, 4, 4]


def test_a_newline_between_inline_content_ends_a_line() -> None:
    found = lines(page("<p>one<br>\ntwo <b>three</b>\n<i>four</i>"))
    assert np.diff(found.of_block).tolist() == [1, 0, 1]


def test_text_with_newlines_inside_is_one_line_and_one_block() -> None:
    found = lines(page("<pre>one\n\n\n\ntwo</pre><pre>three</pre>"))
    assert np.diff(found.of_block).tolist() == [1]


def test_a_rule_is_a_line_of_its_own() -> None:
    found = lines(page("one<hr>two"))
    assert np.diff(found.of_block).tolist() == [2]


@pytest.mark.parametrize(("near", "expected"), [(1, [0, 0, 0, 0, 1, 1]), (2, [0] * 6)])
def test_neighbouring_lines_with_text_join_when_they_are_near(near: int, expected: list[int]) -> None:
    assert line_blocks(lines(page(MINIFIED)), near).of_block.tolist() == expected


def test_tags_of_a_line_block_are_those_on_its_lines_and_between_them() -> None:
    of_page = lines(page(MINIFIED))
    assert line_blocks(of_page, 1).n_tags.tolist() == [2 + 4, 4 + 4]
    assert line_blocks(of_page, 2).n_tags.tolist() == [2 + 4 + 1 + 4 + 4]


@given(pages.forest | pages.soup)
def test_line_blocks_are_runs_of_blocks_in_order(source: str) -> None:
    of = page(source)
    joined = line_blocks(lines(of), 2)
    numbers = joined.of_block.tolist()
    assert sorted(set(numbers)) == list(range(len(joined.n_tags)))
    assert numbers == sorted(numbers)


@given(pages.forest | pages.soup)
def test_a_page_on_one_line_has_as_many_block_level_lines_as_it_has_tags_for(source: str) -> None:
    of = page(source)
    apart = np.diff(lines(of).of_block) > 0
    block_level = of.blocks.n_split_block[1:] > 0
    assert (apart | ~block_level).all(), "block-level tags between two texts always part their lines"


def test_equations_one_and_two_by_hand() -> None:
    # two paragraphs of 2 tags: 10 and 6 characters; a link of 4 characters in 10, 4 tags
    of = page("<p>ten chars.</p><hr><p>a link <a href=x>here</a></p>")
    found = line_block.features(of, line_blocks(lines(of), 1))
    assert found.ttr.tolist() == [10 / 2, 10 / 4]
    assert found.attr.tolist() == [0.0, 4 / 10]


def test_letters_of_unspaced_scripts_count_three_times() -> None:
    assert line_block.weighted_lengths(page("<p>新桥 is new。</p>").blocks).tolist() == [2 * 3 + 8]


def test_equation_three_the_other_way_up_by_hand() -> None:
    # keywords found: bridge three times, council once: m = 2, F = 4
    source = "<title>Council opens the bridge</title><p>Bridge council bridge, bridge.<hr><p>Nothing of it."
    of = page(source)
    assert line_block.features(of, line_blocks(lines(of), 1)).tkd.tolist() == [4 / 2, 0.0]


def test_keywords_are_long_words_or_pairs_of_unspaced_letters() -> None:
    assert line_block.keywords("The new Bridge, 新桥开放") == ["bridge", "新桥", "桥开", "开放"]


FOUND = Features(
    ttr=np.array([31.0, 31.0, 31.0, 30.0, 5.0]),
    attr=np.array([0.1, 0.1, 0.2, 0.1, 0.9]),
    tkd=np.array([2.0, 1.0, 2.0, 2.0, 2.0]),
)


def test_the_rescue_rule_takes_text_dense_in_title_words_too() -> None:
    assert line_block.content_line_blocks(FOUND, OPTIONS.constant).tolist() == [True, True, True, True, True]
    without = replace(FOUND, tkd=np.zeros(5))
    assert line_block.content_line_blocks(without, OPTIONS.constant).tolist() == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_a_density_of_zero_rescues_nothing_even_at_a_threshold_of_zero() -> None:
    without = replace(FOUND, tkd=np.zeros(5))
    assert not line_block.content_line_blocks(without, Thresholds(ttr=30.0, attr=0.2, tkd=0.0))[4]


def test_adaptive_thresholds_are_multiples_of_the_standard_deviation() -> None:
    found = Features(ttr=np.array([10.0, 30.0]), attr=np.array([0.0, 0.5]), tkd=np.array([1.0, 1.0]))
    options = replace(OPTIONS, deviation=Thresholds(ttr=2.0, attr=3.0, tkd=4.0))
    # deviations 10 and 0.25; a density that is the same everywhere leaves the paper's 2
    assert line_block.limits(found, options) == Thresholds(ttr=20.0, attr=0.75, tkd=2.0)


def test_kept_headings_are_labelled_header() -> None:
    of = page(f"<h2>On the bridge</h2><p>{'Long text about it. ' * 20}</p>")
    scores = line_block.clean(of, OPTIONS)
    assert scores.probabilities.argmax(axis=1).tolist() == [0, 1]
