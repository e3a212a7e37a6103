"""Templates in cleaning: alone, before a cleaner, and after one; blocks with a low P(other) stay."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.extractors.pages import page
from victor_spark import pipeline
from victor_spark.blocks import LABELS, Float64, Page, Scores
from victor_spark.document import Document
from victor_spark.errors import UsageError
from victor_spark.settings import Settings
from victor_spark.templates import coverage, patterns, table
from victor_spark.templates.coverage import Guard
from victor_spark.templates.matcher import Matcher
from victor_spark.templates.table import Mined, Template
from victor_spark.templates.tokens import TOKENISERS
from victor_spark.warc.records import Record

FOG = (
    "The fog lies on the water all morning, and the ferry waits at the quay until the harbour master lets it "
    "go. Nobody minds, because there is coffee in the shed and the talk is good."
)
HTML = (
    f"<body><ul><li>Home</li><li>News</li></ul><h1>Fog in the harbour</h1><p>{FOG}</p>"
    f"<p>Printed by the Gazette on 3 May for all. {FOG}</p><p>Share this story</p></body>"
)
PHRASES = ("Printed by the Gazette on 3 May for all.", "Share this story", "Home News", "Fog in the harbour")


@pytest.fixture
def known(tmp_path: Path) -> str:
    """A table of gazette.example with PHRASES."""
    found = tuple(
        Template(patterns.glue(tokens, 0, TOKENISERS["text"]), tokens, len(tokens), 9, 9, 1.0, phrase)
        for phrase in PHRASES
        for tokens in [tuple(map(re.escape, phrase.split()))]
    )
    mined = Mined("gazette.example", "text", "ok", None, 9, 9, 5, found)
    path = tmp_path / "t.parquet"
    pq.write_table(table.rows(mined, datetime(2025, 3, 1, tzinfo=UTC)), path)
    return str(path)


def clean(settings: Settings, html: str = HTML, url: str = "http://gazette.example/1") -> Document:
    payload = html.encode()
    record = Record(None, url, "", 0, len(payload), payload, http_charset="utf-8")
    return pipeline.cleaning(settings, pipeline.models(settings))(record)


def test_alone_it_keeps_all_but_templates(known: str) -> None:
    document = clean(Settings("template", templates=known))
    assert document.text == f"{FOG}\n{FOG}"
    assert document.render("markdown") == f"{FOG}\n\n{FOG}"
    assert "Share" not in document.render("cleaneval")


def test_a_page_of_another_site_keeps_everything(known: str) -> None:
    document = clean(Settings("template", templates=known), url="http://other.example/1")
    assert "Share this story" in document.text
    assert {block.template_share for block in document.blocks} == {0.0}


def test_a_page_of_nothing_but_templates_is_empty_and_says_why(known: str) -> None:
    document = clean(Settings("template", templates=known), "<p>Share this story</p>" * 9)
    assert (document.status, document.reason) == ("empty", "only templates of its site")


def test_before_a_cleaner_the_covered_blocks_are_not_there(known: str) -> None:
    document = clean(Settings("template+kimatu", templates=known))
    of = {block.text: block for block in document.blocks}
    assert of["Share this story"].p_other == 1.0
    assert FOG in document.text
    assert "Printed by" not in document.text


@pytest.mark.parametrize("view", ["text", "cleaned"])
def test_templates_are_searched_once_a_page(
    known: str, view: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched, intervals = [], Matcher.intervals
    monkeypatch.setattr(Matcher, "intervals", lambda *given: searched.append(1) or intervals(*given))
    rows = table.read(known)
    of_view = rows.set_column(rows.schema.names.index("view"), "view", pa.array([view] * len(rows)))
    pq.write_table(of_view.cast(table.TEMPLATES), tmp_path / "view.parquet")
    document = clean(Settings("kimatu", templates=str(tmp_path / "view.parquet")))
    assert len(searched) == 1
    assert "Printed by" not in document.text


def judged(p_other: list[float]) -> Scores:
    """Scores of a trained cleaner that keeps everything."""
    probabilities: Float64 = np.zeros((len(p_other), len(LABELS)))
    probabilities[:, 2] = p_other
    probabilities[:, 1] = 1 - probabilities[:, 2]
    return Scores(probabilities, np.ones(len(p_other), dtype=bool))


def covered(html: str, *parts: str) -> Page:
    whole = page(html)
    text = whole.blocks.text
    found = np.array([[text.index(part), text.index(part) + len(part)] for part in parts], dtype=np.int32)
    return coverage.marked(whole, coverage.covered("text", whole, found))


def test_what_a_trained_cleaner_is_sure_of_stays() -> None:
    whole = covered(f"<p>{FOG}</p><p>Share this</p><p>Read on</p>", "Share this", "Read on")
    kept = np.ones(3, dtype=bool)
    left, cut = coverage.taken_out(whole, kept, judged([0.1, 0.1, 0.7]), 10)
    assert left.tolist() == [True, True, False]
    assert cut is not None
    start, end = int(whole.blocks.text_start[1]), int(whole.blocks.text_end[1])
    assert not cut[start:end].any()


def test_headings_stay() -> None:
    whole = covered(f"<h2>Fog in May</h2><p>{FOG}</p><p>Read on</p>", "Fog in May", "Read on")
    left, _ = coverage.taken_out(whole, np.ones(3, dtype=bool), judged([0.7, 0.1, 0.7]), 10)
    assert left.tolist() == [True, True, False]


def test_a_page_that_would_lose_most_of_its_words_stays_as_it_is() -> None:
    whole = covered(f"<p>{FOG}</p><p>Read on</p>", FOG)
    kept = np.ones(2, dtype=bool)
    left, cut = coverage.taken_out(whole, kept, judged([0.7, 0.7]), 10)
    assert left.tolist() == [True, True]
    assert cut is None


def test_templates_of_few_pages_take_nothing_from_a_trained_cleaner() -> None:
    whole = covered(f"<p>{FOG}</p><p>Read on</p>", "Read on")
    scores, kept = judged([0.1, 0.7]), np.ones(2, dtype=bool)
    assert coverage.taken_out(whole, kept, scores, 9)[1] is None
    assert coverage.taken_out(whole, kept, scores, 10)[0].tolist() == [True, False]
    assert coverage.taken_out(whole, kept, scores, 9, Guard(min_pages=9))[0].tolist() == [True, False]


def test_a_rule_that_is_never_in_doubt_has_no_say() -> None:
    whole = covered(f"<p>{FOG}</p><p>Read on</p>", FOG)
    scores = judged([0.0, 0.0])
    left, _ = coverage.taken_out(whole, replace(scores).kept, scores, 10)
    assert left.tolist() == [False, True]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (Settings("template"), "needs a table of templates"),
        (Settings("template+kimatu"), "the cleaner template\\+kimatu needs a table of templates"),
        (Settings("kimatu", templates="nowhere.parquet"), "nowhere.parquet: No such file"),
    ],
)
def test_what_makes_no_sense_is_refused(settings: Settings, message: str) -> None:
    with pytest.raises(Exception, match=message) as raised:
        pipeline.models(settings)
    assert isinstance(raised.value, UsageError) or "nowhere" in str(raised.value)
