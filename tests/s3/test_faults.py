"""Faults of S3 during a run: one clear line, the right exit code, and the same command resumes."""

import base64
import os
import random
import threading
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.between import CUT, Handler
from tests.s3.conftest import N_SHARDS, WAVES, Store, Victor, disk_rows, names, victor
from tests.spark.crawl import Response, page, write_warc

pytestmark = [pytest.mark.s3, pytest.mark.timeout(400)]


class AfterLedger:
    """A fault of every request from the time when the first wave is in the ledger."""

    def __init__(self, code: str) -> None:
        self.code, self.begun = code, False

    def __call__(self, handler: Handler) -> str | None:
        if self.begun:
            return self.code
        self.begun = handler.wrote_ledger
        return None


def test_an_expired_token_ends_the_run_with_a_line_and_the_same_command_resumes(
    store: Store, ours: Victor, expected: list[dict[str, Any]]
) -> None:
    command = ("clean", "s3://crawls/in/", "--output", "s3://crawls/expired", *WAVES)
    store.between.fault = AfterLedger("ExpiredToken")
    line = ours.refused(*command)
    assert "the credentials expired (ExpiredToken)" in line, line
    n_done = len(store.names("crawls", "expired/_run/ledger/"))
    assert 0 < n_done < N_SHARDS
    store.between.fault = lambda _: None
    assert any(f"{n_done} of" in line for line in ours.run(*command))
    assert store.rows("s3://crawls/expired/pages") == expected


def test_hadoops_writer_says_the_same(store: Store, hadoop: Victor, expected: list[dict[str, Any]]) -> None:
    command = ("clean", str(store.crawl), "--output", "s3a://crawls/refused", *WAVES)
    store.between.fault = AfterLedger("ExpiredToken")
    line = hadoop.refused(*command)
    assert "s3a://crawls/refused" in line
    assert "credentials expired (" in line, "(400) where S3A's request was HEAD, whose answer has no text"
    store.between.fault = lambda _: None
    hadoop.run(*command)
    assert store.rows("s3://crawls/refused/pages") == expected


def test_an_input_whose_credentials_expire_costs_no_shard(
    store: Store, ours: Victor, expected: list[dict[str, Any]]
) -> None:
    """A shard that can't be read would stay a failed row in the output."""
    n_ranges = 0

    def expire(handler: Handler) -> str | None:
        nonlocal n_ranges
        n_ranges += "Range" in handler.headers and handler.command == "GET"
        return "ExpiredToken" if n_ranges > 5 else None

    output = store.folder / "half"
    command = ("clean", "s3://crawls/in/", "--output", str(output), *WAVES)
    store.between.fault = expire
    line = ours.refused(*command)
    assert line.endswith(
        ".warc.gz: the credentials expired (ExpiredToken); the same command resumes when that is mended"
    )
    assert line.startswith("s3://crawls/in/shard-")
    store.between.fault = lambda _: None
    ours.run(*command)
    assert disk_rows(output / "pages") == expected


