"""The evidence of a site's pages for each of them, and its effect on the probabilities of their blocks."""

import errno
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from functools import reduce

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.html.pages import blocks_of
from victor_spark.blocks import HEADER, OTHER, TEXT, Blocks, Float32, Float64
from victor_spark.errors import ModelError, TableError
from victor_spark.extractors import victor
from victor_spark.model.decision import by_expected_f1, n_words
from victor_spark.pipeline import guarded
from victor_spark.resources import directory
from victor_spark.site_files import reading
from victor_spark.sites import table
from victor_spark.sites.evidence import (
    CONSENSUS,
    EVIDENCE,
    FILE_NAME,
    FORMAT,
    N_PAGES,
    REPEATS,
    SHARE,
    SUMS,
    Contributions,
    Known,
    SiteModel,
    added,
    contributions,
    evidence,
    model_from_bytes,
    revised,
)

MODEL = SiteModel(weight=0.9, prior_pages=1.0, doubt=1.0, repeated=3.0, calibration=0.9)
NOTICE = "Please read our terms of use before you print this page"


def article(number: int, notice: str = NOTICE) -> Blocks:
    """A page of an invented site: a menu, two paragraphs of its own, and a notice between them."""
    first, second = (f"The {n} paragraph tells of the ship {number * 'a'}b" for n in ("first", "second"))
    return blocks_of(
        f"<nav><a>Home</a><a>Ships</a></nav><div class=story><h1>Ship {number * 'a'}</h1>"
        f"<p>{first}</p><p>{notice}</p><p>{second}</p></div>"
    )


def marginals(*content: float) -> Float64:
    """Rows with these probabilities of content, a third of each for the header."""
    likely = np.array(content)
    return np.stack([likely / 3, likely - likely / 3, 1 - likely], axis=1)


RIGHT = marginals(0.02, 0.02, 0.9, 0.95, 0.8, 0.95)

scored = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from((0.0, 0.01, 0.3, 0.5, 0.97, 1.0)) | st.floats(0, 1)),
    max_size=9,
)


def page(rows: Sequence[tuple[int, float]]) -> tuple[Blocks, Float64]:
    """A page with a paragraph in one of five layouts for each row, and its marginals."""
    source = "".join(
        f"<div class=c{layout}><p>text of {layout} {'x' * (i % 3)}</p></div>"
        for i, (layout, _) in enumerate(rows)
    )
    return blocks_of(source), marginals(*(content for _, content in rows)).reshape(-1, 3)


def known(pages: Iterable[Contributions]) -> Known:
    """The evidence of pages with these contributions."""
    rows = list(pages)
    return Known(len(rows), added(rows))


def same(first: Known, second: Known) -> bool:
    """Whether both tell the same, to the bit."""
    pairs = ((first.of_keys.key, second.of_keys.key), (first.of_keys.sums, second.of_keys.sums))
    return first.n_pages == second.n_pages and all(np.array_equal(a, b) for a, b in pairs)


@given(st.lists(scored, max_size=6), st.randoms())
def test_the_order_of_pages_changes_no_bit_and_merging_equals_adding_up(
    pages: list[list[tuple[int, float]]], random: object
) -> None:
    rows = [contributions(*page(each)) for each in pages]
    whole = known(rows)
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert same(whole, known(shuffled))
    one_by_one = reduce(lambda sums, each: added([sums, each]), shuffled, added([]))
    assert same(whole, Known(len(rows), one_by_one))
    assert (np.diff(whole.of_keys.key.astype(object)) > 0).all()


@given(st.lists(scored, min_size=1, max_size=5))
def test_a_page_is_no_evidence_for_itself(pages: list[list[tuple[int, float]]]) -> None:
    built = [page(each) for each in pages]
    rows = [contributions(*each) for each in built]
    among = evidence(*built[0], known(rows))
    apart = evidence(*built[0], known(rows[1:]), is_among=False)
    np.testing.assert_array_equal(among, apart)


