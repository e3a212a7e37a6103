"""The WARC that a fetch writes and resumes: a truncated last record is removed first."""

import base64
import fcntl
import gzip
import hashlib
import os
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final
from uuid import uuid4

from victor_spark.errors import InputError, OutputError
from victor_spark.fetch import exchange
from victor_spark.fetch.exchange import Answer
from victor_spark.warc.compression import CorruptError
from victor_spark.warc.headers import MAX_HEADER, WARC, http_head
from victor_spark.warc.source import Source, SourceError, open_member

_LINE_END: Final = re.compile(rb"(?<=\n)")


@dataclass(frozen=True)
class Fetched:
    """An address that the WARC holds: the status of its response, and where a redirect leads."""

    status: int
    location: str | None


class WarcFile:
    """An open WARC to add to; `known`: the addresses in it, `n_cut`: the bytes removed from its end."""

    def __init__(self, path: Path, software: str) -> None:
        self.path = path
        self._file = _locked(path)
        try:
            self.known, end, size = _scanned(self._file, path)
            self.n_cut = size - end
            self._file.truncate(end)
            self._file.seek(end)
            if end == 0:
                about = {"software": software, "format": "WARC File Format 1.0", "robots": "obey"}
                named = {"WARC-Filename": path.name, "Content-Type": "application/warc-fields"}
                self._file.write(_record("warcinfo", _now(datetime.now(UTC)) | named, _lines(about)))
        except (OSError, SourceError) as error:
            self._file.close()
            raise OutputError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
        except BaseException:
            self._file.close()
            raise

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
    """The response's head as sent, except that it declares the stored body: not chunked, its real length."""
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
    """The addresses that the file holds, where its last complete record ends, and its size."""
    known: dict[str, Fetched] = {}
    end = 0
    source = Source(file)
    source.compression = "gzip"
    while end < source.size:
        try:
            member = open_member(source, end)
            record = member.read()
            after, complete = member.end()
        except CorruptError:
            break
        if not complete or not record.startswith(b"WARC/"):
            break
        end = after
        if found := _fetched(record):
            known[found[0]] = found[1]
    if end == 0 and source.size > 0 and not _begins_like_ours(file):
        raise InputError(f"{path}: not a .warc.gz that can be added to")
    return known, end, source.size


def _begins_like_ours(file: BinaryIO) -> bool:
    """Whether the file begins with an incomplete gzip member: the first record of a killed run."""
    file.seek(0)
    try:
        start = zlib.decompressobj(31).decompress(file.read(1 << 16))
    except zlib.error:
        return False
    return b"WARC/1.".startswith(start[:7]) or start.startswith(b"WARC/1.")


def _fetched(record: bytes) -> tuple[str, Fetched] | None:
    """The address and the response of a response record."""
    header = WARC.parse(record[:MAX_HEADER])
    if header is None or header.fields.get("warc-type") != "response":
        return None
    url, block = header.fields.get("warc-target-uri"), record[header.length :]
    head = http_head(block)
    if url is None or head is None or head.status is None:
        return None
    location = next(iter(exchange.values(block[: head.length], "Location")), None)
    return url, Fetched(head.status, location)