@pytest.mark.parametrize("vanishing", ["input", "output"])
def test_a_bucket_that_vanishes_in_mid_run(
    store: Store,
    ours: Victor,
    expected: list[dict[str, Any]],
    vanishing: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bucket = f"vanishing-{vanishing}"

    def fill() -> None:
        store.client.create_bucket(Bucket=bucket)
        if vanishing == "input":
            for shard in sorted(store.crawl.iterdir()):
                store.client.upload_file(str(shard), bucket, f"in/{shard.name}")

    fill()
    source = f"s3://{bucket}/in/" if vanishing == "input" else "s3://crawls/in/"
    output = f"s3://{bucket if vanishing == 'output' else 'crawls'}/vanished"
    command = ("clean", source, "--output", output, *WAVES)
    begun = threading.Event()

    def vanish(handler: Handler) -> None:
        if handler.wrote_ledger and not begun.is_set():
            begun.set()
            for name in names(store.client, bucket, ""):
                store.client.delete_object(Bucket=bucket, Key=name)
            store.client.delete_bucket(Bucket=bucket)

    # One request at a time: half-way, an object would be missing, and not its bucket.
    monkeypatch.setattr(store.between, "turn", threading.Lock())
    store.between.fault = vanish
    line = ours.refused(*command)
    assert "no such bucket (NoSuchBucket)" in line, line
    fill()
    ours.run(*command)
    assert store.rows(f"{output}/pages") == expected


def test_a_file_that_vanishes_before_it_is_published_ends_the_run_with_a_line(
    store: Store, ours: Victor, expected: list[dict[str, Any]]
) -> None:
    vanished: list[str] = []

    def vanish(handler: Handler) -> None:
        if (source := handler.headers.get("x-amz-copy-source")) and not vanished:
            vanished.append(source)
            bucket, _, name = unquote(source).lstrip("/").partition("/")
            store.client.delete_object(Bucket=bucket, Key=name)

    command = ("clean", "s3://crawls/in/", "--output", "s3://crawls/gone", *WAVES)
    store.between.fault = vanish
    line = ours.refused(*command)
    assert vanished
    assert "s3://crawls/gone: " in line, line
    assert line.endswith("; the same command resumes when that is mended")
    ours.run(*command)
    assert store.rows("s3://crawls/gone/pages") == expected


def test_a_store_that_is_busy_costs_time_only(
    store: Store, ours: Victor, expected: list[dict[str, Any]]
) -> None:
    n_asked = 0

    def busy(_: Handler) -> str | None:
        nonlocal n_asked
        n_asked += 1
        return "SlowDown" if n_asked % 4 == 0 else None

    store.between.fault = busy
    ours.run("clean", "s3://crawls/in/", "--output", "s3://crawls/busy", *WAVES)
    assert store.between.answered["SlowDown"] > 20
    assert store.rows("s3://crawls/busy/pages") == expected


def test_a_server_that_restarts_in_mid_run_costs_no_row(
    store: Store, ours: Victor, expected: list[dict[str, Any]]
) -> None:
    begun = threading.Event()

    def watch(handler: Handler) -> None:
        if handler.wrote_ledger:
            begun.set()

    store.between.fault = watch
    command = ("clean", "s3://crawls/in/", "--output", "s3://crawls/restarted", *WAVES)
    ours.start(*command)
    assert begun.wait(120), ours.printed()
    store.server.kill()
    store.server.start()
    code, _ = ours.finish()
    if code:  # tasks may give up before the server is back
        ours.run(*command)
    assert store.rows("s3://crawls/restarted/pages") == expected


def test_wrong_credentials_are_refused_in_a_line_before_the_first_page(store: Store) -> None:
    with victor(store.folder, store.server.url, AWS_SECRET_ACCESS_KEY="wrong") as wrong:
        line = wrong.refused("clean", "s3://crawls/in/", "--output", str(store.folder / "wrong"))
        assert line == "s3://crawls/in/: the secret of the credentials is wrong (SignatureDoesNotMatch)"
        line = wrong.refused("clean", str(store.crawl), "--output", "s3://crawls/wrong")
        assert line.startswith("s3://crawls/wrong: ")
        assert "the secret of the credentials is wrong (SignatureDoesNotMatch)" in line
    assert not (store.folder / "wrong").exists()
    assert not store.names("crawls", "wrong")


def test_a_clock_that_is_an_hour_off_is_named(store: Store, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import datetime, botocore.auth as auth\n"
        "now = auth.get_current_datetime\n"
        "auth.get_current_datetime = lambda *a, **k: now(*a, **k) + datetime.timedelta(hours=1)\n"
    )
    path = os.pathsep.join([str(tmp_path), os.getcwd()])
    with victor(store.folder, store.server.url, PYTHONPATH=path) as late:
        for words in (("s3://crawls/in/", "late"), (str(store.crawl), "s3://crawls/late")):
            output = words[1] if "://" in words[1] else str(store.folder / words[1])
            line = late.refused("clean", words[0], "--output", output)
            assert "the clocks of this machine and the store differ by minutes" in line
            assert "(RequestTimeTooSkewed)" in line
    assert not (store.folder / "late").exists()
    assert not store.names("crawls", "late")


@pytest.fixture(scope="module")
def large(store: Store) -> Path:
    """A shard whose rows take three parts of 5 MB."""
    noise = random.Random(22)
    texts = [base64.b64encode(noise.randbytes(300_000)).decode() for _ in range(40)]
    responses = [
        Response(f"http://cargo.example/{number}", page(f"Cargo {number}", text).encode())
        for number, text in enumerate(texts)
    ]
    return write_warc(store.folder / "large.warc.gz", responses)


@pytest.fixture(scope="module")
def large_rows(store: Store, ours: Victor, large: Path) -> list[dict[str, Any]]:
    """The rows of that shard on a disk."""
    ours.run("clean", str(large), "--output", str(store.folder / "large"), *LARGE)
    found = disk_rows(store.folder / "large" / "pages")
    assert len(found) == 40
    return found


LARGE = ("--html", "--partitions", "1")


def test_parts_that_are_cut_off_are_sent_again(
    store: Store, ours: Victor, large: Path, large_rows: list[dict[str, Any]]
) -> None:
    n_parts = 0

    def cut(handler: Handler) -> str | None:
        nonlocal n_parts
        n_parts += "partNumber=" in handler.path
        return CUT if "partNumber=" in handler.path and n_parts in (1, 3) else None

    store.between.fault = cut
    ours.run("clean", str(large), "--output", "s3://crawls/large", *LARGE)
    assert store.between.answered[CUT] == 2
    assert store.rows("s3://crawls/large/pages") == large_rows


def test_a_driver_that_dies_within_an_upload_leaves_nothing_visible(
    store: Store, ours: Victor, large: Path, large_rows: list[dict[str, Any]]
) -> None:
    second, dead = threading.Event(), threading.Event()

    def hold(handler: Handler) -> None:
        if "partNumber=2" in handler.path and not dead.is_set():
            second.set()
            dead.wait(300)

    store.between.fault = hold
    command = ("clean", str(large), "--output", "s3://crawls/killed", *LARGE)
    blocks = '{"default_block_size": 5242880}'
    with victor(store.folder, store.between.url, FSSPEC_S3=blocks) as doomed:
        doomed.start(*command)
        assert second.wait(120), doomed.printed()
        assert "another run is writing there" in ours.refused(*command)
        doomed.kill()
    dead.set()
    assert not [
        name
        for name in store.names("crawls", "killed/")
        if name.endswith(".parquet") and "manifest" not in name
    ]
    uploads = store.client.list_multipart_uploads(Bucket="crawls").get("Uploads", [])
    assert any(one["Key"].startswith("killed/") for one in uploads), "the upload that nobody ended"
    ours.run(*command)
    assert store.rows("s3://crawls/killed/pages") == large_rows
