"""The HTTP interface of the annotation tool: routes, JSON shapes, and who may ask.

Words: a block is known by its number (0 … n_blocks-1, the server's segmentation); a label by its number
in `session.labels`. `labels` of a page is one string, a character a block: "2201…" (the base-36 digit of
the label's number). A page is known by its number. Times are ISO 8601 in UTC, durations seconds.

Pages and files (GET, text/html)
  /
      static/index.html; ?token=… sets the cookie (see below) and redirects to /
  /guidelines
      static/guidelines.html
  /static/NAME
      files of victor_spark/annotation/static
  /frame/PAGE
      the page for `<iframe sandbox="allow-scripts" src>`: every block is
      `<v-b id="vb-12" data-b="12">text</v-b>`; everything else is dead (see frame.py). Its only
      script is static/frame.js, its last style sheet static/frame.css, both inlined with a
      nonce. Its origin is opaque: it talks to its parent by postMessage only
      (`parent.postMessage(m, "*")`; check `event.source`), it can't reach this interface.
      ?plain=1 leaves out the page's own style sheets, style attributes and `hidden`.
      Elements: v-img (a picture; title = its alt), v-input, v-button, v-form, v-select,
      v-option, v-textarea, v-x (unknown tags), v-noscript; `body.v-plain` with ?plain=1.

JSON. Every answer is an object; errors have HTTP status ≥ 400 and
  {"error": {"code": "stale", "message": "words for people"}}
  codes: bad_request 400, unauthorized 401, forbidden 403, not_found 404, stale 409, other_store 409 (the
  header Victor-Store, where sent, names another store than this server's), too_large 413,
  unsupported 415, internal 500, store_busy 503 (try again), disk_full 507 (nothing was lost but this
  action; try again).

  GET  /api/session
      {"labels": [{"name": "header", "role": "header", "key": "1", "colour": "#b45309"}, …],
       "other": 2, "annotators": ["Anna"], "order": "uncertain", "overlap": 0.2, "n_pages": 120,
       "prelabelled": true, "model": "crf/victor-2 9f3a…" | null, "version": "0.1.0",
       "practice": [{"page": 3, "title": "…"}], "messages": ["12 pages added, …"], "store":
       "annotations.sqlite", "store_id": "9f3a…"}
      role: what the label means in the export (header | text | other).
  POST /api/annotators
      {"name": "Anna"} → {"name": "Anna", "is_new": true}
      (1–40 characters, white space trimmed; first used names are made on the way)
  POST /api/next
      {"annotator": "Anna"} → a page state (below), its page claimed for her; when the queue is
      empty {"page": null, "message": "…"}. Her open page comes first (reload in the middle);
      "after": PAGE asks for another one than PAGE and leaves that one open.
  GET  /api/pages?annotator=Anna&offset=0&limit=100
      {"n_pages": 120, "pages": [{"page": 1, "title", "url", "host", "n_blocks",
       "state": "new" | "open" | "done" | "skipped", "n_done": 1, "wanted": 2,
       "uncertainty": 0.31, "seen": "2026-…" | null}]}   in the order of the queue
  GET  /api/history?annotator=Anna
      {"pages": [PAGE, …]} those she opened, the latest last (for "previous page")
  GET  /api/pages/PAGE?annotator=Anna[&judge=1]
      a page state; opening it makes her annotation if there is none
  Page state:
    {"page": 17, "frame": "/frame/17", "title": "…" | null, "url": "…" | null, "host": "…" | null,
     "language": "cs" | null, "n_blocks": 213, "labels": "2201…", "prelabels": "2201…" | null,
     "uncertain": [4, 7, …], "revision": 5, "can_undo": true, "can_redo": false, "state": "open",
     "active_seconds": 12.5,
     "marginals": [[1, 97, 2], …] | null (P(header), P(text), P(other) of each block in percent),
     "annotator": "Anna", "judge": false, "practice": false, "note": "", "message": null | "words to show"}
  POST /api/pages/PAGE/actions
     {"annotator": "Anna", "revision": 5, "id": "unique word made by the browser", "kind": "label",
      "runs": [[first, last], …], "label": 1 [, "judge": true]}
     kinds: label (runs, label) · undo · redo · done · skip · reopen · note ("text") ·
     restore (back to the prelabels) · clear (all other). A sent-again id answers as the first time
     did and changes nothing. label, restore and clear can be undone. done and skip leave the labels;
     labelling a page that is done reopens it.
     → {"page": 17, "revision": 6, "changed": [[first, last, label], …], "can_undo": true, "can_redo": false,
        "state": "open", "active_seconds": 14.0}
     A revision that is not the store's: 409 {"error": {"code": "stale", …}, "state": page state now}.
  POST /api/pages/PAGE/active
      {"annotator": "Anna" [, "judge": true]} → {"active_seconds": 29.0}
      "she is working": send it every 15 s while there is input and the tab is visible; gaps
      over 60 s between any two requests about a page are no working time.
  POST /api/pages/PAGE/check {"annotator": "Anna"} → practice pages only:
      {"n_right": 40, "n_wrong": 2, "n_blocks": 42,
       "wrong": [{"block": 7, "given": 1, "gold": 2, "why": "…"}]}
  GET  /api/progress[?annotator=Anna]
      {"n_pages": 120, "n_done": 31, "n_annotations": 37, "n_wanted": 144,
       "annotators": [{"name": "Anna", "n_done": 20, "n_skipped": 1, "n_left": 12,
       "active_seconds": 610.0, "median_seconds": 14.2, "pages_per_hour": 221.0 | null,
       "pages_per_hour_recent": 240.0 | null, "n_actions": 130}]}
  GET  /api/agreement
      {"n_pages": 12, "n_blocks": 2400, "pairs": [{"annotators": ["Anna", "Ben"], "n_pages": 12,
       "n_blocks": 2400, "kappa": 0.91 | null, "agreement": 0.97}], "fleiss": 0.88 | null,
       "labels": […], "messages": ["…"]}
  GET  /api/disagreements
      {"pages": [{"page": 4, "title", "url", "annotators": ["Anna", "Ben"], "n_differing": 12,
       "n_blocks": 200, "kappa": 0.8 | null, "judged": "Carla" | null}]} worst first
  GET  /api/pages/PAGE/disagreement
      {"page": 4, "n_blocks": 200, "annotators": [{"name": "Anna", "labels": "22…"}],
       "majority": "22…", "differing": [[first, last], …], "judge": {"name", "labels"} | null}
      To judge: GET the page state with judge=1 (it starts from the majority) and send actions
      with "judge": true; done closes the case.

Who may ask: the Host header must name this server (no DNS rebinding); Origin, where sent, must be this
server; Sec-Fetch-Site must be same-origin or none (a top-level navigation to / may come from
anywhere); POST bodies are application/json, 1 MB at most, without NaN and halves of surrogate pairs. Unless
the server was told to do without: the cookie `victor_token_…` (set by /?token=…, HttpOnly, SameSite=Strict)
or `Authorization: Bearer TOKEN`.

Content-Security-Policy. Application: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'
data:; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none' — so
no inline script or style. Frame: sandbox allow-scripts; default-src 'none'; script-src 'nonce-…';
style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'.
"""

