"""Finishes a distribution: its software bill of materials, and the same bytes for the same content.

    python release/finish.py WHEEL OUTPUT

cibuildwheel calls this for each repaired wheel; `./dev wheels` uses its functions.
"""

import base64
import csv
import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import sbom


def epoch() -> str:
    """SOURCE_DATE_EPOCH: the time of the last commit, or the environment's."""
    if found := os.environ.get("SOURCE_DATE_EPOCH"):
        return found
    root = Path(__file__).resolve().parent.parent
    return subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.strip()


def wheel(path: Path, output: Path) -> Path:
    """Writes the wheel with `.dist-info/sboms/` (PEP 770): entries sorted, times fixed."""
    with zipfile.ZipFile(path) as archive:
        modes = {entry.filename: entry.external_attr for entry in archive.infolist() if not entry.is_dir()}
        content = {name: archive.read(name) for name in modes}
    [record] = [name for name in content if name.endswith(".dist-info/RECORD")]
    folder = record.removesuffix("RECORD")
    name = f"{folder}sboms/victor-spark.cdx.json"
    content[name] = sbom.made(content, folder, int(epoch()))
    lines = io.StringIO()
    rows = csv.writer(lines, lineterminator="\n")
    for each in sorted(set(content) - {record}):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content[each]).digest()).rstrip(b"=").decode()
        rows.writerow((each, f"sha256={digest}", len(content[each])))
    rows.writerow((record, "", ""))
    content[record] = lines.getvalue().encode()
    target = output / path.name
    output.mkdir(parents=True, exist_ok=True)
    date = time.gmtime(max(int(epoch()), 315_532_800))[:6]  # zip knows no time before 1980
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for each in (*sorted(set(content) - {record}), record):
            entry = zipfile.ZipInfo(each, date)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = modes.get(each, 0o100644 << 16)
            archive.writestr(entry, content[each])
    return target


def sdist(path: Path, output: Path) -> Path:
    """Writes the source distribution with sorted entries, fixed times and no owners."""
    target = output / path.name
    with (
        tarfile.open(path) as archive,
        target.open("wb") as file,
        gzip.GzipFile("", "wb", 9, file, mtime=int(epoch())) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as written,
    ):
        for entry in sorted(archive.getmembers(), key=lambda entry: entry.name):
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = int(epoch()), 0, 0, "", ""
            entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
            entry.pax_headers = {}
            written.addfile(entry, archive.extractfile(entry) if entry.isfile() else None)
    return target


if __name__ == "__main__":
    wheel(Path(sys.argv[1]), Path(sys.argv[2]))
