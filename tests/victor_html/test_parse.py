"""The canonical HTML of a page: the tree of the HTML standard, and the parts of it that are left out.

tests/html/test_library.py compares many more pages with the output of the parser library.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.victor_html.markup import LEFT_TO_THE_LIBRARY, READ_BY_KERNELS, markup
from victor_html import serializer
from victor_html.elements import ELEMENTS, elements, in_source
from victor_html.parse import beyond_budget, parse

BODIES = {
    "paragraphs": ("a<p>b<p>c", "a<p>b</p><p>c</p>"),
    "lists": ("<ul><li>a<li>b</ul>", "<ul><li>a</li><li>b</li></ul>"),
    "definitions": ("<dl><dt>a<dd>b<dt>c</dl>", "<dl><dt>a</dt><dd>b</dd><dt>c</dt></dl>"),
    "headings": ("<h1>a<h2>b", "<h1>a</h1><h2>b</h2>"),
    "buttons": ("<button>a<button>b", "<button>a</button><button>b</button>"),
    "forms": ("<form>a<form>b</form>c</form>", "<form>ab</form>c"),
    "options": (
        "<select><option>a<option>b</select>",
        "<select><option>a</option><option>b</option></select>",
    ),
    "ruby": ("<ruby>a<rt>b<rp>c</ruby>", "<ruby>a<rt>b</rt><rp>c</rp></ruby>"),
    "formatting opened again": ("<b>1<p>2</b>3", "<b>1</b><p><b>2</b>3</p>"),
    "the adoption agency": ("<b>1<i>2</b>3</i>4", "<b>1<i>2</i></b><i>3</i>4"),
    "links": ("<a>1<a>2", "<a>1</a><a>2</a>"),
    "foster parents": (
        "<table>a<tr><td>b</table>c",
        "a<table><tbody><tr><td>b</td></tr></tbody></table>c",
    ),
    "captions and columns": (
        "<table><caption>a<col><tr><td>b</table>",
        "<table><caption>a</caption><colgroup><col></colgroup><tbody><tr><td>b</td></tr></tbody></table>",
    ),
    "a table in a paragraph, in quirks mode": ("<p>a<table>", "<p>a<table></table></p>"),
    "end tags alone": ("a</p></br></b>", "a<p></p><br>"),
    "a line feed that begins a pre": ("<pre>\n\na</pre>", "<pre>\na</pre>"),
    "attributes": (
        "<p title='\"' CLASS=x class=y>a &amp b&copy;<br/>",
        '<p title="&quot;" class="x">a &amp; b©<br></p>',
    ),
    "an image": ("<image src=a>", '<img src="a">'),
    "what is dropped": ("a<!-- b --><script>c</script><svg><g/></svg><object>d</object>e", "ae"),
    "hidden inputs": ("<input type=hidden><input>", "<input>"),
}
PAGES = {
    "nothing": ("", "<html><head></head><body></body></html>"),
    "before and in the head": (
        "<!doctype html> <html lang=a> <title>b</title> </head> <title>c</title> d",
        '<!DOCTYPE html><html lang="a"><head><title>b</title> <title>c</title></head>  <body>d</body></html>',
    ),
    "noscript in the head": (
        "<head><noscript><link></noscript><noscript><p>a",
        "<html><head><noscript></noscript><noscript></noscript></head><body><p>a</p></body></html>",
    ),
    "after the body": ("<body>a</body> </html> b", "<html><head></head><body>a  b</body></html>"),
}


@pytest.mark.parametrize(("markup", "body"), BODIES.values(), ids=BODIES)
def test_a_body_is_that_of_the_standard(markup: str, body: str) -> None:
    assert parse(markup.encode()).html == f"<html><head></head><body>{body}</body></html>"


@pytest.mark.parametrize(("markup", "page"), PAGES.values(), ids=PAGES)
def test_a_page_is_that_of_the_standard(markup: str, page: str) -> None:
    assert parse(markup.encode()).html == page


@pytest.mark.parametrize("markup", READ_BY_KERNELS.values(), ids=READ_BY_KERNELS)
def test_the_kernels_read_this(markup: str) -> None:
    assert parse(markup.encode()).html is not None


@pytest.mark.parametrize("markup", LEFT_TO_THE_LIBRARY.values(), ids=LEFT_TO_THE_LIBRARY)
def test_the_kernels_leave_this_to_the_library(markup: str) -> None:
    assert parse(markup.encode()).html is None
    assert beyond_budget(markup.encode()) is None


def named(elements_there: np.ndarray) -> set[str]:
    return {name for name, there in zip(ELEMENTS, elements_there.tolist(), strict=True) if there}


def test_the_elements_of_a_source_are_known_also_those_that_canonical_html_has_no_more() -> None:
    found = parse(
        b"<!-- <table> --><META charset=utf-8><script>'<font>'</script><style>p{}</style><strange>"
        b"<p>a<svg><path/></svg></b><center"
    )
    assert named(found.elements) == {"meta", "script", "style", "p", "svg"}
    assert named(parse(b"<p>a\0<Center><frameset>").elements) == {"p", "center", "frameset"}


@given(markup | st.text(max_size=200))
@settings(max_examples=4 * settings().max_examples)
def test_whatever_the_kernels_find_in_a_source_a_search_for_tags_finds_too(markup: str) -> None:
    encoded = markup.encode("utf-8", "replace")
    assert named(parse(encoded).elements) <= named(in_source(encoded))


@given(markup, markup)
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
            f"<html><head></head><body>{longer.decode()}</p></body></html>",
            "<html><head></head><body><p>a</p></body></html>",
        )


def test_the_hash_table_finds_every_element() -> None:
    assert (elements().slots > 0).sum() == len(ELEMENTS) - 1
