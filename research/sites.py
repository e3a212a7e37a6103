"""The gain from the other pages of a site: fits models/sites, and measures it on sites with gold pages.

python -m research.sites split --data DATA --to DIR       for each of five folds, the pages of all other sites
victor train crf --data DIR/0 --features victor-3 --algorithm lbfgs --iterations 60 --folds 0 --output M/0
python -m research.sites measure --data DATA --models M
python -m research.sites page --output docs/sites.md

Each page is cleaned by the model of its fold, which is trained without its site; sites of folds without a
model in M are left out. `measure` writes sites.json in --results; with --fit, it also fits the site model.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any, Final

import numpy as np

import research
from research import against_peers, peers_raw, site_trees, sites_page
from victor_spark import pipeline, resources
from victor_spark.blocks import Blocks, Bool, Float32, Float64, Scores, UInt8, UInt64
from victor_spark.errors import EXIT_DONE, InputError, VictorError
from victor_spark.evaluation import cross_validation, gold, measures
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.labelling import aligned_labels
from victor_spark.extractors import victor
from victor_spark.kernels.num import GOLDEN
from victor_spark.logs import track
from victor_spark.model import decision
from victor_spark.preparation import handed_over
from victor_spark.settings import Settings
from victor_spark.sites.evidence import (
    FILE_NAME,
    FORMAT,
    REPEATS,
    Contributions,
    Known,
    SiteModel,
    added,
    contributions,
    evidence,
    model_from_bytes,
)
from victor_spark.sites.evidence import N_PAGES as N_SAME
from victor_spark.words import block_words, words

MORE: Final = ("fundus", "aed")
"""Sets of DATA/more that are used beside all of DATA/pages."""
MIN_PAGES: Final = 3
"""Gold pages of a site that is measured."""
MANY_PAGES: Final = 5
N_FOLDS: Final = 5
GRID: Final = {
    "prior_pages": (0.25, 0.5, 1.0, 2.0),
    "repeated": (0.0, 2.0, 3.0, 4.0, 5.0),
}
CALIBRATION: Final = (0.8, 0.85, 0.9, 0.95, 1.0)
START: Final = SiteModel(weight=0.9, prior_pages=1.0, doubt=2.0, repeated=0.0, calibration=1.0)
"""The plain consensus, which has no fitted number: the page counts as one more page of its layout."""
TOLERANCE: Final = 0.0005
"""Means within this of the best are near it: the optimum is flat."""
RUN_WORDS: Final = 4
"""Words of a run; it counts in blocks whose runs are on more than RUNS_REPEAT of the pages, in the mean."""
RUNS_REPEAT: Final = 0.5
GOLD_P: Final = np.array([[0.98, 0.0, 0.02], [0.0, 0.98, 0.02], [0.0, 0.02, 0.98]])
"""Probabilities (header, text, other) in the place of each gold label."""
_ODD: Final = np.uint64(GOLDEN)
RESULTS: Final = "sites.json"
N_PAGES: Final = (2, 3, 5, 10, 30)
N_RAW: Final = (2, 3, 5, 10, 30, 100, 300, 900)
N_DRAWS: Final = 5
N_TARGETS: Final = 60
N_WORST: Final = 20
METRICS: Final = "metrics.json"
"""Beside the site model: the figures of its card."""


@dataclass(frozen=True)
class Cleaned:
    """A page after the first pass, with the data to measure any choice of its blocks.

    `found` is the number of the gold's distinct word per word of the page (-1: not in the gold), `rows` the
    block of each; `gold` counts the gold's words. `labels` are those of the blocks by the gold.
    """

    page: GoldPage
    site: str
    language: str | None
    blocks: Blocks
    probabilities: Float64
    n_words: Float64
    found: np.ndarray
    rows: np.ndarray
    gold: np.ndarray
    labels: UInt8

    @property
    def key(self) -> tuple[str, str]:
        """Set and id."""
        return self.page.set, self.page.id

    def scores(self, row: Float32, model: SiteModel | None) -> Scores:
        """The scores by the evidence in `row`; without a model, of one pass."""
        own = victor.scores(self.probabilities, self.blocks)
        return own if model is None else victor.with_evidence(self.blocks, own, row, model)

    def decided(self, scores: Scores) -> tuple[float, float]:
        """Word F1 and expected F1 of the default decision."""
        return self.f1(scores.kept & ~self.blocks.left_out), scores.expected_f1 or 0.0

    def f1(self, kept: Bool) -> float:
        """F1 of the words of the kept blocks against the gold."""
        chosen = self.found[kept[self.rows]]
        if not len(chosen) or not len(self.gold):
            return float(len(chosen) == len(self.gold))
        common = np.minimum(np.bincount(chosen[chosen >= 0], minlength=len(self.gold)), self.gold).sum()
        return float(2 * common / (len(chosen) + self.gold.sum()))


def annotated(data: Path) -> list[GoldPage]:
    """All pages with gold, the text of which is in their html."""
    files = [*gold.find(data / "pages").values(), *gold.find(data / "more", MORE).values()]
    return [page for path in files for page in gold.read(path) if gold.usable(page) and page.html]


def measured(pages: Sequence[GoldPage]) -> set[str]:
    """The sites with enough pages."""
    return {site for site, n in Counter(map(gold.site, pages)).items() if n >= MIN_PAGES}


def fold_of(pages: Sequence[GoldPage]) -> np.ndarray:
    """The fold of each page, as `victor train crf --folds 5` makes them."""
    return cross_validation.folds_by_site(
        [gold.site(page) for page in pages], [p.set for p in pages], N_FOLDS
    )


def split(data: Path, to: Path) -> None:
    """Writes for each fold the pages of all other folds, as training sets."""
    pages = annotated(data)
    for fold, name in product(range(N_FOLDS), sorted({page.set for page in pages})):
        (to / str(fold)).mkdir(parents=True, exist_ok=True)
        rows = [
            page
            for page, own in zip(pages, fold_of(pages), strict=True)
            if (page.set, own != fold) == (name, True)
        ]
        lines = (json.dumps({**asdict(page), "lang": page.language}, ensure_ascii=False) for page in rows)
        (to / str(fold) / f"{name}.jsonl").write_text(
            "".join(f"{line}\n" for line in lines), encoding="utf-8"
        )


def out_of_fold(data: Path, models: Path) -> Iterator[Cleaned]:
    """The pages of the sites that are measured, each after the first pass with the model of its fold."""
    pages = annotated(data)
    held_out, folds = measured(pages), fold_of(pages)
    for fold in range(N_FOLDS):
        own = [
            page for page, of in zip(pages, folds, strict=True) if of == fold and gold.site(page) in held_out
        ]
        if (models / str(fold)).exists():
            yield from cleaned(own, models / str(fold))


def cleaned(pages: Sequence[GoldPage], model: Path | None) -> Iterator[Cleaned]:
    """The pages after the first pass; without a model, with the one that is shipped."""
    settings = Settings(model=None if model is None else str(model))
    clean = pipeline.cleaning(settings, pipeline.models(settings))
    for page in track(pages, "first pass", len(pages)):
        document = clean(handed_over(page.html.encode("utf-8", "replace"), page.url, "utf-8"))
        blocks, wanted = document.columns, Counter(words(page.gold or ""))
        numbers = {word: number for number, word in enumerate(wanted)}
        of_page, rows = block_words(blocks)
        yield Cleaned(
            replace(page, html="", gold=None, gold_markup=None),
            gold.site(page),
            page.language or document.language,
            blocks,
            document.scores.probabilities,
            decision.n_words(blocks),
            np.array([numbers.get(word, -1) for word in of_page], dtype=np.int64),
            rows,
            np.array(list(wanted.values()), dtype=np.int64),
            aligned_labels(blocks, page.gold or "")[0],
        )


def known(pages: Sequence[Contributions]) -> Known:
    """The sums of a site whose pages have these contributions."""
    return Known(len(pages), added(pages))


def evidence_of(pages: Sequence[Cleaned], groups: Sequence[Sequence[int]]) -> dict[int, Float32]:
    """Number of a page → its evidence, where each group of pages is all that is known of a site."""
    found: dict[int, Float32] = {}
    for group in groups:
        of_site = known([contributions(pages[i].blocks, pages[i].probabilities) for i in group])
        found |= {i: evidence(pages[i].blocks, pages[i].probabilities, of_site) for i in group}
    return found


def decided(pages: Sequence[Cleaned], table: dict[int, Float32], model: SiteModel | None) -> Float64:
    """(word F1, expected F1) of each page in `table`, in its order; model None: of one pass."""
    return np.array([pages[i].decided(pages[i].scores(row, model)) for i, row in table.items()])


def grid() -> list[SiteModel]:
    """All models that are tried: the plain consensus, and the products of the parameters' values."""
    names, values = zip(*GRID.items(), strict=True)
    return [START, *(replace(START, **dict(zip(names, each, strict=True))) for each in product(*values))]


