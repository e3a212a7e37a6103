"""Trains a CRF from annotated pages, and measures it by cross-validation on unseen sites.

--data is a directory of <set>.jsonl or <set>.jsonl.xz: one page a line with id, html, gold (the text to keep,
paragraphs separated by newline) and, optionally, host and url. The model directory gets weights.npz, CARD.md,
metrics.json, figures and out_of_fold.jsonl.gz (a line a page, numbers only); it is written at the end.
`victor clean --model DIR` uses it.

--gold takes such files one by one, as `victor annotate export` writes them; their block labels are used.
--start-from adapts a trained model to a few dozen pages of a new kind: its features, trees and weights are
kept, and the CRF learns corrections. The cross-validation then also measures the model before adaptation.
"""

import argparse
import json
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from victor_spark.blocks import OTHER
from victor_spark.commands import adapting, outputs
from victor_spark.commands.adapting import STRENGTH
from victor_spark.commands.argument_types import probability
from victor_spark.errors import EXIT_DONE, InputError, UsageError
from victor_spark.evaluation import (
    card,
    crf,
    cross_validation,
    gold,
    labelling,
    pictures,
)
from victor_spark.evaluation.cross_validation import Results
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.evaluation.progress import reporter, track
from victor_spark.extractors import MODELS
from victor_spark.model import files as model_files
from victor_spark.model.crf import Model
from victor_spark.model.feature_sets import TEMPLATE_SHARE
from victor_spark.model.table import from_conf, without
from victor_spark.templates.mine import MiningSettings
from victor_spark.train import check_installed
from victor_spark.train.crf import MAX_BLOCKS
from victor_spark.train.crfsuite import ALGORITHMS, Progress, TrainingOptions

EXAMPLES: Final = """\
examples:
  victor train crf --data pages/ --output models/crf/mine
  victor train crf --data pages/ --sets canola wcxb --folds 5 --jobs 2 --output mine
  victor train crf --data pages/ --folds 0 --iterations 30 --output quick      no cross-validation
  victor train crf --gold annotations.jsonl --start-from victor --output adapted
  victor train crf --data pages/ --features victor-2008 --output mine          the features of the paper
  victor clean page.html --model mine
"""


DEFAULT_FEATURES: Final = MODELS["victor"].removeprefix("crf/")
FOLDS: Final = 10
FOLDS_OF_FEW: Final = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    data = parser.add_mutually_exclusive_group(required=True)
    data.add_argument("--data", metavar="DIR", help="directory of annotated pages")
    data.add_argument("--gold", metavar="FILE", nargs="+", help="files of annotated pages")
    parser.add_argument("--output", metavar="DIR", required=True, help="the model directory to write")
    outputs.add_overwrite(parser)
    parser.add_argument("--sets", metavar="SET", nargs="+", default=[], help="only these sets (default: all)")
    parser.add_argument(
        "--features",
        metavar="NAME",
        help=f"feature set (default: {DEFAULT_FEATURES}, or that of --start-from)",
    )
    parser.add_argument(
        "--start-from", metavar="MODEL", help="adapt this model: victor, victor-2008, or a model directory"
    )
    parser.add_argument(
        "--without", metavar="NAME", nargs="+", default=[], help="silence these features, for an ablation"
    )
    parser.add_argument(
        "--folds",
        metavar="K",
        type=int,
        help=f"folds by site; 0 skips the measurement (default: {FOLDS}, with --start-from {FOLDS_OF_FEW}; "
        "with fewer sites as many folds as sites)",
    )
    parser.add_argument(
        "--jobs", metavar="N", type=int, default=1, help="folds at a time (default: %(default)s)"
    )
    parser.add_argument(
        "--algorithm", choices=sorted(ALGORITHMS), default="lbfgs", help="lbfgs, or averaged perceptron"
    )
    parser.add_argument(
        "--iterations", metavar="N", type=int, help="at most (default: 100, with --start-from 30)"
    )
    parser.add_argument("--c1", metavar="X", type=float, help="L1 regularisation, lbfgs only (default: 0)")
    parser.add_argument("--c2", metavar="X", type=float, help="L2 regularisation, lbfgs only (default: 1)")
    parser.add_argument(
        "--strength",
        metavar="X",
        type=probability,
        help=f"with --start-from: 0 leaves the model as it is, 1 follows the new pages (default: {STRENGTH})",
    )


