"""The web application of `victor look`: pages, the decision of a cleaner, and the text of other cleaners."""

import logging
import secrets
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any, Final

from markdown_it import MarkdownIt
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from victor_spark import __version__, cleaners, pipeline
from victor_spark.annotation import explained, frame, guard
from victor_spark.annotation.guard import Access, guarded
from victor_spark.document import Document
from victor_spark.errors import InputError, UsageError, VictorError, one_line
from victor_spark.evaluation.measures import overlap, quality
from victor_spark.extractors import template
from victor_spark.html.charset import decode
from victor_spark.model import decision
from victor_spark.pipeline import Settings
from victor_spark.preparation import handed_over
from victor_spark.roles import ROLES
from victor_spark.warc import inputs, reading
from victor_spark.warc.records import Record
from victor_spark.warc.shard import ReadOptions
from victor_spark.words import words

LOG: Final = logging.getLogger("victor.look")
MAX_BYTES: Final = 512 << 20
"""Bytes of the pages that are open together; later ones are not opened."""

_MARKDOWN_POLICY: Final = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
_MARKDOWN_PAGE: Final = '<!DOCTYPE html>\n<meta charset="utf-8">\n<style>{styles}</style>\n{html}'


@dataclass
class Opened:
    """The pages that are open, by number, and the settings that a request may change."""

    settings: Settings = field(default_factory=Settings)
    options: ReadOptions = reading.DEFAULTS
    base_url: str | None = None
    pages: list[Record] = field(default_factory=list)
    n_bytes: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self, name: str, *, limit: int = 100, offset: int | None = None) -> int:
        """Opens the first pages of an input, or the one at an offset of an archive; the number of the first.

        Raises InputError where it holds no page.
        """
        first = len(self.pages)
        for shard in inputs.resolve([name], base_url=self.base_url):
            part = shard if offset is None else replace(shard, start=offset, end=offset + 1, aligned=True)
            for record in reading.read(part, self.options):
                self.add(record)
                if len(self.pages) - first >= limit:
                    return first
        if len(self.pages) == first:
            where = "" if offset is None else f" at offset {offset}"
            raise InputError(f"{name}: holds no page{where}")
        return first

    def add(self, record: Record) -> int:
        """Opens a page; its number."""
        with self.lock:
            self.n_bytes += len(record.payload or b"")
            if self.n_bytes > MAX_BYTES:
                raise InputError(f"{MAX_BYTES >> 20} MB of pages are open: start again with fewer")
            self.pages.append(record)
            return len(self.pages) - 1


@dataclass(frozen=True)
class View:
    """A page by its number, and how it is cleaned."""

    page: Record
    settings: Settings

    @property
    def name(self) -> str:
        """The page's address, or its place in an archive."""
        return self.page.url or f"{self.page.warc_filename}, offset {self.page.warc_record_offset}"

    @property
    def document(self) -> Document:
        """The cleaned page."""
        return _document(self.page, self.settings)


@lru_cache(maxsize=16)
def _models(settings: Settings) -> dict[str, bytes]:
    return pipeline.models(settings)


@lru_cache(maxsize=16)
def _document(page: Record, settings: Settings) -> Document:
    return pipeline.cleaning(settings, _models(settings))(page)


def _page(opened: Opened, query: Mapping[str, str]) -> Record:
    number = query.get("page", "0")
    if not (number.isascii() and number.isdigit() and len(number) < 10 and int(number) < len(opened.pages)):
        raise UsageError(f"there is no page {number[:20]}")
    return opened.pages[int(number)]


def _view(opened: Opened, query: Mapping[str, str]) -> View:
    """What a query asks for; settings that it leaves out are those that the program was started with.

    Raises UsageError for values that are not allowed.
    """
    given: dict[str, Any] = {}
    if query.get("cleaner"):
        given["cleaner"] = query["cleaner"]
    if "prefer" in query:
        given["prefer"] = query["prefer"] or None
    for name in ("without", "including"):
        if name in query:
            given[name] = tuple(filter(None, query[name].split(",")))
    if "threshold" in query:
        try:
            given["threshold"] = float(query["threshold"]) if query["threshold"] else None
        except ValueError:
            raise UsageError("the threshold must be a number between 0 and 1") from None
    return View(_page(opened, query), replace(opened.settings, **given))


def _session(opened: Opened, _: Mapping[str, str]) -> Mapping[str, Any]:
    settings = {each.name: getattr(opened.settings, each.name) for each in fields(Settings)}
    listed = [
        {"name": page.url or page.warc_filename, "offset": page.warc_record_offset, "status": page.status}
        for page in opened.pages
    ]
    return {
        "version": __version__,
        "pages": listed,
        "cleaners": [name for name in cleaners() if name != template.NAME or opened.settings.templates],
        "preferences": list(decision.PREFERENCES),
        "roles": ROLES,
        "settings": settings,
    }


def _seen(opened: Opened, query: Mapping[str, str]) -> Mapping[str, Any]:
    view = _view(opened, query)
    document = view.document
    metadata = document.metadata
    return {
        "name": view.name,
        "verdict": explained.verdict(document),
        "status": document.status,
        "title": document.title,
        "language": document.language,
        "charset": document.charset,
        "text": document.text,
        "markdown": document.render("markdown"),
        "html": document.render("html"),
        "json": document.render("json"),
        "metadata": [
            {"name": name, "value": getattr(metadata, name), "source": source}
            for name, source in metadata.sources.items()
        ],
        "roles": Counter(ROLES[role] for role in document.blocks.roles.tolist()),
    }


