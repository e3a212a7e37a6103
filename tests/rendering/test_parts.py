"""The parts of a page's html that plain text depends on: the same text as with the whole page."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.documents import document
from victor_spark.document import Document
from victor_spark.rendering.parts import parts
from victor_spark.rendering.plain import plain_text
from victor_spark.rendering.structure import NAMES_OF_TEXT

PIECES = (
    "<p>|</p>|<div>|</div>|<b>|</b>|<table>|</table>|<tr>|<td>|<td colspan=2>|<th>|<thead>|<h2>|</h2>|[|#|a"
    "|b c|.|some words of a longer line that no short rule takes for a name|<a href=/x>|</a>|<blockquote>"
    "|</blockquote>|<span style='display:none'>|<span>|</span>|<a hidden href=/y>|<td hidden>|<li>|<cite>"
    "|<tr style='display: none'>|<span class=mw-editsection>|</cite>|<q>|</q>|<sup>|</sup>|2|10|<pre>|</pre>"
    "|\n|<ruby>|<rt>|</ruby>|<img class=math alt='x^2'>|<img alt='\\frac12'>|<div role=table>|<div role=row>"
    "|<div role=cell>|<div role=rowgroup>|<br>|&lt;b>|<table><tr><th>A<th>B<tr><td>1<td>2</table>|é|漢字"
    "|<table><tr><td>a<td><p>b<p>c</table>|<span class=sr-only>|x<span style='user-select:none'>7</span>y"
    "|<i class=visuallyhidden>|<b class=screen-reader-text>|<code hidden>|</code>"
    "|<video>|</video>|<audio>|</audio>"
)


def same(page: Document, kept: object) -> str:
    """The parts, with which plain text is that of the whole page."""
    blocks, kept = page.columns, np.array(kept, dtype=bool) & ~page.columns.left_out
    html, start, end = parts(blocks, page.html)
    stored = replace(
        blocks, start=start, end=end, name_words=np.intersect1d(blocks.name_words, NAMES_OF_TEXT)
    )
    assert plain_text(stored, kept, html) == plain_text(blocks, kept, page.html)
    return html


@settings(max_examples=500, deadline=None)
@given(
    pieces=st.lists(st.sampled_from(PIECES.split("|")), max_size=40),
    chosen=st.lists(st.booleans(), min_size=40, max_size=40),
)
def test_plain_text_of_the_parts_is_that_of_the_page(pieces: list[str], chosen: list[bool]) -> None:
    page = document(f"<body>{''.join(pieces)}<p>end")
    n = len(page.columns)
    same(page, np.resize(chosen, n))
    same(page, np.ones(n))


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        ("<p>a <span>b</span></p>", ""),
        ("<table><tr><td>a<table><tr><td>b<td>c<tr><td>d<td>e</table></table>", "<td>b</td>"),
        ("<p>a <span style='display:none'>b</span> c</p><div>d</div>", "<span style='display:none'>b</span>"),
        ("<blockquote><p><cite>Anna</cite>said</p></blockquote>", "<cite>Anna</cite>s"),
        ("<p><cite>Anna</cite>said</p>", ""),
        ("<p>a</p><video src=b>No <b>video</b></video>", "No <b>video</b></video>"),
        ("<pre><span style='user-select:none'>7</span>f()</pre>", 'none">7</span>'),
    ],
)
def test_the_parts_are_short(source: str, needed: str) -> None:
    page = document(source + "<p>text</p>" * 99)
    html, *_ = parts(page.columns, page.html)
    assert needed.replace("'", '"') in html
    assert len(html) < 150


LONG = " long" * 500


@pytest.mark.parametrize(
    "source",
    [
        "<p>a<q>b</q></p>",
        "<math><mi>x</mi></math>",
        "<p>An area of 10 m\u200b<sup>2</sup></p>",
        "<table><tr><td>1<td>2<tr><td>3<td>4</table><p>a <img class=math alt='x^2'>",
        f"<p><b class=hidden>a</b> b</p><p>c <span hidden>d{LONG}",
        f"<table><tr><td hidden>a<table><tr><th>b<td>c{LONG}<td><h2>d</h2><p>e<p>f</table></table>",
    ],
)
def test_some_pages_are_needed_whole(source: str) -> None:
    page = document(f"{source}<p>end")
    assert same(page, np.ones(len(page.columns))) == page.html
    same(page, [block.text != "b" for block in page.blocks])


@pytest.mark.parametrize(
    "source",
    [
        "<div role=table><div role=row><div role=cell>a</div><div role=cell>b</div></div></div>" * 2,
        "<div role=table><div role=rowgroup><div role=row><i role=cell>a</i><i role=cell>b</i></div>",
        "<p>a<b class=visuallyhidden>b</b> c<b class=screen-reader-text>d</b></p>",
        "a<i class=visuallyhidden><span class=mw-editsection>b<p>c</p>d</span></i>",
        "<table><tr><td>" + "<td>".join(["ab&shy;" * 100] * 2) + "<tr><td>c<td>d</table>",
        "<table><tr><td>1<td><span hidden>2</span><tr><td>3<td>4</table>",
        "<cite>a</cite>b" * 9,
    ],
)
def test_the_parts_tell_what_the_page_tells(source: str) -> None:
    page = document(f"{source}<table><tr><th>A<th>B<tr><td>1<td>2</table>{'<p>text</p>' * 99}")
    assert len(same(page, np.ones(len(page.columns)))) < len(page.html)


def test_a_page_of_many_hidden_elements_is_cut_in_linear_time() -> None:
    """10,000 of them, one inside another or beside it: quadratic time would be minutes."""
    for piece in ("a <span hidden>b c", "a <span hidden>b</span> c", "<cite>a"):
        page = document("<blockquote><p>" + piece * 10_000 + "</cite>b" * 10_000)
        same(page, np.ones(len(page.columns)))
