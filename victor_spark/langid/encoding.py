"""Was this text decoded with the wrong charset? Three looks, the cheapest first.

1. U+FFFD and C1 controls: bytes of a legacy charset read as UTF-8, and holes of windows-1252.
2. `ftfy.badness`: UTF-8 read as windows-1252 and much else that looks like no language at all.
3. The language model: a text that fits no language well, and fits one much better when the bytes
   are read in another charset (windows-1251 read as KOI8-R, Central European read as Western).
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any, Final

import numpy as np

from victor_spark.langid import beesley
from victor_spark.langid.normalise import UInt32, codepoints, folded, joined
from victor_spark.langid.profiles import STEP, Profiles
from victor_spark.langid.settings import Encoding, settings

_READ_AS: Final = (
    "windows-1252",
    "windows-1251",
    "koi8-r",
    "windows-1250",
    "iso8859-2",
    "iso8859-5",
    "cp866",
)
"""Charsets that web pages are read in by mistake."""
_EAST_ASIAN: Final = ("shift_jis", "euc_jp", "gbk", "big5", "euc_kr")
"""Misread text of these is hardly anything but high characters."""
_SINGLE_BYTE: Final = (
    *("windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1255"),
    *("windows-1256", "windows-1257", "iso8859-2", "iso8859-5", "koi8-r", "cp866", "cp874"),
)
_LOWEST_ELSEWHERE: Final = "\u2600"
"""From here up no charset of _READ_AS has characters: text of such was not read in one."""
_LETTER: Final = re.compile(r"[^\W\d_]")
_HIGH: Final = re.compile(r"[^\x00-\xa0\u2000-\u206f\s]")  # beyond ASCII, but no typographic signs
_DOUBTFUL: Final = re.compile(r"[^\x00-\x7f\u0384-\u03ce\u0410-\u044fЁё\u3040-\uffef]")
"""What a word must have to be a bad one: more than ASCII, Greek, Russian and East Asian letters."""
_EAST_ASIAN_SHARE: Final = 0.5
_WRONG: Final = 0.03
"""Characters that a charset may lack, and bytes that it may not decode, per character."""
_PIECES: Final = 4


def problem(text: str, profiles: Profiles, points: UInt32 | None = None) -> str | None:
    """Why the text counts as broken, in a few words, or None. `points`: its code points, if at hand."""
    numbers = settings().encoding
    if text.isascii():
        return None
    points = codepoints(text) if points is None else points
    if (found := _scan(points, numbers)) or not _worth_a_look(points, numbers):
        return found
    return _badness(_sample(text, numbers.sample), numbers) or _misread(text, profiles)


def _worth_a_look(points: UInt32, numbers: Encoding) -> bool:
    """Whether there are letters enough beyond ASCII for the other two looks to find anything.

    Whatever is misread has characters from U+00C0 up; signs (U+2000 to U+2BFF) stand in any text.
    """
    n_high = int(np.count_nonzero((points >= 0xC0) & ((points < 0x2000) | (points >= 0x2C00))))
    least = max(numbers.badness_least, min(len(points), numbers.sample) / numbers.badness_every)
    return n_high >= min(least, numbers.misread_least)


def _scan(points: UInt32, numbers: Encoding) -> str | None:
    n_replaced = int(np.count_nonzero(points == 0xFFFD))
    n_controls = int(np.count_nonzero((points >= 0x80) & (points < 0xA0)))
    if n_replaced + n_controls < max(numbers.scan_least, numbers.scan_ratio * len(points)):
        return None
    return f"{n_replaced} replacement characters and {n_controls} C1 controls in {len(points)} characters"


def _badness(text: str, numbers: Encoding) -> str | None:
    from ftfy.badness import badness  # most pages in English never need it

    found = badness(" ".join(word for word in text.split(" ") if _DOUBTFUL.search(word)))
    if found < max(numbers.badness_least, len(text) / numbers.badness_every):
        return None
    return f"{found} unlikely character sequences in {len(text)} characters"


def _misread(text: str, profiles: Profiles) -> str | None:
    """The charsets that explain the words with high characters better than they stand, or None."""
    numbers = settings().encoding
    sample = _high_words(_sample(text, numbers.sample), numbers.misread_sample)
    n_told = max(len(sample) - sample.count(" "), 1)
    high = _HIGH.findall(sample)
    if len(high) < numbers.misread_least or sum(map(_LOWEST_ELSEWHERE.__le__, high)) > len(high) / 2:
        return None
    as_it_is = _fit([sample], profiles)[0] / n_told
    if as_it_is >= numbers.good_fit:
        return None
    readings = list(_other_readings(sample))
    fits = _fit([reading for _, _, reading in readings], profiles) / n_told
    best = int(fits.argmax()) if len(fits) else -1
    if best < 0 or fits[best] < as_it_is + numbers.misread_gain:
        return None
    read_as, written_in, _ = readings[best]
    return f"looks like {written_in} read as {read_as}"


def _high_words(text: str, length: int) -> str:
    """The words with letters and with high characters, up to so many characters in all."""
    words = []
    n_chars = 0
    for word in text.split():
        if not word.isascii() and _HIGH.search(word) and _LETTER.search(word):
            words.append(word)
            n_chars += len(word) + 1
            if n_chars > length:
                break
    return " ".join(words)[:length]


def _other_readings(text: str) -> Iterator[tuple[str, str, str]]:
    """(read as, written in, text then) for all pairs of charsets that could have happened.

    Not those that turn letters into signs: cutting words shorter makes them likelier everywhere.
    """
    n_letters = sum(map(str.isalpha, text))
    charsets = ["utf-8", *_SINGLE_BYTE]
    if len(_HIGH.findall(text)) > _EAST_ASIAN_SHARE * (len(text) - text.count(" ")):
        charsets += _EAST_ASIAN
    for read_as in _READ_AS:
        content = text.translate(_to_bytes(read_as)).encode("latin-1", "ignore")
        if len(content) < (1 - _WRONG) * len(text):
            continue
        for written_in in charsets:
            reading = content.decode(written_in, "replace")
            n_wrong = reading.count("\ufffd")
            shorter = written_in in _SINGLE_BYTE and sum(map(str.isalpha, reading)) < n_letters
            if n_wrong <= _WRONG * len(reading) and not shorter:
                yield read_as, written_in, reading


@cache
def _to_bytes(charset: str) -> dict[int, int]:
    """Characters that the charset's high bytes decode to, mapped to those bytes' numbers.

    Bytes the charset leaves undefined are C1 controls, as in browsers; high characters it doesn't
    have are not mapped.
    """
    table: dict[int, int] = {}
    for byte in range(0x80, 0x100):
        table[ord(bytes([byte]).decode(charset, "ignore") or chr(byte))] = byte
    unknown = ord("☀")  # latin-1 can't encode it, so it is dropped
    return table | {point: unknown for point in range(0xA0, 0x100) if point not in table}


def _fit(texts: list[str], profiles: Profiles) -> Any:
    """Each text's gain in its best language, in nats."""
    gains, _ = beesley.gains(profiles, *folded(*joined(texts)))
    return gains.max(axis=1) * STEP


def _sample(text: str, length: int) -> str:
    """The text, or pieces spread over it, `length` characters in all."""
    if len(text) <= length:
        return text
    ends = np.linspace(0, len(text), _PIECES + 1).astype(int).tolist()
    return "\n".join(text[start : start + length // _PIECES] for start, _ in pairwise(ends))
