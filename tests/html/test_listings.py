"""Preformatted text keeps lines and indentation in any markup, and loses line numbers."""

import re
import sys
from collections.abc import Callable
from functools import cache
from html import escape, unescape
from random import Random
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.documents import document
from tests.html.pages import articles, blocks_of, soup
from victor_spark import pipeline
from victor_spark.document import Document
from victor_spark.preparation import handed_over
from victor_spark.rendering.plain import has_formulas, paragraphs, plain_text
from victor_spark.rendering.shown import shown
from victor_spark.warc.records import Record

CODE = "def first(n, x=None):\n    if n > 1:\n\n        return 7\n    return 2"
LINES = CODE.split("\n")
BEFORE, AFTER = "<p>Here is a program:</p>", "<p>It has 5 lines.</p>"


@cache
def cleaning() -> Callable[[Record], Document]:
    """The pipeline with a cleaner that keeps every block."""
    return pipeline.cleaning(pipeline.EVERYTHING, pipeline.language_models())


def whole(markup: str) -> Document:
    """The document between two paragraphs, all of it kept."""
    page = f"<body>{BEFORE}{markup}{AFTER}</body>".encode()
    return cleaning()(Record(None, None, "", 0, len(page), page, http_charset="utf-8"))


def coloured(line: str) -> str:
    """A line as highlighters write it: an element for each word and number."""
    parts = re.split(r"(\w+)", line)
    return "".join(
        f'<span class="token">{part}</span>' if i % 2 else escape(part) for i, part in enumerate(parts)
    )


def with_nbsp(line: str) -> str:
    """A line with indentation that needs no style, an empty one included."""
    indentation = len(line) - len(line.lstrip())
    return "&nbsp;" * (indentation or not line) + coloured(line.lstrip())


def all_lines(form: str, markup: Callable[[str], str] = coloured, between: str = "") -> str:
    """Every line in the form: {n} its number, {line} its markup."""
    return between.join(form.format(n=n, line=markup(line)) for n, line in enumerate(LINES, 1))


