"""The export job: the pages of a finished run → files or a table that other tools read.

Tasks write files where no reader looks, and the driver publishes them in one step (sinks.py). An export that
dies leaves nothing that readers see, and the same command begins anew.
"""

import hashlib
import json
import logging
import re
from functools import partial
from typing import Final
from uuid import uuid4

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from victor_spark import tables
from victor_spark.errors import OutputError, UsageError, one_line
from victor_spark.logs import log
from victor_spark.spark import output, waves
from victor_spark.spark.files import Files, open_files, output_errors
from victor_spark.spark.progress import many
from victor_spark.spark.request import FILE_BYTES, ExportRequest
from victor_spark.spark.session import interruptible, session
from victor_spark.spark.sinks import SINKS, Export, files_at
from victor_spark.spark.status import check_complete
from victor_spark.spark.tasks import REPORT_DDL, Target, write_partition

_DAY: Final = pa.field("day", pa.date32())
"""The day of the fetch, a column of exports that are partitioned by it."""

_CODES: Final = re.compile(r"^\[[A-Z_.]+\] | SQLSTATE.*", re.MULTILINE)


def run(request: ExportRequest) -> None:
    """Exports the run; raises before anything is visible in DEST."""
    group = f"victor export {uuid4()}"
    interruptible(partial(_run_on_spark, request, group), group=group)


def _run_on_spark(request: ExportRequest, group: str) -> None:
    with session(master=request.master) as spark:
        spark.sparkContext.setJobGroup(group, "victor export", interruptOnCancel=True)
        with output_errors(request.output):
            files = open_files(request.output, spark)
            check_complete(request.output)
            finished = files.read(output.RUN) or b""
        with output.claimed(files):
            schema, pages = _pages(spark, files, request)
            identity = hashlib.sha256(finished).hexdigest()[:32]
            with output_errors(request.destination):
                _export(Export(identity, schema, request, json.loads(finished)), pages)


def _pages(spark: SparkSession, files: Files, request: ExportRequest) -> tuple[pa.Schema, DataFrame]:
    """The columns that the run has, and its pages that are ok and meet the conditions."""
    location = waves.literal(f"{files.location}/{output.PAGES}")
    names, known = spark.read.parquet(location).columns, tables.pages(*tables.ON_REQUEST)
    schema = pa.schema([field for field in known if field.name in names], known.metadata)
    if unknown := [name for name in request.partition_by if name not in (*names, _DAY.name)]:
        raise UsageError(f"--partition-by {unknown[0]}: {request.output} has no such column")
    pages = spark.read.schema(tables.ddl(schema)).parquet(location).where("status = 'ok'")
    if _DAY.name in request.partition_by:
        schema, pages = schema.append(_DAY), pages.withColumn(_DAY.name, sf.to_date("fetch_time"))
    logging.disable()  # PySpark would log what is raised below
    try:
        pages = pages.where(request.where or "true")
    except AnalysisException as error:  # also of the parser
        reason = one_line(OutputError(_CODES.sub("", str(error))))
        raise UsageError(f"--where {request.where}: {reason}") from error
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
    write = partial(write_partition, target=target)
    pages = waves.rebalanced(pages, request.target_file_size or FILE_BYTES, columns)
    pages = pages.sortWithinPartitions(*columns) if columns else pages
    try:
        written = pages.mapInArrow(write, REPORT_DDL).collect()
        parts = [json.loads(row.report) for row in written]
        sizes = {name: size for part in parts for name, size in part["files"].items()}
        n_pages = sum(part["counts"]["n_rows"] for part in parts)
        sink.commit(sizes, n_pages)
    except BaseException:
        files_at(sink.location).remove("")  # no reader has seen them
        raise
    log(f"{many(n_pages, 'page')} in {many(len(sizes), 'file')} exported to {request.destination}")
