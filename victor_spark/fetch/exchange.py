"""One HTTP exchange, limited in time and size; heads are kept as the bytes that were sent.

The client accepts what browsers accept: header lines without a colon, folded lines, bytes of any charset. Any
behaviour of a server or the network ends in an `Answer` or a `Failure`.
"""

import asyncio
import re
import socket
import ssl
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from yarl import URL

from victor_spark.fetch import addresses
from victor_spark.warc.headers import decoded

PART: Final = 64 << 10
MAX_HEAD: Final = 256 << 10
"""Bytes of a head, and of all interim heads (100 Continue and the like) before it."""

_STATUS_LINE: Final = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+([1-9]\d\d)(?:[ \t][^\n]*)?\r?\n")
_CHUNK_SIZE: Final = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")
_LENGTH: Final = re.compile(r"\d{1,18}", re.ASCII)
_CHUNKS_AT_A_TIME: Final = 256
_SWITCHING_PROTOCOLS: Final = 101
_WITHOUT_BODY: Final = frozenset({_SWITCHING_PROTOCOLS, 204, 304})
_STATUSES: Final = (
    (socket.gaierror, "dns"),
    (UnicodeError, "dns"),  # a host name with an empty label
    (ssl.SSLError, "tls"),
    (OSError, "connection"),
    (ValueError, "bad_answer"),
)
"""The status of a failure by its exception, the first that fits."""


@dataclass(frozen=True)
class Limits:
    """Seconds for a whole exchange and for a connection; bytes of a body; whether hosts may be private."""

    seconds: float = 60.0
    connect_seconds: float = 15.0
    max_bytes: int = 10 << 20
    allow_private: bool = False


@dataclass(frozen=True)
class Client:
    """The user agent of all requests, their limits, and the trusted certificates."""

    user_agent: str
    limits: Limits
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)


@dataclass(frozen=True)
class Answer:
    """An exchange with a response: heads as sent, the body without its transfer encoding.

    `truncated`: the WARC-Truncated reason of an incomplete body (length, time, disconnect, or unspecified for
    invalid chunks); None: it is complete.
    """

    url: str
    at: datetime
    request: bytes
    status: int
    head: bytes
    body: bytes
    truncated: str | None
    ip: str | None
    seconds: float

    def header(self, name: str) -> str | None:
        """The first header of that name."""
        return next(iter(values(self.head, name)), None)


@dataclass(frozen=True)
class Failure:
    """An exchange without a response: a short status and the reason.

    The status is one of dns, private_address, tls, timeout, connection, bad_answer, error.
    """

    url: str
    status: str
    why: str


def values(head: bytes, name: str) -> list[str]:
    """The values of all headers of that name, folded lines joined; as UTF-8, else as Latin-1."""
    found: list[bytes] = []
    ours = False
    for line in head.split(b"\n")[1:]:
        if line[:1] in (b" ", b"\t"):
            if ours:
                found[-1] += b" " + line.strip()
            continue
        key, colon, value = line.partition(b":")
        ours = bool(colon) and key.strip().lower() == name.lower().encode()
        if ours:
            found.append(value.strip())
    return [decoded(value) for value in found]


async def ask(client: Client, url: str, max_bytes: int | None = None) -> Answer | Failure:
    """GETs one address; never raises, whatever the server or the network does."""
    limits = client.limits
    started, at = time.monotonic(), datetime.now(UTC)
    deadline = asyncio.get_running_loop().time() + limits.seconds
    writer = None
    try:
        async with asyncio.timeout_at(deadline):
            target = URL(url, encoded=True)
            request = _request(target, client.user_agent)
            reader, writer = await _connected(target, client)
            writer.write(request)
            head, status = await _head(reader)
        peer = writer.get_extra_info("peername")
        body, truncated = await _body(reader, head, status, max_bytes or limits.max_bytes, deadline)
        return Answer(
            url=url,
            at=at,
            request=request,
            status=status,
            head=head,
            body=body,
            truncated=truncated,
            ip=str(peer[0]) if peer else None,
            seconds=time.monotonic() - started,
        )
    except TimeoutError:
        return Failure(url, "timeout", f"no answer within {limits.seconds:g} s")
    except Exception as error:  # noqa: BLE001 - whatever a server makes a library raise costs this visit alone
        why = " ".join(str(error).split())[:300] or type(error).__name__
        failed = next((status for kind, status in _STATUSES if isinstance(error, kind)), "error")
        if addresses.REFUSED in why:
            failed = "private_address"
        return Failure(url, failed, f"{type(error).__name__}: {why}" if failed == "error" else why)
    finally:
        if writer is not None:
            writer.transport.abort()


