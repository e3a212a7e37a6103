"""Languages that have no gold texts, by snippets that must and must not stand in the output.

python -m research.snippets --data PAGES

Pages of SET (default: trafilatura_eval), which no model learns from, go through `victor` as shipped and
through the peers (extra `peers`), all on the canonical HTML. F1 of a page: its wanted snippets that are
there are right, unwanted ones that are there wrong. Means by language go to snippets.json in --results.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

import research
from research import peers_raw
from research.against_peers import MIN_PAGES, OURS, UNKNOWN, verdict
from victor_spark.blocks import Float64
from victor_spark.errors import EXIT_DONE, VictorError
from victor_spark.evaluation import evaluate, gold, measures, measuring
from victor_spark.evaluation.evaluate import Table
from victor_spark.evaluation.measuring import SNIPPETS
from victor_spark.logs import track

RESULTS: Final = "snippets.json"
SET: Final = "trafilatura_eval"


def _f1_table(rows: Table, measure: str) -> Float64:
    """F1 by page and cleaner, shape (n_pages, n_cleaners); NaN where a page hasn't the measure."""
    return np.array([[evaluate.f1(page, measure) for page in pages] for pages in rows.values()]).T


def by_language(rows: Table) -> dict[str, Any]:
    """Language → means of all cleaners, and the difference between `victor` and the best peer."""
    names = list(rows)
    table = _f1_table(rows, SNIPPETS)
    ours = rows[OURS]
    measured = ~np.isnan(table).any(axis=1)
    languages = np.array([page.language or UNKNOWN for page in ours])
    sites = np.array([page.site for page in ours])
    found = {}
    for language in ("all", *sorted(set(languages.tolist()))):
        there = measured & ((languages == language) | (language == "all"))
        if there.sum() < MIN_PAGES:
            continue
        means = table[there].mean(axis=0)
        best = 1 + int(means[1:].argmax())
        (difference,) = measures.differences(
            table[there][:, :1], table[there][:, best : best + 1], sites[there].tolist()
        )
        found[language] = {
            "n_pages": int(there.sum()),
            "n_sites": len(set(sites[there].tolist())),
            "means": {name: round(mean, 6) for name, mean in zip(names, means.tolist(), strict=True)},
            "best_peer": names[best],
            "difference": {key: round(value, 6) for key, value in asdict(difference).items()},
            "verdict": verdict(difference.low, difference.high),
        }
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, writes the figures, prints them."""
    options = _parser().parse_args(arguments)
    try:
        names = (OURS, *peers_raw.NAMES)
        peers_raw.versions(peers_raw.NAMES)
        pages = list(gold.read(gold.find(options.data, [options.set])[options.set]))
        tested = evaluate.locally(pages, measuring.plan(names, (), (SNIPPETS,)), n_jobs=options.jobs)
        rows = evaluate.table(list(track(tested, "pages", len(pages) * len(names))), names)
    except VictorError as error:
        print(f"snippets: error: {error}", file=sys.stderr)
        return error.exit_code
    found = by_language(rows)
    (options.results / RESULTS).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print("\n".join(lines(found)))
    return EXIT_DONE


def lines(found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The figures as lines of text."""
    for language, row in found.items():
        difference = row["difference"]
        yield (
            f"{language:<10}{row['n_pages']:>5} {row['means'][OURS]:.3f} {row['best_peer']:<12}"
            f"{row['means'][row['best_peer']]:.3f} {difference['mean']:+.3f} "
            f"({difference['low']:+.3f} … {difference['high']:+.3f}) {row['verdict']}"
        )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m research.snippets",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", metavar="DIR", type=Path, required=True, help="the annotated pages")
    parser.add_argument(
        "--results",
        metavar="DIR",
        type=Path,
        default=research.RESULTS,
        help="takes the results (default: %(default)s)",
    )
    parser.add_argument("--set", metavar="NAME", default=SET, help="default: %(default)s")
    parser.add_argument("--jobs", metavar="N", type=int, default=2, help="processes (default: 2)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
