"""Marks pages of a finished run that repeat another page: copies, reprints, one article at several addresses.

OUT is the --output of victor clean. Two pages are duplicates if they share at least --threshold of their runs
of N words (characters, in scripts without spaces). Duplicates of duplicates are in the same cluster, of which
one page is kept. OUT/duplicates/ (Parquet) gets a row for every page of a
cluster, with the page that is kept for it. Run again, the command replaces it; OUT/pages/ never changes. The
result depends on the pages only, not on tasks or their order.

examples:
  victor dedup out                                      keep the page that was fetched first
  victor dedup out --threshold 0.9 --keep longest
  victor dedup out --per-site                           keep one page on each site
  victor dedup out --output unique --drop               the pages table without duplicates
  victor dedup out --output marked                      the pages table with columns of the marks
  spark-submit --master spark://host:7077 jobs/dedup.py hdfs:///out --output hdfs:///unique --drop
"""

import argparse
from dataclasses import fields
from typing import Final

from victor_spark.commands.clean_options import MASTER
from victor_spark.commands.options import Command, option, positive, probability, switch
from victor_spark.errors import EXIT_DONE, EXIT_INCOMPLETE, UsageError
from victor_spark.logs import log

OPTIONS: Final = (
    option("OUT", "the --output of victor clean", dest="location"),
    option("--threshold X", "least similarity of duplicates, 0 to 1", probability, default=0.8),
    option("--shingle-words N", "length of a run, in words or characters", positive, default=5),
    option("--keep", "the page to keep", choices=("first", "longest"), default="first"),
    switch("--per-site", "keep one page on each site (registered domain)"),
    option("--output DEST", "write the pages table with columns of the marks to a new folder", dest="target"),
    switch("--drop", "with --output: leave the duplicates out"),
    MASTER,
)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    if arguments.drop and not arguments.target:
        raise UsageError("--drop needs --output DEST")
    from victor_spark.spark import dedup

    given = {one.name: getattr(arguments, one.name) for one in fields(dedup.DedupRequest)}
    try:
        dedup.run(dedup.DedupRequest(**{name: value for name, value in given.items() if value is not None}))
    except KeyboardInterrupt:
        log("stopped; nothing was written", "warning")
        return EXIT_INCOMPLETE
    return EXIT_DONE


DEDUP: Final = Command(__doc__, OPTIONS, run)
