"""The kept content as HTML and as TEI P5 (schema tei_all): two mark-ups of the same nodes."""

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from victor_spark.metadata.extract import Metadata
from victor_spark.rendering import formulas, num
from victor_spark.rendering.structure import OP, Structure, in_one_line

_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPACE_AT_END: Final = re.compile("(?<! ) +(</(?:cell|t[dh]|dt|caption|figcaption|summary)>)")
_VALUED: Final = frozenset(("code", "callout", "footnote", "link", "image", "math", "ref"))
_LINES: Final = frozenset(("cell", "dt", "caption", "summary"))
"""Nodes whose paragraphs are no elements of their own."""
_PARTS: Final = {"list": "item", "table": "row"}
"""Node → the kinds of which it must contain at least one; else only its content is written."""
_NESTED: Final = frozenset(("p", "heading", "code", "list", "item", "quote", "callout", "footnote"))
"""Nodes with a mark-up of their own that stand as text in a cell of TEI."""


class Node(NamedTuple):
    """A node: its kind, its numbers and value (num.NODE), and the kinds of the nodes around it."""

    op: str
    a: int
    b: int
    value: Any
    around: Sequence[str]


def html(page: Structure, title: str | None, language: str | None) -> str:
    """An HTML page: the title, and the kept content."""
    stated = f" lang={_attribute(language)}" if language and _LANGUAGE.fullmatch(language) else ""
    if direction := _DIRECTION.search(page.html[:_LONGEST_HEAD]):
        stated += f' dir="{direction[1].lower()}"'
    elif (language or "").partition("-")[0] in _RIGHT_TO_LEFT:
        stated += ' dir="rtl"'
    return (
        f'<!DOCTYPE html>\n<html{stated}>\n<head>\n<meta charset="utf-8">\n<title>{_text(title)}</title>\n'
        f"</head>\n<body>\n{_marked_up(page, _HTML, 0, page.nodes.shape[1])}</body>\n</html>\n"
    )


def tei(page: Structure, about: Metadata, *, title: str | None, url: str | None, language: str | None) -> str:
    """A TEI document: header with what the page states about itself, body with the kept content."""
    authors = "".join(f"<author>{_text(name)}</author>" for name in about.authors or ())
    named = _text(about.title or title)
    source = [f"<title>{_text(about.site_name)}</title>"] if about.site_name else []
    source += [f"<date when={_attribute(about.date[:10])}/>"] if about.date else []
    source += [f"<ptr target={_address(url)}/>"] if url else []
    stated = f" xml:lang={_attribute(language)}" if language and _LANGUAGE.fullmatch(language) else ""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0">\n<teiHeader><fileDesc>'
        f"<titleStmt><title>{named}</title>{authors}</titleStmt>"
        "<publicationStmt><p>Extracted from a web page by victor-spark.</p></publicationStmt>"
        f"<sourceDesc><bibl>{''.join(source) or named}</bibl></sourceDesc></fileDesc></teiHeader>\n"
        f"<text{stated}><body>\n{_sections(page) or '<div><p/></div>'}</body></text>\n</TEI>\n"
    )


_DIRECTION: Final = re.compile(r'<(?:html|body)(?= )[^<>]* dir="(rtl|ltr)"', re.IGNORECASE)
_LONGEST_HEAD: Final = 50_000
_RIGHT_TO_LEFT: Final = frozenset("ar arc ckb dv fa he ps sd ug ur yi".split())
_LANGUAGE: Final = re.compile("[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*")


def _sections(page: Structure) -> str:
    """The nodes of a page as divisions, one for each heading; headings do not nest."""
    sections: list[list[str]] = [[]]
    for node in page.children(-1):
        end = int(page.nodes[num.N_END, node])
        if page.nodes[num.N_OP, node] == OP["heading"]:
            head = _marked_up(page, _TEI, node + 1, end)
            sections.append([f'<div type="h{page.nodes[num.N_A, node]}">\n<head>{head}</head>\n'])
        else:
            sections[-1].append(_marked_up(page, _TEI, node, end + 1))
    texts = ["".join(parts) for parts in sections]
    divisions = [f"<div>\n{texts[0]}"] if texts[0] else []
    divisions += [f"{text}<p/>" if text.endswith("</head>\n") else text for text in texts[1:]]
    return "".join(f"{text}</div>\n" for text in divisions)


def _marked_up(page: Structure, form: int, first: int, last: int) -> str:
    """The nodes from `first` up to `last` as markup."""
    out: list[str] = []
    after: list[str] = []
    around: list[str] = []
    for row, (op, a, b, end) in enumerate(page.nodes[:, first:last].T.tolist(), first):
        if op == OP["text"]:
            out.append(_text(in_one_line(page.text[a:b])))
        elif op == OP["space"]:
            out.append(" ")
        elif op == OP["close"]:
            out.append(after.pop())
            around.pop()
        else:
            name = num.OPS[op]
            value = page.values[a] if name in _VALUED else None
            is_empty = name in _PARTS and OP[_PARTS[name]] not in page.nodes[num.N_OP, [*page.children(row)]]
            before, behind = ("", "") if is_empty else _tags(Node(name, a, b, value, around), form)
            out.append(before)
            if end > row:
                after.append(behind)
                around.append(name)
    return _SPACE_AT_END.sub(r"\1", "".join(out))


