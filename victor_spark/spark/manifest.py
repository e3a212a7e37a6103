"""The shards of a run with their sizes and etags, as columns: millions of them fit into the driver."""

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from victor_spark.archive import identities, inputs
from victor_spark.archive.inputs import Shard
from victor_spark.errors import InputError

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

_FIELDS: Final = SHARDS.names[:-2]
_ROWS: Final = 10_000
_N_SHOWN: Final = 20
_DECIDING: Final = ("path", "kind", "name", "start", "end", "records")


@dataclass(frozen=True)
class Manifest:
    """The shards (columns of `SHARDS`), and what is wrong with those that can't be had."""

    table: pa.Table
    problems: tuple[str, ...] = ()
    n_problems: int = 0

    def __len__(self) -> int:
        return int(self.table.num_rows)


def collect(
    arguments: Sequence[str], base_url: str | None = None, *, tell: Callable[[int], None] = lambda _: None
) -> Manifest:
    """What the arguments stand for, every shard looked up; `tell` is told how many are, now and then.

    A shard on a list that can't be had stays, for the run to count it as failed. Raises InputError as
    `inputs.resolve` does, and where not a single shard can be had.
    """
    problems: list[str] = []
    n_problems = 0

    def known() -> Iterator[Shard]:
        nonlocal n_problems
        for one in identities.checked(inputs.found(arguments, base_url=base_url), tell=tell):
            if one.problem is not None:
                n_problems += 1
                problems.extend([one.problem] if n_problems <= _N_SHOWN else [])
            yield one.shard

    table = of_shards(known())
    if n_problems == table.num_rows:
        raise InputError(problems[0])
    if pc.max(table["size"]).as_py() == 0 and not table["size"].null_count:
        raise InputError(f"{shard(table.slice(0, 1).to_pylist()[0]).filename}: empty file")
    return Manifest(table, tuple(problems), n_problems)


def of_shards(shards: Iterable[Shard]) -> pa.Table:
    """The shards as columns."""
    waiting = iter(shards)
    batches = []
    while some := list(islice(waiting, _ROWS)):
        columns = [pa.array([getattr(one, field.name) for one in some], field.type) for field in SHARDS]
        batches.append(pa.RecordBatch.from_arrays(columns, schema=SHARDS))
    return pa.Table.from_batches(batches, schema=SHARDS)


def shard(row: Mapping[str, Any]) -> Shard:
    """One row as the shard it stands for."""
    records = tuple((offset, length) for offset, length in row["records"] or ())
    return Shard(**{name: row[name] for name in _FIELDS}, records=records)


def to_bytes(table: pa.Table) -> bytes:
    """The shards as a Parquet file."""
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def from_bytes(content: bytes) -> pa.Table:
    """The shards of a Parquet file; ValueError when it isn't one."""
    table = pq.read_table(io.BytesIO(content))
    return table.cast(SHARDS)


def summary(table: pa.Table) -> dict[str, Any]:
    """What a run's config.json keeps of its shards: how many, and a hash of which they are."""
    digest = hashlib.sha256()
    for batch in table.select(_DECIDING).to_batches(max_chunksize=_ROWS):
        rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        digest.update("".join(map(repr, rows)).encode("utf-8", "surrogateescape"))
    return {"n_shards": table.num_rows, "sha256": digest.hexdigest()}


def figures(table: pa.Table) -> dict[str, Any]:
    """How many shards there are of each kind, how large the largest is, and how many are of unknown size."""
    counts = pc.value_counts(table["kind"].combine_chunks()).to_pylist()
    return {
        "kinds": {count["values"]: count["counts"] for count in counts},
        "largest": pc.max(table["n_bytes"]).as_py() or 0,
        "n_of_unknown_size": table["n_bytes"].null_count,
    }


def changed(before: pa.Table, now: pa.Table) -> list[str]:
    """The names of shards, the first few, whose content isn't any more what it was.

    Both tables list the same shards; of one that can't be had now, nothing is known.
    """
    differs = np.zeros(before.num_rows, dtype=bool)
    for column in ("size", "etag"):
        different = pc.not_equal(before[column].combine_chunks(), now[column].combine_chunks())
        differs |= pc.fill_null(different, False).to_numpy(zero_copy_only=False)
    rows = before.take(np.flatnonzero(differs)[:_N_SHOWN]).to_pylist()
    return [shard(row).filename for row in rows]
