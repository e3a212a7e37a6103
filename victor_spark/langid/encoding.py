"""Detects text that was decoded with the wrong charset, by three checks, the cheapest first.

1. U+FFFD and C1 controls: bytes of a legacy charset read as UTF-8, and undefined bytes of windows-1252.
2. `ftfy.badness`: UTF-8 read as windows-1252, and other sequences that are unlikely in any language.
3. The language model: a text that fits no language well, but fits one much better when its bytes are read in
   another charset (windows-1251 read as KOI8-R, Central European read as Western).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import Bool, Int32, UInt8, UInt32
from victor_spark.kernels import code_points, letters, num, text_of, views
from victor_spark.langid import identify, repair, scores
from victor_spark.langid.normalise import folding_table, joined
from victor_spark.langid.profiles import STEP, Profiles
from victor_spark.langid.repair import CONTROLS, EAST_ASIAN, MIN_MISREAD, TWICE, Misreading
from victor_spark.langid.settings import Encoding, settings

_READ_AS: Final = (
    *("windows-1252", "windows-1251", "koi8-r", "windows-1250"),
    *("iso8859-2", "iso8859-5", "cp866", "iso8859-15"),
)
"""Charsets that web pages are decoded in by mistake."""
_SINGLE_BYTE: Final = (
    *("windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1255"),
    *("windows-1256", "windows-1257", "iso8859-2", "iso8859-5", "koi8-r", "cp866", "cp874"),
)
_LOWEST_ELSEWHERE: Final = 0x2600
"""No charset of _READ_AS has characters from here on; text with such characters was not read in one."""
_EAST_ASIAN_SHARE: Final = 0.5
"""The least share of high characters in misread East Asian text."""
_WRONG_RATIO: Final = 0.03
"""Tolerated ratio of characters that a charset lacks, and of bytes that it cannot decode."""
_N_PIECES: Final = 4
"""The number of pieces in the sample of a long text."""


class Finding(NamedTuple):
    """A problem with the charset of a text.

    `misreading`: the repair of the text, if there is one. `problem`: the reason why it cannot be read.
    `lost`: the share of lost letters in a text that can still be read.
    """

    problem: str | None = None
    misreading: Misreading | None = None
    lost: float = 0.0


def examined(text: str, profiles: Profiles, points: UInt32) -> Finding:
    """The problem with the charset of a page's text, if there is one."""
    if text.isascii():
        return Finding()
    n_replaced, n_controls, n_high, n_twice, n_begun = _census(points)
    possible = repair.whole(text) if n_begun >= MIN_MISREAD else []
    in_parts = repair.parts(text, everywhere=TWICE in possible) if n_twice or TWICE in possible else None
    misreading = None
    if TWICE not in possible or in_parts == TWICE:
        misreading = _best(possible, text, profiles)
    if n_twice and not misreading:
        misreading = in_parts
    if n_controls and not misreading and repair.again(text, CONTROLS) != text:
        misreading = CONTROLS
    if misreading:
        return Finding(misreading=misreading)
    found = _verdict(points, profiles, n_replaced + n_controls, n_high)
    if found.problem is None:
        return found
    if found.misreading and problem(repair.again(text, found.misreading), profiles) is None:
        return Finding(misreading=found.misreading)
    few = n_controls + n_high < settings().encoding.lost_signs_ratio * len(points)
    if few and identify.page(points, profiles).language in _ASCII:
        return Finding(lost=found.lost)
    return Finding(found.problem)


def _best(possible: Sequence[Misreading], text: str, profiles: Profiles) -> Misreading | None:
    """The misreading whose repair fits a language best; None if the unchanged text fits better."""
    if not possible or possible == [TWICE]:
        return next(iter(possible), None)
    numbers = settings().encoding

    def gain(text: str) -> float:
        sample = _sample(code_points(text), numbers.sample)
        return _gain(profiles, _high_words(sample, _kinds(sample)[0], numbers.misread_sample))

    gains = {misreading: gain(repair.again(text, misreading)) for misreading in possible}
    best = max(gains, key=gains.__getitem__)
    return best if gains[best] > gain(_SIGNS.sub("", text)) else None


_SIGNS: Final = re.compile(r"[^\w\s\0-\x7f]+")
"""Removed before the fit is measured: they split misread words, and single letters fit some language."""


def problem(text: str, profiles: Profiles) -> str | None:
    """Why the unchanged text counts as broken, or None."""
    if text.isascii():
        return None
    points = code_points(text)
    n_replaced, n_controls, n_high, *_ = _census(points)
    return _verdict(points, profiles, n_replaced + n_controls, n_high).problem


