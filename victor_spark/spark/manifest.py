"""The shards of a run with their sizes and etags, as columns: millions of them fit into the driver.

They are stored and compared without credentials: an address with a new signature is the same shard, and a
resumed run reads with the addresses of its own command line.
"""

import hashlib
import io
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from victor_spark.errors import InputError
from victor_spark.logs import log
from victor_spark.spark.progress import many
from victor_spark.warc import inputs, storage
from victor_spark.warc.shard import Shard

SHARDS: Final = pa.schema(
    [
        ("path", pa.string()),
        ("size", pa.int64()),
        ("kind", pa.string()),
        ("name", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("etag", pa.string()),
        ("aligned", pa.bool_()),
        ("records", pa.list_(pa.list_(pa.int64(), 2))),
        ("n_bytes", pa.int64()),
    ]
)
"""One shard a row: the fields of `Shard`, and how many bytes of it are to be read."""

_QUIET_SECONDS: Final = 10.0
"""Progress of looking up shards is reported at most this often."""

_FIELDS: Final = SHARDS.names[:-2]
_ROWS: Final = 10_000
_N_SHOWN: Final = 20
_DECIDING: Final = ("path", "kind", "name", "start", "end", "records")


@dataclass(frozen=True)
class Manifest:
    """The shards (columns of `SHARDS`), the rows of those that can't be read, and the first few reasons."""

    table: pa.Table
    problems: tuple[str, ...] = ()
    missing: tuple[int, ...] = ()

    @property
    def available(self) -> pa.Table:
        """The shards that can be read."""
        return self.table.take(np.setdiff1d(np.arange(len(self)), self.missing))

    def __len__(self) -> int:
        return int(self.table.num_rows)


def collect(arguments: Sequence[str], base_url: str | None = None) -> Manifest:
    """The shards of the arguments, every one looked up.

    An unreadable shard on a list stays, and the run counts it as failed. Raises InputError as
    `inputs.resolve` does, and if no shard can be read.
    """
    problems: list[str] = []
    missing: list[int] = []

    def known() -> Iterator[Shard]:
        reported = time.monotonic()
        for row, one in enumerate(inputs.checked(inputs.found(arguments, base_url=base_url))):
            if time.monotonic() - reported > _QUIET_SECONDS:
                reported = time.monotonic()
                log(f"{many(row, 'shard')} looked up")
            if one.problem is not None:
                missing.append(row)
                problems.extend([one.problem] if len(missing) <= _N_SHOWN else [])
            yield one.shard

    table = of_shards(known())
    if len(missing) == table.num_rows:
        raise InputError(problems[0])
    if pc.max(table["size"]).as_py() == 0 and not table["size"].null_count:
        raise InputError(f"{shard(table.slice(0, 1).to_pylist()[0]).filename}: empty file")
    return Manifest(table, tuple(problems), tuple(missing))


def of_shards(shards: Iterable[Shard]) -> pa.Table:
    """The shards as columns."""
    waiting = iter(shards)
    batches = []
    while some := list(islice(waiting, _ROWS)):
        columns = [pa.array([getattr(one, field.name) for one in some], field.type) for field in SHARDS]
        batches.append(pa.RecordBatch.from_arrays(columns, schema=SHARDS))
    return pa.Table.from_batches(batches, schema=SHARDS)


def shard(row: Mapping[str, Any]) -> Shard:
    """The shard of one row."""
    records = tuple((offset, length) for offset, length in row["records"] or ())
    return Shard(**{name: row[name] for name in _FIELDS}, records=records)


def _public(table: pa.Table) -> pa.Table:
    """The shards without the credentials in their addresses."""
    paths = table["path"].to_pylist()
    for column in ("path", "name"):
        names = map(storage.public, table[column].to_pylist(), paths)
        table = table.set_column(
            SHARDS.get_field_index(column), SHARDS.field(column), pa.array(names, pa.string())
        )
    return table


def to_bytes(table: pa.Table) -> bytes:
    """The shards as a Parquet file."""
    buffer = io.BytesIO()
    pq.write_table(_public(table), buffer, compression="zstd")
    return buffer.getvalue()


def from_bytes(content: bytes) -> pa.Table:
    """The shards of a Parquet file; ValueError when it isn't one."""
    # No threads of Arrow, which would hold Python's objects for some moments after the answer is there.
    table = pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False)
    return table.cast(SHARDS)


def summary(table: pa.Table) -> dict[str, Any]:
    """The shards in a run's config.json: their number and a hash."""
    digest = hashlib.sha256()
    for batch in _public(table).select(_DECIDING).to_batches(max_chunksize=_ROWS):
        rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        digest.update("".join(map(repr, rows)).encode("utf-8", "surrogateescape"))
    return {"n_shards": table.num_rows, "sha256": digest.hexdigest()}


def figures(table: pa.Table) -> dict[str, Any]:
    """The number of shards of each kind, the size of the largest, and how many have no known size."""
    counts = pc.value_counts(table["kind"].combine_chunks()).to_pylist()
    return {
        "kinds": {count["values"]: count["counts"] for count in counts},
        "largest": pc.max(table["n_bytes"]).as_py() or 0,
        "n_of_unknown_size": table["n_bytes"].null_count,
    }


def changed(before: pa.Table, now: pa.Table) -> list[str]:
    """The names of the first few shards whose content has changed.

    Both tables list the same shards; one that can't be read now is not compared.
    """
    differs = np.zeros(before.num_rows, dtype=bool)
    for column in ("size", "etag"):
        different = pc.not_equal(before[column].combine_chunks(), now[column].combine_chunks())
        differs |= pc.fill_null(different, False).to_numpy(zero_copy_only=False)
    rows = before.take(np.flatnonzero(differs)[:_N_SHOWN]).to_pylist()
    return [shard(row).filename for row in rows]
