"""The shipped sample crawl is what its script builds; its gold is in its pages, its defects are real."""

import json
import os
import re
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any

import brotli
import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.recordloader import ArcWarcRecord

import victor_spark
from victor_spark.statuses import STATUSES

SAMPLE = Path(__file__).resolve().parents[2] / "sample"
SHARDS = ("crawl-00000.warc.gz", "crawl-00001.warc.gz")
GZIP_MAGIC = b"\x1f\x8b\x08\x00\x00\x00\x00\x00"
CHARSETS = ("utf-8", "iso-8859-2", "cp1250", "cp1253", "utf-16", "shift_jis")
HTML_TYPES = ("text/html", "application/xhtml+xml")
NO_TEXT = re.compile(r"<(script|style|title)\b.*?</\1>|<!--.*?-->|<[^>]*>|\s+|\0", re.DOTALL | re.IGNORECASE)
BROKEN = "http://www.broken-pages.example"


@dataclass(frozen=True)
class Answer:
    """A record as plain warcio reads it; `wire` is the body before any encoding is undone."""

    record_type: str
    url: str
    warc_headers: tuple[tuple[str, str], ...]
    http_head: str
    http_type: str
    wire: bytes
    body: bytes


def members(shard: Path) -> Iterator[tuple[str, bytes]]:
    """Every gzip member of a shard: "whole", "corrupt" or "clipped", and what it inflates to."""
    packed = shard.read_bytes()
    while packed:
        inflater = zlib.decompressobj(zlib.MAX_WBITS + 16)
        try:
            content = inflater.decompress(packed)
        except zlib.error:
            yield "corrupt", b""
            packed = packed[packed.index(GZIP_MAGIC, 1) :]
            continue
        yield ("whole" if inflater.eof else "clipped"), content
        packed = inflater.unused_data


def record_of(content: bytes) -> ArcWarcRecord:
    return next(iter(ArchiveIterator(BytesIO(content))))


def answer(content: bytes) -> Answer:
    """The one record in `content`."""
    record = record_of(content)
    wire = record.raw_stream.read()
    http = record.http_headers
    fields = {} if http is None else {name.lower(): value for name, value in http.headers}
    if fields.get("content-encoding") == "br":  # warcio can't: it wants to write to brotli's decoder
        body = brotli.decompress(wire)
    else:
        body = record_of(content).content_stream().read()
    return Answer(
        record_type=record.rec_type,
        url=record.rec_headers.get_header("WARC-Target-URI") or "",
        warc_headers=tuple(record.rec_headers.headers),
        http_head="" if http is None else http.to_str(),
        http_type=fields.get("content-type", "").partition(";")[0],
        wire=wire,
        body=body,
    )


def without_lengths(record: Answer) -> tuple[Any, ...]:
    """The parts that must not depend on the version of zlib: all except lengths and digests."""
    volatile = ("WARC-Payload-Digest", "WARC-Block-Digest", "Content-Length")
    warc = tuple(header for header in record.warc_headers if header[0] not in volatile)
    return record.record_type, record.url, warc, record.http_head, record.body


def build(output: Path, hash_seed: str) -> None:
    command = [sys.executable, str(SAMPLE / "build.py"), "--output", str(output)]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    subprocess.run(command, check=True, env=environment, capture_output=True, timeout=120)


def visible(page: str) -> str:
    return "".join(unescape(NO_TEXT.sub("", page)).split())


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("rebuilt")
    build(output, "1")
    return output


