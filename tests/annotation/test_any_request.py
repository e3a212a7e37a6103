"""Any request on any route gets a status below 500, and the server continues."""

import asyncio
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette

from tests.annotation.serving import replay, write_pages
from victor_spark.annotation import annotations, store
from victor_spark.annotation.app import Workspace, application
from victor_spark.annotation.progress import Plan
from victor_spark.annotation.serving import MAX_BODY, Access
from victor_spark.cli import main

ROUTES = (
    "/", "/guidelines", "/frame/{}", "/api/session", "/api/annotators", "/api/next", "/api/pages",
    "/api/history", "/api/pages/{}", "/api/pages/{}/actions", "/api/pages/{}/active", "/api/pages/{}/check",
    "/api/progress", "/api/agreement", "/api/disagreements", "/api/pages/{}/disagreement", "/static/{}",
    "/{}",
)  # fmt: skip
NUMBERS = [
    "1",
    "3",
    "4",
    "0",
    "-1",
    "00004",
    str(2**63),
    "1" + "0" * 25,
    "9" * 5000,
    "4.0",
    "4e1",
    "²",
    "٤",
    "NaN",
]
SURROGATE = "\ud800"

texts = st.text() | st.sampled_from(
    ["", "Anna", "a\x00b", SURROGATE, f"Anna{SURROGATE}", "\udfff\ud800", "x" * 3000, "\U0010ffff", "\x1b[0m"]
)
numbers = st.sampled_from(
    [0, 1, -1, 4, 2**31, 2**63, -(2**63) - 1, 10**25, 10**4000, math.nan, math.inf, 1e308, 0.5]
)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts | st.sampled_from(annotations.KINDS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
runs = st.lists(st.lists(st.integers(0, 9) | numbers, min_size=2, max_size=2), max_size=4) | values
bodies = st.fixed_dictionaries(
    {},
    optional={
        "annotator": st.just("Anna") | values,
        "name": texts | values,
        "after": numbers | values,
        "revision": st.integers(0, 3) | values,
        "id": st.just("a") | texts | values,
        "kind": st.sampled_from(annotations.KINDS) | values,
        "runs": runs,
        "label": st.integers(0, 3) | values,
        "text": texts | values,
        "judge": st.booleans() | values,
    },
)
queries = st.dictionaries(
    st.sampled_from(["annotator", "judge", "offset", "limit", "plain", "token"]),
    st.sampled_from(["Anna", "1", "100", "-1", *NUMBERS[6:], "%", "%00", "%ff", "%ed%a0%80", "\x00"]),
    max_size=3,
)
headers = st.dictionaries(
    st.sampled_from(
        [b"cookie", b"authorization", b"victor-store", b"origin", b"sec-fetch-site", b"content-length"]
    ),
    st.binary(max_size=20)
    | st.sampled_from([b"-1", b"\xb2", b"9" * 5000, b"1e3", b"Bearer \xff", b"a=\xff; b"]),
    max_size=2,
)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starlette]:
    folder = tmp_path_factory.mktemp("any")
    path = folder / "a.sqlite"
    words = ["annotate", str(write_pages(folder / "pages")), "--store", str(path), "--no-prelabels"]
    assert main([*words, "--import-only"]) == 0
    kept = store.open_existing(path)
    yield application(Workspace(kept, Plan()), Access(frozenset({"here"}), None))
    kept.close()


