"""A page's language, the filter, broken charsets, and the block features in the pipeline."""

import numpy as np
import pytest

import victor_spark
from victor_spark import pipeline
from victor_spark.errors import ModelError, UsageError
from victor_spark.page import Document, Record

CZECH = "Starosta obce včera slavnostně otevřel nový most přes řeku, na který občané čekali déle než pět let."
ENGLISH = (
    "The mayor opened the new bridge yesterday, and the villagers had been waiting for it for five years."
)
JAPANESE = "村長は昨日、住民が五年以上も待ち望んでいた川に架かる新しい橋の開通式を行いました。"


def page(*paragraphs: str) -> bytes:
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f"<!DOCTYPE html><html><head><meta charset=utf-8><title>t</title></head><body>{body}".encode()


def cleaned(html: bytes, **settings: object) -> Document:
    chosen = pipeline.Settings(**settings)  # type: ignore[arg-type]
    return pipeline.cleaning(chosen, pipeline.models(chosen))(Record(None, None, "", 0, len(html), html))


@pytest.mark.parametrize(("text", "code"), [(CZECH, "cs"), (ENGLISH, "en"), (JAPANESE, "ja")])
def test_every_page_is_kept_and_labelled_without_a_filter(text: str, code: str) -> None:
    document = victor_spark.clean(page(text, text))
    assert (document.status, document.language) == ("ok", code)
    assert document.language_score is not None
    assert 0.5 < document.language_score <= 1


def test_the_filter_drops_other_languages_and_says_which_language_was_found() -> None:
    dropped = cleaned(page(ENGLISH, ENGLISH), languages=("cs", "sk"))
    assert (dropped.status, dropped.language, dropped.text) == ("wrong_language", "en", "")
    assert dropped.reason == "en, not cs, sk"
    assert cleaned(page(CZECH, CZECH), languages=("cs", "sk")).status == "ok"


def test_hardly_any_text_is_never_guessed() -> None:
    html = page("OK 1")
    kept = cleaned(html)
    assert kept.language is None
    dropped = cleaned(html, languages=("cs",))
    assert dropped.status == "empty"
    assert "too little text" in (dropped.reason or "")


def test_text_read_in_the_wrong_charset_is_broken_and_says_why() -> None:
    mojibake = CZECH.encode().decode("windows-1250", "replace")
    document = victor_spark.clean(page(mojibake, mojibake, mojibake))
    assert document.status == "broken_encoding"
    assert document.reason
    assert document.text == ""


def test_a_page_in_two_languages_has_the_share_of_each() -> None:
    document = victor_spark.clean(page(*[CZECH] * 3, ENGLISH))
    shares = victor_spark.language_shares(document)
    assert list(shares) == ["cs", "en"]
    assert shares["cs"] == pytest.approx(0.75, abs=0.05)
    assert sum(shares.values()) == pytest.approx(1)


def test_block_features_prefer_blocks_in_the_target_language() -> None:
    document = cleaned(page(CZECH, ENGLISH, CZECH), languages=("cs",), cleaner="victor-2008")
    langid1, langid2 = document.columns.langid1, document.columns.langid2
    assert langid1[0] > 0 > langid1[1]
    assert langid2[0] > 0 > langid2[1]


def test_block_features_of_a_page_without_a_language_are_zero() -> None:
    document = cleaned(page("1", "2"), cleaner="victor-2008")
    assert not np.any(document.columns.langid1)
    assert not np.any(document.columns.langid2)


def test_block_features_are_left_out_for_a_cleaner_that_does_not_look_at_them() -> None:
    document = cleaned(page(CZECH, ENGLISH, CZECH), cleaner="victor")
    assert not np.any(document.columns.langid1)
    assert document.language == "cs"


def test_an_unknown_language_code_is_one_clear_line() -> None:
    with pytest.raises(UsageError, match="unknown language 'xx'"):
        pipeline.models(pipeline.Settings(languages=("xx",)))


def test_a_language_model_that_is_none_is_one_clear_line(tmp_path: object) -> None:
    path = f"{tmp_path}/lid.bin"
    with open(path, "wb") as file:
        file.write(b"no model")
    with pytest.raises((ModelError, UsageError)) as caught:
        pipeline.models(pipeline.Settings(lid_model=path))
    assert "\n" not in str(caught.value)


def test_a_language_that_letters_hardly_tell_from_the_wanted_one_is_kept() -> None:
    croatian = (
        "Gradonačelnik je jučer otvorio novi most preko rijeke koji su stanovnici čekali više od pet godina, "
        "a na svečanosti su se okupili brojni građani iz obližnjih mjesta."
    )
    for wanted in ("hr", "bs"):
        assert cleaned(page(croatian, croatian), languages=(wanted,)).status == "ok"
    assert cleaned(page(croatian, croatian), languages=("cs",)).status == "wrong_language"
