"""Serves pages of the sample crawl's sites on this machine: fetching and annotating can be tried without the
net.

    python sample/serve.py --urls urls.txt --gold gold.jsonl --editions 3

Each site gets an address of its own (127.0.0.2, 127.0.0.3 …); their pages' addresses are written to
urls.txt. Ctrl-C stops it. The first edition is the crawl as it is; those after it have the same sites on more
hosts, with mixed texts.
"""

import argparse
import json
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from sample_crawl import forum, magazine, municipality, museum, newspaper
from sample_crawl.pages import WebPage

from victor_spark.errors import ShardError
from victor_spark.warc import inputs, reading

SHARDS: Final = str(Path(__file__).resolve().parent / "crawl-*.warc.gz")
SITES: Final = (newspaper, forum, municipality, magazine, museum)


@dataclass(frozen=True, slots=True)
class Served:
    """What a server answers with, and the page it is made of where its gold is known."""

    content_type: str
    body: bytes
    page: WebPage | None = None


Site = dict[str, Served]
"""Path → answer."""


def sites(n_editions: int = 1) -> dict[str, Site]:
    """Host → its pages: all those in the sample crawl that can be served, and those of further editions."""
    written = [
        (edition, page) for edition in range(n_editions) for site in SITES for page in site.web_pages(edition)
    ]
    known = {page.url: page for edition, page in written if not edition}
    found: dict[str, Site] = {}
    for shard in inputs.resolve([SHARDS]):
        with suppress(ShardError):  # one ends too early
            for record in reading.read(shard):
                if record.status is None and record.url:
                    charset = f"; charset={record.http_charset}" if record.http_charset else ""
                    served = Served(f"text/html{charset}", record.payload or b"", known.get(record.url))
                    found.setdefault(urlsplit(record.url).hostname or "", {})[path(record.url)] = served
    for edition, page in written:
        if edition:
            host = f"{urlsplit(page.url).hostname}, edition {edition + 1}"
            served = Served(page.content_type, page.html.encode(page.charset), page)
            found.setdefault(host, {})[path(page.url)] = served
    return found


def path(url: str) -> str:
    """What a browser asks the host for."""
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def server(host: str, site: Site, port: int) -> ThreadingHTTPServer:
    """A server of one site."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served = site.get(self.path)
            self.send_response(200 if served else 404)
            self.send_header("Content-Type", served.content_type if served else "text/html")
            self.end_headers()
            self.wfile.write(served.body if served else b"")

        def log_message(self, *_: Any) -> None: ...

    return ThreadingHTTPServer((host, port), Handler)


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the list and serves until Ctrl-C."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", required=True, help="the list to write")
    parser.add_argument("--gold", help="the gold text to write (JSON lines with html, as victor train reads)")
    parser.add_argument("--editions", type=int, default=1, metavar="N", help="default: %(default)s")
    parser.add_argument("--port", type=int, default=8780)
    chosen = parser.parse_args(arguments)
    urls, gold = [], []
    for number, (name, site) in enumerate(sorted(sites(chosen.editions).items()), start=2):
        serving = server(f"127.0.0.{number}", site, chosen.port)
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        urls.append(f"# {name}")
        for where, served in site.items():
            urls.append(f"http://127.0.0.{number}:{serving.server_port}{where}")
            gold += [_gold(urls[-1], served.page)] if served.page else []
    Path(chosen.urls).write_text("\n".join(urls) + "\n", encoding="utf-8")
    if chosen.gold:
        Path(chosen.gold).write_text("\n".join(gold) + "\n", encoding="utf-8")
    n_urls = sum(not line.startswith("#") for line in urls)
    print(f"{n_urls} addresses in {chosen.urls}; Ctrl-C stops", flush=True)
    threading.Event().wait()


def _gold(url: str, page: WebPage) -> str:
    """A line of the gold file."""
    row = {"id": url, "url": url, "lang": page.language, "html": page.html, "gold": page.gold}
    return json.dumps(row, ensure_ascii=False)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("stopped")
