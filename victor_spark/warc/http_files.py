"""Files on web servers: read by byte ranges where the server supports them, else downloaded whole.

Redirects are followed; proxies and certificates are those of `requests`.
"""

import logging
import re
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import BinaryIO, Final, cast

import requests
from requests import exceptions as faults
from urllib3.exceptions import HTTPError, SSLError

from victor_spark.errors import one_line
from victor_spark.warc.headers import declared_length
from victor_spark.warc.remote_files import RemoteFile, TransientError, Window, with_retries

_TIMEOUTS: Final = (15.0, 60.0)  # seconds: to connect, and between two parts of the response
_MAX_REDIRECTS: Final = 10
_PART: Final = 256 << 10
_BUSY: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_REFUSED: Final = frozenset({401, 403, 407})
_GONE: Final = frozenset({404, 410})
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})")

logging.getLogger("urllib3").setLevel(logging.ERROR)  # its warnings name whole addresses

Identity = tuple[int | None, str | None]
"""The size of a file and its etag (or time of change), each None where the server does not report it."""


def _get(
    session: requests.Session, url: str, window: Window | None = None, known: Identity | None = None
) -> requests.Response:
    """The response to a request for a window, or for the whole file; its body is not read yet.

    `known`: the identity in the first response. OSError if it has changed, or if ranges are sent no more.
    """
    headers = {"Accept-Encoding": "identity"}
    if window is not None:
        headers["Range"] = f"bytes={window[0]}-{window[1] - 1}"
    with _translated():
        response = session.get(url, headers=headers, stream=True, timeout=_TIMEOUTS)
    try:
        _check(response, window, known)
    except BaseException:
        response.close()
        raise
    return response


def _session() -> requests.Session:
    session = requests.Session()
    session.max_redirects = _MAX_REDIRECTS
    return session


def open_file(url: str, windows: Sequence[Window] = ()) -> BinaryIO:
    """A seekable file; OSError when it can't be opened. `windows`: the only bytes that will be read.

    If the server does not support ranges, the whole file is downloaded; a broken download starts again.
    """
    with ExitStack() as stack:
        session = stack.enter_context(_session())
        with closing(with_retries(lambda: _get(session, url, (0, 1)))) as first:
            has_ranges, known = first.status_code == 206, _identity(first)
        if has_ranges:

            def fetch(start: int, end: int) -> Iterator[bytes]:
                with closing(_get(session, url, (start, end), known)) as response:
                    yield from _body(response, end - start)

            close = stack.pop_all().close
            return cast(BinaryIO, RemoteFile(known[0] or 0, fetch, close, windows))
        return with_retries(lambda: _downloaded(session, url))


def _downloaded(session: requests.Session, url: str) -> BinaryIO:
    """A temporary file with the content of the whole file."""
    spooled = cast(BinaryIO, tempfile.TemporaryFile(prefix="victor-"))  # noqa: SIM115 - returned open
    try:
        with closing(_get(session, url)) as response:
            spooled.writelines(_body(response, None))
    except BaseException:
        spooled.close()
        raise
    spooled.seek(0)
    return spooled


def first_bytes(url: str, n: int) -> bytes:
    """The first `n` bytes, without fetching the rest."""

    def read() -> bytes:
        with _session() as session, closing(_get(session, url, (0, n))) as response:
            return b"".join(_body(response, n))

    return with_retries(read)


def about(url: str) -> Identity:
    """Size in bytes and etag (or time of change), each None where the server does not report it."""
    with _session() as session, closing(with_retries(lambda: _get(session, url, (0, 1)))) as response:
        return _identity(response)


def _identity(response: requests.Response) -> Identity:
    headers = response.headers
    etag = headers.get("ETag") or headers.get("Last-Modified")
    if response.status_code == 206:
        found = _RANGE.match(headers.get("Content-Range", ""))
        return int(found[3]) if found else None, etag
    if response.status_code == 416:
        return 0, etag
    return declared_length(headers.get("Content-Length", "")), etag


def _check(response: requests.Response, window: Window | None, known: Identity | None) -> None:
    """Raises OSError for a failed request, another range or another file; 416 means an empty file."""
    code = response.status_code
    status = f"{code} {response.reason or ''}".strip()
    if code in _BUSY:
        asked = response.headers.get("Retry-After", "")
        raise TransientError(f"the server answered {status}", float(asked) if asked.isdecimal() else None)
    if code in _GONE:
        raise FileNotFoundError(f"the server answered {status}")
    if code in _REFUSED:
        raise PermissionError(f"the server denies access ({status})")
    if code not in (200, 206, 416):
        raise OSError(f"the server answered {status}")
    sent = _RANGE.match(response.headers.get("Content-Range", ""))
    if code == 206 and (sent is None or window is None or int(sent[1]) != window[0]):
        raise OSError("the server sent another range than the requested one")
    if known is not None and _identity(response) != known:
        raise OSError("the file on the server changed while it was read")
    if known is not None and window is not None and code != 206:
        raise OSError("the server no longer sends ranges")


def _body(response: requests.Response, n: int | None) -> Iterator[bytes]:
    """At most `n` bytes of a response's body (None: all of it), which stays encoded."""
    if response.status_code == 416:
        return
    n_left = n if n is not None else 1 << 62
    with _translated():
        while n_left > 0 and (part := response.raw.read(min(_PART, n_left), decode_content=False)):
            n_left -= len(part)
            yield part


@contextmanager
def _translated() -> Iterator[None]:
    """Turns exceptions of `requests` and urllib3 into OSError: TransientError where a retry may help."""
    try:
        yield
    except (faults.RequestException, HTTPError, LookupError, ValueError) as error:
        raise _meaning(error) from None


def _meaning(error: Exception) -> OSError:
    if isinstance(error, faults.TooManyRedirects):
        return OSError(f"more than {_MAX_REDIRECTS} redirects")
    cause = _innermost(error)
    is_address = isinstance(error, LookupError | ValueError)  # a wrong URL, maybe that of a redirect
    is_unknown = isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_NONAME
    useless = is_address or is_unknown or isinstance(error, faults.SSLError | SSLError)
    what = "not a URL that can be fetched" if is_address else "the connection failed"
    text = one_line(cause)
    text = text.removeprefix("IncompleteRead(").removesuffix(")") if "IncompleteRead" in text else text
    return (OSError if useless else TransientError)(f"{what}: {text}"[:200])


def _innermost(error: BaseException) -> BaseException:
    """The error at the end of the chain of reasons, arguments, causes and contexts."""
    while True:
        nested = [getattr(error, "reason", None), *error.args, error.__cause__, error.__context__]
        inner = next((one for one in nested if isinstance(one, BaseException) and one is not error), None)
        if inner is None:
            return error
        error = inner
