"""The annotation store: one SQLite file that holds pages, labels and every action that made them.

It also holds the server's token and names of annotators, so only its owner can read it.
It is written in WAL mode with synchronous=FULL, so a confirmed action is on disk, also after a power failure;
at human speed an fsync costs little. kill -9 loses at most an action that the browser sends again.

The labels of a page are a string, one digit per block: the number of a label of the store.
"""

import json
import os
import re
import secrets
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import numpy as np

from victor_spark.blocks import LABELS, OTHER, Int32, UInt8
from victor_spark.errors import AnnotationError, UsageError

APPLICATION_ID: Final = 0x56494341  # "VICA"
SCHEMA_VERSION: Final = 2
_PRIVATE: Final = 0o600
_TEXT: Final = ("utf-8", "surrogatepass")

_SCHEMA: Final = Path(__file__).with_suffix(".sql")
_GIVEN: Final = """
CREATE TEMP VIEW given AS SELECT annotation.*, annotator.name, page.practice FROM annotation
JOIN annotator ON annotator.id = annotation.annotator JOIN page ON page.id = annotation.page
"""
"""The annotations, with the name of the annotator and whether the page is for practice."""

Row = sqlite3.Row
BLANK: Final = str(OTHER)
"""The digit that stores a block without a label."""
Runs = list[list[int]]
"""[[first, last, label], …]: blocks first to last, inclusive, have this label."""

# Colours that are distinct for all kinds of colour vision (Okabe and Ito 2008); "other" is grey.
_COLOURS: Final = (
    "#b45309", "#0072b2", "#6b7280", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7c3aed", "#111827"
)  # fmt: skip
_ROLES: Final = f"{', '.join(LABELS[:-1])} or {LABELS[-1]}"
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,23}")


@dataclass(frozen=True)
class Label:
    """A label of annotators, and the one of LABELS that replaces it in the export."""

    name: str
    role: str
    key: str
    colour: str


DEFAULT: Final = tuple(Label(name, name, str(i + 1), _COLOURS[i]) for i, name in enumerate(LABELS))


def parse_labels(words: Sequence[str]) -> tuple[Label, ...]:
    """The default labels and those of `--label NAME=ROLE`; UsageError if one is invalid."""
    labels = list(DEFAULT)
    for word in words:
        name, is_pair, role = word.partition("=")
        if not is_pair or not _NAME.fullmatch(name):
            raise UsageError(
                f"--label {word}: expected NAME=ROLE, NAME of at most 24 of a-z, 0-9, _, -; a-z first"
            )
        if role not in LABELS:
            raise UsageError(f"--label {word}: the role {role!r} must be {_ROLES}")
        if any(label.name == name for label in labels):
            raise UsageError(f"--label {word}: the label {name} exists")
        number = len(labels)
        if number >= len(_COLOURS):
            raise UsageError(f"at most {len(_COLOURS)} labels")
        labels.append(Label(name, role, str(number + 1), _COLOURS[number]))
    return tuple(labels)


def runs_of(labels: str, blocks: Iterable[int]) -> Runs:
    """The labels of these blocks (ascending) as runs."""
    groups = groupby(enumerate(blocks), key=lambda pair: (pair[1] - pair[0], labels[pair[1]]))
    members = [[block for _, block in group] for _, group in groups]
    return [[of_run[0], of_run[-1], int(labels[of_run[0]])] for of_run in members]


def apply(labels: str, runs: Runs) -> str:
    """The label string after these runs are applied."""
    for first, last, label in runs:
        labels = labels[:first] + str(label) * (last - first + 1) + labels[last + 1 :]
    return labels


def differing(labels: str, others: str) -> list[int]:
    """The blocks that two label strings of one page label differently."""
    return [block for block, (a, b) in enumerate(zip(labels, others, strict=True)) if a != b]


def spans(blocks: Sequence[int]) -> list[list[int]]:
    """Ascending block numbers as [[first, last], …]."""
    return [run[:2] for run in runs_of("0" * (max(blocks, default=0) + 1), blocks)]


def checked_runs(runs: Any, label: Any, *, n_blocks: int, n_labels: int) -> Runs:
    """The runs that a browser sent, with the label; AnnotationError unless they are within the page."""
    if type(label) is not int or not 0 <= label < n_labels:
        raise AnnotationError(f"there is no label {label!r}")
    if not isinstance(runs, list) or not runs or len(runs) > max(n_blocks, 1):
        raise AnnotationError("runs must be a list of [first, last]")
    checked = []
    for run in runs:
        if not isinstance(run, list) or len(run) != 2 or any(type(number) is not int for number in run):
            raise AnnotationError("runs must be a list of [first, last]")
        first, last = sorted(run)
        if first < 0 or last >= n_blocks:
            raise AnnotationError(f"the page has the blocks 0 to {n_blocks - 1}, not {first} to {last}")
        checked.append([first, last, label])
    if sum(last - first + 1 for first, last, _ in checked) > n_blocks:
        raise AnnotationError("runs overlap")
    return checked


