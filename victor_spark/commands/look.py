"""Shows pages in the browser: blocks in colour, text, Markdown, metadata, and what other cleaners keep.

INPUT is as in `victor clean`. Change the cleaner, its threshold and the roles to keep, and see what changes.
Prints its address (with a token) and runs until Ctrl-C; only this machine can reach it.

examples:
  victor look page.html
  victor look https://example.org/article
  victor look crawl.warc.gz --limit 500
  victor look crawl.warc.gz --offset 120345           the record at warc_record_offset of a row
  victor look                                         open pages, or paste html, in the browser
"""

import argparse
import secrets
import sys
import webbrowser
from contextlib import suppress
from functools import partial
from typing import Final

from victor_spark.commands import clean
from victor_spark.commands.clean import CLEANER, READING, TEMPLATES
from victor_spark.commands.options import Command, Group, option, switch
from victor_spark.configuration import positive
from victor_spark.errors import EXIT_DONE, UsageError

OPTIONS: Final = (
    option("[INPUT...]", "pages to look at", dest="inputs"),
    option("--limit N", "open only the first N pages of an input", positive, default=100),
    option("--offset BYTE", "open only the record at this offset of the archive", int),
    CLEANER,
    TEMPLATES,
    READING,
    Group(
        "server",
        option("--port PORT", "0: any free port", int, default=0),
        switch("--no-open", "print the address, open no browser"),
    ),
)


def run(arguments: argparse.Namespace) -> int:
    """Opens the inputs, then serves them."""
    from victor_spark import pipeline
    from victor_spark.annotation import look, serving

    if not 0 <= arguments.port < 65536:
        raise UsageError("--port must be between 0 and 65535")
    if arguments.offset is not None and (len(arguments.inputs) != 1 or arguments.offset < 0):
        raise UsageError("--offset needs exactly one archive as INPUT, and a number of 0 or more")
    request = clean.requested(arguments)
    pipeline.models(request.cleaning)
    opened = look.Opened(request.cleaning, request.reading, request.base_url)
    for name in arguments.inputs:
        opened.open(name, limit=arguments.limit, offset=arguments.offset)
    with suppress(KeyboardInterrupt):
        serving.serve(
            partial(look.application, opened),
            host="127.0.0.1",
            port=arguments.port,
            token=secrets.token_urlsafe(16),
            note="Ctrl-C stops",
            started=webbrowser.open if sys.stdout.isatty() and not arguments.no_open else str,
        )
    return EXIT_DONE


LOOK: Final = Command(__doc__, OPTIONS, run)
