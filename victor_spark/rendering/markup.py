"""The kept content as HTML and as TEI P5 (schema tei_all): two mark-ups of the same nodes."""

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, Final, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from victor_spark.metadata.extract import Metadata
from victor_spark.rendering import num
from victor_spark.rendering.structure import OP, Structure

_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPACE_AT_END: Final = re.compile("(?<! ) +(</(?:cell|t[dh]|dt|caption|figcaption|summary)>)")
_VALUED: Final = frozenset(("code", "callout", "footnote", "link", "image", "math", "ref"))
_LINES: Final = frozenset(("cell", "dt", "caption", "summary"))
"""Nodes whose paragraphs are no elements of their own."""
_PARTS: Final = {"list": "item", "table": "row"}
"""What a node needs one of to be itself."""
_NESTED: Final = frozenset(("p", "heading", "code", "list", "item", "quote", "callout", "footnote"))
"""Nodes with a mark-up of their own that stand as text in a cell of TEI."""


class Node(NamedTuple):
    """A node: what it is, its numbers and value (num.NODE), and what it is in."""

    op: str
    a: int
    b: int
    value: Any
    around: Sequence[str]


Tags = Callable[[Node], tuple[str, str]]
"""What stands before and after the content of a node."""


def html(page: Structure, title: str | None, language: str | None) -> str:
    """An HTML page: the title, and the kept content."""
    stated = f" lang={_attribute(language)}" if language and _LANGUAGE.fullmatch(language) else ""
    return (
        f'<!DOCTYPE html>\n<html{stated}>\n<head>\n<meta charset="utf-8">\n<title>{_text(title)}</title>\n'
        f"</head>\n<body>\n{_marked_up(page, _html, 0, page.nodes.shape[1])}</body>\n</html>\n"
    )


def tei(page: Structure, about: Metadata, *, title: str | None, url: str | None, language: str | None) -> str:
    """A TEI document: header with what the page states about itself, body with the kept content."""
    authors = "".join(f"<author>{_text(name)}</author>" for name in about.authors or ())
    named = _text(about.title or title)
    source = [f"<title>{_text(about.site_name)}</title>"] if about.site_name else []
    source += [f"<date when={_attribute(day)}/>"] if (day := _day(about.date or "")) else []
    source += [f"<ptr target={_address(url)}/>"] if url else []
    stated = f" xml:lang={_attribute(language)}" if language and _LANGUAGE.fullmatch(language) else ""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0">\n<teiHeader><fileDesc>'
        f"<titleStmt><title>{named}</title>{authors}</titleStmt>"
        "<publicationStmt><p>Extracted from a web page by victor-spark.</p></publicationStmt>"
        f"<sourceDesc><bibl>{''.join(source) or named}</bibl></sourceDesc></fileDesc></teiHeader>\n"
        f"<text{stated}><body>\n{_sections(page) or '<div><p/></div>'}</body></text>\n</TEI>\n"
    )


_LANGUAGE: Final = re.compile("[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*")


def _day(stated: str) -> str:
    """The day, month or year that a date begins with; "" where there is no such."""
    day = stated[:10]
    if not re.fullmatch(r"\d{4}(-\d\d){0,2}", day):
        return ""
    try:
        date.fromisoformat(f"{day}-01-01"[:10])
    except ValueError:
        return ""
    return day


def _sections(page: Structure) -> str:
    """The nodes of a page as divisions, one for each heading; headings do not nest."""
    sections = [""]
    for node in page.children(-1):
        end = int(page.nodes[3, node])
        if page.nodes[0, node] == OP["heading"]:
            head = _marked_up(page, _tei, node + 1, end)
            sections.append(f'<div type="h{page.nodes[1, node]}">\n<head>{head}</head>\n')
        else:
            sections[-1] += _marked_up(page, _tei, node, end + 1)
    divisions = [f"<div>\n{sections[0]}"] if sections[0] else []
    divisions += [f"{text}<p/>" if text.endswith("</head>\n") else text for text in sections[1:]]
    return "".join(f"{text}</div>\n" for text in divisions)


def _marked_up(page: Structure, tags: Tags, first: int, last: int) -> str:
    """The nodes from `first` up to `last` as markup."""
    out: list[str] = []
    after: list[str] = []
    around: list[str] = []
    for row, (op, a, b, end) in enumerate(page.nodes[:, first:last].T.tolist(), first):
        if op == OP["text"]:
            text = page.text[a:b]
            words = " ".join(text.split())
            out.append(_text(f"{' ' * text[:1].isspace()}{words}{' ' * text[-1:].isspace()}"))
        elif op == OP["space"]:
            out.append(" ")
        elif op == OP["close"]:
            out.append(after.pop())
            around.pop()
        else:
            name = num.OPS[op]
            value = page.values[a] if name in _VALUED else None
            is_empty = name in _PARTS and not page.holds(row, _PARTS[name])
            before, behind = ("", "") if is_empty else tags(Node(name, a, b, value, around))
            out.append(before)
            if end > row:
                after.append(behind)
                around.append(name)
    return _SPACE_AT_END.sub(r"\1", "".join(out))


_HTML_TAGS: Final = {
    "p": ("<p>", "</p>\n"),
    "table": ("<table>\n", "</table>\n"),
    "row": ("<tr>", "</tr>\n"),
    "quote": ("<blockquote>\n", "</blockquote>\n"),
    "title": ('<div class="admonition-title">', "</div>\n"),
    "codespan": ("<code>", "</code>"),
    "strike": ("<s>", "</s>"),
    "br": ("<br>", ""),
    "hr": ("<hr>\n", ""),
}
_HTML_BLOCKS: Final = frozenset(("figure", "dl", "dt", "dd", "details", "summary"))
_HTML_INLINE: Final = frozenset(("strong", "em", "sup", "sub"))


