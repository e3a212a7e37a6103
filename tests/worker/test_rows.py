"""A row has the values of its record and document, for any characters."""

import pytest

import victor_spark
from victor_spark import document, pipeline, tables
from victor_spark.metadata.extract import Metadata
from victor_spark.preparation import handed_over
from victor_spark.request import FIRST_PASS, CleanRequest, SiteOptions
from victor_spark.roles import headline
from victor_spark.settings import Settings
from victor_spark.sites.evidence import Contributions, contributions
from victor_spark.warc.records import Record
from victor_spark.worker import rows, second_pass


def record(url: str | None = "http://example.com/", **fields: object) -> Record:
    return Record(None, url, "a.warc.gz", 0, 1, None, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "host", "domain"),
    [
        ("http://www.Example.co.uk:8080/a?b", "www.example.co.uk", "example.co.uk"),
        ("https://user@deep.down.example.org/", "deep.down.example.org", "example.org"),
        ("http://bücher.example.cz/", "bücher.example.cz", "example.cz"),
        ("http://192.168.0.1/", "192.168.0.1", None),
        ("http://[::1]:80/", "::1", None),
        ("http://[broken/", None, None),
        ("co.uk", None, None),
        ("http://co.uk/", "co.uk", None),
        ("http://www.alice.blogspot.com/", "www.alice.blogspot.com", "alice.blogspot.com"),
        ("http://news.harbour.example/", "news.harbour.example", "harbour.example"),
        (None, None, None),
    ],
)
def test_host_and_registered_domain(url: str | None, host: str | None, domain: str | None) -> None:
    row = rows.record_row(record(url), status="ok", reason=None)
    assert (row["url_host_name"], row["url_host_registered_domain"]) == (host, domain)


def test_half_a_surrogate_pair_does_not_stop_the_batch() -> None:
    batch = rows.RowBatch(tables.PAGES)
    batch.add(rows.record_row(record("http://example.com/\ud800"), status="error", reason="\udcff"))
    taken = batch.take().to_pylist()
    assert taken[0]["url"] == "http://example.com/?"
    assert taken[0]["reason"] == "?"


def test_an_http_status_that_is_no_number_of_that_size_is_null() -> None:
    batch = rows.RowBatch(tables.PAGES)
    batch.add(rows.record_row(record(fetch_status=10**12), status="http_status", reason=None))
    assert batch.take().to_pylist()[0]["fetch_status"] is None


def test_a_batch_is_full_by_bytes_not_by_rows() -> None:
    batch = rows.RowBatch(tables.PAGES, flush_bytes=10_000)
    for _ in range(10):
        batch.add(rows.record_row(record(), status="empty", reason=None))
    assert not batch.full
    batch.add({**rows.record_row(record(), status="ok", reason=None), "text": "ř" * 5_000})
    assert batch.full
    assert batch.take().num_rows == 11
    assert not batch.full
    assert len(batch) == 0


def test_block_rows_are_the_documents_blocks() -> None:
    html = "<h1>Ferries &amp; fog</h1><p>Half a pair: x. <b>Bold</b> and 水 and 𝒳.</p>"
    document = victor_spark.clean(html)
    batch = rows.RowBatch(tables.pages("blocks"))
    batch.add(rows.record_row(record(), status="http_status", reason="404"))
    batch.add(rows.document_row(record(), document, ["blocks"]))
    dropped, cleaned = batch.take().to_pylist()
    assert dropped["blocks"] is None
    assert cleaned["n_blocks"] == len(cleaned["blocks"]) > 0
    for row, block in zip(cleaned["blocks"], document.blocks, strict=True):
        expected = {name: getattr(block, name) for name in row}
        assert row == expected


STATED = """<html><head><title>Late ferry | Harbour</title><meta property=og:site_name content=Harbour>
<meta name=author content='Anna Kos and Bo Lind'><meta name=description content='Fog'>
<link rel=canonical href=/ferry><script type=application/ld+json>{"@type": "Article",
"author": {"name": "Eva \\ud800"}, "datePublished": "2024-05-03"}</script></head>"""


