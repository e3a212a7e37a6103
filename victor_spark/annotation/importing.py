"""Adds pages to a store: those of the inputs, practice pages; and the initial labels by a model."""

import hashlib
import json
import os
import re
import zlib
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np

from victor_spark import pipeline, preparation
from victor_spark.annotation import annotations
from victor_spark.annotation.store import Store, content, now, pack, remark, roles
from victor_spark.blocks import LABELS, OTHER, Page, labels
from victor_spark.errors import AnnotationError, InputError, ShardError
from victor_spark.evaluation.gold import site_of
from victor_spark.extractors import load
from victor_spark.hosts import host_name
from victor_spark.html import charset
from victor_spark.html.canonical import canonical
from victor_spark.html.segment import segment
from victor_spark.langid.pages import PageIdentifier
from victor_spark.logs import erase, log, reporter, track
from victor_spark.model.decision import n_words
from victor_spark.settings import Settings
from victor_spark.warc import file_types, inputs, reading, storage
from victor_spark.warc.records import Record
from victor_spark.warc.shard import Shard

_ADDED, _KNOWN, _WITHOUT_BLOCKS = "added", "already in the store", "without a text block skipped"
_PAGES_PER_TRANSACTION: Final = 50
_PRACTICE_PAGES: Final = Path(__file__).resolve().parent / "practice_pages"
_GOLD: Final = re.compile(r'<[^>]*\sdata-gold="([a-z]+)"(?:[^>]*\sdata-why="([^"]*)")?')


@dataclass(frozen=True)
class Prelabeller:
    """A loaded model: its language identification; if prelabels are wanted, its name and those of a page.

    `prelabel` gives the columns of the store's table `prelabel`, without the number of the page.
    """

    identify: PageIdentifier
    name: str | None = None
    prelabel: Callable[[Page], tuple[Any, ...]] | None = None


def prelabeller(settings: Settings | None) -> Prelabeller:
    """The cleaner of these settings as a source of prelabels; None: without prelabels.

    A block is uncertain if its P(content) is between .25 and .75. The uncertainty of a page is the mean of
    1 - |2 P(content) - 1| over its words, 0 … 1.
    """
    if settings is None:
        return Prelabeller(pipeline.identifier(pipeline.language_models()))
    models = pipeline.models(settings)
    cleaner = load(settings.cleaner, models)
    digest = hashlib.sha256(b"".join(models[name] for name in sorted(models))).hexdigest()
    name = f"{settings.model or settings.cleaner} {digest[:8]}"

    def prelabel(page: Page) -> tuple[Any, ...]:
        scores = cleaner(page)
        doubt = 1.0 - np.abs(1.0 - 2.0 * scores.probabilities[:, OTHER])
        uncertain = json.dumps(np.flatnonzero(doubt > 0.5).tolist())
        words = n_words(page.blocks)
        uncertainty = float((doubt * words).sum() / words.sum()) if words.any() else 0.0
        percent = np.rint(100.0 * scores.probabilities).astype(np.uint8).tobytes()
        return name, "".join(map(str, labels(scores, scores.kept).tolist())), uncertain, uncertainty, percent

    return Prelabeller(pipeline.identifier(models), name, prelabel)


def renew(store: Store, prelabeller: Prelabeller) -> int:
    """Replaces the prelabels of other models on pages that no annotator has opened; returns their number."""
    if prelabeller.prelabel is None:
        return 0
    rows = store.rows(
        "SELECT page.id, page.url, page.n_blocks FROM page LEFT JOIN prelabel ON prelabel.page = page.id"
        " WHERE NOT practice AND coalesce(prelabel.model, '') != ?"
        " AND NOT EXISTS (SELECT 1 FROM annotation WHERE annotation.page = page.id) ORDER BY page.id",
        prelabeller.name,
    )
    n_renewed = 0
    for row in track(rows, "initial labels", len(rows)):
        page, _ = preparation.prepare(content(store, row["id"]).markup, prelabeller.identify, row["url"])
        # A page that another version of the segmentation imported keeps its offsets and labels.
        if len(page.blocks) == row["n_blocks"]:
            _set_prelabels(store, row["id"], prelabeller.prelabel(page))
            n_renewed += 1
    return n_renewed


def _set_prelabels(store: Store, number: int, prelabel: tuple[Any, ...]) -> None:
    with store.writing() as connection:
        connection.execute("INSERT OR REPLACE INTO prelabel VALUES (?, ?, ?, ?, ?, ?)", (number, *prelabel))


def add_inputs(store: Store, names: Sequence[str], prelabeller: Prelabeller, *, limit: int | None) -> None:
    """Adds the pages of these inputs (of the first `limit` records) and stores a remark with the counts.

    Raises InputError for an input that is missing or holds no page, or if no shard can be read. If a shard
    cannot be read to its end, the reason is printed.
    """
    shards = inputs.resolve(names)
    counts = Counter[str]()
    failures: list[ShardError] = []

    def read() -> Iterator[Record]:
        for shard in shards:
            try:
                yield from reading.read(shard)
            except ShardError as error:
                failures.append(error)

    found, report = islice(read(), limit), reporter("reading records", limit or 0)
    while batch := list(islice(found, _PAGES_PER_TRANSACTION)):
        with store.writing():
            counts.update(_add_record(store, record, prelabeller) for record in batch)
        report(counts.total(), "")
    erase()
    shown = ", ".join(map(_shown, shards[:3])) + (f" and {n} more" if (n := len(shards) - 3) > 0 else "")
    remark(store, f"{shown}: {_in_words(counts)}")
    log(_in_words(counts))
    for failure in failures:
        if not counts:
            raise InputError(str(failure)) from failure
        log(str(failure))