def run(arguments: argparse.Namespace) -> int:
    """Labels, cross-validates, trains on everything, writes the model directory."""
    import_module("matplotlib")  # a missing extra is reported before the work
    recipe = _adapting(arguments) if arguments.start_from else _from_scratch(arguments)
    with outputs.directory(Path(arguments.output), overwrite=arguments.overwrite) as output:
        _train(arguments, recipe, output)
    print(f"\nmodel in {output}")
    return EXIT_DONE


def _train(arguments: argparse.Namespace, recipe: "Recipe", output: Path) -> None:
    pages = _labelled(_files(arguments))
    arguments.folds, why_not = _folds(arguments, pages)
    if why_not:
        print(f"victor: not measured: {why_not}", file=sys.stderr)
    if TEMPLATE_SHARE in recipe.features:
        pages = crf.with_shares(pages, MiningSettings())
    results: Results = {}
    if arguments.folds:
        results = cross_validation.cross_validate(
            pages, recipe.cleaners, n_folds=arguments.folds, n_jobs=arguments.jobs
        )
        for name, judged in results.items():
            print(f"\n{name}\n{cross_validation.table(cross_validation.by_set(judged))}")
    _write(output, pages, results, recipe=recipe, arguments=arguments, why_not=why_not)


@dataclass(frozen=True)
class Recipe:
    """How a model is made of labelled pages, and what cross-validation makes of a fold's."""

    options: TrainingOptions
    feature_set: str
    features: tuple[str, ...]
    train: Callable[[Sequence[LabelledPage], Progress | None], Model]
    cleaners: cross_validation.Train


def _from_scratch(arguments: argparse.Namespace) -> Recipe:
    if arguments.strength is not None:
        raise UsageError("--strength needs --start-from")
    arguments.features = arguments.features or DEFAULT_FEATURES
    arguments.iterations = 100 if arguments.iterations is None else arguments.iterations
    options = _options(arguments)
    table = without(from_conf(arguments.features), arguments.without)
    check_installed(table)
    return Recipe(
        options,
        arguments.features,
        table.names,
        lambda pages, progress: crf.train(pages, table, options, progress),
        crf.recipe(table, options),
    )


def _adapting(arguments: argparse.Namespace) -> Recipe:
    for name in ("features", "without"):
        if getattr(arguments, name):
            raise UsageError(f"--{name} cannot be combined with --start-from: the features stay the same")
    start = adapting.start_model(arguments.start_from)
    arguments.iterations = 30 if arguments.iterations is None else arguments.iterations
    arguments.c2 = adapting.C2 if arguments.c2 is None and arguments.algorithm == "lbfgs" else arguments.c2
    arguments.strength = STRENGTH if arguments.strength is None else arguments.strength
    arguments.features = None
    options, strength = _options(arguments), arguments.strength
    return Recipe(
        options,
        start.table.feature_set,
        start.table.names,
        lambda pages, progress: adapting.adapt(pages, start, options, strength, progress),
        adapting.recipe(start, options, strength),
    )


def _folds(arguments: argparse.Namespace, pages: Sequence[LabelledPage]) -> tuple[int, str | None]:
    """The number of folds (no more than sites), and the reason where it is 0."""
    if arguments.folds is not None:
        return int(arguments.folds), None if arguments.folds else "--folds 0"
    sites = {page.site for page in pages if labelling.trainable(page)}
    if len(sites) < 2:
        return 0, (
            f"all pages to learn from are of one site ({', '.join(sites)}), and cross-validation by site "
            "needs two; victor evaluate --gold FILE --model DIR measures it on pages of other sites"
        )
    return min(FOLDS_OF_FEW if arguments.start_from else FOLDS, len(sites)), None


def _files(arguments: argparse.Namespace) -> dict[str, Path]:
    """Set name → file."""
    if arguments.data is not None:
        return gold.find(Path(arguments.data), arguments.sets)
    if arguments.sets:
        raise UsageError("--sets selects files in --data and cannot be combined with --gold")
    return {gold.set_name(path): path for path in map(Path, arguments.gold)}


