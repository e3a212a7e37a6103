"""The gain from features, stages, more sites, each language and each set: models trained without them.

python -m research.studies ablation  --data PAGES
python -m research.studies curve     --data PAGES
python -m research.studies languages --data PAGES --languages el pl
python -m research.studies sets      --data PAGES

ablation  without each group of features, and each stage alone, on the first of the folds
curve     from 10, 25, 50 and 100 % of the sites outside of each fold
languages each language tested with a model that was trained without it, beside the results out of fold
sets      each set tested with a model that was trained without it, with and without features of origins

After each training, the results are written to ablation.json, curve.json, languages.json and sets.json in
--results. A training takes about a minute of processor time, because trees see a tenth of the blocks of a
shipped model's (--blocks). Results that exist are not computed again, except with --again.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np

import research
from research import out_of_fold, trials
from research.out_of_fold import PageRow
from research.trials import ALL_STAGES, STAGES, Trial
from victor_spark.errors import EXIT_DONE, InputError, VictorError
from victor_spark.evaluation import measures
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.logs import reporter
from victor_spark.model.features import FeatureTable, from_conf
from victor_spark.model.trees import KINDS
from victor_spark.train.crfsuite import TrainingOptions

N_FOLDS: Final = 5
MAX_ITERATIONS: Final = 20
MOST_BLOCKS: Final = 30_000
STACKING: Final = 2
"""The most blocks that trees learn from, a tenth of a shipped model's; the folds of their first guesses."""

N_LANGUAGES: Final = 6
N_SETS: Final = 7
Stored = dict[str, dict[str, Any]]


def figures(
    trial: Trial, pages: Sequence[LabelledPage], f1: Sequence[float], base: Sequence[float] | None = None
) -> dict[str, Any]:
    """Word F1 of the pages tested, by set and kind; with `base` also the difference from it, by site."""
    tested = [pages[row].gold for row in trial.tested]
    means = _means((page.set, value) for page, value in zip(tested, f1, strict=True))
    found = {
        "n_trained": len(trial.trained),
        "n_sites_trained": len({pages[row].site for row in trial.trained}),
        "n_tested": len(trial.tested),
        "word_f1": round(float(np.mean(f1)), 6),
        "mean_over_sets": round(float(np.mean(list(means.values()))), 6),
        "sets": means,
        "kinds": _means(
            (page.meta["page_type"], value)
            for page, value in zip(tested, f1, strict=True)
            if page.set == "wcxb" and page.meta.get("page_type")
        ),
    }
    if base is None:
        return found
    sites = [pages[row].site for row in trial.tested]
    (difference,) = measures.differences(_column(f1), _column(base), sites)
    return found | {"difference": {key: round(value, 6) for key, value in asdict(difference).items()}}


def _means(values: Iterable[tuple[str, float]]) -> dict[str, float]:
    """The mean of the values of each name, by name."""
    found = defaultdict[str, list[float]](list)
    for name, value in values:
        found[name].append(value)
    return {name: round(float(np.mean(of_name)), 6) for name, of_name in sorted(found.items())}


def _column(values: Sequence[float]) -> Any:
    return np.array(values, dtype=np.float64)[:, np.newaxis]


class _Store:
    """The results of one study in their file, which is written after each."""

    def __init__(self, path: Path, *, again: bool) -> None:
        self.path = path
        self.found: Stored = {}
        if path.is_file() and not again:
            self.found = json.loads(path.read_text(encoding="utf-8"))

    def put(self, name: str, row: dict[str, Any]) -> None:
        self.found[name] = row
        self.path.write_text(json.dumps(self.found, indent=1) + "\n", encoding="utf-8")


def ablation(pages: Sequence[LabelledPage], store: _Store, options: argparse.Namespace) -> None:
    """Without each group of features, and with fewer stages."""
    everything, *others = trials.without_groups(_table(options), _folds(pages, options))
    if all(trial.name in store.found for trial in others):
        return
    model = trials.train(everything, pages, _training(options))
    of_stage = {name: trials.word_f1(everything, pages, model, each) for name, each in STAGES.items()}
    base = of_stage[ALL_STAGES]
    for name, f1 in of_stage.items():
        store.put(name, figures(everything, pages, f1, None if name == ALL_STAGES else base))
    for trial in _missing(others, store):
        model = trials.train(trial, pages, _training(options))
        f1 = trials.word_f1(trial, pages, model, STAGES[ALL_STAGES])
        store.put(trial.name, figures(trial, pages, f1, base))


def curve(pages: Sequence[LabelledPage], store: _Store, options: argparse.Namespace) -> None:
    """From few sites to all, every page tested by the model of its fold."""
    of_shares = trials.of_shares(pages, _table(options), _folds(pages, options))
    folds_of = {folds[0].name: folds for folds in of_shares}
    for trial in _missing([folds[0] for folds in of_shares], store):
        folds = folds_of[trial.name]
        models = (trials.train(fold, pages, _training(options)) for fold in folds)
        of_folds = zip(folds, models, strict=True)
        f1 = [trials.word_f1(fold, pages, model, STAGES[ALL_STAGES]) for fold, model in of_folds]
        tested = replace(trial, tested=[*chain.from_iterable(fold.tested for fold in folds)])
        store.put(trial.name, figures(tested, pages, [*chain.from_iterable(f1)]))


