"""Extractors of others as cleaners: the real tools if installed, otherwise one clear line."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings

import victor_spark
from tests.extractors.pages import page
from tests.html.pages import articles
from victor_spark import extractors
from victor_spark.blocks import Page
from victor_spark.errors import UsageError
from victor_spark.extractors import peers
from victor_spark.langid.labels import languages
from victor_spark.pipeline import models
from victor_spark.settings import Settings
from victor_spark.statuses import STATUSES

SENTENCES = (
    "The mayor of Podhora opened the new bridge on Saturday, and half of the town came to see it. ",
    "It replaces the one that the flood of last spring took away, which had stood there for a century. ",
    "Work took nine months; the council says that it cost less than what had been set aside for it in May. ",
)
TEXT = "".join(SENTENCES)
PAGE = f"""<html><head><title>A bridge</title></head><body>
<ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li><li><a href="/contact">Contact</a></li></ul>
<div id="article"><h1>New bridge opened</h1><p>{TEXT}</p><p>{TEXT.replace("bridge", "footbridge")}</p>
<p>{TEXT.replace("town", "village")}</p></div>
<div class="footer"><a href="/terms">Terms</a> | <a href="/privacy">Privacy</a></div></body></html>"""


@pytest.fixture(params=peers.PEERS)
def peer(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if not peers.installed(peers.PEERS[name]):
        pytest.skip(f"{peers.PEERS[name].package} is not installed (extra: peers)")
    return name


def test_a_peer_cleans_a_page_and_its_blocks_are_those_that_hold_its_text(peer: str) -> None:
    document = victor_spark.clean(PAGE, cleaner=peer)
    assert (document.status, document.cleaner) == ("ok", peer)
    kept = [block.text for block in document.blocks if block.label != "other"]
    assert sum(SENTENCES[1].strip() in text for text in kept) == 3
    assert not {"Home", "Terms", "Privacy"} & set(kept)
    assert {block.p_other for block in document.blocks} == {0.0, 1.0}


def test_a_peers_text_is_its_own_not_that_of_the_blocks(peer: str) -> None:
    document = victor_spark.clean(PAGE, cleaner=peer)
    assert document.text == document.scores.text
    assert document.render("text") == document.text
    assert all(line and line == " ".join(line.split()) for line in document.text.split("\n"))


def test_a_threshold_that_changes_nothing_leaves_the_text_alone(peer: str) -> None:
    own = victor_spark.clean(PAGE, cleaner=peer)
    assert victor_spark.clean(PAGE, cleaner=peer, threshold=0.5).text == own.text
    assert victor_spark.clean(PAGE, cleaner=peer, threshold=0).text == ""


@given(source=articles)
@settings(max_examples=15)
def test_a_peer_takes_whatever_html_there_is(source: str) -> None:
    for name in extractors.available():
        if name in peers.PEERS:
            document = victor_spark.clean(source.encode("utf-8", "replace"), cleaner=name)
            assert document.status in STATUSES
            assert bool(document.text) == (document.status == "ok")


def test_a_cascade_of_peers_is_cut_from_what_the_first_one_left(peer: str) -> None:
    alone = victor_spark.clean(PAGE, cleaner="victor")
    document = victor_spark.clean(PAGE, cleaner=f"victor+{peer}")
    assert document.status == "ok"
    assert not (document.kept & ~alone.kept).any()
    assert "Terms" not in document.text
    assert victor_spark.clean(PAGE, cleaner=f"{peer}+victor").status == "ok"


def test_a_tool_that_is_not_installed_is_a_usage_error_before_the_first_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "justext", None)  # as Python marks what can't be imported
    assert not {"justext", "justext-nostop"} & set(extractors.available())
    for name in ("justext", "victor+justext-nostop"):
        with pytest.raises(UsageError, match=r"victor-spark\[peers\]") as raised:
            models(Settings(cleaner=name))
        assert "\n" not in str(raised.value)


def test_names_of_installed_peers_are_listed() -> None:
    installed = {name for name, peer in peers.PEERS.items() if peers.installed(peer)}
    assert set(victor_spark.cleaners()) == set(extractors.CLEANERS) | installed
    assert "resiliparse" in installed
    assert not set(peers.PEERS) & set(extractors.CLEANERS)


def test_no_tool_is_imported_before_its_cleaner_is_asked_for() -> None:
    script = (
        "import sys, victor_spark.pipeline, victor_spark.extractors; victor_spark.cleaners();"
        "print(*{'boilerpy3', 'justext', 'readability', 'trafilatura', 'lxml'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == ""


def test_justext_uses_the_stop_list_of_the_pages_language_and_none_where_it_has_none() -> None:
    pytest.importorskip("justext", reason="justext is not installed (extra: peers)")
    import justext

    assert set(languages().justext.values()) <= set(justext.get_stoplists())
    nonsense = " ".join(["zorble", "quandix", "framble"] * 40)
    source = page(f"<p>{nonsense}</p>")
    texts = {
        (name, language): peers.PEERS[name].load()(Page(source.html, source.blocks, language=language))
        for name in ("justext", "justext-nostop")
        for language in ("en", "zh", None)
    }
    assert texts["justext", "en"] == ""  # no word of it is on the list
    assert {text for key, text in texts.items() if key != ("justext", "en")} == {nonsense}


def test_an_extractors_text_is_matched_in_order_and_what_it_adds_is_in_no_block() -> None:
    whole = page("<p>one two three four</p><p>five six seven eight</p><h2>nine ten eleven</h2>")
    text = "  five six  seven eight\n\n\nnine ten eleven\nadded words here "
    scores = peers.cleaner(lambda _: text)(whole)
    assert scores.text == "five six seven eight\nnine ten eleven\nadded words here"
    assert scores.kept.tolist() == [False, True, True]
    assert scores.probabilities.tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]


def test_text_of_its_own_without_any_block_is_still_text() -> None:
    whole = page("<p>one</p>")
    scores = peers.cleaner(lambda _: "something else")(whole)
    assert (scores.text, scores.kept.any()) == ("something else", np.False_)
