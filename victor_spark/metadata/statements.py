"""Candidates for metadata fields with their sources: from JSON-LD, `meta` elements and marked elements."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from html import unescape
from itertools import chain, islice
from typing import Final, TypeVar
from urllib.parse import urljoin, urlsplit

from victor_spark.hosts import host_name, registered_domain
from victor_spark.metadata import json_ld
from victor_spark.metadata.evidence import ITEM, MAX_VALUE, USER, Evidence, Marked
from victor_spark.metadata.json_ld import Thing
from victor_spark.metadata.vocabulary import vocabulary

T = TypeVar("T")
Candidates = Iterator[tuple[str, T]]
"""Pairs of a source, such as `meta og:title`, and a value; the best first."""

_THREADS: Final = frozenset(("DiscussionForumPosting", "QAPage", "Question"))
_THREAD: Final = re.compile(rb"""itemtype=["']?https?://schema\.org/(?:DiscussionForumPosting|QAPage)\b""")
_BY: Final = re.compile(rb"\bby\s*(?:<[^<>]*>\s*)*\Z")
_MAX_BEFORE_NAME: Final = 300  # bytes
_MAX_WORKS = 5
_MAX_LINES = 16  # below a repeated title, before those below a heading of the site
_MAX_SITES = 20  # the most names of the site that are read


