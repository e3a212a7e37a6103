"""The web application of `victor look`: a page, the decision of a cleaner, and the text of other cleaners."""

import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

from markdown_it import MarkdownIt
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from victor_spark import __version__, cleaners, pipeline
from victor_spark.annotation import explained, frame, serving
from victor_spark.annotation.serving import Access
from victor_spark.document import Document
from victor_spark.errors import InputError, ShardError, UsageError, VictorError, one_line
from victor_spark.evaluation.measures import overlap, quality
from victor_spark.extractors import template
from victor_spark.html.charset import decode
from victor_spark.logs import log
from victor_spark.preparation import handed_over
from victor_spark.roles import ROLES
from victor_spark.settings import PREFERENCES, Settings
from victor_spark.warc import inputs, reading
from victor_spark.warc.records import Record
from victor_spark.warc.shard import ReadOptions
from victor_spark.words import words

MAX_BYTES: Final = 512 << 20
"""The most bytes of all open pages together; beyond it, no page is opened."""

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
        """Opens the first pages, or the one at an offset; the number of the first. InputError without one."""
        first = len(self.pages)
        for shard in inputs.resolve([name], base_url=self.base_url):
            part = shard if offset is None else replace(shard, start=offset, end=offset + 1, aligned=True)
            try:
                for record in reading.read(part, self.options):
                    self.add(record)
                    if len(self.pages) - first >= limit:
                        return first
            except ShardError as error:  # what was read before is shown
                log(str(error), "warning")
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


_models: Final = lru_cache(maxsize=16)(pipeline.models)


@lru_cache(maxsize=16)
def _document(page: Record, settings: Settings) -> Document:
    return pipeline.cleaning(settings, _models(settings))(page)


def _name(page: Record) -> str:
    """The page's address, or its place in an archive."""
    return page.url or f"{page.warc_filename}, offset {page.warc_record_offset}"


def _asked(opened: Opened, query: Mapping[str, str]) -> tuple[Record, Settings]:
    """The page of a query, and its settings over those of `opened`; UsageError for values not allowed."""
    number = query.get("page", "0")
    if not (number.isascii() and number.isdigit() and len(number) < 10 and int(number) < len(opened.pages)):
        raise UsageError(f"there is no page {number[:20]}")
    given: dict[str, Any] = {name: query[name] or None for name in ("prefer", "threshold") if name in query}
    for name in ("without", "including"):
        if name in query:
            given[name] = tuple(filter(None, query[name].split(",")))
    if query.get("cleaner"):
        given["cleaner"] = query["cleaner"]
    if given.get("threshold"):
        try:
            given["threshold"] = float(given["threshold"])
        except ValueError:
            raise UsageError("the threshold must be a number between 0 and 1") from None
    return opened.pages[int(number)], replace(opened.settings, **given)


def _session(opened: Opened, _: Mapping[str, str]) -> Mapping[str, Any]:
    listed = [
        {"name": page.url or page.warc_filename, "offset": page.warc_record_offset, "status": page.status}
        for page in opened.pages
    ]
    return {
        "version": __version__,
        "pages": listed,
        "cleaners": [name for name in cleaners() if name != template.NAME or opened.settings.templates],
        "preferences": list(PREFERENCES),
        "roles": ROLES,
        "settings": asdict(opened.settings),
    }


def _seen(opened: Opened, query: Mapping[str, str]) -> Mapping[str, Any]:
    page, settings = _asked(opened, query)
    document = _document(page, settings)
    return {
        "name": _name(page),
        "verdict": explained.verdict(document),
        **{name: getattr(document, name) for name in ("status", "title", "language", "charset", "text")},
        **{form: document.render(form) for form in ("markdown", "html", "json")},
        "metadata": list(explained.facts(document)),
        "roles": Counter(ROLES[role] for role in document.blocks.roles.tolist()),
    }


def _other(opened: Opened, query: Mapping[str, str]) -> Mapping[str, Any]:
    """The text of another cleaner: its lines, those that the shown text lacks, and the word F1 of both."""
    page, settings = _asked(opened, query)
    other = Settings(cleaner=query.get("other", ""), templates=opened.settings.templates)
    ours, theirs = _document(page, settings).text, _document(page, other)
    known = {line.strip() for line in ours.split("\n")}
    shared = overlap(words(theirs.text), words(ours))
    lines = theirs.text.split("\n") if theirs.text else []
    return {
        "cleaner": other.cleaner,
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

    def route(path: str, answer: Callable[[Opened, Mapping[str, Any]], Any], method: str = "GET") -> Route:
        async def endpoint(request: Request) -> Response:
            asked = request.query_params if method == "GET" else await serving.body(request)
            found = await run_in_threadpool(answer, opened, asked)
            return found if isinstance(found, Response) else JSONResponse(found)

        return Route(path, endpoint, methods=[method])

    routes = [
        route("/api/session", _session),
        route("/api/page", _seen),
        route("/api/other", _other),
        route("/api/open", _open, "POST"),
        route("/frame", lambda opened, query: serving.framed(partial(_explained, opened, query))),
        route("/markdown", _markdown),
        route("/file", _file),
    ]
    return serving.application(routes, {"/": "look.html"}, access, {VictorError: _refused})


async def _refused(_: Request, error: Exception) -> Response:
    return serving.error(400, "bad_request", one_line(error))


def _explained(opened: Opened, query: Mapping[str, str], nonce: str = "") -> str:
    page, settings = _asked(opened, query)
    if page.payload is None:
        return ""
    markup, _ = decode(page.payload, page.http_charset)
    document, models = _document(page, settings), _models(settings)
    return explained.page(document, models, name=_name(page), markup=markup, nonce=nonce)


def _file(opened: Opened, query: Mapping[str, str]) -> Response:
    """The page with its reasons as a file, as `victor explain` writes it."""
    name = Path(_asked(opened, query)[0].warc_filename).stem or "page"
    safe = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)
    attached = {"Content-Disposition": f'attachment; filename="{safe}.explained.html"'}
    return HTMLResponse(_explained(opened, query), headers=attached)


def _markdown(opened: Opened, query: Mapping[str, str]) -> Response:
    """The Markdown as html. Links and images have no target; html is shown as text, except for these tags."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    html = parser.render(_document(*_asked(opened, query)).render("markdown"))
    html = re.sub(r' (?:href|src)="', ' title="', html)  # in text, quotes are escaped
    html = html.replace(' alt=""', ' alt="image"')  # otherwise the image is not visible
    html = re.sub("&lt;(/?su[bp]|br)&gt;", r"<\1>", html)
    page = _MARKDOWN_PAGE.format(styles=frame.text_of_file("markdown.css"), html=html)
    return HTMLResponse(page, headers={"Content-Security-Policy": _MARKDOWN_POLICY})
