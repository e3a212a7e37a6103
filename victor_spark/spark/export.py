"""The export job: the pages of a finished run → files or a table that other tools read.

Tasks write files where no reader looks, and the driver publishes them in one step (`SINKS`). An export that
dies leaves nothing that readers see, and the same command begins anew. Tables need no jars of Spark: tasks
write Parquet files, and pyiceberg or deltalake add all of them to the table in one commit, which names the
run, so that a table gets each run once.
"""

import hashlib
import json
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final
from urllib.parse import unquote
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from victor_spark import resources, tables
from victor_spark.errors import OutputError, UsageError, one_line
from victor_spark.logs import log, many
from victor_spark.request import EXPORTS, FILE_BYTES, ExportRequest
from victor_spark.spark import ledger, waves
from victor_spark.spark.failures import disk_errors
from victor_spark.spark.files import Files, address, check_outside, files_at, is_local, output_errors
from victor_spark.spark.progress import progress_of_group
from victor_spark.spark.session import job
from victor_spark.spark.status import complete_run
from victor_spark.spark.tasks import NO_VALUE, REPORT_DDL, Target, write_partition, written

_KEY: Final = "victor_spark.run"
_CARD: Final = "_README.md"  # readers of folders pass over names that begin with _
_TOP: Final = ("id", "text", "url", "language")
_NOT_IN_LINES: Final = frozenset({*_TOP, "fetch_time", "html", "blocks"})


@dataclass(frozen=True)
class Export:
    """An export: the run's identity, the columns, the options, and run.json."""

    run: str
    schema: pa.Schema
    request: ExportRequest
    finished: Mapping[str, Any]


@dataclass(frozen=True)
class Sink:
    """A destination: where tasks write hidden files, fields of their `Target`, the step that publishes."""

    location: str
    commit: Callable[[Mapping[str, int], int], None]
    format: Mapping[str, Any] = field(default_factory=dict)


def folder(destination: str, export: Export, **format_: Any) -> Sink | None:
    """A new folder. On a disk it appears whole; in a store, `_SUCCESS` is last. It names the export."""
    check_outside(destination, export.request.output)
    there, request = files_at(destination), export.request
    options = {name: getattr(request, name) for name in ("to", "where", "unique", "partition_by")}
    finished = ledger.dumped({"run": export.run, **options})
    if there.read("_SUCCESS") == finished:
        return None
    if there.is_file() or there.names():
        raise OutputError(f"{destination}: holds another export or other files; choose a new folder")
    there.probe()
    files, place, draft = there, Path(address(there)), f"_staged-{uuid4()}"
    if is_local(destination):
        files, draft = files_at(str(place.parent)), f".{place.name}-{uuid4()}"

    def commit(sizes: Mapping[str, int], n_pages: int) -> None:
        last = {_CARD: card(export, n_pages).encode()} if request.to == "parquet" else {}
        if last and not sizes:  # readers need a schema, also of no pages in folders by a column
            pq.write_table(export.schema.empty_table(), content := pa.BufferOutputStream())
            last["part-00000.parquet"] = content.getvalue().to_pybytes()
        if not is_local(destination):
            for name in sizes:
                files.move(f"{draft}/{name}", name)
        for name, content in {**last, "_SUCCESS": finished}.items():
            files.write(f"{draft}/{name}" if is_local(destination) else name, content)
        if is_local(destination):
            files.move(draft, place.name)

    return Sink(f"{files.location}/{draft}", commit, format_)


class JsonLines:
    """A writer of lines as one frame of zstd, with the methods of `pyarrow.parquet.ParquetWriter`.

    The fields of a line are those that datatrove and NeMo Curator read.
    """

    def __init__(self, file: Any, schema: pa.Schema) -> None:
        self._metadata = [name for name in schema.names if name not in _NOT_IN_LINES]
        # The stream must not close the file: its size is read afterwards.
        kept = SimpleNamespace(write=file.write, flush=file.flush, close=file.flush, closed=False)
        self._stream = pa.CompressedOutputStream(pa.PythonFile(kept, "w"), "zstd")

    def write_table(self, table: pa.Table, **_: Any) -> None:
        """Adds a line for each row."""
        for row in table.select([*_TOP, "fetch_time", *self._metadata]).to_pylist():
            line = {name: row[name] for name in _TOP} | {"date": row["fetch_time"]}
            line["metadata"] = {name: row[name] for name in self._metadata}
            text = json.dumps(line, ensure_ascii=False, default=datetime.isoformat)
            self._stream.write(f"{text}\n".encode())

    def close(self) -> None:
        """Ends the frame."""
        self._stream.close()


