"""The compared methods of identification: right on plain sentences, silent on others, alike in batches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.langid_measure import IDENTIFIERS
from tests.langid.test_identify import SENTENCES
from victor_spark.langid.identify import UNKNOWN, Identifier
from victor_spark.langid.profiles import Profiles


@pytest.fixture(scope="module", params=sorted(IDENTIFIERS))
def identifier(request: pytest.FixtureRequest, shipped: Profiles) -> Identifier:
    return IDENTIFIERS[request.param](shipped)


def test_the_language_of_plain_sentences_is_identified(identifier: Identifier) -> None:
    guesses = identifier(list(SENTENCES.values()))
    assert [guess.language for guess in guesses] == list(SENTENCES)
    assert all(0.9 < guess.score <= 1 for guess in guesses)


def test_hardly_any_text_is_never_guessed(identifier: Identifier) -> None:
    assert identifier(["", "x", "  \n ", "1234 5678 90 12 34 56", "ok 2024!"]) == [UNKNOWN] * 5
    assert identifier([]) == []


def test_text_that_no_profile_knows_is_not_guessed(identifier: Identifier) -> None:
    assert identifier(["ᚠᚢᚦᚨᚱᚲ ᚷᚹᚺᚾᛁᛃ ᛈᛇᛉᛊᛏᛒ ᛖᛗᛚᛜᛞᛟ"]) == [UNKNOWN]


@given(texts=st.lists(st.one_of(st.sampled_from(list(SENTENCES.values())), st.text(max_size=50)), max_size=5))
def test_a_batch_is_the_same_as_one_by_one(identifier: Identifier, texts: list[str]) -> None:
    assert identifier(texts) == [identifier([text])[0] for text in texts]


def test_confusable_languages_are_no_rivals(shipped: Profiles) -> None:
    [guess] = IDENTIFIERS["beesley"](shipped)(
        ["Sutra ćemo otići u grad i kupiti sve što nam treba za večeru."]
    )
    assert guess.language in {"hr", "bs", "sr_latn"}
    assert guess.score > 0.9
