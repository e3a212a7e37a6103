"""The WARC that a fetch writes and resumes: a truncated last record is removed first."""

import base64
import fcntl
import gzip
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final
from uuid import uuid4

from victor_spark import resources
from victor_spark.errors import InputError, OutputError
from victor_spark.fetch.exchange import Answer
from victor_spark.warc.compression import CorruptError, inflated_bytes
from victor_spark.warc.headers import MAX_HEADER, WARC, decoded, http_head
from victor_spark.warc.source import END, Member, Source


@dataclass(frozen=True)
class Fetched:
    """An address that the WARC holds: the status of its response, and where a redirect leads."""

    status: int
    location: str | None


@dataclass(frozen=True)
class WarcFile:
    """An open WARC that records are added to; `known`: its addresses, `n_cut`: bytes removed from its end."""

    path: Path
    file: BinaryIO
    known: dict[str, Fetched]
    n_cut: int

    def add(self, answer: Answer, facts: Mapping[str, str]) -> None:
        """Writes response, request and metadata of an exchange; OutputError when the disk is full."""
        about = {"WARC-Target-URI": answer.url}
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
        asked = {**beside, "Content-Type": "application/http; msgtype=request"}
        noted = {**beside, "Content-Type": "application/warc-fields"}
        records = (
            _record("response", answer.at, response, answer.head + answer.body),
            _record("request", answer.at, asked, answer.request),
            _record("metadata", answer.at, noted, _lines(facts)),
        )
        with resources.written(self.path):
            self.file.writelines(records)
            self.file.flush()
        self.known[answer.url] = Fetched(answer.status, answer.header("Location"))


@contextmanager
def opened(path: Path, software: str) -> Iterator[WarcFile]:
    """Opens the WARC at `path`, or creates it; when the context ends, all of it is on disk.

    Raises OutputError for a file that can't be written, InputError for one that is no WARC.
    """
    with resources.written(path), ExitStack() as opening:
        file = opening.enter_context(path.open("a+b"))
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise OutputError(f"{path}: another fetch is writing to it") from error
        known, end, size = _scanned(file, path)
        file.truncate(end)
        if end == 0:
            about = {"software": software, "format": "WARC File Format 1.0", "robots": "obey"}
            named = {"WARC-Filename": path.name, "Content-Type": "application/warc-fields"}
            file.write(_record("warcinfo", datetime.now(UTC), named, _lines(about)))
        opening.pop_all()
    try:
        yield WarcFile(path, file, known, size - end)
    finally:
        with resources.written(path), file:
            file.flush()
            os.fsync(file.fileno())


def _lines(fields: Mapping[str, str]) -> bytes:
    return "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode("utf-8", "replace")


def _digest(content: bytes) -> str:
    return f"sha1:{base64.b32encode(hashlib.sha1(content, usedforsecurity=False).digest()).decode()}"


def _record(kind: str, at: datetime, fields: Mapping[str, str], block: bytes) -> bytes:
    """A record as a gzip member of its own."""
    every = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{uuid4()}>",
        "WARC-Date": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        **fields,
        "WARC-Block-Digest": _digest(block),
        "Content-Length": str(len(block)),
    }
    return gzip.compress(b"WARC/1.0\r\n" + _lines(every) + b"\r\n" + block + b"\r\n\r\n")


def _scanned(file: BinaryIO, path: Path) -> tuple[dict[str, Fetched], int, int]:
    """The addresses that the file holds, where its last complete record ends, and its size."""
    known: dict[str, Fetched] = {}
    end = 0
    source = Source(file)
    source.compression = "gzip"
    while end < source.size:
        try:
            member = Member(source, end)
            record = member.read_at(0, END)
            after, complete = member.end()
        except CorruptError:
            break
        if not complete or not record.startswith(b"WARC/"):
            break
        end = after
        if found := _fetched(record):
            known[found[0]] = found[1]
    start = inflated_bytes(source.read_at(0, 1 << 16), "gzip", 7)
    # Nothing, or the beginning of a record: a fetch was killed in its first one.
    is_ours = start.error is None and b"WARC/1.".startswith(start.content)
    if end == 0 and not is_ours:
        raise InputError(f"{path}: not a .warc.gz file; choose another --output")
    return known, end, source.size


def _fetched(record: bytes) -> tuple[str, Fetched] | None:
    """The address and the response of a response record."""
    header = WARC.parse(record[:MAX_HEADER])
    if header is None or header.fields.get("warc-type") != "response":
        return None
    url, block = header.fields.get("warc-target-uri"), record[header.length :]
    head = http_head(block)
    if url is None or head is None or head.status is None:
        return None
    location = _LOCATION.search(block, 0, head.length)
    return url, Fetched(head.status, None if location is None else decoded(location[1].strip()))


_LOCATION: Final = re.compile(rb"\nlocation[ \t]*:((?:[^\n]|\n[ \t])*)", re.IGNORECASE)
