"""Broken encodings are noticed, and good texts in any language are left alone."""

import pytest
from ftfy.badness import badness
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.langid.test_identify import SENTENCES
from victor_spark.kernels import code_points, text_of
from victor_spark.langid import encoding
from victor_spark.langid.encoding import Finding, examined, problem
from victor_spark.langid.profiles import Profiles

CZECH = (
    "Dětské hřiště u školy se kvůli vichřici uzavírá. Řezání větví začne příští týden a potrvá přibližně "
    "dva dny. Žádáme rodiče, aby děti přiváděly zadním vchodem, a řidiče, aby u školy neparkovali."
)
RUSSIAN = (
    "Детская площадка у школы закрывается из-за бури. Обрезка деревьев начнётся на следующей неделе и "
    "продлится около двух дней. Просим родителей приводить детей через задний вход."
)


def misread(text: str, written_in: str, read_as: str) -> str:
    """The text as a browser shows it that takes it for another charset."""
    content = text.encode(written_in)
    if read_as == "utf-8":
        return content.decode("utf-8", "replace")
    return "".join(bytes([byte]).decode(read_as, "ignore") or chr(byte) for byte in content)


@pytest.mark.parametrize("language", sorted(SENTENCES))
def test_good_texts_pass(shipped: Profiles, language: str) -> None:
    assert problem(SENTENCES[language], shipped) is None
    assert problem(SENTENCES[language] * 200, shipped) is None


@pytest.mark.parametrize("text", ["", "plain ascii", CZECH, RUSSIAN, "“Quoted” – it’s 5 € … ☺ 😀"])
def test_more_good_texts_pass(shipped: Profiles, text: str) -> None:
    assert problem(text, shipped) is None


@pytest.mark.parametrize(
    ("text", "written_in", "read_as"),
    [
        (CZECH, "windows-1250", "utf-8"),
        (RUSSIAN, "koi8-r", "utf-8"),
        (CZECH, "utf-8", "windows-1252"),
        (CZECH, "utf-8", "windows-1250"),
        (RUSSIAN, "utf-8", "windows-1252"),
        (CZECH, "windows-1250", "windows-1252"),
        (CZECH, "iso8859-2", "windows-1252"),
        (RUSSIAN, "windows-1251", "windows-1252"),
        (RUSSIAN, "windows-1251", "koi8-r"),
        (RUSSIAN, "koi8-r", "windows-1251"),
        (RUSSIAN, "cp866", "windows-1251"),
        (SENTENCES["zh"] * 3, "gbk", "windows-1252"),
        (SENTENCES["el"] * 2, "windows-1253", "windows-1252"),
    ],
)
def test_misread_texts_are_noticed(shipped: Profiles, text: str, written_in: str, read_as: str) -> None:
    assert problem(misread(text, written_in, read_as), shipped)


def test_the_reason_names_the_charsets(shipped: Profiles) -> None:
    assert (
        problem(misread(RUSSIAN, "koi8-r", "windows-1251"), shipped)
        == "looks like koi8-r read as windows-1251"
    )


def test_one_lost_character_breaks_no_page(shipped: Profiles) -> None:
    assert problem(CZECH + " \ufffd " + CZECH, shipped) is None


def test_the_share_of_damaged_letters_decides(shipped: Profiles) -> None:
    broken = misread(CZECH, "windows-1250", "utf-8")
    assert problem(broken + CZECH * 2, shipped)
    assert problem(broken + CZECH * 40, shipped) is None
    menu = misread("Čeština Ελληνικά Русский Українська 中文 日本語 العربية", "utf-8", "windows-1252")
    assert problem(menu, shipped)
    assert (
        problem(menu + " The mayor opened the new bridge over the river yesterday. " * 200, shipped) is None
    )


def test_a_word_that_stands_everywhere_is_no_evidence(shipped: Profiles) -> None:
    shop = "".join(f"Dash camera {n} with a wide angle лв{n},15 in stock\n" for n in range(100, 180))
    spells = "".join(f"· Water spell {n}\n" for n in range(200))
    for text in (shop, spells):
        assert examined(text, shipped, code_points(text)) == Finding()


def test_english_with_a_few_damaged_words_can_be_read(shipped: Profiles) -> None:
    text = "S’rî Râmakrishna spoke of Vedânta, of the Gîtâ and of Jñâna to the Svâmî and to his pupils. " * 9
    assert examined(text, shipped, code_points(text)) == Finding()


@given(st.text(st.sampled_from("abcZ9 .-'\"éÃ©â€™œŒÂ¿žšýřЂвяå漢ΩÅ‚\x9d\xad²ВС«“\xa0，΅ﬁ\uf8ff"), max_size=60))
@settings(max_examples=5 * settings().max_examples)
@example("b a Â")  # the letter before the space belongs to what ftfy finds
@example("\x9da  Â")  # two spaces: it finds nothing there
@example("В«С漢«漢")  # a quote between two letters of Russian
@example("В\uf8ffС Р΅Р ”ﬁ")
@example("łączność żółć řÂé éÀ ÎšÎž œé ‚âà")  # small letters beside each other, and others beside them
def test_what_ftfy_finds_bad_is_among_the_doubtful_words(text: str) -> None:
    """Leaving the other words out changes nothing, so the regular expressions need not see them."""
    points = code_points(text)
    kinds, n_doubtful = encoding._kinds(points)
    words = encoding._words_with(points, kinds, encoding._DOUBTFUL, encoding._BLANK)
    assert badness(text + " ") <= n_doubtful
    assert badness(text_of(words) + " ") == badness(text + " ")
