"""What more sets in training bring: recipes side by side, out of fold, and decisions by groups of blocks.

python -m research.recipes --data DATA --generated generated.jsonl --folds 0 1 2 --scratch DIR

Recipes: the older sets alone (`pages/`); with articles and news of today (`more/aed`, `more/fundus`), each
an origin of its own; the same with one origin for both, as conf/gold_sets.toml has it; and with generated
pages besides (`python -m research.generated`). All pages of the chosen folds (of five, by site) are judged
with every recipe, so `older sets` alone is judged on sets that it was not trained on. Trees see a tenth of
a shipped model's blocks, as in research.studies. Models stay in --scratch; those there are not trained again.

--full trains the third recipe as shipped, without each of --folds as victor-2 had them, and compares it
with victor-2: on older sets with the results out of fold, on the others with the shipped model.

Results: recipes.json, full.json: by recipe and group of pages, word F1 before and after, and the paired
difference.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

import research
from research import out_of_fold, trials
from research.studies import MAX_ITERATIONS, MOST_BLOCKS, N_FOLDS, STACKING
from victor_spark import resources
from victor_spark.blocks import HEADER, OTHER, TEXT, Blocks, Bool, Float64
from victor_spark.evaluation import crf, cross_validation, gold, labelling, measures, resampling
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.evaluation.progress import reporter
from victor_spark.model import decision, files
from victor_spark.model.crf import Model, marginals
from victor_spark.model.table import FeatureTable, from_conf
from victor_spark.model.trees import KINDS
from victor_spark.train import crf as training
from victor_spark.train.crf import TrainingPage
from victor_spark.train.crfsuite import TrainingOptions

OLDER, APART, ONE, GENERATED = (
    "older sets",
    "two more sets",
    "two more sets, one origin",
    "and generated pages",
)
KIN: Final = "{recipe}, blocks of the same names drawn together by {share:g}"
NEWER: Final = ("aed", "fundus")
FULL_ITERATIONS: Final = 60
SHARES: Final = (0.5,)

PAIRS: Final = ((APART, OLDER), (ONE, OLDER), (ONE, APART), (GENERATED, ONE))
"""Recipe, and what it is compared with."""

ALL, OLD, MEAN_OLD, MEAN = "all", "older sets", "mean over older sets", "mean over all sets"
Scores = dict[str, dict[tuple[str, str], float]]
"""Recipe → set and id of a page → word F1."""


def taught(
    recipe: str, pages: Sequence[LabelledPage], generated: Sequence[LabelledPage]
) -> list[TrainingPage]:
    """What a recipe trains on, of these pages."""
    if recipe == OLDER:
        pages = [page for page in pages if page.gold.set not in NEWER]
    found = crf.training_pages(pages)
    if recipe == APART:
        found = [replace(one, collection=page.gold.set) for one, page in zip(found, pages, strict=True)]
    if recipe == GENERATED:
        found += [replace(page, collection="") for page in crf.training_pages(generated)]
    return found


def table() -> FeatureTable:
    """The feature table with fewer blocks and folds for its trees than a shipped model has."""
    full = from_conf(trials.FEATURE_SET)
    fewer = {kind: replace(getattr(full.trees, kind), most_blocks=MOST_BLOCKS) for kind in KINDS}
    return replace(full, trees=replace(full.trees, **fewer, n_folds=STACKING))


def drawn_together(probabilities: Float64, blocks: Blocks, share: float) -> Float64:
    """Marginals whose log-odds are drawn to their mean over blocks with the same tags and class names around.

    `share` is the part of the mean, in which a block counts by the square root of its words.
    """
    content = np.clip(1.0 - probabilities[:, OTHER], 1e-4, 1 - 1e-4)
    logits, weights = np.log(content / (1 - content)), np.sqrt(decision.n_words(blocks)) + 0.1
    _, kin = np.unique(blocks.class_path, return_inverse=True)
    means = (np.bincount(kin, weights * logits) / np.bincount(kin, weights))[kin]
    drawn = 1 / (1 + np.exp(-(1 - share) * logits - share * means))
    result = np.zeros_like(probabilities)
    result[:, HEADER] = np.minimum(probabilities[:, HEADER] / content, 1.0) * drawn
    result[:, TEXT], result[:, OTHER] = drawn - result[:, HEADER], 1 - drawn
    return result


def judge(recipe: str, model: Model, page: LabelledPage) -> dict[str, float]:
    """Word F1 of a page as `victor` decides, and with blocks drawn together."""
    blocks = page.page.blocks
    words, found = decision.n_words(blocks), marginals(model, blocks)

    def f1(kept: Bool) -> float:
        return measures.quality(cross_validation.word_overlap(page, kept)).f1

    scores = {recipe: f1(decision.by_expected_f1(found, words))}
    if recipe == ONE and len(blocks):
        for share in SHARES:
            drawn = drawn_together(found, blocks, share)
            scores[KIN.format(recipe=recipe, share=share)] = f1(decision.by_expected_f1(drawn, words))
    return scores


def groups(pages: Sequence[LabelledPage]) -> dict[str, list[LabelledPage]]:
    """Pages by set, by page type of the set wcxb, and all."""
    found = defaultdict(list)
    for page in pages:
        found[page.gold.set].append(page)
        if kind := page.gold.meta.get("page_type"):
            found[f"{page.gold.set}: {kind}"].append(page)
        found[ALL].append(page)
        if page.gold.set not in NEWER:
            found[OLD].append(page)
    return dict(sorted(found.items()))


def compared(
    pages: Sequence[LabelledPage],
    after: Mapping[tuple[str, str], float],
    before: Mapping[tuple[str, str], float],
) -> dict[str, dict[str, Any]]:
    """By group of pages: how many, both means, the paired difference with its interval, shares below 0.5."""
    found: dict[str, dict[str, Any]] = {}
    both = [page for page in pages if _key(page) in after and _key(page) in before]
    for name, of_group in groups(both).items():
        columns = [np.array([scores[_key(page)] for page in of_group])[:, None] for scores in (before, after)]
        (difference,) = resampling.differences(columns[1], columns[0], [page.site for page in of_group])
        found[name] = {
            "n_pages": len(of_group),
            "before": round(float(columns[0].mean()), 6),
            "after": round(float(columns[1].mean()), 6),
            "difference": {key: round(value, 6) for key, value in asdict(difference).items()},
            "below_half": [round(float((column < 0.5).mean()), 6) for column in columns],
        }
    sets = [name for name in found if ":" not in name and name not in {ALL, OLD}]
    for name, chosen in ((MEAN_OLD, [each for each in sets if each not in NEWER]), (MEAN, sets)):
        found[name] = {
            key: round(float(np.mean([found[each][key] for each in chosen])), 6)
            for key in ("before", "after")
        }
    return found


def _key(page: LabelledPage) -> tuple[str, str]:
    return page.gold.set, page.gold.id


def scores_of(options: argparse.Namespace, pages: Sequence[LabelledPage]) -> Scores:
    """Trains what is missing, and judges."""
    generated = [labelling.label(page) for page in gold.read(options.generated)] if options.generated else []
    recipes = [recipe for recipe in (OLDER, APART, ONE, GENERATED) if recipe in options.recipes]
    fold_of = trials.fold_of(pages, N_FOLDS)
    report = reporter("recipes", len(options.folds) * len(recipes))
    found: Scores = defaultdict(dict)
    for number, fold in enumerate(options.folds):
        others = [page for page, own in zip(pages, fold_of, strict=True) if own != fold]
        others = [page for page in others if labelling.trainable(page)]
        for place, recipe in enumerate(recipes):
            path = options.scratch / f"{recipe.replace(' ', '-').replace(',', '')}-{fold}.npz"
            if not path.is_file():
                if options.stored:
                    continue
                learnt = taught(recipe, others, generated)
                model = training.train(learnt, table(), TrainingOptions(max_iterations=MAX_ITERATIONS))
                path.write_bytes(files.to_bytes(model))
            model = files.from_bytes(path.read_bytes())
            for page, own in zip(pages, fold_of, strict=True):
                if own == fold:
                    for name, f1 in judge(recipe, model, page).items():
                        found[name][_key(page)] = f1
            report(number * len(recipes) + place + 1, f"{recipe}, fold {fold}")
    return found


def full(
    options: argparse.Namespace, pages: Sequence[LabelledPage], fold: int
) -> tuple[Scores, list[LabelledPage]]:
    """The recipe as shipped and victor-2, on pages of a fold's sites: scores, and the pages."""
    before = {row.key: row for row in out_of_fold.read(research.RESULTS / out_of_fold.FILE_NAME)}
    older = {page.site for page in pages if page.gold.set not in NEWER}
    sites = {page.site for page in pages if _key(page) in before and before[_key(page)].fold == fold}
    parts = trials.fold_of(pages, N_FOLDS)
    sites |= {page.site for page, part in zip(pages, parts, strict=True) if part == fold} - older
    path = options.scratch / f"full-{fold}.npz"
    if not path.is_file():
        others = [page for page in pages if page.site not in sites and labelling.trainable(page)]
        learnt, most = taught(ONE, others, []), TrainingOptions(max_iterations=FULL_ITERATIONS)
        path.write_bytes(files.to_bytes(training.train(learnt, from_conf("victor-3"), most)))
    model = files.from_bytes(path.read_bytes())
    shipped = files.from_bytes(files.read_bytes(resources.directory("models") / "crf" / "victor-2"))
    judged = [page for page in pages if page.site in sites]
    known = {_key(page): before[_key(page)].word_f1 for page in judged if _key(page) in before}
    known |= {_key(page): judge("", shipped, page)[""] for page in judged if _key(page) not in before}
    return {
        "victor-3": {_key(page): judge("", model, page)[""] for page in judged},
        "victor-2": known,
    }, judged


