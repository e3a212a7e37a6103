"""Is `victor` ahead of the best peer, on which kinds of pages, and is that settled?

python -m research.against_peers --data PAGES

Ours are the results out of fold that `victor train crf` left in --results; the peers (extra
`peers`) run on the raw html of the same pages. Their results page by page go to peers.jsonl.gz in --results,
and are used again (--again runs them anew); the comparison goes to peers.json.

In every group of pages the best peer is the one with the highest mean there, which favours it: it is chosen
after the fact. Intervals are of the mean difference, from bootstrap by site (95 %).
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

import research
from research import out_of_fold, peers_raw, sample
from research.out_of_fold import PageRow
from research.peers_raw import PeerRow
from victor_spark.blocks import Float64
from victor_spark.errors import EXIT_DONE, InputError, VictorError
from victor_spark.evaluation import gold, measures
from victor_spark.evaluation.gold import GoldPage
from victor_spark.logs import track

OURS: Final = "victor"
PER_PAGE: Final = "peers.jsonl.gz"
COMPARISON: Final = "peers.json"
MIN_PAGES: Final = 5
"""A group of fewer pages isn't shown."""

UNKNOWN: Final = "unknown"

AHEAD, BEHIND, OPEN = "ahead", "behind", "not settled"


def _kind(row: PageRow) -> str:
    return f"{row.set}: {row.page_type}" if row.page_type else row.set


GROUPINGS: Final[Mapping[str, Callable[[PageRow], str | None]]] = {
    "all": lambda _: "all",
    "set": lambda row: row.set,
    "page type": lambda row: _kind(row) if row.page_type else None,
    "language": lambda row: row.language or UNKNOWN,
    "language of daniel": lambda row: row.language if row.set == "daniel" else None,
}
"""How pages are grouped → the group of a page, None for one that stays out."""


def compare(rows: Sequence[PageRow], peer_rows: Sequence[PeerRow]) -> dict[str, Any]:
    """Grouping → group → the means of all, and the difference between `victor` and the best peer there."""
    names, table = _table(rows, peer_rows)
    sites = np.array([row.site for row in rows])
    found: dict[str, Any] = {}
    for grouping, group_of in GROUPINGS.items():
        groups = np.array([group_of(row) or "" for row in rows])
        found[grouping] = {
            group: _compared(names, table[groups == group], sites[groups == group].tolist())
            for group in sorted(set(groups.tolist()) - {""})
            if (groups == group).sum() >= MIN_PAGES
        }
    found["mean over sets"] = _mean_over_sets(found["set"])
    return found


def _table(rows: Sequence[PageRow], peer_rows: Sequence[PeerRow]) -> tuple[list[str], Float64]:
    """Names, ours first, and word F1 by page and name; InputError where a peer lacks a page."""
    names = list(dict.fromkeys(row.peer for row in peer_rows))
    theirs = {(row.set, row.id, row.peer): row.f1 for row in peer_rows}
    try:
        table = [[row.word_f1, *(theirs[*row.key, name] for name in names)] for row in rows]
    except KeyError as error:
        raise InputError(f"no result of a peer for {' '.join(error.args[0])}: run them --again") from error
    return [OURS, *names], np.array(table)


def _compared(names: Sequence[str], table: Float64, sites: Sequence[str]) -> dict[str, Any]:
    means = table.mean(axis=0)
    best = 1 + int(means[1:].argmax())
    (difference,) = measures.differences(table[:, :1], table[:, best : best + 1], sites)
    return {
        "n_pages": len(table),
        "n_sites": len(set(sites)),
        "means": {name: round(mean, 6) for name, mean in zip(names, means.tolist(), strict=True)},
        "best_peer": names[best],
        "difference": {key: round(value, 6) for key, value in asdict(difference).items()},
        "verdict": verdict(difference.low, difference.high),
    }


def verdict(low: float, high: float) -> str:
    """Whether ours is ahead, behind, or that isn't settled by an interval of the difference."""
    return AHEAD if low > 0 else BEHIND if high < 0 else OPEN


