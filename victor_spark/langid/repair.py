"""Repair of text that was decoded in the wrong charset: it is encoded again and decoded in the right one."""

import re
from collections import Counter
from functools import cache
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from victor_spark.blocks import UInt32
from victor_spark.scripts import BROWSER_CODECS, characters


class Misreading(NamedTuple):
    """The charset that text was read in, and the one it was written in, by Python's names.

    `least_bad`: the least badness of the runs of UTF-8 that are read again, with the runs of the same
    characters and those that are damaged with them (`_damaged`).
    """

    read_as: str
    written_in: str
    least_bad: int = 0


ANY, UNLIKELY, CERTAIN = range(3)
"""The badness of a run of UTF-8: it looks like text, ftfy finds it unlikely, it has C1 controls as well."""
TWICE: Final = Misreading("windows-1252", "utf-8")
"""UTF-8 read as windows-1252 or iso-8859-1 and encoded again."""
CONTROLS: Final = Misreading("iso8859-1", "windows-1252")
"""C1 controls: signs of windows-1252 that were taken for iso-8859-1, which has none there."""

EAST_ASIAN: Final = {
    charset: BROWSER_CODECS.get(charset, charset)
    for charset in ("shift_jis", "euc_jp", "gbk", "big5", "euc_kr")
}
"""Multi-byte charsets → the codecs that browsers use for them."""

_READ_AS: Final = (
    *(TWICE.read_as, "windows-1254", "iso8859-15", "windows-1250", "iso8859-2", "windows-1251"),
    *("koi8-r", "cp866", "windows-1253", "windows-1257", "mac_roman", "cp437", "cp850"),
)
"""Charsets that UTF-8 is decoded in by mistake."""
# A text is a misreading as a whole if it holds enough UTF-8:
_UTF8_RATIO: Final = 0.9
"""The least ratio of UTF-8 in its letters beyond ASCII."""
MIN_MISREAD: Final = 4
"""The fewest characters of UTF-8."""
_MIN_DISTINCT, _MIN_DISTINCT_COMMON = 3, 2
"""The fewest different ones, and the fewest if all are in _COMMON."""
_COMMON: Final = frozenset(map(chr, (*range(0xA0, 0x180), *range(0x2010, 0x2040), 0x20AC)))
_MOST_RUNS: Final = 150
"""The most different runs that are counted."""
_HEAD: Final = 8
"""The first runs, and the first characters of each: half of the letters in them must look like UTF-8."""


def reread(html: str, misreading: Misreading) -> str:
    """Canonical HTML with its text read again: no tag changes, as markup is ASCII in all these charsets."""
    if "&nbsp;" not in html:
        return again(html, misreading)
    return again(html.replace("&nbsp;", "\xa0"), misreading).replace("\xa0", "&nbsp;")


def again(text: str, misreading: Misreading) -> str:
    """Plain text read again."""
    read_as, written_in, least_bad = misreading
    if misreading == CONTROLS:
        return _CONTROLS.sub(lambda control: characters("windows-1252")[ord(control[0])], text)
    if written_in == "utf-8":
        found = set(_sequences(read_as).findall(text))
        utf8 = {run: letters for run in found if (letters := _utf8(run, read_as))}
        if least_bad != ANY:
            damaged = _damaged(text, {run for run in utf8 if _badness(run) >= least_bad})
            utf8 = {run: letters for run, letters in utf8.items() if damaged.issuperset(letters)}
        return _sequences(read_as).sub(lambda run: utf8.get(run[0], run[0]), text)
    if written_in not in EAST_ASIAN:
        read = characters(written_in)
        return text.translate({point: read[byte] for point, byte in bytes_of(read_as).items()})
    runs = re.compile(f"[\0-\x7f{re.escape(''.join(map(chr, bytes_of(read_as))))}]+")
    return runs.sub(lambda run: _content(run[0], read_as).decode(EAST_ASIAN[written_in], "replace"), text)


_CONTROLS: Final = re.compile("[\x80-\x9f]")


@cache
def beginnings() -> UInt32:
    """`parts` of `kernels.letters.census`, for UTF-8 that was read in one of _READ_AS."""
    table = np.zeros(1 << 16, dtype=np.uint32)
    for bit, read_as in enumerate(_READ_AS):
        for point, byte in bytes_of(read_as).items():
            if byte < 0xC0 or 0xC2 <= byte <= 0xF4:
                table[point] |= 1 << (bit if byte >= 0xC0 else bit + 16)
    return table


