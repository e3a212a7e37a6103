"""Servers that fail: retries repair temporary faults; other faults give one clear line and no damage."""

from collections.abc import Callable, Iterator

import pytest

from tests.warc import flaky, making
from tests.warc.flaky import Handler, Site, cut_after, hang_up, status
from victor_spark.errors import InputError, ShardError
from victor_spark.warc import remote_files, storage
from victor_spark.warc.inputs import resolve
from victor_spark.warc.reading import read
from victor_spark.warc.remote_files import wait_before_retry
from victor_spark.warc.shard import Shard

SHARD = making.shard(making.responses(2000))  # more than one fetch


@pytest.fixture
def site() -> Iterator[Site]:
    """A server with one shard, at /a.warc.gz."""
    with flaky.served(Site({"/a.warc.gz": SHARD.content})) as site:
        yield site


def offsets(site: Site) -> list[int]:
    records = list(read(Shard(f"{site.url}/a.warc.gz", None, "warc")))
    assert [record.status for record in records] == [None] * len(records)
    return [record.warc_record_offset for record in records]


def failure(site: Site) -> str:
    with pytest.raises(ShardError) as caught:
        list(read(Shard(f"{site.url}/a.warc.gz", None, "warc")))
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"{site.url}/a.warc.gz: ")
    return str(caught.value).removeprefix(f"{site.url}/a.warc.gz: ")


@pytest.mark.parametrize(
    "fault", [*map(status, (408, 429, 500, 502, 503, 504)), hang_up, cut_after(0), cut_after(1000)]
)
@pytest.mark.parametrize("first", [0, 1])
def test_a_server_that_fails_for_a_while_costs_nothing(
    site: Site, fault: Callable[[Handler], None], first: int
) -> None:
    site.faults = [None] * first + [fault] * 3
    assert offsets(site) == SHARD.offsets[:-1]
    assert not site.faults
    assert len(site.answers) >= 5


def test_reading_goes_on_where_the_line_broke(site: Site) -> None:
    site.faults = [None, cut_after(100_000), cut_after(70_000)]
    assert offsets(site) == SHARD.offsets[:-1]
    assert [start for start, _ in site.asked[:4]] == [0, 0, 100_000, 170_000]


def test_a_line_that_breaks_again_and_again_but_gets_on_is_no_failure(site: Site) -> None:
    site.faults = [cut_after(70_000)] * 5
    assert offsets(site) == SHARD.offsets[:-1]
    assert not site.faults


def test_a_line_that_trickles_is_given_up(site: Site) -> None:
    site.always(cut_after(10))
    assert failure(site).endswith(" more expected (4 tries)")
    assert len(site.answers) == 1 + 4


@pytest.mark.parametrize("code", [429, 503])
def test_a_server_that_stays_busy_is_given_up_after_some_tries(site: Site, code: int) -> None:
    site.always(status(code))
    assert failure(site).startswith(f"the server answered {code} ")
    assert failure(site).endswith("(4 tries)")
    assert len(site.answers) == 8


def test_waits_grow_are_spread_and_heed_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_files, "FIRST_WAIT", 1.0)
    for n_failures, longest in ((1, 1.0), (3, 4.0), (20, 30.0)):
        waits = [wait_before_retry(n_failures) for _ in range(200)]
        assert 0.0 <= min(waits) < longest / 4
        assert longest * 3 / 4 < max(waits) <= longest
    assert wait_before_retry(1, asked=7.0) == 7.0
    assert wait_before_retry(1, asked=86_400.0) == 30.0


@pytest.mark.parametrize(
    ("code", "message"),
    [(404, "the server answered 404"), (403, "the server denies access (403"), (400, "answered 400")],
)
def test_permanent_errors_are_not_tried_again(site: Site, code: int, message: str) -> None:
    site.always(status(code))
    assert message in failure(site)
    assert len(site.answers) == 1


def test_a_file_that_changes_while_it_is_read_is_an_error(site: Site) -> None:
    def change(handler: Handler) -> None:
        handler.site.etag = '"second"'
        handler.serve()

    site.faults = [None, change]
    assert failure(site) == "the file on the server changed while it was read"