def test_metadata_and_markdown_are_columns_of_pages_that_are_ok() -> None:
    url = "http://harbour.example/"
    paragraph = "<p>The ferry leaves at <b>seven</b> in the morning, when the fog lies on the water.</p>"
    batch = rows.RowBatch(tables.pages("markdown"))
    for html in (STATED + 3 * paragraph, STATED, 3 * paragraph):
        batch.add(rows.document_row(record(url), victor_spark.clean(html, url), ["markdown"]))
    full, empty, bare = batch.take().to_pylist()
    columns = list(tables.METADATA)
    assert [full[name] for name in columns] == [
        ["Eva ?"],
        "2024-05-03",
        None,
        "Harbour",
        "Fog",
        "http://harbour.example/ferry",
    ]
    assert "**seven**" in full["markdown"]
    assert empty["status"] == "empty"
    assert {empty[name] for name in (*columns, "text_hash", "markdown")} == {None}
    assert {bare[name] for name in columns} == {None}
    assert bare["text_hash"] == full["text_hash"]


def test_the_charset_of_a_page_is_that_of_its_bytes_and_without_one_that_of_http() -> None:
    html = "<p>Přívoz odplouvá v sedm hodin, kdy nad vodou ještě leží mlha.".encode("utf-8-sig")
    decoded = rows.document_row(record(http_charset="iso-8859-2"), victor_spark.clean(html))
    assert decoded["content_charset"] == "utf-8"
    undecoded = rows.document_row(record(http_charset="iso-8859-2"), document.Document("timeout"))
    assert undecoded["content_charset"] == "iso-8859-2"


def test_the_first_of_two_passes_reads_the_metadata_of_a_page_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a page without text: with the site's other pages, the second pass may find some."""
    request = CleanRequest(
        cleaning=Settings(fail_below=1.0), sites=SiteOptions(by_site=True), passing=FIRST_PASS
    )
    work = rows.page_work(request, pipeline.models(request.cleaning))
    read: list[bytes] = []

    def metadata(markup: bytes, *_: object) -> Metadata:
        read.append(markup)
        return Metadata(site_name="Harbour")

    monkeypatch.setattr(document, "metadata", metadata)
    article = 3 * "<p>The ferry leaves at seven in the morning, when the fog lies on the water.</p>"
    links = f"<ul>{''.join(f'<li><a href=/{number}>Link number {number}</a>' for number in range(30))}</ul>"
    made = [work.row(handed_over(html.encode(), "http://harbour.example/")) for html in (article, links, "")]
    assert [row["status"] for row in made] == ["ok", "empty", "empty"]
    assert [row.get("site_name") for row in made] == ["Harbour", "Harbour", None]
    assert len(read) == 2


def test_line_breaks_of_preformatted_text_are_in_the_columns_text_and_blocks() -> None:
    html = "<p>This is a poem:</p><pre><b>One</b>\n  two\n  three<br>four</pre>"
    document = victor_spark.clean(html, threshold=1.0)
    batch = rows.RowBatch(tables.pages("blocks"))
    batch.add(rows.document_row(record(), document, ["blocks"]))
    (row,) = batch.take().to_pylist()
    assert row["text"] == "This is a poem:\nOne\n  two\n  three\nfour"
    assert [block["text"] for block in row["blocks"]] == ["This is a poem:", "One", "two\n  three", "four"]


@pytest.mark.parametrize(
    "region", ["", "cookie-consent", "newsletter-signup", "comments", "nav", "breadcrumb"]
)
def test_the_second_pass_finds_the_headline_that_the_first_found(region: str) -> None:
    """A heading in such a region is not the headline."""
    text = "<p>It leaves at seven from the north pier, and stops at all islands while the fog lies.</p>" * 9
    page = f"<title>Ferry timetable</title><div class='{region}'><h1>Ferry timetable</h1></div>{text}"
    request = CleanRequest(passing=FIRST_PASS, sites=SiteOptions(by_site=True))
    work = rows.page_work(request, pipeline.models(request.cleaning))
    batch = rows.RowBatch(work.schema)
    batch.add(work.row(handed_over(page.encode(), "https://a.example/")))
    (row,) = second_pass.rows(batch.take())
    stored = second_pass.page_of(row)
    own = victor_spark.clean(page)
    kept = own.kept & (own.columns.heading_level == 0)
    found = headline(stored.page.blocks, kept)
    assert found.tolist() == headline(own.columns, kept).tolist()
    assert found.any() == (region == "")
    added = Contributions.from_bytes(row["scored"]["sums"])
    again = contributions(stored.page.blocks, stored.scores.probabilities)
    assert added.key.tolist() == again.key.tolist()
    assert added.sums.tolist() == again.sums.tolist()
