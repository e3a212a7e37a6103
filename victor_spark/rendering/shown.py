"""The blocks as a browser shows them: with the marks that it adds, without the text that it hides.

And the text of some blocks, which plain text and the code of listings are made of, and blocks without what is
cut out of their text.
"""

import re
from codecs import utf_32_le_decode
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from victor_html.elements import fnv1a
from victor_spark.blocks import Blocks, Bool, first_from
from victor_spark.html.characters import properties
from victor_spark.html.tags import BIT, GROUPS, has, inside, occurrences, tables
from victor_spark.kernels import assemble, code_points, num, text_of, views
from victor_spark.rendering.names import names
from victor_spark.rendering.num import MOST_UP
from victor_spark.rendering.walk import complete, has_word, in_lines
from victor_spark.words import INVISIBLE

_HIDDEN: Final = GROUPS.index("hidden")
_BUTTON: Final = tables().names.index("button")
_OPENING: Final = code_points("([{“„‘‚«‹「『《（【¿¡")
_JOINERS: Final = (0x200C, 0x200D, 0x200E, 0x200F)
"""These change the letters beside them, or the order of these, but nothing beside Latin."""
_AFTER_LATIN: Final = 0x300
_IS_INVISIBLE: Final = np.append(np.bincount([*code_points(INVISIBLE), *_JOINERS]) > 0, [False])
_ANYWHERE: Final = "¶§🔗↩⤴⏎^↑"
_IS_SIGN: Final = np.append(np.bincount(code_points(f"#⚓∞{_ANYWHERE}")) > 0, [False])
LONGEST_HIDDEN: Final = 80
_LONGEST_SIGN: Final = 3
_QUOTE: Final = re.compile(r"<(/?)q(?=[ >])")
_LANGUAGE: Final = re.compile(r'(?i)(?:<!doctype[^>]*>)?<html[^<>]* lang="([a-z]+)(-(?:hant|tw|hk|mo)\b)?')
_CITE: Final = re.compile(r"<(/?)cite(?=[ >])[^>]*>([^\W_])?")
NAMES_OF_READERS: Final = np.array([fnv1a("visuallyhidden"), fnv1a("reader")], dtype=np.uint32)
"""Hashes of words of class, of which a page has one if it has such elements for screen readers: the class has
no word of the group `hidden` of conf/words.toml.
"""
_HIDING: Final = re.compile(
    r"<(span|a|b|i|em|strong|small|font|su[pb]|abbr|label|td|th|tr|u|s|mark|time|data|code|kbd|samp|cite|q|ins|del"
    r"|button|[a-z]+-[\w-]+)(?= )(?=[^>]*>\s*([^\W\d_]|[■-◿])?)[^>]* "
    r'(?:hidden(?:="[^"]*")?(?=[ >])|style="(?:[^"]*;)?\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b'
    r'|class="mw-editsection"|(class="(?![^"]*not-(?:sr|vis))(?:[^"]*[ _-])?'
    r'(?:sr-only|visually-?hidden|u-sronly|screen-reader-(?:text|only))[ "])(?(2)|(?!)))[^>]*>',
    re.IGNORECASE,
)
_NOTE_OR_FORMULA: Final = re.compile("note|math", re.IGNORECASE)
_LONGEST_HIDING: Final = 2000
_RAISED: Final = re.compile(
    r"<sup( [^>]*)?>\s*(?:<(?:i|em|b|var)(?: [^>]*)?>)?"
    r"([-−–+]?\d{1,3}|[-−–]?\d?[ijknpqxyz](?:[-−–+]\d)?)\s*(?:</(?:i|em|b|var)>)?</sup>"
)
_NOTE: Final = re.compile("note|ref|cit|fn")
_LETTER: Final = r"(?<![^\W\d_])(?:[a-zα-ωR]|[α-ω][a-z])"
_BASES: Final = {
    True: re.compile(rf"(?:(?<![\d.,])10|{_LETTER}|\((?=[^()]*[-+−×·/])(?:[^()\w]|\b\w\b)+\))\Z"),
    False: re.compile(rf"(?:\d|{_LETTER}|[A-Z)])\Z"),
}
"""The characters before a power of a number, and of a variable."""
_UNIT: Final = re.compile(r"(?<![^\W\d_])(?:[kcdmnµμ]?m|\d\s?(?:ft|in|mi|yd))\Z")
_LONGEST_BASE: Final = 24


