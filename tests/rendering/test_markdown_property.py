"""Markdown of generated pages, as a CommonMark parser reads it."""

import re
from html import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.documents import document

markdown_it = pytest.importorskip("markdown_it")

PARSER = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"])

WORDS = (
    "x|word|two words|1.|2) |-|+ y|*|**|_a_|~~|`|``|#|# z|## |---|===|[a](b)|![i](j)|[^1]|[x]: y|<b>|&copy;"
    "|&|\\|\\*|>|> q|http://e.com|snake_case|!|(|)|.|，|「漢字」|é|\t|  |C#|a*b*c|***|1986. A year"
)
words = st.sampled_from([*WORDS.split("|"), "|", "| a |"]).map(escape)
inline = st.recursive(
    words,
    lambda inner: st.builds(
        lambda tag, parts, space: f"<{tag}>{space.join(parts)}</{tag.split()[0]}>",
        st.sampled_from(["b", "i", "em", "strong", "s", "span", "code", "a href='/p'", "sup", "q"]),
        st.lists(inner, min_size=1, max_size=3),
        st.sampled_from(["", " "]),
    ),
    max_leaves=8,
)
lines = st.builds(
    lambda parts, space: space.join(parts), st.lists(inline, max_size=5), st.sampled_from(["", " ", "<br>"])
)
blocks = st.recursive(
    st.builds("<{0}>{1}</{0}>".format, st.sampled_from(["p", "h2", "h4", "div", "pre"]), lines),
    lambda inner: st.one_of(
        st.lists(inner | lines, min_size=1, max_size=3).map(
            lambda c: f"<ul>{''.join(f'<li>{i}</li>' for i in c)}</ul>"
        ),
        st.lists(inner | lines, min_size=1, max_size=3).map(
            lambda c: f"<ol start=7>{''.join(f'<li>{i}</li>' for i in c)}</ol>"
        ),
        st.lists(inner, min_size=1, max_size=3).map(lambda c: f"<blockquote>{''.join(c)}</blockquote>"),
        st.lists(st.lists(lines, min_size=2, max_size=3), min_size=2, max_size=3).map(
            lambda rows: (
                "<table>"
                + "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
                + "</table>"
            )
        ),
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, max_size=3).map(lambda c: f"<a href='/x'><div dir=rtl>{''.join(c)}</div></a>"),
        st.lists(lines, min_size=4, max_size=4).map(
            lambda c: (
                "<div role=table><div role=rowgroup>"
                + "".join(
                    f"<div role=row><div role=cell>{a}</div><div role=cell>{b}</div></div>"
                    for a, b in (c[:2], c[2:])
                )
                + "</div></div>"
            )
        ),
        st.builds("<table><tr><th>h<th>i<tr><td><pre>{}</pre><td>{}</table>".format, lines, inner),
        st.builds(
            "<dl><dt>{}<dd>{}</dl><details><summary>{}</summary></details>".format, lines, inner, lines
        ),
        st.sampled_from(["<p></p>", "<ul><li></ul>", "<h2></h2>", "<pre></pre>", "<a href=/x></a>"]),
    ),
    max_leaves=8,
)


def parsed(text: str) -> str:
    """The text that a parser finds in Markdown, without its marks."""
    pieces = []
    for token in PARSER.parse(text):
        if token.type in ("fence", "code_block"):
            pieces.append(token.content)
        for child in token.children or ():
            if child.type in ("text", "code_inline"):
                pieces.append(child.content)
            elif child.type in ("softbreak", "hardbreak"):
                pieces.append("\n")
        pieces.append("\n")
    return "".join(pieces)


def letters(text: str) -> str:
    """The text without white space, the sign of a power, and marks of items, which plain text alone has."""
    return re.sub(r"[-\s^]|1\.|2\)", "", text)


@settings(max_examples=60, deadline=None)
@given(page=st.lists(blocks, min_size=1, max_size=4).map("".join))
def test_a_parser_finds_in_markdown_the_text_that_is_kept(page: str) -> None:
    kept = document(page)
    assert letters(parsed(kept.render("markdown"))) == letters(kept.text)
