"""A server on a loopback address with invalid answers: raw bytes by path, over plain sockets."""

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

Sent = Callable[[socket.socket], None]
"""The answer of a path on its connection, after the request is read."""

PAGE = b"<html><body><p>a good page</p></body></html>"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def sized(body: bytes, *lines: bytes, status: bytes = b"200 OK") -> bytes:
    """A complete answer with more header lines."""
    head = [b"HTTP/1.1 " + status, *lines, b"Content-Length: %d" % len(body)]
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def chunked(framing: bytes, *lines: bytes) -> bytes:
    return OK + b"".join(line + b"\r\n" for line in lines) + b"Transfer-Encoding: chunked\r\n\r\n" + framing


def to(location: bytes, status: bytes = b"302 Found") -> bytes:
    return sized(b"", b"Location: " + location, status=status)


def again_after(value: bytes) -> bytes:
    return sized(b"busy", b"Retry-After: " + value, status=b"503 Busy")


def for_ever(start: bytes, more: bytes, pause: float = 0.0) -> Sent:
    """Sends until the client closes the connection."""

    def send(connection: socket.socket) -> None:
        connection.sendall(start)
        while True:
            connection.sendall(more)
            time.sleep(pause)

    return send


def in_turns(start: bytes, rest: bytes) -> Sent:
    """Sends two parts, with a pause between them."""

    def send(connection: socket.socket) -> None:
        connection.sendall(start)
        time.sleep(0.1)
        connection.sendall(rest)

    return send


def reset(start: bytes) -> Sent:
    """Sends these bytes, then resets the connection."""

    def send(connection: socket.socket) -> None:
        connection.sendall(start)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        connection.close()

    return send


def bomb(n_megabytes: int) -> bytes:
    return gzip.compress(bytes(n_megabytes << 20))


def silent(_: socket.socket) -> None:
    time.sleep(2)


BASE = b"{base}"
"""A placeholder in answers: the server's own address."""

