"""Weights of the words in class and id: their sums around a block, and training."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given

from tests.html.pages import articles, blocks_of
from tests.model.conftest import rows_of, some_pages
from victor_html.elements import fnv1a
from victor_spark.errors import ModelError
from victor_spark.html.canonical import canonical
from victor_spark.html.segment import segment
from victor_spark.model import trees
from victor_spark.model.features import from_conf
from victor_spark.model.files import from_bytes, to_bytes
from victor_spark.model.weights import NAME_FEATURES, Names, Origins, Weights, check
from victor_spark.train import crf as training
from victor_spark.train.crf import train
from victor_spark.train.crfsuite import TrainingOptions
from victor_spark.train.weights import erased, learn_names

if TYPE_CHECKING:
    from victor_spark.blocks import Blocks, Bool, Float64

FEW = trees.TreeOptions(n_trees=3, depth=2)


def with_names(names: Names) -> Weights:
    """Weights of these names, and of no origins."""
    return Weights(names, Origins(np.zeros((0, 1), dtype=np.float32), ()))


def weighing(weights: dict[str, float]) -> Names:
    """Names that know these words."""
    by_hash = sorted((fnv1a(word), weight) for word, weight in weights.items())
    return Names(
        np.array([code for code, _ in by_hash], dtype=np.uint32),
        np.array([weight for _, weight in by_hash], dtype=np.float32),
    )


def test_sums_of_all_ancestors_and_the_highest_the_lowest_the_near_and_the_innermost() -> None:
    blocks = blocks_of(
        "<div class='main wide'>a<div id=comments><p class=text>b</p></div>c</div>d<p class=strange>e</p>"
    )
    known = weighing({"main": 2.0, "wide": -0.5, "comments": -3.0, "text": 1.0})
    assert rows_of(known, blocks, len(NAME_FEATURES)).T.tolist() == [
        [1.5, 1.5, 0.0, 1.5, 1.5],
        [-0.5, 1.5, -3.0, -0.125, 1.0],
        [1.5, 1.5, 0.0, 1.5, 1.5],
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0],
    ]


@given(source=articles)
def test_sums_are_those_of_a_walk_to_the_root(source: str) -> None:
    blocks = blocks_of(source)
    words = np.setdiff1d(blocks.name_words, np.uint32(0))  # the pair of a word and itself weighs nothing
    weights = np.linspace(-1, 1, len(words), dtype=np.float32)
    weight_of = dict(zip(words.tolist(), weights.tolist(), strict=True)) | {0: 0.0}
    found = rows_of(Names(words, weights), blocks, len(NAME_FEATURES))
    for row, innermost in enumerate(blocks.named.tolist()):
        chain, element = [], innermost
        while element:
            begin, end = blocks.named_elements[1, element - 1 : element + 1].tolist()
            chain.append(sum(weight_of[word] for word in blocks.name_words[begin:end].tolist()))
            element = int(blocks.named_elements[0, element])
        assert found[0, row] == pytest.approx(sum(chain), abs=1e-4)
        assert found[1, row] == pytest.approx(max([0.0, *chain]), abs=1e-4)
        assert found[2, row] == pytest.approx(min([0.0, *chain]), abs=1e-4)
        assert found[4, row] == pytest.approx(chain[0] if chain else 0.0, abs=1e-4)


def learnt(sites: Sequence[str]) -> Names:
    """Names of pages where `story` is content and `links` is not; `rare-N` stands on one page each."""
    pages: list[Blocks] = []
    kept: list[Bool] = []
    weights: list[Float64] = []
    for number in range(len(sites)):
        pages.append(
            blocks_of(
                "<body class=page><p class='links x'>One</p><div class=story><p>Two</p></div>"
                f"<p class='rare-{'abcdefgh'[number]}'>Three</p>"
            )
        )
        kept.append(np.array([False, True, True]))
        weights.append(np.full(3, 1 / 3))
    return learn_names(pages, kept, weights, sites)


def test_words_of_several_sites_get_the_sign_of_what_they_surround() -> None:
    known = learnt([f"{n}.example" for n in range(8)])
    weight_of = dict(zip(known.words.tolist(), known.weights.tolist(), strict=True))
    assert weight_of[fnv1a("story")] > 0.2
    assert weight_of[fnv1a("links")] < -0.2
    assert not {fnv1a(f"rare{letter}") for letter in "abcdefgh"} & set(weight_of)
    check(with_names(known))
    again = learnt([f"{n}.example" for n in range(8)])
    assert known.words.tolist() == again.words.tolist()
    assert known.weights.tolist() == again.weights.tolist()


def test_words_of_one_site_are_not_weighed_however_many_pages_it_has() -> None:
    assert not len(learnt(["one.example"] * 8).words)
    assert not len(learnt(list("abcabcab")).words)
    assert len(learnt(list("abcdabcd")).words)


def test_a_word_twice_in_one_name_gets_no_weight_as_a_pair() -> None:
    pages = [blocks_of("<p class=links>One</p><p class=story-story>Two")] * 8
    assert (pages[0].name_words == 0).any()
    kept, weights = [np.array([False, True])] * 8, [np.full(2, 0.5)] * 8
    known = learn_names(pages, kept, weights, list("abcdefgh"))
    assert len(known.words) == 2
    check(with_names(known))


def test_pages_without_names_or_without_content_teach_nothing() -> None:
    bare, named = blocks_of("<p>One<p>Two"), blocks_of("<p class=x>One<p class=x>Two")
    weights = [np.full(2, 0.5)] * 5
    sites = list("abcde")
    assert not len(learn_names([bare] * 5, [np.array([True, False])] * 5, weights, sites).words)
    assert not len(learn_names([named] * 5, [np.array([False, False])] * 5, weights, sites).words)


@pytest.mark.parametrize(
    "damage",
    [
        {"words": np.array([7, 3], dtype=np.uint32)},
        {"words": np.array([0, 3], dtype=np.uint32)},
        {"words": np.array([3, 3], dtype=np.uint32)},
        {"words": np.array([3, 7], dtype=np.int64)},
        {"words": np.array([3], dtype=np.uint32)},
        {"weights": np.array([1, np.nan], dtype=np.float32)},
        {"weights": np.zeros((2, 1), dtype=np.float32)},
    ],
)
def test_damaged_weights_are_refused(damage: dict[str, np.ndarray]) -> None:
    whole = Names(np.array([3, 7], dtype=np.uint32), np.ones(2, dtype=np.float32))
    check(with_names(whole))
    with pytest.raises(ModelError, match="weights of names are damaged"):
        check(with_names(replace(whole, **damage)))


def test_a_learnt_feature_can_be_left_out() -> None:
    small = replace(from_conf("victor-2"), trees=trees.TreesOptions(FEW, FEW, n_folds=2))
    silent = training.without(small, [NAME_FEATURES[0]])
    _, _, values = training.before_crf(list(some_pages(3, 6)), silent)
    row = small.names.index(NAME_FEATURES[0])
    assert not any(of_page[row].any() for of_page in values)


def test_a_model_without_its_weights_of_names_or_with_damaged_ones_is_refused() -> None:
    pytest.importorskip("catboost", reason="growing trees needs CatBoost")
    small = replace(from_conf("victor-2"), trees=trees.TreesOptions(FEW, FEW, n_folds=2))
    model = train(list(some_pages(3, 6)), small, TrainingOptions(max_iterations=2))
    assert from_bytes(to_bytes(model)).weights is not None
    with pytest.raises(ModelError, match="learnt weights are missing"):
        from_bytes(to_bytes(replace(model, weights=None)))
    assert model.weights is not None
    damaged = replace(model.weights, names=weighing({"story": np.nan}))
    with pytest.raises(ModelError, match="weights of names are damaged"):
        from_bytes(to_bytes(replace(model, weights=damaged)))


_NAMES = re.compile(r"\s(?:class|id|role|itemprop|style|hidden|aria-hidden)=\"[^\"]*\"")


@given(source=articles)
def test_erased_names_are_those_of_the_page_without_the_attributes(source: str) -> None:
    html = canonical(source).html
    bare = segment(re.sub("<[^>]*>", lambda tag: _NAMES.sub("", tag[0]), html))
    nameless = erased(segment(html))
    table = from_conf("victor-2")
    np.testing.assert_array_equal(table.values(nameless), table.values(bare))


def test_every_fifth_page_is_learnt_from_again_without_its_names(monkeypatch: pytest.MonkeyPatch) -> None:
    pages, more = list(some_pages(1, 11)), list[training.TrainingPage]()

    def noted(learnt_from: Sequence[training.TrainingPage], _: object) -> None:
        more.extend(learnt_from)
        raise ModelError("no more is needed here")

    monkeypatch.setattr(training, "before_crf", noted)
    with pytest.raises(ModelError, match="no more"):
        train(pages, from_conf("victor-2"))
    assert more[:11] == pages
    assert [page.site for page in more[11:]] == [pages[row].site for row in (0, 5, 10)]
    assert not any(len(page.blocks.name_words) for page in more[11:])
