"""Where a templates table lies: the table, and beside it the report of all sites."""

from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from victor_spark.errors import InputError, OutputError, UsageError
from victor_spark.spark.files import Files, java_errors_as_output_errors, open_files
from victor_spark.templates import coverage, table

SITES: Final = pa.schema(
    [
        ("site", pa.string()),
        ("view", pa.string()),
        ("status", pa.string()),
        ("reason", pa.string()),
        ("n_seen", pa.int64()),
        ("n_pages", pa.int64()),
        ("n_templates", pa.int64()),
        ("cut_off", pa.int64()),
        ("histogram", pa.list_(pa.int64())),
        ("first_seen", pa.timestamp("us", tz="UTC")),
        ("last_seen", pa.timestamp("us", tz="UTC")),
    ]
)
"""One row a site, also for those that were not mined."""

_ENDING: Final = ".parquet"


def sites_path(output: str) -> str:
    """The report of all sites: templates.parquet → templates.sites.parquet."""
    return f"{output.removesuffix(_ENDING)}.sites{_ENDING}"


def opened(output: str, spark: SparkSession) -> Files:
    """The folder of the output; OutputError if it can't be written, or would replace something else."""
    folder, _, name = output.rpartition("/")
    with java_errors_as_output_errors(output):
        files = open_files(folder or ("/" if output.startswith("/") else "."), spark)
        _check(files, name, output)
    return files


def _check(files: Files, name: str, output: str) -> None:
    names = files.names()
    if not name:
        raise OutputError(f"{output}: is a folder; --output is a file, such as templates.parquet")
    if names is None:
        raise OutputError(f"{output}: its folder doesn't exist")
    if name in names and not _is_table(files.read(name)):
        raise OutputError(f"{output}: is there already, and no templates table; choose another --output")
    try:
        files.probe()
    except OSError as error:
        raise OutputError(f"{output}: can't write there: {error.strerror or error}") from error


def _is_table(content: bytes | None) -> bool:
    try:
        table.from_bytes(content or b"")
    except InputError:
        return False
    return True


def write(files: Files, output: str, templates: pa.Table, sites: pa.Table) -> None:
    """Writes both, each whole or not at all."""
    for path, content in ((sites_path(output), _parquet(sites)), (output, table.to_bytes(templates))):
        with java_errors_as_output_errors(output):
            files.write(path.rpartition("/")[2], content)


def _parquet(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink, compression="zstd")
    return bytes(sink.getvalue().to_pybytes())


def check_same(old: pa.Table, view: str, grouping: str, *, name: str) -> None:
    """UsageError unless a table can be brought up to date with templates of this view and grouping."""
    for what, theirs, ours in (
        ("view", coverage.view_of(old) if len(old) else view, view),
        ("group-by", table.grouping(old), grouping),
    ):
        if theirs != ours:
            raise UsageError(f"{name} was mined with --{what} {theirs}, not {ours}: they can't be mixed")
