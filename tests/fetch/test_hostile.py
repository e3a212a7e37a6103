"""`victor fetch` with servers that give invalid answers: each costs only its own address."""

import asyncio
import errno
import os
import re
import socket
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import aiohttp
import fastwarc
import pytest

from tests.fetch.hostile import (
    OK,
    PAGE,
    PLAIN,
    ROBOTS,
    ROBOTS_THAT_END,
    Hostile,
    chunked,
    hostile,
    silent,
    sized,
    to,
)
from victor_spark.annotation import store
from victor_spark.cli import main
from victor_spark.commands.fetch import USER_AGENT, fetch
from victor_spark.fetch import Limits, Politeness, addresses, exchange, warc_file
from victor_spark.fetch.crawl import Crawl
from victor_spark.fetch.exchange import Answer, Failure
from victor_spark.warc import inputs, reading

LIMITS = Limits(seconds=3.0, connect_seconds=3.0, max_bytes=200_000, allow_private=True)
POLITE = Politeness(delay=0.0, n_tries=1, back_off=0.05, parallel=8)


def fetched(
    folder: Path, addresses: list[str], polite: Politeness = POLITE
) -> tuple[dict[str, tuple[str, str]], Path]:
    output = folder / "pages.warc.gz"
    outcome, complete, _ = fetch(addresses, output, USER_AGENT, LIMITS, polite)
    assert complete
    return outcome, output


def blocks(path: Path) -> dict[str, bytes]:
    """Address → the block of its response, head and body as they stand in the archive."""
    found = {}
    with path.open("rb") as file:
        for record in fastwarc.warc.ArchiveIterator(file, parse_http=False):
            if record.record_type == fastwarc.warc.WarcRecordType.response:
                assert record.verify_block_digest(consume=False)
                found[record.headers["WARC-Target-URI"]] = record.reader.read()
    return found


def test_every_answer_that_no_server_should_give_costs_one_visit(tmp_path: Path) -> None:
    """Some that send little until the limit come from other hosts, which are visited meanwhile."""
    answers = {name: answer for name, (answer, _) in PLAIN.items()}
    slow = ["dripping-headers", "dripping-body", "silent"]
    with ExitStack() as stack:
        servers = dict.fromkeys(PLAIN, together := stack.enter_context(hostile(answers)))
        for number, name in enumerate(slow, 2):
            servers[name] = stack.enter_context(hostile(answers, f"127.0.0.{number}"))
        listed = [f"{servers[name].base}/{name}{query}" for name in PLAIN for query in ("", "?good")]
        server_answers = {f"{servers[name].base}/{name}": ended for name, (_, ended) in PLAIN.items()}
        outcome, output = fetched(tmp_path, listed, POLITE)
    assert {url: ended for url, (ended, _) in outcome.items() if "?" not in url} == server_answers
    kept = blocks(output)
    assert all(kept[url].endswith(PAGE) for url in listed if "?" in url)
    (shard,) = inputs.resolve([str(output)])
    pages = {record.url: record for record in reading.read(shard)}
    assert pages[f"{together.base}/good"].payload == PAGE
    assert pages[f"{together.base}/good?good"].payload == PAGE


def test_servers_are_asked_again_when_they_ask_for_a_time_that_makes_no_sense(tmp_path: Path) -> None:
    answers = {name: answer for name, (answer, _) in PLAIN.items() if name.startswith("retry")}
    with hostile(answers) as server:
        polite = Politeness(delay=0.0, n_tries=2, back_off=0.05)
        outcome, _ = fetched(tmp_path, [f"{server.base}/{name}" for name in answers], polite)
        assert {status for status, _ in outcome.values()} == {"503"}
        asked = {name: server.paths.count(f"/{name}") for name in answers}
    too_long = {"retry-huge", "retry-very-huge"}  # they ask to be left alone
    assert asked == {name: 1 if name in too_long else 2 for name in answers}


def asked(url: str, limits: Limits = LIMITS) -> Answer | Failure:
    async def ask() -> Answer | Failure:
        async with exchange.session("x", limits) as client:
            return await exchange.ask(client, url, limits.max_bytes)

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("reason", "HTTP/1.1 200 žádný ".encode() + b"\xff\r\n"),
        ("header-values", b"\r\nLink: </\xe9\xff>; rel=x\r\nSet-Cookie: \xc5\xbe=\x80\x01; P\r\n"),
        ("two-spellings", b"\r\nx-b: 1\r\nX-A: 2\r\nX-B: 3\r\nx-b: \xc5\xbe\x80\r\n"),
    ],
)
def test_the_archive_has_all_headers_in_their_order_and_spelling(
    tmp_path: Path, name: str, head: bytes
) -> None:
    with hostile({name: PLAIN[name][0]}) as server:
        _, output = fetched(tmp_path, [f"{server.base}/{name}"])
        block = blocks(output)[f"{server.base}/{name}"]
    assert head in block
    assert block == PLAIN[name][0]