NUMBERS = "\n".join(map(str, range(1, 6)))
PLAIN = coloured(CODE)
STYLES = {
    "plain": f"<pre>{escape(CODE)}</pre>",
    "one span": f"<pre><span>{escape(CODE)}</span></pre>",
    "prism": f'<pre class="language-python"><code class="language-python">{PLAIN}</code></pre>',
    "prism with empty rows for numbers": (
        f'<pre class="line-numbers language-python"><code>{PLAIN}'
        '<span aria-hidden="true" class="line-numbers-rows"><span></span><span></span></span></code></pre>'
    ),
    "highlight.js": f'<pre><code class="hljs python">{PLAIN}</code></pre>',
    "highlight.js with a table of numbers": (
        '<pre><code class="hljs"><table class="hljs-ln"><tbody>'
        + all_lines(
            '<tr><td class="hljs-ln-line hljs-ln-numbers" data-line-number="{n}"><div class="hljs-ln-n"'
            ' data-line-number="{n}"></div></td><td class="hljs-ln-line hljs-ln-code" data-line-number="{n}">'
            "{line}</td></tr>"
        )
        + "</tbody></table></code></pre>"
    ),
    "pygments": f'<div class="highlight"><pre><span></span>{PLAIN}\n</pre></div>',
    "pygments with a table of numbers": (
        '<table class="highlighttable"><tbody><tr><td class="linenos"><div class="linenodiv"><pre>'
        f'{NUMBERS}</pre></div></td><td class="code"><div class="highlight"><pre><span></span>{PLAIN}\n'
        "</pre></div></td></tr></tbody></table>"
    ),
    "pygments with a table of marked numbers": (
        '<table class="highlighttable">\n <tr>\n  <td class="linenos"><div class="linenodiv"><pre>'
        + all_lines('<span class="normal">{n}</span>', between="\n")
        + f'</pre></div></td>\n  <td class="code"><div><pre>{PLAIN}</pre></div></td>\n </tr>\n</table>'
    ),
    "pygments with numbers inside": (
        "<pre>" + all_lines('<span class="linenos">{n}</span>{line}\n') + "</pre>"
    ),
    "pygments with padded numbers inside": (
        "<pre>" + all_lines('<span></span><span class="lineno"> {n} </span>{line}\n') + "</pre>"
    ),
    "vim": "<pre id='vimCodeElement'>" + all_lines('<span class="LineNr"> {n} </span>{line}\n') + "</pre>",
    "github": (
        '<table class="highlight tab-size"><tbody>'
        + all_lines(
            '<tr>\n<td id="L{n}" class="blob-num js-line-number" data-line-number="{n}"></td>\n'
            '<td id="LC{n}" class="blob-code blob-code-inner">{line}\n</td>\n</tr>\n'
        )
        + "</tbody></table>"
    ),
    "github of old": (
        '<table><tr><td class="line_numbers">'
        + all_lines('<span id="L{n}" rel="#L{n}">{n}</span>\n')
        + '</td><td class="line-data"><div class="highlight"><pre>'
        + all_lines('<div class="line" id="LC{n}">{line}</div>', lambda line: coloured(line) or "<br>")
        + "</pre></div></td></tr></table>"
    ),
    "gitlab": (
        '<div class="file-content code"><div class="line-numbers">'
        + all_lines('<a class="diff-line-num" data-line-number="{n}" id="L{n}">{n}</a>\n')
        + '</div><pre class="code highlight"><code>'
        + all_lines('<span id="LC{n}" class="line">{line}</span>\n')
        + "</code></pre></div>"
    ),
    "rouge": (
        '<div class="highlighter-rouge"><div class="highlight"><pre class="highlight"><code>'
        '<table class="rouge-table"><tbody><tr><td class="rouge-gutter gl"><pre class="lineno">'
        f'{NUMBERS}\n</pre></td><td class="rouge-code"><pre>{PLAIN}\n</pre></td></tr></tbody></table>'
        "</code></pre></div></div>"
    ),
    "rouge, one row a line": (
        '<pre class="highlight"><code><table class="rouge-line-table"><tbody>'
        + all_lines(
            '<tr id="line-{n}" class="lineno"><td class="rouge-gutter gl" style="user-select: none">'
            '<pre class="lineno">{n}</pre></td><td class="rouge-code"><pre>{line}\n</pre></td></tr>'
        )
        + "</tbody></table></code></pre>"
    ),
    "hexo": (
        '<figure class="highlight python"><table><tr><td class="gutter"><pre>'
        + all_lines('<span class="line">{n}</span><br>')
        + '</pre></td><td class="code"><pre>'
        + all_lines('<span class="line">{line}</span><br>')
        + "</pre></td></tr></table></figure>"
    ),
    "chroma": (
        '<div class="highlight"><div class="chroma"><table class="lntable"><tr><td class="lntd"><pre><code>'
        + all_lines('<span class="lnt">{n}\n</span>')
        + '</code></pre></td>\n<td class="lntd"><pre><code>'
        + all_lines('<span class="line"><span class="cl">{line}\n</span></span>')
        + "</code></pre></td></tr></table></div></div>"
    ),
    "chroma with numbers inside": (
        '<pre class="chroma"><code>'
        + all_lines('<span class="line"><span class="ln">{n}</span><span class="cl">{line}\n</span></span>')
        + "</code></pre>"
    ),
    "shiki": (
        '<pre class="shiki" tabindex="0"><code>'
        + all_lines('<span class="line">{line}</span>', between="\n")
        + "</code></pre>"
    ),
    "docusaurus": (
        '<pre class="prism-code"><code>'
        + all_lines('<span class="token-line">{line}<br></span>')
        + "</code></pre>"
    ),
    "a div a line": (
        "<pre>"
        + all_lines('<div class="token-line">{line}</div>', lambda line: coloured(line) or "<span>\n</span>")
        + "</pre>"
    ),
    "react-syntax-highlighter": (
        '<pre><code style="float:left;padding-right:10px">'
        + all_lines('<span class="react-syntax-highlighter-line-number">{n}\n</span>')
        + f'</code><code style="white-space:pre">{PLAIN}</code></pre>'
    ),
    "react-syntax-highlighter with numbers inside": (
        '<pre><code class="language-python">'
        + all_lines('<span class="linenumber" style="user-select:none">{n}</span><span>{line}\n</span>')
        + "</code></pre>"
    ),
    "SyntaxHighlighter": (
        '<div class="syntaxhighlighter"><table><tbody><tr><td class="gutter">'
        + all_lines('<div class="line number{n} index alt1">{n}</div>')
        + '</td><td class="code"><div class="container">'
        + all_lines('<div class="line number{n} index alt2">{line}</div>', with_nbsp)
        + "</div></td></tr></tbody></table></div>"
    ),
    "Crayon": (
        '<div class="crayon-main"><table class="crayon-table"><tr class="crayon-row"><td class="crayon-nums">'
        '<div class="crayon-nums-content">'
        + all_lines('<div class="crayon-num">{n}</div>').replace('num">2', 'num crayon-striped-num">2')
        + '</div></td><td class="crayon-code"><div class="crayon-pre">'
        + all_lines('<div class="crayon-line" id="crayon-{n}">{line}</div>', with_nbsp)
        + "</div></td></tr></table></div>"
    ),
    "CodeMirror": (
        '<div class="CodeMirror-code">'
        + all_lines(
            '<div style="position: relative;"><div class="CodeMirror-gutter-wrapper" style="left: -29px;">'
            '<div class="CodeMirror-linenumber CodeMirror-gutter-elt">{n}</div></div>'
            '<pre class="CodeMirror-line"><span role="presentation">{line}</span></pre></div>'
        )
        + "</div>"
    ),
    "GeSHi": (
        f'<table><tr><td class="ln"><pre class="de1">{NUMBERS}\n</pre></td><td class="de1">'
        f'<pre class="de1">{PLAIN}</pre></td></tr></table>'
    ),
    "prettify": (
        '<pre class="prettyprint linenums"><ol class="linenums">'
        + all_lines('<li class="L{n}">{line}</li>', lambda line: coloured(line) or "&nbsp;")
        + "</ol></pre>"
    ),
    "doxygen": (
        '<div class="fragment">'
        + all_lines('<div class="line"><span class="lineno">    {n}</span>&#160;{line}</div>\n')
        + "</div>"
    ),
    "doxygen with tooltips": (
        '<div class="fragment">'
        + all_lines('<div class="line"><span class="lineno">    {n}</span>&#160;{line}</div>\n')
        + '<div class="ttc"><div class="ttname"><a href="/f">sail</a></div><div class="ttdeci">int f()</div>'
        '<div class="ttdoc">Sails the boat to the pier at the other side of the bay.</div></div></div>'
    ),
    "coderay": (
        '<table class="CodeRay"><tr><td class="line-numbers"><pre>'
        + all_lines('<a href="#n{n}" name="n{n}">{n}</a>\n')
        + f'</pre></td><td class="code"><pre>{PLAIN}</pre></td></tr></table>'
    ),
    "redmine": (
        "<table>"
        + all_lines(
            '<tr><th class="line-num"><a>{n}</a></th><td class="line-code"><pre>{line}\n</pre></td></tr>'
        )
        + "</table>"
    ),
    "a column without a name": (
        f"<table><tr><td><pre>{NUMBERS}</pre></td><td><pre>{PLAIN}</pre></td></tr></table>"
    ),
    "br": f"<pre>{PLAIN}</pre>".replace("\n", "<br>"),
    "wordpress": f'<pre class="wp-block-code"><code>{PLAIN}</code></pre>',
    "stack overflow": f'<pre class="lang-py s-code-block"><code class="hljs">{PLAIN}\n</code></pre>',
    "textarea": f'<textarea class="plain" rows="9">{escape(CODE)}</textarea>',
    "xmp": f"<xmp>{CODE}</xmp>",
    "listing": f"<listing>{PLAIN}</listing>",
    "white-space: pre": f'<code style="color:red;white-space:pre;display:block">{PLAIN}</code>',
    "white-space: pre-wrap": f"<div style='White-Space : pre-wrap !important'>{PLAIN}</div>",
    "white-space: break-spaces": f'<div style="white-space:break-spaces"><span>{PLAIN}</span></div>',
}


