"""Trains NCleaner, character n-gram models of clean and dirty text, from annotated pages.

The data is a directory of <set>.jsonl or <set>.jsonl.xz: one page a line with id, html, gold (the text to
keep, paragraphs separated by newline) and, optionally, host, url and split. Pages of the split "dev" are not
used for training: the model is measured on them. The model directory gets weights.npz, CARD.md and
metrics.json, and `victor clean --cleaner ncleaner --model DIR` uses it.
"""

import argparse
import hashlib
import json
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from victor_spark.commands import outputs
from victor_spark.errors import EXIT_DONE, InputError, UsageError
from victor_spark.evaluation import card, crf, cross_validation, gold, labelling
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.evaluation.progress import track
from victor_spark.extractors import ncleaner as cleaner
from victor_spark.extractors.ncleaner import Model
from victor_spark.model.files import FILE_NAME
from victor_spark.train import ncleaner as training

EXAMPLES: Final = """\
examples:
  victor train ncleaner --data pages/ --output models/ncleaner/default
  victor train ncleaner --data pages/ --non-lexical --output models/ncleaner/non-lexical
  victor train ncleaner --data pages/ --sets daniel --pairs 25 --output mine     25 pages are enough to begin
  victor train ncleaner --data pages/ --sets cleaneval-dev --uncalibrated --output mine      as in 2008
  victor clean page.html --cleaner ncleaner --model mine
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("--data", metavar="DIR", required=True, help="directory of annotated pages")
    parser.add_argument("--output", metavar="DIR", required=True, help="the model directory to write")
    outputs.add_overwrite(parser)
    parser.add_argument("--sets", metavar="SET", nargs="+", default=[], help="only these sets (default: all)")
    parser.add_argument(
        "--pairs", metavar="N", type=int, help="learn from N pages, drawn by hash of their ids (default: all)"
    )
    parser.add_argument(
        "--non-lexical", action="store_true", help="every letter is `a`, every digit `0`: any language"
    )
    parser.add_argument(
        "--uncalibrated",
        action="store_true",
        help="decide by the likelihoods alone (default: weighed against a paragraph's length)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Labels, trains, measures on held-out pages, writes the model directory."""
    if arguments.pairs is not None and arguments.pairs < 1:
        raise UsageError("--pairs must be at least 1")
    with outputs.directory(Path(arguments.output), overwrite=arguments.overwrite) as output:
        _train(arguments, output)
    print(f"model in {output}")
    return EXIT_DONE


def _train(arguments: argparse.Namespace, output: Path) -> None:
    pages = _read(Path(arguments.data), arguments.sets)
    training_pages = _training_pages(pages, arguments)
    model = _trained(training_pages, arguments)
    held_out = [page for page in pages if gold.usable(page) and page.split == card.HELD_OUT]
    clean = cleaner.load(cleaner.to_bytes(model))
    labelled = map(labelling.label, track(held_out, "measuring", len(held_out)))
    results = [cross_validation.result(page, clean(page.page)) for page in labelled]
    metrics = _metrics(training_pages, cross_validation.by_set(results) if results else {}, arguments)
    if results:
        print(cross_validation.table(metrics["held_out"]))
    else:
        print(f"victor: not measured: {arguments.data} has no page of the split dev", file=sys.stderr)
    output.mkdir(parents=True, exist_ok=True)
    (output / FILE_NAME).write_bytes(cleaner.to_bytes(model))
    (output / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n", encoding="utf-8")
    (output / "CARD.md").write_text(
        card.write_ncleaner(f"ncleaner/{output.resolve().name}", metrics), encoding="utf-8"
    )


def _read(directory: Path, names: Sequence[str]) -> list[GoldPage]:
    return [page for path in gold.find(directory, names).values() for page in gold.read(path)]


def _training_pages(pages: Sequence[GoldPage], arguments: argparse.Namespace) -> list[LabelledPage]:
    """The first `--pairs` pages (default: all) whose html holds their gold, ordered by hash of their ids."""
    chosen = [page for page in pages if gold.usable(page) and page.split != card.HELD_OUT]
    chosen.sort(key=lambda page: hashlib.sha256(f"{page.set} {page.id}".encode()).hexdigest())
    wanted = arguments.pairs
    labelled = map(labelling.label, chosen if wanted else track(chosen, "labelling", len(chosen)))
    found = list(islice(filter(labelling.trainable, labelled), wanted))
    if not found:
        raise InputError(f"no page in {arguments.data} has a gold text that its html holds")
    n = len(found)
    if wanted and n < wanted:
        raise InputError(
            f"only {n} pages in {arguments.data} have a gold text that their html holds, not {wanted}"
        )
    return found


def _trained(pages: Sequence[LabelledPage], arguments: argparse.Namespace) -> Model:
    try:
        return training.train(
            crf.training_pages(pages),
            lexical=not arguments.non_lexical,
            calibrated=not arguments.uncalibrated,
            about={"command": _command(arguments)},
        )
    except ValueError as error:
        raise InputError(f"{arguments.data}: {error}") from error


def _metrics(
    pages: Sequence[LabelledPage], held_out: dict[str, Any], arguments: argparse.Namespace
) -> dict[str, Any]:
    return {
        "command": _command(arguments),
        "lexical": not arguments.non_lexical,
        "calibrated": not arguments.uncalibrated,
        "n_training_pages": len(pages),
        "training_pages": dict(sorted(Counter(page.gold.set for page in pages).items())),
        "held_out": held_out,
    }


def _command(arguments: argparse.Namespace) -> str:
    """The command that makes this model again, without paths of this machine."""
    words = ["victor", "train", "ncleaner", "--data", "PAGES"]
    if arguments.sets:
        words += ["--sets", *arguments.sets]
    if arguments.pairs:
        words += ["--pairs", str(arguments.pairs)]
    words += ["--non-lexical"] if arguments.non_lexical else []
    words += ["--uncalibrated"] if arguments.uncalibrated else []
    return shlex.join(words)
