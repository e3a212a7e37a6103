"""Kimatu by hand: looks, blocks, the four ratios, and each of the seven steps (section 3.4)."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.extractors.pages import kept, page
from tests.html import pages
from victor_spark.blocks import Page, Scores
from victor_spark.extractors import kimatu
from victor_spark.extractors.kimatu import _earlier, function_blocks, quotes
from victor_spark.extractors.kimatu_blocks import (
    Constants,
    KimatuBlocks,
    appearance,
    content_relevance,
    detect,
    distances,
    elements,
)
from victor_spark.html.tags import inside
from victor_spark.words import subsequence

CONSTANTS = Constants(
    length_weight=0.5,
    average_length_weight=0.5,
    longest_average=40.0,
    marks_per_word=0.1,
    links_per_element=2.0,
    short_element=8.0,
    function_share=0.5,
    quote_words=6,
    quote_share=0.8,
    near=2,
    sure_ratio=0.32,
    dispersed_ratio=0.1,
    dispersed_near=3,
    far=3.0,
    high_ratio=0.5,
    relevant_ratio=-0.95,
    relevant_near=1,
    heading_words=6,
)

LONG = (
    "The council, after years of delay, opened the new bridge over the river on Monday; the mayor cut the "
    "ribbon, and hundreds of people, some of them in boats, had come to see it."
)
OTHER_LONG = (
    "Fishing, it is said, will be allowed from its southern side; anglers, who had asked for this since "
    "spring, were pleased, though a few of them, mostly young, wanted the northern one as well."
)

THIRD = (
    "Opening hours, by contrast, are still being discussed: some want the gates, which close at dusk, to "
    "stay open at night; others, who live close by, would rather sleep."
)


def constants(**steps: Any) -> Constants:
    return replace(CONSTANTS, **steps)


def clean(of: Page, given: Constants = CONSTANTS) -> Scores:
    return kimatu.clean(of, elements(of), given)


def blocks(source: str, near: int = 2) -> KimatuBlocks:
    return detect(elements(page(source)), near)


def looks(source: str) -> list[int]:
    return appearance(page(source))[0].tolist()


@pytest.mark.parametrize(
    "source",
    [
        "<p>one</p><div>two</div>",
        "<p>one <b>bold</b></p><p><i>two</i> plain</p>",  # the look of what holds all of the text
        "<div class=a><p>one</p><p>two</p></div>",
        "<p class='a  b'>one</p><div class='a b'>two</div>",
        "<p><b>one</b></p><p><strong>two</strong></p>",
        "<p onclick=a title=b>one</p><p id=c>two</p>",
        "<p>one<br><br>two</p>",
    ],
)
def test_texts_that_look_the_same(source: str) -> None:
    assert looks(source) == [0, 0]


@pytest.mark.parametrize(
    "source",
    [
        "<p>one</p><p><b>two</b></p>",
        "<p>one</p><h2>two</h2>",
        "<p class=a>one</p><p class=b>two</p>",
        "<p class=a>one</p><div class=a><p class=b>two</p></div>",
        "<p style='color:red'>one</p><p>two</p>",
        "<div align=right><p>one</p></div><p>two</p>",
        "<p><font size=5>one</font></p><p><font size=2>two</font></p>",
        "<p>one</p><p><a href=x>two</a></p>",
    ],
)
def test_texts_that_look_different(source: str) -> None:
    assert looks(source) == [0, 1]


@example("<a><math><a><input></a></math>word</a>")
@given(pages.forest | pages.soup)
def test_the_scan_reads_tags_as_the_segmentation_does(source: str) -> None:
    of = page(source)
    look, link = appearance(of)
    assert ((link > 0) == inside(of.blocks, "a")).all()
    assert len(look) == len(set(of.blocks.paragraph.tolist()))


def test_near_elements_of_one_look_are_a_block() -> None:
    source = "<p>a</p><h2>b</h2><p>c</p><h3>d</h3><h4>e</h4><p>f</p><p>g</p>"
    assert blocks(source, near=2).of_element.tolist() == [0, 1, 0, 2, 3, 4, 4]


TWO_BLOCKS = (
    "<p>One two, three four.</p><p>Five six.</p><ul><li><a href=x>Home</a></li><li><a href=y>News</a>"
)


def test_the_counts_of_blocks_by_hand() -> None:
    found = blocks(TWO_BLOCKS)
    assert found.n_words.tolist() == [6, 2]
    assert found.average_words.tolist() == [3, 1]
    assert found.n_marks.tolist() == [3, 0]
    assert found.n_links.tolist() == [0, 2]


def test_the_four_ratios_and_their_combination_by_hand() -> None:
    given = constants(longest_average=2.0, marks_per_word=0.75, links_per_element=4.0)
    first = 0.5 * 6 / 6 + 0.5 * 1 - (1 - 3 / 6 / 0.75) - 0
    second = 0.5 * 2 / 6 + 0.5 * 1 / 2 - (1 - 0) - 2 / 2 / 4
    np.testing.assert_allclose(content_relevance(blocks(TWO_BLOCKS), given), [first, second])


def test_the_longest_average_has_a_maximum() -> None:
    source = f"<p>{'word ' * 90}</p><h2>{'word ' * 20}</h2>"
    given = constants(length_weight=0.0, average_length_weight=1.0, longest_average=40.0)
    np.testing.assert_allclose(content_relevance(blocks(source), given), [1 - 1, 20 / 40 - 1])


@pytest.mark.parametrize(
    ("text", "n_marks"),
    [
        ("One, two; three.", 3),
        ("At 12:30 he paid 3.50 (in cash).", 3),  # the two brackets and the point
        ("J. Smith of the U.S. Army", 0),
        ('He said "no" today', 2),
        ("见面，他说。", 2),
        ("nothing here", 0),
        ("http://example.org/a,b?c", 0),
    ],
)
def test_marks_are_those_that_bound_phrases(text: str, n_marks: int) -> None:
    found = blocks(f"<p>{text}</p>")
    assert found.n_marks.tolist() == [n_marks]


def test_distances_are_to_the_nearest_other_chosen_block() -> None:
    found = blocks("<p>a</p><h1>b</h1><h2>c</h2><h3>d</h3><p>e</p>", near=1)
    chosen = np.array([True, False, False, True, False])
    assert distances(found, chosen).tolist() == [3, 1, 1, 3, 1]
    assert distances(found, np.array([True, False, False, False, False])).tolist() == [np.inf, 1, 2, 3, 4]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.data())
def test_distances_agree_with_comparing_everything(rows: list[int], data: st.DataObject) -> None:
    names = ["p", "h1", "h2", "h3", "h4"]
    found = blocks("".join(f"<{names[row]}>x</{names[row]}>" for row in rows), near=3)
    n = len(found)
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    at = [np.flatnonzero(found.of_element == block) for block in range(n)]
    expected = [
        min(
            (np.abs(at[one][:, None] - at[two]).min() for two in range(n) if two != one and chosen[two]),
            default=np.inf,
        )
        for one in range(n)
    ]
    assert distances(found, chosen).tolist() == expected


def test_step_two_a_long_text_with_punctuation_is_sure_and_a_menu_is_not() -> None:
    of = page(f"<ul><li><a href=x>Home</a><li><a href=y>News</a></ul><hr><h4>-</h4><p>{LONG}</p>")
    assert kept(of, clean(of, constants(relevant_ratio=0.0))) == [LONG]


POSTS = "".join(
    f"<div class=by>Posted by {name}</div><p>{text}</p><p>{text[::-1]}, yes.</p><p>{name}, and so on.</p>"
    for name, text in (("ann", LONG), ("bob", OTHER_LONG), ("eve", LONG.upper()))
)


def test_step_three_rejects_short_texts_that_share_their_words() -> None:
    found = blocks(POSTS)
    rejected = function_blocks(found, CONSTANTS)
    texts = [" ".join(words) for words in found.elements.words]
    gone = [text for text, block in zip(texts, found.of_element.tolist(), strict=True) if rejected[block]]
    assert gone == ["posted by ann", "posted by bob", "posted by eve"]


def test_step_three_is_not_undone_by_later_steps() -> None:
    of = page(POSTS)
    everything = constants(relevant_ratio=-10.0, relevant_near=100)
    assert "Posted by" not in " ".join(kept(of, clean(of, everything)))


def test_step_four_rejects_a_look_that_quotes_sure_blocks_before_it() -> None:
    quote = " ".join(LONG.split()[2:20])
    source = f"<p>{LONG}</p><q>{quote}</q><p>{OTHER_LONG}</p><q>{quote} Yes.</q>".replace("q>", "blockquote>")
    found = blocks(source, near=1)
    sure = np.array([True, False, True, False])
    assert quotes(found, sure, CONSTANTS).tolist() == [False, True, False, True]


def test_step_four_looks_only_backwards_at_other_looks_and_at_texts_of_some_length() -> None:
    quote = " ".join(LONG.split()[2:20])
    before = blocks(f"<blockquote>{quote}</blockquote><p>{LONG}</p>")
    assert not quotes(before, np.array([False, True]), CONSTANTS).any()
    alike = blocks(f"<p>{LONG}</p><h1>x</h1><h1>x</h1><p>{quote}</p>", near=1)
    assert not quotes(alike, np.array([True, False, False]), CONSTANTS).any()
    short = blocks(f"<p>{LONG}</p><blockquote>opened the new bridge</blockquote>")
    assert not quotes(short, np.array([True, False]), CONSTANTS).any()


def test_step_four_spares_a_look_most_of_whose_blocks_are_no_quotes() -> None:
    quote = " ".join(LONG.split()[2:20])
    own = (
        "<blockquote>Words, none of which were ever said before now, stand here alone.</blockquote>",
        "<hr><h1>x</h1>",
    )
    source = f"<p>{LONG}</p><blockquote>{quote}</blockquote><h1>x</h1>{own[0]}{own[1]}{own[0]}"
    found = blocks(source, near=1)
    assert not quotes(found, np.arange(len(found)) == 0, CONSTANTS).any()


def _lcs(first: str, second: str) -> int:
    table = np.zeros((len(first) + 1, len(second) + 1), dtype=int)
    for i, one in enumerate(first):
        for j, two in enumerate(second):
            table[i + 1, j + 1] = table[i, j] + 1 if one == two else max(table[i, j + 1], table[i + 1, j])
    return int(table[-1, -1])


@given(st.text("abc", max_size=20), st.text("abcd", max_size=20))
def test_the_longest_common_subsequence_is_that_of_the_textbook(first: str, second: str) -> None:
    assert subsequence(first, second) == _lcs(first, second)


FILLER = "<h4>-</h4><h5>-</h5>"
SHORT = "Short it is, but said: it ends, of course, here."


def test_step_five_takes_in_a_weak_block_that_looks_like_a_sure_one() -> None:
    of = page(f"<p>{LONG}</p>{FILLER}<p>{SHORT}</p>{FILLER}<div class=x>{SHORT}</div>")
    ratio = content_relevance(detect(elements(of), 2), CONSTANTS)
    assert 0.1 * ratio[0] < ratio[3] < CONSTANTS.sure_ratio
    assert kept(of, clean(of, constants(relevant_near=0, far=100.0))) == [LONG, SHORT]
    assert kept(of, clean(of, constants(relevant_near=0, far=100.0, dispersed_near=2))) == [LONG]


def test_step_six_deletes_a_candidate_far_from_the_others_unless_its_ratio_is_high() -> None:
    lone = "Meanwhile, in a town nearby, nobody cared; it rained, and dogs slept, as dogs do, all day."
    gap = "".join(f"<h{1 + row % 6} class=c{row}>-</h{1 + row % 6}>" for row in range(20))
    of = page(f"<p>{LONG}</p><p><i>{OTHER_LONG}</i></p><p><u>{THIRD}</u></p>{gap}<p><tt>{lone}</tt></p>")
    near = {"relevant_near": 0, "sure_ratio": 0.1}
    ratio = content_relevance(detect(elements(of), 2), CONSTANTS)
    assert 0.1 < ratio[-1] < 0.9
    # distances 1, 1, 1 and 21: the geometric mean is 21 ** (1 / 4), about 2.1
    assert kept(of, clean(of, constants(**near, high_ratio=0.9))) == [LONG, OTHER_LONG, THIRD]
    assert kept(of, clean(of, constants(**near, high_ratio=0.1)))[3:] == [lone]
    assert kept(of, clean(of, constants(**near, high_ratio=0.9, far=10.0)))[3:] == [lone]


def test_step_seven_takes_in_the_heading_beside_the_text() -> None:
    of = page(f"<h1>A bridge, at last, for the city</h1><p>{LONG}</p><hr><h2>x</h2><h3>Far away</h3>")
    texts = kept(of, clean(of, constants(relevant_ratio=-0.95)))
    assert texts[:2] == ["A bridge, at last, for the city", LONG]
    assert "Far away" not in texts
    assert kept(of, clean(of, constants(relevant_near=0))) == [LONG]


def test_without_a_sure_block_nothing_is_kept() -> None:
    of = page("<p>No sure text</p><p>None at all</p>")
    assert not clean(of).kept.any()


@pytest.mark.parametrize(
    ("source", "label"),
    [
        ("<h2>A bridge at last</h2>", 0),
        ("<p><b>A bridge at last</b></p>", 0),
        ("<p><b>It is a bridge.</b></p>", 1),
        ("<p><b>A bridge</b> at last</p>", 1),
        ("<ul><li><b>A bridge</b></ul>", 1),
        ("<h2>A heading of far too many words to be a heading</h2>", 1),
    ],
)
def test_headings_are_recognised_by_tag_size_and_punctuation(source: str, label: int) -> None:
    of = page(f"<div>{source}</div><p>{LONG}</p>")
    scores = clean(of, constants(relevant_ratio=-3.0))
    assert scores.kept.all()
    assert scores.probabilities[0].argmax() == label


def test_at_the_limit_of_pairs_the_nearest_sure_blocks_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kimatu, "MAX_PAIRS", 4)
    texts = [["a", "ferry"]] * 8
    assert list(_earlier([0, 1, 2], texts, 2)) == [(1, [0]), (2, [0, 1]), (3, [2])]