@given(st.lists(scored, min_size=1, max_size=5))
def test_keys_that_one_page_alone_has_need_not_be_known(pages: list[list[tuple[int, float]]]) -> None:
    built = [page(each) for each in pages]
    whole = known(contributions(*each) for each in built)
    is_shared = whole.of_keys.sums[0] > 1
    sums = np.ascontiguousarray(whole.of_keys.sums[:, is_shared])
    shared = Contributions(whole.of_keys.key[is_shared], sums)
    for each in built:
        fewer = evidence(*each, Known(whole.n_pages, shared))
        np.testing.assert_array_equal(fewer, evidence(*each, whole))


@given(scored)
def test_a_page_alone_keeps_its_probabilities_to_the_bit(rows: list[tuple[int, float]]) -> None:
    blocks, own = page(rows)
    found = evidence(blocks, own, known([contributions(blocks, own)]))
    assert not found.any()
    assert revised(MODEL, own, n_words(blocks), found, blocks.paragraph).tobytes() == own.tobytes()


def articles(n_pages: int, notice: str = NOTICE) -> list[Contributions]:
    """The contributions of articles of the invented site."""
    return [contributions(article(number, notice), RIGHT) for number in range(n_pages)]


def site(n_pages: int, notice: str = NOTICE) -> Known:
    """The sums of these articles."""
    return known(articles(n_pages, notice))


def after(blocks: Blocks, own: Float64, of_site: Known) -> Float64:
    """The revised probabilities of a page of the site."""
    return revised(MODEL, own, n_words(blocks), evidence(blocks, own, of_site), blocks.paragraph)


@given(scored, st.lists(scored, min_size=1, max_size=4))
def test_a_block_that_no_other_page_tells_of_is_not_dropped(
    rows: list[tuple[int, float]], others: list[list[tuple[int, float]]]
) -> None:
    blocks, own = page(rows)
    found = evidence(blocks, own, known(contributions(*page(each)) for each in [rows, *others]))
    before = victor.scores(own, blocks)
    new = victor.with_evidence(blocks, before, found, MODEL)
    is_unknown = found[N_PAGES] == 0
    is_text = before.kept & ~(before.headline if before.headline is not None else False)
    assert not (is_text & is_unknown & ~new.kept).any() or not new.kept.any()
    assert new.probabilities[is_unknown].tobytes() == own[is_unknown].tobytes()
    alone = victor.with_evidence(blocks, before, np.zeros_like(found), MODEL)
    np.testing.assert_array_equal(alone.kept, before.kept)
    assert alone.expected_f1 == before.expected_f1


def test_a_headline_does_not_stay_without_its_text() -> None:
    """All text below a headline of an unknown layout is boilerplate on the other pages."""
    text = "<p>The ferry runs from the old pier each hour and takes bicycles, too.</p>" * 2
    blocks = blocks_of(f'<div class="new"><h1>The ferry is back</h1></div><div class="old">{text}</div>')
    own = marginals(0.05, 0.7, 0.7)
    before = victor.scores(own, blocks)
    assert before.kept.tolist() == [True, True, True]
    assert before.headline is not None
    assert before.headline.tolist() == [True, False, False]
    found = np.zeros((len(EVIDENCE), 3), np.float32)
    found[[CONSENSUS, N_PAGES, SHARE], 1:] = np.array([[-6.0], [20.0], [1.0]])
    assert not victor.with_evidence(blocks, before, found, MODEL).kept.any()


def test_a_page_that_the_model_gets_wrong_is_decided_like_the_other_pages_of_its_layout() -> None:
    odd, own = article(9), marginals(0.02, 0.6, 0.1, 0.1, 0.1, 0.2)
    of_site = known([*articles(9), contributions(odd, own)])
    assert not by_expected_f1(own, n_words(odd))[[3, 5]].any()
    is_content = after(odd, own, of_site)[:, OTHER] < 0.5
    assert is_content.tolist() == [False, False, True, True, False, True]


