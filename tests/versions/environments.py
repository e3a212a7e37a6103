"""Environments with other packages, such as a version of Spark and of Python, made once in .venv/spark/.

One for the Python of these tests takes its other packages, and so the compiled kernels; others install what
pyproject.toml names, and run the kernels uncompiled.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tests.conftest import ROOT

FOLDER: Final = Path(os.environ.get("VICTOR_SPARKS") or Path(sys.prefix) / "spark")
OURS: Final = f"{sys.version_info.major}.{sys.version_info.minor}"


class UnavailableError(Exception):
    """An environment cannot be made here; the message gives the reason."""


def made(spark: str, python: str, *extra: str) -> Path:
    """The interpreter of an environment with pyspark of a version (==3.5.*), and with `extra` packages."""
    numbers = re.findall(r"[\w.]*\w", " ".join([f"spark{spark}", f"python{python}", *extra]))
    return environment("-".join(numbers), [[f"pyspark{spark}", *extra]], python)


def environment(name: str, installs: Iterable[Iterable[str]], python: str = OURS) -> Path:
    """The interpreter of an environment made by these calls of `pip install`, in this order."""
    folder = FOLDER / name
    interpreter = folder / "bin" / "python"
    if (folder / "made").exists() and _runs(interpreter):
        return interpreter
    shutil.rmtree(folder, ignore_errors=True)
    try:
        _make(folder, installs, python)
    except subprocess.CalledProcessError as error:
        shutil.rmtree(folder, ignore_errors=True)
        last = (error.stderr or "").strip().splitlines()[-1:] or [str(error)]
        raise UnavailableError(f"{name} can't be installed for Python {python}: {last[0]}") from error
    (folder / "made").touch()
    return interpreter


def _make(folder: Path, installs: Iterable[Iterable[str]], python: str) -> None:
    base = sys.executable if python == OURS else _found(python)
    if base is None:
        raise UnavailableError(f"no Python {python} on PATH or of pyenv")
    _run(base, "-m", "venv", "--without-pip", str(folder))
    site = folder / "lib" / f"python{python}" / "site-packages"
    if python == OURS:
        shared = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
        (site / "zz-shared.pth").write_text("\n".join(shared))
    else:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        of_extras = [project["optional-dependencies"][name] for name in ("executors", "report")]
        ours = [*project["dependencies"], *(name for names in of_extras for name in names), "setuptools"]
        installs = [ours, *installs]
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--python",
        str(folder / "bin" / "python"),
    ]
    for packages in installs:
        _run(*pip, "install", "--quiet", "--no-warn-conflicts", *packages)


def _found(python: str) -> str | None:
    """An interpreter of that version: pyenv puts programs on PATH that refuse to run."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    candidates = [shutil.which(f"python{python}"), *pyenv.glob(f"versions/{python}.*/bin/python")]
    return next((str(one) for one in candidates if one and _runs(Path(one))), None)


def _runs(interpreter: Path) -> bool:
    command = [interpreter, "-c", "import sys, venv"]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _run(*command: str) -> None:
    subprocess.run(command, capture_output=True, text=True, check=True)