@pytest.mark.parametrize("style", STYLES)
def test_code_keeps_its_lines_and_loses_their_numbers(style: str) -> None:
    page = whole(STYLES[style])
    text = page.text.replace("\xa0", " ")
    assert re.sub(r" +(?=\n)", "", text) == f"Here is a program:\n{CODE}\nIt has 5 lines."


@pytest.mark.parametrize("style", [style for style in STYLES if "-wrap" not in style])
def test_code_is_one_fenced_block_in_markdown(style: str) -> None:
    text = re.sub("```[a-z]+", "```", whole(STYLES[style]).render("markdown").replace("\xa0", " "))
    if "white-space" in style and style != "white-space: pre":  # prose: an empty line ends a paragraph
        lines = "def first(n, x=None):  \nif n > 1:\n\nreturn 7  \nreturn 2"
        assert text == f"Here is a program:\n\n{lines}\n\nIt has 5 lines."
    else:
        assert re.sub(r" +(?=\n)", "", text) == f"Here is a program:\n\n```\n{CODE}\n```\n\nIt has 5 lines."


@pytest.mark.parametrize("style", STYLES)
def test_code_keeps_its_lines_in_every_other_form(style: str) -> None:
    page = whole(STYLES[style])
    marked = re.sub(r" +(?=\n)", "", unescape(page.render("cleaneval")).replace("\xa0", " "))
    assert (
        re.sub("^<l>", "<p>", marked, flags=re.MULTILINE)
        == f"<p>Here is a program:\n<p>{CODE}\n<p>It has 5 lines.\n"
    )
    again = [line.strip() for line in document(page.render("html").replace("<br>", "<p>")).text.split("\n")]
    assert [line for line in again if line][1:-1] == [line.strip() for line in LINES if line]


