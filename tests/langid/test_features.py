"""langid1 and langid2: positive in the target, negative elsewhere, 0 without letters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.langid.test_identify import SENTENCES
from victor_spark.langid.normalise import joined
from victor_spark.langid.profiles import Profiles
from victor_spark.langid.scores import block_scores, lanes_of
from victor_spark.langid.settings import settings


@pytest.mark.parametrize("target", sorted(SENTENCES))
def test_the_target_s_sentence_is_positive_and_the_others_negative(shipped: Profiles, target: str) -> None:
    names = list(SENTENCES)
    langid1, langid2, _ = block_scores(*joined(list(SENTENCES.values())), [target], shipped)
    assert [names[i] for i in np.flatnonzero(langid1 > 0)] == [target]
    assert [names[i] for i in np.flatnonzero(langid2 > 0)] == [target]


def test_several_targets_are_no_rivals_to_each_other(shipped: Profiles) -> None:
    blocks = joined([SENTENCES["cs"], SENTENCES["de"], SENTENCES["ru"]])
    langid1, langid2, _ = block_scores(*blocks, ["cs", "de"], shipped)
    assert (langid1 > 0).tolist() == (langid2 > 0).tolist() == [True, True, False]


def test_blocks_without_letters_are_zero_and_say_so(shipped: Profiles) -> None:
    langid1, langid2, n_letters = block_scores(*joined(["", "12:30", "→", "ano"]), ["cs"], shipped)
    assert langid1[:3].tolist() == langid2[:3].tolist() == n_letters[:3].tolist() == [0, 0, 0]
    assert n_letters[3] == 3


def test_a_page_without_blocks(shipped: Profiles) -> None:
    nothing = np.zeros(0, np.int32)
    assert all(
        len(column) == 0
        for column in block_scores(nothing.astype(np.uint32), nothing, nothing, ["cs"], shipped)
    )


def test_short_blocks_are_shrunk_toward_zero(shipped: Profiles) -> None:
    langid1, _, n_letters = block_scores(*joined(["že", "že že že že že že"]), ["cs"], shipped)
    assert 0 < langid1[0] < langid1[1]
    assert n_letters.tolist() == [2, 12]


@given(texts=st.lists(st.one_of(st.sampled_from(list(SENTENCES.values())), st.text(max_size=40)), max_size=5))
def test_blocks_score_alike_alone_and_on_a_page(shipped: Profiles, texts: list[str]) -> None:
    together = block_scores(*joined(texts), ["cs"], shipped)
    for i, text in enumerate(texts):
        alone = block_scores(*joined([text]), ["cs"], shipped)
        assert [column[i] for column in together] == [column[0] for column in alone]


def test_every_language_has_rivals_outside_its_group(shipped: Profiles) -> None:
    for language in shipped.languages:
        target, *rivals = lanes_of(shipped, (language,))
        assert target == language
        assert rivals
        assert len(rivals) < settings().blocks.n_lanes
        assert not set(rivals) & settings().group(language)
