"""The gain from adaptation: a model that was trained without a kind of page, adapted to a few dozen of them.

    python bench/adaptation.py [--data DIR] [--base FILE]      DIR: the sets of annotated pages

The model to start from is trained as `victor` was, on the training pages of all sets but KINDS. Of each kind,
a few dozen pages are drawn, and the model is adapted to them as `victor train crf --start-from` does. Both
models are measured on the kind's other pages: those of the drawn sites, and those of sites that neither model
was trained on; and on the dev pages of the other sets, for what adaptation loses there. `--base` stores the
trained model.
"""

import argparse
import os
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Final

from victor_spark.evaluation import crf, cross_validation, gold, labelling, measures
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.logs import track
from victor_spark.model import files as model_files
from victor_spark.model.crf import Model
from victor_spark.model.features import from_conf
from victor_spark.train.crf import C2, STRENGTH, adapt
from victor_spark.train.crfsuite import TrainingOptions

ROOT: Final = Path(__file__).resolve().parent.parent
FEATURES: Final = "victor-2"
KINDS: Final = {"daniel": "news in five languages", "canola": "mixed web, 2008"}
N_PAGES: Final = 36
N_A_SITE: Final = 6
"""Pages of one site that are drawn at most."""
MODELS: Final = {"before": None, "adapted": STRENGTH, "strength 1": 1.0}


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    data = os.environ.get("VICTOR_DATA") or ROOT.parent / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(data) / "pages")
    parser.add_argument("--base", type=Path, help="the model to start from; made where there is none")
    parser.add_argument("--draws", type=int, default=2)
    arguments = parser.parse_args()
    pages = list(_labelled(arguments.data))
    start = _base([page for page in pages if not _is_held_out(page)], arguments.base)
    others = [page for page in pages if _is_held_out(page) and page.gold.set not in KINDS]
    for kind, words in KINDS.items():
        print(f"\n{kind}, {words}: word F1 before and after {N_PAGES} pages\n")
        print(f"| pages measured | n | {' | '.join(MODELS)} |\n|---|--:|{'--:|' * len(MODELS)}")
        of_kind = [page for page in pages if page.gold.set == kind]
        for row in _rows(start, of_kind, others, arguments.draws):
            print(f"| {row[0]} | {row[1]} | {' | '.join(f'{f1:.3f}' for f1 in row[2])} |", flush=True)


def _is_held_out(page: LabelledPage) -> bool:
    return page.gold.set in KINDS or page.gold.split == "dev"


def _labelled(folder: Path) -> Iterator[LabelledPage]:
    for name, path in gold.find(folder, []).items():
        usable = [page for page in gold.read(path) if gold.usable(page)]
        yield from map(labelling.label, track(usable, f"labelling {name}", len(usable)))


def _base(pages: Sequence[LabelledPage], path: Path | None) -> Model:
    if path is not None and path.exists():
        return model_files.from_bytes(path.read_bytes(), str(path))
    options = TrainingOptions("lbfgs", 60)
    made = crf.train([page for page in pages if labelling.trainable(page)], from_conf(FEATURES), options)
    if path is not None:
        path.write_bytes(model_files.to_bytes(made))
    return made


def _rows(
    start: Model, of_kind: Sequence[LabelledPage], others: Sequence[LabelledPage], n_draws: int
) -> Iterator[tuple[str, str, list[float]]]:
    """Each kind of held-out pages, how many, and the mean over draws of each model's word F1."""
    found: dict[str, list[list[float]]] = defaultdict(list)
    counts: dict[str, list[int]] = defaultdict(list)
    for draw in range(n_draws):
        drawn = _drawn(of_kind, random.Random(draw))
        sites, ids = {page.site for page in drawn}, {page.gold.id for page in drawn}
        rest = [page for page in of_kind if page.gold.id not in ids]
        measured = {
            "other pages of these sites": [page for page in rest if page.site in sites],
            "pages of other sites": [page for page in rest if page.site not in sites],
            "pages of other kinds": others,
        }
        models = [_after(start, drawn, strength) for strength in MODELS.values()]
        for name, held_out in measured.items():
            if held_out:
                found[name].append([_word_f1(model, held_out) for model in models])
                counts[name].append(len(held_out))
    for name, draws in found.items():
        few, many = min(counts[name]), max(counts[name])
        yield (
            name,
            str(few) if few == many else f"{few}–{many}",
            [mean(of) for of in zip(*draws, strict=True)],
        )


def _drawn(pages: Sequence[LabelledPage], dice: random.Random) -> list[LabelledPage]:
    """N_PAGES pages that can be learnt from, site by site in random order."""
    of_site: dict[str, list[LabelledPage]] = defaultdict(list)
    for page in pages:
        if labelling.trainable(page):
            of_site[page.site].append(page)
    names = sorted(of_site)
    dice.shuffle(names)
    picked = [
        page for name in names for page in dice.sample(of_site[name], min(len(of_site[name]), N_A_SITE))
    ]
    return picked[:N_PAGES]


def _after(start: Model, drawn: Sequence[LabelledPage], strength: float | None) -> Model:
    """The model adapted with the command's defaults; as it is without a strength."""
    options, taught = TrainingOptions("lbfgs", 30, {"c2": C2}), crf.training_pages(drawn)
    return start if strength is None else adapt(taught, start, options, strength=strength)


def _word_f1(model: Model, pages: Sequence[LabelledPage]) -> float:
    (clean,) = crf.cleaners(model).values()
    results = [cross_validation.result(page, clean(page.page)) for page in pages]
    return mean(measures.quality(result.words).f1 for result in results)


if __name__ == "__main__":
    main()
