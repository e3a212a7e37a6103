"""Chooses each field's value among its candidates (JSON-LD, `meta`, text); cuts site names off titles."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from html import unescape
from itertools import chain, islice
from typing import Any, Final

from victor_spark.metadata import author_names, days, evidence
from victor_spark.metadata.days import WORD
from victor_spark.metadata.evidence import Evidence, Marked
from victor_spark.metadata.statements import Candidates, Statements, key
from victor_spark.metadata.vocabulary import pattern_of, vocabulary
from victor_spark.words import INVISIBLE

MIN_HEADING_F1: Final = 0.3
"""An `h1` is the title if its F1 with a stated title, by distinct words, is at least this."""
_MIN_OF_HEADING: Final = 0.4  # the least share of a heading that is the title alone
MAX_TAGS: Final = 50
_MAX_NAME_WORDS: Final = 2  # an end of a title with more words is no name of a site
_MAX_BARS: Final = 20  # bars and dashes at which a title may end or begin
_MAX_SITE_NAMES: Final = 3  # the most names of the site that are removed from a title
_MAX_GAP_IN_BYLINE: Final = 150  # bytes between elements with the same mark that name authors of one text
_MAX_GAP_OF_AUTHORS: Final = 1_000  # bytes between the names of authors of one text
_MAX_IN_BYLINE: Final = 5
_LONGEST_NAME: Final = 80
_LONGEST_BYLINE: Final = 120
_visible: Final = partial(re.compile(f"[{INVISIBLE}]+").sub, "")


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of a page; fields that the page does not state are None or ().

    `date`, `date_modified`: ISO 8601, as precise as on the page. `sources`: field → the source of its value.
    """

    title: str | None = None
    authors: tuple[str, ...] = ()
    date: str | None = None
    date_modified: str | None = None
    site_name: str | None = None
    description: str | None = None
    canonical_url: str | None = None
    image: str | None = None
    tags: tuple[str, ...] = ()
    language: str | None = None
    license: str | None = None
    sources: dict[str, str] = field(default_factory=dict)


def metadata(markup: bytes, url: str | None = None, fields: Iterable[str] | None = None) -> Metadata:
    """The metadata of a page from its UTF-8 source; of `fields` alone, where they are given.

    `url`: the page's address; relative addresses need it.
    """
    page = Statements(Evidence(markup), url)
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for name in _FIELDS if fields is None else fields:
        for where, value in _FIELDS[name](page):
            if value:
                values[name] = _visible(value) if isinstance(value, str) else tuple(map(_visible, value))
                sources[name] = where
                break
    days.beside.cache_clear()  # it holds the page
    return Metadata(**values, sources=sources)


def _titles(page: Statements) -> Candidates[str]:
    """A heading that resembles a title in the head; else the titles in the head."""
    stated = [*page.meta("title"), *page.of_works("headline"), *page.meta("other_title")]
    if page.evidence.title:
        stated.append(("title", page.evidence.title))
    boards = _boards(page, {key(title) for where, title in stated if where != "title"})
    distinct = dict.fromkeys(title for _, title in stated)
    shorter = {title: _without_site(page, title, boards) for title in distinct}
    words = [set(WORD.findall(title.casefold())) for title in shorter]
    stated = [(where, shorter[title]) for where, title in stated]
    stated.sort(key=lambda one: key(one[1]) in page.sites)
    same = {key(title) for _, title in stated} - page.sites
    headings = [
        (heading, set(WORD.findall(heading.casefold())))
        for heading in page.evidence.headings
        if key(heading) not in boards
    ]

    def best_f1(own: set[str]) -> float:
        return max((2 * len(own & other) / (len(own) + len(other)) for other in words if other), default=0.0)

    alike = [(best_f1(own), heading) for heading, own in headings if own]
    alike += [(1.0, heading) for heading, own in headings if key(heading) in same]
    f1, heading = max(alike, key=lambda one: one[0], default=(0.0, ""))
    if f1 >= MIN_HEADING_F1:
        where = "text" if heading in page.evidence.repeated else "h1"
        alone = _without_kicker(page, heading, stated)
        yield where, _mended(_without_site(page, alone, boards), stated, page.sites)
    yield from stated
    yield from (("h1", heading) for heading, own in headings if own)


