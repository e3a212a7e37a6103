"""Fits the constants that the papers of `kimatu` and `line-block` leave open, and writes them into conf/.

`python -m research.fit_rules kimatu` takes a fixed sample of the training split of
every set (at most 60 pages each), fits, writes conf/kimatu.toml and prints word F1 on a like sample of
the dev split. The same data gives the same file. Constants that the papers state are not fitted.
"""

import argparse
import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from research import sample, search
from research.search import Grid, PageBag
from victor_spark import configuration, resources
from victor_spark.blocks import Bool, Float64
from victor_spark.errors import EXIT_DONE, InputError, VictorError
from victor_spark.evaluation import gold, labelling
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.extractors import kimatu, kimatu_blocks, line_block
from victor_spark.extractors.line_block import Features, Options, Thresholds
from victor_spark.logs import track

PAGES_PER_SET: Final = 60

# The search starts with the first value of each.

KIMATU_GRID: Final[Grid] = {
    "links_per_element": (5.0, 0.5, 1.0, 2.0, 3.0, 8.0, 12.0),
    "marks_per_word": (0.08, 0.03, 0.05, 0.06, 0.07, 0.1, 0.12, 0.15),
    "longest_average": (40.0, 15.0, 20.0, 30.0, 50.0, 70.0, 100.0),
    "near": (3, 1, 2, 5, 7, 10, 15, 20, 30),
    "dispersed_near": (5, 1, 3, 10, 20, 40, 80),
    "far": (3.0, 1.5, 2.0, 5.0, 10.0, 20.0),
    "relevant_ratio": (-0.95, -1.2, -1.0, -0.98, -0.9, -0.8, -0.6, -0.4, -0.2, 0.0),
    "relevant_near": (2, 1, 3, 4, 5, 7, 10),
    "short_element": (10.0, 3.0, 5.0, 7.0, 15.0),
    "function_share": (0.5, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9),
    "quote_words": (10, 5, 20, 30, 50),
    "quote_share": (0.8, 0.6, 0.7, 0.9, 0.95),
}
LINE_BLOCK_GRIDS: Final[Mapping[str, Grid]] = {
    "constant": {"near": (1, 2, 3, 4, 6)},
    "deviation": {
        "deviation.ttr": (0.5, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0, 1.3),
        "deviation.attr": (1.0, 0.2, 0.4, 0.6, 0.8, 1.2, 1.5, 2.0),
        "deviation.tkd": (2.0, 0.0, 0.5, 1.0, 1.5, 3.0, 4.0, 6.0, 8.0, 12.0),
        "near": (1, 2, 3, 4, 6),
    },
}
"""What is fitted in each mode of thresholds."""
PAPER: Final = frozenset({
    "length_weight", "average_length_weight", "sure_ratio", "dispersed_ratio",
    "high_ratio", "constant.ttr", "constant.attr", "constant.tkd",
})  # fmt: skip

CHOSEN: Final = frozenset({"heading_words"})
"""By hand: it says which kept elements are headings, not what is kept."""

Keep: TypeAlias = Callable[[Any], Bool]
"""The blocks of one page that given constants keep; the work that does not depend on them is done once."""


Score: TypeAlias = Callable[[Any], Float64]
Variants: TypeAlias = dict[str, tuple[Any, float]]
"""Name → fitted constants, and their mean word F1 on the pages of the fit; the variant in use comes first."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How one cleaner is fitted: its constants, their file, the work once a page, and the search."""

    kind: type
    file: str
    keep: Callable[[LabelledPage], Keep]
    search: Callable[[Score, Any], Variants]


def _kimatu_keep(page: LabelledPage) -> Keep:
    found = kimatu_blocks.elements(page.page)
    return lambda options: kimatu.clean(page.page, found, options).kept


def _fit_kimatu(score: Score, start: Any) -> Variants:
    return {"kimatu": search.coordinate(score, start, KIMATU_GRID, _say)}


