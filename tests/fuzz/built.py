"""Loads the kernels of another build (VICTOR_KERNELS, see setup.py), not the usual ones.

Import it first, or name it as a plugin: `python -m pytest -p tests.fuzz.built`.
"""

import os
from pathlib import Path
from typing import Final

import victor_html
from victor_spark import kernels, rendering

ROOT: Final = Path(__file__).resolve().parents[2]
VARIANT: Final = os.environ.get("VICTOR_KERNELS", "")
FOLDER: Final = ROOT / "build" / VARIANT

if VARIANT:
    for package in (victor_html, kernels, rendering):
        package.__path__.insert(0, str(FOLDER.joinpath(*package.__name__.split("."))))