def _request(target: URL, user_agent: str) -> bytes:
    lines = [
        f"GET {target.raw_path_qs or '/'} HTTP/1.1",
        f"Host: {target.host_port_subcomponent}",
        f"User-Agent: {' '.join(user_agent.split())}",
        "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.5",
        "Accept-Encoding: gzip, deflate",
        "Connection: close",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "replace")


async def _connected(target: URL, client: Client) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to the first of the host's addresses that accepts one; none to a private address."""
    loop = asyncio.get_running_loop()
    host, seconds = target.raw_host, client.limits.connect_seconds
    tls = client.tls if target.scheme == "https" else None
    problem: OSError | None = None
    for address in await loop.getaddrinfo(host, target.port, type=socket.SOCK_STREAM):
        try:
            sock = addresses.open_socket(address, allow_private=client.limits.allow_private)
            try:
                async with asyncio.timeout(seconds):
                    await loop.sock_connect(sock, address[-1])
                return await asyncio.open_connection(
                    sock=sock,
                    limit=MAX_HEAD,
                    ssl=tls,
                    server_hostname=host if tls else None,
                    ssl_handshake_timeout=seconds if tls else None,
                )
            except BaseException:
                sock.close()
                raise
        except OSError as error:
            problem = error
    raise problem or OSError(f"{host} has no address")


async def _head(reader: asyncio.StreamReader) -> tuple[bytes, int]:
    """The head of the response and its status; ValueError for anything but HTTP/1."""
    lines: list[bytes] = []
    n_bytes = 0
    while True:
        try:
            line = await reader.readline()
        except ValueError:  # its buffer is full
            line = bytes(MAX_HEAD + 1)
        n_bytes += len(line)
        if n_bytes > MAX_HEAD:
            raise ValueError(f"a head of more than {MAX_HEAD >> 10} KiB")
        if not lines and line and not b"HTTP/".startswith(line.lstrip(b"\r\n")[:5]):
            raise ValueError(f"no HTTP/1 answer: {line[:40]!r}")
        if not line.endswith(b"\n"):
            raise ConnectionError(
                "closed before the end of the head" if n_bytes else "closed without an answer"
            )
        if lines or line.strip():
            lines.append(line)
        if lines and not line.strip(b"\r\n"):
            status = _STATUS_LINE.fullmatch(lines[0])
            if status is None:
                raise ValueError(f"no HTTP/1 status line: {lines[0][:40]!r}")
            if int(status[1]) >= 200 or int(status[1]) == _SWITCHING_PROTOCOLS:
                return b"".join(lines), int(status[1])
            lines = []  # an interim answer


async def _body(
    reader: asyncio.StreamReader, head: bytes, status: int, limit: int, deadline: float
) -> tuple[bytes, str | None]:
    """As much of the body as arrives within the limits, and the reason why it is incomplete."""
    body = bytearray()
    try:
        async with asyncio.timeout_at(deadline):
            if status in _WITHOUT_BODY:
                return b"", None
            if "chunked" in ",".join(values(head, "Transfer-Encoding")).lower():
                truncated = await _chunks(reader, body, limit)
            else:
                truncated = await _bytes(reader, body, _length(head), limit)
    except TimeoutError:
        truncated = "time"
    except OSError:
        truncated = "disconnect"
    except ValueError:  # a line of a chunk without end
        truncated = "unspecified"
    return bytes(body), truncated


def _length(head: bytes) -> int | None:
    """The declared length of the body; None where there is none, several, or an invalid one."""
    announced = {one.strip() for value in values(head, "Content-Length") for one in value.split(",")}
    only = announced.pop() if len(announced) == 1 else ""
    return int(only) if _LENGTH.fullmatch(only) else None


async def _bytes(reader: asyncio.StreamReader, body: bytearray, end: int | None, limit: int) -> str | None:
    """Appends bytes until the body has `end` of them, or (None) until the server closes."""
    while end is None or len(body) < end:
        part = await reader.read(PART if end is None else min(PART, end - len(body)))
        if not part:
            return None if end is None else "disconnect"
        body += part
        if len(body) > limit:
            del body[limit:]
            return "length"
    return None


async def _chunks(reader: asyncio.StreamReader, body: bytearray, limit: int) -> str | None:
    """Appends the content of all chunks; yields to other tasks now and then, as chunks may be tiny."""
    n_chunks = 0
    while True:
        n_chunks += 1
        if n_chunks % _CHUNKS_AT_A_TIME == 0:
            await asyncio.sleep(0)
        line = await reader.readline()
        size = _CHUNK_SIZE.fullmatch(line)
        if size is None:
            return "unspecified" if line.endswith(b"\n") else "disconnect"
        if not int(size[1], 16):
            return None
        if truncated := await _bytes(reader, body, len(body) + int(size[1], 16), limit):
            return truncated
        if (await reader.readline()).strip():
            return "unspecified"
