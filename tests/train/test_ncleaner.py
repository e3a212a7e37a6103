"""NCleaner: segments, interpolated n-gram models, and training on a few pages."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import victor_spark
from tests.extractors.pages import kept, page
from tests.html.pages import articles, blocks_of, strings
from victor_spark.blocks import Float64
from victor_spark.errors import ModelError
from victor_spark.evaluation import labelling
from victor_spark.extractors import ncleaner
from victor_spark.extractors.ncleaner import EDGE, N_RESERVED, SPACE, Model, Ratios, segments, symbol_table
from victor_spark.train import ncleaner as training
from victor_spark.train.crf import TrainingPage
from victor_spark.train.ncleaner import LIKELIHOOD

ASCII = np.arange(33, 127, dtype=np.uint32)
MENU = "<ul><li>Home page</li><li>Log in | Register</li><li>Contact us</li><li>Print | E-mail</li></ul>"
STORIES = (
    "The river rose in the night, and by morning the lower streets were under water.",
    "She had walked the whole way from the station, because the bus had not come again.",
    "Nobody remembers who planted the old lime tree that stands behind the school.",
    "In the evening the baker told them that the mill would be sold before winter.",
    "They waited for an hour at the bridge, then turned back and went home by boat.",
    "The letter arrived too late, and the meeting was held without anyone from the town.",
)


def pairs(n: int) -> list[TrainingPage]:
    """Pages of one story each, with their menus."""
    examples = []
    for row in range(n):
        blocks = blocks_of(f"{MENU}<p>{STORIES[row]}</p><div>(c) 20{row:02} | Terms</div>")
        examples.append(
            TrainingPage(blocks, labelling.aligned_labels(blocks, STORIES[row])[0], f"{row}.example")
        )
    return examples


def spelt(source: str, *, lexical: bool = True) -> str:
    """The segments of a page as text, edges as bars."""
    found = segments(blocks_of(source), symbol_table(ASCII, lexical=lexical))
    reserved = {EDGE: "|", SPACE: " "}
    characters = [
        reserved.get(symbol, "?") if symbol < N_RESERVED else chr(ASCII[symbol - N_RESERVED])
        for symbol in found.symbols.tolist()
    ]
    return "".join(characters)


def test_segments_are_paragraphs_with_white_space_collapsed_between_edges() -> None:
    assert spelt("<h1> A  title </h1><p>one <b>two</b>\n three<i>!</i></p>") == "||A title||one two three!|"
    assert spelt("") == "|"


def test_characters_without_a_symbol_share_one_by_their_class() -> None:
    table = symbol_table(ASCII, lexical=True)
    one, other, digit, han = (int(table[ord(character)]) for character in "žş٣漢")
    assert one == other
    assert len({one, digit, han, int(table[ord("a")])}) == 4


def test_without_letters_every_letter_is_an_a_and_every_digit_a_0() -> None:
    assert spelt("<p>Žal 漢 2008, ok!</p>", lexical=False) == "||aaa a 0000, aa!|"


@given(source=strings)
@settings(max_examples=100)
def test_every_character_is_predicted_once_and_every_segment_ends(source: str) -> None:
    blocks = blocks_of(source)
    found = segments(blocks, symbol_table(ASCII, lexical=True))
    n = np.bincount(found.of_row, minlength=found.n)
    assert len(n) == found.n == len(set(blocks.paragraph.tolist()))
    ends = found.symbols[found.rows] == EDGE
    assert ends.sum() == found.n
    assert (n >= 2).all()
    assert found.of_block.tolist() == sorted(found.of_block.tolist())


def probabilities(ratios_of: training.Counts, n_symbols: int) -> tuple[Ratios, Float64]:
    """The ratios, and all of P(c | two symbols) by the printed formula, shape (2, V, V, V)."""
    counts = np.zeros((2, n_symbols, n_symbols, n_symbols))
    keys, counts_of_keys = ratios_of
    first, rest = np.divmod(keys, n_symbols**2)
    counts[:, first, rest // n_symbols, rest % n_symbols] = counts_of_keys

    def often(each: Float64) -> Float64:
        return np.where(each.sum(axis=0) >= training.LEAST_COUNT, each, 0)

    def interpolated(seen: Float64, shorter: Float64) -> Float64:
        n, kinds = seen.sum(axis=-1, keepdims=True), (seen > 0).sum(axis=-1, keepdims=True)
        return np.where(n > 0, (seen + kinds * shorter) / np.maximum(n + kinds, 1), shorter)

    unigrams = counts.sum(axis=(1, 2))
    one = (unigrams + 1) / (unigrams.sum(axis=1, keepdims=True) + n_symbols)
    two = interpolated(often(counts.sum(axis=1)), np.repeat(one[:, None], n_symbols, axis=1))
    return training.estimate(ratios_of, n_symbols), interpolated(
        often(counts), np.repeat(two[:, None], n_symbols, axis=1)
    )


def test_ratios_are_those_of_the_printed_formula_for_seen_and_unseen_ngrams() -> None:
    dice = np.random.default_rng(3)
    n_symbols = 6
    keys = np.unique(dice.integers(0, n_symbols**3, 60))
    counted = keys, dice.integers(0, 4, (2, len(keys))).astype(np.float64)
    ratios, p = probabilities(counted, n_symbols)
    np.testing.assert_allclose(p.sum(axis=-1), 1)
    grams = np.stack(np.unravel_index(np.arange(n_symbols**3), (n_symbols,) * 3))
    found = segments(blocks_of("<p>x</p>"), symbol_table(ASCII, lexical=True))
    rows = np.arange(2, 3 * n_symbols**3, 3)
    of_all = replace(found, symbols=grams.T.ravel(), rows=rows)
    wanted = np.log(p[0]) - np.log(p[1])
    np.testing.assert_allclose(ncleaner.row_ratios(of_all, ratios), wanted.ravel(), atol=1e-5)


@pytest.mark.parametrize("lexical", [True, False])
def test_five_pairs_are_enough_to_tell_stories_from_menus(lexical: bool) -> None:
    model = training.train(pairs(5), lexical=lexical)
    clean = ncleaner.load(ncleaner.to_bytes(model))
    story = STORIES[5]
    unseen = page(f"<ul><li>Home page</li><li>Register</li></ul><p>{story}</p><div>Terms | Print</div>")
    assert kept(unseen, clean(unseen)) == [story]


def test_training_does_not_depend_on_the_order_of_pages() -> None:
    one, other = training.train(pairs(5)), training.train(pairs(5)[::-1])
    np.testing.assert_array_equal(one.ratios.trigrams, other.ratios.trigrams)
    np.testing.assert_allclose(one.calibration, other.calibration)


def test_pages_of_one_site_are_distributed_to_folds_one_by_one() -> None:
    one_site = [replace(example, site="one.example") for example in pairs(5)]
    one, several = training.train(one_site), training.train(pairs(5))
    np.testing.assert_array_equal(one.calibration, several.calibration)


def test_only_characters_that_are_seen_twice_and_no_white_space_have_symbols() -> None:
    blocks = blocks_of("<p>b c b\u00a0d\u00a0d</p>")
    example = TrainingPage(blocks, np.zeros(len(blocks), dtype=np.uint8))
    assert "".join(map(chr, training.alphabet([example], lexical=True))) == "0abd"


def test_uncalibrated_a_segment_is_clean_when_its_characters_are_likelier_in_clean_text() -> None:
    model = training.train(pairs(5), calibrated=False)
    np.testing.assert_array_equal(model.calibration, LIKELIHOOD)
    found = segments(blocks_of(f"<p>{STORIES[5]}</p>{MENU}"), symbol_table(model.characters, lexical=True))
    ratio = np.bincount(found.of_row, weights=ncleaner.row_ratios(found, model.ratios))
    assert ((ncleaner.features(found, model.ratios) @ model.calibration > 0) == (ratio > 0)).all()


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_pages_all_clean_or_all_dirty_teach_nothing(kind: int) -> None:
    blocks = blocks_of("<p>one</p><p>two</p>")
    with pytest.raises(ValueError, match="kept"):
        training.train([TrainingPage(blocks, np.full(2, kind, dtype=np.uint8), "a.example")])


def test_a_model_survives_storing() -> None:
    model = training.train(pairs(5), lexical=False, about={"by": "a test"})
    again = ncleaner.from_bytes(ncleaner.to_bytes(model))
    assert (again.lexical, again.about) == (False, {"by": "a test"})
    np.testing.assert_array_equal(again.characters, model.characters)
    np.testing.assert_array_equal(again.ratios.trigram_keys, model.ratios.trigram_keys)
    np.testing.assert_allclose(again.ratios.trigrams, model.ratios.trigrams, atol=0.01)


def damaged() -> list[bytes]:
    """A clipped file, another kind of file, and models whose arrays don't belong together."""
    good = training.train(pairs(5))
    ratios = good.ratios
    short = replace(ratios, unigrams=ratios.unigrams[1:])
    unordered = replace(ratios, trigram_keys=ratios.trigram_keys[::-1])
    nowhere = good.characters + np.uint32(0x110000)
    models = (
        Model(True, good.characters, short, good.calibration),
        Model(True, good.characters, unordered, good.calibration),
        Model(True, good.characters, ratios, good.calibration[:2]),
        Model(True, good.characters, ratios, good.calibration * np.nan),
        Model(True, nowhere, ratios, good.calibration),
    )
    stored = ncleaner.to_bytes(good)
    return [b"", b"not a model", stored[: len(stored) // 2], *map(ncleaner.to_bytes, models)]


@pytest.mark.parametrize("row", range(8))
def test_a_damaged_model_is_refused_when_it_is_loaded(row: int) -> None:
    with pytest.raises(ModelError, match="not a model of ncleaner") as raised:
        ncleaner.load(damaged()[row])
    assert "\n" not in str(raised.value)


def test_a_model_of_another_format_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = damaged()[-1]
    monkeypatch.setattr(ncleaner, "FORMAT", "ncleaner-9")
    with pytest.raises(ModelError, match=r"this code reads ncleaner-9: train it again"):
        ncleaner.load(stored)


@pytest.mark.parametrize("name", [name for name in victor_spark.cleaners() if name.startswith("ncleaner")])
@given(source=articles)
@settings(max_examples=20)
def test_shipped_models_give_probabilities_and_decide_at_one_half(name: str, source: str) -> None:
    document = victor_spark.clean(source.encode("utf-8", "replace"), cleaner=name)  # a str may be an address
    probabilities = document.scores.probabilities
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    if document.status in {"ok", "empty"}:
        kept = (probabilities[:, 2] < 0.5) & ~document.columns.left_out  # such as a button beside code
        assert document.kept.tolist() == kept.tolist()


def test_the_shipped_model_keeps_an_article_and_drops_its_menu() -> None:
    document = victor_spark.clean(f"{MENU}<p>{STORIES[0]} {STORIES[1]}</p>", cleaner="ncleaner")
    assert document.text == f"{STORIES[0]} {STORIES[1]}"
