"""The kernels' parser gives the canonical HTML of the parser library, or leaves the page to the library."""

import json
import lzma
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.html.pages import HOSTILE, soup, strings
from victor_html import serializer
from victor_html.elements import ELEMENTS, MOST_ATTRIBUTES, elements, in_source
from victor_html.parse import parse
from victor_spark.errors import ShardError
from victor_spark.html.canonical import by_library, canonical
from victor_spark.html.charset import as_utf8
from victor_spark.warc import inputs, reading

READ_BY_KERNELS = {
    "nothing": "",
    "text alone": "a",
    "a whole page": "<!DOCTYPE html><html lang=en><head><title>t</title></head>\n<body><p>a</body></html>\n",
    "implied elements": "<title>t</title><meta a><p>a<p>b<li>c<li>d<dd>e<dt>f<option>g<optgroup>h",
    "attributes of every kind": """<a x=1 X=2 y='"' z="a&amp;b&copy" &amp w b=c/ e="f"g = h =i>t</a>""",
    "names that look like values": """<a ="=' x=1 ="=2 " x=3 "="" X>t</a>""",
    "references": "&lt;&#60;&#x3C;&hellip;&notin;&notit;&bogus;&acE;&;&#;&#xD800;&#0;&#128;&nbsp;\xa0&",
    "line ends": "a\r\nb\rc&#13;<p title='d\r\ne'>f",
    "a line feed that begins a pre": "<pre>\n\na</pre><pre>\r\nb</pre><textarea>\n\nc</textarea>",
    "a comment before the line feed": "<pre><!-- c -->\na</pre>",
    "comments": "a<!-->b<!--->c<!-- d --!>e<!-- -- > -->f<!x>g</ y>h<?php i ?>j</>k<![CDATA[l]]>m<!-- n",
    "what is no tag": "1 < 2 <3 </ > </",
    "tags cut off": "a<p title='b",
    "raw text": "<script>a<b</script>c<style>d</style>e<iframe><p></iframe>f<SCRIPT>g</ScRiPt >h",
    "scripts in scripts": "<script><!-- <script>a</script> --></script>b<script><!-- c </script>d",
    "a title in the body": "a<title>b &amp; <i>c</title>d<textarea><b>e</textarea>f",
    "drawings": "<svg><g/><title>a</title><desc>b</desc><text>c</text></svg>d<p><svg></svg>e<svg/>f",
    "templates": "<template><p>a<template>b</template></template>c<table><template><tr></template><tr><td>d",
    "elements without text": "<object><p>a</object>b<canvas>c</canvas>d<embed><input type=hidden>",
    "formatting closed in another order": "<b>a<i>b</b>c</i>d<p><b>e<p>f</b>g",
    "formatting around blocks": "<b>1<div>2</b>3</div><a href=1>x<div><a href=2>y</div>z<font><p>q</font>r",
    "links in links": "<a>1<a>2<table><a>3<tr><td><a>4</table>5",
    "more than three alike": "<p>" + '<b class="x">' * 5 + "a<p>b</b></b>c",
    "nobr": "<nobr>a<nobr>b<div>c</nobr>d",
    "tables": "<table><caption>a<col><colgroup><col></colgroup><tr><td>b<th>c<tbody><tr><td>d</table>e",
    "text in tables": "<table>a<tr>b<td>c</td>d</tr> </table><table> <tbody> <tr> </table>",
    "blocks in tables": "<table><div>a<tr><p>b<form>c<input type=hidden><input><b>d<td>e</form></table>f",
    "tables in tables": "<table><tr><td><table><tr><td>a</table>b<table><table>c",
    "tables and paragraphs": "<!doctype html><p>a<table><tr><td>b</table>c",
    "tables and paragraphs in quirks mode": "<p>a<table><tr><td>b</table>c",
    "stray cells": "<td>a<tr>b<caption>c</table>d</tbody>e",
    "end tags without a start": "a</b></p></br></div></li></h1></form></table></a></body></html>b",
    "headings": "<h1>a<h2>b</h3>c<h1><p>d</h1>e",
    "lists": "<ul><li>a<ul><li>b</ul><li><div><li>c</ul><dl><dt>d<dd><p>e<dt>f</dl>",
    "forms and buttons": "<form>a<form>b</form>c</form><button>d<button><p>e</button>f",
    "selects": "<select><option>a<optgroup><option>b<p>c</p><hr></select>d<select>e<select>f<select>g<input>",
    "ruby": "<ruby>a<rb>b<rt>c<rp>d<rtc>e<rt>f</ruby>g",
    "what stands before the head": "<!-- a --> <!doctype html> <html><html b> <head></head> <link><p><body>x",
    "what stands after the body": "<body>a</body> <p>b</html> <!-- c --> d",
    "noscript": "<head><noscript><link><style>a</style></noscript><noscript><p>b</noscript>",
    "document types": '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN"\n"http://www.w3.org/TR/x.dtd"><p><table>',
    "an end tag that runs into the next tag": "<div>a</div<script>b</script><p>c",
    "deep": "<div>" * 3000 + "a",
}


@pytest.mark.parametrize("markup", READ_BY_KERNELS.values(), ids=READ_BY_KERNELS)
def test_the_kernels_read_this_as_the_library_does(markup: str) -> None:
    assert parse(markup.encode()).html == by_library(markup)


