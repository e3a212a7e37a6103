"""One page, given as a file, an address or on stdin: read, cleaned, printed."""

import dataclasses
import sys
from collections.abc import Sequence

from victor_spark import pipeline
from victor_spark.document import FORMS
from victor_spark.errors import ANSWERED, EXIT_DONE, InputError, UsageError
from victor_spark.preparation import handed_over
from victor_spark.spark.request import CleanRequest
from victor_spark.warc import file_types, inputs, reading
from victor_spark.warc.records import Record


def print_page(
    request: CleanRequest, *, url: str | None, form: str | None, without: Sequence[str] = ()
) -> int:
    """Prints the text of the one page that INPUT is, and returns the exit code.

    `without`: what Markdown leaves out, of links, images and emphasis.
    """
    name, record = read_page(request, url)
    document = None
    if record.status is None:
        document = pipeline.cleaning(request.cleaning, pipeline.models(request.cleaning))(record)
    status, reason = (document or record).status, (document or record).reason
    verdict = f"{name}: {status}{f' ({reason})' if reason else ''}"
    if document is None or status not in ANSWERED:
        raise InputError(verdict)
    text = document.render(form or FORMS[0], **dict.fromkeys(without, False)) if status == "ok" else ""
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    sys.stdout.write(text if not text or text.endswith("\n") else f"{text}\n")
    sys.stdout.flush()
    if status != "ok":
        print(f"victor: {verdict}", file=sys.stderr)
    return EXIT_DONE


def read_page(request: CleanRequest, url: str | None) -> tuple[str, Record]:
    """The name and the record of the one page that INPUT is; `url` is its address, if it is known."""
    if request.inputs == ("-",):
        payload = sys.stdin.buffer.read()
        if not payload:
            raise InputError("stdin: empty")
        if len(payload) > request.reading.max_bytes:
            raise InputError(f"stdin: oversize (over {request.reading.max_bytes} bytes): see --max-bytes")
        if what := file_types.only_named(payload.decode("utf-8", "replace")):
            raise InputError(f"stdin holds {what}, not a page: give it as INPUT, or send the page")
        return "stdin", handed_over(payload, url)
    if "-" in request.inputs:
        raise UsageError("- (stdin) cannot be combined with other inputs")
    shard, *others = inputs.resolve(request.inputs, base_url=request.base_url)
    if others:
        found = f"{len(others) + 1} inputs"
        raise UsageError(f"{found}, not one html page: `victor clean --output OUT` writes their rows")
    if shard.kind != "html":
        found = f"{shard.filename} is an archive"
        raise UsageError(f"{found}, not an html page: `victor clean --output OUT` writes its rows")
    for record in reading.read(shard, request.reading):
        return shard.filename, dataclasses.replace(record, url=url or record.url)
    raise InputError(f"{shard.filename}: holds no page")