def _without_kicker(page: Statements, heading: str, stated: Iterable[tuple[str, str]]) -> str:
    """The heading without a kicker, a date or the like beside the title, which is then at one of its ends."""
    letters = key(heading)
    ends = {*map(key, page.evidence.ends(heading))} - page.sites - {letters}
    alone = (title for _, title in stated if key(title) in ends)
    return next((title for title in alone if len(key(title)) >= _MIN_OF_HEADING * len(letters)), heading)


def _mended(heading: str, stated: Iterable[tuple[str, str]], sites: set[str]) -> str:
    """The heading with the kicker that `og:title` puts before it, and with its words whole."""
    heading = heading.removeprefix("Title:").lstrip()  # the label of the field, in records of papers
    letters = pattern_of("title_label", r"\A").sub("", heading).replace(" ", "")
    for where, title in stated:
        if title.replace(" ", "") == letters:
            return title
        if where == "meta og:title" and title.endswith(f": {heading}"):
            own = key(title.removesuffix(heading))
            is_site = any(own.startswith(site) or (len(site) > 3 and site in own) for site in sites if site)
            return heading if is_site else title
    return heading


def _boards(page: Statements, stated: set[str]) -> set[str]:
    """The keys of headings that name the site, as of a forum: one end of the `title`, of fewer words."""
    parts = _BARS.split(" ".join(unescape(page.evidence.title or "").split()), _MAX_BARS)
    ends = [(parts[-1], "".join(parts[:-2]))]
    if len(parts) > 2 and "•" in parts[1]:  # a title of an article is rather followed by its site
        ends.append((parts[0], "".join(parts[2:])))
    stated = {*stated, *map(key, page.evidence.repeated)}
    whole = key(page.evidence.title or "")
    sites = page.sites.union(map(key, page.evidence.headings_of_site()))
    return {
        heading
        for heading in page.headings - stated - {whole}
        if heading in sites or any(whole == heading + title for title in stated)
    } | {
        key(own)
        for own, other in ends
        if key(own) in page.headings - stated
        and (
            len(WORD.findall(other)) > min(len(WORD.findall(own)), _MAX_NAME_WORDS)
            or key(other) in page.headings
            or _is_site(own, page.sites)
            or (page.is_thread and pattern_of("forums").search(own) is not None)
        )
        and not _is_site(other, page.sites)
    }


def _without_site(page: Statements, title: str, boards: set[str]) -> str:
    """The title without the name of its site, which stands before or after a bar or a dash."""
    title = " ".join(unescape(title).split()).rstrip("¶ ")
    headings, sites = page.headings - boards, page.sites | boards
    before, _, after = title.partition(": ")
    title = after if key(before) in boards and after else title
    for _ in range(_MAX_SITE_NAMES):
        whole = title
        if key(whole) in headings or (title := _shorter(whole, headings, sites)) == whole:
            break
    return title


def _shorter(title: str, headings: set[str], sites: set[str]) -> str:
    """The title without the part before or after a bar, if that names the site or the rest is a heading."""
    parts = _BARS.split(title, _MAX_BARS)
    last = parts[-1] if key(parts[-1]) in headings else ""
    for bar in range(1, len(parts), 2):
        before, after = "".join(parts[:bar]), "".join(parts[bar + 1 :])
        is_heading = key(before) in headings and len(before) >= len(last)
        if is_heading or _is_site(after, sites) or pattern_of("behind_title").match(after):
            return before
        if key(after) in headings or _is_site(before, sites) or pattern_of("before_title").fullmatch(before):
            return after
    is_cut = not headings and len(parts) == 3 and parts[1] == " | "  # rather by the name of the site
    words = [len(part.split()) for part in parts]
    return parts[0] if is_cut and words[2] <= _MAX_NAME_WORDS < words[0] else title