def test_one_line_of_code_loses_its_number_where_a_name_says_so() -> None:
    table = '<table><tr><td class="{}"><pre>1</pre></td><td><pre>print(2)</pre></td></tr></table>'
    assert whole(table.format("linenos")).text.split("\n")[1:-1] == ["print(2)"]
    assert whole(table.format("result")).text.split("\n")[1:-1] == ["1", "print(2)"]
    assert whole('<pre><i class="ln">1</i> x = 2</pre>').text.split("\n")[1:-1] == ["x = 2"]


def test_a_line_of_code_that_is_only_a_number_stays() -> None:
    rows = "".join(
        f'<tr class="lineno"><td class="hljs-ln-numbers">{n}</td><td class="hljs-ln-code">{line}</td></tr>'
        for n, line in enumerate(["x = (", "2", "3", ")"], 1)
    )
    text = whole(f"<pre><table>{rows}</table></pre>").text
    assert text.split("\n")[1:-1] == ["x = (", "2", "3", ")"]


NOT_OF_LINES = {
    "a ranking": "<table><tr><td>1</td><td>Ann</td></tr><tr><td>2</td><td>Bob</td></tr></table>",
    "what a program prints": "<pre>for i in (1, 2, 3): print(i)</pre><pre>1\n2\n3</pre>",
    "what a program prints, in colour": "<pre><i>1</i>\n<i>2</i>\n<i>3</i>\n<i>4</i>\ndone</pre>",
    "numbers in code": "<pre><i>1</i> + x\n<i>2</i>\nplus\n<i>3</i> + y</pre>",
    "numbers within lines": "<pre>a <i>1</i>\nb <i>2</i>\nc <i>3</i></pre>",
    "numbered lines": '<div style="white-space:pre-wrap"><b>1</b> one\n<b>2</b> two\n<b>3</b> three</div>',
    "steps with commands": (
        "<div>1</div><p>Get it</p><pre>apt update\napt upgrade</pre><div>2</div><p>Run it</p><pre>run</pre>"
    ),
    "steps with commands alone": "<div>1</div><pre>apt a\napt b</pre><div>2</div><pre>run a\nrun b</pre>",
    "pages": '<div class="pages"><a>1</a> <a>2</a> <a>3</a></div><pre>x = 1</pre>',
    "a list in columns": "<table><tr><td>1<br>2<br>3</td><td>x<br>y<br>z</td></tr></table>",
    "a year": "<pre>in\n<b>2024</b>\n<b>2025</b></pre>",
    "verses": "<pre>" + all_lines("<sup>{n}</sup>{line}\n") + "</pre>",
    "steps in a table": (
        "<table><tr><td>1</td><td><pre>get(x);</pre></td></tr><tr><td>2</td><td><pre>run(x);</pre></td></tr>"
        "<tr><td>3</td><td><pre>end(x);</pre></td></tr></table>"
    ),
    "results in pre": "<pre><table>" + all_lines("<tr><td>{n}</td><td>{line}</td></tr>") + "</table></pre>",
    "codes in pre": "<pre>" + all_lines("<code>{n}</code>  {line}\n") + "</pre>",
    "squares": "<table><tr><td><pre>1\n2\n3</pre></td><td><pre>1\n4\n9</pre></td></tr></table>",
    "ranks": "<table><tr><td><pre>1\n2\n3</pre></td><td><pre>Ann\nBob\nEve</pre></td></tr></table>",
    "years": "<table><tr><td><pre>2001\n2002\n2003</pre></td><td><pre>a;\nb;\nc;</pre></td></tr></table>",
    "forms": "<ul>" + all_lines("<li>{n}<textarea>{line}</textarea></li>") + "</ul>",
    "trams": '<p><i class="line-number">7</i> Airport</p><p><i class="line-number">8</i> Harbour</p>',
    "orders": '<table><tr><td class="lineno">1</td><td>Bolts</td><td>20</td></tr></table>',
    "a grid": '<table><tr><td class="gutter">1</td><td>One</td></tr></table>',
    "numbers as code": '<pre class="line-numbers">1\n2</pre><pre class="line-numbers">x = 3</pre>',
    "a page named so": '<div class="line-numbers"><p>1</p><p>text</p><p>2</p><pre>code</pre></div>',
}