def shown(blocks: Blocks, kept: Bool, html: str, *, plain: bool = False) -> tuple[Blocks, Bool]:
    """The blocks with the quotation marks of `q`, without invisible characters, and which of them are kept.

    A paragraph half of which is kept has no gaps between kept blocks, and one most of which is kept is whole
    (at its ends, if `plain`, with its punctuation only). Not kept are what its own style hides in a line or a
    table, the signs of links to headings, and those back from footnotes. A `cite` that begins a quote has a
    space after it. With `plain`, for text without mark-up, a power is written as in 10^8; the mark of a
    footnote is none.
    """
    blocks = visible(blocks)  # first: the texts below are made of these
    kept = kept & (blocks.text_start < blocks.text_end)
    complete(
        *views(blocks.paragraph, blocks.text_start, blocks.text_end, blocks.n_words, blocks.n_letters),
        *views(blocks.listing, blocks.left_out.view(np.uint8), kept.view(np.uint8)),
        with_ends=not plain,
    )
    if not kept.any():
        return blocks, kept
    texts = dict(powers(blocks, kept, html)) if plain and has(blocks, "sup") else {}
    if has(blocks, "q"):
        _quote(blocks, kept, html, texts)
    if found := [*cites(blocks, html)]:
        blocks = _with_cites_apart(blocks, found)
    if has(blocks, "button") and ((is_inside := inside(blocks, "button")) & kept).any():
        is_direct = blocks.tag == _BUTTON
        before = np.diff(is_inside, prepend=False) | (is_direct & np.append(False, is_direct[:-1]))
        first, last = (blocks.points.take(at, mode="clip") for at in (blocks.text_start, blocks.text_end - 1))
        before &= properties()[first] & num.CLASS_MASK != num.PUNCTUATION
        before[1:] &= ~np.isin(last[:-1], _OPENING)
        blocks = replace(blocks, space_before=blocks.space_before | before)
    hidden = not_seen(blocks, kept, html)
    numbers = (first_from(blocks.start, start) for start, _ in unselectable(blocks, html))
    hidden += [row for row in numbers if row < len(blocks) and int(blocks.containers[row]) & BIT["pre"]]
    if hidden:
        left_out = blocks.left_out.copy()
        kept[hidden], left_out[hidden] = False, True
        blocks = replace(blocks, left_out=left_out)
    return with_texts(blocks, texts), kept


def not_seen(blocks: Blocks, kept: Bool, html: str) -> list[int]:
    """Which of the kept blocks are signs of links, in players, or hidden in a line or a table."""
    hidden = (row for first, after, *_ in hidden_elements(blocks, kept, html) for row in range(first, after))
    sizes = blocks.text_end - blocks.text_start  # long ones open on a click
    unplayed = (row for span in players(blocks, html) for row in range(*blocks.start.searchsorted(span)))
    return [*_signs(blocks, kept), *unplayed, *(row for row in hidden if sizes[row] <= LONGEST_HIDDEN)]


def players(blocks: Blocks, html: str) -> Iterator[tuple[int, int]]:
    """Where each `video` and `audio` begins and ends: browsers that can play it show none of its text."""
    found = _PLAYER.finditer(html) if has(blocks, "video") or has(blocks, "audio") else ()
    return (match.span() for match in found)


_PLAYER: Final = re.compile(r"<(video|audio)(?=[ >]).*?</\1>", re.DOTALL)


def visible(blocks: Blocks) -> Blocks:
    """The blocks without invisible characters; those that have no others are left out."""
    if blocks.text.isascii() or not (found := _IS_INVISIBLE.take(blocks.points, mode="clip")).any():
        return blocks
    places = np.flatnonzero(found)
    beside = blocks.points.take([places - 1, places + 1], mode="wrap")
    beside[_IS_INVISIBLE.take(beside, mode="clip")] = 0
    places = places[~np.isin(blocks.points[places], _JOINERS) | (beside.max(axis=0) < _AFTER_LATIN)]
    points = np.delete(blocks.points, places)
    start, end = (
        (column - np.searchsorted(places, column)).astype(np.int32)
        for column in (blocks.text_start, blocks.text_end)
    )
    begins, ends = (  # with white space that an invisible character had hidden from the segmentation
        (end > start) & (blocks.white_space == 0) & (properties()[points[at]] & num.CLASS_MASK == num.WHITE)
        for at in (start.clip(max=len(points) - 1), end - 1)
    )
    start, spaced = start + begins, blocks.space_before | begins | np.append(False, ends[:-1])
    end = np.maximum(end - ends, start)
    changed = replace(blocks, points=points, text=text_of(points), space_before=spaced)
    return replace(changed, text_start=start, text_end=end, left_out=blocks.left_out | (start == end))