def languages(pages: Sequence[LabelledPage], store: _Store, options: argparse.Namespace) -> None:
    """Each language by a model that was trained without it; the base are the results out of fold."""
    known = out_of_fold.read(options.results / out_of_fold.FILE_NAME)
    chosen = options.languages or most_common(pages, N_LANGUAGES)
    planned = trials.without_language(pages, _table(options), chosen)
    for trial in _missing(planned, store):
        if not trial.tested or not trial.trained:
            raise InputError(f"no pages to leave out, or none left without language {trial.name!r}")
        base = _found(known, trial, pages)
        model = trials.train(trial, pages, _training(options))
        f1 = trials.word_f1(trial, pages, model, STAGES[ALL_STAGES])
        store.put(trial.name, {**figures(trial, pages, f1, base), "with_it": round(float(np.mean(base)), 6)})


def sets(pages: Sequence[LabelledPage], store: _Store, options: argparse.Namespace) -> None:
    """Each set by a model that was trained without it; the base is a model without features of origins."""
    known = out_of_fold.read(options.results / out_of_fold.FILE_NAME)
    sites = Counter(name for name, _ in {(page.gold.set, page.site) for page in pages})
    chosen = [name for name, _ in sorted(sites.items(), key=lambda item: (-item[1], item[0]))[:N_SETS]]
    planned = trials.without_set(pages, _table(options), chosen)
    bare = {trial.name: trial for _, trial in planned}
    if any(not trial.trained or trial.table == bare[trial.name].table for trial, _ in planned):
        raise InputError("studying sets needs several of them, and features that know origins")
    for trial in _missing([trial for trial, _ in planned], store):
        with_it = _found(known, trial, pages)
        f1, base = (
            trials.word_f1(each, pages, trials.train(each, pages, _training(options)), STAGES[ALL_STAGES])
            for each in (trial, bare[trial.name])
        )
        means = {"without_origins": base, "with_it": with_it}
        found = {name: round(float(np.mean(values)), 6) for name, values in means.items()}
        store.put(trial.name, figures(trial, pages, f1, base) | found)


def _found(known: Sequence[PageRow], trial: Trial, pages: Sequence[LabelledPage]) -> list[float]:
    """Word F1 out of fold of the pages that are tested; InputError where one has none."""
    f1 = {row.key: row.word_f1 for row in known}
    keys = [(pages[row].gold.set, pages[row].gold.id) for row in trial.tested]
    if missing := next((key for key in keys if key not in f1), None):
        raise InputError(f"{out_of_fold.FILE_NAME} has no result of {' '.join(missing)}: train on all sets")
    return [f1[key] for key in keys]


def most_common(pages: Sequence[LabelledPage], n: int) -> list[str]:
    """The languages with most pages."""
    counts = Counter(language for page in pages if (language := trials.language_of(page)))
    return [language for language, _ in counts.most_common(n)]


STUDIES: Final = {"ablation": ablation, "curve": curve, "languages": languages, "sets": sets}


def _missing(planned: Sequence[Trial], store: _Store) -> Iterator[Trial]:
    """The trials that have no result yet, with progress on stderr."""
    report = reporter(store.path.stem, len(planned))
    for done, trial in enumerate(planned):
        report(done, trial.name)
        if trial.name not in store.found:
            yield trial
    report(len(planned), "")


def _folds(pages: Sequence[LabelledPage], options: argparse.Namespace) -> list[int]:
    return trials.fold_of(pages, options.folds)


def _table(options: argparse.Namespace) -> FeatureTable:
    """The feature table, its trees grown from fewer blocks and fewer folds than a shipped model's."""
    table = from_conf(options.features)
    fewer = {kind: replace(getattr(table.trees, kind), most_blocks=options.blocks) for kind in KINDS}
    return replace(table, trees=replace(table.trees, **fewer, n_folds=STACKING))


def _training(options: argparse.Namespace) -> TrainingOptions:
    return TrainingOptions(max_iterations=options.iterations)


def main(arguments: Sequence[str] | None = None) -> int:
    """Trains what is missing and writes the results."""
    options = _parser().parse_args(arguments)
    try:
        pages = trials.labelled(options.data)
        for study in options.study:
            store = _Store(options.results / f"{study}.json", again=options.again)
            STUDIES[study](pages, store, options)
            print("\n".join(lines(study, store.found)))
    except VictorError as error:
        print(f"studies: error: {error}", file=sys.stderr)
        return error.exit_code
    return EXIT_DONE


def lines(study: str, found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The results of a study as lines of text."""
    for name, row in found.items():
        line = f"{study:<10}{name:<48}{row['n_trained']:>6}{row['n_tested']:>6} {row['word_f1']:.4f}"
        line += f" {row['mean_over_sets']:.4f}"
        if each := row.get("difference"):
            line += f"  {each['mean']:+.4f} ({each['low']:+.4f} … {each['high']:+.4f})"
        yield line


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m research.studies",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("study", nargs="+", choices=sorted(STUDIES), help="one or more studies")
    parser.add_argument("--data", metavar="DIR", type=Path, required=True, help="the annotated pages")
    parser.add_argument(
        "--results",
        metavar="DIR",
        type=Path,
        default=research.RESULTS,
        help="has out_of_fold.jsonl.gz, takes the results (default: %(default)s)",
    )
    parser.add_argument("--features", metavar="NAME", default=trials.FEATURE_SET, help="default: %(default)s")
    parser.add_argument("--folds", metavar="K", type=int, default=N_FOLDS, help="default: %(default)s")
    parser.add_argument(
        "--iterations", metavar="N", type=int, default=MAX_ITERATIONS, help="default: %(default)s"
    )
    parser.add_argument(
        "--languages", metavar="CODE", nargs="+", help=f"default: the {N_LANGUAGES} with most pages"
    )
    parser.add_argument(
        "--blocks", metavar="N", type=int, default=MOST_BLOCKS, help="that trees see (default: %(default)s)"
    )
    parser.add_argument("--again", action="store_true", help="train also where results exist")
    return parser


if __name__ == "__main__":
    sys.exit(main())
