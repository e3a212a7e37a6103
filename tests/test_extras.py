"""The base installation cleans pages; where an extra is missing, one line names it."""

import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from victor_spark.errors import EXTRAS, one_line

HIDDEN = """
import sys
from importlib.abc import MetaPathFinder

class Hidden(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

hidden = set(sys.argv.pop(1).split())
sys.meta_path.insert(0, Hidden())
from victor_spark.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, Any]:
    content: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return content


def without(modules: Iterable[str], *arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs `victor` in a Python that has none of these modules."""
    command = [sys.executable, "-c", HIDDEN, " ".join(modules), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def names(requirements: Iterable[str]) -> set[str]:
    return {canonicalize_name(Requirement(line).name) for line in requirements}


def test_the_base_installation_cleans_a_page_and_names_the_extra_for_spark(
    root: Path, tmp_path: Path, project: dict[str, Any]
) -> None:
    base, optional = project["dependencies"], project["optional-dependencies"].values()
    extra = names(line for lines in optional for line in lines) - names(base) - {"victor-spark"}
    modules = {
        module
        for module, packages in packages_distributions().items()
        if extra & set(map(canonicalize_name, packages))
    }
    assert {"pyspark", "matplotlib", "pandas", "pydivsufsort", "catboost", "fastwarc"} <= modules
    page = tmp_path / "page.html"
    paragraph = (
        "After three weeks in dry dock the ferry left the harbour on Monday with forty passengers on board."
    )
    page.write_text(f"<html lang=en><p>{paragraph}", encoding="utf-8")
    cleaned = without(modules, "clean", page)
    assert (cleaned.returncode, cleaned.stdout) == (0, f"{paragraph}\n"), cleaned.stderr
    archive = root / "sample" / "crawl-00000.warc.gz"
    refused = without(modules, "clean", archive, "--output", tmp_path / "out")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "victor: error: pyspark is not installed: pip install 'victor-spark[spark]'\n"


def test_single_pages_and_the_demo_need_no_module_that_only_posix_has(tmp_path: Path) -> None:
    """As on Windows; jobs of Spark need POSIX."""
    posix = {"fcntl", "grp", "pwd", "resource", "termios", "pyspark", "py4j"}
    page = tmp_path / "page.html"
    paragraph = "After three weeks in dry dock the ferry left the harbour with forty passengers on board."
    page.write_text(f"<html lang=en><p>{paragraph}", encoding="utf-8")
    cleaned = without(posix, "clean", page)
    assert (cleaned.returncode, cleaned.stdout) == (0, f"{paragraph}\n"), cleaned.stderr
    shown = without(posix, "--version")
    assert (shown.returncode, shown.stdout[:7]) == (0, "victor "), shown.stderr


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["annotate", "--store", "a.sqlite"],
            "uvicorn is not installed: pip install 'victor-spark[annotate]'",
        ),
        (
            ["fetch", "a.txt", "--output", "a.warc.gz"],
            "yarl is not installed: pip install 'victor-spark[fetch]'",
        ),
        (
            ["evaluate", "--gold", "nowhere", "--cleaner", "kimatu", "--output", "out"],
            "nowhere: no such file or folder",
        ),
        (["train", "crf", "--data", "nowhere", "--folds", "1", "--output", "out"], "--folds must be"),
    ],
)
def test_a_missing_extra_and_wrong_arguments_are_one_line(arguments: list[str], line: str) -> None:
    """Arguments are checked before what only the report needs is imported."""
    refused = without({"uvicorn", "yarl", "matplotlib"}, *arguments)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith(f"victor: error: {line}"), refused.stderr
    assert refused.stderr.count("\n") == 1


def test_a_spark_without_pandas_is_one_line_before_it_starts(root: Path, tmp_path: Path) -> None:
    """As where pyspark was there, and only the base installation was added."""
    refused = without(
        {"pandas"}, "clean", root / "sample" / "crawl-00000.warc.gz", "--output", tmp_path / "out"
    )
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.splitlines()[-1] == (
        "victor: error: pandas is not installed: pip install 'victor-spark[spark]'"
    )


@pytest.mark.parametrize("package", EXTRAS)
def test_the_named_extra_installs_the_package(package: str, project: dict[str, Any]) -> None:
    optional = project["optional-dependencies"]
    lines = optional[EXTRAS[package]] + (optional["executors"] if EXTRAS[package] == "spark" else [])
    renamed = {
        "markdown_it": "markdown-it-py",
        "py4j": "pyspark",
        "pycrfsuite": "python-crfsuite",
        "sklearn": "scikit-learn",
    }
    distribution = renamed.get(package, package)
    assert distribution in names(lines)
    assert distribution not in names(project["dependencies"])


def test_a_long_message_is_cut_at_a_word_and_a_word_without_end_anywhere() -> None:
    assert one_line(ValueError("ferry " * 60)) == f"{'ferry ' * 32}ferry…"
    assert one_line(ValueError(f"a {'x' * 300}")) == f"a {'x' * 197}…"
