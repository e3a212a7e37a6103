"""Was this text decoded with the wrong charset? Three looks, the cheapest first.

1. U+FFFD and C1 controls: bytes of a legacy charset read as UTF-8, and holes of windows-1252.
2. `ftfy.badness`: UTF-8 read as windows-1252 and much else that looks like no language at all.
3. The language model: a text that fits no language well, and fits one much better when the bytes
   are read in another charset (windows-1251 read as KOI8-R, Central European read as Western).
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from victor_spark.kernels import code_points, letters
from victor_spark.langid import beesley
from victor_spark.langid.normalise import Int32, UInt32, folded, folding_table, joined
from victor_spark.langid.profiles import STEP, Profiles
from victor_spark.langid.settings import Encoding, settings

Bool = npt.NDArray[np.bool_]
UInt8 = npt.NDArray[np.uint8]

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
_LOWEST_ELSEWHERE: Final = 0x2600
"""From here up no charset of _READ_AS has characters: text of such was not read in one."""
_EAST_ASIAN_SHARE: Final = 0.5
_WRONG: Final = 0.03
"""Characters that a charset may lack, and bytes that it may not decode, per character."""
_PIECES: Final = 4


def problem(text: str, profiles: Profiles, points: UInt32 | None = None) -> str | None:
    """Why the text counts as broken, in a few words, or None. `points`: its code points, if at hand."""
    numbers = settings().encoding
    if text.isascii():
        return None
    points = code_points(text) if points is None else points
    counts = np.empty(3, dtype=np.int32)
    letters.census(memoryview(points), memoryview(counts))
    n_replaced, n_controls, n_high = counts.tolist()
    if found := _scan(n_replaced, n_controls, len(points), numbers):
        return found
    if not _worth_a_look(n_high, len(points), numbers):
        return None
    sample = _sample(points, numbers.sample)
    kinds, n_doubtful = _kinds(sample)
    return _badness(sample, kinds, n_doubtful, numbers) or _misread(sample, kinds, profiles)


def _worth_a_look(n_high: int, n_chars: int, numbers: Encoding) -> bool:
    """Whether there are letters enough beyond ASCII for the other two looks to find anything.

    Whatever is misread has characters from U+00C0 up; signs (U+2000 to U+2BFF) stand in any text.
    """
    least = max(numbers.badness_least, min(n_chars, numbers.sample) / numbers.badness_every)
    return n_high >= min(least, numbers.misread_least)


def _scan(n_replaced: int, n_controls: int, n_chars: int, numbers: Encoding) -> str | None:
    if n_replaced + n_controls < max(numbers.scan_least, numbers.scan_ratio * n_chars):
        return None
    return f"{n_replaced} replacement characters and {n_controls} C1 controls in {n_chars} characters"


def _badness(sample: UInt32, kinds: UInt8, n_doubtful: int, numbers: Encoding) -> str | None:
    least = max(numbers.badness_least, len(sample) / numbers.badness_every)
    if n_doubtful < least:  # whatever ftfy finds holds one
        return None
    from ftfy.badness import badness  # most pages in English never need it

    found = badness(_decoded(_words_with(sample, kinds, _DOUBTFUL, _BLANK)) + " ")
    if found < least:
        return None
    return f"{found} unlikely character sequences in {len(sample)} characters"


def _kinds(text: UInt32) -> tuple[UInt8, int]:
    """What each character is, as bits, and how many are doubtful."""
    kinds = np.empty(len(text), dtype=np.uint8)
    return kinds, letters.tell_kinds(memoryview(text), memoryview(folding_table()), memoryview(kinds))


_BLANK, _SPACE, _HIGH, _LETTER, _DOUBTFUL = (1 << bit for bit in range(len(letters.KINDS)))


def _words_with(text: UInt32, kinds: UInt8, wanted: int, space: int) -> UInt32:
    """The words that hold all the kinds wanted, each with the space before it."""
    words = np.empty(len(text), dtype=np.uint32)
    n = letters.words_with(memoryview(text), memoryview(kinds), wanted, space, memoryview(words))
    return words[:n]


def _misread(sample: UInt32, kinds: UInt8, profiles: Profiles) -> str | None:
    """The charsets that explain the words with high characters better than they stand, or None."""
    numbers = settings().encoding
    sample = _enough_high_words(sample, kinds, numbers.misread_sample)
    kinds, _ = _kinds(sample)
    high = sample[(kinds & _HIGH) != 0]
    if len(high) < numbers.misread_least or np.count_nonzero(high >= _LOWEST_ELSEWHERE) > len(high) / 2:
        return None
    n_told = max(int(np.count_nonzero((kinds & _SPACE) == 0)), 1)
    as_it_is = _fit(profiles, sample, np.zeros(1, np.int32), np.array([len(sample)], np.int32))[0] / n_told
    if as_it_is >= numbers.good_fit:
        return None
    readings = list(_other_readings(sample, len(high) > _EAST_ASIAN_SHARE * n_told))
    fits = _fit(profiles, *joined([reading for _, _, reading in readings])) / n_told
    best = int(fits.argmax()) if len(fits) else -1
    if best < 0 or fits[best] < as_it_is + numbers.misread_gain:
        return None
    read_as, written_in, _ = readings[best]
    return f"looks like {written_in} read as {read_as}"


def _enough_high_words(sample: UInt32, kinds: UInt8, length: int) -> UInt32:
    """`_high_words`; in most scripts a small part of the sample has enough of them."""
    some = _high_words(sample[: 2 * length], kinds[: 2 * length], length)
    return some if len(some) == length else _high_words(sample, kinds, length)


def _high_words(sample: UInt32, kinds: UInt8, length: int) -> UInt32:
    """The words with letters and with high characters, so many characters at most."""
    return _words_with(sample, kinds, _HIGH | _LETTER, _SPACE)[:length]


def _decoded(points: UInt32) -> str:
    return points.tobytes().decode("utf-32-le", "surrogatepass")


def _other_readings(points: UInt32, may_be_east_asian: bool) -> Iterator[tuple[str, str, str]]:
    """(read as, written in, text then) for all pairs of charsets that could have happened.

    Not those that turn letters into signs: cutting words shorter makes them likelier everywhere.
    """
    n_letters = sum(map(str.isalpha, _decoded(points)))
    charsets = ["utf-8", *_SINGLE_BYTE, *(_EAST_ASIAN if may_be_east_asian else ())]
    for read_as in _READ_AS:
        numbers = _to_bytes(read_as).take(points, mode="clip")
        numbers = numbers[numbers < _NO_BYTE].astype(np.uint8)
        if len(numbers) < (1 - _WRONG) * len(points):
            continue
        content = numbers.tobytes()
        for written_in in charsets:
            if written_in in _SINGLE_BYTE and np.count_nonzero(_letters(written_in)[numbers]) < n_letters:
                continue
            reading = content.decode(written_in, "replace")
            if reading.count("\ufffd") <= _WRONG * len(reading):
                yield read_as, written_in, reading


_NO_BYTE: Final = 0x100


@cache
def _to_bytes(charset: str) -> npt.NDArray[np.uint16]:
    """The byte that a character was read from, by code point; the last also for all beyond it.

    Bytes the charset leaves undefined are C1 controls, as in browsers.
    """
    table = np.full(_LOWEST_ELSEWHERE, _NO_BYTE, dtype=np.uint16)
    table[:0xA0] = np.arange(0xA0)
    for byte in range(0x80, 0x100):
        table[ord(bytes([byte]).decode(charset, "ignore") or chr(byte))] = byte
    return table


@cache
def _letters(charset: str) -> Bool:
    """Which bytes are letters in a charset of one byte a character."""
    return np.array([bytes([byte]).decode(charset, "replace").isalpha() for byte in range(0x100)])


def _fit(profiles: Profiles, text: UInt32, starts: Int32, ends: Int32) -> Any:
    """Each text's gain in its best language, in nats."""
    gains, _ = beesley.gains(profiles, *folded(text, starts, ends))
    return gains.max(axis=1) * STEP


def _sample(text: UInt32, length: int) -> UInt32:
    """The text, or pieces spread over it, `length` characters in all."""
    if len(text) <= length:
        return text
    starts = [len(text) * piece // _PIECES for piece in range(_PIECES)]
    pieces = [text[start : start + length // _PIECES] for start in starts]
    newline = np.array([ord("\n")], dtype=np.uint32)
    return np.concatenate([part for piece in pieces for part in (piece, newline)][:-1])
