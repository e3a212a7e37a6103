"""Files on web servers: by ranges where a server has them, else in one download.

Redirects are followed, proxies and certificates are found as `requests` finds them.
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

from victor_spark.warc.remote import FIRST_FETCH, RemoteFile, Window
from victor_spark.warc.retrying import TransientError, persistently

_TIMEOUTS: Final = (15.0, 60.0)  # seconds: to connect, and without a byte
_MAX_REDIRECTS: Final = 10
_PART: Final = 256 << 10
_BUSY: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_REFUSED: Final = frozenset({401, 403, 407})
_GONE: Final = frozenset({404, 410})
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})")
_LENGTH = re.compile(r"\d{1,18}")
_CHANGED: Final = "the file on the server changed while it was read"


logging.getLogger("urllib3").setLevel(logging.ERROR)  # its warnings name whole addresses


class WebRanges:
    """A file on a web server. The first answer says what it is; later ones must say the same.

    `first` is that answer, to a request for the bytes of the window `first_window`, its body unread;
    `has_ranges`: whether the server took that for a request for a range.
    """

    def __init__(self, url: str, first_window: Window = (0, FIRST_FETCH)) -> None:
        self._url, self._first_start = url, first_window[0]
        self._session = requests.Session()
        self._session.max_redirects = _MAX_REDIRECTS
        self._identity: tuple[str | None, int | None] | None = None
        self.first: requests.Response | None = None
        try:
            self.first = persistently(lambda: self._get(*first_window))
        except BaseException:
            self.close()
            raise
        assert self.first is not None
        self.has_ranges = self.first.status_code == 206
        self._identity = identity(self.first)
        self.size = self._identity[1] or 0

    @property
    def etag(self) -> str | None:
        """What tells this content from another: ETag, or the time of the last change."""
        return self._identity[0] if self._identity else None

    @property
    def known_size(self) -> int | None:
        """The size in bytes, None where the server does not tell."""
        return self._identity[1] if self._identity else None

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
        """The first answer, once."""
        response, self.first = self.first, None
        return response

    def _get(self, start: int, end: int) -> requests.Response:
        """The answer to a request for [start, end), of which only the head was read."""
        headers = {"Range": f"bytes={start}-{end - 1}", "Accept-Encoding": "identity"}
        with translated():
            response = self._session.get(self._url, headers=headers, stream=True, timeout=_TIMEOUTS)
        try:
            self._check(response, start)
        except BaseException:
            response.close()
            raise
        return response

    def _check(self, response: requests.Response, start: int) -> None:
        check_status(response)
        first = _RANGE.match(response.headers.get("Content-Range", ""))
        if response.status_code == 206 and (first is None or int(first[1]) != start):
            raise OSError("the server sends another range than it was asked for")
        if self._identity is not None:
            if identity(response) != self._identity:
                raise OSError(_CHANGED)
            if response.status_code != 206:
                raise OSError("the server no longer sends ranges")

    def close(self) -> None:
        """Ends the connection."""
        if (first := self._taken_first()) is not None:
            first.close()
        self._session.close()

    def download(self) -> BinaryIO:
        """The whole file in a temporary one, for servers without ranges; started over when it breaks off."""
        spooled = cast(BinaryIO, tempfile.TemporaryFile(prefix="victor-"))  # noqa: SIM115 - returned open
        try:
            persistently(lambda: self._copy(spooled))
        except BaseException:
            spooled.close()
            raise
        return spooled

    def _copy(self, spooled: BinaryIO) -> None:
        spooled.seek(0)
        spooled.truncate()
        response = self._taken_first()
        if response is None:
            with translated():
                headers = {"Accept-Encoding": "identity"}
                response = self._session.get(self._url, headers=headers, stream=True, timeout=_TIMEOUTS)
        with closing(response):
            check_status(response)
            if identity(response) != self._identity:
                raise OSError(_CHANGED)
            spooled.writelines(_body(response, None))
        spooled.seek(0)


def open_url(url: str, windows: Sequence[Window] = ()) -> BinaryIO:
    """A seekable file; OSError when it can't be opened. `windows`: all that will be read of it."""
    start, end = windows[0] if windows else (0, FIRST_FETCH)
    ranges = WebRanges(url, (start, min(end, start + FIRST_FETCH)))
    if ranges.has_ranges:
        return cast(BinaryIO, RemoteFile(ranges, windows))
    with closing(ranges):
        return ranges.download()


def first_bytes(url: str, n: int) -> bytes:
    """The first `n` bytes, without fetching the rest."""

    def read() -> bytes:
        with closing(WebRanges(url, (0, n))) as ranges:
            assert ranges.first is not None
            return b"".join(_body(ranges.first, n))

    return persistently(read)


def about(url: str) -> tuple[int | None, str | None]:
    """Size in bytes and etag (or time of change), each None where the server does not tell."""
    with closing(WebRanges(url, (0, 1))) as ranges:
        return ranges.known_size, ranges.etag


def identity(response: requests.Response) -> tuple[str | None, int | None]:
    """The etag (or time of change) and the size that an answer speaks of."""
    headers = response.headers
    etag = headers.get("ETag") or headers.get("Last-Modified")
    if response.status_code == 206:
        found = _RANGE.match(headers.get("Content-Range", ""))
        return etag, int(found[3]) if found else None
    if response.status_code == 416:
        return etag, 0
    length = headers.get("Content-Length", "")
    return etag, int(length) if _LENGTH.fullmatch(length) else None


def check_status(response: requests.Response) -> None:
    """Raises what an HTTP status means for reading; 416, the answer for an empty file, is fine."""
    code = response.status_code
    said = f"{code} {response.reason or ''}".strip()
    if code in _BUSY:
        asked = response.headers.get("Retry-After", "")
        raise TransientError(f"the server says {said}", float(asked) if asked.isdecimal() else None)
    if code in _GONE:
        raise FileNotFoundError(f"the server says {said}")
    if code in _REFUSED:
        raise PermissionError(f"the server refuses it ({said})")
    if code not in (200, 206, 416):
        raise OSError(f"the server says {said}")


def _body(response: requests.Response, n: int | None) -> Iterator[bytes]:
    """At most `n` bytes of an answer's body, undecoded: what is packed on the server stays so."""
    if response.status_code == 416:
        return
    n_left = n if n is not None else 1 << 62
    with translated():
        while n_left > 0 and (part := response.raw.read(min(_PART, n_left), decode_content=False)):
            n_left -= len(part)
            yield part


@contextmanager
def translated() -> Iterator[None]:
    """What `requests` and the urllib3 below it raise, as OSError: TransientError where a retry may help."""
    from urllib3.exceptions import HTTPError, SSLError

    try:
        yield
    except faults.TooManyRedirects:
        raise OSError(f"redirected more than {_MAX_REDIRECTS} times, in circles it seems") from None
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
    inner = _innermost(error)
    strerror = inner.strerror if isinstance(inner, OSError) else None
    said = strerror or str(inner).partition("\n")[0] or type(inner).__name__
    said = said.removeprefix("IncompleteRead(").removesuffix(")") if "IncompleteRead" in said else said
    return f"the connection failed: {said}"[:200]


def _innermost(error: BaseException) -> BaseException:
    while True:
        nested = [getattr(error, "reason", None), *error.args, error.__cause__, error.__context__]
        inner = next((one for one in nested if isinstance(one, BaseException) and one is not error), None)
        if inner is None:
            return error
        error = inner
