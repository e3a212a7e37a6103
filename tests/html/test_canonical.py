"""The canonical HTML of odd markup keeps all text that a reader can see, and no other text."""

import time

import pytest

from tests.html.pages import blocks_of, texts_of
from victor_spark.html.canonical import canonical, restored, style_sheets


def test_the_styles_of_a_page_beyond_the_budget_of_the_tree_are_not_read() -> None:
    style = "<style>p { color: red }</style><style media=print>p { color: black }</style>"
    assert style_sheets(f"{style}<p>a") == ["p { color: red }"]
    assert style_sheets(f"{style}{'<b a=1>' * 600}<p>" * 400) == []


ODDITIES = {
    "entities are decoded once": (
        "a&amp;b &lt;i&gt; &amp;amp; &#65;&#x1F600;",
        ["a&b <i> &amp; A\U0001f600"],
    ),
    "entities without a semicolon": ("&copy 2008 AT&T &notit;", ["© 2008 AT&T ¬it;"]),
    "white space of entities is trimmed": ("<p>&nbsp;a&nbsp;b&nbsp;</p><p>&nbsp;</p>", ["a\xa0b"]),
    "a numeric reference to nothing": ("&#0;&#xD800;&#x110000;", ["\ufffd\ufffd\ufffd"]),
    "NUL": ("<p>a\0b</p>", ["ab"]),
    "astral characters": ("\U0001f600<b>\U0002000b</b>c", ["\U0001f600", "\U0002000b", "c"]),
    "a lone surrogate": ("<p>a\ud800</p><p>b</p>", ["a\ufffd\ufffd\ufffd", "b"]),
    "xmp holds markup as text": ("<xmp><b>x</b>&amp;</xmp>y", ["<b>x</b>&amp;", "y"]),
    "markup after plaintext is read": ("a<plaintext><b>x</plaintext>y", ["a", "x", "y"]),
    "noscript is parsed": ("<noscript><p>a <b>b</b></p></noscript>", ["a", "b"]),
    "template has no text": ("<template><p>a<template>b</template></p></template>c", ["c"]),
    "objects nest": ("<object>a<object>b</object>c</object>d", ["d"]),
    "an unclosed object swallows what it holds": ("a<div><object><p>b</div>c", ["a"]),
    "a script inside an object": ("<object><script>w('<object>')</script></object>a", ["a"]),
    "a comment inside svg": ("<svg><!-- </svg> <svg> --></svg>a", ["a"]),
    "an end tag inside a comment inside svg": ("<svg><!-- </svg> -->b</svg>a", ["a"]),
    "a start tag inside a comment inside svg": ("<svg><!-- <svg> --></svg>a", ["a"]),
    "comments": ("a<!-- <p>b</p> -- > -->c", ["ac"]),
    "comments with odd ends": ("a<!-->b<!--->c<!--d--!>e<!---->f", ["abcef"]),
    "a comment without an end": ("a<p>b<!-- c <p>d", ["a", "b"]),
    "bogus comments": ("a<!x>b</ y>c<?php echo ?>d<![CDATA[e]]>f", ["abcdf"]),
    "plaintext inside a canvas": ("a<canvas><plaintext></canvas>b", ["a"]),
    "xmp inside a template": ("<template><xmp></template></xmp></template>a", ["a"]),
    "CDATA in MathML": ("<math><![CDATA[a<b>]]></math>", ["a<b>"]),
    "a script that writes a script": ("<script><!-- w('<script></script>') --></script>a", ["a"]),
    "a script that holds an end tag": ("<script>'</p>'; '</scripts>'</script>a", ["a"]),
    "a style that holds markup": ("<style>p > a:after { content: '<b>' }</style>a", ["a"]),
    "textarea holds text": ("<textarea><b>x</b>&lt;</textarea>y", ["<b>x</b><", "y"]),
    "frameset": ("<frameset><frame src=a><noframes>b</noframes></frameset>", []),
    "iframes and fallback of canvas": ("<iframe><p>a</iframe><canvas>b</canvas>c", ["c"]),
    "an iframe that nothing ends": (
        "<noscript><iframe src=a /></noscript><p>b<iframe src=c></iframe><p>d<iframe><p>e",
        ["b", "d", "e"],
    ),
    "an iframe with its own noscript": ("<iframe><noscript>a</noscript></iframe>b", ["b"]),
    "svg with a title": ("<svg><title>a</title><text>b</text></svg>c", ["c"]),
    "a title in the body": ("<p>a<title>b</title>c", ["a", "c"]),
    "a title with markup is text of MathML": ("<math><title>a<mi>b</mi></title></math>c", ["a", "b", "c"]),
    "names that begin like title": (
        "<titlebar>a</titlebar><scripted>b</scripted><objective>c",
        ["a", "b", "c"],
    ),
    "a stray quote after an attribute": ('<a href="x"">a</a> <p id="y">b', ["a", "b"]),
    "a quote inside an unquoted value": ('<a href=?q=">a</a> <p id="y">b', ["a", "b"]),
    "quotes as names": ("<p =\" x>a<p a'b=c>b<p \"''>c", ["a", "b", "c"]),
    "markup in attributes": ("<p title='a>b<c\"d'>a</p><p title=\"<!-- 'x\">b", ["a", "b"]),
    "an unclosed attribute eats the rest": ("a<p title='b>c</p><p>d", ["a"]),
    "tags with odd names": ("<a<b>a</a<b><x:y>b</x:y>", ["a", "b"]),
    "no tags": ("1 < 2 & 3 > 2", ["1 < 2 & 3 > 2"]),
    "nothing": ("", []),
    "white space alone": (" \n\t\u3000&nbsp;", []),
}


