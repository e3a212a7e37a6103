"""Trains a CRF from annotated pages, and measures it by cross-validation over sites it has not seen.

The data is a directory of <set>.jsonl or <set>.jsonl.xz: one page a line with id, html, gold (the text worth
keeping, paragraphs by newline) and, where known, host and url. The model directory gets weights.npz, CARD.md,
metrics.json and pictures; it is written when everything is done, and `victor clean --model DIR` uses it.
"""

import argparse
import json
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from victor_spark.commands.outputs import writable
from victor_spark.crf import model as crf_model
from victor_spark.crf.table import FeatureTable, from_conf, without
from victor_spark.crf.training import ALGORITHMS, MAX_BLOCKS, TrainingOptions
from victor_spark.errors import EXIT_DONE, InputError, UsageError
from victor_spark.evaluation import card, crf, cross_validation, gold, labelling, pictures, summary
from victor_spark.evaluation.cross_validation import Results
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.evaluation.progress import reporter, track

EXAMPLES: Final = """\
examples:
  victor train crf --data pages/ --output models/crf/mine
  victor train crf --data pages/ --sets canola wcxb --folds 5 --jobs 2 --output mine
  victor train crf --data pages/ --folds 0 --iterations 30 --output quick      no cross-validation
  victor clean page.html --model mine
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("--data", metavar="DIR", required=True, help="directory of annotated pages")
    parser.add_argument("--output", metavar="DIR", required=True, help="the model directory to write")
    parser.add_argument("--sets", metavar="SET", nargs="+", default=[], help="only these sets (default: all)")
    parser.add_argument(
        "--features", metavar="NAME", default="victor-2008", help="feature set (default: %(default)s)"
    )
    parser.add_argument(
        "--without", metavar="NAME", nargs="+", default=[], help="silence these features, for an ablation"
    )
    parser.add_argument(
        "--folds",
        metavar="K",
        type=int,
        default=10,
        help="folds by site; 0: don't measure (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs", metavar="N", type=int, default=1, help="folds at a time (default: %(default)s)"
    )
    parser.add_argument(
        "--algorithm", choices=sorted(ALGORITHMS), default="lbfgs", help="lbfgs, or averaged perceptron"
    )
    parser.add_argument(
        "--iterations", metavar="N", type=int, default=100, help="at most (default: %(default)s)"
    )
    parser.add_argument("--c1", metavar="X", type=float, help="L1 regularisation, lbfgs only (default: 0)")
    parser.add_argument("--c2", metavar="X", type=float, help="L2 regularisation, lbfgs only (default: 1)")


def run(arguments: argparse.Namespace) -> int:
    """Labels, cross-validates, trains on everything, writes the model directory."""
    options = _options(arguments)
    table = without(from_conf(arguments.features), arguments.without)
    output = writable(Path(arguments.output))
    pages = _labelled(Path(arguments.data), arguments.sets)
    results: Results = {}
    if arguments.folds:
        results = cross_validation.cross_validate(
            pages, crf.recipe(table, options), n_folds=arguments.folds, n_jobs=arguments.jobs
        )
        for name, judged in results.items():
            print(f"\n{name}\n{summary.table(summary.by_set(judged))}")
    _write(output, pages, results, table=table, options=options, arguments=arguments)
    print(f"\nmodel in {output}")
    return EXIT_DONE


def _options(arguments: argparse.Namespace) -> TrainingOptions:
    given = {name: getattr(arguments, name) for name in ("c1", "c2") if getattr(arguments, name) is not None}
    if given and arguments.algorithm != "lbfgs":
        raise UsageError(f"--{next(iter(given))} belongs to --algorithm lbfgs")
    if any(value < 0 for value in given.values()):
        raise UsageError("--c1 and --c2 can't be negative")
    if arguments.iterations < 1 or arguments.jobs < 1:
        raise UsageError("--iterations and --jobs are at least 1")
    if arguments.folds < 0 or arguments.folds == 1:
        raise UsageError("--folds is 0 (don't measure) or at least 2")
    return TrainingOptions(arguments.algorithm, arguments.iterations, given)


def _labelled(directory: Path, names: Sequence[str]) -> list[LabelledPage]:
    pages: list[LabelledPage] = []
    for name, path in gold.find(directory, names).items():
        usable = [page for page in gold.read(path) if gold.usable(page)]
        pages += track(labelling.label_all(usable), f"labelling {name}", len(usable))
    if not any(map(labelling.trainable, pages)):
        raise InputError(f"no page in {directory} has a gold text that its html holds")
    return pages


def _write(
    output: Path,
    pages: Sequence[LabelledPage],
    results: Results,
    *,
    table: FeatureTable,
    options: TrainingOptions,
    arguments: argparse.Namespace,
) -> None:
    """Trains on all pages and writes the model with everything that is known about it."""
    learnt = [page for page in pages if labelling.trainable(page)]
    report = reporter("training", options.max_iterations)
    trained = crf.train(learnt, table, options, lambda number, loss: report(number, f"loss {loss:.0f}"))
    sys.stderr.write("\n" if sys.stderr.isatty() else "")
    metrics = _metrics(pages, learnt, results, options, arguments)
    _draw(output, results)
    (output / crf_model.FILE_NAME).write_bytes(crf_model.to_bytes(trained))
    (output / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n", encoding="utf-8")
    (output / "CARD.md").write_text(card.write(output.resolve().name, metrics), encoding="utf-8")


def _metrics(
    pages: Sequence[LabelledPage],
    learnt: Sequence[LabelledPage],
    results: Results,
    options: TrainingOptions,
    arguments: argparse.Namespace,
) -> dict[str, Any]:
    trained_on = Counter(page.gold.set for page in learnt if len(page.page.blocks) <= MAX_BLOCKS)
    return {
        "command": _command(arguments),
        "feature_set": arguments.features,
        "algorithm": options.algorithm,
        "max_iterations": options.max_iterations,
        "parameters": {**ALGORITHMS[options.algorithm], **options.parameters},
        "n_labelled_pages": len(pages),
        "n_training_pages": trained_on.total(),
        "training_pages": dict(sorted(trained_on.items())),
        "n_folds": arguments.folds,
        "cross_validation": {name: summary.by_set(judged) for name, judged in results.items()},
    }


def _command(arguments: argparse.Namespace) -> str:
    """The command that makes this model again, on whatever machine the data is."""
    words = ["victor", "train", "crf", "--data", "PAGES"]
    if arguments.sets:
        words += ["--sets", *arguments.sets]
    if arguments.without:
        words += ["--without", *arguments.without]
    for name in ("features", "folds", "algorithm", "iterations", "c1", "c2"):
        if getattr(arguments, name) is not None:
            words += [f"--{name}", str(getattr(arguments, name))]
    return shlex.join(words)


def _draw(output: Path, results: Results) -> None:
    if not results:
        return
    curve = summary.curve(next(iter(results.values())))
    pictures.draw_curves({"out of fold": curve}, output / "curve.png", title="Blocks kept by threshold")
    bars = {
        name: {
            row: summary.word_f1([page for page in judged if page.set == row]) for row in _set_names(judged)
        }
        for name, judged in results.items()
    }
    pictures.draw_bars(bars, output / "word_f1.png", title="Word F1 on unseen sites", measure="word F1")


def _set_names(judged: Sequence[cross_validation.PageResult]) -> list[str]:
    return sorted({page.set for page in judged})
