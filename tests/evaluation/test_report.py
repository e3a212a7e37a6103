"""The report's parts: differences are marked, everything is escaped, long texts are cut."""

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from victor_spark.evaluation import evaluate, report
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.measures import Overlap
from victor_spark.evaluation.measuring import Measurement, Output


@pytest.mark.parametrize(
    ("macro", "folder"),
    [
        ("crf", "crf/victor-2008"),
        ("crf", "crf/victor-2"),
        ("crf", "crf/victor-3"),
        ("ncleaner", "ncleaner/default"),
        ("ncleaner", "ncleaner/non-lexical"),
    ],
)
def test_the_cards_of_shipped_models_are_what_the_template_makes_of_their_metrics(
    root: Path, macro: str, folder: str
) -> None:
    model = root / "models" / folder
    metrics = json.loads((model / "metrics.json").read_text(encoding="utf-8"))
    card = (model / "CARD.md").read_text(encoding="utf-8")
    assert card == report.card(macro, folder.removeprefix("crf/"), metrics)


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.all: list[str] = []
        self.marked: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert (tag, [name for name, _ in attrs]) == ("mark", ["class"])
        self.inside = True

    def handle_endtag(self, tag: str) -> None:
        assert tag == "mark"
        self.inside = False

    def handle_data(self, data: str) -> None:
        self.all.append(data)
        if self.inside:
            self.marked.append(data)


def parsed(html: str) -> _Text:
    parser = _Text()
    parser.feed(html)
    parser.close()
    return parser


def test_words_that_the_other_text_lacks_are_marked() -> None:
    ours, gold = report.marked_sides("Home\nThe ferry sails <today>", "The ferry sails tomorrow")
    assert "".join(parsed(ours).marked) == "Home\n<today>"
    assert "".join(parsed(gold).marked) == "tomorrow"


texts = st.text(st.sampled_from("ab <>&\"'\n市渡"), max_size=40)


@given(texts, texts)
def test_both_texts_are_shown_whole_and_escaped(ours: str, gold: str) -> None:
    for shown, text in zip(report.marked_sides(ours, gold), (ours, gold), strict=True):
        assert "".join(parsed(shown).all) == text


def test_long_texts_are_cut_and_it_says_so() -> None:
    evil = "a<b>&'\""
    judged = Measurement(evil, evil, evil, evil, evil, evil, evil, evil, overlaps={"words": Overlap(1, 2, 2)})
    cleaned, page = Output("ok", None, "word " * 10_000, ""), GoldPage(evil, evil, evil, "gold")
    rows = {evil: [judged]}
    results = {"version": evil, "options": {"command": evil}, "gold": {"n_pages": 1, "sha256": evil}}
    results |= {"cleaners": [evil], "measures": ["words"], **evaluate.compare(rows, ["words"])}
    shown = report.shown(replace(judged, status="empty"), page, lambda _: cleaned, "words")
    html = report.html(results, rows, {evil: [shown]})
    assert "the first 12,000 of 50,000 characters" in html
    assert "a&lt;b&gt;" in html
    assert evil not in html
    assert html.count("word ") <= 2_500


def test_what_matches_beyond_the_cut_is_not_marked() -> None:
    text = "word " * 3000
    ours, gold = report.marked_sides(text + "end", "end")
    assert not parsed(gold).marked
    assert parsed(ours).marked