def fit(f1: dict[SiteModel, Float64], chosen: Bool) -> SiteModel:
    """Of the models whose mean F1 of the chosen pages is near the best, the one that changes least.

    Its `repeated` is smallest, then its `prior_pages` largest.
    """
    means = {model: float(values[chosen].mean()) for model, values in f1.items()}
    near = [model for model, mean in means.items() if mean >= max(means.values()) - TOLERANCE]
    return min(near, key=lambda m: (m.repeated, -m.prior_pages))


def measure(data: Path, models: Path, results: Path, site_model: Path, *, refit: bool) -> None:
    """Writes all figures of the document, and with `refit` the site model, fitted on all pages."""
    rows = list(out_of_fold(data, models))
    if len({row.page.set for row in rows}) < 2:
        raise InputError(f"needs sites of two sets, with {MIN_PAGES} pages each, in the folds of {models}")
    names = np.array([row.site for row in rows])
    groups = [np.flatnonzero(names == site).tolist() for site in sorted(set(names.tolist()))]
    table = dict(sorted(evidence_of(rows, groups).items()))
    f1 = {each: decided(rows, table, each)[:, 0] for each in track(grid(), "fitting", len(grid()))}
    if refit:
        fitted = fit(f1, np.ones(len(rows), bool))
        trials = {each: decided(rows, table, replace(fitted, calibration=each)) for each in CALIBRATION}
        calibration = min(trials, key=lambda each: abs(float(np.diff(trials[each].mean(axis=0))[0])))
        stored = {"format": FORMAT, **asdict(replace(fitted, calibration=calibration))}
        (site_model / FILE_NAME).write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    shipped = model_from_bytes((site_model / FILE_NAME).read_bytes())

    one, by_site = decided(rows, table, None), decided(rows, table, shipped)
    sets = np.array([row.page.set for row in rows])
    n_pages = np.array([Counter(names.tolist())[name] for name in names])
    folds = np.random.default_rng(0).permutation(len(groups)) % N_FOLDS
    fitted_in = np.zeros(len(rows), dtype=np.int64)
    for group, fold in zip(groups, folds, strict=True):
        fitted_in[group] = fold
    backed_off, with_runs = _backed_off(rows, groups, table), _with_runs(rows, groups, table)
    columns = {
        "one pass": one[:, 0],
        "consensus": decided(rows, table, replace(shipped, repeated=0.0))[:, 0],
        "all, calibrated (shipped)": by_site[:, 0],
        "fitted on other sites": _elsewhere(f1, fitted_in),
        "fitted on other sets": _elsewhere(f1, np.unique(sets, return_inverse=True)[1]),
        "not shipped: with backing off": decided(rows, backed_off, shipped)[:, 0],
        "not shipped: with runs of words": decided(rows, with_runs, shipped)[:, 0],
        "not shipped: trees": site_trees.f1(rows, groups, fitted_in, [table, backed_off, with_runs], shipped),
        sites_page.BOUND: decided(rows, _of_gold(rows, groups), START)[:, 0],
    }
    many = n_pages >= MANY_PAGES
    stored = {
        "model": asdict(shipped),
        "n_pages": len(rows),
        "n_sites": len(groups),
        "n_folds": sum((models / str(fold)).exists() for fold in range(N_FOLDS)),
        "columns": {name: _summary(values[many], names[many]) for name, values in columns.items()},
        "gain": _gain(one[many, 0], by_site[many, 0], names[many]),
        "by pages": [
            _group(f"{low} to {high}" if high < 10**6 else f"{low} and more", one, by_site, names, mask)
            for low, high in ((3, 4), (5, 9), (10, 19), (20, 29), (30, 10**6))
            if (mask := (n_pages >= low) & (n_pages <= high)).any()
        ],
        "by set": [
            _group(each, one, by_site, names, many & (sets == each)) for each in sorted(set(sets[many]))
        ],
        "by language": _often([r.language or "unknown" for r in rows], one, by_site, names, many),
        "by kind": _often([_kind(r.page) for r in rows], one, by_site, names, many),
        "curve": [_at(rows, groups, n, shipped) for n in N_PAGES if n <= n_pages.max()],
        "reliability": _reliability(by_site[many]),
        "peers": _peers(rows, many, {"one pass": one[:, 0], "by site": by_site[:, 0]}),
        "raw": [_raw(path, shipped) for path in sorted((data / "sites").glob("*.jsonl.xz"))],
        "worst": [
            {"set": rows[i].page.set, "id": rows[i].page.id, "one": one[i, 0], "by_site": by_site[i, 0]}
            for i in sorted(np.flatnonzero(many), key=lambda i: by_site[i, 0])[:N_WORST]
        ],
    }
    (results / RESULTS).write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if refit:
        (site_model / METRICS).write_text(json.dumps(metrics(stored), indent=1) + "\n", encoding="utf-8")


