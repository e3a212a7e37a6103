"""Access control: middleware that refuses other sites, other host names and requests without the token."""

import hashlib
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from html import escape
from typing import Any, Final
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
}

Handler = Callable[[Scope, Receive, Send], Awaitable[None]]


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


class Guard:
    """ASGI middleware; Starlette wants middleware as a class."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app = app
        self.access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or refuses it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            headers = Headers(scope=scope)
            answer = _refusal(scope, headers, self.access) or _welcome(scope, self.access)
            await (answer or self.app)(scope, receive, _with_headers(send))


def _refusal(scope: Scope, headers: Headers, access: Access) -> Response | None:
    """The refusal of a request, or None."""
    return (
        _of_another_site(scope, headers, access)
        or _ill_formed(scope, headers)
        or _unknown(scope, headers, access)
    )


def _of_another_site(scope: Scope, headers: Headers, access: Access) -> Response | None:
    host = headers.get("host", "").lower()
    if "*" not in access.hosts and host not in access.hosts:
        return _error(403, "forbidden", "this server does not have that name (Host header)")
    origin = headers.get("origin")
    if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
        return _error(403, "forbidden", "requests from other sites are not accepted (Origin)")
    site = headers.get("sec-fetch-site", "none")
    is_start = scope["path"] == "/" and scope["method"] == "GET"
    navigates = is_start and headers.get("sec-fetch-dest", "document") == "document"
    if site not in ("same-origin", "none") and not navigates:
        return _error(403, "forbidden", "requests from other sites are not accepted (Sec-Fetch-Site)")
    return None


def _ill_formed(scope: Scope, headers: Headers) -> Response | None:
    method = scope["method"]
    if method not in ("GET", "HEAD", "POST"):
        return _error(405, "bad_request", "only GET and POST")
    if method == "POST":
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return _error(415, "unsupported", "the body must be application/json")
        announced = headers.get("content-length", "0")
        if not (announced.isascii() and announced.isdigit()):
            return _error(400, "bad_request", "Content-Length is not a number")
        if len(announced) > _MOST_DIGITS or int(announced) > MAX_BODY:
            return _error(413, "too_large", f"the body is longer than {MAX_BODY} bytes")
    return None


def _unknown(scope: Scope, headers: Headers, access: Access) -> Response | None:
    if access.token is not None and not _knows(scope, headers, access.token):
        message = "open the address that `victor annotate` printed, with its token"
        is_browser = not scope["path"].startswith("/api/")
        return PlainTextResponse(message, 401) if is_browser else _error(401, "unauthorized", message)
    return None


def _knows(scope: Scope, headers: Headers, token: str) -> bool:
    given = [cookie_parser(headers.get("cookie", "")).get(cookie(token), "")]
    kind, _, bearer = headers.get("authorization", "").partition(" ")
    given.append(bearer if kind.lower() == "bearer" else "")
    given.append(_token_in(scope) or "")
    return any(secrets.compare_digest(one.encode(), token.encode()) for one in given)


def _token_in(scope: Scope) -> str | None:
    """The token in the address of /; None elsewhere."""
    query = parse_qs(scope["query_string"].decode("latin-1"))
    return query["token"][0] if scope["path"] == "/" and "token" in query else None


def _welcome(scope: Scope, access: Access) -> Response | None:
    """The page that leads from /?token=… to /; it moves the token from the address into a cookie."""
    if access.token is None or _token_in(scope) is None:
        return None
    query = parse_qs(scope["query_string"].decode("latin-1"))
    rest = urlencode({key: values[0] for key, values in query.items() if key != "token"})
    # After a redirect, the browser would still count the link's site as the origin and send no strict cookie.
    target = escape(f"/?{rest}" if rest else "/")
    answer = HTMLResponse(
        f'<!DOCTYPE html><meta http-equiv="refresh" content="0;url={target}"><title>…</title>'
    )
    answer.set_cookie(cookie(access.token), access.token, httponly=True, samesite="strict", path="/")
    return answer


def _error(status: int, code: str, message: str) -> Response:
    return JSONResponse({"error": {"code": code, "message": message}}, status)


def _with_headers(send: Send) -> Send:
    """Adds the common headers, and a Content-Security-Policy if the answer has none."""

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            present: list[tuple[bytes, bytes]] = list(message.get("headers", []))
            known = {name.lower() for name, _ in present}
            wanted: dict[str, Any] = {**_HEADERS, "Content-Security-Policy": APPLICATION_POLICY}
            for name, value in wanted.items():
                if name.lower().encode() not in known:
                    present.append((name.lower().encode(), value.encode()))
            message = {**message, "headers": present}
        await send(message)

    return with_headers