@dataclass(frozen=True, slots=True)
class _LineBlock:
    """The constants of `line-block`, and the choices where the paper is open or contradicts itself.

    `rule`: `all` is the paper's step 4, which asks for all three features; `rescue` is its step 3, the first
    two or the third. `thresholds`: the paper's `constant` ones, or its adaptive mode, multiples of a
    `deviation`. `title_density`: `printed` is equation (3), `frequency` the fraction the other way up.
    """

    rule: str
    thresholds: str
    title_density: str
    near: int
    constant: Thresholds
    deviation: Thresholds


_SHIPPED: Final = ("rescue", "deviation", "frequency")
"""The choices of victor_spark/extractors/line_block.py."""


def _line_block_keep(page: LabelledPage) -> Keep:
    source = line_block.lines(page.page)

    @cache
    def found(near: int) -> tuple[line_block.Lines, Features]:
        joined = line_block.line_blocks(source, near)
        return joined, line_block.features(page.page, joined)

    def keep(options: Any) -> Bool:
        joined, features = found(options.near)
        return _is_content(features, options)[joined.of_block]

    return keep


def _is_content(features: Features, options: _LineBlock) -> Bool:
    """Which line-blocks are content by a variant."""
    if options.title_density == "printed":
        features = replace(features, tkd=np.where(features.tkd > 0, 1 - 1 / np.maximum(features.tkd, 1), 0.0))
    limits = options.constant
    if options.thresholds == "deviation":
        limits = line_block.limits(features, Options(options.near, options.constant, options.deviation))
    if options.rule == "rescue":
        return line_block.content_line_blocks(features, limits)
    return np.asarray(
        (features.ttr > limits.ttr) & (features.attr < limits.attr) & (features.tkd >= limits.tkd)
    )


def _fit_line_block(score: Score, start: Any) -> Variants:
    """Every variant with the numbers that suit it; the one in use comes first."""
    every = product(("all", "rescue"), ("constant", "deviation"), ("printed", "frequency"))
    variants: Variants = {}
    for names in sorted(every, key=_SHIPPED.__ne__):
        _say(", ".join(names))
        tried = _LineBlock(*names, start.near, start.constant, start.deviation)
        fitted, f1 = search.coordinate(score, tried, LINE_BLOCK_GRIDS[tried.thresholds], _say)
        variants[", ".join(names)] = fitted, f1
    return variants


FITS: Final[Mapping[str, Fit]] = {
    "kimatu": Fit(kimatu_blocks.Constants, kimatu.FILE, _kimatu_keep, _fit_kimatu),
    "line-block": Fit(line_block.Options, line_block.FILE, _line_block_keep, _fit_line_block),
}


@dataclass(frozen=True, slots=True)
class _Sample:
    """Pages that constants are tested on."""

    sets: list[str]
    keeps: list[Keep]
    bags: list[PageBag]

    def f1(self, options: Any) -> Float64:
        """Word F1 of every page under these constants."""
        return np.array([bag.f1(keep(options)) for keep, bag in zip(self.keeps, self.bags, strict=True)])


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    options = _parser().parse_args(arguments)
    try:
        _run(options)
    except VictorError as error:
        print(f"fit_rules: error: {error}", file=sys.stderr)
        return error.exit_code
    return EXIT_DONE


def _run(options: argparse.Namespace) -> None:
    fit = FITS[options.cleaner]
    data = Path(options.data) if options.data else sample.data_directory()
    if data is None:
        raise InputError("no annotated data at ../shared/data: say where with --data or $VICTOR_DATA")
    conf = resources.directory("conf") / fit.file
    start: Any = configuration.read(conf, fit.kind)
    samples = _samples(data / "pages", fit, options.pages_per_set)
    if options.measure:
        if options.cleaner == "line-block":
            start = _LineBlock(*_SHIPPED, start.near, start.constant, start.deviation)
        print(_line(options.cleaner, samples["dev"], start))
        return
    variants = fit.search(samples["train"].f1, start)
    best, f1 = next(iter(variants.values()))
    best = fit.kind(**{one.name: getattr(best, one.name) for one in fields(fit.kind)})
    output = options.output or conf
    output.write_text(_toml(options.cleaner, fit, best, f"{f1:.4f}", len(samples["train"].sets)), "utf-8")
    _say(f"written to {output}")
    for name, (variant, _) in variants.items():
        print(_line(name, samples["dev"], variant))