def whole(text: str) -> list[Misreading]:
    """The charsets that UTF-8 may have been decoded in to give this text, the likeliest first; mostly none.

    Most texts are excluded by their first letters beyond ASCII.
    """
    head = " ".join(run[0][:_HEAD] for run in islice(_HIGH.finditer(text), _HEAD))
    n_letters = len(_LETTER.findall(head))
    n_in_runs = sum(len(run) for run in head.split(" ") if len(run) > 1)  # no other is a part of UTF-8
    if not head or 2 * n_in_runs < n_letters:
        return []
    if not (possible := [by for by in _READ_AS if not n_letters or _is_half(head, n_letters, by)]):
        return []
    common = Counter(_HIGH.findall(text)).most_common(_MOST_RUNS)
    runs = [(run, n, n * len(_LETTER.findall(run))) for run, n in common]
    most_outside = (1 - _UTF8_RATIO) * sum(n * len(run) for run, n in common)
    shares: dict[Misreading, float] = {}
    for read_as in possible:
        n_found = n_inside = n_outside = 0
        distinct: set[str] = set()
        for run, n, n_letters in runs:
            n_outside += n_letters
            for found in _sequences(read_as).findall(run) if len(run) > 1 else ():
                if read := _utf8(found, read_as):
                    distinct.update(read)
                    n_found += n * len(read)
                    n_inside += n * len(found)
                    n_outside -= n * len(_LETTER.findall(found))
            if n_outside > most_outside:
                break
        is_varied = len(distinct) >= (_MIN_DISTINCT_COMMON if distinct <= _COMMON else _MIN_DISTINCT)
        if n_found >= MIN_MISREAD and is_varied and n_inside >= _UTF8_RATIO * (n_inside + n_outside):
            shares[Misreading(read_as, "utf-8")] = n_inside / (n_inside + n_outside)
    if shares.get(_LATIN_9, 1.0) < shares.get(TWICE, 0.0):
        del shares[_LATIN_9]
    elif _LATIN_9 in shares and _ONLY_LATIN_9.search(text) and _NOT_WINDOWS.search(text):
        shares.pop(TWICE, None)
    likely = sorted(shares, key=lambda misreading: -shares[misreading])
    return [misreading for misreading in likely if shares[misreading] > shares[likely[0]] - _MARGIN]


def _is_half(text: str, n_letters: int, read_as: str) -> bool:
    """Whether at least half of the letters beyond ASCII look like UTF-8 read in a charset."""
    inside = "".join(_sequences(read_as).findall(text))
    return len(inside) >= n_letters - (len(_LETTER.findall(inside)) if inside else 0)


_LETTER: Final = re.compile(r"[^\W\d_A-Za-z]|[\u2500-\u25ff]")
"""A letter, or a box-drawing character, which is a letter in charsets of DOS."""
_MARGIN: Final = 0.02
"""Misreadings are equally likely if their ratios of UTF-8 differ by less."""
_LATIN_9: Final = Misreading("iso8859-15", "utf-8")
_ONLY_LATIN_9: Final = re.compile("[€ŠšŽžŒœŸ]")
"""Characters of iso-8859-15 that iso-8859-1 lacks; windows-1252 has them."""
_NOT_WINDOWS: Final = re.compile("[\x80\x82-\x8c\x8e\x91-\x9c\x9e\x9f]")
"""Controls of iso-8859-15 that are signs in windows-1252."""
_HIGH: Final = re.compile("[^\0-\x7f][^\0-\x7f]*")


def _damaged(text: str, unlikely: set[str]) -> set[str]:
    """The characters of the `unlikely` runs, and of other runs of UTF-8 that are damaged with them.

    A run may look likely and be wrong all the same (`Å‚` in `zÅ‚Ã³Å¼`). It counts as damaged if it stands
    between two unlikely ones, or between one and an end of the line, and if no letter beyond ASCII stands
    between them that is not UTF-8.
    """
    damaged: set[str] = set()
    for line in _LINES_FROM_HIGH.findall(text):
        runs: list[str] = []
        last = "\n"
        for found in _RUNS_AND_OTHERS.finditer(line + "\n"):
            if found[1]:
                runs.append(found[1])
                continue
            if places := [place for place, run in enumerate(runs) if run in unlikely]:
                first = 0 if last == "\n" else places[0]
                end = len(runs) if found[0] == "\n" else places[-1] + 1
                damaged.update(*(_utf8(run, TWICE.read_as) or "" for run in runs[first:end]))
            runs.clear()
            last = found[0]
    return damaged


