"""What our web applications share: the static files, answers to errors, the server on a port."""

import ipaddress
import logging
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from victor_spark.annotation import frame, guard
from victor_spark.annotation.guard import Access
from victor_spark.errors import UsageError

LOG: Final = logging.getLogger("victor.serving")
_LOCAL_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")


def application(
    routes: Sequence[Route], pages: Mapping[str, str], access: Access, refusals: Mapping[Any, Any]
) -> Starlette:
    """The routes, the static files, and some `pages` of these by their path, for requests with access.

    `refusals`: the answer to an exception of a type; all other exceptions are logged.
    """
    shown = [
        Route(path, partial(_page, frame.STATIC / name), methods=["GET"]) for path, name in pages.items()
    ]
    return Starlette(
        routes=[*shown, *routes, Mount("/static", StaticFiles(directory=frame.STATIC))],
        middleware=[Middleware(guard.guarded, access=access)],
        exception_handlers={404: _not_found, 405: _not_found, 500: _broken, **refusals},
    )


async def _page(path: Path, _: Request) -> Response:
    return FileResponse(path)


async def _not_found(request: Request, _: Exception) -> Response:
    return guard.error(404, "not_found", f"there is no {request.url.path}")


async def _broken(_: Request, error: Exception) -> Response:
    LOG.error("internal error: %r", error)
    return guard.error(500, "internal", f"internal error: {type(error).__name__}")


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
    logging.basicConfig(level=logging.INFO, format="victor: %(message)s", stream=sys.stderr)
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
        raise UsageError(f"cannot listen on {host}, port {port}: {reason} (see --port)") from error