class Statements:
    """The evidence of one page with its JSON-LD read. `url`: the address of the page, where it is known."""

    def __init__(self, evidence: Evidence, url: str | None) -> None:
        self.evidence = evidence
        self.url = url
        things = json_ld.things(evidence.json_ld)
        self._things = [(types, thing) for thing in things if (types := json_ld.types(thing))]
        things.sort(key=lambda thing: ("name" in thing, len(thing)))  # the longest one with an @id is kept
        self._by_id = {name: thing for thing in things if isinstance(name := thing.get("@id"), str)}

    @cached_property
    def works(self) -> list[tuple[str, Thing]]:
        """Sources and things that the page is about: works before pages, first those named like its title."""
        found: list[tuple[str, Thing]] = []
        for kinds in (vocabulary().works, vocabulary().pages):
            own = [one for one in self._things if not kinds.isdisjoint(one[0])]
            if len(own) > 1:
                own.sort(key=lambda one: not self.is_titled(one[1]))
            found += [(source(types), thing) for types, thing in own]
        return found[:_MAX_WORKS]

    def is_titled(self, thing: Thing) -> bool:
        """Whether a thing is named like the page: by one of its titles, or a part of one."""
        name = key(str(thing.get("headline") or thing.get("name") or "")[:MAX_VALUE])
        return bool(name) and any(name in title or title in name for title in self._titles)

    @cached_property
    def _titles(self) -> set[str]:
        og_titles = self.evidence.meta.get("og:title", ())
        titles = {key(title) for title in (*og_titles, self.evidence.title or "")}
        return (self.headings | titles) - {""}

    def named(self, field: str) -> list[tuple[str, list[str]]]:
        """The names of `meta` elements that state a field, the best first, with their contents."""
        meta, names = self.evidence.meta, vocabulary().meta[field]
        return [] if meta.keys().isdisjoint(names) else [(name, meta[name]) for name in names if name in meta]

    def meta(self, field: str) -> Candidates[str]:
        """Contents of the `meta` elements that state a field, the best name first."""
        return ((f"meta {name}", value) for name, values in self.named(field) for value in values)

    def linked(self, relation: str) -> Candidates[str]:
        """Addresses of `link` elements by a relation."""
        return ((f"link {relation}", value) for value in self.evidence.links.get(relation, ()))

    def of_works(self, field: str, inner: str = "name") -> Candidates[str]:
        """Texts of a field of the works; of an object its `inner` field."""
        for name, work in self.works:
            for value in self.texts(work, field, inner):
                yield f"{name}.{field}", value

    def texts(self, thing: Thing, field: str, inner: str) -> Iterator[str]:
        """Texts of a field of one thing."""
        return json_ld.strings(thing.get(field), inner, self._by_id)

    def marked(self, pattern: re.Pattern[str], longest: int) -> Candidates[str]:
        """Texts of elements whose mark matches a pattern, of at most `longest` characters."""
        return ((one.mark, " ".join(lines)) for one, lines in self.elements(pattern, longest))

    def elements(self, pattern: re.Pattern[str], longest: int) -> Iterator[tuple[Marked, list[str]]]:
        """Elements whose mark matches a pattern, and their lines, of at most `longest` characters."""
        for one in self.evidence.marked.get(pattern, ()):
            if pattern is USER and self.evidence.apart(one.start):
                continue
            if 0 < len(" ".join(lines := self.evidence.stated(one))) <= longest:
                yield one, lines

    @cached_property
    def is_thread(self) -> bool:
        """Whether the page states that it is a thread of a forum, or marks the names of several users."""
        return self.states_thread or len([*islice(self.elements(USER, MAX_VALUE), 2)]) > 1

    @cached_property
    def states_thread(self) -> bool:
        """Whether JSON-LD states a thread, or marked authors are users who reply to one."""
        answers = [one.start for one in self.evidence.marked.get(ITEM, ()) if one.mark == "itemprop=author"]
        users = [one.start for one, _ in self.elements(USER, MAX_VALUE)] if len(answers) > 1 else []
        answered = len(users) > len(answers) and users[0] < answers[0]
        return answered or self.is_linked_thread or (bool(answers) and self.evidence.holds(_THREAD))

    @cached_property
    def is_linked_thread(self) -> bool:
        """Whether JSON-LD states a thread."""
        kinds = {kind for types, _ in self._things for kind in types}
        return "FAQPage" not in kinds and not _THREADS.isdisjoint(kinds)

    def is_introduced(self, one: Marked) -> bool:
        """Whether the word `by` stands before an element."""
        return self.evidence.holds(_BY, one.start - _MAX_BEFORE_NAME, one.start)

    def addresses(self, *candidates: Candidates[str]) -> Candidates[str | None]:
        """The candidates as web addresses."""
        return ((where, self._address(value)) for where, value in chain(*candidates))

    def _address(self, value: str) -> str | None:
        """A web address, resolved against the page's; None for any other scheme, or one cut off."""
        if len(value) >= MAX_VALUE:
            return None
        try:
            parts = urlsplit(value)
            if not parts.netloc or not parts.scheme:
                value = urljoin(self.url or "", value)
                parts = urlsplit(value)
        except ValueError:
            return None
        return value if parts.scheme in ("http", "https") else None

    def leads_elsewhere(self, mark: str) -> bool:
        """Whether the mark of a link names another site, where other people are authors."""
        host = host_name(mark.removeprefix("href=")) if mark.startswith("href=http") else None
        return bool(host and self._host and registered_domain(host) != registered_domain(self._host))

    @cached_property
    def _host(self) -> str:
        """The host name in the page's address, without `www.`; "" if the page has no address."""
        return (host_name(self.url) or "").removeprefix("www.")

    def site_names(self) -> Candidates[str]:
        """Names of the site that the page is of."""
        yield from self.meta("site")
        for types, thing in self._things:
            if "WebSite" in types:
                yield from ((f"{source(types)}.name", value) for value in self.texts(thing, "name", "name"))
        yield from self.of_works("publisher")
        yield from self.meta("other_site")

    @cached_property
    def sites(self) -> set[str]:
        """The keys of the site's names, and of its host with and without the domains around it."""
        names = {key(name) for _, name in islice(self.site_names(), _MAX_SITES)}
        upper = self._host.rpartition(".")[0]
        return names | {key(self._host), key(upper), key(upper.rpartition(".")[2])}

    @cached_property
    def organisations(self) -> set[str]:
        """The keys of the names of organisations in JSON-LD."""
        organisations = (thing for types, thing in self._things if types[0].endswith("Organization"))
        return {key(name) for thing in organisations if isinstance(name := thing.get("name"), str)}

    @cached_property
    def headings(self) -> set[str]:
        """The keys of the headings."""
        return {key(heading) for heading in self.evidence.headings} - {""}

    @cached_property
    def around(self) -> tuple[list[str], list[str]]:
        """The lines of text below the longest heading that a title holds, or the first, and above it."""
        og_titles = self.evidence.meta.get("og:title", ())
        stated = "".join(map(key, (*og_titles, self.evidence.title or "")))
        like = [key(heading) if key(heading) in stated else "" for heading in self.evidence.headings]
        first = max(range(len(like)), key=lambda i: len(like[i]), default=0)
        below, above = self.evidence.around(first)
        if first or not self.evidence.repeated:
            return below, above
        further, more = self.evidence.around(1)  # that of the title may be in a list of pages
        return [*below[:_MAX_LINES], *further], [*more, *above]

    @cached_property
    def month_first(self) -> bool:
        """Whether 3/4/2024 is a day of March here, as in the United States."""
        language = (self.evidence.language or "").casefold().replace("_", "-")
        elsewhere = (".uk", ".au", ".nz", ".ie", ".in", ".za")
        return language in ("", "en", "en-us") and not self._host.endswith(elsewhere)


def source(types: Iterable[str]) -> str:
    """The name of the source of a value from a JSON-LD object of these types."""
    return f"json-ld {'/'.join(types)}"


@lru_cache(500)
def key(text: str) -> str:
    """The letters and digits of a name or title, which are the same in all its spellings."""
    return _NOT_IN_KEYS.sub("", unescape(text).casefold())


_NOT_IN_KEYS: Final = re.compile(r"[\W_]+")
