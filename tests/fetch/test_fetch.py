"""`victor fetch`: its requests, their rate, and its output; with real servers on this machine."""

import gzip
import json
from collections import Counter
from pathlib import Path

import fastwarc
import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from tests.fetch import sites
from tests.fetch.sites import Site, serving
from tests.warc import making
from victor_spark.cli import main
from victor_spark.errors import OutputError
from victor_spark.fetch import addresses, warc_file
from victor_spark.fetch.crawl import Crawl
from victor_spark.warc import inputs, reading


def fetch(folder: Path, urls: list[str], *options: str, name: str = "pages.warc.gz", code: int = 0) -> Path:
    listed, output = folder / "urls.txt", folder / name
    listed.write_text("\n".join(["# a comment", "", *urls]), encoding="utf-8")
    words = ["fetch", str(listed), "--output", str(output), "--allow-private", *options]
    for flag, value in (("--delay", "0.05"), ("--back-off", "0.1")):
        words += [] if flag in options else [flag, value]
    assert main(words) == code
    return output


def responses(path: Path) -> dict[str, tuple[int, bytes, str | None]]:
    """Address → status, body, WARC-Truncated."""
    found = {}
    with path.open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            if record.rec_type == "response":
                body = record.content_stream().read()
                truncated = record.rec_headers.get_header("WARC-Truncated")
                url = record.rec_headers.get_header("WARC-Target-URI")
                found[url] = (int(record.http_headers.get_statuscode()), body, truncated)
    return found


@pytest.fixture
def site() -> Site:
    with serving("127.0.0.1") as running:
        yield running


def test_each_address_is_asked_for_once_and_written_with_its_request(tmp_path: Path, site: Site) -> None:
    urls = [f"{site.base}/a", f"{site.base}/b?x=1&y=ž", f"{site.base}/a#part", f"{site.base}"]
    output = fetch(tmp_path, urls)
    assert sorted(site.paths()) == ["/", "/a", "/b?x=1&y=%C5%BE", "/robots.txt"]
    kinds = Counter()
    with output.open("rb") as file:
        for record in ArchiveIterator(file):
            kinds[record.rec_type] += 1
            if record.rec_type == "request":
                assert record.http_headers.get_header("User-Agent").startswith("victor-spark/")
    assert kinds == {"warcinfo": 1, "response": 3, "request": 3, "metadata": 3}


def test_other_tools_read_the_archive_and_find_its_digests_right(tmp_path: Path, site: Site) -> None:
    output = fetch(tmp_path, [f"{site.base}/a"])
    with output.open("rb") as file:
        for record in fastwarc.warc.ArchiveIterator(file, parse_http=False):
            if record.record_type == fastwarc.warc.WarcRecordType.response:
                assert record.verify_block_digest()
    checker = Checker(type("Options", (), {"inputs": [str(output)], "verbose": False}))
    checker.process_all()
    assert checker.exit_value == 0
    (shard,) = inputs.resolve([str(output)])
    pages = [record for record in reading.read(shard) if record.status is None]
    assert [page.url for page in pages] == [f"{site.base}/a"]
    assert pages[0].payload == sites.PAGE % b"/a"


def test_a_host_is_asked_once_a_second_and_hosts_side_by_side(tmp_path: Path) -> None:
    with serving("127.0.0.2") as one, serving("127.0.0.3") as two:
        urls = [f"{host.base}/{n}" for n in range(2) for host in (one, two)]
        fetch(tmp_path, urls, "--delay", "1")
        for host in (one, two):
            assert len(host.asked) == 3
            assert min(host.gaps()) >= 0.9
        # Side by side: the second host's last answer came before the first could have had all its turns
        # again.
        assert max(at for at, _ in two.asked) - min(at for at, _ in one.asked) < 2 * 2.9


def test_a_longer_crawl_delay_is_obeyed(tmp_path: Path) -> None:
    with serving("127.0.0.1", robots="User-agent: *\nCrawl-delay: 0.5\n") as site:
        fetch(tmp_path, [f"{site.base}/1", f"{site.base}/2"])
        assert min(site.gaps()) >= 0.45


def test_what_robots_txt_forbids_is_not_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = "User-agent: victor-spark\nDisallow: /private\n\nUser-agent: *\nDisallow: /\n"
    with serving("127.0.0.1", robots=rules, go=sites.redirect("/private/c")) as site:
        fetch(tmp_path, [f"{site.base}/private/a", f"{site.base}/b", f"{site.base}/go"])
        assert site.paths() == ["/robots.txt", "/b", "/go"]
    assert "2 addresses with status robots" in capsys.readouterr().err


def test_the_rules_of_a_site_may_stand_behind_redirects_up_to_a_limit(tmp_path: Path) -> None:
    rules = lambda request, _: sites.send(request, 200, b"User-agent: *\nDisallow: /a", "text/plain")  # noqa: E731
    with serving("127.0.0.1", rules=rules) as site:
        site.own |= {"/robots.txt": sites.redirect("/moved"), "/moved": sites.redirect("/rules")}
        fetch(tmp_path, [f"{site.base}/a", f"{site.base}/b"])
        assert site.paths() == ["/robots.txt", "/moved", "/rules", "/b"]


