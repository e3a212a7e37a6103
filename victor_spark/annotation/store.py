"""The annotation store: one SQLite file that holds pages, labels and every action that made them.

It also holds the server's token and names of annotators, so only its owner can read it.

It is written in WAL mode with synchronous=FULL, so a confirmed action is on disk, also after a power failure;
at human speed the cost of an fsync does not matter. kill -9 loses at most an unconfirmed action, which the
browser sends again.
"""

import json
import os
import secrets
import sqlite3
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from victor_spark.annotation.labels import DEFAULT, Label
from victor_spark.blocks import Int32
from victor_spark.errors import AnnotationError

APPLICATION_ID: Final = 0x56494341  # "VICA"
SCHEMA_VERSION: Final = 1
_PRIVATE: Final = 0o600
_TEXT: Final = ("utf-8", "surrogatepass")

_SCHEMA: Final = Path(__file__).with_suffix(".sql")

Row = sqlite3.Row


class Store:
    """An open store; its one connection is used by one thread at a time."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._lock = threading.RLock()
        self._n_around = 0
        self.labels: tuple[Label, ...] = ()
        self.id = ""
        self.token = ""

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction (or a part of the enclosing one): afterwards all of it is on disk, or, with an
        AnnotationError, nothing.
        """
        with self._lock, _clear_errors(self.path):
            if self._n_around:  # nested: part of the enclosing transaction
                yield self._connection
                return
            self._connection.execute("BEGIN IMMEDIATE")
            self._n_around = 1
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            finally:
                self._n_around = 0
                if self._connection.in_transaction:  # COMMIT was not reached, or failed
                    self._connection.execute("ROLLBACK")

    def rows(self, statement: str, *values: Any) -> list[Row]:
        """The rows of a SELECT; `values` are its parameters, or one dict of named parameters."""
        named = values[0] if len(values) == 1 and isinstance(values[0], dict) else values
        with self._lock, _clear_errors(self.path):
            return self._connection.execute(statement, named).fetchall()

    def row(self, statement: str, *values: Any) -> Row | None:
        """The first row of a SELECT, or None."""
        found = self.rows(statement, *values)
        return found[0] if found else None

    def close(self) -> None:
        """Closes the file; SQLite merges its log into it."""
        with self._lock:
            self._connection.close()


