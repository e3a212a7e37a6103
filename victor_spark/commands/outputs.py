"""The output directory of a command: checked before the work, emptied when the work fails."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from victor_spark.commands.options import switch
from victor_spark.errors import OutputError

OVERWRITE: Final = switch("--overwrite", "replace files of an earlier command in --output")


@contextmanager
def directory(path: Path, *, overwrite: bool | None) -> Iterator[Path]:
    """A directory for results; the caller creates it. If the body fails, its new files are removed.

    Raises OutputError at once (not after an hour's work) if it cannot be written or holds files.
    """
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        before = set() if missing else {file.name for file in path.iterdir()}
        with tempfile.TemporaryFile(dir=missing[-1].parent if missing else path) as probe:
            probe.write(b"0")
    except OSError as error:
        raise OutputError(f"cannot write to {path}: {error.strerror or error}") from error
    if before and not overwrite:
        raise OutputError(f"{path}: holds files ({min(before)}); choose another --output or add --overwrite")
    try:
        yield path
    except BaseException:
        with suppress(OSError):
            for file in path.iterdir():
                if file.name not in before:
                    file.unlink()
            for folder in missing:
                folder.rmdir()
        raise
