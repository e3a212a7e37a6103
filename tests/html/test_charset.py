"""The charset of a page: BOM, HTTP header, meta, detection, in this order; and wrong declarations."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from victor_spark.html.canonical import canonical
from victor_spark.html.charset import as_utf8, decode

FRENCH = "L’été dernier, l’élève a déjeuné à côté du château ; il y était déjà allé, à pied, l’hiver. "
CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy, když nejčilejší řemeslníci přišli z hor. "
TEXTS = {
    "cs": (CZECH, ("windows-1250", "iso-8859-2", "utf-8")),
    "ru": ("Съешь ещё этих мягких французских булок, да выпей чаю. ", ("windows-1251", "koi8-r", "utf-8")),
    "zh-Hans": ("我们的城市在河边，夏天很热，冬天很冷。", ("gb2312", "gbk", "gb18030", "utf-8")),
    "zh-Hant": ("我們的城市在河邊，夏天很熱，冬天很冷。", ("big5", "utf-8")),
    "ja": ("私たちの町は川のそばにあり、夏は暑く、冬は寒いです。", ("shift_jis", "euc-jp", "iso-2022-jp")),
    "ko": ("우리 도시는 강가에 있고 여름은 덥고 겨울은 춥습니다. ", ("euc-kr", "utf-8")),
    "el": (
        "Η πόλη μας βρίσκεται δίπλα στο ποτάμι και το καλοκαίρι κάνει ζέστη. ",
        ("iso-8859-7", "windows-1253"),
    ),
    "ar": ("مدينتنا تقع بجانب النهر والصيف حار والشتاء بارد جدا ", ("windows-1256", "iso-8859-6")),
}
PAIRS = [(text, charset) for text, charsets in TEXTS.values() for charset in charsets]


def page(text: str, meta: str | None = None) -> str:
    """A page with some text, which declares a charset or doesn't."""
    declared = f"<meta charset='{meta}'>" if meta else ""
    return f"<html><head>{declared}</head><body><p>{text * 8}</p></body></html>"


@pytest.mark.parametrize(("text", "charset"), PAIRS)
def test_declared_text_comes_back_in_its_legacy_encoding(text: str, charset: str) -> None:
    by_header = decode(page(text).encode(charset), charset)
    by_meta = decode(page(text, charset).encode(charset), None)
    assert (by_header[0], by_meta[0]) == (page(text), page(text, charset))


@pytest.mark.parametrize(("text", "charset"), PAIRS)
def test_charsets_carry_names_of_the_web(text: str, charset: str) -> None:
    reported = decode(page(text).encode(charset), charset)[1]
    assert reported == reported.lower()
    assert "_" not in reported or reported == "shift_jis"
    assert page(text).encode(charset).decode(reported) == page(text)


