"""What victor-spark itself consists of: its modules, kernels, pages, conf/ and models/."""

import os
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from victor_spark import resources

_PACKAGE: Final = Path(__file__).resolve().parents[1]
_CACHES: Final = frozenset({"__pycache__"})


def own_files() -> Iterator[tuple[str, Path]]:
    """(name below a folder on Python's path, file), each once; conf/ and models/ lie inside the package."""
    yield from below(_PACKAGE, _PACKAGE.name, _CACHES)
    for folder in ("conf", "models"):
        if not (_PACKAGE / folder).is_dir():  # a checkout has them beside the package
            yield from below(resources.directory(folder), f"{_PACKAGE.name}/{folder}", frozenset())


def below(folder: Path, target: str, without: Collection[str]) -> Iterator[tuple[str, Path]]:
    """(name below `target`, file) of all files below a folder, without the folders of some names."""
    for path, names, files in os.walk(folder):
        names[:] = sorted(name for name in names if name not in without and not name.startswith("config-"))
        for name in sorted(files):
            file = Path(path, name)
            if file.suffix not in {".pyc", ".a"} and file.is_file():
                yield f"{target}/{file.relative_to(folder).as_posix()}", file.resolve()


@contextmanager
def written_whole(archive: Path) -> Iterator[IO[bytes]]:
    """A file to write to that takes the archive's place when all is written; else nothing is left of it."""
    handle, name = tempfile.mkstemp(prefix=f".{archive.name}-", dir=archive.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(name).chmod(0o644)
        Path(name).replace(archive)
    finally:
        Path(name).unlink(missing_ok=True)
