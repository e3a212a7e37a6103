"""The WARC that a fetch writes: taken up where it was left, a clipped last record cut off."""

import fcntl
import io
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from victor_spark.errors import InputError, OutputError
from victor_spark.fetch.exchange import Answer

_PART: Final = 1 << 20


@dataclass(frozen=True)
class Fetched:
    """What a WARC says of an address: the status of its answer, and where a redirect leads."""

    status: int
    location: str | None


class WarcFile:
    """An open WARC to add to; `known` is what it held already, `n_cut` the bytes of a clipped record cut
    off.
    """

    def __init__(self, path: Path, software: str) -> None:
        self.path = path
        self._file = _locked(path)
        try:
            self.known, end, size = _scanned(self._file, path)
            self.n_cut = size - end
            self._file.truncate(end)
            self._file.seek(end)
            self._writer = WARCWriter(self._file, gzip=True)
            if end == 0:
                self._write_info(software)
        except OSError as error:
            self._file.close()
            raise OutputError(f"{path}: {error.strerror or error}") from error
        except BaseException:
            self._file.close()
            raise

    def _write_info(self, software: str) -> None:
        fields = {"software": software, "format": "WARC File Format 1.0", "robots": "obey"}
        self._write(self._writer.create_warcinfo_record(self.path.name, fields))

    def _write(self, record: Any) -> None:
        self._writer.write_record(record)
        record.raw_stream.close()  # warcio's own temporary file

    def add(self, answer: Answer, facts: Mapping[str, str]) -> None:
        """Writes response, request and metadata of an exchange; OutputError when the disk is full."""
        date = answer.at.strftime("%Y-%m-%dT%H:%M:%SZ")
        extra = {"WARC-Date": date} | ({"WARC-IP-Address": answer.ip} if answer.ip else {})
        truncated = {"WARC-Truncated": answer.truncated} if answer.truncated else {}
        response = self._writer.create_warc_record(
            answer.url,
            "response",
            payload=io.BytesIO(answer.body),
            length=len(answer.body),
            http_headers=StatusAndHeaders(
                f"{answer.status} {answer.reason}".strip(), _head(answer), answer.version
            ),
            warc_headers_dict={**extra, **truncated},
        )
        beside = {"WARC-Date": date, "WARC-Concurrent-To": response.rec_headers.get_header("WARC-Record-ID")}
        request = self._writer.create_warc_record(
            answer.url,
            "request",
            payload=io.BytesIO(b""),
            http_headers=StatusAndHeaders(
                f"GET {_target(answer.url)} HTTP/1.1", list(answer.request_head), is_http_request=True
            ),
            warc_headers_dict=beside,
        )
        said = "".join(f"{name}: {value}\r\n" for name, value in facts.items()).encode()
        metadata = self._writer.create_warc_record(
            answer.url,
            "metadata",
            payload=io.BytesIO(said),
            length=len(said),
            warc_content_type="application/warc-fields",
            warc_headers_dict=beside,
        )
        try:
            for record in (response, request, metadata):
                self._write(record)
            self._file.flush()
        except OSError as error:
            raise OutputError(f"{self.path}: {error.strerror or error}; run again to go on") from error
        self.known[answer.url] = Fetched(answer.status, answer.header("Location"))

    def close(self) -> None:
        """Closes the file, its content on the disk."""
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise OutputError(f"{self.path}: {error.strerror or error}; run again to go on") from error
        finally:
            self._file.close()


def _target(url: str) -> str:
    from yarl import URL

    return URL(url, encoded=True).raw_path_qs or "/"


def _head(answer: Answer) -> list[tuple[str, str]]:
    """The answer's head, true of the body as it is kept: no chunks, and the length of what there is."""
    kept = []
    for name, value in answer.head:
        lower = name.lower()
        is_length = lower == "content-length" and value.strip() != str(len(answer.body))
        moved = lower == "transfer-encoding" or is_length
        kept.append((f"X-Archive-Orig-{name}" if moved else name, value))
        if is_length:
            kept.append((name, str(len(answer.body))))
    return kept


def _locked(path: Path) -> BinaryIO:
    try:
        file = open(path, "r+b" if path.exists() else "x+b")  # noqa: SIM115 - open as long as the WarcFile
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror or error}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise OutputError(f"{path}: another fetch is writing to it") from error
    return file


def _scanned(file: BinaryIO, path: Path) -> tuple[dict[str, Fetched], int, int]:
    """What the file holds, where its last whole record ends, and its size."""
    known: dict[str, Fetched] = {}
    end = 0
    size = file.seek(0, os.SEEK_END)
    for after, record in _records(file):
        if not record.startswith(b"WARC/"):
            break
        end = after
        if found := _fetched(record):
            known[found[0]] = found[1]
    if end == 0 and size > 0 and not _begins_like_ours(file):
        raise InputError(f"{path}: not a .warc.gz that can be added to")
    return known, end, size


def _begins_like_ours(file: BinaryIO) -> bool:
    """Whether the file begins with a gzip member that is cut off before its end: a killed run's first
    record.
    """
    file.seek(0)
    try:
        start = zlib.decompressobj(31).decompress(file.read(1 << 16))
    except zlib.error:
        return False
    return b"WARC/1.".startswith(start[:7]) or start.startswith(b"WARC/1.")


def _records(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """(offset after it, its content) of each whole gzip member from the start."""
    file.seek(0)
    position, buffer = 0, b""
    while True:
        member = zlib.decompressobj(31)
        content = bytearray()
        while not member.eof:
            buffer = buffer or file.read(_PART)
            if not buffer:
                return
            try:
                content += member.decompress(buffer)
            except zlib.error:
                return
            position += len(buffer) - len(member.unused_data)
            buffer = member.unused_data
        yield position, bytes(content)


def _fetched(record: bytes) -> tuple[str, Fetched] | None:
    """The address and the answer of a response record."""
    head, _, block = record.partition(b"\r\n\r\n")
    fields = _fields(head)
    if fields.get(b"warc-type") != b"response" or b"warc-target-uri" not in fields:
        return None
    http, _, _ = block.partition(b"\r\n\r\n")
    words = http.split(b"\r\n", 1)[0].split()
    if len(words) < 2 or not words[1].isdigit():
        return None
    location = _fields(http).get(b"location")
    url = fields[b"warc-target-uri"].decode("utf-8", "replace")
    return url, Fetched(int(words[1]), location.decode("utf-8", "replace") if location else None)


def _fields(head: bytes) -> dict[bytes, bytes]:
    pairs = (line.partition(b":") for line in head.split(b"\r\n")[1:])
    return {name.strip().lower(): value.strip() for name, _, value in pairs}
