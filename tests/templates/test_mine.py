"""Mining one site: templates, strings that are no templates, and invalid input."""

import random
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.templates.expressions import by_expressions, remove
from victor_spark.errors import UsageError
from victor_spark.templates import repeats
from victor_spark.templates.matcher import Matcher
from victor_spark.templates.mine import MiningSettings, mine
from victor_spark.templates.table import Mined

PARTS = ("fo", "mil", "ree", "sal", "tar", "wic", "bru", "hol", "len", "dov", "gan", "pir")
WORDS = [a + b + c for a in PARTS for b in PARTS for c in ("k", "n", "st", "ly", "ding", "m")]
MENU = ["The Heron", "Home", "News from town", "Letters to us"]
FOOT = ["© 2024 The Heron", "Write to us about anything"]


def prose(dice: random.Random, n_lines: int = 8) -> list[str]:
    """Lines that nothing but chance repeats."""
    return [" ".join(dice.choices(WORDS, k=dice.randint(8, 20))) + "." for _ in range(n_lines)]


def site(n_pages: int, seed: int = 0) -> list[str]:
    """Pages with a menu, a dateline, prose and a foot."""
    dice = random.Random(seed)
    pages = []
    for number in range(n_pages):
        when = f"Posted on {dice.randint(1, 28)} May 20{dice.randint(10, 24)} at {dice.randint(10, 23)}:05"
        pages.append("\n".join([*MENU, when, *prose(dice), f"{number + 2} readers wrote", *FOOT, ""]))
    return pages


def cleaned(found: Mined, text: str) -> str:
    matcher = Matcher(((t.tokens, t.regex) for t in found.templates), found.view)
    return remove(text, matcher.intervals(text))


def lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


@pytest.mark.parametrize("n_pages", [3, 4, 7, 10, 30])
def test_what_all_pages_share_goes_and_nothing_else(n_pages: int) -> None:
    pages = site(n_pages)
    found = mine("heron.example", pages)
    assert found.status == "ok"
    assert found.n_pages == found.n_seen == n_pages
    for page in pages:
        assert lines(cleaned(found, page)) == lines(page)[5:13]


def test_a_template_says_how_it_was_found() -> None:
    found = mine("heron.example", site(10))
    (posted,) = [template for template in found.templates if "Posted" in template.example]
    assert (posted.document_frequency, posted.n_occurrences) == (10, 10)
    assert posted.example in site(10)[0]
    assert re.search(posted.regex, "x\n" + posted.example.replace("20", "19") + "\n")
    assert posted.n_tokens == len(posted.tokens)
    assert found.cut_off > 5


def test_a_new_page_of_the_site_is_cleaned_as_well() -> None:
    found = mine("heron.example", site(10))
    page = site(1, seed=99)[0]
    assert lines(cleaned(found, page)) == lines(page)[5:13]


def test_the_expressions_say_all() -> None:
    pages = site(12)
    found = mine("heron.example", pages)
    matcher = Matcher((t.tokens, t.regex) for t in found.templates)
    for page in pages:
        expected = by_expressions(page, [template.regex for template in found.templates])
        assert matcher.intervals(page).tolist() == expected.tolist()


def test_the_order_of_pages_does_not_change_what_is_removed() -> None:
    pages = site(9)
    found, other = mine("heron.example", pages), mine("heron.example", pages[::-1])
    assert [cleaned(found, page) for page in pages] == [cleaned(other, page) for page in pages]


def test_two_pages_are_reported_not_mined() -> None:
    found = mine("small.example", site(2))
    assert (found.status, found.templates, found.n_pages) == ("too_few_pages", (), 2)
    assert found.reason == "2 distinct pages of 2, at least 3 are needed"


def test_one_page_a_thousand_times_is_no_template_of_itself() -> None:
    page = site(1)[0]
    same = [page.replace("readers", f"{n} readers") for n in range(1000)]
    found = mine("same.example", same)
    assert (found.status, found.n_pages, found.n_seen) == ("too_few_pages", 1, 1000)
    among_others = [*site(10, seed=3), *same]
    found = mine("same.example", among_others)
    assert found.n_pages == 11
    assert lines(cleaned(found, page)) == lines(page)[5:13]


@pytest.mark.parametrize("n_pages", [10, 40])
def test_an_article_on_several_pages_survives(n_pages: int) -> None:
    """Whole on three pages, and half of it on another."""
    pages, article = site(n_pages), prose(random.Random(77), 30)
    for number in range(4):
        own = pages[number].split("\n")
        pages[number] = "\n".join([*own[:5], *article[: 15 if number == 3 else 30], *own[5:]])
    found = mine("heron.example", pages)
    for page in pages[:3]:
        assert set(article) <= set(cleaned(found, page).split("\n"))