@pytest.mark.parametrize(("source", "texts"), ODDITIES.values(), ids=ODDITIES)
def test_text_of_odd_markup(source: str, texts: list[str]) -> None:
    assert texts_of(blocks_of(source)) == texts


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("<title> a &amp;\n b </title>", "a & b"),
        ("<title></title><p>a", None),
        ("<p>a", None),
        ("<titlebar>x</titlebar><title>a</title>", "a"),
        ("<title>a</title><title>b</title>", "a"),
        ("<svg><title>x</title></svg><title>a</title>", "a"),
        ("<p title='<title>x</title>'>b</p><title lang=en>a</title>", "a"),
        ("<title><b>a</b>", "<b>a</b>"),
    ],
)
def test_title(source: str, title: str | None) -> None:
    assert blocks_of(source).title == title


def test_hidden_and_textless_elements_are_gone() -> None:
    source = (
        "<link href=a><meta name=b><base href=c><input type=HIDDEN value=d><embed src=e><input type=text>a"
    )
    html = canonical(source).html
    assert html == '<html><head></head><body><input type="text">a</body></html>'


def test_a_string_has_no_charset_and_bytes_have_one() -> None:
    assert canonical("<meta charset=latin2>ž").charset is None
    assert canonical("<meta charset=utf-8>ž".encode()).charset == "utf-8"


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("<script type='math/tex'>a<b_1 & c</script>", r"\(a&lt;b_1 &amp; c\)"),
        (
            '<script type="math/tex; mode=display">% <![CDATA[\nx \\\\[2pt] y %]]></script>',
            r"\[x \\[2pt] y\]",
        ),
        ("<span class=MathJax_Preview>[math]</span><script async type=math/tex>x</script>", r"\(x\)"),
        ("<script type='math/tex' id='MathJax-Element-1'>x</script>", r'<span data-tex="\(x\)"></span>'),
        ("<script type='math/tex'>a &lt; b</script>", r"\(a &amp;lt; b\)"),
        (
            "<script type='math/tex' id='MathJax-Element-1'>\"a\"</script>",
            r'<span data-tex="\(&quot;a&quot;\)"></span>',
        ),
        ("<script type=math/tex> </script>", ""),
        ("<script>'math/tex'</script>", ""),
    ],
)
def test_latex_in_scripts_that_nothing_has_drawn_is_text(script: str, text: str) -> None:
    assert (
        canonical(f"<p>so {script} it is").html
        == f"<html><head></head><body><p>so {text} it is</p></body></html>"
    )
    assert restored(f"<p>so {script} it is")[0] == canonical(f"<p>so {script} it is").html


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<noscript><iframe src=x></noscript><p>so it is</p></iframe>", "so it is"),
        ("<iframe src=x><p>so it is</p>", "so it is"),
        ("<plaintext><p>so it is</p>", "so it is"),
        ("<plaintext>so < it is", "so < it is"),
    ],
    ids=["noscript", "iframe", "plaintext", "plain text"],
)
def test_what_hides_the_rest_of_a_page_hides_none_and_the_page_can_be_restored(
    source: str, text: str
) -> None:
    html = canonical(source).html
    assert "".join(texts_of(blocks_of(source))) == text
    assert restored(source)[0] == html


def test_a_script_that_names_formulas_hides_nothing_behind_it() -> None:
    script = """<script>function f(t) { return '<script type="math/tex">' + t + '<\\/script>'; }</script>"""
    assert canonical(f"{script}<p>so it is").html == "<html><head></head><body><p>so it is</p></body></html>"


def test_unclosed_scripts_of_formulas_take_linear_time() -> None:
    start = time.process_time()
    canonical("<script type=math/tex>x" * 40_000 + "<script type='math/tex'" * 40_000)
    assert time.process_time() - start < 10  # seconds; what is quadratic takes minutes
