"""A real annotation server in its own process, and a browser's requests to it."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from victor_spark.annotation.store import Store

COMMAND = [sys.executable, "-c", "import sys; from victor_spark.cli import main; sys.exit(main())"]
_NUMBERS = count()


class Server:
    """A running `victor annotate` (or `look`); `said`: its lines on stderr up to the address."""

    def __init__(
        self, words: Sequence[str], before: Callable[[], None] | None = None, command: str = "annotate"
    ) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, command, "--port", "0", *words],
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=before,  # noqa: PLW1509 - a limit on file sizes takes no lock
            cwd=Path(__file__).resolve().parents[2],
        )
        assert self.process.stderr is not None
        self.printed = ""
        while not (found := re.search(r"(http://\S+)", self.printed)):
            line = self.process.stderr.readline()
            assert line, f"the server ended: {self.printed}"
            self.printed += line
        self.address = found[1]
        parts = urlsplit(self.address)
        self.host, self.port = parts.hostname or "", parts.port or 0
        self.token = parse_qs(parts.query).get("token", [""])[0]

    def stop(self, how: int = signal.SIGINT) -> str:
        """Ends the server; returns its last lines on stderr."""
        if self.process.poll() is None:
            os.kill(self.process.pid, how)
        _, message = self.process.communicate(timeout=20)
        return message

    def ask(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Status and JSON (or text) of an answer; a body makes it a POST."""
        status, text, _ = self.raw(path, body, **headers)
        try:
            return status, json.loads(text)
        except ValueError:
            return status, text

    def raw(self, path: str, body: Any = None, **headers: str) -> tuple[int, str, dict[str, str]]:
        """Status, text and headers of an answer to somebody who knows the token, unless headers say who."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=20)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if "Cookie" not in sent:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        content = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        if content is not None:
            sent.setdefault("Content-Type", "application/json")
        try:
            connection.request("GET" if body is None else "POST", path, content, sent)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), {k.lower(): v for k, v in answer.getheaders()}
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        status, answer = self.ask(path)
        assert status == 200, answer
        return answer

    def page(self, number: int, name: str, *, judge: bool = False) -> Any:
        return self.get(f"/api/pages/{number}?annotator={quote(name)}{'&judge=1' if judge else ''}")

    def act(self, state: Any, kind: str, **more: Any) -> tuple[int, Any]:
        """An action on a page state; a confirmed one brings the state up to date."""
        body = {"annotator": state["annotator"], "judge": state["judge"], "revision": state["revision"]}
        body |= {"id": f"{os.getpid()}-{next(_NUMBERS)}", "kind": kind, **more}
        status, answer = self.ask(f"/api/pages/{state['page']}/actions", body)
        if status == 200:
            for first, last, label in answer["changed"]:
                labels = state["labels"]
                state["labels"] = labels[:first] + str(label) * (last - first + 1) + labels[last + 1 :]
            state |= {key: value for key, value in answer.items() if key != "changed"}
        return status, answer

    def label(self, state: Any, first: int, last: int, label: int) -> None:
        status, answer = self.act(state, "label", runs=[[first, last]], label=label)
        assert status == 200, answer


@contextmanager
def running(*words: str, before: Callable[[], None] | None = None) -> Iterator[Server]:
    """A server that is stopped at the end, whatever happens."""
    server = Server([str(word) for word in words], before)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()
        if server.process.stderr is not None:
            server.process.stderr.close()


def write_pages(folder: Path, n_pages: int = 4, n_paragraphs: int = 6) -> Path:
    """A folder of small invented pages."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(n_pages):
        paragraphs = "".join(
            f"<p>Paragraph {n} of page {number}: the mayor opened the bridge over the river.</p>"
            for n in range(n_paragraphs)
        )
        (folder / f"page{number}.html").write_text(
            f"<html lang=en><title>Page {number}</title><ul><li><a href=/>Home</a></ul><h1>News {number}"
            f"</h1>{paragraphs}<div>Copyright</div></body></html>",
            encoding="utf-8",
        )
    return folder


def replay(store: Store, annotation: int) -> str:
    """The labels that the log alone gives, from the initial labels of an annotation."""
    ((labels,),) = store.rows("SELECT initial FROM annotation WHERE id = ?", annotation)
    for entry in store.rows("SELECT before, after FROM action WHERE annotation = ? ORDER BY id", annotation):
        assert entry["before"] == labels
        labels = entry["after"]
    return str(labels)