def metrics(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of the site model's card, from those of the document: word F1 on sites of MANY_PAGES."""
    large = [row for row in stored["by pages"] if int(row["name"].split()[0]) >= MANY_PAGES]
    shown = {"one pass": "one pass", "consensus": "consensus", "by site": "all, calibrated (shipped)"}
    shown["fitted on other sites"] = "fitted on other sites"
    return {
        "command": "python -m research.sites measure --fit --data DATA --models M",
        "fitted_on": {"n_pages": stored["n_pages"], "n_sites": stored["n_sites"]},
        "n_folds": stored["n_folds"],
        "n_pages": sum(row["n_pages"] for row in large),
        "n_sites": sum(row["n_sites"] for row in large),
        "word_f1": {name: _rounded(stored["columns"][column]) for name, column in shown.items()},
        "gain": _rounded(stored["gain"]),
    }


def _rounded(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 6) for name, value in figures.items()}


def _backed_off(
    rows: Sequence[Cleaned], groups: Sequence[Sequence[int]], table: dict[int, Float32]
) -> dict[int, Float32]:
    """The evidence; where no other page has a block's layout, that of its tags and nearest class or id."""
    coarse = [replace(row, blocks=replace(row.blocks, class_path=_near(row.blocks))) for row in rows]
    other = evidence_of(coarse, groups)
    return {i: np.where(own[N_SAME] > 0, own, other[i]) for i, own in table.items()}


