"""Reads dates and times as pages write them, and gives them in ISO 8601 with the precision of the page."""

import re
import unicodedata
from datetime import UTC, date, datetime
from functools import cache
from itertools import chain
from typing import Final

from victor_spark.metadata.vocabulary import vocabulary

FIRST_YEAR, LAST_YEAR = 1990, 2100
"""Dates outside these years count as errors of the page."""


def iso(text: str, *, month_first: bool = False) -> str | None:
    """The first date in `text` as YYYY-MM-DD, with the time if one follows; None if there is no date.

    `month_first`: whether 3/4/2024 is the 4th of March, as in the United States.
    """
    if not (text := text[:200]).isascii():
        text = _ERA.sub(
            lambda era: str(_ERAS[era[1]] + int(era[2].replace("元", "1"))), text.translate(_DIGITS)
        )
    for found in chain(_ISO.finditer(text), _COMPACT.finditer(text)):
        if day := _day(found[1], found[2], found[3]):
            return day + (_time(found) if found.re is _ISO else "")
    for found in chain(_NUMBERS.finditer(text), _SHORT.finditer(text)):
        first, second, year = found[1], found[2], found[3]
        if len(year) == _DIGITS_WITHOUT_CENTURY:
            year = ("20" if int(year) <= _LAST_OF_THIS_CENTURY else "19") + year
        if int(second) > 12 or (month_first and found[0].count("/") and int(first) <= 12):
            first, second = second, first
        if day := _day(year, second, first):
            return day
    if (seconds := _SECONDS.fullmatch(text.strip())) is not None:
        stamp = datetime.fromtimestamp(int(seconds[1]), UTC)
        return stamp.isoformat() if FIRST_YEAR <= stamp.year <= LAST_YEAR else None
    return _with_month(text)


def in_address(url: str) -> str | None:
    """The day that the path of an address states (/2024/05/03/, /2024-05-03-, /20240503/)."""
    for pattern in _ADDRESS:
        if (found := pattern.search(url[:2000])) is not None and (day := _day(found[1], found[2], found[3])):
            return day
    return None


_DIGITS: Final = {
    point: str(unicodedata.decimal(chr(point)))
    for point in range(0x80, 0x10000)
    if unicodedata.category(chr(point)) == "Nd"
}
"""The digits of other scripts: Arabic, Devanagari, Thai and more."""
_ERAS: Final = {"令和": 2018, "平成": 1988, "民國": 1911, "民国": 1911}  # the years before eras in East Asia
_ERA: Final = re.compile(rf"({'|'.join(_ERAS)})\s?(\d{{1,3}}|元)(?=\s?年)")
_MAX_ZONE_HOURS: Final = 15  # the offset of a time zone has fewer hours than this
_ISO: Final = re.compile(
    r"(?<!\d)(\d{4})\s?[-/.年년]\s?(\d{1,2})\s?[-/.月월]\s?(\d{1,2})(?!\d)"
    r"(?:[일日]?[T ,]+(\d{1,2}):(\d\d)(?::(\d\d))?(?:[.,]\d+)?(?:\s?([AaPp])\.?[Mm]\b)?"
    r"\s?(Z|[+-]\d\d:?\d\d)?)?"
)
_COMPACT: Final = re.compile(r"(?<!\d)((?:19|20)\d\d)([01]\d)([0-3]\d)(?=T\d|\b|\d{6}\b)")
_NUMBERS: Final = re.compile(r"(?<![\d.])(\d{1,2})[./-]\s?(\d{1,2})[./-]\s?(\d{4})(?!\d)")
_SHORT: Final = re.compile(r"(?<![\d.:/-])(\d\d)(?:/|\.(?=0\d|1[0-2]))(\d\d)[./](\d\d)(?![\d.:/-])")
"""With two digits for the year; the month is the second number, unless slashes are between."""
_DIGITS_WITHOUT_CENTURY: Final = 2
_LAST_OF_THIS_CENTURY: Final = 68  # as in Python and POSIX
_SECONDS: Final = re.compile(r"(\d{10})(?:\d{3})?")
_ADDRESS: Final = (
    re.compile(r"/(\d{4})[/-](\d{1,2})[/-](\d{1,2})(?=\D|\Z)"),
    re.compile(r"[/_-]t?((?:19|20)\d\d)[/-]?([01]\d)-?([0-3]\d)(?=\D|\Z)"),
)


def _day(year: str, month: str, day: str) -> str | None:
    try:
        is_of_iran = _FIRST_OF_IRAN <= int(year) <= _LAST_OF_IRAN
        found = (_of_iran if is_of_iran else date)(int(year), int(month), int(day))
    except ValueError:
        return None
    return found.isoformat() if FIRST_YEAR <= found.year <= LAST_YEAR else None