def main() -> int:
    """Writes recipes.json."""
    parser = argparse.ArgumentParser(
        prog="python -m research.recipes",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", metavar="DIR", type=Path, required=True, help="has pages/ and more/")
    parser.add_argument("--generated", metavar="FILE", type=Path, help="pages of research.generated")
    parser.add_argument("--folds", metavar="K", type=int, nargs="+", default=range(N_FOLDS))
    parser.add_argument("--recipes", nargs="+", metavar="NAME", default=(OLDER, APART, ONE))
    parser.add_argument("--scratch", metavar="DIR", type=Path, required=True, help="keeps the models")
    parser.add_argument("--full", action="store_true", help="one fold at full size, beside victor-2")
    parser.add_argument("--stored", action="store_true", help="train nothing: judge the models in --scratch")
    parser.add_argument(
        "--results", metavar="DIR", type=Path, default=research.FOLDER / "results" / "victor-3"
    )
    options = parser.parse_args()
    for folder in (options.scratch, options.results):
        folder.mkdir(parents=True, exist_ok=True)
    pages = trials.labelled(options.data / "pages")
    for path in gold.find(options.data / "more", NEWER).values():
        pages += labelling.label_all(gold.read(path))
    if options.full:
        both: Scores = {"victor-3": {}, "victor-2": {}}
        judged: list[LabelledPage] = []
        for fold in options.folds:
            found, of_fold = full(options, pages, fold)
            judged += of_fold
            for name, rows in found.items():
                both[name] |= rows
            row = compared(judged, both["victor-3"], both["victor-2"])
            _write(options.results / "full.json", {"victor-3 / victor-2": row})
        return 0
    scores = scores_of(options, pages)
    pairs = [*PAIRS, *((KIN.format(recipe=ONE, share=share), ONE) for share in SHARES)]
    found_pairs = {
        f"{after} / {before}": compared(pages, scores[after], scores[before])
        for after, before in pairs
        if after in scores and before in scores
    }
    _write(options.results / "recipes.json", found_pairs)
    return 0


def _write(path: Path, found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for name, rows in found.items():
        print(name)
        for group, row in rows.items():
            line = f"  {group:<28}{row.get('n_pages', ''):>5} {row['before']:.4f} {row['after']:.4f}"
            if each := row.get("difference"):
                line += f"  {each['mean']:+.4f} ({each['low']:+.4f} … {each['high']:+.4f})"
            print(line)


if __name__ == "__main__":
    raise SystemExit(main())
