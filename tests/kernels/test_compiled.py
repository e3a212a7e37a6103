"""Kernels that run interpreted, or that are older than their source, are logged once."""

import os
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType

import pytest

from victor_html import num as parser_numbers
from victor_spark.blocks import COLUMNS, ROWS
from victor_spark.kernels import num as kernel_numbers
from victor_spark.rendering import num as rendering_numbers

ASK = """
import victor_spark.kernels as kernels
print(kernels.uncompiled())
kernels.warn_if_uncompiled()
kernels.warn_if_uncompiled()
"""


@pytest.fixture
def home(package: Path, tmp_path: Path) -> Path:
    """A place with a package `victor_spark` whose only folder is kernels/, with one kernel, `scan`."""
    folder = tmp_path / "victor_spark" / "kernels"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    shutil.copy(package / "kernels" / "__init__.py", folder)
    (folder / "scan.py").write_text("\nimport cython\n")
    return tmp_path


def built(home: Path, *, older: bool = False) -> None:
    """Puts an extension module beside the kernel's source."""
    source = home / "victor_spark" / "kernels" / "scan.py"
    extension = source.with_suffix(EXTENSION_SUFFIXES[0])
    extension.touch()
    changed = source.stat().st_mtime - (60 if older else 0)
    os.utime(extension, (changed, changed))


def ask(home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", ASK], cwd=home, capture_output=True, text=True, check=True)


def test_uncompiled_kernels_are_said_once(home: Path) -> None:
    shown = ask(home)
    assert shown.stdout == "('scan',)\n"
    assert shown.stderr.count("kernels run uncompiled") == 1


def test_compiled_kernels_are_silent(home: Path) -> None:
    built(home)
    shown = ask(home)
    assert (shown.stdout, shown.stderr) == ("()\n", "")


def test_in_a_checkout_an_outdated_kernel_counts_as_uncompiled(home: Path) -> None:
    built(home, older=True)
    assert ask(home).stdout == "()\n"
    (home / "setup.py").touch()
    assert ask(home).stdout == "('scan',)\n"


@pytest.mark.parametrize("numbers", [kernel_numbers, parser_numbers, rendering_numbers])
def test_a_kernel_compiled_from_other_tables_is_refused(numbers: ModuleType) -> None:
    numbers.compiled_with(numbers.DIGEST)
    with pytest.raises(ImportError, match="other tables"):
        numbers.compiled_with(numbers.DIGEST + 1)


def test_a_field_of_blocks_is_all_that_a_row_of_kernels_takes() -> None:
    assert [kernel_numbers.NUMBERS[f"ROW_{name.upper()}"] for name in ROWS] == list(range(len(ROWS)))
    assert {name for name, column in COLUMNS.items() if "row" in column.notes} == set(ROWS)