def _census(points: UInt32) -> list[int]:
    counts = np.empty(5, dtype=np.int32)
    letters.census(*views(points, repair.beginnings(), counts))
    return counts.tolist()


def _verdict(points: UInt32, profiles: Profiles, n_lost: int, n_high: int) -> Finding:
    """The problem with the unchanged text."""
    numbers = settings().encoding
    lost = n_lost / (np.count_nonzero(_kinds(points)[0] & _LETTER) + n_lost) if n_lost else 0.0
    if n_lost >= numbers.lost_least and lost >= numbers.lost_ratio:
        return Finding(f"{lost:.0%} of the letters are lost", lost=lost)
    few = max(numbers.badness_least, min(len(points), numbers.sample) / numbers.badness_every)
    if n_high < min(few, numbers.misread_least):  # misread text has letters from U+00C0 on
        return Finding(lost=lost)
    sample = _sample(points, numbers.sample)
    kinds, n_doubtful = _kinds(sample)
    found = _badness(sample, kinds, n_doubtful, numbers)
    if found and len(sample) < len(points):
        found = _badness(points, *_kinds(points), numbers)
        if not found:
            return Finding(lost=lost)
    misreading, is_good = _misreading(sample, kinds, profiles, 0.0 if found else numbers.good_fit)
    if misreading is None:
        return Finding(found, lost=lost)
    reason = found or f"looks like {misreading.written_in} read as {misreading.read_as}"
    return Finding(reason, misreading if is_good else None)


_ASCII: Final = frozenset({"en"})
"""Languages written in ASCII: their text can be read where few characters are lost or misread."""


def _badness(sample: UInt32, kinds: UInt8, n_doubtful: int, numbers: Encoding) -> str | None:
    least = max(numbers.badness_least, len(sample) / numbers.badness_every)
    if n_doubtful < least:  # every match of ftfy holds one
        return None
    from ftfy.badness import badness  # most pages in English do not need it

    found = badness(text_of(_words_with(sample, kinds, _DOUBTFUL, _BLANK)) + " ")
    return f"{found} unlikely character sequences in {len(sample)} characters" if found >= least else None


def _kinds(text: UInt32) -> tuple[UInt8, int]:
    """The kind of each character, as bits, and the number of doubtful ones."""
    kinds = np.empty(len(text), dtype=np.uint8)
    return kinds, letters.tell_kinds(*views(text, folding_table(), kinds))


_BLANK, _SPACE, _HIGH, _LETTER, _DOUBTFUL = (1 << bit for bit in range(len(num.LOOKS)))


def _words_with(text: UInt32, kinds: UInt8, wanted: int, space: int) -> UInt32:
    """The words that contain all wanted kinds, each with the space before it."""
    words = np.empty(len(text), dtype=np.uint32)
    n = letters.words_with(*views(text, kinds), wanted, space, *views(words))
    return words[:n]


def _misreading(
    sample: UInt32, kinds: UInt8, profiles: Profiles, good_fit: float
) -> tuple[Misreading | None, bool]:
    """The charsets in which the words with high characters fit a language better, or None; and whether they
    then fit as well as ordinary text, so that the text can be repaired.
    """
    numbers = settings().encoding
    n_letters = np.count_nonzero(kinds & _LETTER)
    if good_fit and np.count_nonzero(kinds & _HIGH) < numbers.lost_ratio * n_letters:
        return None, False
    words = _high_words(sample, kinds, numbers.misread_sample)
    high = words[(_kinds(words)[0] & _HIGH) != 0]
    if (
        len(high) < numbers.misread_least
        or np.count_nonzero(high >= _LOWEST_ELSEWHERE) > len(high) / 2
        or (good_fit and _gain(profiles, words) >= good_fit)
    ):
        return None, False
    # Each word once: one that is repeated everywhere is no further evidence.
    by_letters = {"".join(filter(str.isalpha, word)): word for word in text_of(words).split()}
    distinct = code_points(" ".join(by_letters.values()))
    content = _contents(distinct)
    if not content:
        return None, False
    n_characters = _n_characters(distinct)
    may_be_east_asian = len(high) > _EAST_ASIAN_SHARE * n_characters
    as_it_is = _gain(profiles, distinct)
    others = _other_readings(content, sum(map(len, by_letters)), may_be_east_asian)
    if (good_fit and as_it_is >= good_fit) or not (readings := list(others)):
        return None, False
    fits = _fit(profiles, *joined([reading for _, reading in readings]))
    if fits.max() / n_characters < as_it_is + numbers.misread_gain:
        return None, False
    by_character = fits / [_n_characters(code_points(reading)) for _, reading in readings]
    as_good = np.flatnonzero(by_character >= by_character.max() - numbers.misread_gain)
    best = max(as_good, key=lambda place: (sum(map(str.isalpha, readings[place][1])), by_character[place]))
    misreading = readings[best][0]
    least = numbers.repaired_fit_wide if misreading.written_in in _SHORT_WORDS else numbers.repaired_fit
    return misreading, bool(by_character[best] >= least)


