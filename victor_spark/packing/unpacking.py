"""The __init__.py of each package in a zip for --py-files: the zip unpacks itself when one is imported.

Compiled kernels and models can't be read inside a zip. The first process that imports a package writes all
into a folder beside the zip (an executor's work directory), or, where that is read-only, into the folder for
temporary files; all others find it there. Imports the standard library only.
"""

import hashlib
import os
import shutil
import stat
import tempfile
import zipfile
from pathlib import Path
from typing import Final
from zipimport import zipimporter

INSIDE: Final = "whole"
"""The folder of the zip that holds the packages themselves."""


def unpacked(archive: Path) -> Path:
    """The folder with the contents of the archive; ImportError if others may have made or changed it."""
    with archive.open("rb") as file:
        name = f".{archive.stem}-{os.getuid()}-{hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"
    home = archive.parent if os.access(archive.parent, os.W_OK) else Path(tempfile.gettempdir())
    folder = home / name
    if not folder.is_dir():
        written = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
        try:
            with zipfile.ZipFile(archive) as opened:
                opened.extractall(written)
            written.rename(folder)  # it appears whole, or that of another process was first
        except OSError:
            shutil.rmtree(written, ignore_errors=True)
            if not folder.is_dir():
                raise
    found = folder.lstat()
    if found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode) or found.st_mode & 0o022:
        raise ImportError(f"{folder} belongs to someone else, or others can write to it")
    return folder / INSIDE


_loader: object = __spec__ and __spec__.loader
if isinstance(_loader, zipimporter):
    _folder = unpacked(Path(_loader.archive).absolute()) / __name__
    __path__ = __spec__.submodule_search_locations = [str(_folder)]
    __file__ = __spec__.origin = str(_folder / "__init__.py")
    exec(compile(Path(__file__).read_bytes(), __file__, "exec"))