import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from victor_spark.annotation import annotations, answers, frame, guard, pages, style_sheets
from victor_spark.annotation.answers import Answer, Asked, Desk
from victor_spark.annotation.guard import Access, Guard
from victor_spark.annotation.store import Store
from victor_spark.errors import AnnotationError
from victor_spark.html import styles

STATIC: Final = Path(__file__).resolve().parent / "static"
LOG: Final = logging.getLogger("victor.annotate")

_MOST_DIGITS: Final = 18  # of a number that SQLite takes

STATUSES: Final = {
    "bad_request": 400,
    "not_found": 404,
    "stale": 409,
    "other_store": 409,
    "too_large": 413,
    "internal": 500,
    "store_busy": 503,
    "disk_full": 507,
}


def application(desk: Desk, access: Access) -> Starlette:
    """The ASGI application."""
    get = partial(Route, methods=["GET"])
    post = partial(Route, methods=["POST"])
    routes = [
        get("/", _file("index.html")),
        get("/guidelines", _file("guidelines.html")),
        get("/frame/{page}", _frame),
        get("/api/session", _answer(answers.session)),
        post("/api/annotators", _answer(answers.annotators)),
        post("/api/next", _answer(answers.next_page)),
        get("/api/pages", _answer(answers.listing)),
        get("/api/history", _answer(answers.history)),
        get("/api/pages/{page}", _answer(answers.state)),
        post("/api/pages/{page}/actions", _answer(answers.act)),
        post("/api/pages/{page}/active", _answer(answers.active)),
        post("/api/pages/{page}/check", _answer(answers.check)),
        get("/api/progress", _answer(answers.progress_of)),
        get("/api/agreement", _answer(answers.agreed)),
        get("/api/disagreements", _answer(answers.disagreements)),
        get("/api/pages/{page}/disagreement", _answer(answers.disagreement)),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Guard, access=access)],
        exception_handlers={404: _not_found, 405: _not_found, 500: _broken},
    )
    app.state.desk = desk
    return app