_SHORT_WORDS: Final = frozenset({*EAST_ASIAN, "cp874"})
"""Charsets of languages with few letters per word, which fit their profiles less well than others."""


def _gain(profiles: Profiles, text: UInt32) -> float:
    """The text's gain in its best language, in nats per character without spaces."""
    fits = _fit(profiles, text, np.zeros(1, np.int32), np.array([len(text)], np.int32))
    return float(fits[0] / _n_characters(text))


def _n_characters(text: UInt32) -> int:
    return max(int(np.count_nonzero((_kinds(text)[0] & _SPACE) == 0)), 1)


def _high_words(sample: UInt32, kinds: UInt8, length: int) -> UInt32:
    """The words with letters and with high characters, at most `length` characters."""
    return _words_with(sample, kinds, _HIGH | _LETTER, _SPACE)[:length]


def _contents(points: UInt32) -> dict[str, UInt8]:
    """The bytes that a text may have been decoded from, by the charset it was read in."""
    bytes_in = _to_bytes().take(points, axis=1, mode="clip")
    n_bytes = np.count_nonzero(bytes_in < _NO_BYTE, axis=1)
    return {
        _READ_AS[place]: bytes_in[place][bytes_in[place] < _NO_BYTE].astype(np.uint8)
        for place in np.flatnonzero(n_bytes >= (1 - _WRONG_RATIO) * len(points)).tolist()
    }


def _other_readings(
    contents: Mapping[str, UInt8], n_letters: int, may_be_east_asian: bool
) -> Iterator[tuple[Misreading, str]]:
    """All possible pairs of charsets with the text they give.

    Pairs that turn letters into signs are left out: shorter words fit every language better.
    """
    charsets = ["utf-8", *_SINGLE_BYTE, *(EAST_ASIAN if may_be_east_asian else ())]
    for read_as, numbers in contents.items():
        content = numbers.tobytes()
        for written_in in charsets:
            if written_in in _SINGLE_BYTE and read_as == "iso8859-15":
                continue
            if written_in in _SINGLE_BYTE and np.count_nonzero(_letters(written_in)[numbers]) < n_letters:
                continue
            reading = content.decode(EAST_ASIAN.get(written_in, written_in), "replace")
            if reading.count("\ufffd") <= _WRONG_RATIO * len(reading):
                yield Misreading(read_as, written_in), reading


_NO_BYTE: Final = 0x100


@cache
def _to_bytes() -> npt.NDArray[np.uint16]:
    """The byte of each character in each of _READ_AS; later characters have the values of the last column."""
    table = np.full((len(_READ_AS), _LOWEST_ELSEWHERE), _NO_BYTE, dtype=np.uint16)
    table[:, :0xA0] = np.arange(0xA0)
    for row, charset in zip(table, _READ_AS, strict=True):
        for point, byte in repair.bytes_of(charset).items():
            row[point] = byte
    return table


@cache
def _letters(charset: str) -> Bool:
    """Which bytes are letters in a single-byte charset."""
    return np.array([bytes([byte]).decode(charset, "replace").isalpha() for byte in range(0x100)])


def _fit(profiles: Profiles, text: UInt32, starts: Int32, ends: Int32) -> Any:
    """Each text's gain in its best language, in nats."""
    gains, _ = scores.gains(profiles, text, starts, ends)
    return gains.max(axis=1) * STEP


def _sample(text: UInt32, length: int) -> UInt32:
    """The text, or evenly spread pieces of it, `length` characters in total."""
    if len(text) <= length:
        return text
    starts = [len(text) * piece // _N_PIECES for piece in range(_N_PIECES)]
    pieces = [text[start : start + length // _N_PIECES] for start in starts]
    newline = np.array([ord("\n")], dtype=np.uint32)
    return np.concatenate([part for piece in pieces for part in (piece, newline)][:-1])
