"""victor-spark as one zip for --py-files: where the packages that it needs are installed already.

What Python imports from the zip is `unpacking`, which lies there in the place of victor_spark/__init__.py.
"""

import zipfile
from pathlib import Path
from typing import Final

from victor_spark.packing import unpacking
from victor_spark.packing.own import own_files, written_whole

_NO_DATE: Final = (1980, 1, 1, 0, 0, 0)
"""The same files make the same zip, and the same folder where it is unpacked."""


def pack(archive: Path) -> int:
    """Writes the zip, whole or not at all, and returns its size."""
    with written_whole(archive) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as written:
        _add(written, "victor_spark/__init__.py", Path(unpacking.__file__))
        for target, source in own_files():
            _add(written, f"{unpacking.INSIDE}/{target}", source)
    return archive.stat().st_size


def _add(written: zipfile.ZipFile, name: str, source: Path) -> None:
    entry = zipfile.ZipInfo(name, _NO_DATE)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    written.writestr(entry, source.read_bytes())