_BARS: Final = re.compile(f"({evidence.BARS})")


def _is_site(name: str, sites: set[str]) -> bool:
    """Whether a name is a site's, a part of it, or little more than it."""
    own = key(name)
    return any(
        own == site or (len(own) > 3 and own in site) or (site in own and 2 * len(own) <= 3 * len(site))
        for site in sites
        if own and site
    )


def _authors(page: Statements) -> Candidates[tuple[str, ...]]:
    """Persons first; an account, an organisation or the site itself where no person is named."""
    others: list[tuple[str, tuple[str, ...]]] = []
    for where, found in _named_authors(page):
        persons = tuple(
            name
            for name in (_without_employer(page, one) for one in found)  # neither the site's nor a role
            if vocabulary().roles.isdisjoint(name.casefold().split()) and not _is_site(name, page.sites)
        )
        if where.startswith(("json-ld", "meta")):
            keys = {key(name) for name in persons if not _ACCOUNT.match(name) or page.is_thread}
            is_sure = bool(keys - page.organisations) or bool(keys & vocabulary().agencies)
        else:
            is_marked = where.startswith(("itemprop", "rel"))
            is_sure = is_marked or not others or not all(map(author_names.is_short, persons))
        if persons and is_sure:
            yield where, found if vocabulary().agencies.issuperset(map(key, persons)) else persons
        others.append((where, found))
    yield from others


_ACCOUNT: Final = re.compile(r"(?=\S*[a-z])(?![A-Z][a-z]+\Z)[!-~]+\Z")
"""A name of an account, such as `annaB` or `anna.berg`; neither `Anna` nor `AFP` is one."""


def _without_employer(page: Statements, name: str) -> str:
    """The name of a person without the name of the site behind it."""
    words = name.split()
    for n in range(2, len(words)):
        if key(" ".join(words[n:])) in page.sites and author_names.is_full(shorter := " ".join(words[:n])):
            return shorter
    return name


def _named_authors(page: Statements) -> Candidates[tuple[str, ...]]:
    for where, texts in _stated_authors(page):
        names = author_names.authors(texts) or author_names.authors(texts, handles=page.is_thread)
        if page.is_linked_thread and where.startswith("json-ld"):  # names of users, exactly as they are
            names = tuple(text for text in dict.fromkeys(texts) if author_names.authors([text], handles=True))
        yield where, names[: author_names.MAX_AUTHORS]
    users = (evidence.USER,) if page.states_thread else ()
    yield from _marked_authors(page, (*users, evidence.ITEM, evidence.RELATION))
    for pattern in evidence.BYLINES:
        before: Marked | None = None  # the element with the names in `found`, or the last one of them
        found: tuple[str, ...] = ()
        for one, lines in page.elements(pattern, _LONGEST_BYLINE):
            several = "authors" in one.mark or "byline" in one.mark
            own = author_names.of_lines(lines, handles=page.is_thread, several=several)
            is_other = pattern_of("not_authors").search(one.mark) or page.leads_elsewhere(one.mark)
            if is_other or len(own) > _MAX_IN_BYLINE:
                continue
            if before and (one.mark != before.mark or one.start - before.start > _MAX_GAP_IN_BYLINE):
                yield before.mark, found
                found = ()
            before, found = one, (*found, *(name for name in own if name not in found))
        if before:
            yield before.mark, found
    yield from _marked_authors(page, (evidence.USER,))
    below, above = page.around
    language = (page.evidence.language or "")[:2].lower()
    yield from (("text by h1", found) for found in author_names.introduced([*below, "", *above], language))
    yield from ((where, author_names.authors(texts, handles=True)) for where, texts in _stated_authors(page))
    marked = [*islice(page.elements(evidence.BYLINES[2], _LONGEST_NAME), 2)]
    is_sure = len(marked) == 1 or (marked and page.is_introduced(marked[0][0]))
    for one, lines in marked[:1] if is_sure else ():
        is_other = any(pattern_of(name).search(one.mark) for name in ("not_authors", "of_others"))
        if not is_other and not page.leads_elsewhere(one.mark):
            yield one.mark, author_names.of_lines(lines, handles=True)


