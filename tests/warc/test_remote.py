"""Shards are read over http, with and without ranges, and from S3, exactly as from a disk."""

import itertools
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.fetch import hostile
from tests.warc import making
from victor_spark.errors import InputError, ShardError
from victor_spark.warc import inputs
from victor_spark.warc.inputs import resolve
from victor_spark.warc.reading import read
from victor_spark.warc.shard import Shard

PARTS = making.members(making.responses(30), "gzip")
PARTS[7] = making.spoilt(PARTS[7])
SHARD = making.joined(PARTS)


class Plain(SimpleHTTPRequestHandler):
    """Serves files whole, as Python's own server does."""

    def log_message(self, *args: object) -> None:
        """Says nothing."""


class Ranged(Plain):
    """Serves the ranges asked for, as every object store does."""

    def do_GET(self) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        path = Path(self.translate_path(self.path))
        if asked is None or not path.is_file():
            super().do_GET()
            return
        content = path.read_bytes()
        start, end = int(asked[1]), min(int(asked[2] or len(content)), len(content) - 1)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {start}-{end}/{len(content)}")
        self.send_header("Content-Length", str(end - start + 1))
        self.end_headers()
        self.wfile.write(content[start : end + 1])


class Breaking(Plain):
    """Promises the whole file, sends half of it and hangs up."""

    def do_GET(self) -> None:
        content = Path(self.translate_path(self.path)).read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2])
        self.close_connection = True


@contextmanager
def served(folder: Path, handler: type[Plain]) -> Iterator[str]:
    """A web server for a folder; its URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(params=[Plain, Ranged])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A web server with a shard and a list of paths; its URL."""
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "a b.warc.gz").write_bytes(SHARD.content)
    (tmp_path / "crawl" / "unnamed").write_bytes(SHARD.content)
    (tmp_path / "warc.paths").write_text("crawl/a%20b.warc.gz\ncrawl/unnamed\n")
    with served(tmp_path, request.param) as url:
        yield url


def assert_read_whole(shard: Shard) -> None:
    records = list(read(shard))
    assert [r.warc_record_offset for r in records] == SHARD.offsets[:-1]
    assert [r.warc_record_length for r in records] == SHARD.lengths()
    assert [number for number, r in enumerate(records) if r.status is not None] == [7]
    assert {r.warc_filename for r in records} == {shard.filename}


@pytest.mark.parametrize("name", ["a%20b.warc.gz", "unnamed"])
def test_a_shard_over_http(site: str, name: str) -> None:
    (shard,) = resolve([f"{site}/crawl/{name}"])
    assert (shard.kind, shard.size) == ("warc", len(SHARD.content))
    assert_read_whole(shard)


def test_ranges_of_a_shard_over_http(site: str) -> None:
    (shard,) = resolve([f"{site}/crawl/unnamed"])
    n = len(SHARD.content)
    cuts = [0, n // 3, n // 2, n]
    ranges = [replace(shard, start=start, end=end) for start, end in itertools.pairwise(cuts)]
    assert [record for part in ranges for record in read(part)] == list(read(shard))


def test_a_list_over_http_names_files_relative_to_itself(site: str) -> None:
    shards = resolve([f"{site}/warc.paths"])
    assert [shard.path for shard in shards] == [f"{site}/crawl/a%20b.warc.gz", f"{site}/crawl/unnamed"]
    for shard in shards:
        assert_read_whole(shard)


def test_a_local_list_with_a_base_url(site: str, tmp_path: Path) -> None:
    (shard, _) = resolve([str(tmp_path / "warc.paths")], base_url=site)
    assert shard.filename == "crawl/a%20b.warc.gz"
    assert_read_whole(shard)


def test_a_file_that_the_server_does_not_have_is_named(site: str) -> None:
    with pytest.raises(InputError, match=rf"^{site}/gone\.warc\.gz: no such file$"):
        resolve([f"{site}/gone.warc.gz"])
    with pytest.raises(ShardError, match=rf"^{site}/gone\.warc\.gz: "):
        list(read(Shard(f"{site}/gone.warc.gz", None, "warc")))


def test_a_server_that_hangs_up_is_an_error_and_no_damage(tmp_path: Path) -> None:
    (tmp_path / "a.warc.gz").write_bytes(SHARD.content)
    with served(tmp_path, Breaking) as url, pytest.raises(ShardError, match=r"a\.warc\.gz: "):
        list(read(Shard(f"{url}/a.warc.gz", None, "warc")))


def test_a_server_that_does_not_answer_is_no_missing_file() -> None:
    with pytest.raises(InputError, match=r"^http://127\.0\.0\.1:9/x\.warc\.gz: (?!no such file).+"):
        resolve(["http://127.0.0.1:9/x.warc.gz"])


@pytest.mark.parametrize(
    ("url", "module", "extra"), [("gs://b/x", "gcsfs", "gs"), ("s3://b/x", "s3fs", "s3")]
)
def test_a_missing_extra_is_named(url: str, module: str, extra: str) -> None:
    program = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "from victor_spark.warc.inputs import resolve\n"
        f"resolve([{url!r}])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == (
        "victor_spark.errors.InputError: "
        f"{url}: reading {url[: url.index(':')]}:// needs an extra: pip install 'victor-spark[{extra}]'"
    )


def test_without_hadoop_the_extra_for_hdfs_is_named() -> None:
    """pyarrow's client finds no Java, or no libhdfs."""
    program = "from victor_spark.warc.inputs import resolve; resolve(['hdfs://h/x.warc.gz'])"
    hidden = dict.fromkeys(("JAVA_HOME", "HADOOP_HOME", "CLASSPATH", "ARROW_LIBHDFS_DIR"), "")
    start = "import sys; sys.modules['hdfs_native'] = None; sys.modules['hdfs_native.fsspec'] = None\n"
    done = subprocess.run(
        [sys.executable, "-c", start + program],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | hidden,
    )
    assert "reading hdfs:// needs an extra: pip install 'victor-spark[hdfs]'" in done.stderr.splitlines()[-1]


SLOW = {"silent", "dripping-headers", "endless-1xx", "huge-header"}
ODD = {
    "to-brackets": hostile.to(b"http://[]..@"),
    "length-digits": hostile.OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
    "range-digits": hostile.sized(b"x", b"Content-Range: bytes 0-1/" + b"9" * 5000, status=b"206 Part"),
    "credentials": hostile.sized(b"", b"no colon", status=b"404 No"),
}


@pytest.mark.parametrize("name", [*ODD, *(name for name in hostile.PLAIN if name not in SLOW)])
def test_a_server_that_answers_as_none_should_costs_its_own_shard(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Looking a shard up ends with what is known of it, or with the reason why nothing is."""
    monkeypatch.setattr("victor_spark.warc.remote_files.N_TRIES", 1)
    answer = ODD[name] if name in ODD else hostile.PLAIN[name][0]
    with hostile.hostile({f"{name}?sig=hunter2": answer}) as server:
        shard = Shard(f"{server.base}/{name}?sig=hunter2", None, "warc")
        ((known, problem),) = inputs.checked([shard])
    assert known.path == shard.path
    assert "hunter2" not in (problem or "")
    assert "hunter2" not in caplog.text
