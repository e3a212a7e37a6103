"""Names of authors as pages write them: lists apart, without introductions, addresses and handles."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from victor_spark.metadata.vocabulary import vocabulary

MAX_AUTHORS: Final = 50
_LONGEST: Final = 100


def authors(values: Iterable[str]) -> tuple[str, ...]:
    """The names in `values`, each a name or a list of names, once each and in their order."""
    found: dict[str, str] = {}
    for value in values:
        for name in _apart(value):
            key = name.casefold()
            if key not in found and len(found) < MAX_AUTHORS:
                found[key] = name
    return tuple(found.values())


def behind_introduction(line: str) -> str | None:
    """What follows `by` or the like in a line; "" where nothing does, None where the line begins otherwise."""
    if line.rstrip(" :").casefold() in vocabulary().introduction:
        return ""
    found = _introduction().match(line)
    if found is None or len(line) > _LONGEST or not _CAPITALS.match(line, found.end()):
        return None
    return line[found.end() :]


_CAPITALS: Final = re.compile(r"(?=(?:\S+\s){0,12}\S*\Z)[^\W\d_]*[^\Wa-z\d_][\w.'’-]*(?:\s+\w{1,3})?(?:\s+[^\Wa-z\d_]|[\s,.]*\Z)|\w+\Z")


def _apart(value: str) -> Iterable[str]:
    words = value.casefold().replace(".", "").split() if _PLAIN.fullmatch(value) else ()
    if words and _other_words().isdisjoint(words) and _TIME.search(value) is None:
        yield value
        return
    value = _NO_NAME.sub(" ", value[:2_000])
    if (behind := _TIME.search(value)) is not None:
        value = value[: behind.start()]
    if (introduced := _introduction().match(value)) is not None:
        value = value[introduced.end() :]
    for part in _between().split(value):
        name = part.strip(" \t\r\n.,;:|·•–—-/()[]\"'“”")
        if (introduced := _introduction().match(name)) is not None:
            name = name[introduced.end() :].strip()
        if (
            name
            and len(name) <= _LONGEST
            and any(c.isalpha() for c in name)
            and not name[0].isdigit()
            and name.casefold() not in vocabulary().nobody
            and name.casefold() not in vocabulary().introduction
            and not _HANDLE.fullmatch(name)
        ):
            yield " ".join(name.split())


_NO_NAME: Final = re.compile(r"https?://\S+|www\.\S+|(?<![^\s@])[^\s@]++@[^\s@.]++\.\S+|(?<!\w)@\w+|<[^>]*>")
_HANDLE: Final = re.compile(r"\w*_\w*|[a-z]+(?:-[a-z]+)+|\w+(?:\.\w+){2,}")
_VERBS: Final = (
    "wrote|writes|said|says|posted|replied|commented|napsala?|píše|schreibt|schrieb|escribió|escribe|dijo"
    "|escreveu|disse|skrev|schreef|napisała?|пишет|написала?|(?:a|ha) (?:écrit|dit|scritto|detto)(?! par| da)"
)
_TIME: Final = re.compile(
    r"\b(?:\d{1,2}[.:/-]\d{1,2}|\d{4}|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d{1,2}"
    r"|Posted|Published|Updated|Last updated)\b"
    rf"|(?<=\s)(?:\d|(?-i:{_VERBS})\b)",
    re.IGNORECASE,
)
"""What follows a name in a byline: a word that begins with a digit, a verb (not `Said`, a name)."""


_PLAIN: Final = re.compile(r"[^\W\d_]{2,20}(?: [^\W\d_]{1,20}\.?){0,2} [^\W\d_]{2,20}")
"""Two to four words: a name as it is, unless one of `_other_words` is in it."""


@cache
def _other_words() -> frozenset[str]:
    """Words that are no part of a name."""
    lists = (vocabulary().introduction, vocabulary().between, vocabulary().nobody)
    return frozenset(word for words in lists for entry in words for word in entry.casefold().split())


@cache
def _introduction() -> re.Pattern[str]:
    """Words before a name: apart from it by a space or a colon."""
    words = "|".join(re.escape(word) for word in sorted(vocabulary().introduction, key=len, reverse=True))
    return re.compile(rf"\s*(?:(?:{words})\s*[:：/／]\s*|(?:{words})\s+)", re.IGNORECASE)


@cache
def _between() -> re.Pattern[str]:
    """What stands between two names; a comma before an academic degree does not."""
    words = "|".join(map(re.escape, vocabulary().between))
    degrees = "|".join(map(re.escape, vocabulary().degrees))
    return re.compile(rf"\s*(?:[;|/•·\n、]|,?\s(?:{words})\s|,(?!\s*(?:{degrees})\b))\s*", re.IGNORECASE)
