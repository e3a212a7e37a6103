"""Which waves are done: one small file each in _run/ledger, written after the wave's pages; `victor status`.

A wave's pages are written below _run/staged, in a folder of the run's own (a run that was killed may leave
a Java process that goes on writing for a while). Then they are counted, moved to pages/ under names with the
wave's number, and entered. Files in pages/ that no entry names are of a run that died: they are removed, and
their wave is cleaned again.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from victor_spark.errors import OutputError
from victor_spark.spark import output, plan, record
from victor_spark.spark.files import Files, opened
from victor_spark.spark.output import PAGES
from victor_spark.spark.record import Counts, Entry

LEDGER: Final = "_run/ledger"
FAILURES: Final = "_run/failures"
STAGED: Final = "_run/staged"

_N_READERS: Final = 16


def read(files: Files) -> Iterator[Entry]:
    """All entries, by wave; one that can't be read counts as missing, so its wave is cleaned again."""
    names = [name for name in files.names(LEDGER) or [] if name.endswith(".json") and name[0] != "."]
    with ThreadPoolExecutor(_N_READERS, "victor-ledger") as pool:
        for first in range(0, len(names), _N_READERS):
            some = names[first : first + _N_READERS]
            for content in pool.map(lambda name: files.read(f"{LEDGER}/{name}"), some):
                if (entry := _parsed(content)) is not None:
                    yield entry


def _parsed(content: bytes | None) -> Entry | None:
    try:
        found = json.loads(content or b"")
        return Entry(**{**found, "counts": Counts(**found["counts"])})
    except (ValueError, TypeError, KeyError):
        return None


def enter(files: Files, entry: Entry) -> None:
    """Declares a wave done."""
    files.write(f"{LEDGER}/{entry.wave:05}.json", _dumped(asdict(entry)))
    files.remove(f"{FAILURES}/{entry.wave:05}.json")


def note_failure(files: Files, wave: int, reason: str) -> None:
    """Stores why a wave failed, until it is done."""
    files.write(f"{FAILURES}/{wave:05}.json", _dumped({"wave": wave, "reason": reason}))


def failures(files: Files) -> dict[int, str]:
    """Why waves failed that are not done yet."""
    found: dict[int, str] = {}
    for name in files.names(FAILURES) or []:
        content = files.read(f"{FAILURES}/{name}") if name[0] != "." else None
        if content:
            failure = json.loads(content)
            found[failure["wave"]] = failure["reason"]
    return found


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
    there, entries = files.below(PAGES), dict[int, Entry]()
    for entry in read(files):
        if is_whole(entry, there):
            entries[entry.wave] = replace(entry, files={})
            for name in entry.files:
                del there[name]
    for name in there:
        if name.rpartition("/")[2][0] not in "_.":
            files.remove(f"{PAGES}/{name}")
    return entries


def is_whole(entry: Entry, there: Mapping[str, int]) -> bool:
    """Whether all pages of an entry are among the files below pages/."""
    return all(there.get(name) == size for name, size in entry.files.items())


