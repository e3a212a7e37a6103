"""Fixtures of all tests: folders, annotated pages, and one Spark session for all tests of a process."""

import gc
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import settings

import victor_spark
from victor_spark.spark.java import ensure_java_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent
CLASSES = ROOT / ".venv" / "classes.jsa"
"""The file that tests/class_archive.py writes."""

# No deadline: a single example may be slow on a shared machine. pytest-timeout ends tests that hang.
# `./dev test-checked` tries four times as many examples as `./dev test`.
N_EXAMPLES = 200 if os.environ.get("VICTOR_KERNELS") == "checked" else 50
settings.register_profile("victor", deadline=None, max_examples=N_EXAMPLES)
# In CI, the examples are always the same, so that a change passes or fails again in the same way.
settings.register_profile("ci", settings.get_profile("victor"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "victor")


def java_options() -> list[str]:
    """Options that make the JVMs of tests faster.

    Commands of many tests run in one session. By default, its cache holds 100 compiled classes, and one that
    the next test needs would be compiled again. Several threads that collect a small heap cost a tenth more.
    """
    archive = [shlex.quote(f"-XX:SharedArchiveFile={CLASSES}"), "-Xlog:disable"] if CLASSES.exists() else []
    return ["-Dspark.sql.codegen.cache.maxEntries=2000", "-XX:+UseSerialGC", *archive]


@pytest.fixture
def row_groups_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the row groups of Parquet files that are read from now on."""
    numbers: list[int] = []
    real = pq.ParquetFile.read_row_group

    def counted(self: pq.ParquetFile, number: int, *rest: Any, **options: Any) -> pa.Table:
        numbers.append(number)
        return real(self, number, *rest, **options)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", counted)
    return numbers


def pytest_configure() -> None:
    """Sets the Java and the address that Spark uses; makes SIGTERM end a test run as Ctrl-C does.

    A run that a script starts in the background ignores SIGINT, also in its child processes; tests send it.
    """
    ensure_java_home()
    os.environ.setdefault("SPARK_SUBMIT_OPTS", " ".join(java_options()))  # once: xdist's processes inherit it
    # Python workers of Spark import functions of tests; the first session may start in any folder.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    signal.signal(signal.SIGTERM, _interrupted)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Excludes modules and collected tests, a million objects, from garbage collection."""
    gc.freeze()


def _interrupted(number: int, frame: FrameType | None) -> NoReturn:
    """Raises KeyboardInterrupt, so that fixtures stop their servers; by default, SIGTERM would skip that."""
    raise KeyboardInterrupt


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with room for 48 kB; only root may have one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if (
        os.getuid()
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", folder], check=False).returncode
    ):
        pytest.skip("can't mount a file system here")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def package() -> Path:
    """The folder of the package that is tested, in the checkout or in an installed wheel."""
    return Path(victor_spark.__file__).parent


@pytest.fixture(scope="session")
def spark() -> "Iterator[SparkSession]":
    """A local session, made as by `victor clean`; commands in this process use it instead of their own."""
    from victor_spark.spark.session import session

    with session(master="local[2]") as active:
        yield active


@pytest.fixture(scope="session")
def annotated() -> Path:
    """The folder of annotated pages ($VICTOR_DATA, default ../shared/data); skips where there is none."""
    folder = Path(os.environ.get("VICTOR_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no annotated pages in {folder}")
    return folder