PLAIN: dict[str, tuple[bytes | Sent, str]] = {
    # what is sent, and how the address ends
    "reason": (sized(PAGE, status="200 žádný \udcff".encode("utf-8", "surrogateescape")), "200"),
    "no-reason": (b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", "200"),
    "header-bytes": (
        sized(PAGE, b"Link: </\xe9\xff>; rel=x", b"Set-Cookie: \xc5\xbe=\x80\x01; P", b"\xff: \xfe"),
        "bad_answer",
    ),
    "twice-and-case": (sized(PAGE, b"x-b: 1", b"X-A: 2", b"X-B: 3", b"x-b:4", b"X-B :5"), "bad_answer"),
    "header-values": (sized(PAGE, b"Link: </\xe9\xff>; rel=x", b"Set-Cookie: \xc5\xbe=\x80\x01; P"), "200"),
    "two-spellings": (sized(PAGE, b"x-b: 1", b"X-A: 2", b"X-B: 3", b"x-b: \xc5\xbe\x80"), "200"),
    "no-colon": (sized(PAGE, b"this is no header", b"X: 1"), "bad_answer"),
    "folded": (sized(PAGE, b"X-Long: one\r\n  two\r\n\tthree"), "200"),
    "nul": (sized(PAGE, b"X-N\x00l: a\x00b"), "bad_answer"),
    "bare-newlines": (b"HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 2\n\nok", "200"),
    "large-header": (sized(PAGE, b"Content-Security-Policy: " + b"x" * 100_000), "200"),
    "many-headers": (sized(PAGE, *[b"X-%d: y" % n for n in range(5000)]), "bad_answer"),
    "huge-header": (for_ever(OK + b"X: ", b"x" * 65536), "bad_answer"),
    "endless-headers": (for_ever(OK, b"X: y\r\n" * 1000), "bad_answer"),
    "dripping-headers": (for_ever(OK, b"X: y\r\n", 0.05), "timeout"),
    "no-status-line": (b"Content-Type: text/html\r\n\r\n" + PAGE, "bad_answer"),
    "http09": (PAGE, "bad_answer"),
    "http2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "bad_answer"),
    "http2-frames": (b"\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80", "bad_answer"),
    "tls": (b"\x15\x03\x03\x00\x02\x02\x46", "bad_answer"),
    "binary": (bytes(range(256)) * 100, "bad_answer"),
    "status-000": (b"HTTP/1.1 000 nothing\r\n\r\n", "0"),
    "status-999": (sized(b"denied", status=b"999 Denied"), "999"),
    "status-2000": (b"HTTP/1.1 2000 OK\r\n\r\n", "bad_answer"),
    "status-word": (b"HTTP/1.1 OK\r\n\r\n", "bad_answer"),
    "status-negative": (b"HTTP/1.1 -20 OK\r\n\r\n", "bad_answer"),
    "endless-1xx": (for_ever(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100), "timeout"),
    "some-1xx": (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + sized(PAGE), "200"),
    "switching": (b"HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\n\x00\x00", "101"),
    "204": (b"HTTP/1.1 204 Nothing\r\n\r\n", "204"),
    "204-body": (sized(PAGE, status=b"204 Nothing"), "bad_answer"),
    "304-body": (sized(PAGE, status=b"304 Same"), "bad_answer"),
    "empty": (b"", "connection"),
    "half-a-head": (OK + b"X-Ha", "connection"),
    "reset-at-once": (reset(b""), "connection"),
    "reset-in-head": (reset(OK), "connection"),
    "reset-in-body": (reset(OK + b"Content-Length: 100\r\n\r\n<p>"), "200"),
    "silent": (silent, "timeout"),
    "too-short": (OK + b"Content-Length: 3\r\n\r\n" + PAGE, "bad_answer"),
    "too-long": (OK + b"Content-Length: 9999\r\n\r\n" + PAGE, "200"),
    "length-negative": (OK + b"Content-Length: -5\r\n\r\n" + PAGE, "bad_answer"),
    "length-huge": (OK + b"Content-Length: 1" + b"0" * 30 + b"\r\n\r\n" + PAGE, "bad_answer"),
    "length-very-huge": (OK + b"Content-Length: 1" + b"0" * 6000 + b"\r\n\r\n" + PAGE, "bad_answer"),
    "length-word": (OK + b"Content-Length: \xb2\r\n\r\n" + PAGE, "bad_answer"),
    "lengths-differ": (OK + b"Content-Length: 5\r\nContent-Length: 7\r\n\r\n" + PAGE, "bad_answer"),
    "lengths-agree": (sized(PAGE, b"Content-Length: %d" % len(PAGE)), "bad_answer"),
    "endless-body": (for_ever(OK + b"\r\n", b"<p>more</p>" * 1000), "200"),
    "dripping-body": (for_ever(OK + b"\r\n", b"<p>", 0.05), "200"),
    "chunk-word": (chunked(b"zz\r\n<p>\r\n0\r\n\r\n"), "bad_answer"),
    "chunk-negative": (chunked(b"-5\r\n<p>\r\n0\r\n\r\n"), "bad_answer"),
    "chunk-late-word": (in_turns(chunked(b"3\r\n<p>\r\n"), b"zz\r\n"), "200"),
    "chunk-huge": (chunked(b"f" * 15 + b"\r\n<p>"), "200"),
    "chunk-very-huge": (chunked(b"f" * 5000 + b"\r\n<p>"), "bad_answer"),
    "chunk-too-small": (chunked(b"2\r\n<p>\r\n0\r\n\r\n"), "bad_answer"),
    "chunk-without-end": (chunked(b"3\r\n<p>\r\n"), "200"),
    "chunk-endless-line": (for_ever(chunked(b"1" * 4096), b"1" * 65536), "bad_answer"),
    "chunk-endless": (for_ever(chunked(b""), (b"12c;x=y\r\n" + b"<p>" * 100 + b"\r\n") * 50), "200"),
    "chunk-trailers": (chunked(b"3\r\n<p>\r\n0\r\n" + b"X: y\r\n" * 9 + b"\r\n"), "200"),
    "chunked-with-length": (chunked(b"3\r\n<p>\r\n0\r\n\r\n", b"Content-Length: 4"), "bad_answer"),
    "not-chunked": (chunked(PAGE), "bad_answer"),
    "gzip-bomb": (sized(bomb(64), b"Content-Encoding: gzip"), "200"),
    "no-gzip": (sized(PAGE, b"Content-Encoding: gzip"), "200"),
    "encoding": (sized(PAGE, b"Content-Encoding: \xff, rot13, , gzip"), "200"),
    "retry-negative": (again_after(b"-5"), "503"),
    "retry-huge": (again_after(b"1" + b"0" * 30), "503"),
    "retry-very-huge": (again_after(b"9" * 5000), "503"),
    "retry-year": (again_after(b"Fri, 01 Jan 99999 00:00:00 GMT"), "503"),
    "retry-past": (again_after(b"Fri, 01 Jan 0001 00:00:00 +2359"), "503"),
    "retry-zone": (again_after(b"Fri, 01 Jan 2021 00:00:00 +999999999999"), "503"),
    "retry-day": (again_after(b"Fri, 99999999999999999999 Jan 2021 00:00:00 GMT"), "503"),
    "retry-hour": (again_after(b"Fri, 01 Jan 2021 99999999999999:00:00 GMT"), "503"),
    "retry-bytes": (again_after(b"\xb2\xff"), "503"),
    "loop": (to(b"/loop"), "redirect_loop"),
    "location-empty": (to(b""), "redirect_loop"),
    "no-location": (sized(b"", status=b"301 Moved"), "301"),
    "to-file": (to(b"file:///etc/passwd"), "bad_redirect"),
    "to-script": (to(b"javascript:alert(1)"), "bad_redirect"),
    "to-garbage": (to(b"http://[::1"), "bad_redirect"),
    "to-library-fault": (to(b"http://[]..@"), "bad_redirect"),
    "to-port": (to(b"http://127.0.0.1:99999/"), "bad_redirect"),
    "to-user": (to(b"http://user:secret@127.0.0.1/"), "bad_redirect"),
    "to-controls": (to(b"/\x1b[31m\x00\x7f"), "bad_answer"),
    "to-bytes": (to(b"/\xff\xfe\xed\xa0\x80"), "200"),
    "to-letters": (to("/příliš".encode()), "200"),
    "to-relative-garbage": (to(b"../../%zz?#/\\"), "200"),
    "to-nowhere": (to(b"http://a..b.invalid/"), "dns"),
    "to-huge": (to(b"/" + b"x" * 50_000), "bad_redirect"),
    "twice-located": (to(b"/good\r\nLocation: http://[::1"), "200"),
    "good": (sized(PAGE, b"Content-Type: text/html"), "200"),
}  # fmt: skip

ROBOTS: dict[str, bytes | Sent] = {
    "binary": sized(bytes(range(256)) * 1000),
    "latin": sized("User-agent: *\nDisallow: /é".encode("latin-1")),
    "huge": sized(b"User-agent: *\nDisallow: /x\n" * 100_000),
    "wildcards": sized(b"User-agent: *\nDisallow: /" + b"*a" * 5000 + b"$\n" + b"Disallow: /*b*$\n" * 5000),
    "bomb": sized(bomb(64), b"Content-Encoding: gzip"),
    "no-gzip": sized(b"User-agent: *", b"Content-Encoding: gzip"),
    "delays": sized(
        b"User-agent: *\nCrawl-delay: nan\nCrawl-delay: -1\nCrawl-delay: 1e999\nCrawl-delay: \xff"
    ),
    "lines": sized(
        b"\x00\n:\n::\nUser-agent\nUser-agent:\nDisallow\nAllow: \x00\nRequest-rate: 1/0\nVisit-time: x\n"
    ),
    "loop": to(b"/robots.txt"),
    "to-file": to(b"file:///etc/passwd"),
    "to-garbage": to(b"http://[]..@"),
    "unread": sized(b"", status=b"404 No"),
}
"""Answers to /robots.txt that allow the page /good, or have no rule for it."""

ROBOTS_THAT_END: dict[str, tuple[bytes | Sent, str]] = {
    "slow": (for_ever(OK + b"\r\n", b"#", 0.05), "200"),  # as far as it came, it forbids nothing
    "silent": (silent, "timeout"),
    "endless": (for_ever(OK, b"X: y\r\n" * 1000), "bad_answer"),
    "garbage": (b"\xff\x00", "bad_answer"),
    "reset": (reset(b""), "connection"),
    "delay": (sized(b"User-agent: *\nCrawl-delay: 1e30\n"), "crawl_delay"),
    "busy": (again_after(b"1e9"), "robots"),
}


class Hostile:
    """A running server; `paths`: those of its requests."""

    def __init__(self, answers: Mapping[str, bytes | Sent], host: str) -> None:
        self.paths: list[str] = []
        self._answers = answers
        self._listening = socket.create_server((host, 0))
        self.base = f"http://{host}:{self._listening.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):  # the client had enough
            request = b""
            while b"\r\n\r\n" not in request:
                request += connection.recv(65536)
                if request[:4] != b"GET ":  # a greeting of TLS
                    connection.sendall(b"no TLS is spoken here\r\n")
                    return
            path = request.split()[1].decode()
            self.paths.append(path)
            answer = self._answers.get(path.removeprefix("/"))
            if answer is None:
                answer = sized(b"", status=b"404 No") if path == "/robots.txt" else sized(PAGE)
            if isinstance(answer, bytes):
                connection.sendall(answer)
            else:
                answer(connection)

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()


@contextmanager
def hostile(answers: Mapping[str, bytes | Sent], host: str = "127.0.0.1") -> Iterator[Hostile]:
    server = Hostile(answers, host)
    try:
        yield server
    finally:
        server.close()
