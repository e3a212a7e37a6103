"""INPUT → pages of the store: archives, html files, folders and lists of them, each page once."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final

from victor_spark import preparation
from victor_spark.annotation import pages
from victor_spark.annotation.pages import Added
from victor_spark.annotation.prelabelling import Assistant
from victor_spark.annotation.store import Store
from victor_spark.blocks import Record
from victor_spark.errors import InputError, ShardError
from victor_spark.html.charset import decode
from victor_spark.langid.pages import Linguist
from victor_spark.warc import inputs, kinds, manifests, opening, records
from victor_spark.warc.inputs import Shard

Say = Callable[[str], None]
_SECONDS_BETWEEN_REPORTS: Final = 5.0
_PAGES_A_TRANSACTION: Final = 50


def add_inputs(
    store: Store,
    names: Sequence[str],
    look: Linguist,
    predictor: Assistant | None,
    *,
    limit: int | None,
    say: Say,
) -> Added:
    """Adds the pages of these inputs (`limit`: the first so many records) and keeps a remark on what came of
    it.

    Raises InputError for an input that is missing or holds no page, ShardError where one can't be read and no
    record was found; of one that can't be read to its end the reason is said.
    """
    shards = inputs.resolve(names)
    added = Added()
    failures: list[ShardError] = []
    found = islice((record for shard in shards for record in _read(shard, failures)), limit)
    told = time.monotonic()
    while batch := list(islice(found, _PAGES_A_TRANSACTION)):
        with store.writing():
            for record in batch:
                _add(store, record, look, predictor, added)
        if time.monotonic() - told > _SECONDS_BETWEEN_REPORTS:
            told = time.monotonic()
            say(added.in_words())
    pages.remark(store, f"{', '.join(shard.filename for shard in shards[:3])}: {added.in_words()}")
    say(added.in_words())
    for failure in failures:
        if added == Added():
            raise failure
        say(str(failure))
    return added


def _read(shard: Shard, failures: list[ShardError]) -> Iterator[Record]:
    """The records of a shard; an error is kept."""
    try:
        yield from records.read(shard)
    except ShardError as error:
        failures.append(error)


def is_list_of_pages(name: str) -> bool:
    """Whether a file lists addresses of pages: its first line is a web address that names no archive."""
    try:
        if opening.scheme(name) is not None or not os.path.isfile(name) or kinds.by_name(name) != "unknown":
            return False
        listed = manifests.lines(name)
    except (OSError, InputError):
        return False
    address = listed[0][1] if listed else ""
    return opening.scheme(address) in ("http", "https") and kinds.by_name(address) not in ("warc", "arc")


def _add(store: Store, record: Record, look: Linguist, predictor: Assistant | None, added: Added) -> None:
    if record.status is not None or record.payload is None:
        status = record.status or "error"
        added.dropped[status] = added.dropped.get(status, 0) + 1
        return
    markup, _ = decode(record.payload, record.http_charset)
    page, _ = preparation.prepare(markup, look, record.url)
    if not len(page.blocks):
        added.n_without_blocks += 1
        return
    with store.writing() as connection:
        number = pages.add(connection, page, markup, pages.source_of(record))
        if number is None:
            added.n_known += 1
            return
        added.n_added += 1
        if predictor is not None:
            pages.set_prelabels(connection, number, predictor.prelabel(page))
