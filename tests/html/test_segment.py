"""Blocks are the visible text of the canonical HTML, cut at tags, and lie where they say."""

import re
from html import unescape

from hypothesis import assume, given

from tests.html.pages import blocks_of, pages, texts_of
from tests.html.visible_text import runs
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
    assert texts_of(blocks_of(html)) == texts_of(segment(html))