def ask(app: Starlette, method: str, path: str, query: str, more: dict[bytes, bytes], *parts: bytes) -> int:
    """The status of an answer; the body comes in parts. An error that nobody caught is raised."""
    waiting = list(parts) or [b""]
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        if not waiting:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    sent = {b"host": b"here", b"content-type": b"application/json", **more}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),  # as the server below decodes it
        "raw_path": path.encode("ascii"),
        "query_string": query.encode("ascii"),
        "root_path": "",
        "headers": list(sent.items()),
        "server": ("here", 80),
        "client": ("here", 1),
    }
    asyncio.run(app(scope, receive, send))
    (status,) = statuses
    return status


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    route=st.sampled_from(ROUTES),
    word=st.sampled_from(NUMBERS) | texts,
    query=queries,
    more=headers,
    body=bodies | values,
    method=st.sampled_from(["GET", "POST", "HEAD", "PUT"]),
)
@example("/api/pages/{}", "1" + "0" * 25, {"annotator": "Anna"}, {}, {}, "GET")
@example("/frame/{}", "9" * 5000, {}, {}, {}, "GET")
@example("/static/{}", "\x00", {}, {}, {}, "GET")
@example("/static/{}", "x" * 5000, {}, {}, {}, "GET")
@example("/api/next", "", {}, {}, {"annotator": "Anna", "after": 10**25}, "POST")
@example("/api/annotators", "", {}, {b"content-length": b"\xb2"}, {"name": "Anna"}, "POST")
def test_any_request_is_answered_below_500(
    app: Starlette,
    route: str,
    word: str,
    query: dict[str, str],
    more: dict[bytes, bytes],
    body: Any,
    method: str,
) -> None:
    path = route.format(quote(word.encode("utf-8", "surrogatepass"), safe=""))
    asked = "&".join(f"{name}={quote(value, safe='%')}" for name, value in query.items())
    assert ask(app, method, path, asked, more, json.dumps(body).encode()) < 500


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(annotations.KINDS),
    text=texts | values,
    name=texts,
    runs=runs,
    label=st.integers(-1, 4),
)
@example("note", SURROGATE, SURROGATE, [[0, 1]], 1)
def test_any_note_and_any_name_are_kept_or_refused(
    app: Starlette, kind: str, text: Any, name: Any, runs: Any, label: int
) -> None:
    state = annotations.state(app.state.work.store, 4, "Anna")
    body = {"annotator": "Anna", "revision": state["revision"], "kind": kind, "runs": runs, "label": label}
    for more in ({"id": name, "text": text}, {"id": "i", "text": text, "annotator": name}):
        assert ask(app, "POST", "/api/pages/4/actions", "", {}, json.dumps(body | more).encode()) in (
            200,
            400,
            409,
        )


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"[" * 100_000, 400),
        (b'{"a":' * 100_000, 400),
        (b'{"annotator": ' + b"9" * 5000 + b"}", 400),
        (b'{"annotator": NaN}', 400),
        (b'{"annotator": "Anna", "after": 1e999}', 400),
        (b'{"annotator": "\\ud800"}', 400),
        (b'{"annotator": "\xff"}', 400),
        (b"\xef\xbb\xbf{}", 400),
        (b"\x00", 400),
        (b"", 400),
        (b'{"annotator": "Anna", "annotator": "Ben"}', 200),
    ],
)
def test_a_body_that_is_no_json_is_refused(app: Starlette, body: bytes, status: int) -> None:
    assert ask(app, "POST", "/api/next", "", {}, body) == status


def test_the_limit_of_a_body_holds_while_it_is_read(app: Starlette) -> None:
    part = b" " * 1000
    assert ask(app, "POST", "/api/next", "", {}, b'{"annotator": "Anna"}', *[part] * 900) == 200
    assert ask(app, "POST", "/api/next", "", {}, b'{"annotator": "Anna"}', *[part] * 1100) == 413
    small = {b"content-length": b"5"}
    assert ask(app, "POST", "/api/next", "", small, b'{"annotator": "Anna"}', *[part] * 1100) == 413
    assert ask(app, "POST", "/api/next", "", {}, b" " * MAX_BODY + b"{}") == 413


def test_the_pages_are_as_whole_as_before(app: Starlette, tmp_path: Path) -> None:
    assert tmp_path.is_dir()
    kept = app.state.work.store
    for row in kept.rows("SELECT id, labels FROM annotation"):
        assert replay(kept, row["id"]) == row["labels"]