def _stated_authors(page: Statements) -> Candidates[list[str]]:
    """The authors in JSON-LD, `meta` elements and cards, as they are written."""
    for source, work in page.works:
        for role in filter(work.get, ("author", "creator")):
            yield f"{source}.{role}", list(page.texts(work, role, "name"))
    for name, stated in page.named("author"):
        if name.startswith(("citation", "dc")):  # with the last name first
            names = (name.strip() for one in stated for name in one.split(";"))
            stated = [_FIRST_AND_LAST.sub(r"\2 \1\3", name) for name in names]  # noqa: PLW2901
        yield f"meta {name}", stated
    card = dict(page.named("card"))
    for number in "12" if card else ():
        label = " ".join(card.get(f"twitter:label{number}", ())).casefold()
        if label and any(word in label for word in vocabulary().author_label):
            data = f"twitter:data{number}"
            yield f"meta {data}", card.get(data, [])


_FIRST_AND_LAST: Final = re.compile(
    r"\A((?:[a-z]+ )*[^\s,;]+(?: [^\s,;]+)?), *([^,;]+)(, (?:Jr|Sr|I{2,3})\.?)?\Z"
)


def _marked_authors(page: Statements, patterns: Iterable[re.Pattern[str]]) -> Candidates[tuple[str, ...]]:
    """The names that elements mark as those of users or authors: of the first ones that stand together."""
    for pattern in patterns:
        near: list[tuple[Marked, list[str]]] = []  # those far below are authors of other posts
        for one in page.elements(pattern, _LONGEST_NAME):
            if near and one[0].start - near[-1][0].start > _MAX_GAP_OF_AUTHORS:
                break
            near.append(one)
        handles = page.is_thread
        own = (name for _, lines in near for name in author_names.of_lines(lines, handles=handles))
        if found := author_names.authors(own, handles=handles):
            is_first = len(found) > _MAX_IN_BYLINE or pattern is evidence.USER or page.states_thread
            yield near[0][0].mark, found[:1] if is_first else found


def _tags(page: Statements) -> Candidates[tuple[str, ...]]:
    for name, values in page.named("tags"):
        yield f"meta {name}", _each(values)
    yield "json-ld keywords", _each(value for _, value in page.of_works("keywords"))


def _each(values: Any) -> tuple[str, ...]:
    """The words of lists with commas, semicolons or bars, once each."""
    words = (word.strip() for value in values for word in re.split(r"[,;|，；،؛]", value))
    return tuple(dict.fromkeys(filter(None, words)))[:MAX_TAGS]


_FIELDS: Final[dict[str, Callable[[Statements], Candidates[Any]]]] = {
    "title": _titles,
    "authors": _authors,
    "date": lambda page: chain(days.published(page), days.modified(page)),
    "date_modified": days.modified,
    "site_name": Statements.site_names,
    "description": lambda page: chain(page.meta("description"), page.of_works("description")),
    "canonical_url": lambda page: page.addresses(page.linked("canonical"), page.meta("url")),
    "image": lambda page: page.addresses(
        page.meta("image"), page.of_works("image", "url"), page.of_works("thumbnailUrl", "url")
    ),
    "tags": _tags,
    "language": lambda page: chain(
        [("html lang", page.evidence.language)],
        (one for one in page.meta("language") if pattern_of("language_tags").match(one[1])),
        page.of_works("inLanguage"),
    ),
    "license": lambda page: chain(
        page.addresses(page.linked("license")),
        page.of_works("license", "url"),
        page.addresses(("rel=license", address) for address in page.evidence.licenses),
        page.meta("license"),
    ),
}
"""The candidates for each field of Metadata: a new field is an entry here, and one there."""
