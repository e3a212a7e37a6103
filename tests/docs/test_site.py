"""The documentation site: generated parts are complete and current, pages load nothing from other hosts."""

import importlib.util
import json
import re
import subprocess
import sys
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT
from victor_spark import cli, tables
from victor_spark.commands import COMMANDS, clean
from victor_spark.commands.options import flat
from victor_spark.request import CleanRequest

FIGURES = re.compile(r"^\|.*\|\s*[-+]?\d*\.\d+.*\|$", re.MULTILINE)
COMMAND = re.compile(r"\./dev \w|python (?:-m research|bench/|docs/)|victor \w")

OF_A_WHOLE_PAGE = {
    "evaluation.md": "python -m research.reproduce",
    "scale.md": "python bench/scaling.py",
    "sites.md": "python -m research.sites page",
    "templates.md": "python -m research.template_page",
}
"""Page → the command that makes all its tables. Its introduction names it, so the sections need not."""


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    """docs/site/reference.py."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "site" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_of_columns_and_statuses_are_those_of_the_code(reference: ModuleType) -> None:
    text = (ROOT / "docs" / "output.md").read_text(encoding="utf-8")
    assert sorted(reference.parts(text)) == ["columns", "statuses"]
    assert reference.filled(text) == text, "run: python docs/site/reference.py"


def test_every_column_that_users_see_has_a_meaning() -> None:
    assert set(tables.MEANINGS) == {*tables.PAGES.names, *tables.ON_REQUEST} - {"scored"}


def test_every_command_has_a_page_with_all_its_options(reference: ModuleType) -> None:
    pages = reference.pages()
    for name in COMMANDS:
        page = pages[f"reference/commands/{name.split()[0]}.md"]
        assert f"# victor {name}\n" in page
        missing = [one.flag for one in flat(cli.loaded(name).options) if f"`{one.flag}" not in page]
        assert missing == [], name


def test_every_key_of_the_configuration_has_a_row(reference: ModuleType) -> None:
    page, built_in = reference.configuration(), CleanRequest()
    known = {field.name for group in clean.TABLES for field in fields(getattr(built_in, group))}
    assert {name for name in known if f"\n| `{name}` |" not in page} == set()


def sections(text: str) -> list[str]:
    """The introduction of a page, and its sections: each a heading and what follows it."""
    return [section for section in re.split(r"^(?=## )", text, flags=re.MULTILINE) if section.strip()]


def test_sections_with_figures_or_pictures_name_the_command_that_makes_them() -> None:
    for page in (ROOT / "docs").glob("*.md"):
        introduction, *others = sections(page.read_text(encoding="utf-8"))
        if (command := OF_A_WHOLE_PAGE.get(page.name)) is not None:
            assert command in " ".join(introduction.split()), page.name
            continue
        for section in (introduction, *others):
            if FIGURES.search(section) or "](pictures/" in section:
                assert COMMAND.search(" ".join(section.split())), (page.name, section.splitlines()[0])


def test_pictures_are_those_of_the_script() -> None:
    taken = (ROOT / "docs" / "screenshots.py").read_text(encoding="utf-8")
    for picture in (ROOT / "docs" / "pictures").glob("*.webp"):
        assert f'"{picture.stem}"' in taken, picture.name


@pytest.mark.timeout(600)
def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    if find_spec("mkdocstrings") is None or find_spec("material") is None:
        pytest.skip("needs the packages of docs/site/requirements.txt: ./dev docs")
    (tmp_path / "0.0.9").mkdir()  # an older version
    build = [sys.executable, ROOT / "docs" / "site" / "build.py", tmp_path]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    versions = json.loads((tmp_path / "versions.json").read_text(encoding="utf-8"))
    assert [version["version"] for version in versions][1:] == ["0.0.9"]
    site = tmp_path / versions[0]["version"]
    for page in site.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|iframe)[^>]+src=\"(\w+:[^\"]+)", html)
        loaded += re.findall(r"<link[^>]+rel=\"(?:stylesheet|preconnect)\"[^>]+href=\"(\w+:[^\"]+)", html)
        assert loaded == [], page
    found = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    assert any(entry["location"].startswith("reference/commands/clean") for entry in found)
    assert any(entry["location"] == "reference/api.html#clean" for entry in found)
    assert any("victor_spark.document.Document" in entry["location"] for entry in found)
