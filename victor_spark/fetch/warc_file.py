"""The WARC that a fetch writes: taken up where it was left, a clipped last record cut off."""

import base64
import fcntl
import gzip
import hashlib
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final
from uuid import uuid4

from victor_spark.errors import InputError, OutputError
from victor_spark.fetch import exchange
from victor_spark.fetch.exchange import Answer

_PART: Final = 1 << 20
_STATUS: Final = re.compile(rb"HTTP/\S+[ \t]+(\d{3})(?!\d)")
_LINE_END: Final = re.compile(rb"(?<=\n)")


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
            if end == 0:
                self._write_info(software)
        except OSError as error:
            self._file.close()
            raise OutputError(f"{path}: {error.strerror or error}") from error
        except BaseException:
            self._file.close()
            raise

    def _write_info(self, software: str) -> None:
        about = {"software": software, "format": "WARC File Format 1.0", "robots": "obey"}
        named = {"WARC-Filename": self.path.name, "Content-Type": "application/warc-fields"}
        self._file.write(_record("warcinfo", _now(datetime.now(UTC)) | named, _lines(about)))

    def add(self, answer: Answer, facts: Mapping[str, str]) -> None:
        """Writes response, request and metadata of an exchange; OutputError when the disk is full."""
        about = {**_now(answer.at), "WARC-Target-URI": answer.url}
        http = {
            "WARC-Payload-Digest": _digest(answer.body),
            "Content-Type": "application/http; msgtype=response",
        }
        if answer.ip:
            http["WARC-IP-Address"] = answer.ip
        if answer.truncated:
            http["WARC-Truncated"] = answer.truncated
        response = {"WARC-Record-ID": f"<urn:uuid:{uuid4()}>", **about, **http}
        beside = {**about, "WARC-Concurrent-To": response["WARC-Record-ID"]}
        records = (
            _record("response", response, _head(answer) + answer.body),
            _record(
                "request", {**beside, "Content-Type": "application/http; msgtype=request"}, answer.request
            ),
            _record("metadata", {**beside, "Content-Type": "application/warc-fields"}, _lines(facts)),
        )
        try:
            self._file.writelines(records)
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


def _now(at: datetime) -> dict[str, str]:
    return {"WARC-Date": at.strftime("%Y-%m-%dT%H:%M:%SZ")}


def _lines(fields: Mapping[str, str]) -> bytes:
    return "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode("utf-8", "replace")


def _digest(content: bytes) -> str:
    return f"sha1:{base64.b32encode(hashlib.sha1(content, usedforsecurity=False).digest()).decode()}"


def _record(kind: str, fields: Mapping[str, str], block: bytes) -> bytes:
    """A record as a gzip member of its own."""
    every = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{uuid4()}>",
        **fields,
        "WARC-Block-Digest": _digest(block),
        "Content-Length": str(len(block)),
    }
    return gzip.compress(b"WARC/1.0\r\n" + _lines(every) + b"\r\n" + block + b"\r\n\r\n")


def _head(answer: Answer) -> bytes:
    """The answer's head as it was sent, but true of the body as it is kept: no chunks, and the length of
    what there is.
    """
    kept, length = [], b"Content-Length: %d\r\n" % len(answer.body)
    for line in _LINE_END.split(answer.head):
        name, _, value = line.partition(b":")
        name = name.rstrip().lower()
        is_length = name == b"content-length" and value.strip() != b"%d" % len(answer.body)
        moved = is_length or name == b"transfer-encoding"
        kept.append(b"X-Archive-Orig-" + line if moved else line)
        if is_length and length not in kept:
            kept.insert(len(kept) - 1, length)
    return b"".join(kept)


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
    status = _STATUS.match(block)
    if status is None:
        return None
    http = re.split(rb"\r?\n\r?\n", block, maxsplit=1)[0]
    location = next(iter(exchange.values(http, "Location")), None)
    return fields[b"warc-target-uri"].decode("utf-8", "replace"), Fetched(int(status[1]), location)


def _fields(head: bytes) -> dict[bytes, bytes]:
    pairs = (line.partition(b":") for line in head.split(b"\r\n")[1:])
    return {name.strip().lower(): value.strip() for name, _, value in pairs}
