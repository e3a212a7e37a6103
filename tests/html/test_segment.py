"""Blocks are the visible text of the canonical HTML, cut at tags, and their offsets are right."""

import re
from concurrent.futures import ThreadPoolExecutor
from html import unescape

from hypothesis import assume, given

from tests.html.pages import blocks_of, pages, same, texts_of
from tests.html.visible_text import runs
from victor_spark.blocks import Blocks
from victor_spark.html.canonical import canonical
from victor_spark.html.segment import segment


@given(pages)
def test_offsets_of_a_block_lead_to_its_text(source: str | bytes) -> None:
    html = canonical(source).html
    blocks = segment(html)
    spans = zip(blocks.start.tolist(), blocks.end.tolist(), texts_of(blocks), strict=True)
    for start, end, text in spans:
        assert unescape(html[start:end]) == text == text.strip() != ""
        assert "<" not in html[start:end]


@given(pages)
def test_blocks_are_disjoint_and_ordered(source: str | bytes) -> None:
    blocks = blocks_of(source)
    borders = [
        border for pair in zip(blocks.start.tolist(), blocks.end.tolist(), strict=True) for border in pair
    ]
    assert borders == sorted(set(borders))


@given(pages)
def test_blocks_are_the_runs_of_visible_text_that_another_parser_finds(source: str | bytes) -> None:
    html = canonical(source).html
    assume(not re.search("<[^>]*<", html))  # such names of tags are more than the other parser can read
    assert texts_of(segment(html)) == runs(html)


@given(pages)
def test_canonical_html_has_the_same_blocks_when_it_is_made_canonical_again(source: str | bytes) -> None:
    html = canonical(source).html
    assume(not re.search("<math(?:(?!</math>).)*<pre", html, re.DOTALL))  # made of `xmp`; it ends the MathML
    assert texts_of(blocks_of(html)) == texts_of(segment(html))


def by_a_new_thread(html: str) -> Blocks:
    """The blocks of a page that is the first of its thread."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(segment, html).result()


@given(pages, pages)
def test_no_page_leaves_anything_behind_for_the_next(before: str | bytes, source: str | bytes) -> None:
    segment(canonical(before).html)
    html = canonical(source).html
    assert same(segment(html), by_a_new_thread(html))


def test_no_page_has_words_of_one_before_it_that_looks_alike() -> None:
    """At the same place, of the same length, with nearly the same letters."""
    before, html = (
        f'<html><body><p class="{name}">a</p></body></html>' for name in ("list-menu", "lost-menu")
    )
    assert segment(before).name_words.tolist() != by_a_new_thread(html).name_words.tolist()
    assert same(segment(html), by_a_new_thread(html))
