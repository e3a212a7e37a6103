"""Writes an html file that shows why a page was cleaned as it was: each block is coloured by its label.

Point at a block to see its probabilities and the features with the largest weights. The file runs no script
of the page and loads nothing. The page's metadata are printed with their sources.

examples:
  victor explain page.html                       writes page.explained.html
  victor explain page.html --output why.html --cleaner victor-2008
  victor explain page.html --fail-below 0.6 || echo "the model is unsure of this page"
  victor explain page.html --url http://example.org/a --templates templates.parquet
"""

import argparse
from pathlib import Path
from typing import Final

from victor_spark import pipeline, resources
from victor_spark.annotation import explained
from victor_spark.commands import clean
from victor_spark.commands.clean import CLEANER, LANGUAGE, MAX_BYTES, TEMPLATES, URL, read_page
from victor_spark.commands.options import Command, Group, option
from victor_spark.errors import EXIT_BUDGET, EXIT_DONE, InputError
from victor_spark.html.charset import decode
from victor_spark.warc import storage

OPTIONS: Final = (
    option("PAGE", "an html page; - is stdin", dest="inputs", nargs=1),
    option("--output FILE", "default: NAME.explained.html in this directory"),
    CLEANER,
    TEMPLATES,
    LANGUAGE,
    Group("the page", URL, MAX_BYTES),
)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    request = clean.requested(arguments)
    name, record = read_page(request, arguments.url)
    if record.status is not None or record.payload is None:
        raise InputError(f"{name}: {record.status or 'error'} ({record.reason})")
    models = pipeline.models(request.cleaning)
    document = pipeline.cleaning(request.cleaning, models)(record)
    markup, _ = decode(record.payload, record.http_charset)
    shown = "page" if name == "stdin" else Path(storage.public(arguments.inputs[0], arguments.inputs[0])).stem
    path = Path(arguments.output or f"{shown}.explained.html")
    with resources.written(path):
        path.write_text(explained.page(document, models, name=name, markup=markup), encoding="utf-8")
    print(f"{name}: {explained.verdict(document)}\n{path}")
    for name, value, source in explained.facts(document):
        print(f"  {name}: {storage.printable(value):.200} (from {source})")
    is_unsure = request.cleaning.fail_below is not None and document.status == "empty"
    return EXIT_BUDGET if is_unsure else EXIT_DONE


EXPLAIN: Final = Command(__doc__, OPTIONS, run, codes={EXIT_BUDGET: "expected F1 below --fail-below"})
