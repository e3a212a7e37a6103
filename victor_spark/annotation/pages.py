"""Pages of a store: how they are added, and what is stored of each."""

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from victor_spark.annotation.labels import encode
from victor_spark.annotation.store import Store, now
from victor_spark.blocks import Int32, Page
from victor_spark.errors import AnnotationError
from victor_spark.evaluation.gold import site_of


@dataclass(frozen=True)
class Prelabels:
    """A model's labels of a page, the uncertain blocks, the uncertainty of the page, and the marginal
    probabilities of LABELS for each block, in percent, one byte each."""

    model: str
    labels: str
    uncertain: tuple[int, ...]
    uncertainty: float
    marginals: bytes


Prelabel = Callable[[Page], Prelabels]


@dataclass
class Added:
    """Counts of the pages of an input: added, known, without text, and dropped by status."""

    n_added: int = 0
    n_known: int = 0
    n_without_blocks: int = 0
    dropped: dict[str, int] = field(default_factory=dict)

    def in_words(self) -> str:
        """One line for the log and the browser."""
        parts = [f"{self.n_added} page{'s' * (self.n_added != 1)} added"]
        if self.n_known:
            parts.append(f"{self.n_known} already in the store")
        if self.n_without_blocks:
            parts.append(f"{self.n_without_blocks} without a text block skipped")
        if self.dropped:
            counts = ", ".join(f"{n} {status}" for status, n in sorted(self.dropped.items()))
            parts.append(f"skipped by status: {counts}")
        return ", ".join(parts)


@dataclass(frozen=True)
class Source:
    """The source of a page."""

    name: str
    offset: int = 0
    record_id: str | None = None
    url: str | None = None


def add(
    connection: sqlite3.Connection, page: Page, markup: str, source: Source, *, gold: str | None = None
) -> int | None:
    """Adds a page and returns its number; None if the store has a page with the same content."""
    digest = hashlib.sha256(page.html.encode("utf-8", "surrogatepass")).hexdigest()
    if connection.execute("SELECT 1 FROM page WHERE hash = ?", (digest,)).fetchone():
        return None
    url = source.url
    host = _host(url)
    values = (
        digest, source.record_id, url, host, site_of(host, url, markup) or source.name, page.title,
        page.language, source.name, source.offset, len(page.blocks), int(digest[:13], 16) / 16**13,
        int(gold is not None), gold, now(),
    )  # fmt: skip
    number = connection.execute(
        "INSERT INTO page (hash, record_id, url, host, site, title, language, source, source_offset, "
        f"n_blocks, draw, practice, gold, added) VALUES ({', '.join('?' * len(values))})",
        values,
    ).lastrowid
    offsets = np.stack([page.blocks.start, page.blocks.end]).astype("<i4")
    connection.execute(
        "INSERT INTO content VALUES (?, ?, ?, ?)",
        (number, _packed(markup), _packed(page.html), zlib.compress(offsets.tobytes())),
    )
    return number


def _host(url: str | None) -> str | None:
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    return parts.hostname if parts.scheme in ("http", "https") else None


def set_prelabels(connection: sqlite3.Connection, number: int, given: Prelabels) -> None:
    """Stores a model's labels of a page, replacing those of an older model."""
    uncertain = json.dumps(given.uncertain)
    connection.execute(
        "INSERT OR REPLACE INTO prelabel VALUES (?, ?, ?, ?, ?, ?)",
        (number, given.model, given.labels, uncertain, given.uncertainty, given.marginals),
    )


def as_prelabels(model: str, probabilities: Any, labels: Iterable[int], words: Any) -> Prelabels:
    """A model's scores as prelabels; a block is uncertain if its P(content) is between .25 and .75.

    The page's uncertainty is the mean of 1 - |2 P(content) - 1| over its words, 0 … 1.
    """
    content = 1.0 - probabilities[:, 2]
    doubt = 1.0 - np.abs(2.0 * content - 1.0)
    weights = np.asarray(words, dtype=float)
    total = float(weights.sum())
    uncertainty = float((doubt * weights).sum() / total) if total else 0.0
    uncertain = tuple(np.flatnonzero(doubt > 0.5).tolist())
    percent = np.rint(100.0 * probabilities).astype(np.uint8).tobytes()
    return Prelabels(model, encode(labels), uncertain, uncertainty, percent)


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
    offsets = np.frombuffer(zlib.decompress(row["blocks"]), dtype="<i4").reshape(2, -1)
    return Content(_unpacked(row["markup"]), _unpacked(row["html"]), offsets[0], offsets[1])


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


def _unpacked(stored: bytes) -> str:
    return zlib.decompress(stored).decode("utf-8", "surrogatepass")


def remark(store: Store, text: str) -> None:
    """Stores a line that the browser shows."""
    with store.writing() as connection:
        connection.execute("INSERT INTO remark (at, text) VALUES (?, ?)", (now(), text))


def remarks(store: Store, limit: int = 5) -> list[str]:
    """The latest lines, the oldest of them first."""
    rows = store.rows("SELECT text FROM remark ORDER BY id DESC LIMIT ?", limit)
    return [row["text"] for row in reversed(rows)]
