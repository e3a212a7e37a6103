"""What docs/templates.md is made of: injection, `re` against the automaton, the guard, the page itself."""

import json
import random
from pathlib import Path

import pytest

from research import FOLDER, injection, template_agreement, template_guard, template_page
from research.template_agreement import Agreement
from tests.evaluation.invented import write_sets
from victor_spark import pipeline
from victor_spark.errors import InputError
from victor_spark.evaluation import gold, template_gain
from victor_spark.settings import Settings

SYLLABLES = ("bra", "de", "fi", "gon", "hu", "jal", "kre", "lo", "mun", "pi", "sta", "tro", "ve", "wix")


def texts(n: int) -> list[str]:
    """Clean texts that only chance makes alike."""
    dice = random.Random(3)
    words = ["".join(dice.choices(SYLLABLES, k=3)) for _ in range(800)]
    return [
        "\n".join(" ".join(dice.choices(words, k=dice.randint(8, 30))) + "." for _ in range(8))
        for _ in range(n)
    ]


def test_injected_templates_go_and_clean_words_stay_from_ten_pages_on() -> None:
    for point in injection.curve(texts(30), sizes=(10,)):
        assert point.removed >= 0.99
        assert point.lost <= 0.005


def test_a_site_tells_what_was_injected() -> None:
    clean = texts(4)
    made = injection.site(clean, 1, everywhere=False)
    for text, injected, source in zip(made.texts, made.injected, clean, strict=True):
        kept = "".join(c for c, new in zip(text, injected, strict=True) if not new)
        assert kept == f"{source}\n"


def test_the_published_expressions_say_all_and_are_counted() -> None:
    pages = list(injection.site(texts(12), 2, everywhere=False).texts)
    (found,) = template_agreement.agreements([("a.example", pages), ("small.example", pages[:2])])
    assert (found.site, found.n_pages, found.n_same) == ("a.example", 12, 12)
    assert found.n_removed > 0
    total = template_agreement.total([found, Agreement("b.example", 3, 1, 2, 7)])
    assert (total.site, total.n_pages, total.n_same) == ("2 sites", 15, 14)


def test_the_guard_is_chosen_on_one_half_and_measured_on_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(template_guard, "_half", lambda site: int("1" in site))
    files = gold.find(write_sets(tmp_path, n_sites=2, n_pages=4))
    pages = [page for path in files.values() for page in gold.read(path)]
    shipped = pipeline.models(Settings())
    sites = template_gain.by_site(pages, "host", 3)
    found = template_guard.figures(template_guard.tested(sites, "victor", "host", lambda _: shipped))
    assert found["n_sites"] == [2, 2]
    assert found["chosen"]["halves"][0]["most_lost"] <= template_guard.MOST_LOST
    assert found["in_use"]["guard"]["min_pages"] == 10
    (few,) = [row for row in found["rows"] if row["guard"] == found["in_use"]["guard"]]
    assert few["halves"][1]["f1"] == 0.0  # four pages a site are too few


def test_a_guard_without_sites_in_both_halves_is_an_error() -> None:
    with pytest.raises(InputError, match="both halves"):
        template_guard.figures({})


def test_the_document_is_what_its_figures_say(root: Path) -> None:
    stored = FOLDER / "results" / template_page.RESULTS
    figures = json.loads(stored.read_text(encoding="utf-8"))
    assert (root / "docs" / "templates.md").read_text(encoding="utf-8") == template_page.page(figures)