def test_a_text_that_the_other_pages_repeat_is_less_likely_content_than_a_text_of_the_page() -> None:
    of_site = site(8)
    changed = after(article(3), RIGHT, of_site)
    content = 1 - changed[:, OTHER]
    assert content[4] < 0.6
    assert content[3] > 0.9
    evidence_of_page = evidence(article(3), RIGHT, of_site)
    assert evidence_of_page[REPEATS].tolist() == [1, 1, 0, 0, 1, 0]
    assert evidence_of_page[SHARE].tolist() == [1.0] * 6


def test_links_to_an_article_on_all_other_pages_do_not_repeat_its_headline() -> None:
    names = [f"Ship {n * 'a'}" for n in range(1, 9)]

    def linked(number: int) -> Blocks:
        links = "".join(f"<li><a>{name}</a></li>" for name in names if name != names[number])
        story = f"<h1>{names[number]}</h1><p>It sailed {number * 'b'}</p><p>It sank {number * 'c'}</p>"
        return blocks_of(f"<div class=story>{story}</div><ul class=more>{links}</ul>")

    own = marginals(0.6, 0.95, 0.95, *[0.1] * 7)
    of_site = known(contributions(linked(number), own) for number in range(8))
    assert not evidence(linked(3), own, of_site)[REPEATS, 0]
    assert after(linked(3), own, of_site)[0, OTHER] < 0.45


def test_copies_of_a_page_do_not_protect_what_all_other_pages_repeat() -> None:
    """Two more addresses of article 3: its own paragraphs stand on three pages then, its notice on all."""
    copied = known([*articles(20), *(contributions(article(3), RIGHT) for _ in range(2))])
    alone, changed = after(article(3), RIGHT, site(20)), after(article(3), RIGHT, copied)
    np.testing.assert_allclose(changed[4, OTHER], alone[4, OTHER], atol=0.05)
    assert (changed[[3, 5], OTHER] < 0.1).all()


def test_the_blocks_of_a_paragraph_change_alike_before_each_is_calibrated() -> None:
    """A repeated label, its value, a block without evidence, and a paragraph of its own."""
    own, words = marginals(0.7, 0.6, 0.5, 0.6), np.array([3.0, 3.0, 3.0, 3.0])
    table = np.zeros((len(EVIDENCE), 4), np.float32)
    table[[CONSENSUS, N_PAGES, SHARE]] = np.array([[0.0], [9.0], [1.0]]) * (1, 1, 0, 1)
    table[REPEATS] = 1, 0, 0, 0
    together = revised(MODEL, own, words, table, np.array([0, 0, 0, 1], np.int32))
    apart = revised(MODEL, own, words, table)

    def log_odds(probabilities: Float64) -> Float64:
        return np.asarray(np.log(1 / probabilities[:, OTHER] - 1))

    def changes(probabilities: Float64) -> Float64:
        calibrated = np.array([MODEL.calibration] * 2 + [1.0, MODEL.calibration])
        return log_odds(probabilities) / calibrated - log_odds(own)

    single = changes(apart)
    alike = [single[:2].mean(), single[:2].mean(), 0, single[3]]
    np.testing.assert_allclose(changes(together), alike, atol=1e-9)
    assert single[0] < single[1]


def test_a_sure_sentence_without_evidence_against_it_does_not_pull_the_link_beside_it_down() -> None:
    own, words = marginals(0.001, 0.45), np.array([20.0, 0.0])
    table = np.zeros((len(EVIDENCE), 2), np.float32)
    table[N_PAGES], table[CONSENSUS] = 9, np.log(1 / own[:, OTHER] - 1)
    together = revised(MODEL, own, words, table, np.array([0, 0], np.int32))
    np.testing.assert_allclose(together[1], revised(MODEL, own, words, table)[1], atol=1e-6)


