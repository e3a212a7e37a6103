"""Names of authors as pages write them: splits lists, and removes introductions, addresses and handles."""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from html import unescape
from itertools import pairwise
from typing import Final

from victor_spark.metadata.statements import key
from victor_spark.metadata.vocabulary import pattern_of, vocabulary

MAX_AUTHORS: Final = 50
_LONGEST_NAME: Final = 100


def authors(values: Iterable[str], *, handles: bool = False) -> tuple[str, ...]:
    """The names in `values`, each a name or a list of names, once each and in their order.

    `handles`: names such as `tall_ship`, of forums, are names too.
    """
    found: dict[str, str] = {}
    for value in values:
        for name in _apart(value, handles) if len(found) < MAX_AUTHORS else ():
            name = _TWICE.sub(r"\1", name)  # noqa: PLW2901
            found.setdefault(name.casefold(), name)
    return tuple(found.values())[:MAX_AUTHORS]


def of_lines(lines: Iterable[str], *, handles: bool = False, several: bool = False) -> tuple[str, ...]:
    """The names in the first line that holds one, and in those that go on after a comma or `and`.

    With `several`, in all lines if all others are full names.
    """
    found: list[str] = []
    goes_on = True
    lines = list(lines)
    no_names = _other_words()
    begin = next((i for i, line in enumerate(lines) if _introduction().match(f"{line} ")), 0)
    is_list = several and all(
        _PLAIN.fullmatch(line) and line.istitle() and no_names.isdisjoint(line.casefold().rstrip("s").split())
        for line in lines[begin + 1 :]
    )
    for line in lines[begin:]:
        goes_on = goes_on or is_list or _GOES_ON.match(line) is not None
        if found and not goes_on:
            break
        found += _apart(line, handles)
        goes_on = _GOES_ON.search(line[-5:]) is not None or not found
    return authors(found, handles=handles)


def introduced(lines: Iterable[str], language: str = "") -> Iterable[tuple[str, ...]]:
    """The names in lines that begin with `by` or the like, or follow a line of nothing else."""
    of_prose = vocabulary().introduction_of_prose - {*vocabulary().introduction_in.get(language, ())}
    for line, after in pairwise([*lines, ""]):
        if not line.isascii() and (reporter := pattern_of("reporters").match(line)) is not None:
            names = reporter[reporter.lastindex or 0]
            yield authors([names.replace(" ", "、") if "记者" in line else names])
        last_colon = max(line.rfind(":"), line.rfind("："))
        if (label := _label().search(line, 0, last_colon + 1)) is not None:  # of several values in the line
            line = label[1] + _NEXT_LABEL.sub("", line[label.end() :])  # noqa: PLW2901
        begin = _introduction().match(f"{line} ") or _AFTER_DATE.match(line)
        rest = _NEXT_LABEL.sub("", line[begin.end() :] or after) if begin is not None else ""
        if begin is None or begin[0].strip().casefold() in of_prose:
            continue
        if rest[:1].isalnum() and rest[0] == rest[0].title() and len(rest) <= _LONGEST_NAME:
            found = tuple(name for name in authors([rest]) if len(name.split()) <= _MAX_WORDS)
            if found and is_full(found[0]):  # after a comma, one word is the place
                known = vocabulary().agencies
                found = tuple(n for n in found if is_full(n) or key(n) in known or f", {n}" not in rest)
            if found and (" " in found[0] or not found[0].isascii()):
                yield found


_NEXT_LABEL: Final = re.compile(r"(?<=\w)\s+[^\s:：]+\s?[:：].*")
_AFTER_DATE: Final = re.compile(r"(?=.{0,30}\d).{0,40}[\d|·•,]\s+by\s+(?=[^\W\d_a-z])")
_MAX_WORDS: Final = 5
_GOES_ON: Final = re.compile(r"(?:,|\b(?:and|und|et|y|och|og|e)\b|&)\s*")


@lru_cache(500)
def _apart(value: str, handles: bool) -> tuple[str, ...]:
    """The names in a text."""
    words = value.casefold().replace(".", "").split() if _PLAIN.fullmatch(value) else ()
    if words and _other_words().isdisjoint(words) and pattern_of("end_of_name").search(value) is None:
        return (value,)
    found: list[str] = []
    for part in _persons(_between().split(_NO_NAME.sub(" ", unescape(value[:2_000])))):
        end = pattern_of("end_of_name").search(part)
        name = part[: end.start()] if end is not None else part
        name = "" if _LABEL.search(name) else name.strip(_AROUND)
        while (begin := _introduction().match(name)) is not None:
            name = name[begin.end() :].strip(_AROUND)
        name = name if name.isascii() else pattern_of("reporter").sub("", name)
        role = pattern_of("role").search(name)
        if role is not None and len(name.split()) > 3 and is_full(name[: role.start()]):
            name = name[: role.start()]
        if (
            1 < len(name) <= _LONGEST_NAME
            and _NAME.match(name) is not None
            and name.casefold() not in vocabulary().nobody
            and name.casefold() not in vocabulary().introduction
            and (handles or not _HANDLE.fullmatch(name))
        ):
            found.append(" ".join(name.split()))
        if end is not None and found:
            break
    return tuple(found)