def _shown(shard: Shard) -> str:
    """The name of a shard for people: that of a local file relative to the working directory."""
    with suppress(ValueError):  # another drive of Windows
        return shard.filename if storage.scheme(shard.path) else os.path.relpath(shard.path)
    return shard.filename


def _in_words(counts: Counter[str]) -> str:
    """Pages added and left out, in one line for the log and the browser."""
    parts = [f"{counts[_ADDED]} page{'s' * (counts[_ADDED] != 1)} added"]
    parts += [f"{counts[outcome]} {outcome}" for outcome in (_KNOWN, _WITHOUT_BLOCKS) if counts[outcome]]
    if dropped := sorted(counts.keys() - {_ADDED, _KNOWN, _WITHOUT_BLOCKS}):
        parts.append("skipped by status: " + ", ".join(f"{counts[status]} {status}" for status in dropped))
    return ", ".join(parts)


def is_list_of_pages(name: str) -> bool:
    """Whether a file lists addresses of pages: its first line is a web address that names no archive."""
    try:
        if storage.scheme(name) or file_types.by_name(name) or not os.path.isfile(name):
            return False
        listed = inputs.list_entries(name)
    except (OSError, InputError):
        return False
    address = listed[0][1] if listed else ""
    return storage.scheme(address) in ("http", "https") and file_types.by_name(address) not in ("warc", "arc")


def _add_record(store: Store, record: Record, prelabeller: Prelabeller) -> str:
    """Adds the page of a record; returns the outcome, for a dropped record its status."""
    if record.status is not None or record.payload is None:
        return record.status or "error"
    markup, _ = charset.decode(record.payload, record.http_charset)
    page, _ = preparation.prepare(markup, prelabeller.identify, record.url)
    if not len(page.blocks):
        return _WITHOUT_BLOCKS
    offset = record.warc_record_offset
    number = _add(store, page, markup, record.warc_filename, source_offset=offset, record_id=record.id)
    if number is not None and prelabeller.prelabel is not None:
        _set_prelabels(store, number, prelabeller.prelabel(page))
    return _KNOWN if number is None else _ADDED


def add_practice(store: Store) -> None:
    """Adds the practice pages: written by us, with the correct label of each block and its reason."""
    for path in sorted(_PRACTICE_PAGES.glob("*.html")):
        markup = path.read_text(encoding="utf-8")
        document = canonical(markup)
        blocks = segment(document.html, document.elements)
        page = Page(document.html, blocks, title=blocks.title)
        tags = list(_GOLD.finditer(document.html))
        places = [tag.start() for tag in tags]
        before = (tags[bisect(places, start) - 1] for start in blocks.start.tolist())
        gold = [(LABELS.index(tag[1]), tag[2] or "") for tag in before]  # a block has those of the last tag
        _add(store, page, markup, f"practice/{path.name}", practice=1, gold=json.dumps(gold))


def _add(store: Store, page: Page, markup: str, source: str, **more: Any) -> int | None:
    """Adds a page, `more` are other columns; its number, or None if the same content is in the store."""
    digest = hashlib.sha256(page.html.encode("utf-8", "surrogatepass")).hexdigest()
    values = {
        "hash": digest,
        "url": page.url,
        "host": host_name(page.url),
        "site": site_of(None, page.url, markup) or source,
        "title": page.title,
        "language": page.language,
        "source": source,
        "source_offset": 0,
        "n_blocks": len(page.blocks),
        "draw": int(digest[:13], 16) / 16**13,
        "added": now(),
        **more,
    }
    offsets = np.stack([page.blocks.start, page.blocks.end]).astype("<i4")
    with store.writing() as connection:
        if store.row("SELECT 1 FROM page WHERE hash = ?", digest):
            return None
        number = connection.execute(
            f"INSERT INTO page ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
            tuple(values.values()),
        ).lastrowid
        packed = (pack(markup), pack(page.html), zlib.compress(offsets.tobytes()))
        connection.execute("INSERT INTO content VALUES (?, ?, ?, ?)", (number, *packed))
    return number


def check_practice(store: Store, number: int, name: Any) -> dict[str, Any]:
    """The annotator's labels of a practice page compared with the correct ones."""
    row = annotations.open_page(store, number, name)
    page = annotations.page_row(store, number)
    if not page["practice"]:
        raise AnnotationError("only practice pages can be checked")
    gold = json.loads(page["gold"])
    own = list(map(int, row["labels"]))
    wrong = np.flatnonzero(roles(store, row["labels"]) != [label for label, _ in gold]).tolist()
    return {
        "n_right": page["n_blocks"] - len(wrong),
        "n_wrong": len(wrong),
        "n_blocks": page["n_blocks"],
        "wrong": [{"block": b, "given": own[b], "gold": gold[b][0], "why": gold[b][1]} for b in wrong],
    }
