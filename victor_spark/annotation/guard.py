"""Access control: middleware that refuses other sites, other host names and requests without the token."""

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, Final
from urllib.parse import urlencode

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import Request, cookie_parser
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from victor_spark.errors import AnnotationError

COOKIE: Final = "victor_token"
MAX_BODY: Final = 1 << 20
"""Bytes; checked against the declared length, and again while the body is read."""
_MOST_DIGITS: Final = 18

APPLICATION_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
FRAME_POLICY: Final = (
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
    """`hosts`: permitted Host headers, with port ("*": any, for servers that a token protects); `token`: the
    required token, None for no token.
    """

    hosts: frozenset[str]
    token: str | None = None


def cookie(token: str) -> str:
    """The name of the token's cookie; unique, because browsers share cookies between ports of a machine."""
    return f"{COOKIE}_{hashlib.sha256(token.encode()).hexdigest()[:8]}"


def guarded(app: ASGIApp, access: Access) -> ASGIApp:
    """The application behind the checks: a request is passed on or refused, and every answer gets headers."""

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["type"] == "lifespan":
            await app(scope, receive, send)
        elif scope["type"] == "http":
            headers = Headers(scope=scope)
            answer = (
                _of_another_site(scope, headers, access)
                or _ill_formed(scope, headers)
                or _unknown(scope, headers, access)
                or _welcome(scope, access)
            )
            await (answer or app)(scope, receive, with_headers)

    return guard


def _of_another_site(scope: Scope, headers: Headers, access: Access) -> Response | None:
    host = headers.get("host", "").lower()
    if "*" not in access.hosts and host not in access.hosts:
        return error(403, "forbidden", "this server does not have that name (Host header)")
    origin = headers.get("origin")
    if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
        return error(403, "forbidden", "requests from other sites are not accepted (Origin)")
    site = headers.get("sec-fetch-site", "none")
    is_start = scope["path"] == "/" and scope["method"] == "GET"
    navigates = is_start and headers.get("sec-fetch-dest", "document") == "document"
    if site not in ("same-origin", "none") and not navigates:
        return error(403, "forbidden", "requests from other sites are not accepted (Sec-Fetch-Site)")
    return None


def _ill_formed(scope: Scope, headers: Headers) -> Response | None:
    if scope["method"] not in ("GET", "HEAD", "POST"):
        return error(405, "bad_request", "only GET and POST")
    if scope["method"] == "POST":
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return error(415, "unsupported", "the body must be application/json")
        announced = headers.get("content-length", "0")
        if not (announced.isascii() and announced.isdigit()):
            return error(400, "bad_request", "Content-Length is not a number")
        if len(announced) > _MOST_DIGITS or int(announced) > MAX_BODY:
            return error(413, "too_large", f"the body is longer than {MAX_BODY} bytes")
    return None


def _unknown(scope: Scope, headers: Headers, access: Access) -> Response | None:
    if access.token is None:
        return None
    kind, _, bearer = headers.get("authorization", "").partition(" ")
    given = (
        cookie_parser(headers.get("cookie", "")).get(cookie(access.token), ""),
        bearer if kind.lower() == "bearer" else "",
        _query(scope).get("token", ""),
    )
    if any(secrets.compare_digest(one.encode(), access.token.encode()) for one in given):
        return None
    message = "open the address that the command printed, with its token"
    if scope["path"].startswith("/api/"):
        return error(401, "unauthorized", message)
    return PlainTextResponse(message, 401)


def _query(scope: Scope) -> dict[str, str]:
    """The query of the address of /, which may hold the token; empty elsewhere."""
    return dict(QueryParams(scope["query_string"])) if scope["path"] == "/" else {}


def _welcome(scope: Scope, access: Access) -> Response | None:
    """The page that leads from /?token=… to /; it moves the token from the address into a cookie."""
    query = _query(scope)
    if access.token is None or not query.pop("token", None):
        return None
    # After a redirect, the browser would still count the link's site as the origin and send no strict cookie.
    target = escape(f"/?{urlencode(query)}" if query else "/")
    answer = HTMLResponse(
        f'<!DOCTYPE html><meta http-equiv="refresh" content="0;url={target}"><title>…</title>'
    )
    answer.set_cookie(cookie(access.token), access.token, httponly=True, samesite="strict", path="/")
    return answer


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
        found = json.loads(content, parse_constant=_no_number)
        json.dumps(found, ensure_ascii=False).encode("utf-8")  # refuses unpaired surrogates
    except (ValueError, RecursionError):
        raise AnnotationError("the body is not JSON") from None
    if not isinstance(found, dict):
        raise AnnotationError("the body must be a JSON object")
    return found


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not a number")