@pytest.mark.parametrize("case", NOT_OF_LINES)
def test_other_numbers_stay(case: str) -> None:
    page = whole(NOT_OF_LINES[case])
    assert not page.columns.left_out.any()
    assert re.findall(r"\d+", page.text) == [
        *re.findall(r"\d+", re.sub(r"<[^>]+>", " ", NOT_OF_LINES[case])),
        "5",
    ]


BUTTON = "<div class=bar><span>python</span><button>Kopieren</button></div>"


@pytest.mark.parametrize(
    "markup",
    [
        f"<div>{BUTTON}<pre>{PLAIN}</pre></div>",
        f"<div><pre>{PLAIN}</pre><div class=toolbar><span role=button>Copy code</span></div></div>",
        f"<div><a class=copy-btn href='#'>Copy</a><pre><code>{PLAIN}</code></pre></div>",
        f"<pre><button>Run</button><code>{PLAIN}</code></pre>",
        (
            f"<table><tr><td class=linenos><pre>{NUMBERS}</pre><td class=code>"
            f"<button>Copy</button><pre>{PLAIN}</pre></table>"
        ),
        f"<table><tr><td><pre>{NUMBERS}</pre><td><button>Copy</button><pre>{PLAIN}</pre></table>",
        "<table>"
        + all_lines("<tr><td class=blob-num>{n}<td class='blob-code blob-code-inner'>{line}")
        + "</table>",
        "<table>" + all_lines("<tr><td class='blob-num empty'><td class=blob-code>{line}") + "</table>",
        "<table>" + all_lines("<tr><td>{n}<td><pre>{line}</pre>") + "</table>",
        "<table>" + all_lines("<tr><td>{n}<td><code>{line}</code>") + "</table>",
    ],
)
def test_code_has_no_buttons_and_no_numbers_of_a_gutter(markup: str) -> None:
    page = whole(markup)
    assert page.text.split("\n")[1:-1] == LINES
    fence = "```python" if BUTTON in markup else "```"
    assert page.render("markdown").split("\n\n", 1)[1].rpartition("\n\n")[0] == f"{fence}\n{CODE}\n```"


def test_buttons_elsewhere_and_words_above_code_stay() -> None:
    code = "<pre>f()\ng()</pre>"
    source = f"<p>Buy <button>Now</button></p><h3>Python</h3><p>Go</p>{code}"
    page = whole(f"{source}<p>Output</p><div><button>Copy</button>{code}</div>")
    lines = ["Buy Now", "Python", "Go", "f()", "g()", "Output", "f()", "g()"]
    assert page.text.split("\n")[1:-1] == lines


