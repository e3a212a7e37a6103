"""Sites of clean texts with injected templates: the share that is removed, and the clean text that is lost.

The texts are gold texts of unrelated pages; the templates are invented here, another set for every
site, with dates, times, numbers, addresses and session ids that change from page to page.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from victor_spark.blocks import Bool, Int32
from victor_spark.templates.matcher import Matcher
from victor_spark.templates.mine import MiningSettings, mine

_SYLLABLES: Final = (
    *("ka", "lom", "mi", "ret", "tu", "vas", "sen", "dor", "pel", "nim", "gra"),
    *("fis", "bo", "lun", "che", "zan", "ort", "em", "ul", "sti"),
)
_MONTHS: Final = ("January", "February", "March", "April", "May", "June", "July", "August", "September")
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True)
class Site:
    """Pages as texts; for each character whether it was injected."""

    texts: tuple[str, ...]
    injected: tuple[Bool, ...]


@dataclass(frozen=True, slots=True)
class Recovery:
    """Tokens of all pages: those injected, and of them removed; those clean, and of them lost."""

    n_injected: int
    n_removed: int
    n_clean: int
    n_lost: int

    def __add__(self, other: "Recovery") -> "Recovery":
        return Recovery(
            self.n_injected + other.n_injected,
            self.n_removed + other.n_removed,
            self.n_clean + other.n_clean,
            self.n_lost + other.n_lost,
        )


def site(texts: Sequence[str], seed: int, *, everywhere: bool) -> Site:
    """A site with one page for each text, and templates of its own.

    Unless they are `everywhere`, one of two lines stands inside four texts in five, and a section's menu
    below seven in ten.
    """
    dice = random.Random(seed)
    places = _Places(dice, everywhere=everywhere)
    pages = [places.around(text.split("\n")) for text in texts]
    whole, injected = [], []
    for page in pages:
        whole.append("".join(f"{line}\n" for line, _ in page))
        injected.append(np.repeat([is_new for _, is_new in page], [len(line) + 1 for line, _ in page]))
    return Site(tuple(whole), tuple(injected))


class _Places:
    """The templates of one site, and their places around a text."""

    def __init__(self, dice: random.Random, *, everywhere: bool) -> None:
        self._dice, self._everywhere = dice, everywhere
        name = self._name()
        menu = [self._name() for _ in range(dice.randint(5, 14))]
        self._top = [name, *menu, "Sign in or register", "%A, %d %B %Y %H:%M GMT", "Search this site:"]
        self._byline = dice.choice(
            (
                f"Posted by {self._name()} desk on %A, %B %d, %Y at %H:%M | %n comments",
                f"{name} / %d.%m.%Y %H:%M / read %n times",
                "Last updated: %Y-%m-%d %H:%M:%S (%n views)",
                f"By our own correspondents, {name}, %d %B %Y",
            )
        )
        self._inside = [
            f"Read also: more stories about {self._name()} (%n)",
            f"Advertisement - {self._name()}",
        ]
        self._end = [
            "Print this page",
            "Share this story with your friends",
            "Permanent link: http://www.%h.example/story.php?id=%n&sid=%s",
            f"session %s expires after %n minutes, {self._name()}",
            "Write to us: %s@%h.example or call %n",
        ]
        self._section = ["More from this section", *(self._name() for _ in range(dice.randint(2, 6)))]
        self._foot = [
            f"© {name} %Y. All rights reserved. No part of these pages may be copied unless we agree.",
            "About us | Advertise | Contact | Privacy",
            "Page made in %n.%n seconds",
        ]

    def around(self, lines: Sequence[str]) -> list[tuple[str, bool]]:
        """Lines of one page, and whether each was injected."""
        fill = _Filler(self._dice)
        middle = len(lines) // 2
        inside, section = self._inside[:1], self._section
        if not self._everywhere:
            inside = [self._dice.choice(self._inside)] if self._dice.random() < 0.8 else []
            section = section if self._dice.random() < 0.7 else []
        parts = [
            ([fill(line) for line in self._top], True),
            (lines[:1], False),
            ([fill(self._byline)], True),
            (lines[1:middle], False),
            ([fill(line) for line in inside], True),
            (lines[max(1, middle) :], False),
            ([fill(line) for line in (*self._end, *section, *self._foot)], True),
        ]
        return [(line, is_new) for part, is_new in parts for line in part]

    def _name(self) -> str:
        """One to three invented words."""
        return " ".join(
            "".join(self._dice.choices(_SYLLABLES, k=self._dice.randint(2, 4))).capitalize()
            for _ in range(self._dice.randint(1, 3))
        )


class _Filler:
    """Puts one page's dates, numbers and ids into templates."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._own = {
            "%A": dice.choice(_DAYS),
            "%B": dice.choice(_MONTHS),
            "%Y": str(dice.randint(1999, 2024)),
            "%m": f"{dice.randint(1, 12):02}",
            "%d": f"{dice.randint(1, 28):02}",
            "%H": f"{dice.randint(0, 23):02}",
            "%M": f"{dice.randint(0, 59):02}",
            "%S": f"{dice.randint(0, 59):02}",
            "%h": "".join(dice.choices(_SYLLABLES, k=3)),
        }

    def __call__(self, line: str) -> str:
        """The line with this page's values; each number and each session id is another one."""
        for key, value in self._own.items():
            line = line.replace(key, value)
        while "%n" in line:
            line = line.replace("%n", str(self._dice.randint(0, 9999)), 1)
        while "%s" in line:
            line = line.replace("%s", "".join(self._dice.choices("0123456789abcdef", k=24)) + "7e", 1)
        return line


