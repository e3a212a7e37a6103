"""The server of our web applications: access, static files, answers to errors.

Requests of other sites, to other host names and without the token are refused.
"""

import hashlib
import ipaddress
import json
import logging
import secrets
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any, Final
from urllib.parse import urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from victor_spark.annotation import frame
from victor_spark.errors import AnnotationError, UsageError

LOG: Final = logging.getLogger("victor.serving")
_LOCAL_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
MAX_BODY: Final = 1 << 20
"""Bytes."""

APPLICATION_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_FRAME_POLICY: Final = (
    "sandbox allow-scripts; default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-DNS-Prefetch-Control": "off",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
    "Content-Security-Policy": APPLICATION_POLICY,
}


@dataclass(frozen=True)
class Access:
    """Permitted Host headers, with port ("*": any, if a token is required); the required token or None."""

    hosts: frozenset[str]
    token: str | None = None


def cookie(token: str) -> str:
    """The name of the token's cookie; unique, because browsers share cookies between ports of a machine."""
    return f"victor_token_{hashlib.sha256(token.encode()).hexdigest()[:8]}"


async def guarded(request: Request, answer: RequestResponseEndpoint, access: Access) -> Response:
    """The answer to a request that passes the checks, else the refusal; both with our headers."""
    if refusal := _refusal(request, access):
        response = error(*refusal)
    else:
        response = _unknown(request, access) or _set_token_cookie(request, access) or await answer(request)
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    return response


def _refusal(request: Request, access: Access) -> tuple[int, str, str] | None:
    """Status, code and message for a request from another site, to another name, or of a wrong form."""
    headers = request.headers
    host, origin = headers.get("host", "").lower(), headers.get("origin")
    if "*" not in access.hosts and host not in access.hosts:
        return 403, "forbidden", "this server does not have that name (Host header)"
    if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
        return 403, "forbidden", "requests from other sites are not accepted (Origin)"
    is_start = request.url.path == "/" and request.method == "GET"
    navigates = is_start and headers.get("sec-fetch-dest", "document") == "document"
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not navigates:
        return 403, "forbidden", "requests from other sites are not accepted (Sec-Fetch-Site)"
    if request.method not in ("GET", "HEAD", "POST"):
        return 405, "bad_request", "only GET and POST"
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.method == "POST" and kind != "application/json":
        return 415, "unsupported", "the body must be application/json"
    return None


def _unknown(request: Request, access: Access) -> Response | None:
    if access.token is None:
        return None
    kind, _, bearer = request.headers.get("authorization", "").partition(" ")
    given = (
        request.cookies.get(cookie(access.token), ""),
        bearer if kind.lower() == "bearer" else "",
        request.query_params.get("token", "") if request.url.path == "/" else "",
    )
    if any(secrets.compare_digest(one.encode(), access.token.encode()) for one in given):
        return None
    message = "open the address that the command printed, with its token"
    if request.url.path.startswith("/api/"):
        return error(401, "unauthorized", message)
    return PlainTextResponse(message, 401)


def _set_token_cookie(request: Request, access: Access) -> Response | None:
    """The page that leads from /?token=… to /; it moves the token from the address into a cookie."""
    query = dict(request.query_params)
    if access.token is None or request.url.path != "/" or not query.pop("token", None):
        return None
    # After a redirect, the browser would still count the link's site as the origin and send no strict cookie.
    target = escape(f"/?{urlencode(query)}" if query else "/")
    page = f'<!DOCTYPE html><meta http-equiv="refresh" content="0;url={target}"><title>…</title>'
    answer = HTMLResponse(page)
    answer.set_cookie(cookie(access.token), access.token, httponly=True, samesite="strict", path="/")
    return answer


def framed(render: Callable[[str], str]) -> Response:
    """The document for a frame; of its scripts, only those with the nonce run that `render` gets."""
    nonce = secrets.token_urlsafe(16)
    return HTMLResponse(render(nonce), headers={"Content-Security-Policy": _FRAME_POLICY.format(nonce=nonce)})


def error(status: int, code: str, message: str, **more: Any) -> Response:
    """An error as the browser expects it."""
    return JSONResponse({"error": {"code": code, "message": message}, **more}, status)


async def body(request: Request) -> Mapping[str, Any]:
    """The JSON object that a POST sends; AnnotationError for anything else."""
    if request.method != "POST":
        return {}
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > MAX_BODY:
            raise AnnotationError(f"the body is longer than {MAX_BODY} bytes", "too_large")
    try:
        found = json.loads(content)
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()  # refuses unpaired surrogates, NaN
    except (ValueError, RecursionError):
        raise AnnotationError("the body is not JSON") from None
    if not isinstance(found, dict):
        raise AnnotationError("the body must be a JSON object")
    return found


def application(
    routes: Sequence[Route], pages: Mapping[str, str], access: Access, refusals: Mapping[Any, Any]
) -> Starlette:
    """The routes, the static files, and some `pages` of these by their path, for requests with access.

    `refusals`: the answer to an exception of a type; all other exceptions are logged.
    """
    own = [Route(url, lambda _, name=name: FileResponse(frame.STATIC / name)) for url, name in pages.items()]
    return Starlette(
        routes=[*own, *routes, Mount("/static", StaticFiles(directory=frame.STATIC))],
        middleware=[Middleware(BaseHTTPMiddleware, dispatch=partial(guarded, access=access))],
        exception_handlers={404: _not_found, 405: _not_found, 500: _broken, **refusals},
    )


async def _not_found(request: Request, _: Exception) -> Response:
    return error(404, "not_found", f"there is no {request.url.path}")


async def _broken(_: Request, cause: Exception) -> Response:
    LOG.error("internal error: %r", cause)
    return error(500, "internal", f"internal error: {type(cause).__name__}")


def serve(
    application: Callable[[Access], Starlette],
    *,
    host: str,
    port: int,
    token: str | None,
    note: str,
    started: Callable[[str], object] = str,
) -> None:
    """Serves until it is interrupted; prints the address and `note`, and calls `started` with the address.

    `token` None: without a token; `port` 0: any free port. Raises UsageError for a port that is taken.
    """
    listening = _listen(host, port)
    port = listening.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    names = {f"{name}:{port}" for name in (*_LOCAL_NAMES, shown.lower())} if is_local(host) else {"*"}
    logging.basicConfig(level=logging.INFO, format="victor: %(message)s", stream=sys.stderr, force=True)
    address = f"http://{shown}:{port}/" + (f"?token={token}" if token else "")
    LOG.info("%s  (%s)", address, note)
    config = uvicorn.Config(
        application(Access(frozenset(names), token)),
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=3,
    )
    started(address)
    uvicorn.Server(config).run(sockets=[listening])


def is_local(host: str) -> bool:
    """Whether only this machine can reach the host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listen(host: str, port: int) -> socket.socket:
    """A socket that already listens, so that the address can be printed."""
    is_six = ":" in host
    try:
        return socket.create_server(
            (host, port),
            family=socket.AF_INET6 if is_six else socket.AF_INET,
            backlog=128,
            dualstack_ipv6=is_six and socket.has_dualstack_ipv6(),
        )
    except OSError as error:
        reason = str(error.strerror or error).partition(" (while")[0]
        raise UsageError(f"cannot listen on {host}, port {port}: {reason} (see --host and --port)") from error
