"""Which waves are done: one small file each in _run/ledger, written in one piece after the wave's pages.

A wave's pages are written below _run/staged, in a folder of the run's own (one that was killed may leave
a Java process that goes on writing for a while). Then they are counted, moved to pages/ under names that tell
the wave, and entered. Whatever in pages/ no entry names was left by a run that died: it goes, and the wave is
done over.
"""

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from victor_spark.spark.files import Files
from victor_spark.spark.record import Counts

LEDGER: Final = "_run/ledger"
FAILURES: Final = "_run/failures"
STAGED: Final = "_run/staged"
PAGES: Final = "pages"

_N_READERS: Final = 16


@dataclass(frozen=True)
class Entry:
    """What is known of a wave that is done: its files below pages/ and their sizes, and what was counted."""

    wave: int
    files: Mapping[str, int]
    n_splits: int
    n_bytes: int
    counts: Counts
    seconds: float = 0.0
    finished_at: str = ""
    stages: Mapping[str, float] = field(default_factory=dict)


def read(files: Files) -> Iterator[Entry]:
    """All entries, by wave; one that can't be read counts as missing, so its wave is done over."""
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
    """Keeps why a wave failed, until it is done."""
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


def publish(files: Files, run_id: str, wave: int, told: Mapping[str, int] | None = None) -> dict[str, int]:
    """Moves a wave's staged pages to pages/; their names there, and their sizes.

    `told` are the pages that belong to the wave, where others may be staged as well.
    """
    moved, source = {}, staged(run_id, wave)
    for path, size in sorted((files.below(source) if told is None else told).items()):
        folder, slash, name = path.rpartition("/")
        if name[0] in "_.":  # Spark's own marks
            continue
        target = f"{folder}{slash}wave-{wave:05}-{name}"
        files.move(f"{source}/{path}", f"{PAGES}/{target}")
        moved[target] = size
    files.remove(source)
    return moved


def tidy(files: Files) -> dict[int, Entry]:
    """The entries whose pages are all there, without the names of these; removes every other page.

    What is staged goes too. The driver holds the names of all pages at one time, and once.
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
