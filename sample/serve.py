"""Serves the sample crawl's pages on this machine, so that fetching and annotating can be tried without the
net.

    python sample/serve.py --urls urls.txt

Each site gets an address of its own (127.0.0.2, 127.0.0.3 …); their pages' addresses are written to
urls.txt. Ctrl-C stops it.
"""

import argparse
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from victor_spark.archive import inputs, records
from victor_spark.page import Record

SHARDS: Final = str(Path(__file__).resolve().parent / "crawl-*.warc.gz")
Pages = dict[str, Record]


def sites() -> dict[str, Pages]:
    """Host → path → page, of all pages in the sample crawl that can be served."""
    found: dict[str, Pages] = {}
    for shard in inputs.resolve([SHARDS]):
        for record in records.read(shard):
            if record.status is None and record.url:
                parts = urlsplit(record.url)
                path = parts.path + (f"?{parts.query}" if parts.query else "")
                found.setdefault(parts.hostname or "", {})[path] = record
    return found


def server(host: str, pages: Pages, port: int) -> ThreadingHTTPServer:
    """A server of one site."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages.get(self.path)
            charset = f"; charset={page.http_charset}" if page and page.http_charset else ""
            self.send_response(200 if page else 404)
            self.send_header("Content-Type", f"text/html{charset}")
            self.end_headers()
            self.wfile.write((page.payload if page else None) or b"")

        def log_message(self, *_: Any) -> None: ...

    return ThreadingHTTPServer((host, port), Handler)


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the list and serves until Ctrl-C."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", required=True, help="the list to write")
    parser.add_argument("--port", type=int, default=8780)
    chosen = parser.parse_args(arguments)
    lines = []
    for number, (name, pages) in enumerate(sorted(sites().items()), start=2):
        serving = server(f"127.0.0.{number}", pages, chosen.port)
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        lines += [f"# {name}", *(f"http://127.0.0.{number}:{serving.server_port}{path}" for path in pages)]
    Path(chosen.urls).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(
        f"{sum(not line.startswith('#') for line in lines)} addresses in {chosen.urls}; Ctrl-C stops",
        flush=True,
    )
    threading.Event().wait()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("stopped")
