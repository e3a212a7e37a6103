"""The kept content as TEI P5 (schema tei_all): metadata in the header, structure in the text."""

import re
from datetime import date
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from victor_spark.rendering.structure import Cleaned, Node, Structure, structure

_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_RENDERED: Final = {
    "strong": "bold", "em": "italic", "strike": "strikethrough", "sup": "superscript", "sub": "subscript"
}  # fmt: skip
_VALUED: Final = frozenset(("code", "callout", "footnote", "link", "image", "math", "ref"))
_NESTED: Final = frozenset(("p", "heading", "code", "list", "item", "quote", "callout", "footnote"))
"""Nodes with a mark-up of their own that stand as text in a cell."""


def tei(document: Cleaned, *, links: bool = True, images: bool = True, emphasis: bool = True) -> str:
    """A TEI document: header with what the page states about itself, body with the kept content."""
    about = document.metadata
    authors = "".join(f"<author>{_text(name)}</author>" for name in about.authors or ())
    title = _text(about.title or document.title or "")
    source = [f"<title>{_text(about.site_name)}</title>"] if about.site_name else []
    source += [f"<date when={_attribute(day)}/>"] if (day := _day(about.date or "")) else []
    source += [f"<ptr target={_attribute(_address(document.url))}/>"] if document.url else []
    is_language = re.fullmatch(r"[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*", document.language or "")
    language = f' xml:lang="{document.language}"' if is_language else ""
    body = ""
    if document.kept.any():
        page = structure(document)
        page.leave_out(links=links, images=images, emphasis=emphasis)
        body = re.sub("(?<! ) +</cell>", "</cell>", _sections(page))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0">\n<teiHeader><fileDesc>'
        f"<titleStmt><title>{title}</title>{authors}</titleStmt>"
        "<publicationStmt><p>Extracted from a web page by victor-spark.</p></publicationStmt>"
        f"<sourceDesc><bibl>{''.join(source) or title}</bibl></sourceDesc></fileDesc></teiHeader>\n"
        f"<text{language}><body>\n{body or '<div><p/></div>'}</body></text>\n</TEI>\n"
    )


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
    parts: list[str] = []
    filled = True
    for node in page.children(-1):
        if page.op(node) == "heading":
            if parts:
                parts.append("</div>\n" if filled else "<p/></div>\n")
            level = page.nodes[1, node]
            parts.append(
                f'<div type="h{level}">\n<head>{page.marked_up(_tags, _text, node, inside=True)}</head>\n'
            )
            filled = False
        elif text := page.marked_up(_tags, _text, node):
            parts += [text] if parts else ["<div>\n", text]
            filled = True
    if parts:
        parts.append("</div>\n" if filled else "<p/></div>\n")
    return "".join(parts)


_TAGS: Final = {
    "p": ("<p>", "</p>\n"),
    "heading": ("<ab>", "</ab>\n"),
    "item": ("<item>", "</item>\n"),
    "table": ("<table>\n", "</table>\n"),
    "row": ("<row>", "</row>\n"),
    "quote": ("<quote>\n", "</quote>\n"),
    "codespan": ("<code>", "</code>"),
    "br": ("<lb/>", ""),
} | {kind: (f'<hi rend="{rend}">', "</hi>") for kind, rend in _RENDERED.items()}


def _tags(page: Structure, node: Node) -> tuple[str, str]:
    """What stands before and after the content of a node; nothing, of figures, captions and the like."""
    kind, a, b = node.op, node.a, node.b
    value: Any = page.values[a] if kind in _VALUED else None
    if "cell" in node.around and kind in _NESTED:
        return (f"<code>{_text(value[1])}</code> ", "") if kind == "code" else ("", " ")
    if kind == "p" and node.around[-2:] == ["table", "caption"]:  # its caption
        return "<head>", "</head>\n"
    if kind in ("list", "table") and not page.holds(node.row, "item" if kind == "list" else "row"):
        return "", ""
    if kind == "list":
        return f'<list rend="{"bulleted" if a < 0 else "numbered"}">\n', "</list>\n"
    if kind == "code":
        stated = f" lang={_attribute(value[0])}" if re.fullmatch(r"[\w-]+", value[0]) else ""
        return f"<p><code{stated}>{_text(value[1])}</code></p>\n", ""
    if kind == "cell":
        spans = f' cols="{a}"' * (a > 1) + f' rows="{abs(b)}"' * (abs(b) > 1) + ' role="label"' * (b < 0)
        return f"<cell{spans}>", "</cell>"
    if kind == "callout":
        return f'<quote rend="{value.lower()}">\n', "</quote>\n"
    if kind == "footnote":
        return f'<note place="foot" n={_attribute(value)}>\n', "</note>\n"
    if kind == "link":
        return f"<ref target={_attribute(_address(value))}>", "</ref>"
    if kind == "image":
        described = f"<desc>{_text(value[1])}</desc>" if value[1] else ""
        return f"<graphic url={_attribute(_address(value[0]))}>{described}</graphic>", ""
    if kind == "math":
        return f'<formula notation="tex">{_text(value)}</formula>', ""
    if kind == "ref":
        return f'<ref type="note" n={_attribute(value)}>{_text(value)}</ref>', ""
    return _TAGS.get(kind, ("", ""))


def _text(text: str | None) -> str:
    return escape(_NOT_XML.sub("", text or ""))


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("", text))


def _address(address: str | None) -> str:
    """An address as the schema wants it: without white space."""
    return re.sub(r"\s", "%20", (address or "").strip())
