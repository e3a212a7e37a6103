"""Runs every benchmark on the same shards and writes bench/RESULTS.md.

python bench/run.py [--shards INPUT...] [--only SCRIPT...] [--output FILE]
"""

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from _results import apart
from _shards import add_argument, shards

from victor_spark import __version__, kernels
from victor_spark.archive.inputs import Shard

HERE: Final = Path(__file__).resolve().parent
HEAD: Final = """\
# What it costs

Written by `./dev bench` (`python bench/run.py`). Every section is the output of a script in `bench/` that
can be run alone. Pages: 340 each of the annotated sets wcxb, daniel and dragnet, evenly chosen, as gzipped
WARC; or what `--shards` names.
"""
SCRIPTS: Final = ("pipeline.py", "page_size.py", "memory.py", "sandbox.py", "spark_job.py", "templates.py")
LIBRARIES: Final = ("resiliparse", "fastwarc", "numpy", "pyspark", "trafilatura")


def main() -> int:
    """Runs the scripts in turn; 1 if one of them failed, and then RESULTS.md stays as it was."""
    parser = argparse.ArgumentParser(description="Run all benchmarks and write RESULTS.md.")
    add_argument(parser)
    parser.add_argument("--output", type=Path, default=HERE / "RESULTS.md", metavar="FILE")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=SCRIPTS,
        default=SCRIPTS,
        metavar="SCRIPT",
        help=f"of {', '.join(SCRIPTS)}",
    )
    arguments = parser.parse_args()
    before = _load()
    with shards(arguments.shards) as chosen:
        results = [_section(script, chosen) for script in arguments.only]
    if None in results:
        return 1
    head = "\n".join(_head(before, _load()))
    arguments.output.write_text(
        head + "\n" + "".join(filter(None, results)).rstrip() + "\n" + _kept(), encoding="utf-8"
    )
    print(f"written: {arguments.output}", file=sys.stderr)
    return 0


def _kept() -> str:
    """Sections that are written apart, by benchmarks that take too long for every time."""
    kept = apart()
    return f"\n{kept}" if kept else ""


def _section(script: str, chosen: Sequence[Shard]) -> str | None:
    """What a script prints; None if it failed."""
    print(f"bench: {script}", file=sys.stderr)
    command = [sys.executable, str(HERE / script), "--shards", *(shard.path for shard in chosen)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", check=False)
    if ran.returncode:
        print(f"{ran.stdout}bench: {script} failed with exit code {ran.returncode}", file=sys.stderr)
        return None
    return ran.stdout


def _head(before: str, after: str) -> Iterator[str]:
    versions = [f"Python {platform.python_version()}", *(f"{name} {_version(name)}" for name in LIBRARIES)]
    compiled = "compiled" if kernels.compiled() else f"NOT compiled: {', '.join(kernels.uncompiled())}"
    yield HEAD
    yield f"- {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, victor-spark {__version__}, kernels {compiled}"
    yield f"- {', '.join(versions)}"
    yield f"- {_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"
    yield f"- load average before {before}, after {after} (the benchmarks keep 1 to 2 cores busy)\n"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


if __name__ == "__main__":
    sys.exit(main())
