"""Footnotes: which links are references, and which elements are the notes they lead to."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import first_from
from victor_spark.rendering.num import KIND, LONGEST_LABEL, MARKS

if TYPE_CHECKING:
    from victor_spark.rendering.structure import Structure

_NOTES: Final = 1 << MARKS.index("notes")

_LABEL: Final = re.compile(
    r"[\[(]?\s*((?!(?:1[5-9]|20)\d\d)\d{1,4}|[*†‡§¶]+|[a-zA-Z]|[ivx]{1,5}|(?:[nN]ote|nb|N|Anm\.|注)\s?\d+)\s*[\])]?"
)
"""A number that is no year, a sign, a letter, or a number with the name of a group of notes."""
_SIGN: Final = re.compile(r"[\[(]?\s*(?:\d{1,4}|[*†‡§¶]+)\s*[\])]?\.?")
"""A label that is no word."""
_BACK: Final = re.compile(r"\W*|\^?\s?[a-z]|jump up|back|return", re.IGNORECASE)
_IDS: Final = re.compile(r'<[^ <>]*+(?: (?!(?:id|name)="[^"])[^ <>]*+)*+ (?:id|name)="([^"]+)"')
_FRAGMENT: Final = re.compile(r' href="[^"#]*#([^"]+)"')
_NOTE_ADDRESS: Final = re.compile(
    r'="[^"#]*#(?:[^"]*(?:fn|ftn|note|cite|ref|bib)|(?:B|R|CR|bb?)\d+")|="[^"]*(?:footnote|noteref)|javascript:',
    re.IGNORECASE,
)
_REFERENCE_ID: Final = re.compile(r' id="([^"]*?)[-_]?ref([^"]*)"')
_NOTE_KINDS: Final = tuple(KIND[name] for name in ("li", "p", "dd", "block", "td"))
_LONGEST_NOTE: Final = 6_000
_MOST_BLOCKS: Final = 30
_MOST_REFERENCES: Final = 4_000


class Footnotes(NamedTuple):
    """Rows of elements: references and notes with their labels; links back, and marks that repeat a label.

    `ends`: for notes that share an element, the row whose end is the end of the note. `asides`: notes inside
    a line, at the place of their references.
    """

    refs: dict[int, str]
    notes: dict[int, str]
    back: frozenset[int] = frozenset()
    ends: dict[int, int] = {}  # noqa: RUF012 - never changed
    asides: dict[int, str] = {}  # noqa: RUF012 - never changed


def footnotes(page: "Structure", rows: npt.NDArray[np.signedinteger]) -> Footnotes:
    """The footnotes that the short links in `rows` of the kept text refer to. The notes become kept."""
    s = page.s
    rows = rows[:_MOST_REFERENCES]
    places: dict[int, list[int]] = {}  # of notes: their references
    ids: dict[str, int] | None = None
    for row in rows[s.kind[rows] == KIND["a"]].tolist():
        target = _target(page, row)
        if target is None:
            continue
        if ids is None:
            ids = {match[1]: match.start() for match in _IDS.finditer(page.html)}
        place = ids.get(target, ids.get(unquote(target), -1))
        if place > int(s.end[row]):
            places.setdefault(place, []).append(row)
    refs: dict[int, str] = {}
    notes: dict[int, str] = {}
    ends: dict[int, int] = {}
    of_element: dict[int, list[int]] = {}
    for place in places:
        note = _note(page, place)
        if note is not None and note > places[place][0]:  # not an element around the reference
            of_element.setdefault(note, []).append(place)
    own = [page.text_of(rows_of[0]).strip("[]() ") for rows_of in places.values()]
    is_own = len(set(own)) == len(own) and all(map(str.isdecimal, own))
    labels = {place: own[n] if is_own else str(n + 1) for n, place in enumerate(places)}
    for note, inside in of_element.items():
        page.keep(note)
        for place in inside:
            row = note
            if len(inside) > 1:  # several notes in one element begin where their names stand
                row = first_from(s.start, place + 1) - 1
                ends[row] = note
            notes[row] = labels[place]
            refs |= dict.fromkeys(places[place], labels[place])
    if not refs:
        return _loose(page, rows)
    begins = sorted(notes)
    stops = dict(zip(begins, [*begins[1:], len(s.kind)], strict=True))
    terms = (first_from(s.start, place + 1) - 1 for place in places)
    back = {row for row in terms if s.kind[row] == KIND["dt"]} | {
        row
        for note in notes
        for row in _marks_of(page, note, min(page.after(ends.get(note, note)), stops[note]))
    }
    return Footnotes(refs, notes, frozenset(back), ends)


_ASIDE: Final = re.compile(
    r'<(?:span|small|d-footnote)(?= )[^<>]*? class="(?:[^"]* )?'
    r'(?:sidenote|marginnote|(?:inline-)?footnote|ltx_role_footnote|modern-footnotes-footnote__note)[ "]'
)


def with_asides(page: "Structure", found: Footnotes) -> Footnotes:
    """The footnotes, with those inside lines, such as sidenotes; the text of these becomes kept."""
    s, paragraph = page.s, page.blocks.paragraph
    labels = (str(label) for label in range(1, _MOST_REFERENCES) if str(label) not in found.notes.values())
    asides: dict[int, str] = {}
    done = 0
    for match in _ASIDE.finditer(page.html):
        row = first_from(s.start, match.start())
        first, last = int(s.first[row]), int(s.last[row])
        if match.start() < done or not 0 < first < last or row in found.notes:
            continue
        done, begin = int(s.end[row]), first
        while begin < last - 1 and _SIGN.fullmatch(page.block_text(begin)):
            begin += 1
        is_in_line = paragraph[first - 1] == paragraph[first] and page.kept[first - 1]
        if is_in_line and page.size(row) > LONGEST_LABEL and (label := next(labels, None)):
            page.keep(row)
            if page.block_text(first - 1) == (page.block_text(first) if begin > first else label):
                first -= 1  # the mark of the reference stands before the note, and perhaps in it
            page.kept[first:begin] = False
            asides[row] = label
    return found._replace(asides=asides)


NONE: Final = Footnotes({}, {})


def _target(page: "Structure", row: int) -> str | None:
    """The id that a link with a footnote's label leads to."""
    s = page.s
    label = "".join(page.text_of(row).split())
    if not _LABEL.fullmatch(label):
        return None
    tag = page.tag(row)
    high = KIND["sup"] in (s.kind[s.parent[row]], s.kind[min(row + 1, len(s.kind) - 1)])
    if label.isalnum() and not high and not _NOTE_ADDRESS.search(tag):
        return None  # the number of a step, a letter of an index
    if found := _FRAGMENT.search(tag):
        return found[1]
    named = _REFERENCE_ID.search(tag)
    return f"{named[1]}{named[2]}" if named and "javascript:" in tag else None


