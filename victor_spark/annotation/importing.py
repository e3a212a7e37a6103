"""How pages enter a store: inputs, practice pages, and the labels of a model."""

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from victor_spark import pipeline, preparation
from victor_spark.annotation import annotations, pages
from victor_spark.annotation.labels import DIGITS, decode, differing
from victor_spark.annotation.pages import Added, Prelabel, Source
from victor_spark.annotation.store import Store
from victor_spark.blocks import LABELS, OTHER, Page, labels
from victor_spark.errors import AnnotationError, InputError, ShardError
from victor_spark.extractors import load
from victor_spark.extractors.victor import reads_language
from victor_spark.html import charset
from victor_spark.html.canonical import canonical
from victor_spark.html.segment import segment
from victor_spark.langid.pages import Linguist, linguist
from victor_spark.model.decision import n_words
from victor_spark.pipeline import PROFILES, Settings
from victor_spark.warc import file_types, inputs, reading, storage
from victor_spark.warc.records import Record
from victor_spark.warc.shard import Shard

Say = Callable[[str], None]
_SECONDS_PER_REPORT: Final = 5.0
_PAGES_PER_TRANSACTION: Final = 50
_PRACTICE_PAGES: Final = Path(__file__).resolve().parent / "practice_pages"
_TAG: Final = re.compile(r"<(/?)([^\s/>]+)([^>]*)>")
_GOLD: Final = re.compile(r'\sdata-gold="([a-z]+)"')
_WHY: Final = re.compile(r'\sdata-why="([^"]*)"')
_VOID: Final = frozenset(["br", "hr", "img", "input", "wbr", "col", "area"])


@dataclass(frozen=True)
class Assistant:
    """A loaded model: its name, its language identification, and its labels of a page."""

    name: str
    look: Linguist
    prelabel: Prelabel


def assistant(settings: Settings) -> Assistant:
    """The cleaner of these settings as a source of prelabels."""
    models = pipeline.models(settings)
    cleaner = load(settings.cleaner, models)
    digest = hashlib.sha256(b"".join(models[name] for name in sorted(models))).hexdigest()
    name = f"{settings.model or settings.cleaner} {digest[:8]}"
    needs_language = any(reads_language(model) for key, model in models.items() if key.startswith("crf/"))

    def prelabel(page: Page) -> pages.Prelabels:
        scores = cleaner(page)
        found = labels(scores, scores.kept).tolist()
        return pages.as_prelabels(name, scores.probabilities, found, n_words(page.blocks))

    return Assistant(name, linguist(models[PROFILES], block_features=needs_language), prelabel)


def renew(store: Store, predictor: Assistant) -> int:
    """Replaces an older model's labels of pages that nobody has opened; returns their number."""
    rows = store.rows(
        "SELECT page.id, page.url, page.n_blocks FROM page LEFT JOIN prelabel ON prelabel.page = page.id"
        " WHERE NOT practice AND coalesce(prelabel.model, '') != ?"
        " AND NOT EXISTS (SELECT 1 FROM annotation WHERE annotation.page = page.id) ORDER BY page.id",
        predictor.name,
    )
    n_renewed = 0
    for row in rows:
        page, _ = preparation.prepare(pages.content(store, row["id"]).markup, predictor.look, row["url"])
        if len(page.blocks) != row["n_blocks"]:
            continue  # imported by another version of the segmentation: keeps its offsets and labels
        with store.writing() as connection:
            pages.set_prelabels(connection, row["id"], predictor.prelabel(page))
        n_renewed += 1
    return n_renewed


def add_inputs(
    store: Store,
    names: Sequence[str],
    look: Linguist,
    predictor: Assistant | None,
    *,
    limit: int | None,
    say: Say,
) -> Added:
    """Adds the pages of these inputs (of the first `limit` records) and stores a remark with the counts.

    Raises InputError for an input that is missing or holds no page, and ShardError if a shard cannot be read
    and no record was found. If a shard cannot be read to its end, the reason is printed.
    """
    shards = inputs.resolve(names)
    added = Added()
    failures: list[ShardError] = []
    found = islice((record for shard in shards for record in _read(shard, failures)), limit)
    reported = time.monotonic()
    while batch := list(islice(found, _PAGES_PER_TRANSACTION)):
        with store.writing():
            for record in batch:
                _add(store, record, look, predictor, added)
        if time.monotonic() - reported > _SECONDS_PER_REPORT:
            reported = time.monotonic()
            say(added.in_words())
    pages.remark(store, f"{', '.join(_relative(shard.filename) for shard in shards[:3])}: {added.in_words()}")
    say(added.in_words())
    for failure in failures:
        if added == Added():
            raise failure
        say(str(failure))
    return added