def _near(blocks: Blocks) -> UInt64:
    """A hash of the tags around each block, and of the names of the innermost element that has some."""
    sums = np.cumsum(np.concatenate([np.zeros(1, np.uint64), blocks.name_words * _ODD]))
    of_names = np.diff(sums[blocks.named_elements[1]], prepend=np.uint64(0))
    return np.asarray(blocks.path ^ of_names[blocks.named] * _ODD)


def _with_runs(
    rows: Sequence[Cleaned], groups: Sequence[Sequence[int]], table: dict[int, Float32]
) -> dict[int, Float32]:
    """The evidence, with the share of other pages that repeat a block's runs of words, if it is higher."""
    found = dict(table)
    for group in groups:
        runs = {i: _runs(rows[i].blocks) for i in group}
        n_pages = Counter(run for i in group for run in {run for block in runs[i] for run in block})
        for i in group:
            shares = [[(n_pages[run] - 1) / max(len(group) - 1, 1) for run in block] for block in runs[i]]
            mean = np.array([np.mean(block) for block in shares])
            found[i] = table[i].copy()
            mean = np.where((table[i][N_SAME] > 0) & (mean > RUNS_REPEAT), mean, 0.0)
            found[i][REPEATS] = np.maximum(table[i][REPEATS], mean)
    return found


def _runs(blocks: Blocks) -> list[list[str]]:
    bounds = zip(blocks.text_start.tolist(), blocks.text_end.tolist(), strict=True)
    split = [blocks.text[start:end].casefold().split() for start, end in bounds]
    return [
        [" ".join(block[i : i + RUN_WORDS]) for i in range(max(len(block) - RUN_WORDS, 0) + 1)]
        for block in split
    ]