def test_consensus_that_makes_a_block_less_likely_needs_more_pages() -> None:
    own, table = marginals(0.5), np.zeros((len(EVIDENCE), 1), np.float32)
    table[N_PAGES] = 1
    changes = []
    for consensus in (3.0, -3.0):
        table[CONSENSUS] = consensus
        changes.append(revised(replace(MODEL, doubt=3.0), own, np.ones(1), table)[0, OTHER] - 0.5)
    assert changes[0] < -0.2
    assert 0 < 2 * changes[1] < -changes[0] * 1.9


def copies(blocks: Blocks, own: Float64, n_pages: int) -> Known:
    """The sums of a site that has `n_pages` copies of one page."""
    one = contributions(blocks, own)
    return Known(n_pages, Contributions(one.key, one.sums * n_pages))


def test_one_page_ten_thousand_times_keeps_its_content() -> None:
    blocks, words = article(1), n_words(article(1))
    changed = after(blocks, RIGHT, copies(blocks, RIGHT, 10_000))
    assert by_expected_f1(changed, words).tolist() == by_expected_f1(RIGHT, words).tolist()
    assert (changed[2:, OTHER] < 0.2).all()


Row = tuple[float, int, float, int, float, float]
"""Of a block: P(content), words, consensus, pages with its layout, their share, ratio of repeats."""

floats = st.floats(0, 1, width=32)
row = st.tuples(
    st.floats(0, 1), st.integers(0, 60), st.floats(-13.5, 13.5, width=32), st.integers(0, 9), floats, floats
)


def columns(rows: Sequence[Row]) -> tuple[Float64, Float64, Float32]:
    """Probabilities, words and evidence."""
    content, words, consensus, n_pages, share, ratio = (np.array(each) for each in zip(*rows, strict=True))
    table = np.zeros((len(EVIDENCE), len(rows)), np.float32)
    table[CONSENSUS], table[N_PAGES], table[SHARE] = consensus, n_pages, share
    table[REPEATS] = ratio
    return marginals(*content), words.astype(float), table


@given(st.lists(row, min_size=1, max_size=8))
def test_rows_sum_to_one_and_the_ratio_of_header_to_text_stays(
    rows: list[Row],
) -> None:
    own, words, table = columns(rows)
    changed = revised(MODEL, own, words, table)
    assert ((changed >= 0) & (changed <= 1)).all()
    np.testing.assert_allclose(changed.sum(axis=1), 1)
    np.testing.assert_allclose(
        changed[:, HEADER] * own[:, TEXT], changed[:, TEXT] * own[:, HEADER], atol=1e-12
    )
    unknown = table[N_PAGES] == 0
    assert changed[unknown].tobytes() == own[unknown].tobytes()


@given(st.lists(row, min_size=1, max_size=8), floats)
def test_more_repetition_never_raises_the_probability_of_a_block_that_is_a_paragraph_of_its_own(
    rows: list[Row], ratio: float
) -> None:
    own, words, table = columns(rows)
    more = table.copy()
    more[REPEATS, 0] = max(ratio, table[REPEATS, 0])
    before, after = (revised(MODEL, own, words, each)[0, OTHER] for each in (table, more))
    assert after >= before


@given(scored, st.integers(-(2**62), 2**62))
def test_sums_that_no_page_contributed_give_finite_evidence(
    rows: list[tuple[int, float]], number: int
) -> None:
    blocks, own = page(rows)
    key = contributions(blocks, own).key
    wrong = Known(3, Contributions(key, np.full((len(SUMS), len(key)), number, np.int64)))
    table = evidence(blocks, own, wrong)
    assert np.isfinite(table).all()
    assert np.isfinite(revised(MODEL, own, n_words(blocks), table)).all()