@pytest.mark.parametrize(
    "charset", ["windows-1250", "windows-1251", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr"]
)
def test_undeclared_text_is_detected(charset: str) -> None:
    text = next(text for text, charsets in TEXTS.values() if charset in charsets)
    assert text * 8 in decode(page(text).encode(charset), None)[0]


@pytest.mark.parametrize(
    ("mark", "codec"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_bom_wins_over_header_and_meta(mark: bytes, codec: str) -> None:
    source = mark + page(CZECH, "windows-1252").encode(codec)
    assert decode(source, "koi8-r") == (page(CZECH, "windows-1252"), codec)


def test_the_header_wins_over_meta() -> None:
    source = page(CZECH, "windows-1251").encode("windows-1250")
    assert decode(source, "windows-1250") == (page(CZECH, "windows-1251"), "windows-1250")


def test_meta_wins_over_detection() -> None:
    source = page("àéîõü", "macintosh").encode("mac_roman")
    assert decode(source, None) == (page("àéîõü", "macintosh"), "macintosh")


LIES = {
    "declared utf-8, but windows-1250": ("windows-1250", "utf-8", None),
    "meta says utf-8, but windows-1250": ("windows-1250", None, "utf-8"),
    "the header lies, meta doesn't": ("windows-1250", "utf-8", "windows-1250"),
    "declared latin-1, but utf-8": ("utf-8", "latin-1", None),
    "declared iso-8859-1, but utf-8": ("utf-8", "ISO-8859-1", "iso-8859-1"),
    "declared windows-1251, but utf-8": ("utf-8", "windows-1251", None),
    "declared euc-jp, but windows-1250": ("windows-1250", "euc-jp", None),
    "an unknown label": ("utf-8", "klingon", None),
    "an unknown label, then a good one": ("windows-1250", "x-user-defined", "windows-1250"),
    "meta says utf-16, which can't be": ("utf-8", None, "utf-16"),
    "the header says utf-16, but utf-8": ("utf-8", "utf-16", None),
    "an empty label": ("utf-8", "", None),
    "labels that are codecs, but no charsets": ("utf-8", "base64", "unicode_escape"),
    "no text codec": ("utf-8", "rot13", "raw_unicode_escape"),
    "a label with NUL": ("utf-8", "utf\0-8", None),
    "a label in quotes": ("windows-1250", ' "Windows-1250" ', None),
}


@pytest.mark.parametrize(("actual", "header", "meta"), LIES.values(), ids=LIES)
def test_lies_are_seen_through(actual: str, header: str | None, meta: str | None) -> None:
    text, charset = decode(page(CZECH, meta).encode(actual), header)
    assert (text, charset) == (page(CZECH, meta), actual)


def test_ascii_declared_as_utf_16_is_no_utf_16() -> None:
    assert decode(b"<p>plain", "utf-16") == ("<p>plain", "utf-8")
    assert decode("<p>plain".encode("utf-16-le"), "utf-16") == ("<p>plain", "utf-16-le")


@pytest.mark.parametrize("declared", [None, "utf-8", "windows-1252"])
@pytest.mark.parametrize("text", [FRENCH, CZECH, *(text for text, _ in TEXTS.values())])
@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_known_without_bom(text: str, charset: str, declared: str | None) -> None:
    assert decode(page(text, declared).encode(charset), declared) == (page(text, declared), charset)


@pytest.mark.parametrize("declared", [None, "utf-8", "windows-1252"])
@pytest.mark.parametrize(
    ("text", "charset"),
    [
        (TEXTS["ja"][0], "iso-2022-jp"),
        ("ｶﾀｶﾅ", "iso-2022-jp"),
        (TEXTS["ko"][0], "iso-2022-kr"),
        (TEXTS["zh-Hans"][0], "hz"),
    ],
)
def test_charsets_of_seven_bits_are_known_by_their_escapes(
    text: str, charset: str, declared: str | None
) -> None:
    codec = "iso2022_jp_ext" if charset == "iso-2022-jp" else charset
    assert decode(page(text, declared).encode(codec), declared) == (page(text, declared), charset)


@pytest.mark.parametrize(
    "source",
    [
        b"<p>\x1b[31mred\x1b[0m costs \x1b$5</p>" * 9,
        b"<a href='/~ann/'>~{a:1,b:2~} ~{if (x) ~}</a><p>~{some text here~} ~{is not in Chinese~}</p>" * 9,
        b"<p>a zero byte\0 now and\0 then, wherever\0 it falls\0</p>" * 9,
    ],
)
def test_bytes_that_only_look_like_an_escape_are_text(source: bytes) -> None:
    assert decode(source, None) == (source.decode(), "utf-8")


def test_escapes_of_programming_languages_are_not_decoded() -> None:
    assert decode(b"<meta charset=unicode_escape>\\x41 \\q", None)[0].endswith("\\x41 \\q")


def test_a_few_broken_bytes_are_forgiven() -> None:
    source = page(CZECH).encode() + b"\xff"
    assert decode(source, "utf-8") == (page(CZECH) + "\ufffd", "utf-8")


@pytest.mark.parametrize("header", ["utf-8", None])
def test_parts_of_a_utf_8_page_that_are_windows_1252_are_read_as_such(header: str | None) -> None:
    for before, after in ((FRENCH, "café"), (FRENCH * 3, FRENCH), (FRENCH, FRENCH * 3)):
        source = page(before, "utf-8").encode() + f"<p>{after}</p>".encode("windows-1252")
        read = as_utf8(source, header)
        assert read.markup.decode() == page(before, "utf-8") + f"<p>{after}</p>"
        assert (read.charset, read.mixed_with) == ("utf-8", "windows-1252")


def test_parts_of_a_utf_8_page_are_read_in_the_declared_or_detected_charset() -> None:
    russian = TEXTS["ru"][0]
    source = page(russian, "windows-1251").encode() + russian.encode("windows-1251")
    assert as_utf8(source, "utf-8").markup.decode() == page(russian, "windows-1251") + russian
    undeclared = page(russian).encode() + (russian * 3).encode("windows-1251")
    read = as_utf8(undeclared, "utf-8")
    assert (read.markup.decode(), read.mixed_with) == (page(russian) + russian * 3, "windows-1251")


def test_a_character_of_utf_8_that_is_cut_off_is_lost() -> None:
    source = page(FRENCH).encode() + "…".encode()[:2]
    read = as_utf8(source, "utf-8")
    assert (read.markup.decode(), read.mixed_with) == (page(FRENCH) + "\ufffd", None)


def test_bytes_that_windows_charsets_lack_are_controls_as_in_browsers() -> None:
    source = "<p>parť, loďka</p>".encode("windows-1250")
    assert decode(source, "windows-1252")[0] == "<p>par\x9d, loïka</p>"


def test_latin_1_means_windows_1252() -> None:
    for label in ("iso-8859-1", "latin1", "ascii", "us-ascii"):
        assert decode(b"<p>\x93caf\xe9\x94", label) == ("<p>“café”", "windows-1252")


def test_an_xml_declaration_counts_as_meta() -> None:
    source = f"<?xml version='1.0' encoding='windows-1250'?>{page(CZECH)}".encode("windows-1250")
    assert decode(source, None)[1] == "windows-1250"


def test_meta_with_http_equiv() -> None:
    declared = '<META HTTP-EQUIV="Content-Type" CONTENT="text/html; CHARSET=windows-1250">'
    source = (declared + CZECH).encode("windows-1250")
    assert decode(source, None) == (declared + CZECH, "windows-1250")


@given(
    st.binary(max_size=300),
    st.none() | st.text(max_size=20) | st.sampled_from(["utf-16", "hz", "utf-7", "idna"]),
)
def test_any_bytes_under_any_label_give_some_text(source: bytes, label: str | None) -> None:
    text, charset = decode(source, label)
    text.encode("utf-8")
    assert charset == charset.lower()
    assert canonical(source, http_charset=label).charset == charset


@pytest.mark.parametrize("label", ["rot13", "hex", "base64", "zip", "x-unknown"])
def test_a_label_that_is_no_charset_of_text_is_ignored(label: str) -> None:
    for source in (b"<p>Ferry", "<p>Loď".encode(), "<p>Loď".encode("cp1250") * 50):
        assert decode(source, label) == decode(source, None)


@pytest.mark.parametrize(
    ("label", "charset"),
    [
        ("x-cp1251", "windows-1251"),
        (" 'windows-1251' ", "windows-1251"),
        ("koi8", "koi8-r"),
        ("X-Mac-Cyrillic", "x-mac-cyrillic"),
        ("mac", "macintosh"),
    ],
)
def test_labels_that_only_browsers_know_are_read_as_they_do(label: str, charset: str) -> None:
    text = TEXTS["ru"][0] if charset != "macintosh" else "L'été déjeuné "
    codec = {"macintosh": "mac_roman", "x-mac-cyrillic": "mac_cyrillic"}.get(charset, charset)
    assert decode(page(text).encode(codec), label) == (page(text), charset)
