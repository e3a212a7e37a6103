"""What every test may use: the annotated pages, and one Spark session for all tests of a process."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import pytest
from hypothesis import settings

import victor_spark
from victor_spark.spark.java import ensure_java_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent

# Shared and slow machines make single examples slow: pytest-timeout ends what really hangs.
settings.register_profile("victor", deadline=None)
# What lets a change in or not must give the same answer twice; new examples are looked for by hand.
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "victor")


def pytest_configure() -> None:
    """Gives Spark a Java, and keeps its servers on this machine; who is asked to end ends all it started."""
    ensure_java_home()
    # Spark's Python workers find functions of tests wherever the first session was started.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    signal.signal(signal.SIGTERM, _interrupted)


def _interrupted(number: int, frame: FrameType | None) -> NoReturn:
    """What `timeout` sends, by default, lets no fixture stop its servers."""
    raise KeyboardInterrupt


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def package() -> Path:
    """The folder of the package: the checkout's, or that of the wheel that is tested."""
    return Path(victor_spark.__file__).parent


@pytest.fixture(scope="session")
def spark() -> "Iterator[SparkSession]":
    """A local session, made as `victor clean` makes it, which takes it in this process instead of its own."""
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
