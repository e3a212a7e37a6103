"""Computes Tables 5, 6 and 7 of Lejeune and Zhu (2018) again and writes them beside the published figures.

`python -m research.reproduce --output docs/evaluation.md` replaces the text between the markers
`<!-- begin: NAME -->` and `<!-- end: NAME -->`, and keeps the rest of the file. A missing file is written.
The annotated pages are $VICTOR_DATA or ../shared/data.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import permutations
from pathlib import Path
from typing import Final

from research import extrinsic, findings, published, reproduction, sample, unseen
from research.findings import Finding, Plan
from research.reproduction import Measured
from victor_spark.errors import EXIT_DONE, InputError, OutputError, UsageError, VictorError
from victor_spark.evaluation import gold
from victor_spark.evaluation.gold import GoldPage
from victor_spark.extractors import CLEANERS, MODELS, template
from victor_spark.logs import track

TOOLS: Final = tuple(published.TOOLS.values())
PAIRS: Final = tuple(f"{first}+{second}" for first, second in permutations(TOOLS, 2))
OURS: Final = tuple(name for name in CLEANERS if name not in (*TOOLS, template.NAME))
SETS: Final = ("daniel", "cleaneval-dev")
UNSEEN: Final = "victor, other sites"
"""The row of a quick model of `victor` that was trained on none of the sites of SETS."""
OTHERS: Final = ("trafilatura", "resiliparse", "readability")


@dataclass(frozen=True, slots=True)
class Sets:
    """The pages of the two experiments."""

    daniel: list[GoldPage]
    cleaneval: list[GoldPage]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs everything and returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        if options.jobs < 1 or (options.pages is not None and options.pages < 1):
            raise UsageError("--jobs and --pages are at least 1")
        _run(options)
    except VictorError as error:
        print(f"reproduce: error: {error}", file=sys.stderr)
        return error.exit_code
    return EXIT_DONE


def _run(options: argparse.Namespace) -> None:
    folder = options.data or sample.data_directory()
    if folder is None:
        raise InputError("no annotated pages: --data DIR or $VICTOR_DATA")
    sets = read(folder / "pages", options.pages)
    singles = findings.plan((*TOOLS, *OURS, *OTHERS), intrinsic=True)
    pairs = findings.plan(() if options.no_pairs else PAIRS, intrinsic=True)
    if not options.no_unseen:
        stranger = unseen.model(folder / "pages", MODELS["victor"], SETS)
        singles = findings.with_model(singles, UNSEEN, "victor", stranger)
    daniel = measure(sets.daniel, (singles, pairs), "daniel", options.jobs)
    cleaneval = measure(sets.cleaneval, (singles,), "cleaneval-dev", options.jobs)
    write(options.output, reproduction.sections(daniel, cleaneval))


def read(directory: Path, per_language: int | None) -> Sets:
    """The pages: of daniel all that can be tested or, chosen by hash of their ids, a number per language."""
    files = gold.find(directory, SETS)
    daniel = extrinsic.labelled(gold.read(files["daniel"]))
    cleaneval = [page for page in gold.read(files["cleaneval-dev"]) if gold.usable(page)]
    return Sets(list(_sample(daniel, per_language)), list(_sample(cleaneval, per_language)))


def _sample(pages: Iterable[GoldPage], per_language: int | None) -> Iterable[GoldPage]:
    if per_language is None:
        return pages
    by_language: dict[str | None, list[GoldPage]] = {}
    for page in sorted(pages, key=lambda page: sha256(page.id.encode()).digest()):
        by_language.setdefault(page.language, []).append(page)
    return [page for own in by_language.values() for page in own[:per_language]]


def measure(pages: Sequence[GoldPage], plans: Sequence[Plan], label: str, n_jobs: int) -> Measured:
    """Every page by every cleaner of the plans, and the gold cleaning."""
    rows: dict[str, list[Finding]] = {}
    for plan in filter(lambda plan: plan.cleaners, plans):
        found = findings.find(pages, plan, n_jobs=n_jobs)
        every = list(track(found, label, len(pages) * len(plan.cleaners)))
        rows |= {name: [row for row in every if row.cleaner == name] for name in plan.cleaners}
    rows[extrinsic.REFERENCE] = extrinsic.reference(pages)
    return Measured(tuple(pages), rows, frozenset(extrinsic.relevant(pages)))


def write(path: Path, sections: dict[str, str]) -> None:
    """Puts the sections between their markers; those that have none in the file go to its end."""
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else "# Evaluation\n"
        path.write_text(filled(before, sections), encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(f"can't write {path}: {error}") from error


def filled(text: str, sections: dict[str, str]) -> str:
    """The text with every section renewed; OutputError where an end marker is missing."""
    for name, content in sections.items():
        begin, end = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
        block = f"{begin}\n\n{content.strip()}\n\n{end}"
        head, found, rest = text.partition(begin)
        old, closed, tail = rest.partition(end)
        if not found:
            text = f"{text.rstrip()}\n\n{block}\n"
        elif not closed or "<!-- begin: " in old:
            raise OutputError(f"{begin} has no {end}")
        else:
            text = head + block + tail
    return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m research.reproduce",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--output", metavar="FILE", type=Path, required=True, help="the Markdown file")
    parser.add_argument("--data", metavar="DIR", type=Path, help="has pages/")
    parser.add_argument("--jobs", metavar="N", type=int, default=2, help="pages at a time (default: 2)")
    parser.add_argument("--pages", metavar="N", type=int, help="at most N pages a language (default: all)")
    parser.add_argument("--no-pairs", action="store_true", help="leave the pipelines A-B out")
    parser.add_argument("--no-unseen", action="store_true", help="don't train a model on other sites")
    return parser


if __name__ == "__main__":
    sys.exit(main())