SIZES: Final = (3, 5, 7, 10, 15, 20, 30, 50, 100, 200, 500)
"""Pages a site, in the curve."""


@dataclass(frozen=True, slots=True)
class Point:
    """All sites of one size together, and the worst of them; shares of tokens."""

    n_pages: int
    everywhere: bool
    n_sites: int
    removed: float
    lost: float
    least_removed: float
    most_lost: float


def curve(texts: Sequence[str], sizes: Sequence[int] = SIZES, least_sites: int = 5) -> Iterator[Point]:
    """Points by pages a site, templates on all pages and on some; sizes up to that of `texts`."""
    for n_pages in (size for size in sizes if size <= len(texts)):
        n_sites = min(40, max(least_sites, 400 // n_pages))
        for everywhere in (True, False):
            found = [
                recovery(site(random.Random(seed).sample(texts, n_pages), seed, everywhere=everywhere))
                for seed in range(n_sites)
            ]
            yield _point(n_pages, everywhere, found)


def _point(n_pages: int, everywhere: bool, found: Sequence[Recovery]) -> Point:
    total = sum(found, Recovery(0, 0, 0, 0))
    return Point(
        n_pages,
        everywhere,
        len(found),
        removed=total.n_removed / total.n_injected,
        lost=total.n_lost / total.n_clean,
        least_removed=min(each.n_removed / each.n_injected for each in found),
        most_lost=max(each.n_lost / each.n_clean for each in found),
    )


def recovery(made: Site, settings: MiningSettings = MiningSettings()) -> Recovery:
    """The tokens removed when a site is mined and its templates are applied to the same pages."""
    found = mine("injected.example", made.texts, settings)
    matcher = Matcher(((t.tokens, t.regex) for t in found.templates), settings.view)
    total = Recovery(0, 0, 0, 0)
    for text, injected in zip(made.texts, made.injected, strict=True):
        total += _of_page(text, injected, matcher.intervals(text))
    return total


def _of_page(text: str, injected: Bool, intervals: Int32) -> Recovery:
    gone = np.zeros(len(text) + 1, dtype=np.int32)
    np.add.at(gone, intervals[:, 0], 1)
    np.add.at(gone, intervals[:, 1], -1)
    removed = np.cumsum(gone)[:-1] > 0
    solid = ~np.array([character.isspace() for character in text])
    begins = solid & ~np.append(False, solid[:-1])
    new, lost = injected[begins], removed[begins]
    return Recovery(int(new.sum()), int((new & lost).sum()), int((~new).sum()), int((~new & lost).sum()))