@pytest.mark.parametrize("name", ["body-copy", "copy", "article-button", "clipboard"])
@pytest.mark.parametrize("tag", ["p", "div"])
def test_lines_between_listings_are_no_buttons_whatever_the_element_around_them_is_called(
    name: str, tag: str
) -> None:
    lines = ["Install it:", f"pip install {name * 9}", "Run it:", f"run {name * 9}", "Or:", name * 9]
    pairs = zip(lines[::2], lines[1::2], strict=True)
    body = "".join(f"<{tag}>{line}</{tag}><pre>{code}</pre>" for line, code in pairs)
    assert whole(f'<div class="{name}">{body}</div>').text.split("\n")[1:-1] == lines


def test_words_of_prose_beside_code_are_no_button_and_no_language() -> None:
    page = whole("<pre>a = 1;</pre><p class='btn-info'>See the next one.</p>")
    assert page.text.split("\n")[1:-1] == ["a = 1;", "See the next one."]
    page = whole("<p>Press <button>OK</button></p><pre>done(x);</pre>")
    assert page.text.split("\n")[1:-1] == ["Press OK", "done(x);"]


@pytest.mark.parametrize(("header", "beside"), [("<tr><th>No<th>Command</tr>", ""), ("", " starts")])
def test_a_table_of_numbered_commands_keeps_its_numbers(header: str, beside: str) -> None:
    row = "<tr><td>{}</td><td><code>&nbsp; run(x);</code>{}</td></tr>"
    page = whole(f"<table>{header}{''.join(row.format(n, beside) for n in (1, 2, 3))}</table>")
    lines = page.text.replace("\xa0", " ").split("\n")
    assert [line.split() for line in lines[-4:-1]] == [[n, "run(x);", *beside.split()] for n in "123"]


def test_a_gutter_that_ends_the_page_is_one() -> None:
    rows = all_lines("<tr><td>{n}<td><pre>{line}</pre>")
    page = cleaning()(handed_over(f"<p>{BEFORE}</p><table>{rows}</table>".encode(), None))
    assert page.text.split("\n")[1:] == LINES


def test_code_that_counts_on_in_a_second_listing_stays_apart() -> None:
    first, second = (
        f'<table><tr><td class="linenos"><pre>{numbers}</pre></td><td><pre>{code}</pre></td></tr></table>'
        for numbers, code in (("1\n2\n3", "a\nb\nc"), ("4\n5", "d\n  e"))
    )
    text = whole(f"{first}<p>Then:</p>{second}").render("markdown")
    assert text.split("\n\n")[1:-1] == ["```\na\nb\nc\n```", "Then:", "```\nd\n  e\n```"]


def test_a_line_dropped_from_code_leaves_no_empty_line_in_text_and_is_shown_in_markdown() -> None:
    page = document("<pre>if x:\n    <b>drop()</b>\n    <i>keep</i>(<b>drop()</b>)</pre>", ["drop()"])
    assert page.text == "if x:\n    keep( )"
    assert page.render("markdown") == "```\nif x:\n    drop()\n    keep(drop())\n```"


def test_prose_keeps_its_paragraphs_in_a_preformatted_element() -> None:
    source = (
        '<div style="white-space: pre-line">\n  <h2>A\n  b</h2>\n\n  <p>One   two\n   three</p>\n\n'
        "<ul>\n <li>four\n five</li>\n </ul></div>"
    )
    page = document(source)
    assert page.text == "A\nb\nOne two\nthree\nfour\nfive"
    assert page.render("markdown") == "## A b\n\nOne two  \nthree\n\n- four  \n  five"


def test_preformatted_words_in_a_sentence_keep_their_white_space() -> None:
    code = '<code style="white-space:pre">{}</code>'.format
    source = f"<p>Type {code('a  b')}\n  or {code('c ')}now.{code('x')}{code(' y')}</p>"
    assert document(source).text == "Type a  b or c now.x y"
    span = '<span style="white-space: pre-wrap">{}</span>'
    lines = f"<p>{span.format('one  two')}\n {span.format('three')}{span.format(' four')}</p>"
    assert document(lines).text == "one  two three four"