def _mean_over_sets(sets: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The mean of the sets' means; `best of each set` takes the best peer of every set for itself."""
    names = list(next(iter(sets.values()))["means"])
    means = {name: float(np.mean([row["means"][name] for row in sets.values()])) for name in names}
    best = float(np.mean([row["means"][row["best_peer"]] for row in sets.values()]))
    return {name: round(mean, 6) for name, mean in (means | {"best peer of each set": best}).items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the peers where needed, writes the comparison, prints it."""
    options = _parser().parse_args(arguments)
    try:
        rows = out_of_fold.read(options.results / out_of_fold.FILE_NAME)
        versions = _peers(options, rows)
        compared = {
            "peers": versions,
            "failures": _failures(peers_raw.read(options.results / PER_PAGE)),
            **compare(rows, peers_raw.read(options.results / PER_PAGE)),
        }
    except VictorError as error:
        print(f"against_peers: error: {error}", file=sys.stderr)
        return error.exit_code
    path = options.results / COMPARISON
    path.write_text(json.dumps(compared, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print("\n".join(lines(compared)))
    return EXIT_DONE


def _peers(options: argparse.Namespace, rows: Sequence[PageRow]) -> dict[str, str]:
    """Versions of the peers, which have been run on the pages of all rows then."""
    path, comparison = options.results / PER_PAGE, options.results / COMPARISON
    there = path.is_file() and not options.again
    stored = peers_raw.read(path) if there else []
    known = {(row.set, row.id) for row in stored}
    if there and all(row.key in known for row in rows):
        return dict(json.loads(comparison.read_text(encoding="utf-8"))["peers"])
    if options.data is None:
        raise InputError("the peers need the annotated pages: --data DIR")
    versions = peers_raw.versions(peers_raw.NAMES)
    if there and versions != json.loads(comparison.read_text(encoding="utf-8"))["peers"]:
        raise InputError(f"{path}: results of other versions of the peers: run all of them --again")
    left = [row for row in rows if row.key not in known]
    tested = peers_raw.measure(_pages(options.data, left), peers_raw.NAMES, n_jobs=options.jobs)
    peers_raw.write(path, [*stored, *track(tested, "peers", len(left) * len(peers_raw.NAMES))])
    comparison.write_text(json.dumps({"peers": versions}) + "\n", encoding="utf-8")
    return versions


def _pages(directory: Path, rows: Sequence[PageRow]) -> Iterator[GoldPage]:
    """The annotated pages that the rows are about, with the language that is known of each."""
    language = {row.key: row.language for row in rows}
    sets = {row.set for row in rows}
    for path in (path for name, path in sample.files(directory).items() if name in sets):
        for page in gold.read(path):
            if (page.set, page.id) in language:
                yield replace(page, language=language[page.set, page.id], gold_markup=None, meta={})


def _failures(rows: Sequence[PeerRow]) -> dict[str, int]:
    """Tool → the number of pages on which it failed; they count as an empty output."""
    failed = [row.peer for row in rows if row.failure]
    return {name: failed.count(name) for name in dict.fromkeys(row.peer for row in rows)}


def lines(compared: Mapping[str, Any]) -> Iterator[str]:
    """The comparison as lines of text."""
    for grouping in GROUPINGS:
        for group, row in compared[grouping].items():
            difference = row["difference"]
            yield (
                f"{grouping:<20}{group:<46}{row['n_pages']:>5} {row['means'][OURS]:.3f} "
                f"{row['best_peer']:<12}{row['means'][row['best_peer']]:.3f} {difference['mean']:+.3f} "
                f"({difference['low']:+.3f} … {difference['high']:+.3f}) {row['verdict']}"
            )
    for name, mean in compared["mean over sets"].items():
        yield f"mean over sets      {name:<46}      {mean:.3f}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m research.against_peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--data", metavar="DIR", type=Path, help="directory of annotated pages, for the peers"
    )
    parser.add_argument(
        "--results",
        metavar="DIR",
        type=Path,
        default=research.RESULTS,
        help="has out_of_fold.jsonl.gz, takes the results (default: %(default)s)",
    )
    parser.add_argument("--again", action="store_true", help="run the peers also where results exist")
    parser.add_argument("--jobs", metavar="N", type=int, default=2, help="processes (default: 2)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