@pytest.mark.parametrize(
    ("name", "body", "truncated"),
    [
        ("too-long", PAGE, "disconnect"),
        ("chunk-huge", b"<p>", "disconnect"),
        ("chunk-without-end", b"<p>", "disconnect"),
        ("chunk-late-word", b"<p>", "time"),
        ("chunk-trailers", b"<p>", None),
        ("chunk-endless", (b"<p>" * 66667)[:200_000], "length"),
        ("reset-in-body", b"<p>", "disconnect"),
        ("204", b"", None),
    ],
)
def test_a_body_is_what_its_framing_gives_and_the_archive_says_how_much_is_missing(
    tmp_path: Path, name: str, body: bytes, truncated: str | None
) -> None:
    with hostile({name: PLAIN[name][0]}) as server:
        answer = asked(f"{server.base}/{name}")
    assert isinstance(answer, Answer)
    assert (answer.body, answer.truncated, answer.ip) == (body, truncated, "127.0.0.1")
    with warc_file.opened(tmp_path / "x.warc.gz", "x") as warc:
        warc.add(answer, {})
    (block,) = blocks(warc.path).values()
    assert block.endswith(b"\r\n\r\n" + body)
    lengths = re.findall(rb"\nContent-Length: (\d+)", block)
    assert set(lengths) <= {b"%d" % len(body)}
    assert b"\nTransfer-Encoding" not in block


@pytest.mark.parametrize("name", ROBOTS)
def test_a_hostile_robots_txt_that_forbids_nothing_leaves_its_pages_free(tmp_path: Path, name: str) -> None:
    with hostile({"robots.txt": ROBOTS[name], "good": PLAIN["good"][0]}) as server:
        outcome, _ = fetched(tmp_path, [f"{server.base}/good", f"{server.base}/{'a' * 2000}"])
        assert {status for status, _ in outcome.values()} == {"200"}


def test_a_robots_txt_that_cannot_be_had_costs_its_own_site_alone(tmp_path: Path) -> None:
    with ExitStack() as stack:
        ends: dict[str, str] = {}
        for number, (answer, ended) in enumerate(ROBOTS_THAT_END.values(), 1):
            host = f"127.0.0.{number}"
            server: Hostile = stack.enter_context(hostile({"robots.txt": answer}, host))
            ends |= {f"{server.base}/{n}": ended for n in range(3)}
        outcome, _ = fetched(tmp_path, list(ends))
        assert {url: status for url, (status, _) in outcome.items()} == ends


def test_a_robots_txt_that_its_reader_fails_on_forbids_the_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise IndexError

    monkeypatch.setattr("victor_spark.fetch.crawl.Protego.parse", fail)
    with hostile({}) as server:
        outcome, _ = fetched(tmp_path, [f"{server.base}/{n}" for n in range(2)])
        assert {status for status, _ in outcome.values()} == {"error"}
        assert server.paths == ["/robots.txt"]


def test_an_error_of_our_own_costs_one_visit_and_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(self: Crawl, *_: object, **__: object) -> None:
        raise KeyError("nobody foresaw this")

    with hostile({"first": to(b"/second")}) as server:
        monkeypatch.setattr(Crawl, "_ask", fail)
        outcome, _ = fetched(tmp_path, [f"{server.base}/first", f"{server.base}/other"])
    assert {status for status, _ in outcome.values()} == {"error"}
    assert "KeyError: 'nobody foresaw this'" in outcome[f"{server.base}/first"][1]


def test_the_reason_of_a_failure_is_in_plain_words() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    reasons = {asked(f"{scheme}://127.0.0.1:{port}/") for scheme in ("http", "https")}
    assert reasons == {Failure("connection", "connection refused")}
    with hostile({"silent": silent}) as server:
        limits = replace(LIMITS, seconds=1.0)
        assert asked(f"{server.base}/silent", limits) == Failure("timeout", "no answer within 1 s")
    limit = aiohttp.ClientTimeout(sock_connect=2.5)
    assert exchange._reason(aiohttp.ConnectionTimeoutError(), limit) == "no connection within 2.5 s"


