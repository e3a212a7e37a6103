"""A page's language, the filter, broken charsets, and the block features in the pipeline."""

import hashlib
import os
from collections.abc import Callable, Sequence
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import victor_spark
from tests.langid.test_encoding import misread
from victor_spark import pipeline, preparation
from victor_spark.document import Document
from victor_spark.errors import ModelError, UsageError
from victor_spark.langid.identify import Guess
from victor_spark.langid.pages import page_identifier
from victor_spark.settings import Settings
from victor_spark.warc.records import Record

CZECH = "Starosta obce včera slavnostně otevřel nový most přes řeku, na který občané čekali déle než pět let."
ENGLISH = (
    "The mayor opened the new bridge yesterday, and the villagers had been waiting for it for five years."
)
JAPANESE = "村長は昨日、住民が五年以上も待ち望んでいた川に架かる新しい橋の開通式を行いました。"


def page(*paragraphs: str) -> bytes:
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f"<!DOCTYPE html><html><head><meta charset=utf-8><title>t</title></head><body>{body}".encode()


def cleaned(html: bytes, **settings: object) -> Document:
    chosen = Settings(**settings)  # type: ignore[arg-type]
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


def test_text_that_lost_its_letters_is_broken_and_says_why() -> None:
    lost = CZECH.encode("windows-1250").decode("utf-8", "replace")
    document = victor_spark.clean(page(lost, lost, lost))
    assert (document.status, document.text) == ("broken_encoding", "")
    assert document.reason == "16% of the letters are lost"


@pytest.mark.parametrize(
    ("read_as", "written_in"),
    [
        ("windows-1252", "utf-8"),
        ("iso8859-1", "utf-8"),
        ("windows-1250", "utf-8"),
        ("windows-1251", "utf-8"),
        ("windows-1252", "windows-1250"),
    ],
)
def test_text_read_in_the_wrong_charset_is_repaired_and_says_how(read_as: str, written_in: str) -> None:
    text = misread(CZECH, written_in, read_as)
    document = victor_spark.clean(page(text, text, text))
    assert (document.status, document.language) == ("ok", "cs")
    assert document.text == "\n".join([CZECH] * 3)
    assert document.charset == written_in
    assert (document.reason or "").endswith(": repaired")


def test_markup_survives_a_repair_and_offsets_refer_to_the_repaired_page() -> None:
    text = misread(CZECH, "utf-8", "iso8859-1")
    source = f"<p title='{text}'>{text} &lt;p&gt; &amp;amp; {text[:40]}<a href='?a=1&amp;b=2'>{text}</a>"
    document = victor_spark.clean(source)
    assert f'<p title="{CZECH}">{CZECH} &lt;p&gt; &amp;amp; ' in document.html
    assert f'<a href="?a=1&amp;b=2">{CZECH}</a>' in document.html
    for block in document.blocks:
        assert unescape(document.html[block.start : block.end]) == block.text


def test_a_repair_is_the_same_for_bytes_and_for_text() -> None:
    source = page(misread(CZECH, "utf-8", "windows-1252")).decode()
    look = page_identifier(pipeline.language_models()[pipeline.PROFILES])
    assert preparation.prepare(source, look)[0].html == preparation.prepare(source.encode(), look)[0].html


def test_c1_controls_are_signs_of_windows_1252() -> None:
    document = victor_spark.clean(page("\x93It\x92s here\x94, they said \x96 and waited.", ENGLISH))
    assert document.text.startswith("“It’s here”, they said – and waited.")
    assert (document.status, document.charset) == ("ok", "windows-1252")
    assert document.reason == "windows-1252 read as iso-8859-1: repaired"


def test_a_page_with_a_few_lost_letters_is_kept_and_says_so() -> None:
    document = victor_spark.clean(page(*[CZECH] * 8, CZECH.replace("č", "\ufffd")))
    assert document.status == "ok"
    assert document.reason == "0.4% of the letters are lost"


def test_a_page_in_another_language_than_english_is_broken_with_as_few() -> None:
    german = (
        "Gestern wurde die neue Br\ufffdcke er\ufffdffnet, auf die das Dorf f\ufffdnf Jahre gewartet hatte."
    )
    document = victor_spark.clean(page(*[german] * 4))
    assert (document.status, document.text) == ("broken_encoding", "")
    assert "of the letters are lost" in (document.reason or "")


def test_a_language_has_one_code_in_all_its_scripts() -> None:
    latin = (
        "Predsednik opštine je juče svečano otvorio novi most preko reke, na koji su građani čekali duže od "
        "pet godina. Sledeće nedelje će ovde da se održi sednica o tome gde treba graditi."
    )
    for text in (
        latin,
        "Председник општине је јуче свечано отворио нови мост преко реке, на који су чекали.",
    ):
        assert victor_spark.clean(page(text, text)).language == "sr"


def test_english_without_its_apostrophes_is_kept() -> None:
    text = "I don\ufffdt know why it\ufffds late, \ufffdand he won\ufffdt say\ufffd as we\ufffdve seen. "
    document = victor_spark.clean(page(text * 4, ENGLISH))
    assert document.status == "ok"
    assert "of the letters are lost" in (document.reason or "")


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
        pipeline.models(Settings(languages=("xx",)))


def test_a_language_model_that_is_none_is_one_clear_line(tmp_path: object) -> None:
    path = f"{tmp_path}/lid.bin"
    with open(path, "wb") as file:
        file.write(b"no model")
    with pytest.raises((ModelError, UsageError)) as caught:
        pipeline.models(Settings(lid_model=path))
    assert "\n" not in str(caught.value)


def test_a_language_that_letters_hardly_tell_from_the_wanted_one_is_kept() -> None:
    croatian = (
        "Gradonačelnik je jučer otvorio novi most preko rijeke koji su stanovnici čekali više od pet godina, "
        "a na svečanosti su se okupili brojni građani iz obližnjih mjesta."
    )
    for wanted in ("hr", "bs"):
        assert cleaned(page(croatian, croatian), languages=(wanted,)).status == "ok"
    assert cleaned(page(croatian, croatian), languages=("cs",)).status == "wrong_language"


def test_the_model_of_fasttext_is_read_from_a_file_that_nobody_else_can_name_or_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that someone else put into the folder for temporary files is not loaded."""
    model = b"the model that was asked for"
    digest = hashlib.sha256(model).hexdigest()
    planted = tmp_path / f"victor-spark-{os.getuid()}"
    planted.mkdir()
    for name in (f"{digest}.bin", f"{digest[:32]}.bin"):
        (planted / name).write_bytes(b"another model")
    loaded: list[tuple[bytes, int, Path]] = []

    def identifier(path: Path) -> Callable[[Sequence[str]], list[Guess]]:
        loaded.append((path.read_bytes(), path.stat().st_mode & 0o777, path))
        return lambda texts: [Guess(None, 0.0) for _ in texts]

    monkeypatch.setattr("victor_spark.langid.fasttext_model.identifier", identifier)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    profiles = pipeline.language_models()[pipeline.PROFILES]
    for _ in range(2):
        page_identifier(profiles, lid_model=model)
    assert [(content, mode) for content, mode, _ in loaded] == [(model, 0o600)] * 2
    assert len({path for _, _, path in loaded}) == 2
    assert list(tmp_path.iterdir()) == [planted]  # nothing is left behind