def with_texts(blocks: Blocks, texts: dict[int, str]) -> Blocks:
    """The blocks with other texts for those that `texts` has."""
    if not texts:
        return blocks
    start, end, size = blocks.text_start.copy(), blocks.text_end.copy(), len(blocks.points)
    for row, text in texts.items():
        start[row], end[row] = size, size + len(text)
        size += len(text)
    added = "".join(texts.values())
    points = np.concatenate([blocks.points, code_points(added)])
    return replace(blocks, points=points, text=blocks.text + added, text_start=start, text_end=end)


def _text(blocks: Blocks, row: int) -> str:
    return blocks.text[blocks.text_start[row] : blocks.text_end[row]]


def powers(blocks: Blocks, kept: Bool, html: str) -> Iterator[tuple[int, str]]:
    """The blocks that are powers of what stands before them, with a sign of it; other numbers apart."""
    rows = kept.nonzero()[0]
    after = int(blocks.start[rows[-1] + 1]) if rows[-1] + 1 < len(blocks) else len(html)
    for match in _RAISED.finditer(html, int(blocks.start[rows[0]]), after):
        row = first_from(blocks.start, match.start(2))
        if not 0 < row < len(blocks) or blocks.start[row] != match.start(2) or blocks.space_before[row]:
            continue
        if blocks.paragraph[row] != blocks.paragraph[row - 1] or not (kept[row - 1] and kept[row]):
            continue
        if int(blocks.containers[row]) & ~int(blocks.containers[row - 1]) & BIT["a"]:
            continue  # a link of its own leads to a note
        base, (attributes, power) = _text(blocks, row - 1)[-_LONGEST_BASE:], match.groups()
        is_unit = power in ("2", "3") and _UNIT.search(base) is not None
        is_base = power[0] in "-−–" or (power != "1" and bool(_BASES[power.isdigit()].search(base)))
        if not _NOTE.search(attributes or "") and (is_unit or is_base):  # no cents of a price
            yield row, f"^{power}"
        elif base[-1:].isdigit() and power[0].isdigit():
            yield row, f" {_text(blocks, row)}"


def _quote(blocks: Blocks, kept: Bool, html: str, texts: dict[int, str]) -> None:
    """Puts the quotation marks of `q` into the texts of its first and last kept blocks."""
    stated = _LANGUAGE.match(html)
    name = stated[1].lower() + "-" * bool(stated[2]) if stated else ""
    marks = next((marks for marks, of in names().quotes.items() if name in of), "“”‘’")
    opened: list[int] = []
    (rows,) = kept.nonzero()
    before, after = defaultdict[int, list[str]](list), defaultdict[int, list[str]](list)
    for match in _QUOTE.finditer(html):
        place = first_from(blocks.start, match.start())
        if not match[1]:
            opened.append(place)
            continue
        first, end = rows.searchsorted((opened.pop() if opened else 0, place))
        if first < end:
            level = 2 * (len(opened) % 2)
            before[int(rows[first])].append(marks[level])
            after[int(rows[end - 1])].append(marks[level + 1])
    for row in before.keys() | after.keys():
        texts[row] = "".join([*before[row][::-1], texts.get(row) or _text(blocks, row), *after[row]])


def _with_cites_apart(blocks: Blocks, found: list[tuple[int, int]]) -> Blocks:
    """The blocks with a space before those that follow a `cite` at the beginning of a quote."""
    space_before, in_quote = blocks.space_before.copy(), BIT["blockquote"]
    for start, end in found:
        row, first = first_from(blocks.start, end), first_from(blocks.start, start)
        begins = first == 0 or blocks.paragraph[first - 1] != blocks.paragraph[min(first, row)]
        if first < row < len(blocks) and begins and int(blocks.containers[row]) & in_quote:
            space_before[row] = max(space_before[row], 1)
    return replace(blocks, space_before=space_before)


def cites(blocks: Blocks, html: str) -> Iterator[tuple[int, int]]:
    """Where each `cite` begins and ends that a letter or digit follows at once; none if there is no quote."""
    is_there = has(blocks, "cite") and inside(blocks, "blockquote").any()
    opened: list[int] = []
    for match in _CITE.finditer(html) if is_there else ():
        if not match[1]:
            opened.append(match.start())
        elif (start := opened.pop() if opened else -1) >= 0 and match[2]:
            yield start, match.end() - 1


def _signs(blocks: Blocks, kept: Bool) -> Iterator[int]:
    """Links that are a sign: to a heading, term or caption itself, or back from a footnote."""
    (rows,) = (kept & (blocks.text_end - blocks.text_start <= _LONGEST_SIGN)).nonzero()
    begins = blocks.points.take(blocks.text_start[rows], mode="clip")
    for row in rows[_IS_SIGN.take(begins, mode="clip")].tolist():
        containers, sign = int(blocks.containers[row]), _text(blocks, row)
        named = blocks.heading_level[row] or containers & (BIT["dt"] | BIT["figcaption"])
        if containers & BIT["a"] and (named or sign[0] in _ANYWHERE) and not any(map(str.isalnum, sign)):
            yield row


