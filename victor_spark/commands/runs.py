"""`victor status`, `victor export` and `victor dedup`: commands on the output of `victor clean`."""

import argparse
import json
from dataclasses import fields
from typing import Final

from victor_spark.commands.clean import MASTER
from victor_spark.commands.options import Command, option, switch
from victor_spark.configuration import n_bytes, names, positive, probability
from victor_spark.errors import EXIT_DONE, EXIT_INCOMPLETE, UsageError
from victor_spark.request import EXPORTS, FILE_BYTES, ExportRequest

STATUS_HELP: Final = """\
Prints the progress of a run: waves that are done, missing or failed, pages by status, failed shards.

A wave is a part of the input that is written together. The command changes nothing, also during the run. The
same victor clean command resumes an incomplete run.

examples:
  victor status out                   a few lines
  victor status out --json            as JSON, with every wave
  victor status out && publish out    continue only if it is complete
"""

EXPORT_HELP: Final = """\
Writes the pages of a finished run as files, or adds them to a table, for other tools to read.

OUT is the --output of a complete victor clean; its pages with the status ok are exported. DEST is, with --to
  jsonl     a new folder of *.jsonl.zst: id, text, url, date, language, metadata
  parquet   a new folder of Parquet files with a dataset card
  text      a new folder of *.txt: the lines of each page, and an empty line
  iceberg   CATALOG.NAMESPACE.TABLE; pyiceberg's configuration has the catalog (~/.pyiceberg.yaml)
  delta     the folder of a table
Readers see all pages or none. A table gets each run once; columns that it lacks are added.

examples:
  victor export out corpus --to jsonl --where "language = 'cs' and expected_f1 >= 0.8" --unique
  victor export out dataset --to parquet --partition-by url_host_registered_domain
  victor export out s3://bucket/pages --to delta
  victor export out lake.web.pages --to iceberg --partition-by language,day
"""

DEDUP_HELP: Final = """\
Marks pages of a finished run that repeat another page: copies, reprints, one article at several addresses.

Two pages are duplicates if the Jaccard similarity of their shingles (N words in a row) is at least
--threshold. Duplicates of duplicates are in the same cluster, of which one page is kept. OUT/duplicates/
(Parquet) gets a row for every page of a cluster, with the page that is kept instead; OUT/pages/ never
changes. docs/dedup.md has more.

examples:
  victor dedup out                                      keep the page that was fetched first
  victor dedup out --threshold 0.9 --keep longest
  victor dedup out --per-site                           keep one page on each site
  victor dedup out --output unique --drop               the pages table without duplicates
  victor dedup out --output marked                      the pages table with columns about duplicates
  spark-submit --master spark://host:7077 jobs/dedup.py hdfs:///out --output hdfs:///unique --drop
"""

STATUS_OPTIONS: Final = (
    option("OUT", "the --output of victor clean", dest="output"),
    switch("--json", "print JSON"),
)
EXPORT_OPTIONS: Final = (
    option("OUT", "the --output of victor clean", dest="output"),
    option("DEST", "where the pages go", dest="destination"),
    option("--to FORMAT", ", ".join(EXPORTS), choices=EXPORTS, required=True),
    option("--where SQL", "only pages that meet a condition on columns of OUT/pages, in Spark's SQL"),
    switch("--unique", "of pages with the same text, only the first by shard and offset"),
    option("--partition-by COLUMNS", "columns of simple values, or day (of the fetch)", names, default=[]),
    option("--target-file-size SIZE", f"about the size of a file (default: {FILE_BYTES >> 20}M)", n_bytes),
    MASTER,
)
DEDUP_OPTIONS: Final = (
    option("OUT", "the --output of victor clean", dest="location"),
    option("--threshold X", "least Jaccard similarity of duplicates, 0 to 1", probability, default=0.8),
    option("--shingle-words N", "words (or characters) of a shingle", positive, default=5),
    option("--keep", "the page to keep", choices=("first", "longest"), default="first"),
    switch("--per-site", "keep one page on each site (registered domain)", default=False),
    option("--output DEST", "new folder for the pages table with columns about duplicates", dest="target"),
    switch("--drop", "with --output: leave the duplicates out", default=False),
    MASTER,
)


def status(arguments: argparse.Namespace) -> int:
    """Prints the progress of a run."""
    from victor_spark.spark import status

    found = status.status(arguments.output)
    lines = [json.dumps(found, ensure_ascii=False, indent=2)] if arguments.json else status.as_lines(found)
    print("\n".join(lines))
    return EXIT_DONE if found["complete"] else EXIT_INCOMPLETE


def export(arguments: argparse.Namespace) -> int:
    """Writes the pages for other tools."""
    from victor_spark.spark import export

    export.run(ExportRequest(**{one.name: getattr(arguments, one.name) for one in fields(ExportRequest)}))
    return EXIT_DONE


def dedup(arguments: argparse.Namespace) -> int:
    """Marks the duplicates."""
    if arguments.drop and not arguments.target:
        raise UsageError("--drop needs --output DEST")
    from victor_spark.spark.dedup import DedupRequest, run

    run(DedupRequest(**{one.name: getattr(arguments, one.name) for one in fields(DedupRequest)}))
    return EXIT_DONE


_CODES: Final = {EXIT_DONE: "complete", EXIT_INCOMPLETE: "incomplete"}
STATUS: Final = Command(STATUS_HELP, STATUS_OPTIONS, status, codes=_CODES)
EXPORT: Final = Command(EXPORT_HELP, EXPORT_OPTIONS, export, stopped="nothing was exported")
DEDUP: Final = Command(DEDUP_HELP, DEDUP_OPTIONS, dedup, stopped="nothing was written")
