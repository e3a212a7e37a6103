"""A Python that can be moved: interpreter, standard library and the packages we need, as one archive.

Unpacked anywhere, `bin/python` is a small script that tells the interpreter where it lies now.
"""

import sys
import sysconfig
import tarfile
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from io import BytesIO
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from victor_spark.packing.own import below, own_files, written_whole

NAME: Final = "victor-spark"
EXECUTORS: Final = "executors"
"""The extra that all executors need."""
LEFT_OUT: Final = frozenset({"pyspark", "py4j"})
"""Spark brings its own."""

_VERSION: Final = f"python{sys.version_info.major}.{sys.version_info.minor}"
_NOT_OF_THE_LIBRARY: Final = frozenset(
    {"__pycache__", "site-packages", "dist-packages", "test", "tests", "idlelib", "tkinter", "turtledemo"}
    | {"ensurepip", "lib2to3"}
)
_LAUNCHER: Final = f"""\
#!/bin/sh
here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
export PYTHONHOME="$here" PYTHONNOUSERSITE=1
export LD_LIBRARY_PATH="$here/lib${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
export PYTHONPATH="${{PYTHONPATH:+$PYTHONPATH:}}$here/lib/{_VERSION}/site-packages"
exec "$here/bin/{_VERSION}" "$@"
"""


def pack(archive: Path, extras: frozenset[str] = frozenset()) -> int:
    """Writes the archive, whole or not at all, and returns its size.

    Raises PackageNotFoundError for a package that is needed and not installed.
    """
    packages = needed(extras)
    with written_whole(archive) as file, tarfile.open(fileobj=file, mode="w:gz", compresslevel=4) as tar:
        _add_text(tar, "bin/python", _LAUNCHER)
        _add_text(tar, "bin/python3", _LAUNCHER)
        for target, source in _contents(packages):
            tar.add(source, target, recursive=False)
    return archive.stat().st_size


def needed(extras: frozenset[str]) -> dict[str, Distribution]:
    """The installed packages that victor-spark needs, without itself and those of LEFT_OUT."""
    found: dict[str, Distribution] = {}
    waiting = [*_wanted(_our_requirements(extras | {EXECUTORS}), frozenset())]
    seen = set[tuple[str, frozenset[str]]]()
    while waiting:
        name, asked = wanted = waiting.pop()
        if wanted in seen or name in LEFT_OUT:
            continue
        seen.add(wanted)
        if name == NAME:
            waiting += _wanted(_our_requirements(asked), frozenset())
            continue
        found[name] = package = distribution(name)
        waiting += _wanted(package.requires or [], asked)
    return found


def _our_requirements(extras: frozenset[str]) -> list[str]:
    """What a checkout, or an installed wheel, says that it needs; PackageNotFoundError: no such extra."""
    project = Path(__file__).parents[2] / "pyproject.toml"
    if project.is_file():
        told = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
        optional = told["optional-dependencies"]
        always = told["dependencies"]
    else:
        metadata = distribution(NAME)
        optional = {extra: list[str]() for extra in metadata.metadata.get_all("Provides-Extra") or []}
        always = [str(line) for line in metadata.requires or []]
        always = [line.partition(";")[0] for line in always if _applies(Requirement(line), extras)]
    if unknown := extras - optional.keys():
        raise PackageNotFoundError(f"{NAME}[{','.join(sorted(unknown))}]")
    return [*always, *(line for extra in sorted(extras) for line in optional[extra])]


def _wanted(lines: Iterable[str], extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """Packages, and their extras, that requirements ask for here."""
    for line in lines:
        requirement = Requirement(line)
        if _applies(requirement, extras):
            yield canonicalize_name(requirement.name), frozenset(requirement.extras)


def _applies(requirement: Requirement, extras: frozenset[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))


def _contents(packages: dict[str, Distribution]) -> Iterator[tuple[str, Path]]:
    """(name in the archive, file), each once."""
    yield f"bin/{_VERSION}", Path(sys.executable).resolve()
    yield from _shared_library()
    yield from below(Path(sysconfig.get_path("stdlib")), f"lib/{_VERSION}", _NOT_OF_THE_LIBRARY)
    site = f"lib/{_VERSION}/site-packages"
    for package in packages.values():
        yield from _files(package, site)
    for name, path in own_files():
        yield f"{site}/{name}", path


def _shared_library() -> Iterator[tuple[str, Path]]:
    """libpython, where the interpreter is not one piece."""
    folder, name = sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME")
    if sysconfig.get_config_var("Py_ENABLE_SHARED") and folder and (path := Path(folder, name)).is_file():
        yield f"lib/{name}", path.resolve()


def _files(package: Distribution, site: str) -> Iterator[tuple[str, Path]]:
    for file in package.files or []:
        inside = ".." not in file.parts and not file.is_absolute()  # scripts in bin/ name this Python
        if inside and file.suffix != ".pyc" and (path := Path(str(package.locate_file(file)))).is_file():
            yield f"{site}/{file.as_posix()}", path


def _add_text(tar: tarfile.TarFile, name: str, text: str) -> None:
    entry, content = tarfile.TarInfo(name), text.encode()
    entry.size, entry.mode = len(content), 0o755
    tar.addfile(entry, BytesIO(content))
