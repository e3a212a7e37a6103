"""The crawl of a shard: from its path, else from its first record, else unknown."""

import gzip

import pytest

from tests.warc import making
from tests.warc.conftest import Reading
from victor_spark.warc import file_types


@pytest.mark.parametrize(
    ("path", "crawl"),
    [
        (
            "s3://commoncrawl/crawl-data/CC-MAIN-2024-10/segments/1707/warc/CC-MAIN-20240220-0.warc.gz",
            "CC-MAIN-2024-10",
        ),
        ("crawl-data/CC-MAIN-2009-2010/segments/1.arc.gz", "CC-MAIN-2009-2010"),
        ("/d/CC-MAIN-2008-2009/x", "CC-MAIN-2008-2009"),
        ("crawl-data/CC-NEWS/2024/03/CC-NEWS-20240301013000-01.warc.gz", "CC-NEWS-2024-03"),
        ("CC-NEWS-20240301013000-01.warc.gz", "CC-NEWS-2024-03"),
        ("CC-MAIN-20240220211055-20240221001055-00000.warc.gz", None),
        ("NOCC-MAIN-2024-10/x", None),
        ("/data/a.warc.gz", None),
    ],
)
def test_a_path_may_name_its_crawl(path: str, crawl: str | None) -> None:
    assert file_types.crawl_of_path(path) == crawl


def test_else_the_first_record_may_say_it(reading: Reading) -> None:
    info = making.warc(
        b"software: x\r\nisPartOf: My Crawl 7 \r\n", kind="warcinfo", content_type="application/warc-fields"
    )
    plain = [info, *making.responses(2)]
    for content in (making.shard(plain).content, b"".join(plain), making.shard(plain, "zstd").content):
        assert [record.crawl for record in reading(content)] == ["My Crawl 7"] * 2
    assert [r.crawl for r in reading(making.shard(plain).content, "CC-MAIN-2024-10.warc.gz")] == [
        "CC-MAIN-2024-10"
    ] * 2


@pytest.mark.parametrize("packing", ["plain", "gzip"])
def test_damage_is_of_the_same_crawl_as_the_records_around_it(reading: Reading, packing: str) -> None:
    before, after = making.members(making.responses(2), packing)
    rows = reading(before + b"\xff" * 900 + after, "CC-MAIN-2024-10.warc.gz")
    assert [(row.status, row.crawl) for row in rows] == [
        (None, "CC-MAIN-2024-10"),
        ("corrupt_record", "CC-MAIN-2024-10"),
        (None, "CC-MAIN-2024-10"),
    ]


def test_a_page_that_says_so_is_no_first_record(reading: Reading) -> None:
    body = making.http(b"<html><body><p>\r\nisPartOf: nothing\r\n</p></body></html>")
    (record,) = reading(gzip.compress(making.warc(body)))
    assert record.crawl is None
