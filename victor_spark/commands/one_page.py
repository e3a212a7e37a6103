"""One page, given as a file, an address or on stdin: read, cleaned, printed."""

import argparse
import dataclasses
import sys
from typing import Final

from victor_spark import pipeline
from victor_spark.commands.clean_options import FORMATS, CleanOptions
from victor_spark.errors import EXIT_DONE, InputError, UsageError
from victor_spark.page import Document, Record
from victor_spark.warc import file_types, inputs, records
from victor_spark.warc.shard import Shard

_JUDGED: Final = frozenset({"ok", "empty", "wrong_language"})  # the page was read, and this is the answer


def print_page(arguments: argparse.Namespace, chosen: CleanOptions) -> int:
    """Prints the text of the one page that INPUT is, and returns the exit code."""
    name, record = read_page(arguments, chosen)
    document = _clean(record, chosen) if record.status is None else None
    status, reason = (document or record).status, (document or record).reason
    verdict = f"{name}: {status}{f' ({reason})' if reason else ''}"
    if document is None or status not in _JUDGED:
        raise InputError(verdict)
    text = document.render(arguments.format or FORMATS[0]) if status == "ok" else ""
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    sys.stdout.write(text if not text or text.endswith("\n") else f"{text}\n")
    sys.stdout.flush()
    if status != "ok":
        print(f"victor: {verdict}", file=sys.stderr)
    return EXIT_DONE


def _clean(record: Record, chosen: CleanOptions) -> Document:
    models = pipeline.models(chosen.settings)
    return pipeline.cleaning(chosen.settings, models)(record)


def read_page(arguments: argparse.Namespace, chosen: CleanOptions) -> tuple[str, Record]:
    """The name and the record of the one page that INPUT is."""
    if arguments.inputs == ["-"]:
        payload = sys.stdin.buffer.read()
        if not payload:
            raise InputError("stdin: empty")
        if what := file_types.only_named(payload.decode("utf-8", "replace")):
            raise InputError(f"stdin holds {what}, not a page: give it as INPUT, or send the page")
        return "stdin", pipeline.handed_over(payload, arguments.url)
    if "-" in arguments.inputs:
        raise UsageError("- (stdin) is a page by itself: no other INPUT beside it")
    shards = inputs.resolve(arguments.inputs, base_url=arguments.input_base_url)
    shard = _the_page(shards)
    for record in records.read(shard, chosen.reading):
        return shard.filename, dataclasses.replace(record, url=arguments.url or record.url)
    raise InputError(f"{shard.filename}: holds no page")


def _the_page(shards: tuple[Shard, ...]) -> Shard:
    if len(shards) > 1:
        raise UsageError(f"{len(shards)} inputs: give --output OUT for their rows, or one html page")
    if shards[0].kind != "html":
        raise UsageError(f"{shards[0].filename} is an archive: give --output OUT for its rows")
    return shards[0]