def _options(arguments: argparse.Namespace) -> TrainingOptions:
    given = {name: getattr(arguments, name) for name in ("c1", "c2") if getattr(arguments, name) is not None}
    if given and arguments.algorithm != "lbfgs":
        raise UsageError(f"--{next(iter(given))} belongs to --algorithm lbfgs")
    if any(value < 0 for value in given.values()):
        raise UsageError("--c1 and --c2 must not be negative")
    if arguments.iterations < 1 or arguments.jobs < 1:
        raise UsageError("--iterations and --jobs must be at least 1")
    if arguments.folds is not None and (arguments.folds < 0 or arguments.folds == 1):
        raise UsageError("--folds must be 0 (no measurement) or at least 2")
    return TrainingOptions(arguments.algorithm, arguments.iterations, given)


def _labelled(files: Mapping[str, Path]) -> list[LabelledPage]:
    pages: list[LabelledPage] = []
    for name, path in files.items():
        usable = [page for page in gold.read(path) if gold.usable(page)]
        pages += track(labelling.label_all(usable), f"labelling {name}", len(usable))
    if not any(labelling.trainable(page) and (page.labels != OTHER).any() for page in pages):
        raise InputError(
            f"no page in {', '.join(map(str, files.values()))} has a gold text that its html holds"
        )
    return pages


def _write(
    output: Path,
    pages: Sequence[LabelledPage],
    results: Results,
    *,
    recipe: Recipe,
    arguments: argparse.Namespace,
    why_not: str | None = None,
) -> None:
    """Trains on all pages and writes the model, its card and its metrics."""
    learnt = [page for page in pages if labelling.trainable(page)]
    report = reporter("training", recipe.options.max_iterations)
    trained = recipe.train(learnt, lambda number, loss: report(number, f"loss {loss:.0f}"))
    sys.stderr.write("\n" if sys.stderr.isatty() else "")
    metrics = _metrics(pages, learnt, results, recipe, arguments)
    if why_not:
        metrics["not_measured"] = why_not
    output.mkdir(parents=True, exist_ok=True)
    _draw(output, results)
    if results:
        first = next(iter(results.values()))
        cross_validation.write_out_of_fold(output / cross_validation.OUT_OF_FOLD, pages, first)
    (output / model_files.FILE_NAME).write_bytes(model_files.to_bytes(trained))
    (output / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n", encoding="utf-8")
    (output / "CARD.md").write_text(card.write(output.resolve().name, metrics), encoding="utf-8")


def _metrics(
    pages: Sequence[LabelledPage],
    learnt: Sequence[LabelledPage],
    results: Results,
    recipe: Recipe,
    arguments: argparse.Namespace,
) -> dict[str, Any]:
    options = recipe.options
    trained_on = Counter(page.gold.set for page in learnt if len(page.page.blocks) <= MAX_BLOCKS)
    return {
        "command": _command(arguments),
        "feature_set": recipe.feature_set,
        **({"start_from": arguments.start_from} if arguments.start_from else {}),
        "algorithm": options.algorithm,
        "max_iterations": options.max_iterations,
        "parameters": {**ALGORITHMS[options.algorithm], **options.parameters},
        "n_labelled_pages": len(pages),
        "n_training_pages": trained_on.total(),
        "training_pages": dict(sorted(trained_on.items())),
        "n_folds": arguments.folds,
        "cross_validation": {name: cross_validation.by_set(judged) for name, judged in results.items()},
        "calibration_error": {
            name: cross_validation.reliability(judged).error for name, judged in results.items()
        },
    }


def _command(arguments: argparse.Namespace) -> str:
    """The command that makes this model again, without paths of this machine."""
    words = ["victor", "train", "crf", *(["--gold", "FILES"] if arguments.gold else ["--data", "PAGES"])]
    if arguments.start_from:
        words += ["--start-from", Path(arguments.start_from).name, "--strength", str(arguments.strength)]
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
    curve = cross_validation.curve(next(iter(results.values())))
    drawn = pictures.curves({"out of fold": curve}, title="Blocks kept by threshold")
    pictures.save(drawn, output / "curve.png")
    reliability = cross_validation.reliability(next(iter(results.values())))
    drawn = pictures.reliability(reliability, title="Blocks, out of fold")
    pictures.save(drawn, output / "reliability.png")
    bars = {
        name: {
            row: cross_validation.word_f1([page for page in judged if page.set == row])
            for row in sorted({page.set for page in judged})
        }
        for name, judged in results.items()
    }
    drawn = pictures.bars(bars, title="Word F1 on unseen sites", measure="word F1")
    pictures.save(drawn, output / "word_f1.png")