def test_a_file_that_grows_while_it_is_read_is_an_error(site: Site) -> None:
    def grow(handler: Handler) -> None:
        handler.site.files["/a.warc.gz"] += b"more"
        handler.serve()

    site.faults = [None, grow]
    assert failure(site) == "the file on the server changed while it was read"


def test_a_server_that_sends_another_range_is_an_error(site: Site) -> None:
    def shift(handler: Handler) -> None:
        handler.site.asked[-1] = (handler.site.asked[-1][0] + 1, handler.site.asked[-1][1])
        handler.serve()

    site.faults = [None, shift]
    assert failure(site) == "the server sent another range than the requested one"


def test_a_server_that_no_longer_sends_ranges_is_an_error(site: Site) -> None:
    def send_all(handler: Handler) -> None:
        handler.site.ranges = False
        handler.serve()

    site.faults = [None, send_all]
    assert failure(site) == "the server no longer sends ranges"


def test_a_range_that_ends_too_early_again_and_again_is_an_error() -> None:
    with pytest.raises(OSError, match=r"the server left out the last 4 bytes of a range \(4 tries\)"):
        remote_files.fetched(lambda _start, _end: iter([b"x"][: _start == 0]), 0, 5)


def test_a_content_length_that_promises_too_much_is_an_error_and_no_damage(site: Site) -> None:
    site.ranges = False
    site.always(lambda handler: handler.serve(promised=len(SHARD.content) + 1000))
    assert failure(site).endswith("1000 more expected (4 tries)")


def test_of_a_range_no_more_is_believed_than_was_asked_for(site: Site) -> None:
    site.always(lambda handler: handler.serve(promised=len(SHARD.content) + 1000))
    assert offsets(site) == SHARD.offsets[:-1]


def test_a_download_without_ranges_starts_over_when_it_breaks_off(site: Site) -> None:
    site.ranges = False
    site.faults = [cut_after(100_000), cut_after(len(SHARD.content) - 1)]
    assert offsets(site) == SHARD.offsets[:-1]
    assert site.answers == [200, 200, 200]


def test_redirects_are_followed_up_to_a_limit(site: Site) -> None:
    site.faults = [status(302, Location="/b.warc.gz"), None, status(302, Location="/b.warc.gz")]
    site.files["/b.warc.gz"] = SHARD.content
    assert [s.size for s in resolve([f"{site.url}/a.warc.gz"])] == [len(SHARD.content)]
    site.always(status(302, Location="/a.warc.gz"))
    assert failure(site) == "more than 10 redirects"
    with pytest.raises(InputError, match="more than 10 redirects"):
        resolve([f"{site.url}/a.warc.gz"])


def test_an_empty_file_is_named(site: Site) -> None:
    site.files["/a.warc.gz"] = b""
    for site.ranges in (True, False):
        assert failure(site) == "empty file"
        with pytest.raises(InputError, match=r"a\.warc\.gz: empty file"):
            resolve([f"{site.url}/a.warc.gz"])


def test_the_content_encoding_of_a_compressed_shard_is_ignored(site: Site) -> None:
    site.always(lambda handler: handler.answer(200, SHARD.content, fields={"Content-Encoding": "gzip"}))
    assert offsets(site) == SHARD.offsets[:-1]


def test_only_the_windows_asked_for_are_fetched(site: Site) -> None:
    content = bytes(range(256)) * 4096
    site.files["/b"] = content
    with storage.open_file(f"{site.url}/b", [(1000, 2000), (500_000, 500_100)]) as file:
        for start, end in ((1000, 1100), (1100, 2000), (500_000, 500_100)):
            file.seek(start)
            assert file.read(end - start) == content[start:end]
    assert site.asked == [(0, 1), (1000, 2000), (500_000, 500_100)]


def test_sequential_reads_are_fetched_in_growing_steps(site: Site) -> None:
    site.files["/b"] = bytes(8 << 20)
    with storage.open_file(f"{site.url}/b") as file:
        while file.read(100_000):
            pass
    steps = [(end or 0) - start for start, end in site.asked[1:-1]]
    assert steps == [remote_files.FIRST_FETCH * factor for factor in (1, 2, 4, 8, 16)]
    assert sum(steps) < len(site.files["/b"]) <= (site.asked[-1][1] or 0)
