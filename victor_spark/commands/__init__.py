"""Every command of `victor`: its name, where its `Command` is, and one line of help."""

import importlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from victor_spark.commands.options import Command

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "clean": ("clean:CLEAN", "clean one page to stdout, or archives to Parquet on Spark"),
    "demo": ("demo:DEMO", "clean a small sample crawl and measure the result"),
    "explain": ("explain:EXPLAIN", "show block by block why a page was cleaned as it was"),
    "look": ("look:LOOK", "look at pages in the browser, and try cleaners, thresholds and roles"),
    "plan": ("plan:PLAN", "check inputs; estimate pages, time, disk and memory of a run"),
    "status": ("runs:STATUS", "show the progress of a run: parts that are done, missing and failed"),
    "export": ("runs:EXPORT", "write a run's pages as JSON Lines, Parquet, or an Iceberg or Delta table"),
    "dedup": ("runs:DEDUP", "mark or drop pages that repeat another page of a run"),
    "package": ("package:PACKAGE", "pack victor-spark for the executors of a cluster"),
    "evaluate": ("evaluate:EVALUATE", "measure cleaners on annotated pages and write a report"),
    "fetch": ("fetch:FETCH", "fetch a list of addresses into a WARC file"),
    "templates mine": ("templates:MINE", "find strings that many pages of a site repeat"),
    "templates show": ("templates:SHOW", "print a site's templates and its cut-off"),
    "templates apply": ("clean:APPLY", "remove a site's templates from its pages"),
    "templates diff": ("templates:DIFF", "compare two tables of templates"),
    "templates evaluate": ("templates:EVALUATE", "measure templates and a cleaner on annotated pages"),
    "sites write": ("sites:WRITE", "write a table of sites from finished runs, or merge such tables"),
    "sites show": ("sites:SHOW", "show which parts of a site's pages are kept, as text or html"),
    "train crf": ("train_crf:TRAIN", "train a cleaner from annotated pages"),
    "train langid": ("train_ngrams:LANGID", "build language profiles from text files"),
    "train ncleaner": ("train_ngrams:NCLEANER", "train n-gram models of clean and dirty text"),
    "annotate": ("annotate:ANNOTATE", "label the blocks of pages in the browser"),
    "annotate export": ("annotate:EXPORT", "export labels: gold pages, CleanEval text, or html"),
    "annotate agreement": ("annotate:AGREEMENT", "measure how far annotators agree"),
    "cleaners": ("lists:CLEANERS", "list the cleaners that are installed"),
    "completion": ("completion:COMPLETION", "print a script that completes commands in a shell"),
    "languages": ("lists:LANGUAGES", "list the languages that can be identified"),
}
"""Name as typed (one or two words) → module and name of its Command, and one line of help."""


def loaded(name: str) -> "Command":
    """The command of that name; its module is imported only now."""
    module, _, attribute = COMMANDS[name][0].partition(":")
    command: Command = getattr(importlib.import_module(f"victor_spark.commands.{module}"), attribute)
    return command
