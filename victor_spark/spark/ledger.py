"""The output of a run, OUT/pages/ and OUT/_run/, and the checks of an OUT that exists.

A run is complete when `_run/run.json` exists, which is written last. Until then the same command resumes the
run with the waves of the plan that the ledger doesn't have.

A wave's pages are written below _run/staged, in a folder of the run's own (a run that was killed may leave
a Java process that goes on writing for a while). Then they are counted, moved to pages/ under names with the
wave's number, and entered in the ledger. Files in pages/ that no entry names are of a run that died: they are
removed, and their wave is cleaned again. docs/output.md lists the files of _run/.
"""

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

import pyarrow as pa

from victor_spark.errors import OutputError
from victor_spark.logs import many
from victor_spark.request import CleanRequest
from victor_spark.spark import plan, report
from victor_spark.spark.files import Files, address, output_errors
from victor_spark.spark.plan import Plan
from victor_spark.spark.run_record import Counts, Entry, total
from victor_spark.warc import storage

PAGES: Final = "pages"
CONFIG: Final = storage.CONFIG_OF_RUN
MANIFEST: Final = "_run/manifest.parquet"
PLAN: Final = "_run/plan.json"
RUN: Final = "_run/run.json"
STOPPED: Final = "_run/stopped.json"
REPORT: Final = "_run/report.html"
LEDGER: Final = "_run/ledger"
FAILURES: Final = "_run/failures"
STAGED: Final = "_run/staged"
FIRST_PASS: Final = "_run/first_pass"
DUPLICATES: Final = "_run/duplicates.json"
DEDUP: Final = "_run/dedup"

