"""The forms of a cleaned page: text, CleanEval markup, Markdown, the page without its other blocks, JSON."""

import dataclasses
import json
import re
import unicodedata
from collections import Counter

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import victor_spark
from tests.documents import document
from tests.html.pages import articles, blocks_of
from victor_spark.document import FORMS, Document
from victor_spark.rendering.plain import has_formulas, paragraphs

PAGE = """
<title>A title</title><nav><a>Home</a> <a>News</a></nav>
<h1>The <i>first</i> heading</h1>
<p>Some <b>bold</b>ly written   text<a href="#">[1]</a>
   with <q>a quotation</q>.<br>One break joins,<br><br>two split.</p>
<h3>Lists &amp; code</h3>
<ul><li>one<li>two <em>and</em> a half</ul>
<pre>def f(x):
    return x &lt; 1</pre>
<table><tr><td>cell<td>other cell</table>
<p># not a heading, 2 * 3 * 4, a_b</p>
"""
NOISE = ("Home", "News", "[1]")


@pytest.fixture
def page() -> Document:
    return document(PAGE, NOISE)


def test_a_document_and_its_blocks_equal_only_themselves_and_can_be_keys(page: Document) -> None:
    other = dataclasses.replace(page, kept=page.kept.copy(), scores=dataclasses.replace(page.scores))
    assert {page: 1, other: 2}[page] == 1
    assert {page.blocks: 1, other.blocks: 2}[page.blocks] == 1
    assert page != other


def test_text(page: Document) -> None:
    assert page.render() == page.render("text") == page.text
    assert page.text.split("\n") == [
        "The first heading",
        "Some boldly written text with “a quotation”. One break joins,",
        "two split.",
        "Lists & code",
        "one",
        "two and a half",
        "def f(x):",
        "    return x < 1",
        "cell",
        "other cell",
        "# not a heading, 2 * 3 * 4, a_b",
    ]


def test_cleaneval(page: Document) -> None:
    assert page.render("cleaneval").split("\n<") == [
        "<h>The first heading",
        "p>Some boldly written text with “a quotation”. One break joins,",
        "p>two split.",
        "h>Lists &amp; code",
        "l>one",
        "l>two and a half",
        "p>def f(x):\n    return x &lt; 1",
        "p>cell",
        "p>other cell",
        "p># not a heading, 2 * 3 * 4, a_b\n",
    ]


def test_markdown(page: Document) -> None:
    assert page.render("markdown").split("\n\n") == [
        "## The *first* heading",
        "Some **bold**ly written text with “a quotation”.  \nOne break joins,",
        "two split.",
        "### Lists & code",
        "- one\n- two *and* a half",
        "```\ndef f(x):\n    return x < 1\n```",
        "cell",
        "other cell",
        r"\# not a heading, 2 \* 3 \* 4, a\_b",
    ]


def test_html_is_a_page_of_its_own_with_the_kept_structure() -> None:
    source = (
        "<title>A &amp; b</title><nav>Menu</nav><h2>Part</h2><p>One <b>two</b> <a href='/x'>three</a>"
        "<ul><li><input type=checkbox checked>four</ul><table><caption>C</caption><tr><th colspan=2>five"
        "<tr><td><p>six</p><td>7</table><pre><code class=language-python>if x &lt; 1:\n  y()</code></pre>"
    )
    expected = (
        '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n<title>A &amp; b</title>\n</head>\n<body>\n'
        '<h2>Part</h2>\n<p>One <strong>two</strong> <a href="/x">three</a></p>\n<ul>\n<li>'
        '<input type="checkbox" disabled checked> <p>four</p>\n</li>\n</ul>\n'
        '<table>\n<caption>C</caption>\n<tr><th colspan="2">five</th></tr>\n<tr><td>six</td><td>7</td></tr>\n'
        '</table>\n<pre><code class="language-python">if x &lt; 1:\n  y()</code></pre>\n</body>\n</html>\n'
    )
    assert document(source, ["Menu"]).render("html") == expected


def test_html_leaves_out_links_images_and_emphasis() -> None:
    page = document("<p>One <b>two</b> <a href='/x'>three</a> <img src=/y.png>")
    assert "<p>One two three </p>" in page.render("html", links=False, images=False, emphasis=False)


def test_an_unknown_form_is_a_value_error(page: Document) -> None:
    with pytest.raises(ValueError, match="pdf"):
        page.render("pdf")


@pytest.mark.parametrize("form", sorted(set(FORMS) - {"html", "json", "tei"}))
def test_a_page_without_blocks_renders_to_no_text(form: str) -> None:
    empty = document("")
    assert empty.render(form) == ""


def test_a_document_as_json_has_its_metadata_its_text_and_every_block() -> None:
    head = "<title>Ferry is late</title><meta name=author content='Anna Kos'>"
    value = json.loads(
        victor_spark.clean(f"{head}<p>{'The ferry is late again today. ' * 9}</p>").render("json")
    )
    assert value["metadata"]["authors"] == ["Anna Kos"]
    assert value["metadata"]["sources"]["authors"] == "meta author"
    assert value["text"].startswith("The ferry")
    assert [block["label"] for block in value["blocks"]][-1] == "text"


