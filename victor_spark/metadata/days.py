"""The days on which a page was published and last changed: as it states them, and as it shows them."""

import re
from collections.abc import Iterable
from datetime import date
from functools import lru_cache, partial
from itertools import accumulate, chain, pairwise, takewhile
from typing import Final

from victor_spark.metadata import dates, evidence
from victor_spark.metadata.statements import Candidates, Statements
from victor_spark.metadata.vocabulary import pattern_of

_LONGEST_LINE: Final = 120
_LONGEST_DATE: Final = 60
_LONGEST_OTHER: Final = 48  # of a line whose day goes before a stated one
_LONGEST_ELEMENT: Final = 80  # that is marked as one with a date
_WORDS_OF_DATE: Final = 4  # the most words in a line of a date alone
_MAX_LABEL_WORDS: Final = 3
_MAX_BELOW_HEADING: Final = 600
WORD: Final = re.compile(r"[^\W_]+")
_DIGIT: Final = re.compile(r"\d")
_YEAR: Final = re.compile(r"\d{4}")
_OFFSET: Final = re.compile(r"[+-](?!00:00)\d\d:\d\d\Z")
_PUBLISHED: Final = re.compile("publish|entry-date|created")
_IN_BRACKETS: Final = re.compile(r"(?<=\S) \([^()]*\)")
"""A date in brackets belongs to something else, as in `Terms of Use (10 Mar 2001)`."""
_updated: Final = partial(pattern_of, "updated", r"\A(?:(?!\d{4}).)*?", re.NOFLAG)
"""Words in lower case, not behind a year, that make the first date of a line that of a change."""
_of_user: Final = partial(pattern_of, "users", r"\W*(?:\S+\s+){0,2}?")
"""The beginning of a line whose date is about a user, such as `Date joined`: at most two words before."""


def published(page: Statements) -> Candidates[str]:
    """The day that the page states, but a different one that it shows beside its heading precedes it."""
    stated = [page.of_works("datePublished"), page.meta("published")]
    stated += map(page.of_works, ("dateCreated", "datePosted", "uploadDate"))
    created = filter(lambda one: one[0].startswith("time datecreated"), page.evidence.times)
    for where, day in _days(page, chain(*stated, created, page.marked(evidence.DATE_ITEM, _LONGEST_ELEMENT))):
        # Earlier days beside a heading are rather those that the text is about.
        shown = [one for one in _days(page, _of_dates(beside(page), _LONGEST_OTHER)) if one[1] >= "2000"]
        is_one = len({own[:10] for _, own in shown}) == 1  # several are rather those of other articles
        if is_one and not any(_agree(own, day) for _, own in shown):
            yield from shown
        yield where, day
    if page.url and (in_address := dates.in_address(page.url)):
        yield "address", in_address
    works_of_other_days = ("json-ld Product", "json-ld Event")  # those of reviews, and of the event
    if not page.works or not page.works[0][0].startswith(works_of_other_days):
        yield from _days(page, _visible_dates(page))


def _agree(shown: str, stated: str) -> bool:
    """Whether days are the same, but for the order of their numbers, or the issue of the next day's paper."""
    later = date.fromisoformat(shown[:10]) - date.fromisoformat(stated[:10])
    is_issue = later.days == 1 and _OFFSET.search(stated) is not None
    return is_issue or {*shown[:10].split("-")} == {*stated[:10].split("-")}


def _of_dates(lines: Iterable[str], longest: int = _LONGEST_DATE) -> Candidates[str]:
    """Those of the lines beside the heading with a date and little more, but not of a change or a tweet."""
    for line in sorted(lines, key=lambda line: sum(map(str.isalpha, WORD.findall(line))) > _WORDS_OF_DATE):
        if len(line) <= longest and not line.startswith("—") and not _updated().search(line.casefold()):
            yield "text by h1", line


@lru_cache(maxsize=1)
def beside(page: Statements) -> dict[str, str]:
    """The lines with a digit beside the heading, those below it first, and the label of each, or "".

    A short line without a digit is the label of the line below it. Dates about a user are left out.
    """
    below, above = page.around
    n_near = sum(start <= _MAX_BELOW_HEADING for start in accumulate(map(len, below), initial=0))
    near = ["", *below[:n_near]]
    found: dict[str, str] = {}
    for before, line in (*pairwise(near), *reversed([*pairwise(["", *above])])):
        if not _DIGIT.search(line):
            continue
        label = "" if _DIGIT.search(before) or len(before.split()) > _MAX_LABEL_WORDS else before
        if not _of_user().match(label) and not _of_user().match(line):
            for part in _parts(line[:_LONGEST_LINE]):
                found.setdefault(_IN_BRACKETS.sub("", part), label)
    return found


def _parts(line: str) -> list[str]:
    """The line, or its parts with the days of publication and of a change, if it states both."""
    years = [*_YEAR.finditer(line)]
    for name in ("updated", "published") if len(years) == 2 else ():
        if second := pattern_of(name).search(line, years[0].end(), years[1].start()):
            return [line[: second.start()], line[second.start() :]]
    return [line]


def _days(page: Statements, candidates: Candidates[str]) -> Candidates[str]:
    """Those of the candidates that are dates, as ISO 8601."""
    for where, text in candidates:
        month_first = "/" in text and page.month_first
        if _DIGIT.search(text) and (day := dates.iso(text, month_first=month_first)) is not None:
            yield where, day


def _visible_dates(page: Statements) -> Candidates[str]:
    yield from (time for time in page.evidence.times if _PUBLISHED.search(time[0]))
    yield from page.marked(evidence.PUBLISH, _LONGEST_ELEMENT)
    lines = beside(page)
    yield from _of_dates(lines)
    yield from (("text by h1", line) for line in lines if not _updated().search(line.casefold()))
    yield from (time for time in page.evidence.times if not _updated().search(time[0]))
    yield from (("text by h1", line) for line in lines)
    yield from page.marked(evidence.DATE, _LONGEST_ELEMENT)


def modified(page: Statements) -> Candidates[str]:
    """The day of the last change: as stated, or else as shown, before other articles; not that of a post."""
    yield from _days(page, chain(page.of_works("dateModified"), page.meta("modified")))
    stated = [time for mark, time in page.evidence.times if _PUBLISHED.search(mark)][:1]
    own = takewhile(lambda time: time[1] in stated or not _PUBLISHED.search(time[0]), page.evidence.times)
    changes = [time for time in own if _updated().search(time[0])]
    lines = beside(page).items()
    changes += (("text by h1", one) for one, label in lines if _updated().search(f"{label} {one}".casefold()))
    if changes and not page.is_thread:
        first = next(published(page), ("", ""))[1][:10]
        yield from (change for change in _days(page, iter(changes)) if change[1][:10] >= first)
