"""Cascades a+b: b gets the blocks that a keeps; blocks that both keep are kept."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import victor_spark
from tests.extractors.pages import page
from tests.html.pages import articles, strings, texts_of
from victor_spark import extractors
from victor_spark.blocks import OTHER, Page, Scores
from victor_spark.errors import UsageError
from victor_spark.extractors import cascade
from victor_spark.model.files import read_bytes
from victor_spark.pipeline import models
from victor_spark.resources import directory
from victor_spark.settings import Settings

PARTS = ("victor", "kimatu", "line-block", "ncleaner", "resiliparse")
FOLDERS = {folder: read_bytes(directory("models") / folder) for folder in extractors.MODELS.values()}
LOADED = {name: extractors.load(name, FOLDERS) for name in PARTS}


@given(source=strings | articles, keep=st.randoms(use_true_random=False))
@settings(max_examples=200)
def test_the_page_that_is_left_has_the_kept_blocks_and_no_others(source: str, keep: object) -> None:
    whole = page(source)
    kept = np.array([keep.random() < 0.5 for _ in range(len(whole.blocks))], dtype=bool)  # type: ignore[attr-defined]
    left = cascade.left(whole, kept)
    assert texts_of(left.blocks) == [
        text for text, stays in zip(texts_of(whole.blocks), kept.tolist(), strict=True) if stays
    ]
    assert left.title == whole.title


@given(source=articles)
@settings(max_examples=30)
def test_when_everything_is_left_the_page_is_the_same(source: str) -> None:
    whole = page(source)
    assert cascade.left(whole, np.ones(len(whole.blocks), dtype=bool)).html == whole.html


@given(source=articles, first=st.sampled_from(PARTS), second=st.sampled_from(PARTS))
@settings(max_examples=60)
def test_a_cascade_keeps_a_subset_of_what_its_first_part_keeps(source: str, first: str, second: str) -> None:
    whole = page(source)
    before = LOADED[first](whole)
    both = extractors.load(f"{first}+{second}", FOLDERS)(whole)
    assert not (both.kept & ~before.kept).any()
    # ... also under any threshold
    assert (both.probabilities[~before.kept, OTHER] == 1).all()
    np.testing.assert_allclose(both.probabilities.sum(axis=1), 1)


@given(source=articles)
@settings(max_examples=20)
def test_three_parts_run_from_left_to_right(source: str) -> None:
    whole = page(source)
    first_two = extractors.load("ncleaner+kimatu", FOLDERS)
    all_three = extractors.load("ncleaner+kimatu+victor", FOLDERS)
    step_by_step = cascade.then(first_two, LOADED["victor"])
    assert all_three(whole).kept.tolist() == step_by_step(whole).kept.tolist()


def test_the_second_part_never_sees_what_the_first_one_dropped() -> None:
    whole = page("<p>one</p><p>two</p><p>three</p>")
    seen: list[str] = []

    def first(of: Page) -> Scores:
        return Scores(np.tile([0.0, 1.0, 0.0], (len(of.blocks), 1)), np.array([True, False, True]))

    def second(of: Page) -> Scores:
        seen.append(of.html)
        probabilities = np.array([[0.2, 0.1, 0.7], [0.0, 0.9, 0.1]])
        return Scores(probabilities, np.array([False, True]), text="THREE")

    scores = cascade.then(first, second)(whole)
    assert "two" not in seen[0]
    assert scores.kept.tolist() == [False, False, True]
    assert scores.probabilities.tolist() == [[0.2, 0.1, 0.7], [0.0, 0.0, 1.0], [0.0, 0.9, 0.1]]
    assert scores.text == "THREE"


def test_where_the_first_part_keeps_nothing_the_second_is_not_asked() -> None:
    def nothing(of: Page) -> Scores:
        return Scores(np.tile([0.0, 0.0, 1.0], (len(of.blocks), 1)), np.zeros(len(of.blocks), dtype=bool))

    def never(of: Page) -> Scores:
        raise AssertionError(of.html)

    scores = cascade.then(nothing, never)(page("<p>one</p><p>two</p>"))
    assert not scores.kept.any()
    assert scores.text is None


@pytest.mark.parametrize("name", ["victor+", "+victor", "victor++kimatu", "+"])
def test_a_malformed_cascade_is_a_usage_error(name: str) -> None:
    with pytest.raises(UsageError, match=r"write a\+b") as raised:
        models(Settings(cleaner=name))
    assert "\n" not in str(raised.value)


def test_an_unknown_part_is_named() -> None:
    with pytest.raises(UsageError, match="no cleaner 'soap'"):
        models(Settings(cleaner="victor+soap"))


def test_the_models_of_all_parts_are_gathered_once_each() -> None:
    folders = extractors.models_of("victor+kimatu+ncleaner+victor")
    assert folders == (extractors.MODELS["victor"], extractors.MODELS["ncleaner"])
    assert set(extractors.models_of("victor+ncleaner")) <= set(models(Settings(cleaner="victor+ncleaner")))
    assert extractors.models_of("kimatu+line-block") == ()


def test_a_model_of_ones_own_needs_one_part_that_has_a_model() -> None:
    own = str(directory("models") / extractors.MODELS["ncleaner"])
    assert models(Settings(cleaner="kimatu+ncleaner", model=own))
    for name in ("victor+ncleaner", "kimatu"):
        with pytest.raises(UsageError, match=f"a cleaner that has one; {re.escape(name)} has (2|none)"):
            models(Settings(cleaner=name, model=own))


def test_offsets_of_a_cascade_are_those_of_the_whole_page() -> None:
    text = "The council opened the new bridge over the river, and the market will be held again in spring."
    source = f"<ul><li><a href='/'>Home</a></li></ul><p>{text}</p><p>{text.replace('bridge', 'school')}</p>"
    document = victor_spark.clean(source, cleaner="ncleaner+kimatu")
    for block in document.blocks:
        assert document.html[block.start : block.end] == block.text
    assert document.cleaner == "ncleaner+kimatu"
