"""Intervals that are found in a view are marked in the blocks' own text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extractors.pages import page
from tests.html.pages import articles
from victor_spark.blocks import Int32, Page
from victor_spark.errors import UsageError
from victor_spark.rendering.shown import trimmed
from victor_spark.templates import coverage

HTML = (
    "<ul><li>Home</li><li>News &amp; views</li></ul><p>The fog lies on <b>the water</b>.</p>"
    "<div>© 2024 Us</div>"
)


def at(text: str, *parts: str) -> Int32:
    """The intervals of these parts of a text."""
    return np.array([[text.index(part), text.index(part) + len(part)] for part in parts], dtype=np.int32)


def shares(whole: Page) -> dict[str, float]:
    blocks = whole.blocks
    bounds = zip(blocks.text_start.tolist(), blocks.text_end.tolist(), strict=True)
    texts = [blocks.text[start:end] for start, end in bounds]
    return {text: round(share, 2) for text, share in zip(texts, blocks.template_share.tolist(), strict=True)}


def test_shares_count_characters_but_white_space() -> None:
    whole = page(HTML)
    found = at(coverage.view("text", whole), "Home\nNews &", "2024 Us")
    marked = coverage.marked(whole, coverage.covered("text", whole, found))
    assert shares(marked) == {
        "Home": 1.0,
        "News & views": 0.5,
        "The fog lies on": 0.0,
        "the water": 0.0,
        ".": 0.0,
        "© 2024 Us": 0.86,
    }


def test_the_html_view_marks_the_text_of_the_markup_that_it_found() -> None:
    whole = page(HTML)
    found = at(coverage.view("html", whole), "<li>Home</li><li>News &amp; vie", "the wat")
    marked = coverage.marked(whole, coverage.covered("html", whole, found))
    assert shares(marked)["Home"] == 1.0
    assert shares(marked)["News & views"] == 1.0  # has a character reference: most of it is covered
    assert shares(marked)["the water"] == 0.75
    assert shares(marked)["The fog lies on"] == 0.0


def test_the_cleaned_view_is_the_kept_text_and_covers_nothing_else() -> None:
    whole = page(HTML)
    kept = np.array([False, True, True, True, True, False])
    text = coverage.view("cleaned", whole, kept)
    assert text == "News & views\nThe fog lies on\nthe water\n.\n"
    marked = coverage.marked(whole, coverage.covered("cleaned", whole, at(text, "views\nThe fog"), kept))
    assert shares(marked) == {
        "Home": 0.0,
        "News & views": 0.5,
        "The fog lies on": 0.5,
        "the water": 0.0,
        ".": 0.0,
        "© 2024 Us": 0.0,
    }


def test_the_cleaned_view_needs_to_know_what_was_kept() -> None:
    with pytest.raises(UsageError, match="no view"):
        coverage.view("cleaned", page(HTML))


@given(source=articles, chance=st.randoms(use_true_random=False))
def test_everything_kept_is_the_text_view(source: str, chance: object) -> None:
    whole = page(source)
    everything = np.ones(len(whole.blocks), dtype=bool)
    text = coverage.view("text", whole)
    assert coverage.view("cleaned", whole, everything) == text
    start = chance.randrange(len(text) + 1)  # type: ignore[attr-defined]
    found = np.array([[start, chance.randrange(start, len(text) + 1)]], dtype=np.int32)  # type: ignore[attr-defined]
    assert np.array_equal(
        coverage.covered("text", whole, found), coverage.covered("cleaned", whole, found, everything)
    )


def test_what_is_left_says_something() -> None:
    whole = page("<p>Posted by: Anna | 3 May</p><p>| ©</p><p>Share</p>")
    found = at(whole.blocks.text, "Posted by:", "| 3 May", "Share")
    marked = coverage.marked(whole, coverage.covered("text", whole, found))
    assert marked.in_template is not None
    assert coverage.keeps(marked).tolist() == [True, True, False]
    left = trimmed(marked.blocks, marked.in_template)
    assert left.text[left.text_start[0] : left.text_end[0]] == "Anna"
    assert left.text[left.text_start[1] : left.text_end[1]] == "| ©"
