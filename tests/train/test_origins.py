"""The probable collection of a page, by the elements of its source; and training."""

import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.html.pages import blocks_of
from tests.model.conftest import rows_of, some_pages
from victor_html.elements import ELEMENTS
from victor_spark.errors import ModelError
from victor_spark.evaluation.crf import training_pages
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.labelling import label
from victor_spark.html.canonical import canonical
from victor_spark.html.segment import segment
from victor_spark.kernels.num import MAX_ORIGINS as MOST
from victor_spark.model import weights
from victor_spark.model.features import FeatureTable, from_conf
from victor_spark.model.files import from_bytes, to_bytes
from victor_spark.model.trees import TreeOptions, TreesOptions
from victor_spark.model.weights import ORIGIN_FEATURES, Names, Origins, Weights, check
from victor_spark.train import crf as training
from victor_spark.train.crf import train
from victor_spark.train.crfsuite import TrainingOptions
from victor_spark.train.weights import NO_ORIGIN as NONE
from victor_spark.train.weights import learn_origins, origin_numbers

if TYPE_CHECKING:
    from victor_spark.blocks import Blocks

OLD = b"<body><center><font>One</font></center><script>x</script>"
NEW = b"<body><article><section>One</section></article><script>x</script><svg></svg>"


VOCABULARY = tuple(ELEMENTS)


def with_origins(origins: Origins) -> Weights:
    """Weights of these origins, and of no names."""
    return Weights(Names(np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.float32)), origins)


def page(source: bytes) -> "Blocks":
    found = canonical(source)
    return segment(found.html, found.elements)


def test_pages_look_like_the_collection_that_is_written_like_them() -> None:
    pages = [page(OLD), page(NEW)] * 12
    collections = origin_numbers(["old", "new"] * 12, [str(row) for row in range(24)])
    known = learn_origins(pages, collections, 2, VOCABULARY)
    check(with_origins(known))
    old, new = collections[:2].tolist()
    for source, own, other in ((OLD, old, new), (NEW, new, old)):
        found_rows = rows_of(known, page(source), MOST)
        assert found_rows[own, 0] > np.log(0.8) > np.log(0.2) > found_rows[other, 0]
        assert not found_rows[2:].any()
        assert (found_rows == found_rows[:, :1]).all()


def test_only_collections_of_several_sites_count_and_of_those_the_largest() -> None:
    many = [(f"set{number}", f"{number}.{site}") for number in range(MOST + 2) for site in range(10 + number)]
    one_site = [("portal", "one.example")] * 50
    few_sites = [("few", str(site % 9)) for site in range(50)]
    unknown = [("", str(site)) for site in range(99)]
    names, sites = zip(*many, *one_site, *few_sites, *unknown, strict=True)
    found = dict(zip(names, origin_numbers(names, sites).tolist(), strict=True))
    assert [found[f"set{number}"] for number in range(MOST + 2)] == [
        NONE,
        NONE,
        *range(MOST - 1, -1, -1),
    ]
    assert found["portal"] == found["few"] == found[""] == NONE


def test_sets_of_one_origin_are_one_collection_and_others_their_own() -> None:
    html = "<p>A paragraph of several words, and of one more."
    pages = [
        label(GoldPage(id=name, set=name, html=html, gold="")) for name in ("aed", "fundus", "wcxb", "mine")
    ]
    assert [of_page.collection for of_page in training_pages(pages)] == [
        "modern-news",
        "modern-news",
        "wcxb",
        "mine",
    ]


def test_pages_of_one_collection_teach_nothing_and_one_without_pages_is_never_likely() -> None:
    pages = [page(OLD), page(NEW)]
    assert not rows_of(
        learn_origins(pages, np.array([0, NONE], dtype=np.int32), 1, VOCABULARY), pages[0], MOST
    ).any()
    found_rows = rows_of(
        learn_origins(pages * 9, np.array([0, 2] * 9, dtype=np.int32), 3, VOCABULARY), pages[0], MOST
    )
    assert found_rows[1, 0] == pytest.approx(np.log(1e-3))
    assert found_rows[0, 0] > found_rows[2, 0] > found_rows[1, 0]


@given(
    weights=st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=MOST),
    there=st.integers(0, 2 ** len(ELEMENTS) - 1),
)
def test_what_is_said_are_log_probabilities_whatever_the_weights(weights: list[float], there: int) -> None:
    used = np.array([there >> bit & 1 for bit in range(len(ELEMENTS))], dtype=np.uint8)
    blocks = replace(blocks_of("<p>a<p>b"), source_elements=used)
    known = Origins(np.repeat(np.array([weights], dtype=np.float32).T, len(ELEMENTS) + 1, axis=1), VOCABULARY)
    likely = np.exp(rows_of(known, blocks, MOST)[: len(weights)])
    assert likely.sum(axis=0) == pytest.approx([1 + 1e-3 * len(weights)] * 2, rel=1e-4)