def _dumped(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()


@dataclass(frozen=True)
class Wave:
    """One wave: "done", "missing" (not done yet), "lost" (done, but pages of it are gone) or "failed"."""

    wave: int
    state: str
    n_splits: int
    n_bytes: int
    reason: str | None = None
    entry: Entry | None = None


@dataclass(frozen=True)
class Status:
    """A run: its waves, the counts of those that are done, and whether it is complete.

    `stopped` is the reason if it exceeded its failure budget.
    """

    location: str
    is_complete: bool
    n_shards: int
    waves: tuple[Wave, ...]
    counts: Counts
    stopped: str | None = None

    @property
    def share_done(self) -> float:
        """The share of the bytes to be read whose waves are done."""
        n_done = sum(wave.n_bytes for wave in self.waves if wave.state == "done")
        return n_done / max(sum(wave.n_bytes for wave in self.waves), 1)


def status(location: str) -> Status:
    """What is done, missing and failed of the run in OUT; OutputError if there is none."""
    with opened(location) as files:
        if files.names("_run") is None:
            raise OutputError(f"{location}: holds no run of victor clean")
        planned = output.stored_plan(files)
        entries, failed = {entry.wave: entry for entry in read(files)}, failures(files)
        there = files.below(PAGES)
        ended = output.stored(files, output.RUN) is not None
        stopped = output.stored(files, output.STOPPED) or {}
    waves = []
    for wave in plan.waves(planned):
        splits, entry = plan.splits(planned, wave), entries.get(wave)
        state, reason = "missing", None
        if entry is not None:
            state = "done" if is_whole(entry, there) else "lost"
        elif wave in failed:
            state, reason = "failed", failed[wave]
        waves.append(Wave(wave, state, splits.num_rows, plan.weight(splits), reason, entry))
    done = [wave.entry for wave in waves if wave.state == "done" and wave.entry is not None]
    return Status(
        location=location,
        is_complete=ended and len(done) == len(waves),
        n_shards=planned.shards.num_rows,
        waves=tuple(waves),
        counts=record.total(entry.counts for entry in done),
        stopped=stopped.get("stopped"),
    )


def as_json(found: Status) -> dict[str, Any]:
    """The status, ready for JSON."""
    return {
        "output": found.location,
        "complete": found.is_complete,
        "stopped": found.stopped,
        "share_done": round(found.share_done, 4),
        "n_shards": found.n_shards,
        "n_rows": found.counts.n_rows,
        "n_pages": found.counts.n_pages,
        "n_failed_shards": len(found.counts.failed_shards),
        "failed_shards": dict(found.counts.failed_shards),
        "statuses": dict(found.counts.statuses),
        "reasons": {status: dict(reasons) for status, reasons in found.counts.reasons.items()},
        "waves": [_wave_as_json(wave) for wave in found.waves],
    }


def _wave_as_json(wave: Wave) -> dict[str, Any]:
    known: dict[str, Any] = {
        "wave": wave.wave,
        "state": wave.state,
        "n_splits": wave.n_splits,
        "n_bytes": wave.n_bytes,
    }
    if wave.reason is not None:
        known["reason"] = wave.reason
    if wave.entry is not None:
        counts = wave.entry.counts
        known |= {"n_pages": counts.n_pages, "statuses": dict(counts.statuses)}
        known |= {"failed_shards": dict(counts.failed_shards), "n_files": len(wave.entry.files)}
        known |= {"seconds": wave.entry.seconds, "finished_at": wave.entry.finished_at}
    return known


def as_lines(found: Status, *, every_wave: bool = False) -> Iterator[str]:
    """The status in lines for people."""
    n_done = sum(wave.state == "done" for wave in found.waves)
    word = "complete" if found.is_complete else "incomplete: the same command resumes it"
    if found.stopped:
        word = "incomplete: more failed than the budget allows; the same command with a larger one resumes it"
    yield f"{found.location}: {word}"
    if found.stopped:
        yield f"  stopped {found.stopped}"
    yield f"  waves   {n_done} of {len(found.waves)} done, {found.share_done:.0%} of the bytes"
    for state in ("missing", "lost", "failed"):
        numbers = [wave.wave for wave in found.waves if wave.state == state]
        if numbers:
            yield f"  {state:<7} {_ranges(numbers)}"
    yield from (
        f"  wave {wave.wave} failed: {wave.reason}" for wave in found.waves if wave.reason is not None
    )
    statuses = ", ".join(f"{status} {n}" for status, n in found.counts.page_statuses.items())
    yield f"  pages   {found.counts.n_pages}{f': {statuses}' if statuses else ''}"
    failed = list(found.counts.failed_shards.values())
    so_far = "" if found.is_complete else " (so far)"
    read = f"{len(failed)} of them couldn't be read to the end" if failed else "no failures"
    yield f"  shards  {found.n_shards}, {read}{so_far}"
    yield from (f"    {reason}" for reason in failed[:5])
    if failed[5:]:
        yield f"    and {len(failed[5:])} more (--json has them all)"
    if every_wave:
        yield from _table(found.waves)


def _table(waves: Iterable[Wave]) -> Iterator[str]:
    yield f"  {'wave':>6} {'state':<8} {'splits':>7} {'MB':>8} {'pages':>9} {'ok':>9} {'seconds':>8}"
    for wave in waves:
        line = f"  {wave.wave:>6} {wave.state:<8} {wave.n_splits:>7} {wave.n_bytes / 1e6:>8.1f}"
        if wave.entry is not None:
            counts = wave.entry.counts
            line += f" {counts.n_pages:>9} {counts.statuses.get('ok', 0):>9} {wave.entry.seconds:>8.1f}"
        yield line


def _ranges(numbers: list[int]) -> str:
    """Numbers with ranges: 3-7, 12."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join("-".join(map(str, run)) for run in runs)
