"""Text that was decoded with the wrong charset is repaired; correct text is unchanged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.langid.test_encoding import misread
from tests.langid.test_identify import SENTENCES
from victor_spark.kernels import code_points, letters
from victor_spark.langid.encoding import examined
from victor_spark.langid.profiles import Profiles
from victor_spark.langid.repair import (
    _READ_AS,
    CERTAIN,
    CONTROLS,
    TWICE,
    Misreading,
    _sequences,
    again,
    beginnings,
    reread,
    whole,
)

FRENCH = "L’été dernier, l’élève a déjeuné à côté du château ; il y était déjà allé, à pied, l’hiver."

FOREIGN = sorted(name for name, text in SENTENCES.items() if len(set(text) - set(map(chr, range(128)))) >= 4)
"""The languages with letters enough that can be damaged."""


def repaired(text: str, profiles: Profiles) -> str:
    """The text when nothing is left to repair."""
    for _ in range(4):
        misreading = examined(text, profiles, code_points(text)).misreading
        if misreading is None:
            break
        text = again(text, misreading)
    return text


@pytest.mark.parametrize("language", sorted(SENTENCES))
def test_good_texts_are_left_alone(shipped: Profiles, language: str) -> None:
    for text in (SENTENCES[language], SENTENCES[language].upper(), f"« {SENTENCES[language] * 30}\xa0»"):
        assert examined(text, shipped, code_points(text)).misreading is None


@pytest.mark.parametrize(
    "text",
    [
        "«\xa0Il est allé au CAFÉ», dit-elle, «\xa0l’été\xa0» à 5°, déjà… «\xa0Voilà\xa0»; café”, É—. " * 9,
        "A MANHû DE AMANHû É NOSSO CORAÇÃO… SÃO JOÃO, A NAÇÃO E A CANÇÃO. “MANHû " * 9,
        "Æ” og Ø\xa0, Å™, Ä°, Å®: " * 9,
        "Всё «её» и «моё», Ђ и ѓ, № 5 — «ещё»… " * 9,
    ],
)
def test_letters_beside_signs_are_no_misread_text(shipped: Profiles, text: str) -> None:
    assert repaired(text, shipped) == text


@pytest.mark.parametrize(
    "sentence",
    [
        "An “Ã©” on a page is an é that was encoded twice, “Ã¼” an ü, “â€™” an apostrophe: all from UTF-8. ",
        "| é | Ã© |\n| ü | Ã¼ |\n| ß | ÃŸ |\n| ’ | â€™ |\n| é in café | Ã© in cafÃ© |\n",
    ],
)
def test_an_article_that_quotes_misread_text_is_left_alone(shipped: Profiles, sentence: str) -> None:
    text = "How charsets are confused, with examples, for those who see them now and then. " + sentence
    assert repaired(text * 3, shipped) == text * 3


@pytest.mark.parametrize("language", FOREIGN)
@pytest.mark.parametrize(
    "read_as", ["windows-1252", "iso8859-1", "windows-1250", "windows-1251", "iso8859-2"]
)
def test_a_text_encoded_twice_comes_back(shipped: Profiles, language: str, read_as: str) -> None:
    text = SENTENCES[language] * 3
    assert repaired(misread(text, "utf-8", read_as), shipped) == text


def test_a_text_encoded_three_times_comes_back(shipped: Profiles) -> None:
    assert (
        repaired(misread(misread(FRENCH, "utf-8", "windows-1252"), "utf-8", "windows-1252"), shipped)
        == FRENCH
    )


def test_only_the_damaged_part_of_a_page_is_repaired(shipped: Profiles) -> None:
    good = f"{FRENCH} «\xa0L’été\xa0» au CAFÉ». "
    text = good * 5 + misread(FRENCH, "utf-8", "windows-1252")
    assert repaired(text, shipped) == good * 5 + FRENCH


@pytest.mark.parametrize("times", [1, 2, 8, 30])
@pytest.mark.parametrize("language", FOREIGN)
def test_no_letter_of_a_damaged_paragraph_is_left(shipped: Profiles, language: str, times: int) -> None:
    """Many sequences look likely as they stand, `Å™` in Czech; but not in a damaged word or line."""
    good = SENTENCES[language] * 3 + "\n"
    text = good * times + misread(good, "utf-8", "windows-1252")
    assert repaired(text, shipped) == good * (times + 1)


def test_the_letters_of_damaged_lines_are_read_again_elsewhere_but_no_others(shipped: Profiles) -> None:
    good = "Paní řekla, že «CAFÉ» i «CAFÉ», Å” a „DÉJÀ», příliš žluťoučký kůň. "
    damaged = misread("Příliš žluťoučký kůň úpěl ďábelské ódy. ", "utf-8", "windows-1252") + "\n"
    text = good * 3 + damaged + "see " + misread("řekl", "utf-8", "windows-1252")
    assert repaired(text, shipped) == good * 3 + "Příliš žluťoučký kůň úpěl ďábelské ódy. \nsee řekl"


PUNCTUATED = "“It’s the island’s ferry,” she said – don’t worry… the café’s naïve owner can’t wait. "


@pytest.mark.parametrize("text", [PUNCTUATED, *map(SENTENCES.__getitem__, FOREIGN)])
@pytest.mark.parametrize(
    "read_as",
    [
        "cp437",
        "cp850",
        "mac_roman",
        "koi8-r",
        "windows-1251",
        "windows-1253",
        "windows-1254",
        "cp866",
        "iso8859-15",
    ],
)
def test_a_charset_that_explains_a_whole_text_is_found_in_any_text(
    shipped: Profiles, text: str, read_as: str
) -> None:
    """Though no run of it is unlikely, or parts of it would be UTF-8 read as windows-1252, too."""
    assert repaired(misread(text * 3, "utf-8", read_as), shipped) == text * 3


@pytest.mark.parametrize(
    "text",
    [
        "L’État, l’école, l’âme et l’été d’Évian, d’Ors. ",
        "D’ÉTAT, L’ÉCOLE, D’ÊTRE, L’ÂME, L’ÎLE, “ÀLA”. ",
        "“à” ‘é’ “è” ‘ü’ “ö” ",
        "└┬┘ ├─┤ ╔═╗ ║ ╚═╝ ░▒▓ ",
    ],
)
def test_signs_before_letters_are_no_utf_8(shipped: Profiles, text: str) -> None:
    """`’É` are two bytes of UTF-8 in mac_roman; but Armenian is no better than French."""
    for times in (1, 4, 20):
        assert repaired(text * times, shipped) == text * times


@pytest.mark.parametrize(
    ("language", "written_in", "read_as"),
    [
        ("ru", "windows-1251", "windows-1252"),
        ("ru", "koi8-r", "windows-1251"),
        ("cs", "windows-1250", "windows-1252"),
        ("el", "windows-1253", "windows-1252"),
        ("zh", "gbk", "windows-1252"),
        ("zh", "gbk", "iso8859-15"),
        ("ja", "euc_jp", "windows-1252"),
        ("ko", "euc_kr", "windows-1252"),
    ],
)
def test_the_language_tells_which_charsets_were_confused(
    shipped: Profiles, language: str, written_in: str, read_as: str
) -> None:
    text = SENTENCES[language] * 3
    text = text.encode(written_in, "ignore").decode(written_in)
    assert repaired(misread(text, written_in, read_as), shipped) == text


def test_no_break_spaces_of_html_are_bytes_like_others() -> None:
    assert reread("<p>voilÃ&nbsp;, Ã©tÃ©, prÃªt&nbsp;!</p>", Misreading("windows-1254", "utf-8")) == (
        "<p>voilà, été, prêt&nbsp;!</p>"
    )


@pytest.mark.parametrize(
    "misreading",
    [
        TWICE,
        TWICE._replace(least_bad=CERTAIN),
        CONTROLS,
        *(
            Misreading(*pair)
            for pair in (
                ("windows-1251", "utf-8"),
                ("windows-1252", "koi8-r"),
                ("windows-1252", "shift_jis"),
                ("iso8859-15", "gbk"),
            )
        ),
    ],
)
@given(text=st.text(st.sampled_from("ab<>&;\"' =/ÃÂâ©€™œŸ\x81\x99\xa0éРџСЂ漢\ufffd"), max_size=80))
def test_no_repair_changes_ascii(misreading: Misreading, text: str) -> None:
    """Markup is ASCII, and so it survives; but letters may be second bytes of East Asian characters."""
    ascii_before = [character for character in text if character in "<>&;\"' =/"]
    assert [character for character in again(text, misreading) if character in "<>&;\"' =/"] == ascii_before


def test_a_charset_is_found_for_text_as_a_whole_only() -> None:
    text = misread(FRENCH * 2, "utf-8", "windows-1252")
    assert whole(text)[0] == TWICE
    assert whole(text + FRENCH * 3) == []


@given(
    text=st.text(st.sampled_from("aéÃÂâ©€™œŸ\x81\xa0РџСЂТ░╨漢ﬁ…"), max_size=30),
    read_as=st.sampled_from(_READ_AS),
)
def test_characters_begin_where_the_pattern_of_their_charset_matches(text: str, read_as: str) -> None:
    assert n_begun(text) >= len(_sequences(read_as).findall(text))


def n_begun(text: str) -> int:
    counts = np.empty(5, dtype=np.int32)
    letters.census(*map(memoryview, (code_points(text), beginnings(), counts)))
    return int(counts[4])