class PlainText:
    """A writer of plain text, with the same methods: the lines of each page, and an empty line."""

    def __init__(self, file: Any, _: pa.Schema) -> None:
        self._file = file

    def write_table(self, table: pa.Table, **_: Any) -> None:
        """Adds a paragraph for each row."""
        for text in table["text"].to_pylist():
            lines = [line for line in text.splitlines() if line.strip()]
            self._file.write("\n".join([*lines, "", ""]).encode())

    def close(self) -> None:
        """Does nothing: the caller closes the file."""


def card(export: Export, n_pages: int) -> str:
    """The dataset card for Hugging Face's hub and `datasets`, made from run.json by card.md."""
    facts = {"run": export.finished, "where": export.request.where, "schema": export.schema, "many": many}
    return resources.template(Path(__file__).with_name("card.md")).render(n_pages=n_pages, **facts)


def iceberg(destination: str, export: Export) -> Sink | None:
    """A table of a catalog that pyiceberg is configured for; a new one, and new columns, are made at once."""
    from pyiceberg.catalog import load_catalog

    catalog, _, name = destination.partition(".")
    if "." not in name:
        raise OutputError(f"{destination}: the name of an Iceberg table is CATALOG.NAMESPACE.TABLE")
    with _one_line(destination):
        lake = load_catalog(catalog)
        is_new = not lake.table_exists(name)
        lake.create_namespace_if_not_exists(name.rpartition(".")[0])
        table = lake.create_table_if_not_exists(name, export.schema)
        if any(one.summary and one.summary.get(_KEY) == export.run for one in table.metadata.snapshots):
            return None
        with table.update_schema() as schema:
            schema.union_by_name(export.schema)
        if is_new and export.request.partition_by:
            with table.update_spec() as spec:
                for column in export.request.partition_by:
                    spec.add_identity(column)
    location = f"{table.location()}/data/victor-{uuid4()}"

    def commit(sizes: Mapping[str, int], _: int) -> None:
        with _one_line(destination):
            table.add_files([f"{location}/{one}" for one in sizes], {_KEY: export.run})

    return Sink(location, commit, {"keeps": True})


def delta(destination: str, export: Export) -> Sink | None:
    """A table at a path or URL; a new one, and new columns, are made at once."""
    check_outside(destination, export.request.output)
    from deltalake import DeltaTable, Schema, write_deltalake
    from deltalake.transaction import AddAction, CommitProperties, Transaction

    there, columns = files_at(destination), list(export.request.partition_by)
    root, name = there.location, f"victor-{uuid4()}"
    with _one_line(destination):
        is_table = DeltaTable.is_deltatable(root)
        if not is_table and (there.is_file() or there.names()):
            raise OutputError(f"{destination}: holds other files, and is no Delta table")
        if is_table and DeltaTable(root).transaction_version(export.run) is not None:
            return None
        kinds = {one.name: one.type for one in Schema.from_arrow(export.schema).fields}
        for one in DeltaTable(root).schema().fields if is_table else []:
            if kinds.get(one.name, one.type) != one.type:
                raise OutputError(f"{destination}: its column {one.name} has another type ({one.type})")
        none = export.schema.empty_table()
        write_deltalake(root, none, mode="append", schema_mode="merge", partition_by=columns or None)
        table = DeltaTable(root)

    def added(path: str, size: int) -> AddAction:
        found = [unquote(folder.partition("=")[2]) for folder in path.split("/")[:-1]]
        values = dict(zip(columns, (None if one == NO_VALUE else one for one in found), strict=True))
        return AddAction(f"{name}/{path}", size, values, int(time.time() * 1000), True, "{}")

    def commit(sizes: Mapping[str, int], _: int) -> None:
        actions, once = [added(*one) for one in sizes.items()], [Transaction(export.run, 1)]
        with _one_line(destination):
            how = CommitProperties(app_transactions=once)
            table.create_write_transaction(actions, "append", table.schema(), columns, commit_properties=how)

    return Sink(f"{root}/{name}", commit)


@contextmanager
def _one_line(destination: str) -> Iterator[None]:
    """OutputError for what a library of tables raises: its errors have no type in common."""
    try:
        yield
    except (OutputError, ImportError):
        raise
    except Exception as error:
        raise OutputError(f"{destination}: {type(error).__name__}: {one_line(error)}") from error


