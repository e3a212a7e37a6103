"""The kept blocks as plain text, and as CleanEval markup."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from itertools import compress, groupby
from typing import Final

import numpy as np

from victor_spark.blocks import CODE, Blocks, Bool, first_from
from victor_spark.html.tags import has
from victor_spark.rendering import formulas
from victor_spark.rendering.num import KIND
from victor_spark.rendering.shown import assembled, shown, with_texts
from victor_spark.rendering.structure import MARK, Structure, columns_of, has_tables


def plain_text(blocks: Blocks, kept: Bool, html: str | None = None) -> str:
    """The kept blocks' text, paragraphs separated by newlines, preformatted text as it is.

    With the page's canonical `html`, rows of data tables are lines with tabs, and a formula stands once.
    """
    kept = kept & (blocks.text_end > blocks.text_start)  # templates may cover all of a block
    if html is not None:
        blocks, kept = shown(blocks, kept, html, plain=True)
        if has_tables(blocks, kept) or has_formulas(blocks, html):
            page = Structure(html, blocks, kept)
            blocks = _in_rows(_with_formulas(blocks, page), page)
            kept = page.kept.view(bool)
    return assembled(blocks, kept, 0, len(blocks))


def has_formulas(blocks: Blocks, html: str) -> bool:
    """Whether the page has MathML, images with LaTeX, or formulas that MathJax 2 has drawn."""
    if has(blocks, "math"):
        return True
    at = html.find("\\")
    while at >= 0:
        start = html.rfind("<", 0, at)
        attribute = _STATING.get(html[start : start + 6].partition(" ")[0])
        if attribute and attribute.search(html, start, html.find(">", start)):
            return True
        at = html.find("\\", max(html.find(">", at), at + 1))
    return False


_CLIMB: Final = 4
"""Elements around MathML that may hold what is seen of it."""
_INLINE: Final = frozenset(KIND[name] for name in "other a strong em strike sup sub code".split())
_STATING: Final = {"<img": re.compile(r' alt="[^"]*\\[a-zA-Z(\[]')} | dict.fromkeys(
    ("<span", "<div"), re.compile(formulas.ATTRIBUTE)
)
"""The attribute with the LaTeX of a formula, by the beginning of the tag."""
_STATED: Final = re.compile('<annotation |^<math[^>]* alttext="')
_SHAPED: Final = re.compile("<m(?:frac|root|sqrt|su[bp]|subsup|under|over|underover|multiscripts|table)[ >]")
"""Signs that plain text would garble a formula: in its LaTeX, or, without LaTeX, in its MathML."""


def _with_formulas(blocks: Blocks, page: Structure) -> Blocks:
    """The blocks with each formula once, as LaTeX, or as it stands where plain text says the same.

    Of the blocks of a formula (MathML, LaTeX, visible text) one gets the text; if one is kept, all are. The
    LaTeX of an image is added to the text beside it.
    """
    own = {name: getattr(blocks, name).copy() for name in ("text_end", "space_before", "paragraph")}
    changed = replace(blocks, **own)
    texts: dict[int, list[str]] = {}  # of blocks, instead of their own
    around_maths = _read_mathml(blocks, changed, page, texts)
    _read_stated(changed, page, around_maths, texts)
    before = _read_images(blocks, changed, page, around_maths, texts)
    return with_texts(changed, {at: "".join(before.get(at, []) + parts) for at, parts in texts.items()})


def _read_mathml(blocks: Blocks, changed: Blocks, page: Structure, texts: dict[int, list[str]]) -> Bool:
    """Puts the LaTeX of MathML in `texts`, for the first block of the formula, and empties its other blocks.

    Returns which elements are around a formula that has its text.
    """
    s = page.s
    named = np.flatnonzero(s.kind == KIND["math"]).tolist()
    maths = np.array([row for row in named if page.tag(row)[5] in " >"])
    done, around_maths = 0, np.zeros(len(s.kind), dtype=bool)
    for row in maths.tolist():
        around = up = row
        for _ in range(_CLIMB):
            up = int(s.parent[up])
            inside = np.searchsorted(maths, [up, page.after(up)]) if up >= done else (0, 2)
            if inside[1] - inside[0] > 1 or page.size(up) > 2 * page.size(row):
                break
            if s.kind[up] == KIND["math"] or page.marks(up) & MARK["math"]:
                around = up
        rows = slice(s.first[around], s.last[around])
        if row < done or not page.kept[rows].any():
            continue
        mathml = page.markup(row)
        found = formulas.latex(page.markup(around)) or formulas.latex(mathml)
        if found is None and 1 < mathml.count("<math") <= _CLIMB:
            continue  # the MathML inside is the formula; deeper nesting would take quadratic time
        done = page.after(around)
        around_maths[around:done] = page.kept[rows] = True
        first_space = changed.space_before[rows.start]
        changed.text_end[rows], changed.space_before[rows] = blocks.text_start[rows], 0
        changed.paragraph[rows] = changed.paragraph[s.first[row]]
        changed.space_before[rows.start] = first_space
        if found and (formulas.LATEX.search(found[0]) if _STATED.search(mathml) else _SHAPED.search(mathml)):
            texts[rows.start] = [formulas.delimited(*found)]
        elif found and _STATED.search(mathml):
            texts[rows.start] = [found[0]]
        else:
            rows = slice(s.first[row], s.last[row])
            changed.text_end[rows] = blocks.text_end[rows]
            changed.space_before[rows.start + 1 : rows.stop] = blocks.space_before[rows.start + 1 : rows.stop]
    return around_maths


def _read_stated(changed: Blocks, page: Structure, around_maths: Bool, texts: dict[int, list[str]]) -> None:
    """Does the same for formulas whose LaTeX the page states, or that MathJax 2 has drawn."""
    s = page.s
    for match in re.finditer(formulas.STATING, page.html if has_formulas(page.blocks, page.html) else ""):
        row = after = first_from(s.start, match.start())
        if found := formulas.drawn(match[0]):
            row -= 1
            while row >= 0 and s.parent[row] != s.parent[after]:
                row = int(s.parent[row])
        elif not around_maths[row]:
            found = formulas.latex(page.markup(row))
        rows = slice(s.first[row], s.last[row])
        is_formula = row >= 0 and page.marks(row) & MARK["math"] and page.kept[rows].any()
        if found and is_formula and formulas.LATEX.search(found[0]):
            page.kept[rows] = True
            changed.text_end[rows] = changed.text_start[rows]
            changed.space_before[rows.start + 1 : rows.stop] = 0
            changed.paragraph[rows] = changed.paragraph[rows.start]
            texts[rows.start] = [formulas.delimited(*found)]


def _read_images(
    blocks: Blocks, changed: Blocks, page: Structure, around_maths: Bool, texts: dict[int, list[str]]
) -> dict[int, list[str]]:
    """Adds the LaTeX of images to the text of the block before each, in `texts`.

    Returns the formulas that begin a line, by the first block of the line; they belong before its text.
    """
    s = page.s
    rows_of_images = np.flatnonzero((s.kind == KIND["img"]) & ~around_maths)
    is_beside = np.concatenate([page.kept, [0]]) | np.concatenate([[0], page.kept])  # kept text
    rows_beside = rows_of_images[is_beside[s.first[rows_of_images]] != 0].tolist()
    images = [(row, found) for row in rows_beside if (found := page.formula_of_image(row))]
    before: dict[int, list[str]] = {}
    blocks_around: list[int] = []  # the innermost block-level element of each one
    if images:
        for row, (kind, up) in enumerate(zip(s.kind.tolist(), s.parent.tolist(), strict=True)):
            blocks_around.append(blocks_around[up] if kind in _INLINE and up >= 0 else row)
    for row, found in images:
        after, around = int(s.first[row]), blocks_around[s.parent[row]]
        begins = after == s.first[around] < s.last[around] and page.kept[after]
        at = after if begins else after - 1
        if at < 0 or not page.kept[at]:
            continue
        if not s.first[around] <= at < s.last[around] and not page.kept[after : after + 1].any():
            continue  # it may stand in a part that is dropped
        parts = texts.setdefault(at, [blocks.text[changed.text_start[at] : changed.text_end[at]]])
        is_line = at + 1 < len(blocks) and blocks.paragraph[at] == blocks.paragraph[at + 1]
        apart = not is_line or page.html[s.start[row] - 1] <= " "
        formula = formulas.delimited(*found)
        if begins:
            before.setdefault(at, []).append(f"{formula} ")
        else:
            parts.append(" " * apart + formula)
    return before


def _in_rows(blocks: Blocks, page: Structure) -> Blocks:
    """The blocks, those of a row of a data table as one paragraph; `space_before` is 1 + the tabs before."""
    kept = page.kept
    s = page.s
    page.keep_rows()
    n_kept = np.concatenate([[0], np.cumsum(kept)])
    paragraph, space_before = blocks.paragraph.copy(), blocks.space_before.copy()
    done = 0  # the element after the table before: those in its cells are text
    for table in np.flatnonzero((s.kind == KIND["table"]) & (n_kept[s.last] - n_kept[s.first] > 1)).tolist():
        first, last = s.first[table], s.last[table]
        if table < done or blocks.listing[first:last].any() or not page.is_data(table):
            continue
        done, cells = page.after(table), page.cells(table)
        columns = columns_of((int(s.parent[cell]), *page.spans(cell)) for cell in cells)
        of_kept = n_kept[s.last[cells]] > n_kept[s.first[cells]]
        leftmost = min(compress(columns, of_kept), default=0)
        # Of the cell with the last kept block, its row, and that block.
        last_column, row, before = 0, -1, -1
        for column, cell in zip(columns, cells, strict=True):
            for block in range(s.first[cell], s.last[cell]):
                if not kept[block]:
                    continue
                if s.parent[cell] != row:
                    space_before[block] = 1 + column - leftmost
                else:
                    begins = blocks.paragraph[block] != blocks.paragraph[before]
                    paragraph[block] = paragraph[before]
                    n_tabs = column - last_column
                    space_before[block] = 1 + n_tabs if n_tabs else max(begins, space_before[block])
                last_column, row, before = column, s.parent[cell], block
    return replace(blocks, paragraph=paragraph, space_before=space_before) if done else blocks


def paragraphs(blocks: Blocks, kept: Bool, html: str) -> Iterator[tuple[str, str]]:
    """The kept paragraphs in document order: their CleanEval tags (h, l, p), and their texts.

    Blocks are joined over inline splits; a listing of code is one paragraph.
    """
    blocks, kept = shown(blocks, kept, html, plain=True)
    if has_formulas(blocks, html):
        page = Structure(html, blocks, kept)
        blocks, kept = _with_formulas(blocks, page), page.kept.view(bool)
    rows = kept.nonzero()[0].tolist()
    code = (blocks.listing * (blocks.white_space == CODE)).tolist()
    paragraph_of, level_of = blocks.paragraph.tolist(), blocks.heading_level.tolist()
    listing_of: dict[int, int] = {}  # of a paragraph that is all code
    for row in rows:
        if listing_of.setdefault(paragraph_of[row], code[row]) != code[row]:
            listing_of[paragraph_of[row]] = 0

    def place(row: int) -> tuple[int, int]:
        listing = listing_of[paragraph_of[row]]
        return listing, level_of[row] if listing else paragraph_of[row]

    for _, group in groupby(rows, key=place):
        first, *others = group
        tag = "h" if level_of[first] else "l" if blocks.in_list_item[first] else "p"
        yield tag, assembled(blocks, kept, first, [first, *others][-1] + 1)


def cleaneval(blocks: Blocks, kept: Bool, html: str) -> str:
    """The kept paragraphs as CleanEval writes them."""
    return "".join(f"<{tag}>{escape(text, quote=False)}\n" for tag, text in paragraphs(blocks, kept, html))
