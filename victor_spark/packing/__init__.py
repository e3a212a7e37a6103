"""Packs victor-spark for clusters: an archive with Python for --archives, and a zip for --py-files.

The archive holds the interpreter, the standard library and all packages. It can be unpacked anywhere: its
`bin/python` is a script that sets the interpreter's paths. The zip holds victor-spark only, for executors
that have the packages. In the zip, unpacking.py replaces the __init__.py of victor_spark and victor_html.
"""

import os
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Collection, Iterator
from importlib.metadata import Distribution, distribution
from io import BytesIO
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import victor_html
from victor_spark import resources
from victor_spark.errors import UsageError, choices
from victor_spark.logs import track
from victor_spark.packing import unpacking

NAME: Final = "victor-spark"
EXECUTORS: Final = "executors"
"""The extra that all executors need."""
LEFT_OUT: Final = frozenset({"pyspark", "py4j"})
"""Packages that are not packed, because the executors' Spark has its own."""

_VERSION: Final = f"python{sys.version_info.major}.{sys.version_info.minor}"
_NOT_OF_THE_LIBRARY: Final = frozenset(
    {"__pycache__", "site-packages", "dist-packages", "test", "tests", "idlelib", "tkinter", "turtledemo"}
    | {"ensurepip", "lib2to3"}
)
_PACKAGE: Final = Path(__file__).resolve().parents[1]
_PACKAGES: Final = (_PACKAGE, Path(victor_html.__file__).resolve().parent)
_NO_DATE: Final = (1980, 1, 1, 0, 0, 0)
"""The date of all files in the zip, so that the same files give the same zip and folder."""

_LAUNCHER: Final = f"""\
#!/bin/sh
here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
export PYTHONHOME="$here" PYTHONNOUSERSITE=1
export LD_LIBRARY_PATH="$here/lib${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
export PYTHONPATH="${{PYTHONPATH:+$PYTHONPATH:}}$here/lib/{_VERSION}/site-packages"
exec "$here/bin/{_VERSION}" "$@"
"""


def pack_environment(archive: Path, extras: frozenset[str]) -> int:
    """Writes the archive, whole or not at all; its size. PackageNotFoundError if a requirement is missing."""
    packages = needed(extras)
    with resources.replaced(archive) as draft, tarfile.open(draft, mode="w:gz", compresslevel=4) as tar:
        _add_text(tar, "bin/python", _LAUNCHER)
        _add_text(tar, "bin/python3", _LAUNCHER)
        contents = list(_contents(packages))
        for target, source in track(contents, "packing files", len(contents)):
            tar.add(source, target, recursive=False)
    return archive.stat().st_size


def pack_zip(archive: Path) -> int:
    """Writes the zip, completely or not at all, and returns its size."""
    with resources.replaced(archive) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as zipped:
        contents = [(f"{unpacking.INSIDE}/{target}", source) for target, source in _own_files()]
        inits = [(f"{package.name}/__init__.py", Path(unpacking.__file__)) for package in _PACKAGES]
        for name, source in [*inits, *contents]:
            entry = zipfile.ZipInfo(name, _NO_DATE)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            zipped.writestr(entry, source.read_bytes())
    return archive.stat().st_size


def needed(extras: frozenset[str]) -> dict[str, Distribution]:
    """The installed packages that victor-spark requires on this system, without itself and LEFT_OUT.

    UsageError for an extra that it does not have, PackageNotFoundError for a package that is not installed.
    """
    known = distribution(NAME).metadata.get_all("Provides-Extra") or []
    if unknown := extras - set(known):
        raise UsageError(f"no extra {min(unknown)!r}{choices(min(unknown), known)}")
    found: dict[str, Distribution] = {}
    waiting = [(NAME, extras | {EXECUTORS})]
    seen = set[tuple[str, frozenset[str]]]()
    while waiting:
        name, asked = wanted = waiting.pop()
        if wanted in seen or name in LEFT_OUT:
            continue
        seen.add(wanted)
        found[name] = package = distribution(name)
        for requirement in map(Requirement, package.requires or []):
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *asked)):
                waiting.append((canonicalize_name(requirement.name), frozenset(requirement.extras)))
    del found[NAME]
    return found


def _contents(packages: dict[str, Distribution]) -> Iterator[tuple[str, Path]]:
    """(name in the archive, file) of all files, each once."""
    yield f"bin/{_VERSION}", Path(sys.executable).resolve()
    folder, name = sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME")
    if sysconfig.get_config_var("Py_ENABLE_SHARED") and folder and Path(folder, name).is_file():
        yield f"lib/{name}", Path(folder, name).resolve()
    yield from _below(Path(sysconfig.get_path("stdlib")), f"lib/{_VERSION}", _NOT_OF_THE_LIBRARY)
    site = f"lib/{_VERSION}/site-packages"
    for package in packages.values():
        for file in package.files or []:
            inside = ".." not in file.parts and not file.is_absolute()  # scripts in bin/ name this Python
            if inside and file.suffix != ".pyc" and (path := Path(str(package.locate_file(file)))).is_file():
                yield f"{site}/{file.as_posix()}", path
    for name, path in _own_files():
        yield f"{site}/{name}", path


def _add_text(tar: tarfile.TarFile, name: str, text: str) -> None:
    entry, content = tarfile.TarInfo(name), text.encode()
    entry.size, entry.mode = len(content), 0o755
    tar.addfile(entry, BytesIO(content))


def _own_files() -> Iterator[tuple[str, Path]]:
    """(name below site-packages, file) of our files; conf/ and models/ are put into the package."""
    for package in _PACKAGES:
        yield from _below(package, package.name, {"__pycache__"})
    for folder in ("conf", "models"):
        if not (_PACKAGE / folder).is_dir():  # a checkout has them beside the package
            yield from _below(resources.directory(folder), f"{_PACKAGE.name}/{folder}", ())


def _below(folder: Path, target: str, without: Collection[str]) -> Iterator[tuple[str, Path]]:
    """(name below `target`, file) of all files below a folder; `without`: names of folders to leave out."""
    for path, names, files in os.walk(folder):
        names[:] = sorted(name for name in names if name not in without and not name.startswith("config-"))
        for name in sorted(files):
            file = Path(path, name)
            if file.suffix not in {".pyc", ".a"} and file.is_file():
                yield f"{target}/{file.relative_to(folder).as_posix()}", file.resolve()
