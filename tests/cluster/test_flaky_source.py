"""Shards from a server that is sometimes busy or breaks connections: exact rows."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.runs import Job, Outcome, infos

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

pytest.importorskip("aiohttp")


class Flaky(SimpleHTTPRequestHandler):
    """Files by ranges; every third request for content is answered 503, every fifth breaks off half way."""

    protocol_version = "HTTP/1.1"
    faults: Counter[str]
    counting: threading.Lock

    def do_GET(self) -> None:
        with self.counting:
            self.faults["requests"] += 1
            number = self.faults["requests"]
            fault = "503" if number % 3 == 0 else "reset" if number % 5 == 0 else ""
            self.faults[fault] += 1
        if fault == "503":
            self.send_error(503)
            return
        content = Path(self.translate_path(self.path)).read_bytes()
        start, stop = self._wanted(len(content))
        self.send_response(206)
        self.send_header("Content-Length", str(stop - start))
        self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{len(content)}")
        self.end_headers()
        if fault == "reset":
            self.wfile.write(content[start : (start + stop) // 2])
            self.close_connection = True
            return
        self.wfile.write(content[start:stop])

    def _wanted(self, size: int) -> tuple[int, int]:
        first, _, last = (self.headers.get("Range") or "bytes=0-").partition("=")[2].partition("-")
        return int(first), min(int(last) + 1, size) if last else size

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Says nothing."""


@pytest.fixture
def flaky(crawl: Path) -> Iterator[tuple[str, Counter[str]]]:
    """The URL of the crawl on such a server, and how often it did what."""
    faults: Counter[str] = Counter()
    handler = type("Handler", (Flaky,), {"faults": faults, "counting": threading.Lock()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(crawl)))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", faults
    server.shutdown()
    server.server_close()
    thread.join()


def test_shards_from_a_flaky_server_come_whole(
    job: Callable[..., Job],
    crawl: Path,
    flaky: tuple[str, Counter[str]],
    tmp_path: Path,
    expected: list[Outcome],
) -> None:
    url, faults = flaky
    paths = tmp_path / "warc.paths"
    paths.write_text("".join(f"{url}/{path.name}\n" for path in sorted(crawl.iterdir())))
    run = job(inputs=[str(paths)]).start()
    run.finish()
    assert faults["503"] > 0
    assert faults["reset"] > 0
    assert {info["Attempt"] for info in infos(run)} == {0}
    assert run.outcomes() == expected
