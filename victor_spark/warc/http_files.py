"""Files on web servers: read by byte ranges where the server supports them, else downloaded whole.

Redirects are followed; proxies and certificates are those of `requests`.
"""

import logging
import re
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import BinaryIO, Final, cast

import requests
from requests import exceptions as faults

from victor_spark.errors import one_line
from victor_spark.warc.remote_files import FIRST_FETCH, RemoteFile, TransientError, Window, with_retries

_TIMEOUTS: Final = (15.0, 60.0)  # seconds: to connect, and without a byte
_MAX_REDIRECTS: Final = 10
_PART: Final = 256 << 10
_BUSY: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_REFUSED: Final = frozenset({401, 403, 407})
_GONE: Final = frozenset({404, 410})
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})")
_LENGTH = re.compile(r"\d{1,18}")

logging.getLogger("urllib3").setLevel(logging.ERROR)  # its warnings name whole addresses


class WebFile:
    """A file on a web server; every response must report the etag and size of the first one.

    `first` is that response, to a request for the bytes of `first_window`, its body unread.
    `has_ranges`: whether the server answered with a range. `etag` (or time of change) and `known_size` are
    None where the server does not report them.
    """

    def __init__(self, url: str, first_window: Window = (0, FIRST_FETCH)) -> None:
        self._url, self._first_start = url, first_window[0]
        self._session = requests.Session()
        self._session.max_redirects = _MAX_REDIRECTS
        self._identity: tuple[str | None, int | None] | None = None
        try:
            self.first: requests.Response | None = with_retries(lambda: self._get(*first_window))
        except BaseException:
            self._session.close()
            raise
        assert self.first is not None
        self.has_ranges = self.first.status_code == 206
        self._identity = self.etag, self.known_size = _identity(self.first)

    def fetch(self, start: int, end: int) -> Iterator[bytes]:
        """The bytes [start, end) as they arrive; TransientError where another try may help."""
        if (first := self._taken_first()) is not None:
            with closing(first):
                for part in _body(first, end - start) if start == self._first_start else ():
                    start += len(part)
                    yield part
        if start < end:
            with closing(self._get(start, end)) as response:
                yield from _body(response, end - start)

    def _taken_first(self) -> requests.Response | None:
        """The first response, once."""
        response, self.first = self.first, None
        return response

    def _get(self, start: int | None = None, end: int = 0) -> requests.Response:
        """The response to a request for [start, end), or for the whole file, its body unread."""
        headers = {"Accept-Encoding": "identity"}
        if start is not None:
            headers["Range"] = f"bytes={start}-{end - 1}"
        with _translated():
            response = self._session.get(self._url, headers=headers, stream=True, timeout=_TIMEOUTS)
        try:
            self._check(response, start)
        except BaseException:
            response.close()
            raise
        return response

    def _check(self, response: requests.Response, start: int | None) -> None:
        _check_status(response)
        sent = _RANGE.match(response.headers.get("Content-Range", ""))
        if response.status_code == 206 and (sent is None or int(sent[1]) != start):
            raise OSError("the server sent another range than the requested one")
        if self._identity is not None and _identity(response) != self._identity:
            raise OSError("the file on the server changed while it was read")
        if self._identity is not None and start is not None and response.status_code != 206:
            raise OSError("the server no longer sends ranges")

    def close(self) -> None:
        """Ends the connection."""
        if (first := self._taken_first()) is not None:
            first.close()
        self._session.close()

    def download(self) -> BinaryIO:
        """The whole file as a temporary one, for servers without ranges; a broken download starts again."""
        spooled = cast(BinaryIO, tempfile.TemporaryFile(prefix="victor-"))  # noqa: SIM115 - returned open
        try:
            with_retries(lambda: self._copy(spooled))
        except BaseException:
            spooled.close()
            raise
        return spooled

    def _copy(self, spooled: BinaryIO) -> None:
        spooled.seek(0)
        spooled.truncate()
        first = self._taken_first()
        with closing(self._get() if first is None else first) as response:
            spooled.writelines(_body(response, None))
        spooled.seek(0)


