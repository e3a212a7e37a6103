"""WET files hold pages as text: their conversion records are pages; in other files only on request."""

from tests.warc import making
from tests.warc.conftest import Reading
from victor_spark.warc.shard import ReadOptions

TEXT = "A first line\nPříliš žluťoučký kůň\n\nthe end"


def conversion(number: int, text: str = TEXT, content_type: str = "text/plain") -> bytes:
    return making.warc(text.encode(), number=number, kind="conversion", content_type=content_type)


def warcinfo(filename: str) -> bytes:
    return making.warc(
        b"isPartOf: made\r\n",
        f"WARC-Filename: {filename}",
        kind="warcinfo",
        content_type="application/warc-fields",
    )


def test_the_conversions_of_a_wet_file_are_pages(reading: Reading) -> None:
    parts = [
        warcinfo("x.warc.wet.gz"),
        conversion(1),
        conversion(2, content_type="text/plain; charset=utf-8"),
    ]
    packed = making.shard(parts)
    for name in ("a.warc.wet.gz", "b.wet.gz", "renamed"):
        records = reading(packed.content, name)
        assert [record.payload for record in records] == [TEXT.encode()] * 2
        assert [record.warc_record_offset for record in records] == packed.offsets[1:3]
        assert {record.content_mime_type for record in records} == {"text/plain"}
        assert {record.http_charset for record in records} == {"utf-8"}
        assert {record.status for record in records} == {None}


def test_the_charset_that_a_conversion_declares_is_that_of_its_page(reading: Reading) -> None:
    parts = [warcinfo("x.warc.wet.gz"), conversion(1, content_type="text/plain; charset=windows-1250")]
    (record,) = reading(making.shard(parts).content, "a.warc.wet.gz")
    assert record.http_charset == "windows-1250"


def test_a_wet_file_that_is_not_packed_is_one_as_well(reading: Reading) -> None:
    content = warcinfo("CC-1.warc.wet") + conversion(1)
    assert [record.payload for record in reading(content, "x")] == [TEXT.encode()]


def test_elsewhere_conversions_are_read_where_they_are_asked_for(reading: Reading) -> None:
    parts = [warcinfo("x.warc.gz"), *making.responses(1), conversion(2)]
    content = making.shard(parts).content
    assert [record.content_mime_type for record in reading(content)] == ["text/html"]
    both = ReadOptions(record_types=("response", "conversion"))
    assert [r.content_mime_type for r in reading(content, options=both)] == ["text/html", "text/plain"]
    assert len(reading(content, "x.warc.wet.gz", options=both)) == 2


def test_a_conversion_that_is_no_text_is_no_page(reading: Reading) -> None:
    parts = [conversion(1, content_type="application/json"), conversion(2, content_type="text/html")]
    records = reading(making.shard(parts).content, "x.warc.wet.gz")
    assert [record.content_mime_type for record in records] == ["text/html"]
