"""Trains a CRF from annotated pages, and measures it by cross-validation on unseen sites.

--data is a directory of <set>.jsonl or <set>.jsonl.xz: each line is a page with id, html, gold (the text to
keep, paragraphs separated by newline) and, optionally, host and url. --gold takes such files one by one, as
`victor annotate export` writes them. The model directory gets weights, card, metrics and figures.

--start-from adapts a trained model to a few dozen pages of a new kind: the CRF learns corrections.

examples:
  victor train crf --data pages/ --output models/crf/mine
  victor train crf --data pages/ --sets canola wcxb --folds 5 --jobs 2 --output mine
  victor train crf --data pages/ --folds 0 --iterations 30 --output quick      no cross-validation
  victor train crf --gold annotations.jsonl --start-from victor --output adapted
  victor train crf --data pages/ --features victor-2008 --output mine          the features of the paper
  victor clean page.html --model mine
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

from victor_spark import resources
from victor_spark.blocks import OTHER
from victor_spark.commands import options
from victor_spark.commands.options import Command, option
from victor_spark.configuration import positive, probability
from victor_spark.errors import EXIT_DONE, InputError, UsageError, choices
from victor_spark.evaluation import crf, cross_validation, gold, labelling, measures, pictures, report
from victor_spark.evaluation.cross_validation import Results, cross_validate
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.extractors import CRF_CLEANERS, MODELS
from victor_spark.logs import erase, log, reporter, track
from victor_spark.model import files as model_files
from victor_spark.model.crf import Model
from victor_spark.model.features import FeatureTable, from_conf
from victor_spark.resources import directory
from victor_spark.train import check_installed
from victor_spark.train import crf as training
from victor_spark.train.crf import MAX_BLOCKS, STRENGTH, without
from victor_spark.train.crfsuite import ALGORITHMS, Progress, TrainingOptions

DEFAULT_FEATURES: Final = MODELS["victor"].removeprefix("crf/")
FOLDS, ITERATIONS = 10, TrainingOptions().max_iterations
FOLDS_OF_FEW, ITERATIONS_OF_FEW = 3, 30
_MAXIMUM: Final = f"maximum (default: {ITERATIONS}, with --start-from {ITERATIONS_OF_FEW})"
_SELECTED: Final = ("start_from", "strength", "sets", "without", "features", "folds")
_REPEATED: Final = (*_SELECTED, "algorithm", "iterations")
BEFORE: Final = "{name}, before"
"""The start model in the cross-validation of an adapted one."""


OPTIONS: Final = (
    options.OneOf(
        option("--data DIR", "directory of annotated pages"),
        option("--gold FILE...", "files of annotated pages", default=None),
        required=True,
    ),
    option("--output DIR", "the model directory to write", required=True),
    options.OVERWRITE,
    option("--sets SET...", "only these sets (default: all)"),
    option("--features NAME", f"feature set (default: {DEFAULT_FEATURES}, or that of --start-from)"),
    option("--start-from MODEL", "adapt this model: victor, victor-2008, or a model directory"),
    option("--without NAME...", "leave out these features, for an ablation"),
    option("--folds K", f"folds by site; 0: none (default: {FOLDS}; {FOLDS_OF_FEW} with --start-from)", int),
    option("--jobs N", "folds that are trained concurrently", positive, default=1),
    option("--algorithm", "lbfgs, or averaged perceptron", choices=sorted(ALGORITHMS), default="lbfgs"),
    option("--iterations N", _MAXIMUM, positive),
    option("--strength X", f"weight of the new pages (default: {STRENGTH})", probability),
)


def run(arguments: argparse.Namespace) -> int:
    """Labels, cross-validates, trains on everything, writes the model directory."""
    if arguments.folds is not None and (arguments.folds < 0 or arguments.folds == 1):
        raise UsageError("--folds must be 0 (no measurement) or at least 2")
    recipe = _adapting(arguments) if arguments.start_from else _from_scratch(arguments)
    import_module("matplotlib")  # a missing extra is reported before the work
    with resources.new_directory(Path(arguments.output), overwrite=arguments.overwrite) as output:
        if arguments.data is not None:
            files = list(gold.find(Path(arguments.data), arguments.sets).values())
        elif arguments.sets:
            raise UsageError("--sets selects files in --data and cannot be combined with --gold")
        else:
            files = list(map(Path, arguments.gold))
        pages, results = _labelled(files), Results()
        arguments.folds, why_not = _folds(arguments, pages)
        if why_not:
            log(f"not measured: {why_not}", "warning")
        if n_folds := arguments.folds:
            results = cross_validate(pages, recipe.cleaners, n_folds=n_folds, n_jobs=arguments.jobs)
        for name, measured in results.items():
            print(f"\n{name}\n{cross_validation.table(cross_validation.by_set(measured))}")
        _write(output, pages, results, recipe, arguments, why_not)
    print(f"\nmodel in {output}")
    return EXIT_DONE


class Recipe(NamedTuple):
    """How a model is trained from labelled pages, and how the cleaners of a fold are, in cross-validation."""

    options: TrainingOptions
    table: FeatureTable
    train: Callable[[Sequence[LabelledPage], Progress | None], Model]
    cleaners: cross_validation.Train


def _from_scratch(arguments: argparse.Namespace) -> Recipe:
    if arguments.strength is not None:
        raise UsageError("--strength needs --start-from")
    arguments.features = arguments.features or DEFAULT_FEATURES
    arguments.iterations = arguments.iterations or ITERATIONS
    options = TrainingOptions(arguments.algorithm, arguments.iterations)
    table = without(from_conf(arguments.features), arguments.without)
    check_installed(table)
    cleaners = crf.recipe(table, options)
    return Recipe(options, table, lambda pages, report: crf.train(pages, table, options, report), cleaners)


def _adapting(arguments: argparse.Namespace) -> Recipe:
    for name in ("features", "without"):
        if getattr(arguments, name):
            raise UsageError(f"--{name} cannot be combined with --start-from: the features stay the same")
    start = start_model(arguments.start_from)
    arguments.iterations = arguments.iterations or ITERATIONS_OF_FEW
    arguments.strength = STRENGTH if arguments.strength is None else arguments.strength
    arguments.features = None
    parameters = {"c2": training.C2} if arguments.algorithm == "lbfgs" else {}
    options = TrainingOptions(arguments.algorithm, arguments.iterations, parameters)
    old = {BEFORE.format(name=name): cleaner for name, cleaner in crf.cleaners(start).items()}

    def adapted(pages: Sequence[LabelledPage], progress: Progress | None = None) -> Model:
        given = crf.training_pages(pages)
        return training.adapt(given, start, options, strength=arguments.strength, progress=progress)

    return Recipe(options, start.table, adapted, lambda pages: {**crf.cleaners(adapted(pages)), **old})


def start_model(name: str) -> Model:
    """The model to start from, by the name of a cleaner or by its directory."""
    folder = MODELS.get(name, "")
    if not folder.startswith("crf/") and not Path(name).is_dir():
        near = choices(name, CRF_CLEANERS)
        raise UsageError(f"--start-from {name}: neither a CRF cleaner nor a model directory{near}")
    path = directory("models") / folder if folder.startswith("crf/") else Path(name)
    start = model_files.from_bytes(model_files.read_bytes(path), str(path))
    check_installed(start.table)
    return start


def _folds(arguments: argparse.Namespace, pages: Sequence[LabelledPage]) -> tuple[int, str | None]:
    """The number of folds (no more than sites), and the reason where it is 0."""
    if arguments.folds is not None:
        return int(arguments.folds), None if arguments.folds else "--folds 0"
    sites = {page.site for page in pages if labelling.trainable(page)}
    if len(sites) < 2:
        one = f"all pages to learn from are of one site ({', '.join(sites)})"
        return 0, f"{one}; victor evaluate --gold FILE --model DIR measures it on pages of other sites"
    return min(FOLDS_OF_FEW if arguments.start_from else FOLDS, len(sites)), None


def _labelled(files: Sequence[Path]) -> list[LabelledPage]:
    pages: list[LabelledPage] = []
    ids: set[tuple[str, str]] = set()
    for path in files:
        read = track(gold.read(path), f"reading {path.name}", 0)
        usable = list(gold.distinct(filter(gold.usable, read), ids))
        pages += map(labelling.label, track(usable, f"labelling {path.name}", len(usable)))
    if not any(labelling.trainable(page) and (page.labels != OTHER).any() for page in pages):
        raise InputError(f"no page of {', '.join(map(str, files))} has gold text that its html holds")
    return pages


def _write(
    output: Path,
    pages: Sequence[LabelledPage],
    results: Results,
    recipe: Recipe,
    arguments: argparse.Namespace,
    why_not: str | None,
) -> None:
    """Trains on all pages and writes the model, its card and its metrics."""
    learnt = [page for page in pages if labelling.trainable(page)]
    progress = reporter("training", recipe.options.max_iterations)
    trained = recipe.train(learnt, lambda number, loss: progress(number, f"loss {loss:.0f}"))
    erase()  # it may have stopped earlier
    trained_on = Counter(page.gold.set for page in learnt if len(page.page.blocks) <= MAX_BLOCKS)
    how, start = recipe.options, f"victor train crf {'--gold FILES' if arguments.gold else '--data PAGES'}"
    metrics = {
        "command": options.command_line(start, arguments, *_REPEATED),
        "feature_set": recipe.table.feature_set,
        **({"start_from": arguments.start_from} if arguments.start_from else {}),
        "algorithm": how.algorithm,
        "max_iterations": how.max_iterations,
        "parameters": {**ALGORITHMS[how.algorithm], **how.parameters},
        "n_labelled_pages": len(pages),
        "n_training_pages": trained_on.total(),
        "training_pages": dict(sorted(trained_on.items())),
        "n_folds": arguments.folds,
        "cross_validation": {name: cross_validation.by_set(measured) for name, measured in results.items()},
        "calibration_error": {
            name: measures.reliability(*cross_validation.blocks(measured)).error
            for name, measured in results.items()
        },
    }
    if why_not:
        metrics["not_measured"] = why_not
    if results:
        _draw(output, results)
        first = next(iter(results.values()))
        cross_validation.write_out_of_fold(output / cross_validation.OUT_OF_FOLD, pages, first)
    (output / model_files.FILE_NAME).write_bytes(model_files.to_bytes(trained))
    (output / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n", encoding="utf-8")
    (output / "CARD.md").write_text(report.card("crf", output.resolve().name, metrics), encoding="utf-8")


def _draw(output: Path, results: Results) -> None:
    first = next(iter(results.values()))
    sets = sorted({page.set for page in first})
    f1 = cross_validation.word_f1
    bars = {
        name: {row: f1([page for page in measured if page.set == row]) for row in sets}
        for name, measured in results.items()
    }
    of_blocks = cross_validation.blocks(first)
    curve, reliability = measures.threshold_curve(*of_blocks), measures.reliability(*of_blocks)
    save = pictures.save
    save(pictures.curves({"out of fold": curve}, title="Blocks kept by threshold"), output / "curve.png")
    save(pictures.reliability(reliability, title="Blocks, out of fold"), output / "reliability.png")
    save(pictures.bars(bars, title="Word F1 on unseen sites", measure="word F1"), output / "word_f1.png")


TRAIN: Final = Command(__doc__, OPTIONS, run)