def now() -> str:
    """The current time in the form of the store."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True)
class Content:
    """An imported page: its decoded markup, its canonical HTML, and its blocks as offsets into that."""

    markup: str
    html: str
    start: Int32
    end: Int32

    @property
    def blocks(self) -> Sequence[tuple[int, int]]:
        """(start, end) per block."""
        return list(zip(self.start.tolist(), self.end.tolist(), strict=True))


def content(store: Store, number: int) -> Content:
    """The content of a page; AnnotationError if there is none."""
    row = store.row("SELECT markup, html, blocks FROM content WHERE page = ?", number)
    if row is None:
        raise AnnotationError(f"there is no page {number}", "not_found")
    markup, html, blocks = map(zlib.decompress, row)
    offsets = np.frombuffer(blocks, dtype="<i4").reshape(2, -1)
    return Content(markup.decode(*_TEXT), html.decode(*_TEXT), offsets[0], offsets[1])


def pack(text: str) -> bytes:
    """A text in the form of the store."""
    return zlib.compress(text.encode(*_TEXT))


def remark(store: Store, text: str) -> None:
    """Stores a line that the browser shows."""
    with store.writing() as connection:
        connection.execute("INSERT INTO remark (at, text) VALUES (?, ?)", (now(), text))


def remarks(store: Store, limit: int = 5) -> list[str]:
    """The latest lines, the oldest of them first."""
    rows = store.rows("SELECT text FROM remark ORDER BY id DESC LIMIT ?", limit)
    return [row["text"] for row in reversed(rows)]


def create_or_open(path: Path, labels: Sequence[Label] | None = None) -> Store:
    """The store at `path`, created if there is none, with these labels (None: those of the store).

    Raises AnnotationError for a file that is not a store, for another schema version, for a folder without
    write permission, and for labels that conflict with those of the store.
    """
    store = _opened(path, is_new=not path.exists() or path.stat().st_size == 0)
    try:
        _choose_labels(store, labels)
        store.id = _kept(store, "id", secrets.token_hex(8))
        store.token = _kept(store, "token", secrets.token_urlsafe(18))
    except BaseException:
        store.close()
        raise
    return store


def open_existing(path: Path) -> Store:
    """The store at `path`; AnnotationError if there is none."""
    if not path.is_file():
        raise AnnotationError(f"{path}: no such annotation store", "not_found")
    return create_or_open(path)


def _opened(path: Path, *, is_new: bool) -> Store:
    with _clear_errors(path):
        if is_new:
            with suppress(OSError):  # SQLite's own error is clearer
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _PRIVATE))
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
        try:
            connection.row_factory = sqlite3.Row
            if is_new:
                connection.executescript(
                    f"PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; {_SCHEMA.read_text(encoding='utf-8')}"
                    f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};"
                    "COMMIT;"
                )
            _check_version(connection, path)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            for suffix in ("", "-wal", "-shm", "-journal"):  # readable by the owner only
                with suppress(OSError):  # missing, or of another owner
                    path.with_name(path.name + suffix).chmod(_PRIVATE)
        except BaseException:
            connection.close()
            raise
    return Store(path, connection)


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION_ID:
        raise AnnotationError(f"{path}: a SQLite file, but not an annotation store")
    if version != SCHEMA_VERSION:
        hint = "export it with the victor-spark that made it"
        if version > SCHEMA_VERSION:
            hint = "update victor-spark"
        raise AnnotationError(
            f"{path}: the store has schema version {version}, this victor-spark needs version"
            f" {SCHEMA_VERSION}: {hint}. The store is unchanged."
        )


def _choose_labels(store: Store, labels: Sequence[Label] | None) -> None:
    """Stores the labels; labels can be added, existing ones cannot change."""
    row = store.row("SELECT value FROM setting WHERE name = 'labels'")
    kept = tuple(Label(**label) for label in json.loads(row["value"])) if row else ()
    chosen = tuple(labels) if labels is not None else kept
    if chosen[: len(kept)] != kept:
        if labels is not None and kept[: len(chosen)] == chosen:
            chosen = kept  # fewer were given: those of the store stay
        else:
            shown = (each.name if each.name == each.role else f"{each.name}={each.role}" for each in kept)
            raise AnnotationError(
                f"{store.path}: the store has the labels {', '.join(shown)}; labels can only be added"
            )
    chosen = chosen or DEFAULT
    if chosen != kept:
        written = json.dumps([asdict(label) for label in chosen])
        with store.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO setting VALUES ('labels', ?)", (written,))
    store.labels = chosen


def _kept(store: Store, name: str, first: str) -> str:
    """A setting that never changes once it is stored.

    `id` identifies the store, so that no window sends waiting actions to another one. A constant `token`
    keeps open windows valid when the server is restarted.
    """
    with store.writing() as connection:
        connection.execute("INSERT OR IGNORE INTO setting VALUES (?, ?)", (name, first))
    (row,) = store.rows("SELECT value FROM setting WHERE name = ?", name)
    return str(row["value"])


@contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    """Turns errors of SQLite into one line that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "") or ""
        if name == "SQLITE_FULL" or name.startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN")):
            if name.startswith("SQLITE_CANTOPEN") and not path.parent.is_dir():
                raise AnnotationError(f"{path}: no folder {path.parent}", "not_found") from error
            message = f"{path}: cannot be written: {error}. Is the disk full? Saved actions are safe."
            raise AnnotationError(message, "disk_full") from error
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise AnnotationError(
                f"{path}: another program is writing to it; try again", "store_busy"
            ) from error
        if name in ("SQLITE_NOTADB", "SQLITE_CORRUPT"):
            raise AnnotationError(f"{path}: not an annotation store, or a damaged one ({error})") from error
        if name.startswith("SQLITE_READONLY"):
            raise AnnotationError(f"{path}: no permission to write", "disk_full") from error
        raise