@pytest.mark.parametrize(
    "damage",
    [
        np.zeros((2, len(ELEMENTS)), dtype=np.float32),
        np.zeros((MOST + 1, len(ELEMENTS) + 1), dtype=np.float32),
        np.zeros((2, len(ELEMENTS) + 1)),
        np.full((2, len(ELEMENTS) + 1), np.nan, dtype=np.float32),
        np.full((2, len(ELEMENTS) + 1), 3e38, dtype=np.float32),
        np.zeros(len(ELEMENTS) + 1, dtype=np.float32),
    ],
)
def test_damaged_weights_are_refused(damage: np.ndarray) -> None:
    with pytest.raises(ModelError, match="weights of origins are damaged"):
        check(with_origins(Origins(damage, VOCABULARY)))


@pytest.fixture
def small() -> FeatureTable:
    pytest.importorskip("catboost", reason="growing trees needs CatBoost")
    few = TreeOptions(n_trees=3, depth=2)
    return replace(from_conf("victor-2"), trees=TreesOptions(few, few, n_folds=2))


def collected(n_pages: int) -> list[training.TrainingPage]:
    """Random pages, every other one of another collection and with elements of its own."""
    return [
        replace(
            of_page,
            blocks=replace(of_page.blocks, source_elements=page((OLD, NEW)[row % 2]).source_elements),
            collection=("old", "new")[row % 2],
        )
        for row, of_page in enumerate(some_pages(4, n_pages))
    ]


def test_a_model_knows_its_collections_and_keeps_them_when_it_is_stored(small: FeatureTable) -> None:
    pages = collected(40)
    model = train(pages, small, TrainingOptions(max_iterations=2))
    again = from_bytes(to_bytes(model))
    assert model.weights is not None
    assert again.weights is not None
    assert len(model.weights.origins.weights) == 2
    np.testing.assert_array_equal(again.weights.origins.weights, model.weights.origins.weights)
    row = model.table.names.index("origin.0")
    found_rows = [model.values(each.blocks)[row, 0] for each in pages]
    assert np.ptp(found_rows[::2]) == np.ptp(found_rows[1::2]) == 0 != found_rows[0] - found_rows[1]


def test_a_page_is_learnt_from_with_what_other_sites_say_of_its_collection(small: FeatureTable) -> None:
    """Every site has elements of its own, which give its collection away to nobody but itself."""
    singular = sorted(set(small.elements) - {"", "p"})
    pages = [
        replace(
            of_page,
            blocks=replace(
                of_page.blocks,
                source_elements=np.array([name in ("p", singular[row]) for name in ELEMENTS], dtype=np.uint8),
            ),
            collection=("old", "new")[row % 2],
        )
        for row, of_page in enumerate(some_pages(5, 60))
    ]
    learnt, _, values = training.before_crf(pages, small)
    assert learnt is not None
    rows = [small.names.index(f"origin.{number}") for number in (0, 1)]
    numbers = origin_numbers([each.collection for each in pages], [each.site for each in pages]).tolist()

    def hits(found_rows: list[np.ndarray]) -> float:
        return float(
            np.mean([of_page[:, 0].argmax() == own for of_page, own in zip(found_rows, numbers, strict=True)])
        )

    assert hits([rows_of(learnt.origins, each.blocks, MOST)[:2] for each in pages]) == 1.0
    assert hits([of_page[rows] for of_page in values]) < 0.8


def test_an_older_model_is_refused_for_the_features_that_it_lacks(small: FeatureTable) -> None:
    model = train(collected(6), small, TrainingOptions(max_iterations=2))
    with np.load(io.BytesIO(to_bytes(model))) as arrays:
        kept = {name: arrays[name] for name in arrays if name != "origin_weights"}
    older = io.BytesIO()
    np.savez(older, **kept)
    with pytest.raises(ModelError, match="learnt weights are missing"):
        from_bytes(older.getvalue())
    description = json.loads(kept["description"].tobytes())
    for name in ORIGIN_FEATURES:
        del description["table"]["features"][name]
    kept["description"] = np.frombuffer(json.dumps(description).encode(), dtype=np.uint8)
    older = io.BytesIO()
    np.savez(older, **kept)
    with pytest.raises(ModelError, match=r"code and table differ in origin\.0"):
        from_bytes(older.getvalue())


def test_a_model_keeps_its_own_elements_whatever_those_of_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser may number its elements anew, know others, and no longer know some."""
    known = learn_origins([page(OLD), page(NEW)] * 9, np.array([0, 1] * 9, dtype=np.int32), 2, VOCABULARY)
    before = [rows_of(known, page(source), MOST) for source in (OLD, NEW)]
    renumbered = ["", "another", *reversed(ELEMENTS[1:])]
    monkeypatch.setattr(weights, "ELEMENTS", renumbered)
    weights._parser_numbers.cache_clear()
    for source, expected in zip((OLD, NEW), before, strict=True):
        old = page(source)
        used = dict(zip(ELEMENTS, old.source_elements.tolist(), strict=True))
        new = replace(old, source_elements=np.array([used.get(n, 1) for n in renumbered], dtype=np.uint8))
        np.testing.assert_array_equal(rows_of(known, new, MOST), expected)
    monkeypatch.undo()
    weights._parser_numbers.cache_clear()