def _of_iran(year: int, month: int, day: int) -> date:
    """The day of a date in Iran's calendar: years begin in March, 8 of 33 are leap years."""
    if not (1 <= month <= 12 and 1 <= day <= 31):
        raise ValueError
    days = 365 * year + (8 * year + 21) // 33 + 31 * (month - 1) - max(month - 7, 0) + day
    return date.fromordinal(days + 226_529)


_FIRST_OF_IRAN, _LAST_OF_IRAN = 1370, 1410
"""Years of Iran's calendar, 1991 to 2031 of ours; later ones are rather years of the Islamic calendar."""


def _time(found: re.Match[str]) -> str:
    if found[4] is None:
        return ""
    hours, minutes, seconds = int(found[4]), int(found[5]), int(found[6] or 0)
    half = (found[7] or "").lower()
    if half and 1 <= hours <= 12:
        hours = hours % 12 + 12 * (half == "p")
    if hours > 23 or minutes > 59 or seconds > 59:
        return ""
    time, zone = f"T{hours:02}:{minutes:02}:{seconds:02}", (found[8] or "").replace("Z", "+00:00")
    is_zone = zone and int(zone[1:3]) < _MAX_ZONE_HOURS and int(zone[-2:]) < 60
    return f"{time}{zone[:3]}:{zone[-2:]}" if is_zone else time


def _with_month(text: str) -> str | None:
    """A date with the month's name: `3 May 2024`, `May 3rd, 2024`, `3. května 2024`, `3 de mayo de 2024`."""
    for found in _YEAR.finditer(text):
        before, after = text[: found.start()][-40:].casefold(), text[found.end() :][:40].casefold()
        year = str(int(found[1]) - _BUDDHIST) if found[1][:2] == "25" else found[1]
        for pattern, names, days in ((_DAY_MONTH, 2, 1), (_MONTH_DAY, 1, 2), (_AFTER_YEAR, 1, 2)):
            day = pattern.match(after) if pattern is _AFTER_YEAR else pattern.search(before)
            month = _month(day[names]) if day is not None else None
            if day is not None and month and (month > 12) == (year[:2] in ("13", "14")):  # of Iran
                return _day(year, str((month - 1) % 12 + 1), day[days])
    return None


_YEAR: Final = re.compile(r"(?<!\d)((?:19|20|25|1[34])\d\d)(?!\d)")
_BUDDHIST: Final = 543  # years in Thailand count from 543 BC
_WORD: Final = r"(?:[^\s\d,.،/()\[\]\"'’|:_-]{2,}|[ก-๙]{1,2}\.[ก-๙]\b|tháng \d{1,2})"
"""The name of a month: letters and marks (as in Devanagari), an abbreviation of Thai, or a number."""
_DAY_MONTH: Final = re.compile(
    r"(?<!\d)(?<!volume )(?<!vol\. )(?<!issue )(?<!no\. )(?<!nr\. )(?<!№ )"
    r"(\d{1,2})(?:st|nd|rd|th|er|º|ος|η|\.)?[\s,-]*(?:de |d['’]|of |ta' )?\s*"
    rf"({_WORD}(?:(?:[ /]| / ){_WORD})?)\.?[\s,،'-]*(?:de |del |г|năm )?\s*\Z"
)
_MONTH_DAY: Final = re.compile(
    rf"({_WORD})\.?\s+(\d{{1,2}})(?:st|nd|rd|th|er|\.)?\s*[,،]?\s*(?:at\s|\d\d:\d\d:\d\d\s(?:\S{{1,5}}\s)?)?\Z"
)
_AFTER_YEAR: Final = re.compile(
    rf"\.?\s+(?:m\.\s)?((?!des\b){_WORD})\.?\s+(\d{{1,2}})(?!\d)(?=\s*(?:[.,;:()|\d]|d\.|\Z))"
)
"""As in Hungary, and in journals: 2024 May 3; not as in `2024 des 10 villes`."""


def _month(word: str) -> int | None:
    """The month with this name, also before another word (`أيار/مايو`), or with its longest beginning."""
    beginnings = (f"{word[:n]}-" for n in range(min(len(word), _LONGEST_MONTH), 1, -1))
    names = (word, re.sub(r"[ /]+[^ /]+\Z", "", word), *beginnings)
    return next(filter(None, map(_months().get, names)), None)


_LONGEST_MONTH: Final = 14


@cache
def _months() -> dict[str, int]:
    numbered = enumerate(vocabulary().months, start=1)
    return {name.casefold(): number for number, names in numbered for name in names}
