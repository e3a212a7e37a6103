"""The feature table: conf/ and code agree, bins are right, and tables that do not fit are refused."""

import json
import shutil
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from tests.html.pages import articles, blocks_of
from victor_spark.blocks import Blocks, Float32
from victor_spark.errors import ConfigurationError, ModelError
from victor_spark.model.features import (
    FEATURE_SETS,
    MAX_BINS,
    FeatureTable,
    from_conf,
    from_json,
)
from victor_spark.model.surroundings import Fill
from victor_spark.model.victor_2008 import Patterns
from victor_spark.train import crfsuite
from victor_spark.train.crf import without

TABLE = from_conf("victor-2008")


@pytest.fixture
def conf(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of conf/ that the code reads."""
    shutil.copytree(root / "conf", tmp_path / "conf")
    monkeypatch.setenv("VICTOR_HOME", str(tmp_path))
    return tmp_path / "conf" / "features" / "victor-2008.toml"


def test_every_feature_of_the_code_is_in_conf_and_no_other(root: Path) -> None:
    assert {path.stem for path in (root / "conf" / "features").glob("*.toml")} == set(FEATURE_SETS)
    for name, features in FEATURE_SETS.items():
        assert from_conf(name).names == features.names


def test_a_set_with_a_base_has_all_of_it_and_its_own(conf: Path) -> None:
    own = 'conjunctions = [["score@0", "score@1"]]\n[features]\n"score" = { edges = [0], offsets = [0, 1] }\n'
    conf.with_name("victor-3.toml").write_text(f'base = "victor-2"\n{own}')
    base, larger = from_conf("victor-2"), from_conf("victor-3")
    assert larger.trees == base.trees
    assert (larger.names, larger.names[-1]) == (base.names, "score")
    assert (*larger.edges[:-1], larger.edges[-1]) == (*base.edges[:-1], (0.0,))
    assert len(larger.conjunctions) == len(base.conjunctions) + 1


def test_a_new_feature_is_a_row_of_a_new_set_whose_file_names_its_base(
    conf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = FEATURE_SETS["victor-3"]

    def rows_of(blocks: Blocks, patterns: Patterns) -> Fill:
        fill_base = base.rows_of(blocks, patterns)

        def fill(first: int, rows: Float32) -> None:
            fill_base(first, rows[:-1])
            rows[-1] = 2 * blocks.n_letters[first : first + rows.shape[1]]

        return fill

    larger = replace(base, own=(*base.own, "letters.twice"), rows_of=rows_of)
    monkeypatch.setitem(FEATURE_SETS, "victor-4", larger)
    conf.with_name("victor-4.toml").write_text('base = "victor-3"\n')
    table, blocks = from_conf("victor-4"), blocks_of("<p>One<p>Three")
    of_base = from_conf("victor-3")
    assert table.trees == of_base.trees
    assert table.as_json()["conjunctions"] == of_base.as_json()["conjunctions"]
    row = table.names.index("letters.twice")
    assert [*table.names[:row], *table.names[row + 1 :]] == [*of_base.names]
    assert table.values(blocks)[row].tolist() == [6, 10]
    assert (table.edges[row], table.edges[-1]) == ((), of_base.edges[-1])


def test_names_of_features_and_attributes_are_unique() -> None:
    assert len(set(TABLE.names)) == len(TABLE.names)
    singles = [
        crfsuite.single_name(TABLE, feature, offset, code)
        for feature, offsets in enumerate(TABLE.offsets)
        for offset in offsets
        for code in range(1, TABLE.n_bins(feature))
    ]
    assert len(set(singles)) == len(singles)


@given(articles)
def test_a_bin_is_the_number_of_edges_not_above_the_value(source: str) -> None:
    blocks = blocks_of(source)
    values = TABLE.values(blocks)
    codes = TABLE.bins(values)
    for row, name in enumerate(TABLE.names):
        assert codes[row].tolist() == [
            sum(np.float32(edge) <= value for edge in TABLE.edges[row]) for value in values[row]
        ], name


def test_a_table_survives_json() -> None:
    again = from_json(json.loads(json.dumps(TABLE.as_json())))
    assert again == TABLE
    assert again.patterns == TABLE.patterns


def test_a_table_whose_features_are_in_another_order_is_refused() -> None:
    stored = TABLE.as_json()
    stored["features"] = dict(reversed(stored["features"].items()))
    with pytest.raises(ModelError, match="code and table differ in the order"):
        from_json(stored)


def test_reach_is_the_farthest_offset() -> None:
    assert TABLE.reach == 2
    assert replace(TABLE, offsets=tuple((-4, 1) for _ in TABLE.names)).reach == 4
    assert replace(TABLE, offsets=tuple(() for _ in TABLE.names)).reach == 0


@given(articles)
def test_each_attribute_names_a_feature_and_its_offset(source: str) -> None:
    blocks = blocks_of(source)
    table, n_blocks = small_table(), len(blocks)
    codes = table.bins(table.values(blocks))
    words, links = (codes[table.names.index(name)].tolist() for name in ("token.alpha-abs", "container.a"))
    for row, names in enumerate(crfsuite.sequences(table, codes)):
        before = words[row - 1] if row else 0
        expected = [
            "bias",
            *(["boundary[-1]"] if row == 0 else []),
            *(["boundary[1]"] if row == n_blocks - 1 else []),
        ]
        expected += [f"token.alpha-abs[-1]={before}"] * bool(before)
        after = links[row + 1] if row + 1 < n_blocks else 0
        expected += [f"container.a[1]={after}"] * bool(after)
        pair = before * 2 + links[row]
        expected += [f"conjunction[0]={pair}"] * bool(pair)
        assert sorted(names) == sorted(expected)


def small_table() -> FeatureTable:
    """Two features and one conjunction of both."""
    rows = {"token.alpha-abs": (-1,), "container.a": (1,)}
    pair = ((TABLE.names.index("token.alpha-abs"), -1), (TABLE.names.index("container.a"), 0))
    return replace(TABLE, offsets=tuple(rows.get(name, ()) for name in TABLE.names), conjunctions=(pair,))


def altered(**changes: Any) -> dict[str, Any]:
    """The stored table with other values: keys are paths whose parts are joined by `__`."""
    stored = deepcopy(TABLE.as_json())
    for path, value in changes.items():
        *parents, key = path.split("__")
        place: Any = stored
        for parent in parents:
            place = place[parent]
        place[key] = value
    return stored


FEATURES = TABLE.as_json()["features"]
WRONG: dict[str, dict[str, Any]] = {
    "a feature too many": {"features": {**FEATURES, "container.q": {"edges": [1], "offsets": [0]}}},
    "a feature missing": {"features": {name: row for name, row in FEATURES.items() if name != "position"}},
    "another feature set": {"feature_set": "victor-1998"},
    "an unknown key": {"templates": []},
    "an unknown key of a feature": {"features__position": {"edges": [1], "offsets": [0], "offset": [1]}},
    "a feature without edges": {"features__position": {"offsets": [0]}},
    "edges that fall": {"features__position": {"edges": [2, 1], "offsets": [0]}},
    "equal edges": {"features__position": {"edges": [1, 1], "offsets": [0]}},
    "too many edges": {"features__position": {"edges": list(range(MAX_BINS + 1)), "offsets": [0]}},
    "edges that are no numbers": {"features__position": {"edges": ["a"], "offsets": [0]}},
    "offsets that are no list": {"features__position": {"edges": [1], "offsets": 0}},
    "an offset twice": {"features__position": {"edges": [1], "offsets": [0, 0]}},
    "a conjunction of an unknown feature": {"conjunctions": [["container.q@0"]]},
    "a conjunction without an offset": {"conjunctions": [["container.a"]]},
    "a conjunction of nothing": {"conjunctions": [[]]},
    "no patterns": {"patterns": {}},
    "patterns that don't compile": {"patterns__date": [r"\d["]},
    "patterns of another kind": {"patterns": ["x"]},
    "features of another kind": {"features": ["x"]},
    "words of another conf/words.toml": {"words": "0" * 64},
}


@pytest.mark.parametrize("error", [ModelError, ConfigurationError])
@pytest.mark.parametrize("changes", WRONG.values(), ids=WRONG)
def test_a_table_that_does_not_fit_the_code_is_refused_in_one_line(
    changes: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error) as raised:
        from_json(altered(**changes), error)
    assert len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"position" =', '"positions" ='),
        ("conjunctions = [", "conjunction = []\nconjunctions = ["),
        ('"position" = {', '"position" = { bins = 3,'),
        ("[features]", "[features"),
        ('"position" =', '"position" = { edges = [1], offsets = [0] }\n"position" ='),
    ],
)
def test_unknown_keys_and_bad_toml_in_conf_are_configuration_errors(conf: Path, old: str, new: str) -> None:
    text = conf.read_text(encoding="utf-8")
    assert old in text
    conf.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigurationError) as raised:
        from_conf("victor-2008")
    assert len(str(raised.value).splitlines()) == 1


def test_an_unknown_feature_set_is_a_configuration_error(conf: Path) -> None:
    with pytest.raises(ConfigurationError, match="victor-1998"):
        from_conf("victor-1998")
    (conf.parent.parent / "patterns.toml").unlink()
    with pytest.raises(ConfigurationError, match=r"patterns\.toml"):
        from_conf("victor-2008")


def test_a_silenced_feature_emits_nothing_and_leaves_the_others_alone() -> None:
    full = TABLE
    silent = without(full, ["langid1", "container.a"])
    blocks = blocks_of("<p>One <a>two three</a></p><p>A sentence ends here.</p>")
    kept = [row for row, name in enumerate(full.names) if name not in {"langid1", "container.a"}]
    assert (silent.bins(silent.values(blocks))[kept] == full.bins(full.values(blocks))[kept]).all()
    assert not silent.bins(silent.values(blocks))[
        [full.names.index("langid1"), full.names.index("container.a")]
    ].any()
    assert all(full.names.index("container.a") not in dict(parts) for parts in silent.conjunctions)
    with pytest.raises(ConfigurationError, match="no feature nonsense"):
        without(full, ["nonsense"])
