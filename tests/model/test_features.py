"""Every feature of victor-2008, on a page by hand (Victor, section 3.2)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.html.pages import blocks_of
from victor_spark.blocks import Blocks
from victor_spark.model import surroundings
from victor_spark.model.features import FEATURE_SETS, from_conf
from victor_spark.model.victor_2008 import NAMES
from victor_spark.model.weights import Names, Origins, Weights

FEATURES = from_conf("victor-2008")

MENU = "<div><a>Home</a><div>one two three</div></div><div><a>x</a> four</div>"
TABLE = "<table><tr><td>one <a>link</a><td>two three four</table>"
TWINS = "<p>Read more!</p><p>Body</p><p>read more</p><p>Read more (2)</p><p>Read  more</p>"

EXAMPLES: list[tuple[str, str, Sequence[float]]] = [
    ("container.p", "<p>a<b>b</b></p>c", [1, 1, 0]),
    ("container.a", "<a>a<b>b</b></a>c", [1, 1, 0]),
    ("container.u", "<u>a</u>b", [1, 0]),
    ("container.img", "<p>a<img>b</p>c", [0, 1, 0]),
    ("container.class-header", "<h1>a</h1><h6><i>b</i></h6><header>c</header>", [1, 1, 0]),
    ("container.class-bold", "<b>a</b><strong>b</strong><h1>c</h1>", [1, 1, 0]),
    ("container.class-italic", "<i>a</i><em>b</em><cite>c</cite>d", [1, 1, 1, 0]),
    ("container.class-list", "<ul><li>a</ul><ol><li>b</ol><dl><dt>c</dl>d", [1, 1, 1, 0]),
    ("container.class-form", "<form>a</form><select><option>b</select><textarea>c</textarea>d", [1, 1, 1, 0]),
    ("split.p", "<p>a</p><p>b<br>c", [1, 2, 0]),
    ("split.br", "a<br>b<br><br>c", [0, 1, 2]),
    ("split.hr", "a<hr><hr>b", [0, 2]),
    ("split.class-inline", "a<b><i>b</i></b>c<br>d", [2, 2, 2, 1]),
    ("split.class-block", "<div><p>a</p></div><hr>b", [4, 3]),
    ("char.alpha-abs", "ab1, č", [3]),
    ("char.num-abs", "ab12 3", [3]),
    ("char.punct-abs", "a, b. (c)", [4]),
    ("char.white-abs", "a b&nbsp;c", [2]),
    ("char.other-abs", "1 + 1 = 2 €", [3]),
    ("char.alpha-rel", "ab12", [0.5]),
    ("char.num-rel", "abc1", [0.25]),
    ("char.punct-rel", "a,b.", [0.5]),
    ("char.white-rel", "a b c", [0.4]),
    ("char.other-rel", "a+b=", [0.5]),
    ("token.alpha-abs", "one two 3 4th -", [2]),
    ("token.num-abs", "one 2 3,5 4th -", [2]),
    ("token.mix-abs", "one 2 3rd 4th -", [2]),
    ("token.other-abs", "one - 4th *** €", [3]),
    ("token.alpha-rel", "one two 3 4th", [0.5]),
    ("token.num-rel", "one two 3 4th", [0.25]),
    ("token.mix-rel", "one two 3 4th", [0.25]),
    ("token.other-rel", "one two 3 -", [0.25]),
    ("sentence.count", "<p>One. Two!</p><p>none</p>", [2, 0]),
    ("sentence.avg-length", "<p>One. Two words - here!</p><p>no end mark</p><p>-</p>", [2, 3, 0]),
    ("sentence-begin", "<p>Begins</p><p>goes on.</p><p>3 pigs</p>", [1, 0, 1]),
    ("sentence-end", "<p>Begins</p><p>goes on.</p><p>“Ends?”</p>", [0, 1, 1]),
    ("first-duplicate", TWINS, [1, 0, 0, 0, 0]),
    ("duplicate-count", TWINS, [3, 1, 1, 3, 3]),
    (
        "regexp.url",
        "<p>https://a.cz/b</p><p>see www.a.cz</p><p>me@a.cz</p><p>ftp://a</p><p>a.cz</p>",
        [1, 2, 3, 4, 0],
    ),
    (
        "regexp.date",
        "<p>2008-05-26</p><p>2008年5月26日</p><p>26. 5. 2008</p><p>in 2008</p><p>20</p>",
        [1, 2, 3, 9, 0],
    ),
    ("regexp.time", "<p>9:30 am</p><p>21:15:00</p><p>at 21:15</p><p>v 21 hod</p><p>21</p>", [1, 2, 3, 4, 0]),
    ("div-group.word-ratio", MENU + "out", [0, 0.75, 0.25, 0.25, 0]),
    ("td-group.word-ratio", TABLE + "out", [0.25, 0.25, 0.75, 0]),
    ("position", "<p>a<p>b<p>c", [0, 0.5, 1]),
    ("document.word-count", "<p>one - two<p>3", [3, 3]),
    ("document.sentence-count", "<p>One. Two.<p>Three. four", [3, 3]),
    ("document.block-count", "<p>a<p>b<p>c", [3, 3, 3]),
    ("document.max-div-group", MENU, [0.75] * 4),
    ("document.max-td-group", TABLE, [0.75] * 3),
]


def values_of(blocks: Blocks) -> dict[str, np.ndarray]:
    """The features of `victor-2008` by name."""
    return dict(zip(NAMES, FEATURES.values(blocks), strict=True))


@pytest.mark.parametrize(("name", "source", "expected"), EXAMPLES, ids=[name for name, *_ in EXAMPLES])
def test_feature(name: str, source: str, expected: Sequence[float]) -> None:
    assert values_of(blocks_of(source))[name].tolist() == pytest.approx(expected)


LANGUAGE = ("langid1", "langid2")


@pytest.mark.parametrize("name", LANGUAGE)
def test_language_features_are_the_columns_that_langid_fills(name: str) -> None:
    blocks = replace(blocks_of("<p>a<p>b"), **{name: np.array([0.25, -1], dtype=np.float32)})
    assert values_of(blocks)[name].tolist() == [0.25, -1]


def test_every_feature_has_an_example() -> None:
    assert {name for name, *_ in EXAMPLES} | set(LANGUAGE) == set(NAMES)


PAPER = [
    "container.p",
    "container.a",
    "container.u",
    "container.img",
    "container.class-header",
    "container.class-bold",
    "container.class-italic",
    "container.class-list",
    "container.class-form",
    "split.p",
    "split.br",
    "split.hr",
    "split.class-inline",
    "split.class-block",
    "sentence.count",
    "sentence.avg-length",
    "sentence-begin",
    "sentence-end",
    "first-duplicate",
    "duplicate-count",
    "regexp.url",
    "regexp.date",
    "regexp.time",
    "div-group.word-ratio",
    "td-group.word-ratio",
    "position",
    "document.word-count",
    "document.sentence-count",
    "document.block-count",
    "document.max-div-group",
    "document.max-td-group",
]
PAPER += [
    f"char.{kind}-{form}" for kind in ("alpha", "num", "punct", "white", "other") for form in ("abs", "rel")
]
PAPER += [f"token.{kind}-{form}" for kind in ("alpha", "num", "mix", "other") for form in ("abs", "rel")]


def test_victor_2008_is_the_papers_list_and_nothing_else() -> None:
    assert set(NAMES) == {*PAPER, *LANGUAGE}


def no_weights(elements: tuple[str, ...]) -> Weights:
    """Weights of no word and no origin."""
    names = Names(np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.float32))
    return Weights(names, Origins(np.zeros((0, len(elements) + 1), dtype=np.float32), elements))


@pytest.mark.parametrize("feature_set", FEATURE_SETS)
def test_every_feature_gives_one_finite_number_a_block_on_any_page(feature_set: str) -> None:
    for source in ("", "<p>-</p>", "<p>a", "漢字", TWINS, MENU, TABLE, "<td>" * 300 + "x"):
        blocks = blocks_of(source)
        table = from_conf(feature_set)
        values = table.values(blocks, no_weights(table.elements), lambda known: known.sum(axis=0))
        assert values.shape == (len(FEATURE_SETS[feature_set].names), len(blocks))
        assert np.isfinite(values).all()


def test_chinese_does_not_collapse() -> None:
    found = values_of(blocks_of("<p>我们的城市在河边。夏天很热，冬天很冷。</p>"))
    names = (
        "token.alpha-abs",
        "token.alpha-rel",
        "sentence.count",
        "sentence.avg-length",
        "document.word-count",
    )
    assert [float(found[name][0]) for name in names] == [8, 1, 2, 4, 8]


def test_words_in_links_count_for_no_group() -> None:
    found = values_of(blocks_of("<div><a>one two three</a></div><div>four</div>"))
    assert found["div-group.word-ratio"].tolist() == [0, 1]


@pytest.mark.parametrize("column", ["letters_hash", "class_path"])
def test_hashes_that_a_page_chooses_do_not_crowd_in_a_table(
    column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Multiples of powers of two, plain and as an unkeyed multiplicative hash turns them into such."""
    n, tables, new_table = 4000, list[np.ndarray](), surroundings.slots

    def recorded(size: int) -> np.ndarray:
        tables.append(new_table(size))
        return tables[-1]

    monkeypatch.setattr(surroundings, "slots", recorded)
    steps = np.arange(n, dtype=np.uint64) << np.uint64(40)
    unmixed = steps * np.uint64(pow(11400714819323198485, -1, 2**64))
    blocks = blocks_of("<p>a" * n)
    for chosen in (steps << np.uint64(10), unmixed ^ (unmixed >> np.uint64(32))):
        tables.clear()
        from_conf("victor-2").values(replace(blocks, **{column: chosen}))
        assert len(tables) == 2
        assert all(longest_run(table >= 0) < n / 10 for table in tables)


def longest_run(filled: np.ndarray) -> int:
    """How many slots in a row are taken at most: what the dearest look-up walks through."""
    free = np.flatnonzero(np.concatenate([[True], ~filled, [True]]))
    return int(np.diff(free).max()) - 1


def test_names_that_are_added_to_the_tables_leave_the_features_as_models_know_them() -> None:
    assert surroundings.CONTAINERS == (
        "p", "a", "u", "img", "class-header", "class-bold", "class-italic", "class-list", "class-form",
        "noscript", "pre", "li", "table", "blockquote", "article", "main", "nav", "aside", "header",
        "footer", "figure", "figcaption", "dl", "dt", "button", "label", "section", "address", "time",
    )  # fmt: skip
    assert surroundings.HINTS == (
        "article", "content", "text", "post", "comment", "related", "teaser", "share", "side", "nav",
        "crumb", "head", "foot", "ad", "consent", "subscribe", "byline", "meta", "tag", "media", "title",
        "lead", "form", "product", "list", "hidden", "quote", "document",
    )  # fmt: skip