def _of_gold(rows: Sequence[Cleaned], groups: Sequence[Sequence[int]]) -> dict[int, Float32]:
    """Evidence from the gold labels of the other pages, instead of the model's marginals."""
    certain = [replace(row, probabilities=GOLD_P[row.labels]) for row in rows]
    return evidence_of(certain, groups)


def _kind(page: GoldPage) -> str:
    """The set, and the kind of page where the set has several."""
    kind = page.meta.get("page_type")
    return f"{page.set}: {kind}" if kind else page.set


def _elsewhere(f1: dict[SiteModel, Float64], folds: np.ndarray) -> Float64:
    """F1 of every page with the parameters that are fitted on the pages of the other folds."""
    found = np.zeros(len(folds))
    for fold in np.unique(folds):
        own = folds == fold
        found[own] = f1[fit(f1, ~own)][own]
    return found


def _summary(f1: Float64, sites: np.ndarray) -> dict[str, float]:
    interval = measures.interval(f1.tolist(), sites.tolist())
    return {"f1": interval.mean, "low": interval.low, "high": interval.high} | {
        f"below {bar}": float((f1 < bar).mean()) for bar in (0.5, 0.8)
    }


def _gain(one: Float64, other: Float64, sites: np.ndarray) -> dict[str, float]:
    interval = measures.interval((other - one).tolist(), sites.tolist())
    return {"gain": interval.mean, "low": interval.low, "high": interval.high}


def _group(name: str, one: Float64, other: Float64, sites: np.ndarray, chosen: Bool) -> dict[str, Any]:
    rows = {
        "one": _summary(one[chosen, 0], sites[chosen]),
        "by_site": _summary(other[chosen, 0], sites[chosen]),
    }
    numbers = {"n_pages": int(chosen.sum()), "n_sites": len(set(sites[chosen].tolist()))}
    return {"name": name, **numbers, **rows, **_gain(one[chosen, 0], other[chosen, 0], sites[chosen])}


def _often(
    kinds: Sequence[str], one: Float64, other: Float64, sites: np.ndarray, many: Bool
) -> list[dict[str, Any]]:
    """The groups of pages of one kind, of those that have enough pages, the largest first."""
    of_page = np.array(kinds)
    often = [name for name, n in Counter(of_page[many].tolist()).most_common() if n >= MANY_PAGES]
    return [_group(name, one, other, sites, many & (of_page == name)) for name in often]


def _at(rows: Sequence[Cleaned], groups: Sequence[Sequence[int]], n: int, model: SiteModel) -> dict[str, Any]:
    """One pass and by site where a site has only n pages, drawn at random from the sites that have more."""
    random, one, other, sites = np.random.default_rng(n), [], [], []
    of_consensus: list[Float64] = []
    for _, group in product(range(N_DRAWS), groups):
        if len(group) < n:
            continue
        order = random.permutation(group)
        drawn = [order[i : i + n].tolist() for i in range(0, len(group) - n + 1, n)]
        table = evidence_of(rows, drawn)
        one.append(decided(rows, table, None))
        other.append(decided(rows, table, model))
        of_consensus.append(decided(rows, table, replace(model, repeated=0.0))[:, 0])
        sites += [rows[i].site for i in table]
    found = _group(
        str(n), np.concatenate(one), np.concatenate(other), np.array(sites), np.ones(len(sites), bool)
    )
    before = np.concatenate(one)[:, 0]
    return found | {"consensus": _gain(before, np.concatenate(of_consensus), np.array(sites))}


def _reliability(found: Float64) -> list[dict[str, float]]:
    bounds = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.01)
    rows = []
    for low, high in pairwise(bounds):
        own = found[(found[:, 1] >= low) & (found[:, 1] < high)]
        if len(own):
            mean = own.mean(axis=0).tolist()
            rows.append({"low": low, "high": min(high, 1), "n": len(own), "f1": mean[0], "expected": mean[1]})
    return rows