@pytest.fixture(scope="module")
def gold() -> list[dict[str, Any]]:
    lines = (SAMPLE / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def responses() -> dict[str, Answer]:
    """All responses that can be read to their end, by URL."""
    whole = [content for name in SHARDS for state, content in members(SAMPLE / name) if state == "whole"]
    records = [answer(content) for content in whole]
    return {record.url: record for record in records if record.record_type == "response"}


def body(responses: dict[str, Answer], name: str) -> bytes:
    return responses[f"{BROKEN}/{name}.html"].body


def test_a_second_build_gives_the_same_bytes_whatever_the_hash_seed(rebuilt: Path, tmp_path: Path) -> None:
    build(tmp_path, "2")
    for name in (*SHARDS, "gold.jsonl"):
        assert (tmp_path / name).read_bytes() == (rebuilt / name).read_bytes(), name


def test_the_shipped_gold_is_what_the_script_builds(rebuilt: Path) -> None:
    assert (SAMPLE / "gold.jsonl").read_bytes() == (rebuilt / "gold.jsonl").read_bytes()


@pytest.mark.parametrize("name", SHARDS)
def test_the_shipped_shards_hold_the_records_that_the_script_builds(rebuilt: Path, name: str) -> None:
    shipped, built = list(members(SAMPLE / name)), list(members(rebuilt / name))
    assert [state for state, _ in shipped] == [state for state, _ in built]
    for (state, one), (_, other) in zip(shipped, built, strict=True):
        if state == "whole":
            assert without_lengths(answer(one)) == without_lengths(answer(other))


def test_all_shards_together_stay_small() -> None:
    assert sum((SAMPLE / name).stat().st_size for name in SHARDS) < 700_000


def test_the_crawl_has_five_sites_in_five_languages_and_sixty_good_pages(gold: list[dict[str, Any]]) -> None:
    good = [row for row in gold if row["kind"] in ("article", "thread")]
    assert len(good) >= 60
    assert Counter(row["language"] for row in good).keys() == {"cs", "en", "pl", "ja", "el"}
    assert min(Counter(row["site"] for row in good).values()) >= 10
    assert all(row["status"] == "ok" and row["gold"].count("\n") >= 3 for row in good)
    assert len({row["gold"] for row in good}) == len(good)


def test_every_html_response_has_one_gold_line_and_other_types_have_none(
    gold: list[dict[str, Any]], responses: dict[str, Answer]
) -> None:
    html = [url for url, response in responses.items() if response.http_type in HTML_TYPES]
    clipped = f"{BROKEN}/truncated-last-record.html"
    assert sorted(row["url"] for row in gold if row["url"]) == sorted([*html, clipped])


def test_statuses_are_those_of_the_package_and_http_errors_are_distinguished(
    gold: list[dict[str, Any]], responses: dict[str, Answer]
) -> None:
    assert {row["status"] for row in gold} <= set(STATUSES)
    assert all(bool(row["gold"]) == (row["status"] == "ok") for row in gold)
    for row in gold:
        if row["url"] in responses:
            is_error = not responses[row["url"]].http_head.startswith("HTTP/1.1 200")
            assert is_error == (row["status"] == "http_status"), row["url"]


def test_every_gold_paragraph_is_visible_text_of_its_page(
    gold: list[dict[str, Any]], responses: dict[str, Answer]
) -> None:
    for row in gold:
        if not row["gold"]:
            continue
        page = responses[row["url"]].body
        texts = [visible(page.decode(charset, "replace")) for charset in CHARSETS]
        lines = row["gold"].split("\n")
        if row["url"].endswith("/mojibake.html"):
            lines = [line.encode().decode("windows-1252", "replace").split("\ufffd")[0] for line in lines]
        paragraphs = ["".join(line.split()) for line in lines]
        assert any(all(line in text for line in paragraphs) for text in texts), row["url"]


def test_only_one_member_is_corrupt_and_both_its_neighbours_are_whole() -> None:
    states = [state for state, _ in members(SAMPLE / SHARDS[0])]
    assert Counter(states)["corrupt"] == 1
    at = states.index("corrupt")
    assert states[at - 1] == states[at + 1] == "whole"
    assert 10 < at < len(states) - 10


def test_the_second_shard_ends_within_the_head_of_its_last_page() -> None:
    *rest, (state, content) = members(SAMPLE / SHARDS[1])
    assert {state for state, _ in rest} == {"whole"}
    assert state == "clipped"
    assert b"truncated-last-record" in content
    assert b"<style>" in content
    assert b"<body" not in content


def test_shards_hold_the_other_record_types_that_crawlers_write() -> None:
    for name in SHARDS:
        kinds = Counter(answer(content).record_type for state, content in members(SAMPLE / name) if content)
        assert kinds["warcinfo"] == kinds["revisit"] == 1
        assert min(kinds["request"], kinds["metadata"], kinds["response"]) > 40


def test_charsets_are_not_what_they_are_declared_to_be(responses: dict[str, Answer]) -> None:
    false_utf8 = body(responses, "declared-utf8-is-windows-1250")
    with pytest.raises(UnicodeDecodeError):
        false_utf8.decode("utf-8")
    assert "motýlů" in false_utf8.decode("cp1250")
    contradiction = responses[f"{BROKEN}/header-latin1-meta-utf8.html"]
    assert "charset=iso-8859-1" in contradiction.http_head
    assert 'charset="utf-8"' in contradiction.body.decode("utf-8")
    assert b"charset" not in body(responses, "windows-1253-undeclared").lower()


def test_mojibake_is_valid_utf8_that_reads_right_once_the_second_encoding_is_undone(
    responses: dict[str, Answer],
) -> None:
    rubbish = body(responses, "mojibake").decode("utf-8")
    assert "Å½onglÃ©Å™i" in rubbish
    assert "Žongléři" not in rubbish
    assert "Å½onglÃ©Å™i".encode("windows-1252").decode("utf-8") == "Žongléři"


def test_encodings_are_on_the_wire_or_falsely_declared(responses: dict[str, Answer]) -> None:
    chunked = responses[f"{BROKEN}/chunked-gzip.html"]
    assert re.match(rb"[0-9a-f]+;first=yes\r\n\x1f\x8b", chunked.wire)
    assert responses[f"{BROKEN}/brotli.html"].wire != responses[f"{BROKEN}/brotli.html"].body
    assert chunked.body.startswith(b"<!DOCTYPE")
    for name, header in (
        ("stale-chunked-header", "Transfer-Encoding: chunked"),
        ("stale-gzip-header", "Content-Encoding: gzip"),
    ):
        assert header in responses[f"{BROKEN}/{name}.html"].http_head
        assert responses[f"{BROKEN}/{name}.html"].wire.startswith(b"<!DOCTYPE")
    assert (
        len(body(responses, "gzip-bomb"))
        > 10 * 1024 * 1024
        > 100 * len(responses[f"{BROKEN}/gzip-bomb.html"].wire)
    )


def test_markup_is_as_hostile_as_the_names_say(responses: dict[str, Answer]) -> None:
    assert body(responses, "nested-50000-tags").count(b"<div>") == 50_000
    assert re.search(rb'src="[^"]{1048576,}"', body(responses, "megabyte-attribute"))
    assert body(responses, "nul-bytes").count(b"\0") > 5
    assert b"<frameset" in body(responses, "frameset")
    assert body(responses, "pdf-declared-html").startswith(b"%PDF")
    assert body(responses, "empty-body") == b""


def test_the_front_pages_and_no_others_are_recognised_as_lists_of_links(
    gold: list[dict[str, Any]], responses: dict[str, Answer]
) -> None:
    clean = victor_spark.load(max_list_share=0.5)
    of_pages = {url: clean(record.body, url).reason or "" for url, record in responses.items()}
    recognised = {url for url, reason in of_pages.items() if reason.endswith("is a list of links")}
    assert recognised == {row["url"] for row in gold if row["kind"] == "index"}
    assert len(recognised) == 7


def test_pages_cut_by_the_crawler_say_so(responses: dict[str, Answer]) -> None:
    for name in ("warc-truncated-useful", "warc-truncated-useless"):
        response = responses[f"{BROKEN}/{name}.html"]
        assert ("WARC-Truncated", "length") in response.warc_headers
        assert b"</html>" not in response.body