def test_an_error_of_the_system_during_a_fetch_is_not_one_of_the_archive(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    with pytest.raises(OSError, match="Too many open files"), warc_file.opened(path, "x") as warc:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    assert warc.file.closed


def test_a_line_that_speaks_no_tls_fails_as_tls(tmp_path: Path) -> None:
    with hostile({}) as server:
        url = server.base.replace("http://", "https://") + "/"
        outcome, _ = fetched(tmp_path, [url])
        assert outcome[url][0] == "tls"


def test_a_redirect_to_a_private_address_is_refused_at_every_hop(tmp_path: Path) -> None:
    with hostile({}) as server:
        limits = Limits(seconds=1, connect_seconds=1)
        for host in ("127.1", "0x7f.0.0.1", "2130706433", "017700000001", "[::ffff:7f00:1]", "localhost"):
            url = f"http://{host}:{server.base.rpartition(':')[2]}/"
            answer = asked(url, limits)
            assert isinstance(answer, Failure)
            assert answer.status in ("private_address", "bad_answer"), host  # or no host at all
        assert server.paths == []


@pytest.mark.parametrize(
    "line",
    [
        "http://a b.example/",
        "http://user:pass@x.example/",
        "http://x.example:99999/",
        "http://x.example:0/",
        "http://[::1/",
        "http://[]..@",
        "http://[::g]/",
        "http://x\x00.example/",
        "http://x.example/\udcff",
        "http://\ud800/",
        "http://x.example/" + "a" * 20_000,
        "javascript:alert(1)",
        "file:///etc/passwd",
        "http:///x",
        "http://",
    ],
)
def test_a_line_that_is_no_address_is_left_out(line: str) -> None:
    found = addresses.of_lines(["# list", line, "http://x.example/"])
    assert found.urls == ("http://x.example/",)
    assert [why[:7] for why in found.bad] == ["line 2 "]


def test_the_reason_names_the_line_and_no_password() -> None:
    lines = ["http://x.example/", "http://me:S3cret@x.example/ok", "ftp://x/", "https://x.example:0/"]
    assert addresses.of_lines(lines).bad == (
        "line 2 has a user name",
        "line 3 does not begin with http:// or https://",
        "line 4 has no valid host or port, or is too long",
    )


@pytest.mark.parametrize(
    ("line", "address"),
    [
        ("http://x.example/a b\tc", "http://x.example/a%20bc"),
        ("http://žluť.example/ř?š=ů#part", "http://xn--lu-yta1h.example/%C5%99?%C5%A1=%C5%AF"),
        ("HTTP://X.example", "http://x.example/"),
        ("http://[2001:4860:4860::8888]:8080/", "http://[2001:4860:4860::8888]:8080/"),
    ],
)
def test_an_odd_address_is_sent_as_printable_ascii(line: str, address: str) -> None:
    assert addresses.normal(line) == address


@pytest.mark.parametrize(
    "address",
    [
        *("0.1.2.3", "100.127.255.255", "169.254.169.254", "192.0.0.9", "192.0.0.170", "192.0.0.192"),
        *("192.0.2.1", "192.31.196.1", "192.52.193.1", "192.88.99.1", "192.175.48.1", "198.18.0.1"),
        *("198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "233.252.0.1"),
        *("240.0.0.1", "255.255.255.255", "168.63.129.16"),
        *("::", "::1", "::7f00:1", "::a00:1", "::ffff:127.0.0.1", "::ffff:0:7f00:1", "::ffff:100.64.0.1"),
        *("64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b:1::", "64:ff9b:1::808:808", "100::1"),
        "100:0:0:1::1",
        *("2001::1", "2001:0:7f00:1::", "2001:1::1", "2001:2::1", "2001:10::1", "2001:20::1"),
        "2001:30::1",
        *("2001:db8::1", "2002:7f00:1::", "2002:a00:1::1", "2002:c0a8:101::1", "3fff::1", "5f00::1"),
        "4000::1",
        *("fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "2606:4700::1%eth0", "fec0::1", "ff02::1"),
        *("2130706433", "0x7f000001", "0177.0.0.1", "127.1", "localhost", "", "::1::"),
    ],
)  # fmt: skip
def test_no_special_purpose_address_is_public(address: str) -> None:
    assert not addresses.is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("1.1.1.1", "8.8.8.8", "100.63.255.255", "172.32.0.1", "223.255.255.255", "2606:4700::1111"),
        *("2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "2001:4860:4860::8888"),
    ],
)
def test_public_addresses_are_public_also_within_others(address: str) -> None:
    assert addresses.is_public(address)


def test_a_list_of_hostile_addresses_fills_an_annotation_store_with_its_good_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("victor_spark.commands.annotate.Politeness", lambda: POLITE)
    public_only = replace(LIMITS, allow_private=False)
    limits = "victor_spark.commands.annotate.Limits"
    monkeypatch.setattr(limits, lambda **given: replace(public_only, **given))
    names = ("reason", "two-spellings", "retry-year", "http09", "to-library-fault", "good")
    with hostile({name: PLAIN[name][0] for name in names}) as server:
        listed = tmp_path / "urls.txt"
        listed.write_text("\n".join(f"{server.base}/{name}" for name in names))
        path = tmp_path / "a.sqlite"
        words = ["annotate", str(listed), "--store", str(path), "--import-only", "--no-prelabels"]
        assert main([*words, "--allow-private"]) == 0
    kept = store.open_existing(path)
    assert len(kept.rows("SELECT url FROM page WHERE NOT practice")) == 1  # all good pages are the same
    kept.close()


def test_the_hostile_answers_are_what_they_say() -> None:
    assert sized(b"ab", b"X: y") == b"HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 2\r\n\r\nab"
    assert chunked(b"0\r\n\r\n").startswith(OK)
