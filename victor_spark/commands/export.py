"""Writes the pages of a finished run as files, or adds them to a table, for other tools to read.

OUT is the --output of a complete victor clean; its pages with the status ok are exported. DEST is, with --to
  jsonl     a new folder of *.jsonl.zst: id, text, url, date, language, metadata
  parquet   a new folder of Parquet files with a dataset card
  iceberg   CATALOG.NAMESPACE.TABLE; the catalog as pyiceberg is configured (~/.pyiceberg.yaml)
  delta     the folder of a table
Readers see all pages or none. A table gets each run once; columns that it lacks are added.

examples:
  victor export out corpus --to jsonl --where "language = 'cs' and expected_f1 >= 0.8" --unique
  victor export out dataset --to parquet --partition-by language
  victor export out s3://bucket/pages --to delta
  victor export out lake.web.pages --to iceberg
"""

import argparse
from dataclasses import fields
from typing import Final

from victor_spark.commands.clean_options import MASTER
from victor_spark.commands.options import Command, n_bytes, option, switch
from victor_spark.errors import EXIT_DONE, EXIT_INCOMPLETE
from victor_spark.logs import log
from victor_spark.spark.request import EXPORTS, ExportRequest

OPTIONS: Final = (
    option("OUT", "the --output of victor clean", dest="output"),
    option("DEST", "where the pages go", dest="destination"),
    option("--to FORMAT", ", ".join(EXPORTS), choices=EXPORTS, required=True),
    option("--where SQL", "only pages that meet a condition on columns of OUT/pages, in Spark's SQL"),
    switch("--unique", "of pages with the same text, only the first by shard and offset"),
    option(
        "--partition-by COLUMN", "a folder, or a partition of the table, for each value of a column of text"
    ),
    option("--target-file-size SIZE", "about the size of a file (default: 256M)", n_bytes),
    MASTER,
)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    from victor_spark.spark import export

    try:
        export.run(ExportRequest(**{one.name: getattr(arguments, one.name) for one in fields(ExportRequest)}))
    except KeyboardInterrupt:
        log("stopped; nothing was exported", "warning")
        return EXIT_INCOMPLETE
    return EXIT_DONE


EXPORT: Final = Command(__doc__, OPTIONS, run)
"""`victor export`."""