def _marks_of(page: "Structure", note: int, stop: int) -> Iterator[int]:
    """The elements in a note that link back to its reference, or repeat its label."""
    s = page.s
    first = s.first[note]
    for row in range(note, stop):
        if row != note and s.kind[row] == KIND["a"]:
            tag = page.tag(row)
            text = page.text_of(row)
            begins = s.first[row] <= first + 1
            if ("#" in tag and _BACK.fullmatch(text)) or (begins and _LABEL.fullmatch(text.strip())):
                while (up := int(s.parent[row])) > note and _LABEL.fullmatch(page.text_of(up)):
                    row = up  # with brackets around it  # noqa: PLW2901
                yield row
        elif s.kind[row] == KIND["sup"] and s.first[row] <= first + 1 and _LABEL.fullmatch(page.text_of(row)):
            yield row


def _note(page: "Structure", place: int) -> int | None:
    """The element of the note whose id is at `place`."""
    s = page.s
    row = first_from(s.start, place + 1) - 1
    if s.kind[row] == KIND["dt"] and _LABEL.fullmatch(page.text_of(row)):
        row = min(page.after(row), len(s.kind) - 1)
    while row >= 0 and (s.kind[row] not in _NOTE_KINDS or s.last[row] == s.first[row]):
        row = int(s.parent[row])
    if row < 0 or (s.kind[row] == KIND["block"] and s.last[row] - s.first[row] > _MOST_BLOCKS):
        return None
    up = int(s.parent[row])
    if s.kind[row] == KIND["p"] and s.kind[up] == KIND["li"] and s.first[up] == s.first[row]:
        row = up
    inside = s.kind[row : page.after(row)]
    is_section = inside[0] == KIND["td"] or ((inside >= KIND["h1"]) & (inside <= KIND["h6"])).any()
    return None if is_section or page.size(row) > _LONGEST_NOTE else row


def _loose(page: "Structure", rows: npt.NDArray[np.signedinteger]) -> Footnotes:
    """Footnotes without links: a number set high, and later a paragraph that begins with one."""
    s, paragraph = page.s, page.blocks.paragraph
    refs: dict[int, str] = {}
    notes: dict[int, str] = {}
    back: set[int] = set()
    for row in rows.tolist():
        first = int(s.first[row])
        text = page.block_text(first)
        if not re.fullmatch(r"\d{1,3}", text) or s.last[row] - first != 1:
            continue
        begins = first == 0 or paragraph[first - 1] != paragraph[first]
        if not begins and s.kind[row] == KIND["sup"]:
            refs[row] = text
        elif begins and text in refs.values() and text not in notes.values():
            up = int(s.parent[row])
            while up >= 0 and s.kind[up] not in _NOTE_KINDS:
                up = int(s.parent[up])
            is_note = up >= 0 and s.kind[up] in (KIND["li"], KIND["p"], KIND["dd"])
            if is_note and s.first[up] == first < s.last[up] - 1:
                notes[up] = text
                back.add(row)
    if refs and not notes:
        notes = _numbered(page, refs)
    known = set(notes.values())
    return Footnotes({row: text for row, text in refs.items() if text in known}, notes, frozenset(back))


def _numbered(page: "Structure", refs: dict[int, str]) -> dict[int, str]:
    """The items of the ordered list after a heading such as Footnotes, or in an element named so."""
    s, numbers = page.s, set(map(int, refs.values()))
    for row in np.flatnonzero((s.last > s.first) & (s.start > s.end[max(refs)])).tolist():
        is_heading = not page.marks(row) & _NOTES
        if is_heading and not KIND["h1"] <= s.kind[row] <= KIND["h6"]:
            continue
        if is_heading and page.block_text(int(s.first[row])).strip(" :").lower() not in _HEADINGS:
            continue
        inside = slice(row, page.after(row) + 4 if is_heading else page.after(row))
        lists = np.flatnonzero(s.kind[inside] == KIND["ol"]) + row
        if len(lists):
            rows = np.arange(lists[0] + 1, page.after(int(lists[0])))
            items = rows[(s.kind[rows] == KIND["li"]) & (s.parent[rows] == lists[0])].tolist()
            if len(items) >= len(numbers) == max(numbers):
                for item in items:
                    page.keep(item)
                return {item: str(label) for label, item in enumerate(items, 1)}
    return {}


_HEADINGS: Final = frozenset(("footnotes", "notes", "endnotes"))
