"""How blocks look in HTML: as today's templates write them, and as table layouts of 2006 did."""

from collections.abc import Callable, Iterable
from html import escape
from typing import TypeAlias

from sample_crawl.texts import EMPHASIS, Block, cells

Markup: TypeAlias = Callable[[Block], str]


def inline(line: str, element: str = "em") -> str:
    """A line with its special characters escaped and its emphasis as an element."""
    return EMPHASIS.sub(rf"<{element}>\1</{element}>", escape(line, quote=False))


def modern(block: Block) -> str:
    """The markup of a block in a semantic template: p, h2, ul, blockquote, figure, table."""
    lines = [inline(line) for line in block.lines]
    match block.kind:
        case "heading":
            return f"<h2>{lines[0]}</h2>"
        case "quote":
            return f"<blockquote><p>{lines[0]}</p></blockquote>"
        case "caption":
            picture = f'<img src="/media/{len(lines[0]):03d}.jpg" alt="" width="960" height="640">'
            return f"<figure>{picture}<figcaption>{lines[0]}</figcaption></figure>"
        case "list" | "numbered":
            element = "ul" if block.kind == "list" else "ol"
            return f"<{element}>" + "".join(f"<li>{line}</li>" for line in lines) + f"</{element}>"
        case "table":
            head, *rows = block.lines
            return f"<table><thead>{_row(head, 'th')}</thead><tbody>{_rows(rows)}</tbody></table>"
    return f"<p>{lines[0]}</p>"


def table_layout(block: Block) -> str:
    """The markup of a block on a page without style sheets: b, br, font, nested tables."""
    lines = [inline(line, "i") for line in block.lines]
    match block.kind:
        case "heading":
            return f"<b>{lines[0]}</b><br>"
        case "list" | "numbered":
            return "<ul>" + "\n".join(f"<li>{line}" for line in lines) + "</ul>"
        case "table":
            head, *rows = block.lines
            bold = _row(head, "td").replace("<td>", "<td bgcolor=#DDE8CC><b>").replace("</td>", "</b></td>")
            return f"<table border=1 cellpadding=4 cellspacing=0>{bold}\n{_rows(rows)}</table><br>"
    return f"{lines[0]}<br><br>"


def forum(block: Block) -> str:
    """The markup of a block inside a forum post: line breaks, and a box for what is quoted."""
    if block.kind == "paragraph":
        return inline(block.lines[0]) + "<br /><br />"
    if block.kind == "quote":
        return f'<blockquote class="quoted"><div>{inline(block.lines[0])}</div></blockquote>'
    return modern(block)


def body(blocks: Iterable[Block], markup: Markup) -> str:
    """The markup of several blocks, one below the other."""
    return "\n".join(markup(block) for block in blocks)


def _rows(rows: Iterable[str]) -> str:
    return "\n".join(_row(row, "td") for row in rows)


def _row(row: str, element: str) -> str:
    filled = "".join(f"<{element}>{inline(cell)}</{element}>" for cell in cells(row))
    return f"<tr>{filled}</tr>"