def _answer(answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that does its work in a thread: the store waits for the disk."""

    async def endpoint(request: Request) -> Response:
        desk: Desk = request.app.state.desk
        asked = None
        try:
            _check_store(desk.store, request.headers.get("victor-store"))
            asked = Asked(_page(request), request.query_params, await _body(request))
            return _json(await run_in_threadpool(answer, desk, asked))
        except AnnotationError as error:
            return await run_in_threadpool(_refused, desk, error, asked)

    return endpoint


def _check_store(store: Store, meant: str | None) -> None:
    """A window that was opened on another store must not write into this one."""
    if meant not in (None, store.id):
        raise AnnotationError(
            f"here is another store now ({store.path.name}): reload this window to work on it. What waits to"
            " be saved goes to its own store when that one is served at this address again",
            "other_store",
        )


def _page(request: Request) -> int:
    """The number of the page in the path, 0 where there is none."""
    word = request.path_params.get("page", "0")
    if not (word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS):
        raise AnnotationError(f"there is no page {word[:_MOST_DIGITS]}", "not_found")
    return int(word)


async def _body(request: Request) -> Mapping[str, Any]:
    if request.method != "POST":
        return {}
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > guard.MAX_BODY:
            raise AnnotationError(f"the body is longer than {guard.MAX_BODY} bytes", "too_large")
    try:
        body = json.loads(content, parse_constant=_no_number)
        json.dumps(body, ensure_ascii=False).encode("utf-8")  # no half of a surrogate pair
    except (ValueError, RecursionError):
        raise AnnotationError("the body is no JSON") from None
    if not isinstance(body, dict):
        raise AnnotationError("the body is no JSON object")
    return body


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number")


def _json(content: Mapping[str, Any], status: int = 200) -> Response:
    return JSONResponse(content, status)


def _refused(desk: Desk, error: AnnotationError, asked: Asked | None) -> Response:
    """The error for the browser; a stale one with the state to go on from; what a person must mend in the
    log.
    """
    content: dict[str, Any] = {"error": {"code": error.code, "message": str(error)}}
    if error.code == "stale" and asked is not None:
        content["state"] = annotations.state(desk.store, asked.page, asked.annotator, judge=asked.judge)
    if STATUSES.get(error.code, 500) >= 500:
        LOG.error("%s", error)
    return _json(content, STATUSES.get(error.code, 500))


async def _not_found(request: Request, _: Exception) -> Response:
    return _json({"error": {"code": "not_found", "message": f"there is no {request.url.path}"}}, 404)


async def _broken(_: Request, error: Exception) -> Response:
    LOG.error("internal error: %r", error)
    return _json({"error": {"code": "internal", "message": f"internal error: {type(error).__name__}"}}, 500)


def _file(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(_: Request) -> Response:
        if not (STATIC / name).is_file():
            return HTMLResponse(
                f"<!DOCTYPE html><title>victor annotate</title><p>{name} is not installed", 404
            )
        return FileResponse(STATIC / name)

    return endpoint


async def _frame(request: Request) -> Response:
    """The page for the frame, with its own policy."""
    desk: Desk = request.app.state.desk
    nonce = secrets.token_urlsafe(16)
    plain = request.query_params.get("plain") == "1"
    try:
        parts = await run_in_threadpool(_rendered, desk.store, _page(request), plain)
    except AnnotationError as error:
        return HTMLResponse(
            f"<!DOCTYPE html><title>error</title><p>{error.code}", STATUSES.get(error.code, 500)
        )
    policy = guard.FRAME_POLICY.format(nonce=nonce)
    return HTMLResponse(nonce.join(parts), headers={"Content-Security-Policy": policy})


_NONCE: Final = "@victor-nonce@"


@lru_cache(maxsize=16)
def _rendered(store: Store, number: int, plain: bool) -> tuple[str, ...]:
    """The frame's document, cut where the nonce goes."""
    kept = pages.content(store, number)
    sheets = "" if plain else style_sheets.joined(styles.sheets(kept.markup))
    html = frame.render(
        kept.html,
        kept.blocks,
        styles=sheets,
        script=_own("frame.js"),
        own_css=_own("frame.css"),
        nonce=_NONCE,
        plain=plain,
    )
    head, _, tail = html.rpartition(f'<script nonce="{_NONCE}">')
    return f'{head}<script nonce="', f'">{tail}'


def _own(name: str) -> str:
    """The text of one of our own files, which must not end the element that it is put in."""
    path = STATIC / name
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if "</script" in text.lower() or "</style" in text.lower() or "<!--" in text:
        raise AnnotationError(f"{name} can't be put into a page", "internal")
    return text
