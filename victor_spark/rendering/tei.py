"""The kept content as TEI P5 (schema tei_all): metadata in the header, structure in the text."""

import re
from collections.abc import Sequence
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from victor_spark.rendering.structure import Cleaned
from victor_spark.rendering.tree import Node, tree

_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_RENDERED: Final = {
    "strong": "bold",
    "em": "italic",
    "strike": "strikethrough",
    "sup": "superscript",
    "sub": "subscript",
}


def tei(document: Cleaned, *, links: bool = True, images: bool = True, emphasis: bool = True) -> str:
    """A TEI document: header with what the page states about itself, body with the kept content."""
    about = document.metadata
    left_out = {
        name for name, wanted in (("link", links), ("image", images), ("emphasis", emphasis)) if not wanted
    }
    authors = "".join(f"<author>{_text(name)}</author>" for name in about.authors or ())
    title = _text(about.title or document.title or "")
    source = [f"<title>{_text(about.site_name)}</title>"] if about.site_name else []
    day = (about.date or "")[:10]
    source += [f"<date when={_attribute(day)}/>"] if re.fullmatch(r"\d{4}(-\d\d){0,2}", day) else []
    source += [f"<ptr target={_attribute(_address(document.url))}/>"] if document.url else []
    language = f" xml:lang={_attribute(document.language)}" if document.language else ""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0">\n<teiHeader><fileDesc>'
        f"<titleStmt><title>{title}</title>{authors}</titleStmt>"
        "<publicationStmt><p>Extracted from a web page by victor-spark.</p></publicationStmt>"
        f"<sourceDesc><bibl>{''.join(source) or title}</bibl></sourceDesc></fileDesc></teiHeader>\n"
        f"<text{language}><body>\n{_sections(tree(document)[2], left_out)}</body></text>\n</TEI>\n"
    )


def _sections(nodes: Sequence[Node], left_out: set[str]) -> str:
    """The nodes of a page as divisions, one for each heading; headings do not nest."""
    parts: list[str] = []
    open_ = False
    filled = True
    for node in nodes:
        if node[0] == "heading":
            if open_:
                parts.append("</div>\n" if filled else "<p/></div>\n")
            head = _inline(node[2], left_out)
            parts.append(f'<div type="h{node[1]}">\n<head>{head}</head>\n')
            open_, filled = True, False
            continue
        if text := _block(node, left_out):
            if not open_:
                parts.append("<div>\n")
                open_ = True
            parts.append(text)
            filled = True
    if open_:
        parts.append("</div>\n" if filled else "<p/></div>\n")
    return "".join(parts) or "<p/>"


def _block(node: Node, left_out: set[str]) -> str:
    kind, value, children = node
    if kind in ("p", "heading"):
        text = _inline(children, left_out)
        return (
            f"<p>{text}</p>\n"
            if text.strip() and kind == "p"
            else f"<ab>{text}</ab>\n"
            if text.strip()
            else ""
        )
    if kind == "code":
        language = f" lang={_attribute(value[0])}" if re.fullmatch(r"[\w-]+", value[0]) else ""
        return f"<p><code{language}>{_text(value[1])}</code></p>\n"
    if kind == "list":
        items = "".join(_item(item, left_out) for item in children)
        rend = "bulleted" if value is None else "numbered"
        return f'<list rend="{rend}">\n{items}</list>\n' if items else ""
    if kind == "table":
        rows = "".join(_row(row, left_out) for row in children if row[0] == "row")
        heads = "".join(f"<head>{_flat(row, left_out)}</head>" for row in children if row[0] == "caption")
        return f"<table>\n{heads}{rows}</table>\n" if rows else ""
    inside = "".join(_block(child, left_out) for child in children)
    if not inside:
        return ""
    if kind == "quote":
        return f"<quote>\n{inside}</quote>\n"
    if kind == "callout":
        return f'<quote rend="{value.lower()}">\n{inside}</quote>\n'
    if kind == "footnote":
        return f'<note place="foot" n="{value}">\n{inside}</note>\n'
    return inside  # figures, captions, definitions, details: their content


def _item(node: Node, left_out: set[str]) -> str:
    inside = _block(("item", None, node[2] if node[0] == "item" else [node]), left_out)
    return f"<item>{inside.strip()}</item>\n" if inside else ""


def _row(node: Node, left_out: set[str]) -> str:
    cells = []
    for cell in node[2]:
        across, down, is_head = cell[1]
        spans = (
            f' cols="{across}"' * (across > 1) + f' rows="{down}"' * (down > 1) + ' role="label"' * is_head
        )
        cells.append(f"<cell{spans}>{_flat(cell, left_out)}</cell>")
    return f"<row>{''.join(cells)}</row>\n" if cells else ""


def _flat(node: Node, left_out: set[str]) -> str:
    pieces = []
    for child in node[2]:
        if child[0] in ("p", "heading"):
            pieces.append(_inline(child[2], left_out))
        elif child[0] == "code":
            pieces.append(f"<code>{_text(child[1][1])}</code>")
        else:
            pieces.append(_flat(child, left_out))
    return " ".join(filter(None, pieces))


def _inline(children: Sequence[Any], left_out: set[str]) -> str:
    out = []
    for child in children:
        if isinstance(child, str):
            out.append(_text(child))
            continue
        kind, value, inside = child
        text = _inline(inside, left_out)
        if kind == "br":
            out.append("<lb/>")
        elif kind == "link":
            out.append(
                text if "link" in left_out else f"<ref target={_attribute(_address(value))}>{text}</ref>"
            )
        elif kind in _RENDERED:
            is_left_out = "emphasis" in left_out and kind in ("strong", "em", "strike")
            out.append(text if is_left_out else f'<hi rend="{_RENDERED[kind]}">{text}</hi>')
        elif kind == "code":
            out.append(f"<code>{_text(value)}</code>")
        elif kind == "image" and "image" not in left_out:
            described = f"<desc>{_text(value[1])}</desc>" if value[1] else ""
            out.append(f"<graphic url={_attribute(_address(value[0]))}>{described}</graphic>")
        elif kind == "math":
            out.append(f'<formula notation="tex">{_text(value[0])}</formula>')
        elif kind == "ref":
            out.append(f'<ref type="note" n="{value}">{value}</ref>')
        elif kind != "image":
            out.append(text)
    return "".join(out)


def _text(text: str | None) -> str:
    return escape(_NOT_XML.sub("", text or ""))


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("", text))


def _address(address: str | None) -> str:
    """An address as the schema wants it: without white space."""
    return re.sub(r"\s", "%20", (address or "").strip())
