"""The quality gate: word F1 of our cleaners on fixed gold pages must not fall below pinned floors.

`python -m tests.gate.gate`, run by `./dev gate`. Two kinds of figures are held:
*seen* pages go through the shipped model, which was trained on them, from html to text exactly as
users get it; *unseen* pages go through models trained on the other sites of the sample. Only the
second kind says what the code is worth on pages nobody has seen; the first guards what is shipped.

Exit codes: 0 nothing fell (or there is no annotated data here), 1 something fell, 2 wrong usage.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from research import sample
from tests.gate import floors
from tests.gate.floors import Key
from victor_spark import resources
from victor_spark.errors import EXIT_DONE, EXIT_INTERNAL, VictorError
from victor_spark.evaluation import (
    crf,
    cross_validation,
    evaluate,
    gold,
    labelling,
    measures,
    measuring,
)
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.measures import Interval
from victor_spark.extractors import CLEANERS, MODELS, template
from victor_spark.logs import track
from victor_spark.model import files as model_files
from victor_spark.model.features import from_conf
from victor_spark.train.crfsuite import TrainingOptions

N_FOLDS: Final = 3
PAGES_PER_SET: Final = 60
MAX_ITERATIONS: Final = 60
"""Fewer than for a shipped model: the floors are about the code, and the gate takes minutes."""
_MEASURE: Final = "words"
_LEARNT: Final = ("victor", "victor-2008")
"""The cleaners that are trained without the tested pages; training is the same for victor-2 as for victor."""
_FLOORS: Final = Path(__file__).with_name("floors.toml")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the gate and returns its exit code."""
    options = _parser().parse_args(arguments)
    data = Path(options.data) if options.data else sample.data_directory()
    if data is None or not (data / "pages").is_dir():
        print(f"gate: no annotated data at {data or '../shared/data'} ($VICTOR_DATA); nothing measured")
        return EXIT_DONE
    try:
        return _gate(data / "pages", options)
    except VictorError as error:
        print(f"gate: error: {error}", file=sys.stderr)
        return error.exit_code


def _gate(directory: Path, options: argparse.Namespace) -> int:
    before = floors.read(options.floors)
    pages = sample.fixed_sample(directory, options.pages_per_set)
    fingerprint = gold.fingerprint(pages)
    if before and not options.pin and before.gold != fingerprint:
        print("gate: the annotated pages are not those the floors were pinned on (--pin pins new ones)")
        return EXIT_INTERNAL
    intervals = seen(pages, n_jobs=options.jobs) | unseen(pages, n_jobs=options.jobs)
    print(table(intervals, before.floors if before else {}))
    measured = {key: interval.mean for key, interval in intervals.items()}
    if options.pin:
        return _pin(options.floors, before, measured, fingerprint, options.lower_because)
    if before is None:
        print(f"gate: no floors at {options.floors} yet (--pin writes them)")
        return EXIT_INTERNAL
    fallen = floors.broken(before, measured)
    print("\n".join(["", *fallen]) if fallen else "\ngate: nothing fell")
    return EXIT_INTERNAL if fallen else EXIT_DONE


def _pin(
    path: Path,
    before: floors.Floors | None,
    measured: Mapping[Key, float],
    gold_hash: str,
    because: str | None,
) -> int:
    after = floors.pinned(before, measured, gold_hash, because)
    floors.write(path, after)
    print("\n".join(["", *floors.differences(before, after), f"gate: floors written to {path}"]))
    return EXIT_DONE


def seen(pages: Sequence[GoldPage], *, n_jobs: int) -> dict[Key, Interval]:
    """Word F1 of every cleaner of ours as shipped, from html to text, per set and over all."""
    alone = tuple(name for name in CLEANERS if name != template.NAME)  # which needs a site's templates
    plan = measuring.plan(alone, (), (_MEASURE,))
    tested = evaluate.locally(pages, plan, n_jobs=n_jobs)
    rows = evaluate.table(list(track(tested, "seen pages", len(pages) * len(plan.names))), plan.names)
    for failure in evaluate.failures(rows):
        print("gate: {cleaner} failed on {set} {id}: {status} ({reason})".format(**failure), file=sys.stderr)
    intervals: dict[Key, Interval] = {}
    for name, own in rows.items():
        f1 = [evaluate.f1(page, _MEASURE) for page in own]
        intervals |= _by_set(name, "seen", [page.set for page in own], [page.site for page in own], f1)
    return intervals


def unseen(pages: Sequence[GoldPage], *, n_jobs: int) -> dict[Key, Interval]:
    """Word F1 of every CRF cleaner out of fold: models trained on the sample without the page's site."""
    usable = list(filter(gold.usable, pages))
    labelled = list(map(labelling.label, track(usable, "labelling", len(usable))))
    intervals: dict[Key, Interval] = {}
    for folder in sorted({MODELS[name] for name in _LEARNT}):
        shipped = model_files.from_bytes(
            model_files.read_bytes(resources.directory("models") / folder), folder
        )
        recipe = crf.recipe(
            from_conf(shipped.table.feature_set), TrainingOptions(max_iterations=MAX_ITERATIONS)
        )
        results = cross_validation.cross_validate(labelled, recipe, n_folds=N_FOLDS, n_jobs=n_jobs)
        for name in (name for name in _LEARNT if MODELS[name] == folder):
            tested = results[name]
            f1 = [measures.quality(page.words).f1 for page in tested]
            intervals |= _by_set(name, "unseen", [p.set for p in tested], [p.site for p in tested], f1)
    return intervals


def _by_set(
    cleaner: str, kind: str, sets: Sequence[str], sites: Sequence[str], f1: Sequence[float]
) -> dict[Key, Interval]:
    intervals: dict[Key, Interval] = {}
    for name in [*sorted(set(sets)), measures.ALL]:
        rows = [row for row, own in enumerate(sets) if name in (own, measures.ALL)]
        intervals[cleaner, kind, name] = measures.interval(
            [f1[row] for row in rows], [sites[row] for row in rows]
        )
    return intervals


def table(intervals: Mapping[Key, Interval], pinned: Mapping[Key, float]) -> str:
    """The measured figures beside their floors, as lines of text."""
    head = f"{'cleaner':<22}{'pages':<8}{'set':<18}{'n':>5} {'word F1':>8} {'95 % interval':>15} {'floor':>7}"
    lines = [head]
    for key, interval in intervals.items():
        floor = f"{pinned[key]:.3f}" if key in pinned else "none"
        line = "{:<22}{:<8}{:<18}".format(*key) + f"{interval.n:>5} {interval.mean:>8.4f}"
        line += f" {f'{interval.low:.3f} – {interval.high:.3f}':>15} {floor:>7}"
        lines.append(line + ("  BELOW" if interval.mean < pinned.get(key, 0.0) else ""))
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.gate.gate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", metavar="DIR", help="has pages/ (default: $VICTOR_DATA or ../shared/data)")
    parser.add_argument("--floors", metavar="FILE", type=Path, default=_FLOORS, help="default: %(default)s")
    parser.add_argument("--pin", action="store_true", help="write what is measured now as the new floors")
    parser.add_argument(
        "--lower-because", metavar="REASON", help="lets --pin lower a floor; kept in the file"
    )
    parser.add_argument("--jobs", metavar="N", type=int, default=2, help="processes (default: 2)")
    parser.add_argument(
        "--pages-per-set", metavar="N", type=int, default=PAGES_PER_SET, help="default: %(default)s"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