_TAGS: Final = {
    "p": ("<p>|</p>\n", "<p>|</p>\n"),
    "heading": ("<h{a}>|</h{a}>\n", "<ab>|</ab>\n"),
    "list": ("<{list}>\n|</{list:.2}>\n", '<list rend="{rend}">\n|</list>\n'),
    "item": ("<li{value}>{box}|</li>\n", "<item>|</item>\n"),
    "table": ("<table>\n|</table>\n", "<table>\n|</table>\n"),
    "row": ("<tr>|</tr>\n", "<row>|</row>\n"),
    "cell": ("<{cell}{spans}>|</{cell}>", "<cell{spans}{role}>|</cell>"),
    "caption": ("<{caption}>|</{caption}>\n", "|"),
    "quote": ("<blockquote>\n|</blockquote>\n", "<quote>\n|</quote>\n"),
    "callout": ('<div class="admonition {name}">\n|</div>\n', '<quote rend="{name}">\n|</quote>\n'),
    "title": ('<div class="admonition-title">|</div>\n', "|"),
    "code": ("<pre><code{language}>{code}</code></pre>\n|", "<p><code{language}>{code}</code></p>\n|"),
    "footnote": (
        '<aside id="fn-{text}" role="doc-footnote">\n|</aside>\n',
        '<note place="foot" n="{text}">\n|</note>\n',
    ),
    "ref": ('<sup><a href="#fn-{text}">{text}</a></sup>|', '<ref type="note" n="{text}">{text}</ref>|'),
    "link": ("<a href={address}>|</a>", "<ref target={address}>|</ref>"),
    "image": ("<img src={address} alt={alt}>|", "<graphic url={address}>{description}</graphic>|"),
    "math": ('<span class="math">{tex}</span>|', '<formula notation="tex">{text}</formula>|'),
    "codespan": ("<code>|</code>", "<code>|</code>"),
    "strong": ("<strong>|</strong>", '<hi rend="bold">|</hi>'),
    "em": ("<em>|</em>", '<hi rend="italic">|</hi>'),
    "strike": ("<s>|</s>", '<hi rend="strikethrough">|</hi>'),
    "sup": ("<sup>|</sup>", '<hi rend="superscript">|</hi>'),
    "sub": ("<sub>|</sub>", '<hi rend="subscript">|</hi>'),
    "br": ("<br>|", "<lb/>|"),
    "hr": ("<hr>\n|", "|"),
} | {kind: (f"<{kind}>|</{kind}>\n", "|") for kind in ("figure", "dl", "dt", "dd", "details", "summary")}
"""The markup before and after the content of a node, in HTML and in TEI; names in braces are of `_fields`.

`{list:.2}` is the element's name without its attribute.
"""
_HTML, _TEI = range(2)


def _tags(node: Node, form: int) -> tuple[str, str]:
    """The markup before and after the content of a node."""
    kind, value, around = node.op, node.value, node.around
    if form == _HTML and kind == "p" and around[-1:] and around[-1] in _LINES:
        return "", " "
    if form == _HTML and kind == "ref" and "sup" in around:
        return f'<a href="#fn-{_text(value)}">{_text(value)}</a>', ""
    if form == _TEI and "cell" in around and kind in _NESTED:
        return (f"<code>{_text(value[1])}</code> ", "") if kind == "code" else ("", " ")
    if form == _TEI and kind == "p" and around[-2:] == ["table", "caption"]:
        return "<head>", "</head>\n"
    before, _, after = _TAGS.get(kind, ("|", "|"))[form].partition("|")
    fields = _fields(node, form) if "{" in before else {}
    return before.format_map(fields), after.format_map(fields)


def _fields(node: Node, form: int) -> dict[str, object]:
    """The values for the braces in the markup of a node."""
    kind, a, b, value, around = node
    if kind == "list":
        numbered = f'ol start="{a}"{" reversed" * b}'
        return {"list": "ul" if a < 0 else numbered, "rend": "bulleted" if a < 0 else "numbered"}
    if kind == "item":
        box = f'<input type="checkbox" disabled{" checked" * (b == 2)}> '
        return {"value": f' value="{a}"' if a >= 0 else "", "box": box if b else ""}
    if kind == "cell":
        columns, rows = ("colspan", "rowspan") if form == _HTML else ("cols", "rows")
        spans = f' {columns}="{a}"' * (a > 1) + f' {rows}="{abs(b)}"' * (abs(b) > 1)
        return {"cell": "th" if b < 0 else "td", "spans": spans, "role": ' role="label"' * (b < 0)}
    if kind == "code":
        stated = f' class="language-{value[0]}"' if form == _HTML else f' lang="{value[0]}"'
        return {"language": stated if value[0] else "", "code": _text(value[1])}
    if kind == "link":
        return {"address": _address(value)}
    if kind == "image":
        description = f"<desc>{_text(value[1])}</desc>" if value[1] else ""
        return {"address": _address(value[0]), "alt": _attribute(value[1]), "description": description}
    if kind == "math":
        return {"text": _text(value), "tex": _text(formulas.delimited(value, bool(b)))}
    if kind == "caption":
        return {"caption": "caption" if "table" in around[-1:] else "figcaption"}
    return {"a": a, "text": _text(value), "name": (value or "").lower()}


def _text(text: str | None) -> str:
    return escape(_NOT_XML.sub("", text or ""))


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("", text))


def _address(address: str) -> str:
    """An address in the form that the schema allows: without white space."""
    return _attribute(re.sub(r"\s", "%20", address.strip()))