def open_file(url: str, windows: Sequence[Window] = ()) -> BinaryIO:
    """A seekable file; OSError when it can't be opened. `windows`: the only bytes that will be read."""
    start, end = windows[0] if windows else (0, FIRST_FETCH)
    web = WebFile(url, (start, min(end, start + FIRST_FETCH)))
    if web.has_ranges:
        return cast(BinaryIO, RemoteFile(web.known_size or 0, web.fetch, web.close, windows))
    with closing(web):
        return web.download()


def first_bytes(url: str, n: int) -> bytes:
    """The first `n` bytes, without fetching the rest."""

    def read() -> bytes:
        with closing(WebFile(url, (0, n))) as web:
            assert web.first is not None
            return b"".join(_body(web.first, n))

    return with_retries(read)


def about(url: str) -> tuple[int | None, str | None]:
    """Size in bytes and etag (or time of change), each None where the server does not report it."""
    with closing(WebFile(url, (0, 1))) as web:
        return web.known_size, web.etag


def _identity(response: requests.Response) -> tuple[str | None, int | None]:
    """The etag (or time of change) and the size of the file that a response belongs to."""
    headers = response.headers
    etag = headers.get("ETag") or headers.get("Last-Modified")
    if response.status_code == 206:
        found = _RANGE.match(headers.get("Content-Range", ""))
        return etag, int(found[3]) if found else None
    if response.status_code == 416:
        return etag, 0
    length = headers.get("Content-Length", "")
    return etag, int(length) if _LENGTH.fullmatch(length) else None


def _check_status(response: requests.Response) -> None:
    """Raises an OSError for the status of a failed request; 416 is an empty file."""
    code = response.status_code
    status = f"{code} {response.reason or ''}".strip()
    if code in _BUSY:
        asked = response.headers.get("Retry-After", "")
        raise TransientError(f"the server says {status}", float(asked) if asked.isdecimal() else None)
    if code in _GONE:
        raise FileNotFoundError(f"the server says {status}")
    if code in _REFUSED:
        raise PermissionError(f"the server refuses it ({status})")
    if code not in (200, 206, 416):
        raise OSError(f"the server says {status}")


def _body(response: requests.Response, n: int | None) -> Iterator[bytes]:
    """At most `n` bytes of a response's body, its content encoding kept."""
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
    from urllib3.exceptions import HTTPError, SSLError

    try:
        yield
    except faults.TooManyRedirects:
        raise OSError(f"more than {_MAX_REDIRECTS} redirects") from None
    except (faults.SSLError, SSLError) as error:
        raise OSError(f"no trusted connection: {_cause(error)}") from None
    except (faults.InvalidURL, faults.InvalidSchema, faults.MissingSchema) as error:
        raise OSError(f"not a URL that can be fetched: {error}") from None
    except faults.ConnectionError as error:
        unknown = isinstance(cause := _innermost(error), socket.gaierror) and cause.errno == socket.EAI_NONAME
        raise (OSError if unknown else TransientError)(_cause(error)) from None
    except (faults.Timeout, faults.ChunkedEncodingError, HTTPError) as error:
        raise TransientError(_cause(error)) from None
    except faults.RequestException as error:
        raise OSError(_cause(error)) from None
    except (LookupError, ValueError) as error:  # a redirect to an address that a library fails on
        raise OSError(f"not a URL that can be fetched: {error}") from None


def _cause(error: BaseException) -> str:
    """The innermost reason of a wrapped network error, in a few words."""
    text = one_line(_innermost(error))
    text = text.removeprefix("IncompleteRead(").removesuffix(")") if "IncompleteRead" in text else text
    return f"the connection failed: {text}"[:200]


def _innermost(error: BaseException) -> BaseException:
    while True:
        nested = [getattr(error, "reason", None), *error.args, error.__cause__, error.__context__]
        inner = next((one for one in nested if isinstance(one, BaseException) and one is not error), None)
        if inner is None:
            return error
        error = inner