def _relative(name: str) -> str:
    """A path below the current folder relative to it; any other name unchanged."""
    here = Path.cwd()
    path = Path(name)
    return str(path.relative_to(here)) if path.is_absolute() and path.is_relative_to(here) else name


def _read(shard: Shard, failures: list[ShardError]) -> Iterator[Record]:
    """The records of a shard; an error is appended to `failures`."""
    try:
        yield from reading.read(shard)
    except ShardError as error:
        failures.append(error)


def is_list_of_pages(name: str) -> bool:
    """Whether a file lists addresses of pages: its first line is a web address that names no archive."""
    try:
        if (
            storage.scheme(name) is not None
            or not os.path.isfile(name)
            or file_types.by_name(name) is not None
        ):
            return False
        listed = inputs.list_entries(name)
    except (OSError, InputError):
        return False
    address = listed[0][1] if listed else ""
    return storage.scheme(address) in ("http", "https") and file_types.by_name(address) not in ("warc", "arc")


def _add(store: Store, record: Record, look: Linguist, predictor: Assistant | None, added: Added) -> None:
    if record.status is not None or record.payload is None:
        status = record.status or "error"
        added.dropped[status] = added.dropped.get(status, 0) + 1
        return
    markup, _ = charset.decode(record.payload, record.http_charset)
    page, _ = preparation.prepare(markup, look, record.url)
    if not len(page.blocks):
        added.n_without_blocks += 1
        return
    with store.writing() as connection:
        source = Source(record.warc_filename, record.warc_record_offset, record.id, record.url)
        number = pages.add(connection, page, markup, source)
        if number is None:
            added.n_known += 1
            return
        added.n_added += 1
        if predictor is not None:
            pages.set_prelabels(connection, number, predictor.prelabel(page))


def add_practice(store: Store) -> None:
    """Adds the practice pages: written by us, with the correct label of each block and its reason."""
    for path in sorted(_PRACTICE_PAGES.glob("*.html")):
        markup = path.read_text(encoding="utf-8")
        document = canonical(markup)
        blocks = segment(document.html, document.elements)
        page = Page(document.html, blocks, title=blocks.title)
        gold = list(_gold(document.html, blocks.start.tolist()))
        with store.writing() as connection:
            pages.add(connection, page, markup, Source(f"practice/{path.name}"), gold=json.dumps(gold))


def _gold(html: str, starts: Sequence[int]) -> Iterator[tuple[int, str]]:
    """(label, reason) of each block, from the nearest enclosing element with data-gold."""
    around: list[tuple[int, str]] = [(OTHER, "")]
    block = 0
    for tag in _TAG.finditer(html):
        while block < len(starts) and starts[block] < tag.start():
            yield around[-1]
            block += 1
        closing, name, attributes = tag.groups()
        if closing:
            around.pop()
        elif name not in _VOID and not name.startswith("!"):
            label, why = _GOLD.search(attributes), _WHY.search(attributes)
            around.append((LABELS.index(label[1]), why[1] if why else "") if label else around[-1])


def check_practice(store: Store, number: int, name: Any) -> dict[str, Any]:
    """The annotator's labels of a practice page compared with the correct ones."""
    row = annotations.open_page(store, number, name)
    page = annotations.page_row(store, number)
    if not page["practice"]:
        raise AnnotationError("only practice pages can be checked")
    gold = json.loads(page["gold"])
    roles = [LABELS.index(label.role) for label in store.labels]
    own = decode(row["labels"])
    given = "".join(DIGITS[roles[label]] for label in own)
    wrong = differing(given, "".join(DIGITS[label] for label, _ in gold))
    return {
        "n_right": page["n_blocks"] - len(wrong),
        "n_wrong": len(wrong),
        "n_blocks": page["n_blocks"],
        "wrong": [{"block": b, "given": own[b], "gold": gold[b][0], "why": gold[b][1]} for b in wrong],
    }
