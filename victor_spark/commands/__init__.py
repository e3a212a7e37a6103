"""Every command of `victor`. A command is a module with `add_arguments(parser)` and `run(arguments)`.

A module's docstring is the command's help; its `EXAMPLES` are printed after the options.
"""

from typing import Final

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "clean": ("victor_spark.commands.clean", "clean one page to stdout, or archives to Parquet on Spark"),
    "explain": ("victor_spark.commands.explain", "show block by block why a page was cleaned as it was"),
    "plan": ("victor_spark.commands.plan", "check inputs; estimate pages, time, disk and memory of a run"),
    "status": ("victor_spark.commands.status", "show the waves of a run that are done, missing and failed"),
    "package": ("victor_spark.commands.package", "pack victor-spark for the executors of a cluster"),
    "evaluate": ("victor_spark.commands.evaluate", "measure cleaners on annotated pages and write a report"),
    "fetch": ("victor_spark.commands.fetch", "fetch a list of addresses into a WARC file"),
    "templates mine": ("victor_spark.commands.templates_mine", "find what many pages of a site repeat"),
    "templates show": ("victor_spark.commands.templates_show", "print a site's templates and its cut-off"),
    "templates apply": ("victor_spark.commands.templates_apply", "remove a site's templates from its pages"),
    "templates diff": ("victor_spark.commands.templates_diff", "compare two templates tables"),
    "templates evaluate": (
        "victor_spark.commands.templates_evaluate",
        "measure templates, a cleaner, and both on annotated pages",
    ),
    "train crf": ("victor_spark.commands.train_crf", "train a cleaner from annotated pages"),
    "train langid": ("victor_spark.commands.train_langid", "build language profiles from text files"),
    "train ncleaner": ("victor_spark.commands.train_ncleaner", "train n-gram models of clean and dirty text"),
    "annotate": ("victor_spark.commands.annotate", "label the blocks of pages in the browser"),
    "annotate export": (
        "victor_spark.commands.annotate_export",
        "export labels: gold pages, CleanEval text, or html",
    ),
    "annotate agreement": (
        "victor_spark.commands.annotate_agreement",
        "measure how far annotators agree, and list where they differ",
    ),
    "cleaners": ("victor_spark.commands.cleaners", "list the cleaners that are installed"),
    "languages": ("victor_spark.commands.languages", "list the languages that can be identified"),
}
"""Name as typed (one or two words) → module, and one line of help."""
