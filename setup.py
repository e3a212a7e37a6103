"""Compiles the kernels where that is possible, and puts conf/ and models/ into the wheel.

Everything else is said in pyproject.toml. Each kernel is Python that Cython can compile ("pure Python
mode"): without a compiler, or with VICTOR_COMPILE=0, the same files run uncompiled.
"""

import os
import shutil
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

KERNELS = sorted(path for path in Path("victor_spark/kernels").glob("*.py") if path.stem != "__init__")
DATA = ("conf", "models")
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
}


def extensions() -> list[Extension]:
    """One optional extension a kernel: a build goes on when the C compiler is missing or fails."""
    if os.environ.get("VICTOR_COMPILE") == "0" or not KERNELS:
        return []
    from Cython.Build import cythonize  # not needed where nothing is compiled

    flags = [] if sys.platform == "win32" else ["-O3"]
    modules = [
        Extension(".".join(path.with_suffix("").parts), [str(path)], extra_compile_args=flags)
        for path in KERNELS
    ]
    modules = cythonize(modules, build_dir="build/cython", compiler_directives=DIRECTIVES)
    for module in modules:
        module.optional = True  # said only here: cythonize makes new extensions and forgets it
    return modules


class BuildWithData(build_py):
    """Copies conf/ and models/ beside the modules of a wheel; a checkout finds them where they are."""

    def run(self) -> None:
        """Builds the modules, then adds the data folders."""
        super().run()
        if not self.editable_mode:
            for folder in filter(os.path.isdir, DATA):
                shutil.copytree(folder, Path(self.build_lib, "victor_spark", folder), dirs_exist_ok=True)


setup(ext_modules=extensions(), cmdclass={"build_py": BuildWithData})
