"""Features that are NaN or infinite give probabilities too."""

from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.html.pages import blocks_of
from victor_spark.blocks import Blocks
from victor_spark.model import revision
from victor_spark.model.crf import chain_marginals
from victor_spark.model.decision import by_expected_f1, n_words
from victor_spark.model.files import from_bytes

ROOT = Path(__file__).resolve().parents[2]
MODEL = from_bytes((ROOT / "models" / "crf" / "victor-2" / "weights.npz").read_bytes())
BLOCKS: Blocks = blocks_of("<h1>A title</h1>" + "<p>Some <b>words</b> and more.<li>An <a>item</a>" * 6)


@given(seed=st.integers(0, 2**32 - 1), share=st.sampled_from((0.01, 0.3, 1.0)))
@settings(max_examples=40)
def test_features_that_are_no_numbers(seed: int, share: float) -> None:
    dice = np.random.default_rng(seed)
    values = MODEL.values(BLOCKS)
    spoilt = dice.random(values.shape) < share
    values[spoilt] = dice.choice([np.nan, np.inf, -np.inf, 3e38], size=int(spoilt.sum()))
    with np.errstate(all="ignore"):
        chain = chain_marginals(MODEL, values)
        rows = revision.features(BLOCKS, values, chain)
        probabilities = revision.revised(MODEL.last, rows, chain, n_words(BLOCKS))
    for found in (chain, probabilities):
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-6)
    assert len(by_expected_f1(probabilities, n_words(BLOCKS))) == len(BLOCKS)
