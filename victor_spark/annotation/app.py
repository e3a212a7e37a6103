"""The web application of the annotation tool: its routes and its answers (docs/annotate-api.md)."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from victor_spark import __version__
from victor_spark.annotation import annotations, frame, progress, serving
from victor_spark.annotation.importing import check_practice
from victor_spark.annotation.progress import Plan, next_page
from victor_spark.annotation.serving import Access
from victor_spark.annotation.store import Store, content, remarks
from victor_spark.blocks import OTHER
from victor_spark.errors import AnnotationError
from victor_spark.html.canonical import style_sheets

LOG: Final = logging.getLogger("victor.annotate")
MAX_LISTED: Final = 1000
_MAX_DIGITS: Final = 18  # of a number that SQLite takes

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


@dataclass(frozen=True)
class Workspace:
    """The objects that requests use: the store, the order of pages, the name of the prelabelling model."""

    store: Store
    plan: Plan
    model: str | None = None


@dataclass(frozen=True)
class Query:
    """A request: the page number of its path, its query, and its JSON body."""

    page: int
    query: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def annotator(self) -> Any:
        """The annotator's name, from the body or the query."""
        return self.body.get("annotator", self.query.get("annotator"))

    @property
    def judge(self) -> bool:
        """Whether the annotator acts as the adjudicator."""
        return self.body.get("judge") is True or self.query.get("judge") == "1"

    def number(self, name: str, default: int) -> int:
        """A whole number of the query, not negative."""
        word = self.query.get(name, str(default))
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            raise AnnotationError(f"{name} must be a whole number")
        return int(word)


Answer = Callable[[Workspace, Query], Mapping[str, Any]]


def _session(work: Workspace, _: Query) -> Mapping[str, Any]:
    store = work.store
    names = store.rows("SELECT name FROM annotator ORDER BY name")
    practice = store.rows("SELECT id, title FROM page WHERE practice ORDER BY id")
    return {
        "labels": [asdict(label) for label in store.labels],
        "other": OTHER,
        "annotators": [row["name"] for row in names],
        "order": work.plan.order,
        "overlap": work.plan.overlap,
        "n_pages": progress.n_pages(store),
        "prelabelled": store.row("SELECT 1 FROM prelabel LIMIT 1") is not None,
        "model": work.model,
        "version": __version__,
        "practice": [{"page": row["id"], "title": row["title"]} for row in practice],
        "messages": remarks(store),
        "store": store.path.name,
        "store_id": store.id,
    }


def _annotators(work: Workspace, query: Query) -> Mapping[str, Any]:
    name = annotations.checked_name(query.body.get("name"))
    _, is_new = annotations.annotator_number(work.store, name)
    return {"name": name, "is_new": is_new}


def _listing(work: Workspace, query: Query) -> Mapping[str, Any]:
    offset, limit = query.number("offset", 0), min(query.number("limit", 100), MAX_LISTED)
    return progress.listing(work.store, work.plan, query.annotator, offset, limit)


def _state(work: Workspace, query: Query) -> Mapping[str, Any]:
    return annotations.state(work.store, query.page, query.annotator, judge=query.judge)


def _act(work: Workspace, query: Query) -> Mapping[str, Any]:
    action = annotations.checked_action(query.body)
    return annotations.act(work.store, query.page, query.annotator, action, judge=query.judge)


def _active(work: Workspace, query: Query) -> Mapping[str, Any]:
    row = annotations.open_page(work.store, query.page, query.annotator, judge=query.judge)
    return {"active_seconds": round(row["active_seconds"], 1)}


GET: Final[dict[str, Answer]] = {
    "session": _session,
    "pages": _listing,
    "history": lambda work, query: progress.history(work.store, query.annotator),
    "pages/{page}": _state,
    "progress": lambda work, query: progress.progress(work.store, work.plan, query.query.get("annotator")),
    "agreement": lambda work, _: progress.agreement(work.store),
    "disagreements": lambda work, _: progress.disagreements(work.store),
    "pages/{page}/disagreement": lambda work, query: progress.disagreement(work.store, query.page),
}
POST: Final[dict[str, Answer]] = {
    "annotators": _annotators,
    "next": lambda work, query: next_page(work.store, work.plan, query.annotator, query.body.get("after")),
    "pages/{page}/actions": _act,
    "pages/{page}/active": _active,
    "pages/{page}/check": lambda work, query: check_practice(work.store, query.page, query.annotator),
}
"""Path under /api/ → its answer."""


def application(work: Workspace, access: Access) -> Starlette:
    """The ASGI application."""
    api = [
        Route(f"/api/{path}", _endpoint(answer), methods=[method])
        for method, answers in (("GET", GET), ("POST", POST))
        for path, answer in answers.items()
    ]
    routes = [Route("/frame/{page}", _frame, methods=["GET"]), *api]
    pages = {"/": "index.html", "/guidelines": "guidelines.html"}
    app = serving.application(routes, pages, access, {AnnotationError: _refused})
    app.state.work = work
    return app


def _endpoint(answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that answers in a thread, because the store waits for the disk."""

    async def endpoint(request: Request) -> Response:
        work: Workspace = request.app.state.work
        if request.headers.get("victor-store", work.store.id) != work.store.id:
            raise AnnotationError(
                f"another store is served now ({work.store.path.name}): reload this window to work on it. "
                "Unsaved actions are sent to their own store when it is served at this address again",
                "other_store",
            )
        query = request.state.query = Query(_page(request), request.query_params, await serving.body(request))
        return JSONResponse(await run_in_threadpool(answer, work, query))

    return endpoint


def _page(request: Request) -> int:
    """The page number in the path, 0 if there is none."""
    word = request.path_params.get("page", "0")
    if not (word.isascii() and word.isdigit() and len(word) <= _MAX_DIGITS):
        raise AnnotationError(f"there is no page {word[:_MAX_DIGITS]}", "not_found")
    return int(word)


async def _refused(request: Request, error: Exception) -> Response:
    """The error for the browser, a stale one with the current state; server errors are logged too."""
    assert isinstance(error, AnnotationError)
    state = {}
    if error.code == "stale":
        state["state"] = await run_in_threadpool(_state, request.app.state.work, request.state.query)
    status = STATUSES.get(error.code, 500)
    if status >= 500:
        LOG.error("%s", error)
    return serving.error(status, error.code, str(error), **state)


async def _frame(request: Request) -> Response:
    plain = request.query_params.get("plain") == "1"
    parts = await run_in_threadpool(_rendered, request.app.state.work.store, _page(request), plain)
    return serving.framed(lambda nonce: nonce.join(parts))


_NONCE: Final = "@victor-nonce@"


@lru_cache(maxsize=16)
def _rendered(store: Store, number: int, plain: bool) -> tuple[str, ...]:
    """The frame's document, split at the nonce."""
    kept = content(store, number)
    sheets = "" if plain else frame.harmless_sheet(style_sheets(kept.markup))
    html = frame.render(kept.html, kept.blocks, styles=sheets, nonce=_NONCE, plain=plain)
    head, _, tail = html.rpartition(f'<script nonce="{_NONCE}">')
    return f'{head}<script nonce="', f'">{tail}'