_MALFORMED: Final = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Errors of code that reads a file of _run/ whose values have other types than a run writes."""

_N_READERS: Final = 16
_N_DIFFERENCES_SHOWN: Final = 3

_GROUPS: Final = [one.default for one in fields(CleanRequest) if is_dataclass(one.default)]
_OPTIONS: Final = {one.name: one.metadata["flag"].split()[0] for group in _GROUPS for one in fields(group)}
"""The option of the command line that sets a field of the request, by the field: for error messages."""

Config = dict[str, Any]


def check(files: Files) -> None:
    """Raises OutputError unless a run may write here; leaves nothing behind."""
    out, names = address(files), files.names()
    if files.is_file():
        raise OutputError(f"{out}: is a file or a broken link; --output is a directory")
    if names and set(names) - {"_run"} and files.read(CONFIG) is None:
        raise OutputError(f"{out}: holds other files ({names[0]}); choose a new or empty directory")
    with output_errors(files.location):
        files.probe()


def finished_run(
    files: Files, config: Config, shards: pa.Table, stored_in: str = MANIFEST
) -> dict[str, Any] | None:
    """The run.json of a complete run of the same command; None if it is not complete, or pages are gone.

    `stored_in`: the name of the manifest, which has the shards as the earlier run found them.
    Raises OutputError with the differences if OUT is of a different command or of shards that changed.
    """
    if not _begun(files, config, f"{FIRST_PASS}/{CONFIG}"):
        return None
    is_removed = stored_in != MANIFEST and files.read(stored_in) is None  # users may delete this file
    if not is_removed and (changed := plan.changed(_stored_shards(files, stored_in), shards)):
        more = f" and {len(changed) - 1} more" if changed[1:] else ""
        begun = f"changed since {address(files)} was begun: choose another --output"
        raise OutputError(f"{changed[0]}{more} {begun}")
    return None if whole(files) is None else stored(files, RUN)


def whole(files: Files) -> dict[str, int] | None:
    """The files of a complete run, with their sizes; None if it is not complete, or pages are gone."""
    if (run := stored(files, RUN)) is None:
        return None
    found, there = list(entries(files)), files.below(PAGES)
    if len(found) != run.get("n_waves") or not all(is_whole(entry, there) for entry in found):
        return None
    return {name: size for entry in found for name, size in entry.files.items()}


def _begun(files: Files, config: Config, first_pass: str = "") -> bool:
    """Whether a run of the same command began here; OutputError if it was a different command.

    `first_pass`: where the config is until the second pass begins.
    """
    found = stored(files, CONFIG) or (stored(files, first_pass) if first_pass else None)
    if found is None:
        return False
    with undamaged(files):
        differences = list(_differences(found, config))
    if differences:
        shown = ", ".join(differences[:_N_DIFFERENCES_SHOWN])
        n_more = len(differences) - _N_DIFFERENCES_SHOWN
        more = f" and {n_more} more" if n_more > 0 else ""
        line = f"{address(files)} was written {shown}{more}"
        raise OutputError(f"{line}: repeat its options or choose another --output")
    return True


def _differences(old: Config, new: Config) -> Iterator[str]:
    """The differences between the command that wrote OUT and this one, by options of the command line."""
    for key in sorted(old.keys() | new.keys()):
        before: Any = old.get(key)
        now: Any = new.get(key)
        option = _OPTIONS.get(key, key)
        if before == now:
            continue
        if key == "inputs":
            sizes = [many(shards["n_shards"], "shard") for shards in (before, now)]
            now = sizes[1] if sizes[1] != sizes[0] else "as many under other names or in another order"
            yield f"with other inputs ({sizes[0]}, now {now})"
        elif key == "models":
            names = sorted(name for name in before.keys() & now.keys() if before[name] != now[name])
            if names:  # which models there are follows from other options
                yield f"with other models ({', '.join(names)})"
        elif isinstance(before, dict) and isinstance(now, dict):
            yield from _differences(before, now)
        elif isinstance(before, bool):
            yield f"{'with' if before is not option.startswith('--no-') else 'without'} {option}"
        elif before is None:
            yield f"without {option}"
        else:
            yield f"with {option} {_brief(before)}" + ("" if now is None else f" (now {_brief(now)})")


def _brief(value: Any) -> str:
    several = value if isinstance(value, list) else [value]
    text = ",".join(f"{one:g}" if isinstance(one, float) else str(one) for one in several)
    return text if len(text) <= 40 else f"{text[:12]}…"


@contextmanager
def claimed(files: Files) -> Iterator[None]:
    """Locks OUT for this run."""
    with output_errors(files.location):
        if not files.lock.acquire():
            raise OutputError(f"{address(files)}: another run is writing there")
    try:
        yield
    finally:
        files.lock.release()


def begin(files: Files, config: Config, planned: Plan) -> Plan:
    """The plan of an earlier run of the same command; without one, stores this plan and the config."""
    with output_errors(files.location):
        if _begun(files, config):
            before = stored_plan(files)
            files.remove(STOPPED)
            addresses = planned.shards["path"]  # by which this command opens the same shards
            return replace(before, shards=before.shards.set_column(0, before.shards.field(0), addresses))
        files.write(MANIFEST, plan.to_bytes(planned.shards))
        cut = {"split_bytes": planned.split_bytes, "wave_bytes": planned.wave_bytes}
        files.write(PLAN, dumped({**cut, "n_bytes": int(planned.begins[-1])}))
        files.write(CONFIG, dumped(config))
    return planned


def stored_plan(files: Files) -> Plan:
    """The plan of the run that began here; OutputError if there is none."""
    cut = stored(files, PLAN)
    if cut is None or files.read(CONFIG) is None:
        raise OutputError(f"{address(files)}: holds no run of victor clean")
    with undamaged(files):
        sizes = {name: int(cut[name]) for name in ("split_bytes", "wave_bytes")}
        return plan.plan(_stored_shards(files), n_cores=1, **sizes)


def _stored_shards(files: Files, name: str = MANIFEST) -> pa.Table:
    with undamaged(files):
        return plan.from_bytes(files.read(name) or b"")


def stored(files: Files, name: str) -> dict[str, Any] | None:
    """A JSON file of _run/, or None; OutputError if it is damaged."""
    if (content := files.read(name)) is None:
        return None
    with undamaged(files, name):
        return dict(json.loads(content))


@contextmanager
def undamaged(files: Files, name: str = "_run/") -> Iterator[None]:
    """OutputError if a file of _run/ doesn't hold what a run writes there."""
    try:
        yield
    except _MALFORMED as error:
        raise OutputError(f"{address(files)}: {name} is damaged; choose another --output") from error


def stop(files: Files, run: Mapping[str, Any], why: str) -> None:
    """Stores the record of a run that exceeded its failure budget; the same command resumes it."""
    stopped = {"stopped": why, **run}
    with output_errors(files.location):
        files.write(STOPPED, dumped(stopped))
        files.write(REPORT, report.html(stopped).encode())


