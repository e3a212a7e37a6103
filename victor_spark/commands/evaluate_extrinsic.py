"""Judges cleaners by a task that comes after them: finding reports of epidemics in news pages.

The DAnIEL classifier (el, en, pl, ru, zh) reads the pages as each cleaner left them, and as people cleaned
them (the row `reference`); precision, recall and F1 are those of its answers, in the layout of Table 7 of
Lejeune and Zhu (2018). Gold files are .jsonl or .jsonl.xz with meta.epidemic.relevant. A page on which a
cleaner fails counts as empty and is listed.
"""

import argparse
import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, fields
from pathlib import Path
from typing import Any, Final

from victor_spark.cleaners import check_name
from victor_spark.errors import EXIT_DONE, OutputError, UsageError
from victor_spark.evaluation import cleaned, extrinsic, gold
from victor_spark.evaluation.extrinsic import Counts, Table, Verdict
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.progress import track

EXAMPLES: Final = """\
examples:
  victor evaluate extrinsic --gold pages/daniel.jsonl.xz --cleaner victor kimatu line-block
  victor evaluate extrinsic --gold daniel.jsonl.xz --cleaner boilerpipe boilerpipe+justext --output out
"""

_LISTED_FAILURES: Final = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("--gold", metavar="FILE", nargs="+", required=True, help="annotated pages")
    parser.add_argument(
        "--cleaner", metavar="NAME", nargs="+", required=True, help="see `victor cleaners`; also cascades a+b"
    )
    parser.add_argument(
        "--output", metavar="DIR", help="directory for extrinsic.json, extrinsic.csv, pages.csv"
    )
    parser.add_argument(
        "--jobs", metavar="N", type=int, default=1, help="pages at a time (default: %(default)s)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Cleans, classifies, counts, prints."""
    if arguments.jobs < 1:
        raise UsageError("--jobs is at least 1")
    names = list(dict.fromkeys(arguments.cleaner))
    for name in names:
        check_name(name)
    output = _writable(Path(arguments.output)) if arguments.output else None
    pages = extrinsic.labelled(page for path in arguments.gold for page in gold.read(Path(path)))
    verdicts, failures = extrinsic.reference(pages), []
    for name in names:
        own, failed = _judge(pages, name, arguments.jobs)
        verdicts += own
        failures += failed
    table = {
        name: extrinsic.by_language([row for row in verdicts if row.cleaner == name])
        for name in (*names, extrinsic.REFERENCE)
    }
    print(f"{len(pages)} pages\n{extrinsic.lines(table)}")
    _list(failures)
    if output:
        _write(output, table, verdicts, failures)
    return EXIT_DONE


def _judge(pages: Sequence[GoldPage], name: str, n_jobs: int) -> tuple[list[Verdict], list[dict[str, str]]]:
    rows = list(track(cleaned.clean(pages, name, n_jobs), name, len(pages)))
    failures = [
        {"cleaner": name, "id": page.id, "failure": row.failure}
        for page, row in zip(pages, rows, strict=True)
        if row.failure
    ]
    return extrinsic.judge(name, pages, [row.text for row in rows]), failures


def _list(failures: Sequence[dict[str, str]]) -> None:
    if failures:
        print(f"\n{len(failures)} pages failed and count as empty:")
    for failure in failures[:_LISTED_FAILURES]:
        print("  {cleaner}: {id}: {failure}".format(**failure))
    if len(failures) > _LISTED_FAILURES:
        print(f"  ... and {len(failures) - _LISTED_FAILURES} more (all with --output)")


def _writable(directory: Path) -> Path:
    """The directory, made if need be: better to know now than after the cleaning."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OutputError(f"can't write to {directory}: {error.strerror or error}") from error
    return directory


def _write(
    output: Path, table: Table, verdicts: Sequence[Verdict], failures: Sequence[dict[str, str]]
) -> None:
    report = {"figures": extrinsic.figures(table), "failures": list(failures)}
    (output / "extrinsic.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    rows = (
        [name, language, *astuple(own), own.precision, own.recall, own.f1]
        for name, row in table.items()
        for language, own in row.items()
    )
    tallies = [field.name for field in fields(Counts)]
    _csv(output / "extrinsic.csv", ["cleaner", "language", *tallies, "precision", "recall", "f1"], rows)
    judged = ([*asdict(verdict).values(), verdict.found] for verdict in verdicts)
    _csv(output / "pages.csv", [*(field.name for field in fields(Verdict)), "found"], judged)


def _csv(path: Path, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(head)
        writer.writerows(rows)
