"""What a run leaves behind: OUT/pages/ and OUT/_run/, and what it may do to an OUT it finds.

A run is complete when `_run/run.json` is there, and it is written last. Until then pages/ belongs to
nobody: the next run of the same command starts it over.

    _run/config.json   what decides the rows: options, hashes of models and inputs, versions
    _run/manifest      the shards, one JSON object a line
    _run/run.json      what came of it
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Final

from victor_spark.archive.inputs import Shard
from victor_spark.errors import OutputError
from victor_spark.spark.files import Files

CONFIG: Final = "_run/config.json"
MANIFEST: Final = "_run/manifest"
RUN: Final = "_run/run.json"
PAGES: Final = "pages"
_N_DIFFERENCES_SHOWN: Final = 3

Config = dict[str, Any]


def check(files: Files) -> None:
    """Raises OutputError unless a run may write here; leaves nothing behind."""
    if files.is_file():
        raise OutputError(f"{_shown(files)}: is a file; --output is a directory")
    names = files.names()
    if names and set(names) - {"_run"} and files.read(CONFIG) is None:
        raise OutputError(f"{_shown(files)}: holds other files ({names[0]}); choose a new or empty directory")
    try:
        files.probe()
    except FileNotFoundError as error:
        raise OutputError(f"{_shown(files)}: its parent directory doesn't exist") from error
    except Exception as error:
        raise OutputError(f"{_shown(files)}: can't write there: {_first_line(error)}") from error


def manifest(shards: Sequence[Shard]) -> bytes:
    """The shards in the order they were found, one JSON object a line."""
    return "".join(json.dumps(asdict(shard), ensure_ascii=False) + "\n" for shard in shards).encode()


def manifest_summary(content: bytes) -> dict[str, Any]:
    """What config.json keeps of a manifest."""
    return {"n_shards": content.count(b"\n"), "sha256": hashlib.sha256(content).hexdigest()}


def finished_run(files: Files, config: Config) -> dict[str, Any] | None:
    """The run.json of a complete run of this very command; None if there is work to do.

    Raises OutputError, with the differences named, if OUT was made by another command.
    """
    found = files.read(CONFIG)
    if found is None:
        return None
    differences = list(_differences(_load(found, files), config))
    if differences:
        shown = "; ".join(differences[:_N_DIFFERENCES_SHOWN])
        more = f" and {len(differences) - _N_DIFFERENCES_SHOWN} more" if differences[3:] else ""
        raise OutputError(f"{_shown(files)} was made with {shown}{more}: choose another --output")
    run = files.read(RUN)
    return None if run is None else _load(run, files)


@contextmanager
def claimed(files: Files, config: Config, manifest_content: bytes) -> Iterator[None]:
    """Holds OUT for this run; whatever an interrupted one left in pages/ goes first."""
    try:
        if files.read(CONFIG) is None:
            files.write(MANIFEST, manifest_content)
            files.write(CONFIG, _dump(config))
        if not files.lock():
            raise OutputError(f"{_shown(files)}: another run is writing there")
        files.remove(PAGES)
    except OSError as error:
        raise OutputError(f"{_shown(files)}: can't write there: {_first_line(error)}") from error
    try:
        yield
    finally:
        files.unlock()


def commit(files: Files, run: Mapping[str, Any]) -> None:
    """Declares the run complete."""
    files.write(RUN, _dump(run))


def _differences(old: Config, new: Config, prefix: str = "") -> Iterator[str]:
    for key in sorted(old.keys() | new.keys()):
        before, now = old.get(key), new.get(key)
        if before == now:
            continue
        if key == "inputs":
            yield f"other inputs ({_n_shards(before)} then, {_n_shards(now)} now)"
        elif isinstance(before, dict) and isinstance(now, dict):
            yield from _differences(before, now, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key} {_brief(before)}, not {_brief(now)}"


def _n_shards(inputs: Any) -> str:
    n = inputs.get("n_shards") if isinstance(inputs, dict) else None
    return "1 shard" if n == 1 else f"{n} shards"


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:12]}…"


def _dump(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


def _load(content: bytes, files: Files) -> dict[str, Any]:
    try:
        loaded = json.loads(content)
    except ValueError as error:
        raise OutputError(f"{_shown(files)}: _run/ is damaged; choose another --output") from error
    if not isinstance(loaded, dict):
        raise OutputError(f"{_shown(files)}: _run/ is damaged; choose another --output")
    return loaded


def _shown(files: Files) -> str:
    return files.location.removeprefix("file://")


def _first_line(error: BaseException) -> str:
    strerror = getattr(error, "strerror", None)
    return strerror or next(iter(str(error).splitlines()), type(error).__name__)