LEFT_TO_THE_LIBRARY = {
    "NUL": "a\0b",
    "MathML": "<math><mi>x</math>",
    "frames": "<frameset><frame></frameset>",
    "plaintext": "<plaintext>a",
    "HTML that ends a drawing": "<svg><p>a",
    "attributes without end": "<p " + " ".join(f"a{i}" for i in range(MOST_ATTRIBUTES + 1)) + ">a",
    "a body's attributes merged with another's": "<body a=1><body b=2>x",
    "another document type": "<!DOCTYPE svg>a",
    "formatting nested wrongly and deeply": "<b><i><u><s><em><div>a</b>",
}


@pytest.mark.parametrize("markup", LEFT_TO_THE_LIBRARY.values(), ids=LEFT_TO_THE_LIBRARY)
def test_the_kernels_leave_this_to_the_library_and_nothing_is_lost(markup: str) -> None:
    assert parse(markup.encode()).html is None
    assert canonical(markup).html == by_library(markup)


NAMES = [name for name in ELEMENTS[1:] if name not in ("math", "plaintext", "frameset")]
ATTRIBUTES = ("", "", "", ' a="1"', " a=1 A=2", ' type="hidden"', ' b="&copy=&lt;"', " c='\"' d", "\n/")
tag = st.builds("<{}{}>".format, st.sampled_from(NAMES), st.sampled_from(ATTRIBUTES))
end = st.sampled_from(NAMES).map("</{}>".format)
structure = st.sampled_from(
    ("table", "tr", "td", "b", "a", "p", "div", "nobr", "form", "select", "li", "svg")
)
nested = st.one_of(structure.map("<{}>".format), structure.map("</{}>".format))
markup = st.lists(
    st.one_of(nested, nested, tag, end, st.sampled_from(HOSTILE), st.sampled_from(("x", " ", "\n"))),
    max_size=40,
).map("".join)


@given(markup | soup | strings)
@settings(max_examples=10 * settings().max_examples)
def test_tag_soup_is_read_as_by_the_library_or_left_to_it(markup: str) -> None:
    encoded = markup.encode("utf-8", "replace")
    assert parse(encoded).html in (None, by_library(encoded.decode()))


def test_nearly_all_pages_of_the_sample_crawl_are_read_by_the_kernels_and_alike(root: Path) -> None:
    shards = inputs.resolve([str(path) for path in (root / "sample").glob("*.warc.gz")])
    pages = []
    for shard in shards:
        with suppress(ShardError):  # one ends too early
            pages += [record.payload for record in reading.read(shard) if record.payload]
    read = [
        (parse(utf8).html, by_library(utf8.decode())) for utf8 in (as_utf8(page, None)[0] for page in pages)
    ]
    assert all(ours in (None, theirs) for ours, theirs in read)
    assert sum(ours is not None for ours, _ in read) > 0.9 * len(read) > 0


def test_annotated_pages_are_read_as_by_the_library(annotated: Path) -> None:
    """Every twelfth page of every set: real markup of thousands of sites."""
    n_aside = n_pages = 0
    for path in sorted((annotated / "pages").glob("*.jsonl.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                if number % 12:
                    continue
                page = json.loads(line)["html"].encode("utf-8", "replace")
                n_pages += 1
                if (ours := parse(page).html) is None:
                    n_aside += 1
                else:
                    assert ours == by_library(page.decode()), (path.name, number)
    assert n_aside < 0.05 * n_pages


def named(elements_there: np.ndarray) -> set[str]:
    return {name for name, there in zip(ELEMENTS, elements_there.tolist(), strict=True) if there}


def test_the_elements_of_a_source_are_known_also_those_that_canonical_html_has_no_more() -> None:
    found = canonical(
        b"<!-- <table> --><META charset=utf-8><script>'<font>'</script><style>p{}</style><strange>"
        b"<p>a<svg><path/></svg></b><center"
    )
    assert named(found.elements) == {"meta", "script", "style", "p", "svg"}
    assert named(canonical("<p>a\0<Center><frameset>").elements) == {"p", "center", "frameset"}


@given(markup | soup | strings)
@settings(max_examples=4 * settings().max_examples)
def test_whatever_the_kernels_find_in_a_source_a_search_for_tags_finds_too(markup: str) -> None:
    encoded = markup.encode("utf-8", "replace")
    assert named(parse(encoded).elements) <= named(in_source(encoded))


@given(markup | soup, markup | soup)
def test_no_page_leaves_anything_behind_for_the_next(before: str, markup: str) -> None:
    parse(before.encode("utf-8", "replace"))
    encoded = markup.encode("utf-8", "replace")
    with ThreadPoolExecutor(1) as executor:  # a page that is the first of its thread
        alone = executor.submit(parse, encoded).result()
    read = parse(encoded)
    assert read.html == alone.html
    assert read.elements.tolist() == alone.elements.tolist()


def test_a_page_that_was_interrupted_leaves_no_array_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    longer = b"<p>" + b"a" * 200_000

    def read() -> tuple[str | None, str | None]:  # in a thread, whose arrays are new
        parse(b"<p>a")
        with monkeypatch.context() as patched:
            patched.setattr(serializer, "Serializer", interrupted)
            with pytest.raises(KeyboardInterrupt):
                parse(longer)
        return parse(longer).html, parse(b"<p>a").html

    with ThreadPoolExecutor(1) as executor:
        assert executor.submit(read).result() == (
            by_library(longer.decode()),
            "<html><head></head><body><p>a</p></body></html>",
        )


def test_the_hash_table_finds_every_element() -> None:
    assert (elements().slots > 0).sum() == len(ELEMENTS) - 1