def test_a_site_whose_robots_txt_fails_is_left_alone(tmp_path: Path) -> None:
    with serving("127.0.0.1", broken=True) as site:
        fetch(tmp_path, [f"{site.base}/a"], "--tries", "2", code=2)
        assert site.paths() == ["/robots.txt", "/robots.txt"]


def test_redirects_are_followed_across_hosts_and_each_hop_is_written(tmp_path: Path) -> None:
    with (
        serving("127.0.0.2") as far,
        serving("127.0.0.1", near=sites.redirect("/nearer", 301)) as site,
    ):
        site.own["/nearer"] = sites.redirect(f"{far.base}/end")
        found = responses(fetch(tmp_path, [f"{site.base}/near"]))
        assert far.paths() == ["/robots.txt", "/end"]
        pages = {url.rpartition("/")[2]: status for url, (status, *_) in found.items() if "robots" not in url}
        assert pages == {"near": 301, "nearer": 302, "end": 200}


def test_a_circle_of_redirects_and_an_endless_one_are_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving("127.0.0.1", a=sites.redirect("/b"), b=sites.redirect("/a")) as site:
        for n in range(20):
            site.own[f"/n{n}"] = sites.redirect(f"/n{n + 1}")
        fetch(tmp_path, [f"{site.base}/a", f"{site.base}/n0"], "--delay", "0")
        assert len(site.asked) == 1 + 2 + 11
    message = capsys.readouterr().err
    assert "1 address with status redirect_loop" in message
    assert "1 address with status too_many_redirects" in message


def test_endless_slow_and_lying_answers_are_cut_and_say_so(tmp_path: Path) -> None:
    own = {
        "endless": sites.endless,
        "drops": sites.drop_by_drop,
        "lies": sites.promises_more,
        "parts": sites.chunked,
    }
    with serving("127.0.0.1", **own) as site:
        output = fetch(
            tmp_path, [f"{site.base}/{name}" for name in own], "--max-bytes", "50000", "--timeout", "1"
        )
        found = {url.rpartition("/")[2]: answer for url, answer in responses(output).items()}
        assert found["endless"][2] == "length"
        assert len(found["endless"][1]) == 50000
        assert found["drops"][2] == "time"
        assert found["drops"][1].startswith(b"<p>drop</p>")
        assert found["lies"][1:] == (b"<p>this is all there is</p>", "disconnect")
        assert found["parts"] == (200, b"<p>in two parts</p>", None)
        assert site.paths().count("/lies") == 3  # it might have been a broken line


def test_failures_are_tried_again_after_the_time_the_server_asks_for(tmp_path: Path) -> None:
    with serving("127.0.0.1", busy=sites.busy_at_first) as site:
        found = responses(fetch(tmp_path, [f"{site.base}/busy"]))
        assert found[f"{site.base}/busy"][0] == 200
        first, second = (at for at, path in site.asked if path == "/busy")
        assert second - first >= 1.0


