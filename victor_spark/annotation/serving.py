"""Serves a web application on a port of this machine until it is interrupted."""

import ipaddress
import logging
import socket
import sys
from collections.abc import Callable
from typing import Final

import uvicorn
from starlette.applications import Starlette

from victor_spark.annotation.guard import Access
from victor_spark.errors import UsageError

LOG: Final = logging.getLogger("victor.serving")
_LOCAL_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")


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