_lines: Final = partial(folder, keeps=True, suffix="jsonl.zst", writer=JsonLines)
_text: Final = partial(folder, suffix="txt", writer=PlainText)
_MADE_BY: Final[tuple[Callable[[str, Export], Sink | None], ...]] = (_lines, folder, _text, iceberg, delta)
SINKS: Final = dict(zip(EXPORTS, _MADE_BY, strict=True))
"""Format → the function that begins an export to it; it gives None if the run is there already."""


_DAY: Final = pa.field("day", pa.date32())
"""The day of the fetch, a column of exports that are partitioned by it."""

_CODES: Final = re.compile(r"^\[[A-Z_.]+\] | SQLSTATE.*", re.MULTILINE)
_OF_VALUES: Final = re.compile("SQLSTATE: (?:22|P0)")  # SQL's classes for data that an expression refuses


def run(request: ExportRequest) -> None:
    """Exports the run; raises before anything is visible in DEST."""
    job("victor export", partial(_run_on_spark, request), master=request.master)


def _run_on_spark(request: ExportRequest, spark: SparkSession) -> None:
    with output_errors(request.output):
        files, pages = complete_run(request.output, spark)
        finished = files.read(ledger.RUN) or b""
        with ledger.claimed(files), _errors_of_where(request.where):
            schema, pages = _pages(pages, files, request)
            identity = hashlib.sha256(finished).hexdigest()[:32]
            with output_errors(request.destination):
                _export(Export(identity, schema, request, json.loads(finished)), pages)


@contextmanager
def _errors_of_where(condition: str | None) -> Iterator[None]:
    """UsageError for a condition that Spark does not understand, or that fails on the values of a page."""
    try:
        yield
    except PySparkException as error:
        if condition and (isinstance(error, AnalysisException) or _OF_VALUES.search(str(error))):
            reason = one_line(OutputError(_CODES.sub("", str(error))))
            raise UsageError(f"--where {condition}: {reason}") from error
        raise


def _pages(pages: DataFrame, files: Files, request: ExportRequest) -> tuple[pa.Schema, DataFrame]:
    """The columns that the run has, and its pages that are ok and meet the conditions."""
    location = ledger.literal(f"{files.location}/{ledger.PAGES}")
    names, known = pages.columns, tables.pages(*tables.ON_REQUEST)
    schema = pa.schema([field for field in known if field.name in names], known.metadata)
    if unknown := [name for name in request.partition_by if name not in (*names, _DAY.name)]:
        raise UsageError(f"--partition-by {unknown[0]}: {request.output} has no such column")
    pages = pages.sparkSession.read.schema(tables.ddl(schema)).parquet(location).where("status = 'ok'")
    if _DAY.name in request.partition_by:
        schema, pages = schema.append(_DAY), pages.withColumn(_DAY.name, sf.to_date("fetch_time"))
    logging.disable()  # PySpark would log what is raised below
    try:
        pages = pages.where(request.where or "true")
    finally:
        logging.disable(logging.NOTSET)
    if request.unique:
        same = Window.partitionBy(sf.sha2("text", 256)).orderBy("warc_filename", "warc_record_offset")
        pages = pages.withColumn("_n", sf.row_number().over(same)).where("_n = 1")
    return schema, pages.select(schema.names)


def _export(export: Export, pages: DataFrame) -> None:
    request = export.request
    if (sink := SINKS[request.to](request.destination, export)) is None:
        log(f"{request.destination} holds this run already: nothing to do")
        return
    columns = tuple(request.partition_by)
    target = Target(sink.location, export.schema, columns, is_sorted=True, **sink.format)
    pages = waves.rebalanced(pages, request.target_file_size or FILE_BYTES, columns)
    pages = pages.sortWithinPartitions(*columns) if columns else pages
    try:
        watched = progress_of_group(pages.sparkSession.sparkContext)
        with disk_errors(request.destination, "repeat the command"), watched:
            sizes, counts = written(pages.mapInArrow(partial(write_partition, target=target), REPORT_DDL))
        sink.commit(sizes, counts.n_rows)
    except BaseException:
        files_at(sink.location.removeprefix("file://")).remove("")  # no reader has seen them
        raise
    log(f"{many(counts.n_rows, 'page')} in {many(len(sizes), 'file')} exported to {request.destination}")