def test_a_server_that_does_not_answer_costs_its_time_out_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving("127.0.0.1", silent=sites.silent) as site:
        fetch(tmp_path, [f"{site.base}/silent", f"{site.base}/a"], "--timeout", "0.5", "--tries", "1")
        assert site.paths().count("/a") == 1
    assert "1 address with status timeout" in capsys.readouterr().err


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://[::ffff:127.0.0.1]:{port}/"]
)
def test_private_addresses_are_refused_whatever_their_name(
    tmp_path: Path, site: Site, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    (tmp_path / "urls.txt").write_text(url.format(port=site.server.server_port))
    output = tmp_path / "x.warc.gz"
    assert main(["fetch", str(tmp_path / "urls.txt"), "--output", str(output)]) == 2
    assert site.asked == []
    lines = capsys.readouterr().err
    assert "1 address with status private_address" in lines
    assert lines.endswith("victor: error: no page was written\n")


@pytest.mark.parametrize(
    ("address", "is_public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("127.0.0.1", False),
        ("0.0.0.0", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("::", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:10.0.0.1", False),
        ("2002:7f00:1::", False),
        ("64:ff9b::7f00:1", False),
    ],
)
def test_an_address_is_public_or_not_also_when_wrapped_in_another(address: str, is_public: bool) -> None:
    assert addresses.is_public(address) == is_public


def test_what_the_archive_holds_is_not_fetched_again(tmp_path: Path) -> None:
    with serving("127.0.0.1", away=sites.redirect("/b")) as site:
        urls = [f"{site.base}/a", f"{site.base}/away"]
        output = fetch(tmp_path, urls)
        before, n_asked = output.read_bytes(), len(site.asked)
        fetch(tmp_path, urls)
        assert len(site.asked) == n_asked
        assert output.read_bytes() == before
        fetch(tmp_path, [*urls, f"{site.base}/c"])
        assert site.paths()[n_asked:] == ["/robots.txt", "/c"]


def test_a_redirect_that_the_archive_holds_leads_where_it_did(tmp_path: Path) -> None:
    written = "/stra\u00dfe".encode().decode("latin-1")  # UTF-8, as many servers send it
    with serving("127.0.0.1", away=sites.redirect(written)) as site:
        output = fetch(tmp_path, [f"{site.base}/away"])
        before, n_asked = output.read_bytes(), len(site.asked)
        fetch(tmp_path, [f"{site.base}/away"])
        assert site.paths()[n_asked:] == []
        assert output.read_bytes() == before


def test_an_incomplete_last_record_is_removed_and_fetched_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving("127.0.0.1") as site:
        urls = [f"{site.base}/a", f"{site.base}/b"]
        output = fetch(tmp_path, urls)
        whole = output.read_bytes()
        starts = [at for at in range(len(whole)) if whole.startswith(b"\x1f\x8b\x08", at)]
        output.write_bytes(whole[: starts[-3] + 100])  # within the last response
        fetch(tmp_path, urls)
        assert "removed an incomplete record of 100 bytes" in capsys.readouterr().err
        assert sorted(responses(output)) == [f"{site.base}/{name}" for name in ("a", "b")]
        assert site.paths().count("/a") == 1
        assert site.paths().count("/b") == 2


def test_a_stopped_fetch_clipped_anywhere_goes_on(tmp_path: Path, site: Site) -> None:
    output = fetch(tmp_path, [f"{site.base}/a"])
    whole = output.read_bytes()
    for length in (0, 1, 5, 40, len(whole) // 2, len(whole) - 1):
        output.write_bytes(whole[:length])
        fetch(tmp_path, [f"{site.base}/a"])
        assert f"{site.base}/a" in responses(output)


@pytest.mark.parametrize(
    ("listed", "name", "message"),
    [
        ("just words\nftp://x.example/\n", "x.warc.gz", "holds no http:// or https:// address"),
        ("http://x.example/", "x.warc", "must end in .warc.gz"),
        ("http://x.example/", "no/folder/x.warc.gz", "No such file"),
    ],
)
def test_bad_input_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], listed: str, name: str, message: str
) -> None:
    (tmp_path / "urls.txt").write_text(listed)
    assert main(["fetch", str(tmp_path / "urls.txt"), "--output", str(tmp_path / name)]) == 2
    assert message in capsys.readouterr().err


def test_a_list_that_cannot_be_read_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fetch", str(tmp_path), "--output", str(tmp_path / "x.warc.gz")]) == 2
    assert capsys.readouterr().err == f"victor: error: {tmp_path}: Is a directory\n"


def test_of_many_failures_the_first_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving("127.0.0.1", robots="User-agent: *\nDisallow: /") as site:
        fetch(tmp_path, [f"{site.base}/{n}" for n in range(13)], code=2)
    lines = capsys.readouterr().err.splitlines()
    assert sum("robots.txt does not allow it" in line for line in lines) == 10
    assert "victor:   … and 3 more" in lines


def test_a_fetch_that_is_stopped_says_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Crawl, "run", stop)
    fetch(tmp_path, ["http://x.example/"], code=4)
    assert capsys.readouterr().err.endswith("stopped; run the same command again to resume\n")


def test_a_full_disk_ends_the_fetch(
    tmp_path: Path, site: Site, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OutputError("x.warc.gz: No space left on device")

    monkeypatch.setattr(warc_file.WarcFile, "add", fail)
    fetch(tmp_path, [f"{site.base}/a", f"{site.base}/b"], code=2)
    assert "No space left on device" in capsys.readouterr().err.splitlines()[-1]
    assert "/b" not in site.paths()


def test_two_fetches_do_not_write_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    with (
        warc_file.opened(path, "x"),
        pytest.raises(OutputError, match=r"x\.warc\.gz: another fetch is writing to it"),
        warc_file.opened(path, "x"),
    ):
        pass


def test_a_response_without_http_head_in_the_archive_is_passed_over(tmp_path: Path, site: Site) -> None:
    (tmp_path / "pages.warc.gz").write_bytes(gzip.compress(making.warc(b"no head at all")))
    output = fetch(tmp_path, [f"{site.base}/a"])
    assert output.read_bytes().startswith(gzip.compress(making.warc(b"no head at all")))
    assert site.paths() == ["/robots.txt", "/a"]


def test_a_file_that_is_no_warc_is_not_added_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "urls.txt").write_text("http://x.example/")
    output = tmp_path / "x.warc.gz"
    output.write_bytes(gzip.compress(json.dumps({"precious": True}).encode()))
    before = output.read_bytes()
    assert main(["fetch", str(tmp_path / "urls.txt"), "--output", str(output)]) == 2
    assert "not a .warc.gz" in capsys.readouterr().err
    assert output.read_bytes() == before


def test_where_the_archive_holds_pages_a_fetch_that_adds_none_is_done(tmp_path: Path, site: Site) -> None:
    output = fetch(tmp_path, [f"{site.base}/a"])
    site.server.shutdown()
    before = output.read_bytes()
    site.server.server_close()
    fetch(tmp_path, [f"{site.base}/b"], "--tries", "1")
    assert output.read_bytes() == before