def test_two_hundred_thousand_blocks_take_less_than_five_seconds() -> None:
    source = "".join(f"<p class=c{i % 5000}>word {i % 70_000}</p>" for i in range(200_000))
    blocks = blocks_of(source)
    own = marginals(*np.linspace(0, 1, len(blocks)))
    started = time.process_time()
    changed = after(blocks, own, copies(blocks, own, 3))
    assert time.process_time() - started < 5
    assert len(changed) == 200_000
    assert np.isfinite(changed).all()


def test_a_key_that_a_site_has_twice_counts_once_and_moves_no_other_sum() -> None:
    """A long file of scored pages gives some keys twice, and gets their sums as often."""
    columns = {"site": ["a"] * 5 + ["b"], "key": [2, 2, 2, 5, -1, -1]}
    columns |= {"n_pages": [3, 3, 3, 4, 9, 1], "log_odds": [10, 10, 10, -20, 0, 0]}
    known = table.Sites(pa.table(columns, table.SUMS)).of("a")
    assert known is not None
    assert known.n_pages == 9
    assert known.of_keys.key.tolist() == [2, 5, (1 << 64) - 1]
    assert known.of_keys.sums.tolist() == [[3, 4, 9], [10, -20, 0]]


def test_a_page_without_blocks_contributes_no_row() -> None:
    blocks, own = page([])
    assert not len(contributions(blocks, own))
    assert evidence(blocks, own, site(3)).shape == (len(EVIDENCE), 0)
    assert revised(MODEL, own, n_words(blocks), evidence(blocks, own, site(3))).shape == (0, 3)


def test_texts_are_keys_only_where_they_may_be_content() -> None:
    def n_texts(own: Float64) -> int:
        return int((contributions(article(1), own).key & np.uint64(1)).sum())

    assert n_texts(RIGHT) == 6
    assert n_texts(marginals(0.01, 0.01, *[0.9] * 4)) == 4


def test_the_shipped_model_is_read_with_all_that_its_file_states() -> None:
    folder = directory("models") / "sites"
    stored = (folder / FILE_NAME).read_bytes()
    assert {"format": FORMAT, **asdict(model_from_bytes(stored))} == json.loads(stored)
    assert (folder / "CARD.md").is_file()


GOOD = {"format": FORMAT, **asdict(MODEL)}


@pytest.mark.parametrize(
    ("stored", "complaint"),
    [
        (b"\x00", "not a site model"),
        (b"[]", "not a site model of format"),
        (json.dumps(GOOD | {"format": 0}).encode(), "not a site model of format"),
        (
            json.dumps(GOOD | {"weight": 1.5}).encode(),
            "weight of a site model must be between",
        ),
        (json.dumps(GOOD | {"repeated": None}).encode(), "repeated of a site model"),
        (json.dumps(GOOD | {"repeated": float("nan")}).encode(), "repeated of a site model"),
        (json.dumps(GOOD | {"more": 1}).encode(), "unexpected keyword argument .more."),
    ],
)
def test_a_model_that_does_not_fit_is_refused(stored: bytes, complaint: str) -> None:
    with pytest.raises(ModelError, match=complaint) as caught:
        model_from_bytes(stored, "models/sites")
    assert str(caught.value).startswith("models/sites: ")


@pytest.mark.parametrize(
    "error", [MemoryError(), pa.ArrowMemoryError("malloc"), OSError(errno.ENOMEM, "no memory")]
)
def test_a_page_without_memory_to_read_the_table_is_lost_and_not_the_run(error: Exception) -> None:
    def read(failure: Exception) -> str:
        with reading(table.KIND, "part.parquet"):
            raise failure

    def lost(status: str, _: str) -> str:
        return status

    assert guarded(lambda: read(error), lost) == "out_of_memory"
    for other in (pa.ArrowInvalid("damaged"), OSError(errno.EIO, "disk")):
        with pytest.raises(TableError, match=table.KIND.unreadable):
            guarded(lambda failure=other: read(failure), lost)  # type: ignore[misc]
