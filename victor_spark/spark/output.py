"""The output of a run, OUT/pages/ and OUT/_run/, and the checks of an OUT that exists.

A run is complete when `_run/run.json` exists, which is written last. Until then the same command resumes the
run with the waves of the plan that the ledger doesn't have.

    _run/config.json        what decides the rows: options, hashes of models and inputs, versions
    _run/manifest.parquet   the shards with sizes and etags
    _run/plan.json          how they are cut into splits and waves
    _run/ledger/00042.json  a wave that is done
    _run/failures/          waves that failed
    _run/staged/            pages of waves that aren't done
    _run/run.json           the results
    _run/stopped.json       the same of a run that exceeded its failure budget
    _run/report.html        either of them, for people
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa

from victor_spark.errors import OutputError
from victor_spark.spark import manifest, plan, report
from victor_spark.spark.files import Files
from victor_spark.spark.plan import Plan
from victor_spark.spark.progress import many

PAGES: Final = "pages"
CONFIG: Final = "_run/config.json"
MANIFEST: Final = "_run/manifest.parquet"
PLAN: Final = "_run/plan.json"
RUN: Final = "_run/run.json"
STOPPED: Final = "_run/stopped.json"
REPORT: Final = "_run/report.html"
_N_DIFFERENCES_SHOWN: Final = 3

Config = dict[str, Any]
Options = Mapping[str, str]
"""The option of the command line that sets a field of the request, by the field: for error messages."""


def check(files: Files) -> None:
    """Raises OutputError unless a run may write here; leaves nothing behind."""
    if files.is_file():
        raise OutputError(f"{_shown(files)}: is a file; --output is a directory")
    names = files.names()
    if names and set(names) - {"_run"} and files.read(CONFIG) is None:
        raise OutputError(f"{_shown(files)}: holds other files ({names[0]}); choose a new or empty directory")
    try:
        files.probe()
    except Exception as error:
        raise OutputError(f"{_shown(files)}: can't write there: {_first_line(error)}") from error


def finished_run(files: Files, config: Config, shards: pa.Table, options: Options) -> dict[str, Any] | None:
    """The run.json of a complete run of the same command; None if there is work to do.

    Raises OutputError with the differences if OUT is of a different command or of shards that changed.
    """
    if not _begun(files, config, options):
        return None
    if changed := manifest.changed(_stored_shards(files), shards):
        more = f" and {len(changed) - 1} more" if changed[1:] else ""
        raise OutputError(
            f"{changed[0]}{more} changed since {_shown(files)} was begun: choose another --output"
        )
    return stored(files, RUN)


def _begun(files: Files, config: Config, options: Options) -> bool:
    """Whether a run of the same command began here; OutputError if it was a different command."""
    found = stored(files, CONFIG)
    if found is None:
        return False
    try:
        differences = list(_differences(found, config, options))
    except (AttributeError, KeyError, TypeError) as error:
        raise _damaged(files) from error
    if differences:
        shown = ", ".join(differences[:_N_DIFFERENCES_SHOWN])
        n_more = len(differences) - _N_DIFFERENCES_SHOWN
        more = f" and {n_more} more" if n_more > 0 else ""
        raise OutputError(
            f"{_shown(files)} was written {shown}{more}: repeat its options or choose another --output"
        )
    return True


@contextmanager
def claimed(files: Files) -> Iterator[None]:
    """Locks OUT for this run."""
    with _writing(files):
        if not files.lock.acquire():
            raise OutputError(f"{_shown(files)}: another run is writing there")
    try:
        yield
    finally:
        files.lock.release()


def begin(files: Files, config: Config, planned: Plan, options: Options) -> Plan:
    """The plan of an earlier run of the same command; without one, stores this plan and the config."""
    with _writing(files):
        if _begun(files, config, options):
            before = stored_plan(files)
            files.remove(STOPPED)
            return replace(before, shards=manifest.with_addresses(before.shards, planned.shards))
        files.write(MANIFEST, manifest.to_bytes(planned.shards))
        cut = {"split_bytes": planned.split_bytes, "wave_bytes": planned.wave_bytes}
        files.write(PLAN, _dump({**cut, "n_bytes": int(planned.begins[-1])}))
        files.write(CONFIG, _dump(config))
    return planned


def stored_plan(files: Files) -> Plan:
    """The plan of the run that began here; OutputError if there is none."""
    content = files.read(PLAN)
    if content is None or files.read(CONFIG) is None:
        raise OutputError(f"{_shown(files)}: holds no run of victor clean")
    cut = _load(content, files)
    try:
        sizes = {name: int(cut[name]) for name in ("split_bytes", "wave_bytes")}
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(files) from error
    return plan.plan(_stored_shards(files), n_cores=1, **sizes)


def _stored_shards(files: Files) -> pa.Table:
    try:
        return manifest.from_bytes(files.read(MANIFEST) or b"")
    except (ValueError, pa.ArrowException) as error:
        raise _damaged(files) from error


def stored(files: Files, name: str) -> dict[str, Any] | None:
    """A JSON file of _run/, or None; OutputError if it is damaged."""
    content = files.read(name)
    return None if content is None else _load(content, files)


def stop(files: Files, run: Mapping[str, Any], why: str) -> None:
    """Stores the record of a run that exceeded its failure budget; the same command resumes it."""
    stopped = {"stopped": why, **run}
    with _writing(files):
        files.write(STOPPED, _dump(stopped))
        files.write(REPORT, report.html(stopped).encode())


def finish(files: Files, run: Mapping[str, Any]) -> None:
    """Declares the run complete."""
    with _writing(files):
        files.remove(STOPPED)
        files.write(REPORT, report.html(run).encode())
        files.write(f"{PAGES}/_SUCCESS", b"")
        files.write(RUN, _dump(run))


@contextmanager
def _writing(files: Files) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"{_shown(files)}: can't write there: {_first_line(error)}") from error


def _differences(old: Config, new: Config, options: Options, group: str = "rows") -> Iterator[str]:
    """How OUT was written otherwise than it would be now, in the words of the command line."""
    for key in sorted(old.keys() | new.keys()):
        before: Any = old.get(key)
        now: Any = new.get(key)
        option = options.get(f"{group}.{key}", key)
        if before == now:
            continue
        if key == "inputs":
            sizes = [many(shards["n_shards"], "shard") for shards in (before, now)]
            yield f"with other inputs ({sizes[0]}, now {sizes[1]})"
        elif key == "models":
            names = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
            yield f"with other models ({', '.join(names)})"
        elif isinstance(before, dict) and isinstance(now, dict):
            yield from _differences(before, now, options, key)
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


def _dump(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


def _load(content: bytes, files: Files) -> dict[str, Any]:
    try:
        loaded = json.loads(content)
    except ValueError as error:
        raise _damaged(files) from error
    if not isinstance(loaded, dict):
        raise _damaged(files)
    return loaded


def _damaged(files: Files) -> OutputError:
    return OutputError(f"{_shown(files)}: _run/ is damaged; choose another --output")


def _shown(files: Files) -> str:
    return files.location.removeprefix("file://")


def _first_line(error: BaseException) -> str:
    strerror = getattr(error, "strerror", None)
    return strerror or next(iter(str(error).splitlines()), type(error).__name__)