_LINES_FROM_HIGH: Final = re.compile(r"[^\0-\x7f][^<>\n]*")
"""Each line of text between tags, from its first character beyond ASCII on."""


def _badness(run: str) -> int:
    from ftfy.badness import is_bad  # most pages do not need it

    if not is_bad(run):
        return ANY
    return CERTAIN if _CONTROLS.search(run) else UNLIKELY


def parts(text: str, *, everywhere: bool) -> Misreading | None:
    """Which runs are read again that are UTF-8 read as windows-1252 or iso-8859-1; None: none of them.

    They are those that are unlikely as they stand (`É»` in `CAFÉ»` is not), or, with `everywhere` (`whole`
    found this misreading), all. A page may quote misread text. So all of them are read again only if several
    have C1 controls or most are parts of words; else those with C1 controls are.
    """
    runs, in_words, in_others = Counter[str](), Counter[str](), Counter[str]()
    for run in _sequences(TWICE.read_as).finditer(text):
        runs[run[0]] += 1
        around = text[max(run.start() - 1, 0) : run.start()] + text[run.end() : run.end() + 1]
        in_words[run[0]] += len(run[0]) > _LONGEST_CHARACTER or any(map(str.isalpha, around))
        in_others[run[0]] += _OTHER_CHARSET.search(around) is not None
    least_bad = ANY if everywhere else UNLIKELY
    bad = {run: _badness(run) for run in runs if _utf8(run, TWICE.read_as)}
    chosen = [run for run in bad if bad[run] >= least_bad]
    n_runs, n_in_words, n_in_others = (
        sum(counts[run] for run in chosen) for counts in (runs, in_words, in_others)
    )
    if not chosen or 2 * n_in_others > n_runs:
        return None
    n_certain = sum(runs[run] for run in chosen if bad[run] == CERTAIN)
    many = n_in_words >= min(_MIN_RUNS, len(text) / _CHARACTERS_PER_RUN)
    if n_certain >= _MIN_RUNS or (many and 2 * n_in_words >= n_runs):
        return TWICE._replace(least_bad=least_bad)
    return TWICE._replace(least_bad=CERTAIN) if n_certain else None


_MIN_RUNS: Final = 3
_CHARACTERS_PER_RUN: Final = 200
"""The fewest runs; in a short text, one for each _CHARACTERS_PER_RUN is enough."""
_LONGEST_CHARACTER: Final = 4
"""The most bytes of one character."""
_OTHER_CHARSET: Final = re.compile("[\x80-\x9f\xa1-\xff]")
"""A run beside such a character is a piece of text in yet another charset."""


@cache
def _sequences(read_as: str) -> re.Pattern[str]:
    """One character of UTF-8 or several; the pattern begins with a set, which `re` searches for faster."""
    lengths = ((0xC2, 0xDF, 1), (0xE0, 0xEF, 2), (0xF0, 0xF4, 3))
    more = re.escape(_characters(read_as, 0x80, 0xBF))
    ways = [(re.escape(_characters(read_as, *ends)), f"[{more}]{{{n}}}") for *ends, n in lengths]
    first = "|".join(f"(?<=[{lead}]){rest}" for lead, rest in ways)
    others = "|".join(f"[{lead}]{rest}" for lead, rest in ways)
    return re.compile(f"[{''.join(lead for lead, _ in ways)}](?:{first})(?:{others})*")


def _characters(read_as: str, first: int, last: int) -> str:
    return "".join(chr(point) for point, byte in bytes_of(read_as).items() if first <= byte <= last)


def _utf8(run: str, read_as: str) -> str | None:
    try:
        return _content(run, read_as).decode("utf-8")
    except UnicodeDecodeError:
        return None


def _content(text: str, read_as: str) -> bytes:
    """The bytes from which the text was decoded."""
    return text.translate(bytes_of(read_as)).encode("latin-1")


@cache
def bytes_of(read_as: str) -> dict[int, int]:
    """The byte from 80 up that a character was read from, by code point.

    What was read as windows-1252 may have been read as iso-8859-1, and have C1 controls.
    """
    controls = {byte: byte for byte in range(0x80, 0xA0)} if read_as == TWICE.read_as else {}
    return controls | {ord(characters(read_as)[byte]): byte for byte in range(0x80, 0x100)}


_RUNS_AND_OTHERS: Final = re.compile(f"({_sequences(TWICE.read_as).pattern})|\n|{_LETTER.pattern}")