def _peers(rows: Sequence[Cleaned], many: Bool, ours: dict[str, Float64]) -> dict[str, Any]:
    """The same pages as other tools clean them, of the sets whose results `against_peers` keeps."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for row in peers_raw.read(research.RESULTS / against_peers.PER_PAGE):
        found.setdefault((row.set, row.id), {})[row.peer] = row.f1
    there = [i for i in np.flatnonzero(many).tolist() if rows[i].key in found]
    names = sorted({name for i in there for name in found[rows[i].key]})
    columns = {name: values[there] for name, values in ours.items()}
    columns |= {name: np.array([found[rows[i].key][name] for i in there]) for name in names}
    sites = np.array([rows[i].site for i in there])
    return {"n_pages": len(there), "tools": {name: _summary(f1, sites) for name, f1 in columns.items()}}


def _raw(path: Path, site_model: SiteModel) -> dict[str, Any]:
    """A site without gold: the changes, and how fast the decision approaches that of the whole site."""
    pages = [page for page in cleaned(list(gold.read(path)), None) if len(page.blocks)]
    parts = [contributions(page.blocks, page.probabilities) for page in pages]
    whole = known(parts)
    counts: Counter[str] = Counter()
    for page in pages:
        table = evidence(page.blocks, page.probabilities, whole)
        before, after = (page.scores(table, each).kept for each in (None, site_model))
        n = page.n_words
        counts.update(
            before=int(n[before].sum()),
            added=int(n[after & ~before].sum()),
            dropped=int(n[before & ~after].sum()),
            changed=int(n[before ^ after].sum() > 0.1 * max(n[before].sum(), 1)),
            emptied=int(before.any() and not after.any()),
            filled=int(after.any() and not before.any()),
        )
    random = np.random.default_rng(0)
    targets = random.permutation(len(pages))[:N_TARGETS].tolist()
    curve = {n: _agreement(pages, parts, whole, targets, n, site_model) for n in N_RAW if n < len(pages)}
    return {"site": gold.set_name(path), "n_pages": len(pages), **counts, "curve": curve}


def _agreement(
    pages: Sequence[Cleaned],
    parts: Sequence[Contributions],
    whole: Known,
    targets: Sequence[int],
    n: int,
    model: SiteModel,
) -> float:
    """F1 by words of the decision with n pages of the site, against the decision with all pages."""
    random, found = np.random.default_rng(n), []
    for i in targets:
        page = pages[i]
        others = [j for j in random.choice(len(pages), n, replace=False).tolist() if j != i][: n - 1]
        few = known([parts[j] for j in (i, *others)])
        tables = (evidence(page.blocks, page.probabilities, each) for each in (few, whole))
        few_kept, all_kept = (page.scores(each, model).kept for each in tables)
        n_both = page.n_words[few_kept].sum() + page.n_words[all_kept].sum()
        found.append(2 * page.n_words[few_kept & all_kept].sum() / n_both if n_both else 1.0)
    return float(np.mean(found))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m research.sites",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("step", choices=("split", "measure", "page"))
    parser.add_argument("--data", metavar="DIR", type=Path, help="has pages/, more/ and sites/")
    parser.add_argument("--to", metavar="DIR", type=Path, help="takes the training pages of `split`")
    parser.add_argument("--models", metavar="DIR", type=Path, help="has the models of folds: 0, 1, …")
    parser.add_argument("--results", metavar="DIR", type=Path, default=research.RESULTS, help="sites.json")
    parser.add_argument(
        "--site-model", metavar="DIR", type=Path, default=resources.directory("models") / "sites"
    )
    parser.add_argument("--fit", action="store_true", help="fit the site model on these pages, and write it")
    parser.add_argument("--output", metavar="FILE", type=Path, default=Path("docs/sites.md"))
    args = parser.parse_args(arguments)
    needed = {"split": ("data", "to"), "measure": ("data", "models"), "page": ()}[args.step]
    if missing := [f"--{name}" for name in needed if getattr(args, name) is None]:
        parser.error(f"{args.step} needs {' and '.join(missing)}")
    try:
        match args.step:
            case "split":
                split(args.data, args.to)
            case "measure":
                measure(args.data, args.models, args.results, args.site_model, refit=args.fit)
            case "page":
                args.output.write_text(sites_page.page(args.results / RESULTS), encoding="utf-8")
    except VictorError as error:
        print(f"research.sites: {error}", file=sys.stderr)
        return error.exit_code
    return EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
