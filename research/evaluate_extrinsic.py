"""Evaluates cleaners by a later task: finding reports of epidemics in news pages.

The DAnIEL classifier (el, en, pl, ru, zh) reads the pages as each cleaner left them, and as people cleaned
them (the row `reference`); precision, recall and F1 are those of its answers, in the layout of Table 7 of
Lejeune and Zhu (2018). Gold files are .jsonl or .jsonl.xz with meta.epidemic.relevant. A page on which a
cleaner fails counts as empty and is listed.

python -m research.evaluate_extrinsic --gold pages/daniel.jsonl.xz --cleaner victor kimatu line-block
python -m research.evaluate_extrinsic --gold daniel.jsonl.xz --cleaner boilerpipe boilerpipe+justext
"""

import argparse
import csv
import json
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any, Final

from research import extrinsic, findings
from research.extrinsic import Counts, Table
from research.findings import Finding, Plan
from victor_spark import resources
from victor_spark.commands.options import OVERWRITE, add
from victor_spark.errors import EXIT_DONE, UsageError, VictorError
from victor_spark.evaluation import gold
from victor_spark.logs import track

_LISTED_FAILURES: Final = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Evaluates the cleaners and returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        return run(options)
    except VictorError as error:
        print(f"evaluate_extrinsic: error: {error}", file=sys.stderr)
        return error.exit_code


def run(arguments: argparse.Namespace) -> int:
    """Cleans, classifies, counts, prints."""
    if arguments.jobs < 1:
        raise UsageError("--jobs is at least 1")
    plan = findings.plan(arguments.cleaner, intrinsic=False)
    if not arguments.output:
        return _evaluate(arguments, plan, None)
    with resources.new_directory(Path(arguments.output), overwrite=arguments.overwrite) as output:
        return _evaluate(arguments, plan, output)


def _evaluate(arguments: argparse.Namespace, plan: Plan, output: Path | None) -> int:
    pages = extrinsic.labelled(page for path in arguments.gold for page in gold.read(Path(path)))
    wanted = extrinsic.relevant(pages)
    found = findings.find(pages, plan, n_jobs=arguments.jobs)
    rows = list(track(found, "cleaning", len(pages) * len(plan.cleaners))) + extrinsic.reference(pages)
    table = {
        name: extrinsic.by_language([row for row in rows if row.cleaner == name], wanted)
        for name in (*plan.cleaners, extrinsic.REFERENCE)
    }
    print(f"{len(pages)} pages, {len(wanted)} of them relevant\n\n{extrinsic.lines(table)}")
    failures = [row for row in rows if row.failure]
    _list(failures)
    if output:
        _write(output, table, rows, wanted)
    return EXIT_DONE


def _list(failures: Sequence[Finding]) -> None:
    if failures:
        print(f"\n{len(failures)} outputs are missing and count as empty:")
    for row in failures[:_LISTED_FAILURES]:
        print(f"  {row.cleaner}: {row.id}: {row.failure}")
    if len(failures) > _LISTED_FAILURES:
        print(f"  ... and {len(failures) - _LISTED_FAILURES} more (all with --output)")


def _write(output: Path, table: Table, rows: Sequence[Finding], wanted: Collection[str]) -> None:
    failures = [{"cleaner": row.cleaner, "id": row.id, "failure": row.failure} for row in rows if row.failure]
    report = {"figures": extrinsic.figures(table), "failures": failures}
    (output / "extrinsic.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    counted = (
        [name, language, *astuple(own), own.precision, own.recall, own.f1]
        for name, row in table.items()
        for language, own in row.items()
    )
    tallies = [field.name for field in fields(Counts)]
    _csv(output / "extrinsic.csv", ["cleaner", "language", *tallies, "precision", "recall", "f1"], counted)
    _csv(output / "pages.csv", _PAGE_COLUMNS, (_cells(row, wanted) for row in rows))


_PAGE_COLUMNS: Final = (
    "cleaner", "id", "language", "relevant", "found", "score", "string", "disease", "failure"
)  # fmt: skip


def _cells(row: Finding, wanted: Collection[str]) -> list[Any]:
    evidence = row.evidence
    answer = [row.id in wanted, evidence.relevant, round(evidence.score, 4)]
    return [row.cleaner, row.id, row.language, *answer, evidence.string, evidence.disease, row.failure]


def _csv(path: Path, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(head)
        writer.writerows(rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m research.evaluate_extrinsic",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--gold", metavar="FILE", nargs="+", required=True, help="annotated pages")
    parser.add_argument(
        "--cleaner", metavar="NAME", nargs="+", required=True, help="see `victor cleaners`; also cascades a+b"
    )
    parser.add_argument(
        "--output", metavar="DIR", help="directory for extrinsic.json, extrinsic.csv, pages.csv"
    )
    add(parser, [OVERWRITE])
    parser.add_argument(
        "--jobs", metavar="N", type=int, default=1, help="pages at a time (default: %(default)s)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
