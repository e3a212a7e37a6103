"""Every command of `victor`, each defined once: a module with `add_arguments(parser)` and `run(arguments)`.

A module's docstring is the command's help; `EXAMPLES`, if it has them, end it.
"""

from typing import Final

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "clean": ("victor_spark.commands.clean", "clean pages: one to stdout, or archives to Parquet on Spark"),
    "explain": ("victor_spark.commands.explain", "show why a page was cleaned as it was, block by block"),
    "plan": ("victor_spark.commands.plan", "check the inputs, and say what cleaning them will take"),
    "status": ("victor_spark.commands.status", "say how far a run is: waves done, missing and failed"),
    "package": ("victor_spark.commands.package", "pack victor-spark for the executors of a cluster"),
    "evaluate": ("victor_spark.commands.evaluate", "judge cleaners on annotated pages: results and a report"),
    "fetch": ("victor_spark.commands.fetch", "fetch a list of addresses into a WARC, politely"),
    "templates mine": ("victor_spark.commands.templates_mine", "find what many pages of a site repeat"),
    "templates show": (
        "victor_spark.commands.templates_show",
        "look at a site's templates and their cut-off",
    ),
    "templates apply": ("victor_spark.commands.templates_apply", "take their site's templates out of pages"),
    "templates diff": ("victor_spark.commands.templates_diff", "compare two templates tables"),
    "templates evaluate": (
        "victor_spark.commands.templates_evaluate",
        "judge templates, a cleaner, and both on annotated pages",
    ),
    "train crf": ("victor_spark.commands.train_crf", "train a cleaner from annotated pages"),
    "train langid": ("victor_spark.commands.train_langid", "build language profiles from text files"),
    "train ncleaner": ("victor_spark.commands.train_ncleaner", "train n-gram models of clean and dirty text"),
    "annotate": ("victor_spark.commands.annotate", "label the blocks of pages in the browser"),
    "annotate export": (
        "victor_spark.commands.annotate_export",
        "labels out of the store: gold, CleanEval text, html",
    ),
    "annotate agreement": (
        "victor_spark.commands.annotate_agreement",
        "how far annotators agree, and where they differ",
    ),
    "cleaners": ("victor_spark.commands.cleaners", "list the cleaners that can be used here"),
}
"""Name as typed (one or two words) → module, and what it does in a line."""
