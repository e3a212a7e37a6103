"""The DAnIEL classifier: zones, matches and scores by hand; lexicons; texts nobody should have to read."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from research import FOLDER, daniel
from victor_spark.errors import ConfigurationError

NAMES = ("cholera", "yellow fever")
FILLER = "The harbour was quiet. Ships came. Ships went. Nobody counted them. It rained."


def test_paragraphs_are_the_zones() -> None:
    assert daniel.zones("Title\n\n  First one.  \nSecond.\n") == ["Title", "First one.", "Second."]
    assert daniel.zones(" \n \n") == []


def test_a_short_text_with_few_paragraphs_is_one_zone() -> None:
    assert daniel.zones("Title\nOne sentence. Another. Third.") == ["Title\nOne sentence. Another. Third."]


def test_a_title_with_one_long_paragraph_gives_three_zones() -> None:
    title, first, second = daniel.zones(f"Title\n{FILLER}")
    assert (title, first + second) == ("Title", FILLER)
    assert abs(len(first) - len(second)) <= 1


def test_one_long_paragraph_is_cut_into_three_equal_parts() -> None:
    parts = daniel.zones(FILLER)
    assert "".join(parts) == FILLER
    assert [len(part) for part in parts] == [26, 26, 26]


def test_a_name_in_two_zones_is_found_and_in_one_is_not() -> None:
    evidence = daniel.classify("Cholera in town\nA quiet day.\nThe cholera spreads.\nRain.", NAMES)
    assert (evidence.string, evidence.disease, evidence.score) == ("cholera", "cholera", 0.99)
    assert evidence.relevant
    assert daniel.classify("Cholera, cholera, cholera\nA quiet day.\nSun.\nRain.", NAMES).score == 0


def test_in_a_text_of_one_zone_one_mention_is_enough() -> None:
    assert daniel.classify("There is cholera here.", NAMES).relevant
    assert not daniel.classify("There is nothing here.", NAMES).relevant


def test_four_fifths_of_a_name_are_enough() -> None:
    evidence = daniel.classify("Choleryk\nRain.\nChol cholery.\nRain.", ("cholera",))
    assert (evidence.string, evidence.score) == ("choler", pytest.approx(6 / 7))
    assert not daniel.classify("Chole\nRain.\nChole.\nRain.", ("cholera",)).relevant


def test_a_name_without_its_first_letter_loses_a_tenth() -> None:
    evidence = daniel.classify("holera\nRain.\nholera\nRain.", ("cholera",))
    assert evidence.score == pytest.approx(6 / 7 - 0.1)


def test_the_nearest_name_counts() -> None:
    evidence = daniel.classify("swine flu\nRain.\nswine flu\nRain.", ("swine flu outbreak", "swine flu"))
    assert (evidence.disease, evidence.score) == ("swine flu", 0.99)


def test_capitals_and_composition_do_not_matter() -> None:
    text = "ГРИПП в городе\nДождь.\nгрипп\nДождь."
    assert daniel.classify(text, ("грипп",)).score == 0.99
    decomposed = unicodedata.normalize("NFD", "Γρίπη\nΒροχή.\nγρίπη\nΒροχή.")
    assert daniel.classify(decomposed, ("γρίπη",)).score == 0.99


@pytest.mark.parametrize(
    ("ratio", "places", "expected"),
    [
        (0.99, [0, 0], 0.99),  # head and foot
        (0.9, [0, 7], 0.9),  # the head makes up for any depth of the other
        (0.9, [1, 4], 0.9),
        (0.9, [0.25, 0.5], 0.9 ** (1 + 0.125) - 0.1),  # shares of a single zone
        (0.9, [2, 3], 0.9 ** (1 + 2 * 1.0986122886681098) - 0.1),
        (0.99, [5, 6, 7], 0.99 ** (1 + 5 * 1.791759469228055) - 0.1),
    ],
)
def test_scores_by_place(ratio: float, places: list[float], expected: float) -> None:
    assert daniel.score(ratio, places) == pytest.approx(expected)


def test_a_name_deep_inside_a_long_text_scores_by_its_distance_to_the_nearer_end() -> None:
    paragraphs = ["Rain."] * 20
    paragraphs[4] = paragraphs[13] = "Here is yellow fever."
    evidence = daniel.classify("\n".join(paragraphs), NAMES)
    assert evidence.string == "yellow fever"
    assert evidence.score == pytest.approx(daniel.score(0.99, [4, 6]))


@given(st.text("choleran \n.", max_size=80))
def test_a_match_stands_in_two_zones_and_in_its_name(text: str) -> None:
    evidence = daniel.classify(text, NAMES)
    parts = daniel.zones(text)
    if evidence.string:
        n_holding = sum(evidence.string in part for part in parts)
        assert n_holding >= min(2, len(parts))
        assert evidence.string in evidence.disease
        assert len(evidence.string) >= daniel.THRESHOLD * len(evidence.disease)
    else:
        assert evidence.score == 0
        assert sum("cholera" in part for part in parts) < min(2, len(parts)) or not parts


@given(st.text(max_size=60))
def test_any_text_gets_an_answer(text: str) -> None:
    assert 0 <= daniel.classify(text, NAMES).score <= 0.99


@pytest.mark.parametrize("unit", ["cholera", "cholera\n", "a", "\n", "."])
def test_hostile_texts_take_time_in_proportion_to_their_length(unit: str) -> None:
    started = time.process_time()
    daniel.classify(unit * (200_000 // len(unit)), daniel.lexicon("en"))
    assert time.process_time() - started < 20


@pytest.mark.parametrize("language", daniel.LANGUAGES)
def test_lexicons_hold_each_name_once_composed_and_long_enough(language: str) -> None:
    names = daniel.lexicon(language)
    assert 60 <= len(names) <= 150
    folded = [name.casefold() for name in names]
    assert len(set(folded)) == len(folded)
    assert list(names) == [unicodedata.normalize("NFC", name.strip()) for name in names]
    shortest = 2 if language == "zh" else 4  # four fifths of anything shorter are in every other word
    assert min(map(len, names)) >= shortest
    lexicon = FOLDER / "conf" / "daniel" / f"{language}.txt"
    assert lexicon.read_text(encoding="utf-8").endswith("\n")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Archive of influence\nPolice raids.\nThe archive and its influence.\nPolice said the tsars."),
        ("pl", "Trądzik u młodzieży\nPrawdziwa historia.\nTrądzik.\nMiasto nad Odrą."),
        ("ru", "Ускорить реформы\nВопрос.\nУскорить и сорвать.\nКрасная площадь."),
        ("el", "Διοξείδιο του άνθρακα\nΜέτρα.\nΤο διοξείδιο του άνθρακα.\nΕρυθρός Σταυρός."),
        ("zh", "政府公布病例数据\n会议召开。\n公布病例数据。\n主流脑力劳动。"),
    ],
)
def test_words_that_only_look_like_diseases_are_not_found(language: str, text: str) -> None:
    assert daniel.classify(text, daniel.lexicon(language)).score < daniel.THRESHOLD


def test_a_language_without_a_lexicon_is_one_clear_line() -> None:
    with pytest.raises(ConfigurationError, match="'xx'"):
        daniel.lexicon("xx")