def finish(files: Files, run: Mapping[str, Any]) -> None:
    """Declares the run complete; if it was complete before, with the same rows, its run.json stays."""
    with output_errors(files.location):
        files.write(f"{PAGES}/_SUCCESS", b"")
        before = stored(files, RUN) or {}
        is_known = all(before.get(name) == run[name] for name in ("n_waves", "n_rows", "statuses"))
        files.write(REPORT, report.html(before if is_known else run).encode())  # it may be that of `stop`
        if not is_known:
            files.remove(DUPLICATES)  # those of earlier rows
            files.remove(DEDUP)
            files.write(RUN, dumped(run))  # its hash names the run in tables that it was exported to


def literal(path: str) -> str:
    """A path with its glob characters escaped, because Spark's readers expand patterns."""
    return "".join(f"\\{character}" if character in "[]{}*?\\" else character for character in path)


def dumped(value: Mapping[str, Any]) -> bytes:
    """A JSON file of _run/."""
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()


def entries(files: Files) -> Iterator[Entry]:
    """All entries, by wave; one that can't be read counts as missing, so its wave is cleaned again."""
    names = [name for name in files.names(LEDGER) or [] if name.endswith(".json") and name[0] != "."]
    with ThreadPoolExecutor(_N_READERS, "victor-ledger") as pool:
        for first in range(0, len(names), _N_READERS):
            some = names[first : first + _N_READERS]
            for content in pool.map(lambda name: files.read(f"{LEDGER}/{name}"), some):
                with suppress(*_MALFORMED):
                    found = json.loads(content or b"")
                    found |= {name: int(found[name]) for name in ("wave", "n_splits", "n_bytes")}
                    counts = total([Counts(**found["counts"])])
                    yield Entry(**found | {"files": dict(found["files"]), "counts": counts})


def enter(files: Files, entry: Entry) -> None:
    """Declares a wave done."""
    files.write(f"{LEDGER}/{entry.wave:05}.json", dumped({**vars(entry), "counts": vars(entry.counts)}))
    files.remove(f"{FAILURES}/{entry.wave:05}.json")


def note_failure(files: Files, wave: int, reason: str) -> None:
    """Stores why a wave failed, until it is done."""
    files.write(f"{FAILURES}/{wave:05}.json", dumped({"wave": wave, "reason": reason}))


def failures(files: Files) -> dict[int, str]:
    """Why waves failed that are not done yet."""
    found = (stored(files, f"{FAILURES}/{name}") for name in files.names(FAILURES) or [] if name[0] != ".")
    with undamaged(files):
        return {failure["wave"]: failure["reason"] for failure in found if failure}


def staged(run_id: str, wave: int) -> str:
    """Where a run writes a wave's pages before they are moved."""
    return f"{STAGED}/{run_id}/{wave:05}"


def publish(files: Files, run_id: str, wave: int, sizes: Mapping[str, int] | None = None) -> dict[str, int]:
    """Moves a wave's staged pages to pages/; their names there, and their sizes.

    `sizes` are the pages that belong to the wave, if others may be staged as well.
    """
    moved, source = {}, staged(run_id, wave)
    for path, size in sorted((files.below(source) if sizes is None else sizes).items()):
        folder, slash, name = path.rpartition("/")
        if name[0] in "_.":  # markers of Spark
            continue
        target = f"{folder}{slash}wave-{wave:05}-{name}"
        files.move(f"{source}/{path}", f"{PAGES}/{target}")
        moved[target] = size
    files.remove(source)
    return moved


def tidy(files: Files) -> dict[int, Entry]:
    """The entries whose pages all exist, without their names; removes all other and all staged pages.

    The names of all pages are in the driver's memory once, and not for long.
    """
    files.remove(STAGED)
    there, done = files.below(PAGES), dict[int, Entry]()
    for entry in entries(files):
        if is_whole(entry, there):
            done[entry.wave] = replace(entry, files={})
            for name in entry.files:
                del there[name]
    for name in there:
        if name.rpartition("/")[2][0] not in "_.":
            files.remove(f"{PAGES}/{name}")
    return done


def is_whole(entry: Entry, there: Mapping[str, int]) -> bool:
    """Whether all pages of an entry are among the files below pages/."""
    return all(there.get(name) == size for name, size in entry.files.items())