def _html(node: Node) -> tuple[str, str]:
    kind, a, b, value = node.op, node.a, node.b, node.value
    if kind == "p" and node.around and node.around[-1] in _LINES:
        return "", " "
    if kind == "heading":
        return f"<h{a}>", f"</h{a}>\n"
    if kind == "list":
        return ("<ul>\n", "</ul>\n") if a < 0 else (f'<ol start="{a}">\n', "</ol>\n")
    if kind == "item":
        box = f'<input type="checkbox" disabled{" checked" * (b == 2)}> ' if b else ""
        number = f' value="{a}"' if a >= 0 else ""
        return f"<li{number}>{box}", "</li>\n"
    if kind == "cell":
        name = "th" if b < 0 else "td"
        return f"<{name}{_spans(node, 'colspan', 'rowspan')}>", f"</{name}>"
    if kind == "caption":
        name = "caption" if "table" in node.around[-1:] else "figcaption"
        return f"<{name}>", f"</{name}>\n"
    if kind == "code":
        language = f" class={_attribute(f'language-{value[0]}')}" if value[0] else ""
        return f"<pre><code{language}>{_text(value[1])}</code></pre>\n", ""
    if kind == "callout":
        return f'<div class="admonition {value.lower()}">\n', "</div>\n"
    if kind == "footnote":
        return f'<aside id="fn-{_text(value)}" role="doc-footnote">\n', "</aside>\n"
    if kind == "ref":
        return f'<sup><a href="#fn-{_text(value)}">{_text(value)}</a></sup>', ""
    if kind == "link":
        return f"<a href={_attribute(value)}>", "</a>"
    if kind == "image":
        return f"<img src={_attribute(value[0])} alt={_attribute(value[1])}>", ""
    if kind == "math":
        before, behind = (r"\[", r"\]") if b else (r"\(", r"\)")
        return f'<span class="math">{before}{_text(value)}{behind}</span>', ""
    if kind in _HTML_BLOCKS or kind in _HTML_INLINE:
        return f"<{kind}>", f"</{kind}>" + "\n" * (kind in _HTML_BLOCKS)
    return _HTML_TAGS.get(kind, ("", ""))


_TEI_TAGS: Final = {
    "p": ("<p>", "</p>\n"),
    "heading": ("<ab>", "</ab>\n"),
    "item": ("<item>", "</item>\n"),
    "table": ("<table>\n", "</table>\n"),
    "row": ("<row>", "</row>\n"),
    "quote": ("<quote>\n", "</quote>\n"),
    "codespan": ("<code>", "</code>"),
    "br": ("<lb/>", ""),
    "strong": ('<hi rend="bold">', "</hi>"),
    "em": ('<hi rend="italic">', "</hi>"),
    "strike": ('<hi rend="strikethrough">', "</hi>"),
    "sup": ('<hi rend="superscript">', "</hi>"),
    "sub": ('<hi rend="subscript">', "</hi>"),
}


def _tei(node: Node) -> tuple[str, str]:
    """Nothing, of figures, captions and the like."""
    kind, a, b, value = node.op, node.a, node.b, node.value
    if "cell" in node.around and kind in _NESTED:
        return (f"<code>{_text(value[1])}</code> ", "") if kind == "code" else ("", " ")
    if kind == "p" and node.around[-2:] == ["table", "caption"]:
        return "<head>", "</head>\n"
    if kind == "list":
        return f'<list rend="{"bulleted" if a < 0 else "numbered"}">\n', "</list>\n"
    if kind == "code":
        language = f' lang="{value[0]}"' if re.fullmatch(r"[\w-]+", value[0]) else ""
        return f"<p><code{language}>{_text(value[1])}</code></p>\n", ""
    if kind == "cell":
        role = ' role="label"' if b < 0 else ""
        return f"<cell{_spans(node, 'cols', 'rows')}{role}>", "</cell>"
    if kind == "callout":
        return f'<quote rend="{value.lower()}">\n', "</quote>\n"
    if kind == "footnote":
        return f'<note place="foot" n={_attribute(value)}>\n', "</note>\n"
    if kind == "ref":
        return f'<ref type="note" n={_attribute(value)}>{_text(value)}</ref>', ""
    if kind == "link":
        return f"<ref target={_address(value)}>", "</ref>"
    if kind == "image":
        described = f"<desc>{_text(value[1])}</desc>" if value[1] else ""
        return f"<graphic url={_address(value[0])}>{described}</graphic>", ""
    if kind == "math":
        return f'<formula notation="tex">{_text(value)}</formula>', ""
    return _TEI_TAGS.get(kind, ("", ""))


def _spans(cell: Node, columns: str, rows: str) -> str:
    """How many columns and rows a cell has, where that is more than one."""
    n_rows = abs(cell.b)
    return f' {columns}="{cell.a}"' * (cell.a > 1) + f' {rows}="{n_rows}"' * (n_rows > 1)


def _text(text: str | None) -> str:
    return escape(_NOT_XML.sub("", text or ""))


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("", text))


def _address(address: str) -> str:
    """An address as the schema wants it: without white space."""
    return _attribute(re.sub(r"\s", "%20", address.strip()))