class Store:
    """An open store; its one connection is used by one thread at a time."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection
        self._lock = threading.RLock()
        self.labels: tuple[Label, ...] = ()
        self.id = self.token = ""

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction, or a part of the enclosing one: all of it is stored, or nothing after an error."""
        with self._lock, _clear_errors(self.path):
            if self._connection.in_transaction:  # nested: part of the enclosing transaction
                yield self._connection
                return
            self._connection.execute("BEGIN IMMEDIATE")
            with self._connection:  # commits; after an error, also that of COMMIT, rolls back
                yield self._connection

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


def roles(store: Store, labels: str) -> UInt8:
    """Labels of the store as the three labels of models."""
    role_of = np.array([LABELS.index(label.role) for label in store.labels], dtype=np.uint8)
    return role_of[np.array(list(labels), dtype=np.intp)]


def remark(store: Store, text: str) -> None:
    """Stores a line that the browser shows."""
    with store.writing() as connection:
        connection.execute("INSERT INTO remark (at, text) VALUES (?, ?)", (now(), text))


def remarks(store: Store) -> list[str]:
    """The latest lines, the oldest of them first."""
    rows = store.rows("SELECT text FROM remark ORDER BY id DESC LIMIT 5")
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
            connection.execute(_GIVEN)
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
        earlier = "it was made by an earlier version: export it with that one"
        hint = "update victor-spark" if version > SCHEMA_VERSION else earlier
        raise AnnotationError(
            f"{path}: the store has schema version {version}, this victor-spark needs version"
            f" {SCHEMA_VERSION}: {hint}. The store is unchanged."
        )


def _choose_labels(store: Store, labels: Sequence[Label] | None) -> None:
    """Stores the labels; labels can be added, existing ones cannot change."""
    row = store.row("SELECT value FROM setting WHERE name = 'labels'")
    kept = tuple(Label(**label) for label in json.loads(row["value"])) if row else ()
    given = tuple(labels or ())
    chosen = max(given, kept, key=len) or DEFAULT  # where fewer are given, those of the store stay
    if chosen[: len(kept)] != kept or chosen[: len(given)] != given:
        shown = (each.name if each.name == each.role else f"{each.name}={each.role}" for each in kept)
        raise AnnotationError(
            f"{store.path}: the store has the labels {', '.join(shown)}; labels can only be added"
        )
    if chosen != kept:
        written = json.dumps([asdict(label) for label in chosen])
        with store.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO setting VALUES ('labels', ?)", (written,))
    store.labels = chosen


def _kept(store: Store, name: str, first: str) -> str:
    """A setting that never changes after it is stored.

    `id` identifies the store, so that no window sends waiting actions to another one. A constant `token`
    keeps open windows valid when the server is restarted.
    """
    with store.writing() as connection:
        connection.execute("INSERT OR IGNORE INTO setting VALUES (?, ?)", (name, first))
    (row,) = store.rows("SELECT value FROM setting WHERE name = ?", name)
    return str(row["value"])


_FAILURES: Final = (
    (("SQLITE_BUSY", "SQLITE_LOCKED"), "another program is writing to it; try again", "store_busy"),
    (("SQLITE_NOTADB", "SQLITE_CORRUPT"), "not an annotation store, or a damaged one ({})", "bad_request"),
    (("SQLITE_READONLY",), "no permission to write", "disk_full"),
    (("SQLITE_CANTOPEN",), "is a folder, or no file can be created there", "disk_full"),
    (
        ("SQLITE_FULL", "SQLITE_IOERR"),
        "cannot be written: {}. Is the disk full? Saved actions are safe.",
        "disk_full",
    ),
)
"""The beginnings of SQLite's names of errors, what each means, and its code."""


@contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    """Turns errors of SQLite into one line that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        if not path.parent.is_dir():
            raise AnnotationError(f"{path}: no folder {path.parent}", "not_found") from error
        name = getattr(error, "sqlite_errorname", "") or ""
        for names, meaning, code in _FAILURES:
            if name.startswith(names):
                raise AnnotationError(f"{path}: {meaning.format(error)}", code) from error
        raise
