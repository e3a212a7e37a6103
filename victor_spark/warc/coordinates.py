"""Tables of record coordinates: (filename, offset, length) per row, as in the Common Crawl index.

Parquet, or CSV and TSV with a header (also gzipped). Columns are found by name, others are ignored.
"""

import gzip
import logging
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, BinaryIO, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from victor_spark.errors import InputError, one_line
from victor_spark.warc import file_types, storage
from victor_spark.warc.compression import HEAD_LENGTH, compression_of, unpacked
from victor_spark.warc.remote_files import Window
from victor_spark.warc.shard import Shard

COLUMNS: Final = {
    "filename": ("warc_filename", "filename"),
    "offset": ("warc_record_offset", "offset"),
    "length": ("warc_record_length", "length"),
}
"""Our name of a column → the names it may have in a table."""

PARQUET_MAGIC: Final = b"PAR1"
PARQUET_NAMES: Final = (".parquet", ".parq")
NAMES: Final = (*PARQUET_NAMES, ".csv", ".csv.gz", ".tsv", ".tsv.gz")
N_RECORDS: Final = 1000
N_BYTES: Final = 64 << 20
"""The most consecutive records of a file, and the most bytes of them, in one shard."""

_MAX_GAP: Final = 256 << 10
"""Gaps of at most this many bytes between two records are fetched, not skipped."""

_LOGGER = logging.getLogger(__name__)
_SCHEMA: Final = pa.schema([("filename", pa.string()), ("offset", pa.int64()), ("length", pa.int64())])


def is_table(path: str, head: bytes) -> bool:
    """Whether a file that begins with `head` is a table of records as text, or is named like a table."""
    if (first := _first_line(head)) is None:
        return False
    names = first.replace('"', "").replace("\t", ",").split(",")
    found = [key for key in COLUMNS if _column(names, key)]
    return ("filename" in found and "offset" in found) or path.lower().endswith(NAMES)


def _first_line(head: bytes) -> str | None:
    start = unpacked(head)
    if not file_types.is_text(start):
        return None
    return start.partition(b"\n")[0].decode("utf-8-sig", "replace").strip()


def _column(names: Sequence[str], key: str) -> str | None:
    return next((name for name in COLUMNS[key] if name in names), None)


def read(path: str) -> pa.Table:
    """The table's three columns under our names; InputError for an invalid table."""
    import pyarrow.parquet as pq

    with storage.open_file(path) as file:
        head = file.read(HEAD_LENGTH)
        file.seek(0)
        try:
            if head.startswith(PARQUET_MAGIC):
                opened = pq.ParquetFile(pa.PythonFile(file, mode="r"))
                names = _chosen(opened.schema_arrow.names, path)
                table = opened.read(columns=names)
            else:
                table = _text(file, path, head)
                names = table.column_names
            columns = [table[name].cast(field.type) for name, field in zip(names, _SCHEMA, strict=True)]
        except (pa.ArrowException, EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(f"{path}: a damaged table of records ({one_line(error)})") from None
    return _checked(pa.table(columns, schema=_SCHEMA), path)


def _text(file: BinaryIO, path: str, head: bytes) -> pa.Table:
    from pyarrow import csv

    first = _first_line(head) or ""
    delimiter = "\t" if "\t" in first else ","
    chosen = _chosen([name.strip('" ') for name in first.split(delimiter)], path)
    text: Any = gzip.GzipFile(fileobj=file) if compression_of(head) == "gzip" else file
    return csv.read_csv(
        text,
        parse_options=csv.ParseOptions(delimiter=delimiter),
        convert_options=csv.ConvertOptions(
            include_columns=chosen,
            # pandas writes integers as 17.0 if some are missing
            column_types=dict(zip(chosen, (pa.string(), pa.float64(), pa.float64()), strict=True)),
            strings_can_be_null=True,
        ),
    )


def _chosen(names: Sequence[str], path: str) -> list[str]:
    """The table's names of our columns; InputError for a column that it lacks."""
    chosen = []
    for key, (usual, _) in COLUMNS.items():
        if (name := _column(names, key)) is None:
            shown = ", ".join(names)[:200]
            raise InputError(f"{path}: a table without the column {usual} (it has: {shown})")
        chosen.append(name)
    return chosen


def _checked(table: pa.Table, path: str) -> pa.Table:
    """The rows that name a record. Those of a shard that cannot be read, in the pages of a run, do not."""
    names_one = pc.or_(pc.is_valid(table["offset"]), pc.is_valid(table["length"]))
    wrong = {
        "filename": pc.equal(pc.fill_null(table["filename"], ""), ""),
        "offset": pc.less(pc.fill_null(table["offset"], -1), 0),
        "length": pc.less(pc.fill_null(table["length"], 0), 1),
    }
    for key, rows in wrong.items():
        if (number := pc.index(pc.and_(rows, names_one), True).as_py()) >= 0:
            value = table[key][number].as_py()
            raise InputError(f"{path}, row {number + 1}: {COLUMNS[key][0]} is {value!r}")
    records = table.filter(names_one)
    if n_others := table.num_rows - records.num_rows:
        _LOGGER.warning("%s: rows without offset and length left out: %d", path, n_others)
    return records


def shards(tables: Sequence[pa.Table], locate: Sequence[Callable[[str], str]]) -> Iterator[Shard]:
    """The records of all tables, file by file in the order of first mention, each record once.

    `locate` gives, for each table, the path of a filename.
    """
    paths: dict[str, tuple[int, str]] = {}
    located: list[pa.Table] = []
    for table, where in zip(tables, locate, strict=True):
        names = table["filename"].combine_chunks().dictionary_encode()
        ours = [paths.setdefault(where(name), (len(paths), name))[0] for name in names.dictionary.to_pylist()]
        located.append(table.append_column("file", pa.array(ours, pa.int64()).take(names.indices)))
    longest = pa.concat_tables(located).group_by(["file", "offset"]).aggregate([("length", "max")])
    rows = longest.sort_by([("file", "ascending"), ("offset", "ascending")])
    numbers, offsets, lengths = (rows[name].to_numpy() for name in ("file", "offset", "length_max"))
    bounds = [*np.flatnonzero(np.diff(numbers, prepend=-1)), len(numbers)]
    for (path, (_, name)), start, stop in zip(paths.items(), bounds[:-1], bounds[1:], strict=True):
        kind = file_types.by_name(path) or "warc"
        records = tuple(zip(offsets[start:stop].tolist(), lengths[start:stop].tolist(), strict=True))
        totals = [0, *accumulate(length for _, length in records)]
        first = 0
        while first < len(records):
            fitting = bisect_right(totals, totals[first] + N_BYTES) - 1
            end = min(max(fitting, first + 1), first + N_RECORDS)  # a longer record is a shard of its own
            some = records[first:end]
            yield Shard(path, None, kind, name, some[0][0], sum(some[-1]), records=some)
            first = end


def windows(records: Sequence[tuple[int, int]]) -> list[Window]:
    """The byte ranges that hold the records, near ones joined into one."""
    joined: list[Window] = []
    for offset, length in records:
        if joined and offset <= joined[-1][1] + _MAX_GAP:
            joined[-1] = (joined[-1][0], max(joined[-1][1], offset + length))
        else:
            joined.append((offset, offset + length))
    return joined