def test_metadata_of_a_page_read_in_the_wrong_charset_are_repaired_with_its_text() -> None:
    page = f"<title>Přívoz má zpoždění</title><p>{'Přívoz má dnes opět velké zpoždění. ' * 9}</p>"
    document = victor_spark.clean(page.encode().decode("windows-1252", "ignore").encode())
    assert document.title == document.metadata.title


def test_backquotes_in_code_do_not_end_the_code() -> None:
    assert document("<pre>a\n```\nb</pre>").render("markdown") == "````\na\n```\nb\n````"
    assert document("<pre>a\n`````\nb</pre>").render("markdown") == "``````\na\n`````\nb\n``````"


@pytest.mark.parametrize("mark", ["#", "+", "-", ">"])
def test_marks_at_the_start_of_a_paragraph_stay_text_in_markdown(mark: str) -> None:
    assert document(f"<p>{mark.replace('>', '&gt;')} x").render("markdown") == f"\\{mark} x"


def test_paragraphs_dropped_in_the_middle_leave_one_space() -> None:
    assert document("<p>a<b>b</b>c</p>", ["b"]).text == "a c"
    assert document("<p>a <b>b</b> c</p>", ["b"]).text == "a c"
    assert document("<p>a</p><p>b</p><p>c</p>", ["b"]).text == "a\nc"


some_rows = st.sets(st.integers(0, 30))


@example('<p>word</p><math id=""><math><title>a<mi>b</mi></title></math>word</math>', set())
@example('<p>word</p><a href=?q="><p>word</p>', set())
@example("<p>word</p><math>word<input>word</math>", {1})
@example("<p>word</p><math>word<math>word</math>word</math>", {1})
@given(articles, some_rows)
def test_html_holds_all_letters_that_are_kept(source: str, rows: set[int]) -> None:
    page = document(source, rows)
    again = blocks_of(page.render("html")).text
    assert Counter(filter(str.isprintable, "".join(page.text.split()))) <= Counter(again)


@example("<pre><p>word</p>\n\n<h2>word</h2></pre>", set())
@given(articles, some_rows)
def test_text_is_the_paragraphs_that_all_forms_are_made_of(source: str, rows: set[int]) -> None:
    """But for empty lines before a heading in a listing."""
    page = document(source, rows)
    assume(not has_formulas(page.columns, page.html))  # of these, plain text needs the html
    of_page = list(paragraphs(page.columns, page.kept, page.html))
    joined = "\n".join(paragraph for _, paragraph in of_page)
    if ((page.columns.listing > 0) & (page.columns.heading_level > 0)).any():
        assert re.sub("\n+", "\n", page.text) == re.sub("\n+", "\n", joined)
    else:
        assert page.text == joined
    assert page.render("cleaneval").count("\n<") == max(len(of_page) - 1, 0)


@example("<td>word</td><a>more</a>word<p>word</p>", {1})
@given(articles, some_rows)
def test_text_has_the_letters_of_the_kept_blocks_and_none_but_the_pages(source: str, rows: set[int]) -> None:
    """In their order; what stands between kept parts of a paragraph may be there, too."""
    page = document(source, rows)
    kept = "".join(block.text for block in page.blocks if block.label != "other")
    text, of_page = iter(page.text), iter("".join(block.text for block in page.blocks))
    assert all(letter in text for letter in filter(str.isalnum, kept))
    assert all(letter in of_page for letter in filter(str.isalnum, page.text))


def test_a_paragraph_keeps_its_punctuation_and_in_markdown_its_links() -> None:
    page = document(
        "<p>The ferry leaves from <a href=/n>the north pier</a>. <a href=/s>Map</a></p>", [".", "Map"]
    )
    assert page.text == "The ferry leaves from the north pier."
    assert page.render("markdown") == "The ferry leaves from [the north pier](/n). [Map](/s)"


def test_texts_of_the_same_words_have_the_same_hash() -> None:
    one, other, third = (
        victor_spark.clean(f"<p>{text}</p>", threshold=1.0)
        for text in (
            "The ﬁrst Ferry – “at seven” – to Kéa.",
            "THE FIRST<br>FERRY at\u00a0seven to Ke\u0301a",
            "The first ferry at seven to Kea",
        )
    )
    assert one.text != other.text
    assert one.text_hash == other.text_hash != third.text_hash
    assert len(one.text_hash or "") == 32
    assert victor_spark.clean("<p>… – !</p>", threshold=1.0).text_hash is None
    assert victor_spark.clean("").text_hash is None


@given(st.text(st.sampled_from("aZ 9-_.ﬁßİéÉẞ\u0301\u0327\u0e33ก漢가ΣςΆ…“\u00a0①"), max_size=40))
def test_the_hash_is_that_of_the_words_alone(text: str) -> None:
    def hashed(text: str) -> str | None:
        return dataclasses.replace(document("<p>x"), text=text).text_hash

    decomposed = unicodedata.normalize("NFD", text)
    assert hashed(text) == hashed(decomposed) == hashed(text + " -" * 500)
    same = "".join(
        c for c in unicodedata.normalize("NFKD", text).casefold() if unicodedata.category(c)[0] in "LMN"
    )
    assert (hashed(text) is None) == (same == "")
