"""The shipped model compared with the one before it, page by page, both out of fold.

python -m research.previous --data PAGES

The results out of fold of both are there (`victor train crf` writes them). Pages of sets that the earlier
model was not trained on go through that model as it is. Writes previous.json in --results: by group of pages,
word F1 before and after, the paired difference with its interval by site, and the shares of pages below 0.5.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

import research
from research import out_of_fold, sample
from victor_spark import resources
from victor_spark.evaluation import cross_validation, gold, labelling, measures
from victor_spark.extractors import victor
from victor_spark.model import files
from victor_spark.model.crf import marginals

BEFORE: Final = "victor-2"
FILE_NAME: Final = "previous.json"
ALL, OLD, MEAN_OLD, MEAN = "all", "older sets", "mean over older sets", "mean over all sets"


class Measured(NamedTuple):
    """A page, with the fields by which pages are grouped and resampled."""

    set: str
    id: str
    site: str
    page_type: str | None


def groups(pages: Sequence[Measured]) -> dict[str, list[Measured]]:
    """Pages by set, by page type of a set, and all."""
    found = defaultdict(list)
    for page in pages:
        found[page.set].append(page)
        if page.page_type:
            found[f"{page.set}: {page.page_type}"].append(page)
        found[ALL].append(page)
        if page.set not in sample.NEWER:
            found[OLD].append(page)
    return dict(sorted(found.items()))


def compared(
    pages: Sequence[Measured],
    after: Mapping[tuple[str, str], float],
    before: Mapping[tuple[str, str], float],
) -> dict[str, dict[str, Any]]:
    """By group of pages: how many, both means, the paired difference with its interval, shares below 0.5."""
    found: dict[str, dict[str, Any]] = {}
    both = [page for page in pages if page[:2] in after and page[:2] in before]
    for name, of_group in groups(both).items():
        columns = [np.array([scores[page[:2]] for page in of_group])[:, None] for scores in (before, after)]
        (difference,) = measures.differences(columns[1], columns[0], [page.site for page in of_group])
        found[name] = {
            "n_pages": len(of_group),
            "before": round(float(columns[0].mean()), 6),
            "after": round(float(columns[1].mean()), 6),
            "difference": {key: round(value, 6) for key, value in asdict(difference).items()},
            "below_half": [round(float((column < 0.5).mean()), 6) for column in columns],
        }
    sets = [name for name in found if ":" not in name and name not in {ALL, OLD}]
    for name, chosen in ((MEAN_OLD, [each for each in sets if each not in sample.NEWER]), (MEAN, sets)):
        found[name] = {
            key: round(float(np.mean([found[each][key] for each in chosen])), 6)
            for key in ("before", "after")
        }
    return found


def by_model(name: str, directory: Path, sets: Sequence[str]) -> dict[tuple[str, str], float]:
    """Word F1 of each page of these sets by a shipped CRF model."""
    model = files.from_bytes(files.read_bytes(resources.directory("models") / "crf" / name))
    found = {}
    for path in (path for own, path in sample.files(directory).items() if own in sets):
        for page in map(labelling.label, filter(gold.usable, gold.read(path))):
            kept, _ = victor.decide_2(marginals(model, page.page.blocks), page.page.blocks)
            f1 = measures.quality(cross_validation.word_overlap(page, kept)).f1
            found[page.gold.set, page.gold.id] = f1
    return found


def write(path: Path, found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Writes comparisons as JSON, and prints them."""
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for name, rows in found.items():
        print(name)
        for group, row in rows.items():
            line = f"  {group:<28}{row.get('n_pages', ''):>5} {row['before']:.4f} {row['after']:.4f}"
            if each := row.get("difference"):
                line += f"  {each['mean']:+.4f} ({each['low']:+.4f} … {each['high']:+.4f})"
            print(line)


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes previous.json."""
    parser = argparse.ArgumentParser(
        prog="python -m research.previous",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", metavar="DIR", type=Path, required=True, help="the annotated pages")
    parser.add_argument("--results", metavar="DIR", type=Path, default=research.RESULTS)
    options = parser.parse_args(arguments)
    after = out_of_fold.read(options.results / out_of_fold.FILE_NAME)
    before = {
        row.key: row.word_f1
        for row in out_of_fold.read(research.RESULTS.with_name(BEFORE) / out_of_fold.FILE_NAME)
    }
    before |= by_model(BEFORE, options.data, sorted({row.set for row in after if row.key not in before}))
    tested = [Measured(row.set, row.id, row.site, row.page_type) for row in after]
    found = compared(tested, {row.key: row.word_f1 for row in after}, before)
    write(options.results / FILE_NAME, {f"{research.RESULTS.name} / {BEFORE}": found})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
