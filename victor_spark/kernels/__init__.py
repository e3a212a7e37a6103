"""The hot loops, which Cython compiles; and whether they are compiled in this installation.

All other modules in this folder, two of rendering/ and three of victor_html are plain Python that Cython
compiles when the package is built. Without a C compiler, they run interpreted: slowly, with the same results.
"""

import functools
import logging
import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

KEY = int.from_bytes(os.urandom(8), "little") | 1
"""A random number for each process. Hash tables of strings that a page chooses use it, so that no page can
cause collisions. It changes the places in the tables, not the results.
"""

sys.modules[f"cython.cimports.{__name__}"] = sys.modules[__name__]  # where uncompiled kernels look for `num`

_FOLDER = Path(__file__).resolve().parent
_FOLDERS = (_FOLDER, _FOLDER.parent / "rendering", _FOLDER.parent.parent / "victor_html")
_LOGGER = logging.getLogger(__name__)


def memory_views(*arrays: Any) -> Sequence[Any]:
    """Arrays in the form for uncompiled kernels: their numbers are then Python's, which do not overflow."""
    return [memoryview(array) for array in arrays]


def code_points(text: str) -> npt.NDArray[np.uint32]:
    """A text as kernels take it, lone surrogates included; in a quarter of the time that `encode` takes."""
    points = np.empty(max(len(text), 1), dtype=np.uint32)
    points.view(f"U{points.size}")[0] = text
    return points[: len(text)]


def text_of(points: npt.NDArray[np.uint32]) -> str:
    """The text of code points; numpy leaves out zeros at its end."""
    n = points.size
    return str(points.reshape(-1).view(f"U{n}").item()).ljust(n, "\0") if n else ""


def slots(n: int) -> npt.NDArray[np.int32]:
    """An empty hash table for n keys: a power of two of slots, at least twice as many, all -1."""
    return np.full(1 << (2 * n).bit_length(), -1, dtype=np.int32)


def uncompiled() -> tuple[str, ...]:
    """Names of the kernels that run interpreted here, or, in a checkout, are older than their source."""
    found = []
    in_checkout = (_FOLDER.parent.parent / "setup.py").exists()
    for source in sorted(path for folder in _FOLDERS for path in folder.glob("[!_]*.py")):
        if b"\nimport cython\n" not in source.read_bytes():  # setup.py compiles no other
            continue
        built = next(filter(Path.exists, map(source.with_suffix, EXTENSION_SUFFIXES)), None)
        if built is None or (in_checkout and built.stat().st_mtime < source.stat().st_mtime):
            found.append(source.stem)
    return tuple(found)


@functools.cache
def warn_if_uncompiled() -> None:
    """Logs (on stderr unless configured otherwise), once a process, that kernels are `uncompiled()`."""
    if names := uncompiled():
        _LOGGER.warning(
            "kernels run uncompiled or outdated (%s): about 50 times slower; "
            "in a checkout run ./dev setup, elsewhere reinstall victor-spark where a C compiler is",
            ", ".join(names),
        )


views: Callable[..., Sequence[Any]] = memory_views if uncompiled() else lambda *arrays: arrays
"""Arrays in the form that kernels take: unchanged if the kernels are compiled, else memory views."""
