"""The gain from more sets in training: recipes compared out of fold, and decisions by groups of blocks.

python -m research.recipes --data PAGES --generated generated.jsonl --folds 0 1 2 --scratch DIR

Recipes: the older sets alone (`pages/`); with articles and news of today (`more/aed`, `more/fundus`), each
an origin of its own; the same with one origin for both, as conf/gold_sets.toml has it; and with generated
pages besides (`python -m research.generated`). All pages of the chosen folds (of five, by site) are tested
with every recipe, so `older sets` alone is tested on sets that it was not trained on. Trees see a tenth of
a shipped model's blocks, as in research.studies. Models stay in --scratch; those there are not trained again.

Results: recipes.json: by recipe and group of pages, word F1 before and after, and the paired difference.
"""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

import research
from research import sample, trials
from research.previous import Measured, compared, write
from research.studies import MAX_ITERATIONS, MOST_BLOCKS, N_FOLDS, STACKING
from victor_spark.blocks import HEADER, OTHER, TEXT, Blocks, Bool, Float64
from victor_spark.evaluation import crf, cross_validation, gold, labelling, measures
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.logs import reporter
from victor_spark.model import decision, files
from victor_spark.model.crf import Model, marginals
from victor_spark.model.features import FeatureTable, from_conf
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
GROUPED: Final = "{recipe}, smoothed by group, {share:g}"
SHARES: Final = (0.5,)

PAIRS: Final = ((APART, OLDER), (ONE, OLDER), (ONE, APART), (GENERATED, ONE))
"""Recipe, and what it is compared with."""

Scores = dict[str, dict[tuple[str, str], float]]
"""Recipe → set and id of a page → word F1."""


def training_pages(
    recipe: str, pages: Sequence[LabelledPage], generated: Sequence[LabelledPage]
) -> list[TrainingPage]:
    """The training pages of a recipe."""
    if recipe == OLDER:
        pages = [page for page in pages if page.gold.set not in sample.NEWER]
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


def smoothed(probabilities: Float64, blocks: Blocks, share: float) -> Float64:
    """Marginals whose log-odds are averaged with their mean over blocks with the same enclosing names.

    `share` is the weight of that mean, in which a block counts by the square root of its words. Names are
    the tags and classes of the enclosing elements.
    """
    content = np.clip(1.0 - probabilities[:, OTHER], 1e-4, 1 - 1e-4)
    logits, weights = np.log(content / (1 - content)), np.sqrt(decision.n_words(blocks)) + 0.1
    _, group = np.unique(blocks.class_path, return_inverse=True)
    means = (np.bincount(group, weights * logits) / np.bincount(group, weights))[group]
    mixed = 1 / (1 + np.exp(-(1 - share) * logits - share * means))
    result = np.zeros_like(probabilities)
    result[:, HEADER] = np.minimum(probabilities[:, HEADER] / content, 1.0) * mixed
    result[:, TEXT], result[:, OTHER] = mixed - result[:, HEADER], 1 - mixed
    return result


def measure(recipe: str, model: Model, page: LabelledPage) -> dict[str, float]:
    """Word F1 of a page as `victor` decides, and with marginals smoothed by group."""
    blocks = page.page.blocks
    words, found = decision.n_words(blocks), marginals(model, blocks)

    def f1(kept: Bool) -> float:
        return measures.quality(cross_validation.word_overlap(page, kept)).f1

    scores = {recipe: f1(decision.by_expected_f1(found, words))}
    if recipe == ONE and len(blocks):
        for share in SHARES:
            mixed = smoothed(found, blocks, share)
            scores[GROUPED.format(recipe=recipe, share=share)] = f1(decision.by_expected_f1(mixed, words))
    return scores


def _key(page: LabelledPage) -> tuple[str, str]:
    return page.gold.set, page.gold.id


def scores_of(options: argparse.Namespace, pages: Sequence[LabelledPage]) -> Scores:
    """Trains the missing models, and measures all."""
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
                chosen = training_pages(recipe, others, generated)
                model = training.train(chosen, table(), TrainingOptions(max_iterations=MAX_ITERATIONS))
                path.write_bytes(files.to_bytes(model))
            model = files.from_bytes(path.read_bytes())
            for page, own in zip(pages, fold_of, strict=True):
                if own == fold:
                    for name, f1 in measure(recipe, model, page).items():
                        found[name][_key(page)] = f1
            report(number * len(recipes) + place + 1, f"{recipe}, fold {fold}")
    return found


def main() -> int:
    """Writes recipes.json."""
    parser = argparse.ArgumentParser(
        prog="python -m research.recipes",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", metavar="DIR", type=Path, required=True, help="the annotated pages")
    parser.add_argument("--generated", metavar="FILE", type=Path, help="pages of research.generated")
    parser.add_argument("--folds", metavar="K", type=int, nargs="+", default=range(N_FOLDS))
    parser.add_argument("--recipes", nargs="+", metavar="NAME", default=(OLDER, APART, ONE))
    parser.add_argument("--scratch", metavar="DIR", type=Path, required=True, help="keeps the models")
    parser.add_argument(
        "--stored", action="store_true", help="train nothing: measure the models in --scratch"
    )
    parser.add_argument("--results", metavar="DIR", type=Path, default=research.RESULTS)
    options = parser.parse_args()
    for folder in (options.scratch, options.results):
        folder.mkdir(parents=True, exist_ok=True)
    pages = trials.labelled(options.data)
    scores = scores_of(options, pages)
    pairs = [*PAIRS, *((GROUPED.format(recipe=ONE, share=share), ONE) for share in SHARES)]
    tested = [Measured(*_key(page), page.site, page.gold.meta.get("page_type")) for page in pages]
    found_pairs = {
        f"{after} / {before}": compared(tested, scores[after], scores[before])
        for after, before in pairs
        if after in scores and before in scores
    }
    write(options.results / "recipes.json", found_pairs)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