def test_a_data_table_in_pre_has_no_line_for_each_empty_cell() -> None:
    row = "  <tr>\n    <td>&nbsp;</td>\n    <td>{}</td>\n    <td>&nbsp;</td> <td>{}</td>\n  </tr>\n"
    page = document(
        f"<pre><table>\n{row.format('a', 'b')}{row.format('', ' ')}{row.format('c', 'd')}</table></pre>"
    )
    assert page.text == "a\nb\n\nc\nd"


words = st.sampled_from(["x", "=", "1", "if", " ", "  ", "\t", "\n", "\n\n", "&lt;", "é", "漢", "&amp;amp;"])
in_line = st.recursive(
    st.lists(words | st.sampled_from(["<br>", "<wbr>", "<img>"]), max_size=6).map("".join),
    lambda inner: st.lists(
        st.builds("<{0}>{1}</{0}>".format, st.sampled_from(["span", "b", "code", "x-y"]), inner) | inner,
        max_size=4,
    ).map("".join),
    max_leaves=12,
)


def visible(markup: str) -> str:
    """The text that a browser shows of preformatted markup without elements that begin a line."""
    text = markup.removeprefix("\n")  # the parser drops a line break that follows the start tag
    return unescape(re.sub(r"<[^>]*>", "", text.replace("<br>", "\n")))


@given(markup=in_line, tag=st.sampled_from(["pre", "listing", 'div style="white-space:pre"']))
def test_preformatted_text_comes_out_as_a_browser_shows_it(markup: str, tag: str) -> None:
    text = visible(markup) if "div" not in tag else visible("\n" + markup)
    shown = re.sub(r"\A\s*\n", "", text).rstrip()  # but for empty lines at both ends
    page = document(f"<{tag}>{markup}</{tag.split(maxsplit=1)[0]}>")
    assert page.text == shown
    assert page.render("markdown") == (f"```\n{shown}\n```" if shown else "")


@given(source=articles | soup, choice=st.randoms(use_true_random=False))
def test_paragraphs_are_the_lines_of_the_text(source: str, choice: Random) -> None:
    """`render` joins block by block; the kernel joins the same text, for any choice of blocks."""
    blocks = blocks_of(source)
    page = document(source, [row for row in range(len(blocks)) if choice.random() < 0.4])
    joined = "\n".join(paragraph for _, paragraph in paragraphs(page.columns, page.kept, page.html))
    if has_formulas(page.columns, page.html):
        text = plain_text(page.columns, page.kept, page.html)
    else:  # without the html, text has no cells in lines either
        text = plain_text(*shown(page.columns, page.kept, page.html, plain=True))
    assert joined.split() == text.split()
    if not re.search("<h[1-6]", page.html) and "\t" not in text:
        assert joined == text


@pytest.mark.parametrize(
    "form",
    [
        "<div><i class='ln'>1</i> a<div><i class='ln'>2</i> b",
        "<p><i class=ln>{n}</i><pre>a</pre>",
        "<i>1</i> ",
    ],
)
def test_deep_and_many_numbers_cost_in_proportion(form: str) -> None:
    """The lines of Python that run are counted."""

    def n_lines(n: int) -> int:
        source = (
            "<table><td><pre>" + "".join(form.format(n=i) for i in range(n)) + "</pre><td><pre>a = 1</pre>"
        )
        lines = 0

        def line(frame: FrameType, _event: str, _: object) -> Callable[..., Any] | None:
            nonlocal lines
            if not frame.f_code.co_filename.endswith("html/listings.py"):
                return None
            lines += 1
            return line

        before = sys.gettrace()
        sys.settrace(line)
        try:
            blocks_of(source)
        finally:
            sys.settrace(before)
        return lines

    n_lines(10)
    assert n_lines(400) <= 2.1 * n_lines(200)


@pytest.mark.parametrize("words", ["tooltiptext", "hover-info"])
def test_a_tooltip_is_left_out_beside_code_alone(words: str) -> None:
    tip, code = f"<div class={words}>Copy it</div>", "<pre>code();</pre>"
    beside = blocks_of(f"<div>{tip}{code}</div><p>The ferry.</p>")
    assert beside.left_out.tolist() == [True, False, False]
    assert not blocks_of(f"{code}<p>The ferry.</p>{tip}<p>Low.</p>").left_out.any()
