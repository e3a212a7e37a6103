"""The server: one process on one port, with an address that people can click on."""

import ipaddress
import logging
import socket
import sys

import uvicorn

from victor_spark.annotation.answers import Desk
from victor_spark.annotation.app import LOG, application
from victor_spark.annotation.guard import Access
from victor_spark.errors import UsageError

_LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")


def serve(desk: Desk, *, host: str, port: int, token: str | None) -> None:
    """Serves until it is interrupted, without a token everybody; `port` 0 takes a free one."""
    listening = _listen(host, port)
    port = listening.getsockname()[1]
    local = is_local(host)
    shown = f"[{host}]" if ":" in host else host
    known = (
        frozenset(f"{name}:{port}" for name in (*_LOCAL_NAMES, shown.lower())) if local else frozenset({"*"})
    )
    logging.basicConfig(level=logging.INFO, format="victor: %(message)s", stream=sys.stderr)
    LOG.info(
        "http://%s:%d/%s  (Ctrl-C stops; everything is saved)",
        shown,
        port,
        f"?token={token}" if token else "",
    )
    config = uvicorn.Config(
        application(desk, Access(known, token)),
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=3,
    )
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
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(128)  # from here on nobody who reads the address is turned away
    except OSError as error:
        listening.close()
        raise UsageError(
            f"can't listen on {host}, port {port}: {error.strerror or error} (see --port)"
        ) from error
    return listening
