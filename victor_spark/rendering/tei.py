"""The kept content as TEI P5 (schema tei_all): metadata in the header, structure in the text."""

import re
from datetime import date
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from victor_spark.rendering.structure import Cleaned, Node, Structure, structure

_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_RENDERED: Final = {
    "strong": "bold", "em": "italic", "strike": "strikethrough", "sup": "superscript", "sub": "subscript"
}  # fmt: skip
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
        body = _sections(page)
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


def _tags(page: Structure, node: Node) -> tuple[str, str]:
    """What stands before and after the content of a node."""
    kind, a, b, around = node.op, node.a, node.b, node.around
    if "cell" in around and kind in _NESTED:
        return (f"<code>{_text(page.values[a][1])}</code> ", "") if kind == "code" else ("", " ")
    if kind == "p":
        return "<p>", "</p>\n"
    if kind == "heading":
        return "<ab>", "</ab>\n"
    if kind == "code":
        language, code = page.values[a]
        stated = f" lang={_attribute(language)}" if re.fullmatch(r"[\w-]+", language) else ""
        return f"<p><code{stated}>{_text(code)}</code></p>\n", ""
    if kind == "list" and page.holds(node.row, "item"):
        return f'<list rend="{"bulleted" if a < 0 else "numbered"}">\n', "</list>\n"
    if kind == "item":
        return "<item>", "</item>\n"
    if kind == "table" and page.holds(node.row, "row"):
        return "<table>\n", "</table>\n"
    if kind == "row":
        return "<row>", "</row>\n"
    if kind == "cell":
        spans = f' cols="{a}"' * (a > 1) + f' rows="{abs(b)}"' * (abs(b) > 1) + ' role="label"' * (b < 0)
        return f"<cell{spans}>", "</cell>"
    if kind == "quote":
        return "<quote>\n", "</quote>\n"
    if kind == "callout":
        return f'<quote rend="{page.values[a].lower()}">\n', "</quote>\n"
    if kind == "footnote":
        return f'<note place="foot" n={_attribute(page.values[a])}>\n', "</note>\n"
    return _inline(page, node)


def _inline(page: Structure, node: Node) -> tuple[str, str]:
    kind, a = node.op, node.a
    if kind == "link":
        return f"<ref target={_attribute(_address(page.values[a]))}>", "</ref>"
    if kind in _RENDERED:
        return f'<hi rend="{_RENDERED[kind]}">', "</hi>"
    if kind == "codespan":
        return "<code>", "</code>"
    if kind == "br":
        return "<lb/>", ""
    if kind == "image":
        address, alt = page.values[a]
        described = f"<desc>{_text(alt)}</desc>" if alt else ""
        return f"<graphic url={_attribute(_address(address))}>{described}</graphic>", ""
    if kind == "math":
        return f'<formula notation="tex">{_text(page.values[a])}</formula>', ""
    if kind == "ref":
        label = page.values[a]
        return f'<ref type="note" n={_attribute(label)}>{_text(label)}</ref>', ""
    return "", ""  # figures, captions, definitions, details: their content


def _text(text: str | None) -> str:
    return escape(_NOT_XML.sub("", text or ""))


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("", text))


def _address(address: str | None) -> str:
    """An address as the schema wants it: without white space."""
    return re.sub(r"\s", "%20", (address or "").strip())
