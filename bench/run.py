"""Runs the benchmarks on the same shards and writes bench/RESULTS.md; with --only, renews only their parts.

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

from _results import parts, written
from _shards import add_argument, shards

from victor_spark import __version__, kernels
from victor_spark.warc.shard import Shard

HERE: Final = Path(__file__).resolve().parent
HEAD: Final = """\
# CPU time and memory

Written by `./dev bench` (`python bench/run.py`). Every section is the output of a script in `bench/` that
can be run alone. Pages: 340 each of the annotated sets wcxb, daniel and dragnet, evenly sampled, as gzipped
WARC; or the files that `--shards` names.
"""
SCRIPTS: Final = ("pipeline.py", "page_size.py", "memory.py", "sandbox.py", "spark_job.py", "templates.py")
LIBRARIES: Final = ("resiliparse", "isal", "numpy", "pyspark", "trafilatura")


def main() -> int:
    """Runs the scripts in turn; 1 if one of them failed, and then RESULTS.md stays as it was."""
    parser = argparse.ArgumentParser(description="Run benchmarks and write RESULTS.md.")
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
    renewed = {}
    with shards(arguments.shards) as chosen:
        for script in arguments.only:
            if (printed := _printed(script, chosen)) is None:
                return 1
            renewed[script] = printed
    known = {**parts(arguments.output), **renewed}
    order = [*filter(known.__contains__, SCRIPTS), *(name for name in known if name not in SCRIPTS)]
    text = written("\n".join(_head()), {name: known[name] for name in order})
    arguments.output.write_text(text, encoding="utf-8")
    print(f"written: {arguments.output}", file=sys.stderr)
    return 0


def _printed(script: str, chosen: Sequence[Shard]) -> str | None:
    """The output of a script, with the time of the run; None if it failed."""
    print(f"bench: {script}", file=sys.stderr)
    before = _load()
    command = [sys.executable, str(HERE / script), "--shards", *(shard.path for shard in chosen)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", check=False)
    if ran.returncode:
        print(f"{ran.stdout}bench: {script} failed with exit code {ran.returncode}", file=sys.stderr)
        return None
    names = kernels.uncompiled()
    state = f"NOT compiled: {', '.join(names)}" if names else "compiled"
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, kernels {state}"
    return f"{ran.stdout.strip()}\n\n*{when}; load average before {before}, after {_load()}.*\n"


def _head() -> Iterator[str]:
    versions = [f"Python {platform.python_version()}", *(f"{name} {_version(name)}" for name in LIBRARIES)]
    yield HEAD
    yield f"- victor-spark {__version__}, {', '.join(versions)}"
    yield f"- {_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"


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