def _persons(parts: Iterable[str]) -> Iterable[str]:
    """The parts, cut at a short `and` that has full names around it, unlike that of `Costa e Silva`."""
    for part in parts:
        several = re.split(" [aei] ", part)
        yield from several if len(several) > 1 and all(is_full(one.strip()) for one in several) else [part]


def is_full(name: str) -> bool:
    """Whether a name is like that of a person: two to five words, each with a capital letter first."""
    return _FULL.fullmatch(name) is not None


def is_short(name: str) -> bool:
    """Whether a name in Latin letters is not that of a person with first and last name."""
    return "".join(filter(str.isalpha, name)).isascii() and not is_full(name)


_WORD: Final = r"(?![a-z\d])\w[\w.'’-]*"
_FULL: Final = re.compile(
    rf"(?!(?i:the|my|your|our|an?)\b){_WORD}"
    rf"(?: (?:{_WORD}|d[aeiou]s?|del|of|la|van|von|der|den|bin|al|el|ter|[ye])){{0,3}} {_WORD}"
)
_TWICE: Final = re.compile(r"\A(\S+ \S+|(?![A-Z][a-z]+ )\S+) \1\Z")
_LABEL: Final = re.compile(r"[:：]\s*\Z")
_AROUND: Final = " \t\r\n.,;:|·•●–—-/()[]\"'“”»¿"
_NAME: Final = re.compile(r"(?!\d+(?:st|nd|rd|th)?\b)(?=.*[^\W\d_])[^:：{}%]*\Z")
"""With a letter, not a number first, and without the label of another role, as in `Image: …`."""
_NO_NAME: Final = re.compile(
    r"https?://\S+|www\.\S+|(?<![^\s@])[^\s@]++@[^\s@.]++\.\S+|(?<!\w)@\w+|<[^>]*>|(?:\s|\A)\([^()]*\)"
)
_HANDLE: Final = re.compile(r"\w*_\w*|[a-z]+(?:-[a-z]+)+|\w+(?:\.\w+){2,}")
_PLAIN: Final = re.compile(r"[^\W\d_]{2,20}(?: [^\W\d_]{1,20}\.?){0,2} [^\W\d_]{2,20}")
"""Two to four words: a name as it is, unless one of `_other_words` is in it."""


@cache
def _other_words() -> frozenset[str]:
    """Words that are no part of a name."""
    lists = (vocabulary().introduction, vocabulary().between, vocabulary().nobody)
    words = (word for words in lists for entry in words for word in entry.casefold().split())
    return vocabulary().roles.union(words)


@cache
def _introduction() -> re.Pattern[str]:
    """Words before a name: apart from it by a space or a colon."""
    words = "|".join(re.escape(word) for word in sorted(vocabulary().introduction, key=len, reverse=True))
    return re.compile(rf"\s*(?:{words})(?:\s*[:：/／]\s*|\s+(?:[-–—]\s+)?)(?!(?-i:to)\s)", re.IGNORECASE)


@cache
def _label() -> re.Pattern[str]:
    """An introduction with a colon that means nothing else, such as `author:`, also inside a line."""
    words = vocabulary().introduction - vocabulary().introduction_of_prose
    labels = "|".join(re.escape(word) for word in words if len(word) > 4 or not word.isascii())
    return re.compile(rf"(?:\A|(?<!the)(?<!our)(?<!from)(?<!to)[\s|·•])((?:{labels})\s*[:：])", re.IGNORECASE)


@cache
def _between() -> re.Pattern[str]:
    """The pattern of separators between two names: no comma before a degree, no `En` as in `Zhou En Lai`."""
    forms = {f for w in vocabulary().between for f in (w, w.upper(), w.title() if len(w) > 2 else w)}
    words = f"(?-i:{'|'.join(map(re.escape, forms))})"
    degrees = "|".join(map(re.escape, vocabulary().degrees))
    return re.compile(
        rf"\s*(?:[;|/／•·\n、،]|,?\s(?:{words})\s|,(?!\s*(?:{degrees})\b\.?\s*(?:\Z|[^\w\s]|(?:{words})\b)))\s*",
        re.IGNORECASE,
    )