def test_words_that_all_pages_use_stay() -> None:
    """The most frequent pairs of words stand on every page, but nowhere alone."""
    dice = random.Random(5)
    often = ["of the", "in the", "to be"]
    pages = []
    for page in site(12):
        text = page
        for pair in often:
            text = re.sub(r"(\w+) (\w+)\.", rf"\1 {pair} \2 {dice.choice(WORDS)}.", text, count=6)
        pages.append(text)
    found = mine("heron.example", pages)
    for page in pages:
        assert all(cleaned(found, page).count(pair) == page.count(pair) for pair in often)


def test_dates_alone_are_no_template() -> None:
    dice = random.Random(2)
    pages = ["\n".join([f"{n + 1} May 2011", *prose(dice)]) for n in range(10)]
    assert all("May" in cleaned(mine("d.example", pages), page) for page in pages)


def test_a_section_that_a_third_of_the_pages_has_is_found() -> None:
    section = ["Sport", "Rowing on the tarn", "Tables and fixtures"]
    pages = [page + "\n".join(section) + "\n" if n % 3 == 0 else page for n, page in enumerate(site(30))]
    found = mine("heron.example", pages)
    assert "Rowing on the tarn" not in cleaned(found, pages[0])


def test_notices_that_take_turns_on_a_few_pages_are_found() -> None:
    """Each is on three or four pages of ten: too few for the cut-off, enough for a whole short line."""
    notices = ["Rowing lessons - every week", "Boats for hire", "Mind the weir"]
    pages = [f"{page}{notices[n % 3]}\n" for n, page in enumerate(site(10))]
    found = mine("heron.example", pages)
    assert found.cut_off > 4
    for page in pages:
        assert lines(cleaned(found, page)) == lines(page)[5:13]


def test_lines_that_only_begin_alike_on_a_few_pages_stay() -> None:
    dice = random.Random(6)
    begun = [f"What is a {dice.choice(WORDS)} {dice.choice(WORDS)}?" for _ in range(10)]
    pages = [f"{page}{begun[n]}\n" if n < 4 else page for n, page in enumerate(site(10))]
    found = mine("heron.example", pages)
    assert all(line in cleaned(found, page) for line, page in zip(begun[:4], pages, strict=False))


def test_a_users_pattern_holds_a_template_together() -> None:
    pages = [f"{page}For ref:{'xyz'[n % 3]}{n}q{n}z see our list\n" for n, page in enumerate(site(12))]
    assert "ref:" in cleaned(mine("heron.example", pages), pages[0])
    settings = MiningSettings(patterns=(("reference", r"ref:\w+"),))
    assert "ref:" not in cleaned(mine("heron.example", pages, settings), pages[0])


@pytest.mark.parametrize("view", ["text", "html", "cleaned"])
def test_rubbish_is_no_reason_to_fail(view: str) -> None:
    dice = np.random.default_rng(1)
    rubbish = [dice.integers(0, 256, 4000).astype(np.uint8).tobytes().decode("latin-1") for _ in range(5)]
    lone = ["\ud800" * 50, "\0" * 50, "", " \n ", "<" * 99, ">a" * 99]
    found = mine("rubbish.example", [*rubbish, *lone, *site(4)], MiningSettings(view=view))
    assert found.n_seen == 15
    for text in (*rubbish, *lone):
        assert len(cleaned(found, text)) <= len(text)


def test_markup_is_mined_with_its_changing_addresses() -> None:
    def page(number: int, text: Sequence[str]) -> str:
        menu = "".join(
            f'<li><a href="/s/{number}/{name}?sid={number}ab">{name} page</a></li>'
            for name in ("Home", "News")
        )
        return (
            f'<body><ul class="menu">{menu}</ul><h1>{text[0]}</h1>'
            + "".join(f"<p>{t}</p>" for t in text[1:])
            + "</body>"
        )

    dice = random.Random(4)
    texts = [prose(dice) for _ in range(8)]
    found = mine("m.example", [page(n, text) for n, text in enumerate(texts)], MiningSettings(view="html"))
    left = cleaned(found, page(3, texts[3]))
    assert "Home" not in left
    assert all(word in left for line in texts[3] for word in line.split())


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"view": "pdf"}, "the view must be one of text, html, cleaned"),
        ({"patterns": (("mine", "("),)}, "mutable pattern mine"),
        ({"min_pages": 1}, "at least 2"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        MiningSettings(**settings)


def test_a_longer_string_that_shorter_ones_cover_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer templates are published, and they remove the same text."""
    dice = random.Random(8)
    menus = [
        ["Alpha beta", "Gamma delta", "Epsilon zeta"],
        ["Gamma delta", "Alpha beta"],
        ["Epsilon zeta", "Alpha beta"],
    ]
    pages = ["\n".join([*dice.choice(menus), *prose(dice), ""]) for _ in range(30)]
    few = mine("heron.example", pages)
    monkeypatch.setattr(repeats, "uncovered", lambda _corpus, _edges, _found, rows, _anchors: rows)
    all_of_them = mine("heron.example", pages)
    assert len(few.templates) < len(all_of_them.templates)
    assert [cleaned(few, page) for page in pages] == [cleaned(all_of_them, page) for page in pages]