def _samples(directory: Path, fit: Fit, per_set: int) -> dict[str, _Sample]:
    """A sample of the training and one of the dev split, which needs all files read once."""
    samples = {split: _Sample([], [], []) for split in ("train", "dev")}
    for name, path in track(gold.find(directory).items(), "sets", len(gold.find(directory))):
        for page in _chosen(path, per_set):
            labelled = labelling.label(page)
            sample = samples[page.split or "train"]
            sample.sets.append(name)
            sample.keeps.append(fit.keep(labelled))
            sample.bags.append(search.bag(labelled))
    for split, sample in samples.items():
        if not sample.sets:
            raise InputError(f"no page of the {split} split in {directory}")
    return samples


def _chosen(path: Path, per_set: int) -> Iterator[gold.GoldPage]:
    """At most `per_set` pages of each split, by a hash of their ids."""
    usable = [page for page in gold.read(path) if gold.usable(page)]
    usable.sort(key=lambda page: hashlib.sha256(page.id.encode("utf-8", "surrogatepass")).digest())
    for split in ("train", "dev"):
        yield from [page for page in usable if page.split == split][:per_set]


def _line(name: str, sample: _Sample, options: Any) -> str:
    """Word F1 on the sample: over all pages, then per set."""
    f1 = sample.f1(options)
    sets = np.array(sample.sets)
    per_set = ", ".join(f"{each} {f1[sets == each].mean():.3f}" for each in sorted(set(sample.sets)))
    return f"{name}: word F1 {f1.mean():.4f} on {len(f1)} dev pages ({per_set})"


def _toml(cleaner: str, fit: Fit, options: Any, f1: str, n_pages: int) -> str:
    """The file of constants, each with where it comes from."""
    module = fit.kind.__module__.replace(".", "/")
    head = (
        f"# Constants of the cleaner `{cleaner}`: {module}.py says what they mean.\n"
        f"# Written by `python -m research.fit_rules {cleaner}`; it fits on {n_pages} pages\n"
        f"# of the training split (mean word F1 there: {f1}).\n"
    )
    plain = [_entry(key, value) for key, value in asdict(options).items() if not isinstance(value, dict)]
    tables = [
        "\n".join([f"[{key}]", *(_entry(f"{key}.{inner}", number) for inner, number in value.items())])
        for key, value in asdict(options).items()
        if isinstance(value, dict)
    ]
    return "\n\n".join([head + "\n".join(["", *plain]) if plain else head.rstrip(), *tables]) + "\n"


def _entry(name: str, value: Any) -> str:
    written = f'"{value}"' if isinstance(value, str) else str(value)
    line = f"{name.rpartition('.')[2]} = {written}"
    return f"{line:<31}# {'paper' if name in PAPER else 'chosen' if name in CHOSEN else 'fitted'}"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m research.fit_rules",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("cleaner", choices=sorted(FITS))
    parser.add_argument("--data", metavar="DIR", help="has pages/ (default: $VICTOR_DATA or ../shared/data)")
    parser.add_argument("--output", metavar="FILE", type=Path, help="default: the cleaner's file in conf/")
    parser.add_argument(
        "--measure", action="store_true", help="fit nothing, only measure the constants there are"
    )
    parser.add_argument(
        "--pages-per-set", metavar="N", type=int, default=PAGES_PER_SET, help="default: %(default)s"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