def _other(opened: Opened, query: Mapping[str, str]) -> Mapping[str, Any]:
    """The text of another cleaner: its lines, and which of them the shown text lacks; their word F1."""
    ours = _view(opened, query).document
    settings = Settings(cleaner=query.get("other", ""), templates=opened.settings.templates)
    theirs = View(_page(opened, query), settings).document
    known = {line.strip() for line in ours.text.split("\n")}
    shared = overlap(words(theirs.text), words(ours.text))
    lines = theirs.text.split("\n") if theirs.text else []
    return {
        "cleaner": settings.cleaner,
        "status": theirs.status,
        "reason": theirs.reason,
        "f1": quality(shared).f1,
        "lines": [[line, line.strip() in known] for line in lines],
        "n_words": shared.n_found,
    }


def _open(opened: Opened, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Opens an address, a file, or html."""
    html, name, url = body.get("html"), body.get("input"), body.get("url")
    if isinstance(html, str) and html.strip():
        address = url.strip() if isinstance(url, str) and url.strip() else None
        record = handed_over(html.encode("utf-8", "replace"), address, "utf-8")
        return {"page": opened.add(replace(record, warc_filename="pasted html"))}
    if not isinstance(name, str) or not name.strip():
        raise UsageError("an address, a file or html is needed")
    return {"page": opened.open(name.strip())}


def application(opened: Opened, access: Access) -> Starlette:
    """The ASGI application."""

    def api(answer: Callable[[Opened, Mapping[str, Any]], Mapping[str, Any]]) -> Callable[..., Any]:
        async def endpoint(request: Request) -> Response:
            asked = request.query_params if request.method == "GET" else await guard.body(request)
            return JSONResponse(await run_in_threadpool(answer, opened, asked))

        return endpoint

    def shown(page: Callable[[Request, View], Response]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            return await run_in_threadpool(lambda: page(request, _view(opened, request.query_params)))

        return endpoint

    async def index(_: Request) -> Response:
        return FileResponse(frame.STATIC / "look.html")

    return Starlette(
        routes=[
            Route("/", index, methods=["GET"]),
            Route("/api/session", api(_session), methods=["GET"]),
            Route("/api/page", api(_seen), methods=["GET"]),
            Route("/api/other", api(_other), methods=["GET"]),
            Route("/api/open", api(_open), methods=["POST"]),
            Route("/frame", shown(_frame), methods=["GET"]),
            Route("/markdown", shown(_markdown), methods=["GET"]),
            Route("/file", shown(_file), methods=["GET"]),
            Mount("/static", StaticFiles(directory=frame.STATIC)),
        ],
        middleware=[Middleware(guarded, access=access)],
        exception_handlers={VictorError: _refused, 500: _broken},
    )


async def _refused(_: Request, error: Exception) -> Response:
    return guard.error(400, "bad_request", one_line(error))


async def _broken(_: Request, error: Exception) -> Response:
    LOG.error("internal error: %r", error)
    return guard.error(500, "internal", f"internal error: {type(error).__name__}")


def _explained(view: View, nonce: str = "") -> str:
    if view.page.payload is None:
        return ""
    markup, _ = decode(view.page.payload, view.page.http_charset)
    models = _models(view.settings)
    return explained.page(view.document, models, name=view.name, markup=markup, nonce=nonce)


def _frame(_: Request, view: View) -> Response:
    nonce = secrets.token_urlsafe(16)
    policy = guard.FRAME_POLICY.format(nonce=nonce)
    return HTMLResponse(_explained(view, nonce), headers={"Content-Security-Policy": policy})


def _file(_: Request, view: View) -> Response:
    """The page with its reasons as a file, as `victor explain` writes it."""
    name = Path(view.page.warc_filename).stem or "page"
    safe = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)
    attached = {"Content-Disposition": f'attachment; filename="{safe}.explained.html"'}
    return HTMLResponse(_explained(view), headers=attached)


def _markdown(_: Request, view: View) -> Response:
    """The Markdown as html. Links and images lead nowhere; html is shown as text, but for these tags."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.add_render_rule("link_open", _link)
    parser.add_render_rule("image", _image)
    html = parser.render(view.document.render("markdown"))
    for tag in ("<sup>", "</sup>", "<sub>", "</sub>", "<br>"):
        html = html.replace(tag.replace("<", "&lt;").replace(">", "&gt;"), tag)
    page = _MARKDOWN_PAGE.format(styles=frame.text_of_file("markdown.css"), html=html)
    return HTMLResponse(page, headers={"Content-Security-Policy": _MARKDOWN_POLICY})


def _link(renderer: Any, tokens: Any, index: int, options: Any, _: Any) -> str:
    tokens[index].attrs = {"title": tokens[index].attrs.get("href", "")}
    return str(renderer.renderToken(tokens, index, options, {}))


def _image(renderer: Any, tokens: Any, index: int, options: Any, environment: Any) -> str:
    token = tokens[index]
    text = renderer.renderInlineAsText(token.children, options, environment)
    return f'<i class="image" title="{escape(token.attrs.get("src", ""))}">{escape(text or "image")}</i>'