def unselectable(blocks: Blocks, html: str) -> Iterator[tuple[int, int]]:
    """Where each element begins and ends that holds a number, and whose style forbids to copy it."""
    is_there = has(blocks, "pre") and "user-select:none" in html
    found = _NUMBER_WITH_STYLE.finditer(html) if is_there else ()
    return (match.span() for match in found if "user-select:none" in match[1])


_NUMBER_WITH_STYLE: Final = re.compile(r'<span style="([^"]*)">\s*\d+\s*</span>')


def names_of_readers(blocks: Blocks, html: str) -> Iterator[tuple[int, int]]:
    """Where each name begins and ends that may be one of NAMES_OF_READERS; none if no element has one."""
    for row, name in enumerate(("visuallyhidden", "screen-reader-")):
        if has_word(*views(blocks.name_words, NAMES_OF_READERS[row : row + 1])):
            yield from ((at, at + len(name)) for at in occurrences(html, name))


def hidden_elements(blocks: Blocks, kept: Bool, html: str) -> Iterator[tuple[int, int, int, int]]:
    """Elements in a line or a table that their own style hides, with a block that is kept or in a table.

    Each as its first such block, the block after it, and where its tags begin; 0 if its end is too far away.
    """
    until, hints = 0, blocks.hints[_HIDDEN]
    if named := [start for start, _ in names_of_readers(blocks, html)]:
        hints = np.append(hints, np.uint8(0))
        hints[np.searchsorted(blocks.start, named)] = 0
    for row in in_lines(
        *views(hints, blocks.heading_level, blocks.paragraph, blocks.td_group),
        *views(blocks.text_start, blocks.points, blocks.left_out.view(np.uint8), kept.view(np.uint8)),
    ):
        at = start = int(blocks.start[row])
        for _ in range(MOST_UP + 1 if row >= until else 0):
            at = html.rfind("<", 0, at)
            if (found := _HIDING.match(html, at)) and not _NOTE_OR_FORMULA.search(found[0]):
                end = _end(html, found)
                until = max(row + 1, first_from(blocks.start, end))
                cell = blocks.td_group
                if not found[3] or cell[row] in (0, *cell[row - 1 : row], *cell[until : until + 1]):
                    yield row, until, at, end  # not the only words of a cell, which may explain a picture
                break
            between = html[html.find(">", at) + 1 : start].lstrip()
            if html[at + 1] == "/" or (between and between[0] != "<"):
                break


def _end(html: str, tag: "re.Match[str]") -> int:
    """The end of the element with a start tag; 0 if the element is too long."""
    depth = 1
    for found in re.finditer(f"<(/?){tag[1]}(?=[ >])", html[tag.end() : tag.end() + _LONGEST_HIDING]):
        depth += -1 if found[1] else 1
        if not depth:
            return tag.end() + found.start()
    return 0


def assembled(blocks: Blocks, kept: Bool, first: int, last: int) -> str:
    """The kept blocks' text from block `first` up to block `last`; linear in what is between them."""
    if first >= last:
        return ""
    points = assemble.assemble(
        *views(blocks.points, blocks.text_start, blocks.text_end, blocks.paragraph, blocks.space_before),
        *views(blocks.white_space, blocks.listing, blocks.left_out.view(np.uint8), blocks.gaps),
        *views(blocks.gap_ends, kept.view(np.uint8), properties()),
        first,
        last,
    )
    return utf_32_le_decode(points, "replace")[0]


def blanked(blocks: Blocks, cut: Bool) -> Blocks:
    """The blocks with spaces instead of code points that are cut out, as templates of the site."""
    points = np.where(cut, np.uint32(ord(" ")), blocks.points)
    return replace(blocks, points=points, text=text_of(points))


def trimmed(blocks: Blocks, cut: Bool | None) -> Blocks:
    """The blocks with their text cut out, without white space at the new ends; None cuts nothing."""
    if cut is None:
        return blocks
    blocks = blanked(blocks, cut)
    starts, ends = blocks.text_start.copy(), blocks.text_end.copy()
    for row in np.flatnonzero(blocks.template_share).tolist():
        own = blocks.text[starts[row] : ends[row]]
        starts[row] += len(own) - len(own.lstrip())
        ends[row] = starts[row] + len(own.strip())
    return replace(blocks, text_start=starts, text_end=ends)
