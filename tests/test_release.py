"""The parts of a release agree: workflow files, sdist, version, bill of materials, cards, licences."""

import io
import json
import re
import shlex
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

import victor_spark
from victor_spark import resources
from victor_spark.sites.evidence import FILE_NAME

WORKFLOWS = sorted((Path(__file__).resolve().parent.parent / ".github").rglob("*.yml"))


def run(root: Path, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=root, capture_output=True, text=True, check=check)


def steps(path: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values()
    return [step for job in jobs for step in job["steps"]]


@pytest.fixture
def tracked(root: Path) -> list[str]:
    """The files that git knows here. Skips in an unpacked sdist, which is no checkout."""
    if not (root / ".git").exists():
        pytest.skip("no checkout")
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True)
    return listed.stdout.splitlines()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_and_templates_follow_their_schemas(path: Path) -> None:
    schemas = {"workflows": "github-workflows", "ISSUE_TEMPLATE": "github-issue-forms"}
    schema = "github-issue-config" if path.name == "config.yml" else schemas[path.parent.name]
    builtin = f"vendor.{schema}"
    assert builtin in run(path.parent, "-m", "check_jsonschema", "--help").stdout
    done = run(path.parent, "-m", "check_jsonschema", "--builtin-schema", builtin, str(path), check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_workflows_run_commands_of_dev_and_ci_has_the_lanes_of_ci_run(root: Path) -> None:
    known = set(re.findall(r"^  ([\w-]+)(?: |$)", (root / "dev").read_text(encoding="utf-8"), re.MULTILINE))
    workflows = root / ".github" / "workflows"
    content = yaml.safe_load((workflows / "ci.yml").read_text(encoding="utf-8"))
    lanes = content["jobs"]["lane"]["strategy"]["matrix"]["lane"]
    lines = (root / ".ci" / "run").read_text(encoding="utf-8")
    called = {*re.findall(r"^ *step \./dev ([\w-]+)", lines, re.MULTILINE)} - {"setup"}
    called |= {*re.findall(r"^lane ([\w-]+)", lines, re.MULTILINE)}
    called |= {name for names in re.findall(r"for name in (.+?);", lines) for name in names.split()}
    assert set(lanes) | {"gate"} == called
    commands = [step["run"] for path in workflows.glob("*.yml") for step in steps(path) if "run" in step]
    named = {words[1] for command in commands if (words := shlex.split(command))[0] == "./dev"}
    assert {*lanes, *(name for name in named if "{" not in name and "$" not in name)} <= known


def test_scripts_that_workflows_call_are_there(root: Path) -> None:
    called = set()
    for path in (root / ".github" / "workflows").glob("*.yml"):
        called |= set(re.findall(r"release/\w+\.py", path.read_text(encoding="utf-8")))
    called |= set(re.findall(r"release/\w+\.py", (root / "pyproject.toml").read_text(encoding="utf-8")))
    assert called
    assert [name for name in called if not (root / name).is_file()] == []


def test_the_version_stands_in_one_place(root: Path, tracked: list[str]) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "victor_spark.__version__"}
    code = [root / name for name in tracked if name.endswith((".py", ".toml", ".cff"))]
    line = f'"{victor_spark.__version__}"'
    found = [path for path in code if path.exists() and line in path.read_text(encoding="utf-8")]
    assert found == [root / "victor_spark" / "__init__.py"]


def test_release_notes_are_the_section_of_the_version(root: Path, tmp_path: Path) -> None:
    (tmp_path / "release").mkdir()
    (tmp_path / "victor_spark").mkdir()
    (tmp_path / "release" / "notes.py").write_bytes((root / "release" / "notes.py").read_bytes())
    (tmp_path / "victor_spark" / "__init__.py").write_text('__version__ = "1.2.0"\n')
    changes = "# Changelog\n\n## Unreleased\n\n## 1.2.0 - today\n\nFaster ferries.\n\n## 1.1.0\n\nOld.\n"
    (tmp_path / "CHANGELOG.md").write_text(changes)
    assert run(tmp_path, "release/notes.py", "v1.2.0").stdout == "Faster ferries.\n"
    refused = run(tmp_path, "release/notes.py", "v1.3.0", check=False)
    assert refused.returncode == 1
    assert "the tag is v1.3.0, the version is 1.2.0" in refused.stderr


def test_an_sdist_has_all_files_of_the_checkout(root: Path, tmp_path: Path, tracked: list[str]) -> None:
    """Also the files that tests read, and no built file."""
    script = "import sys; from setuptools import build_meta; print(build_meta.build_sdist(sys.argv[1]))"
    copy = tmp_path / "checkout"
    for name in tracked:
        if (root / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((root / name).read_bytes())
    (copy / "victor_spark" / "kernels" / "left.so").write_bytes(b"")
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        cwd=copy,
        env={"VICTOR_COMPILE": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    with tarfile.open(tmp_path / done.stdout.split()[-1]) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {name for name in tracked if (root / name).is_file()}
    assert wanted - packed == set()
    assert not [name for name in packed if name.endswith((".so", ".pyc", ".pxd"))]


METADATA = b"Name: victor-spark\nVersion: 1.0\nLicense-Expression: Apache-2.0\n"


def wheel(path: Path, *, times: tuple[int, ...]) -> Path:
    """A small wheel, its entries in another order and with other times."""
    content = {
        "victor_spark/__init__.py": b"",
        "victor_spark/models/crf/victor-3/weights.npz": b"weights",
        f"victor_spark/models/sites/{FILE_NAME}": b"{}",
        "victor_spark/kernels/blocks.abi3.so": b"\x7fELF",
        "victor_spark-1.0.dist-info/METADATA": METADATA,
        "victor_spark-1.0.dist-info/RECORD": b"",
    }
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w") as archive:
        for number, (name, text) in enumerate(sorted(content.items(), reverse=times[0] % 2 == 0)):
            archive.writestr(zipfile.ZipInfo(name, (times[0], 1, 1 + number, 0, 0, 0)), text)
    return path


@pytest.fixture
def finish(root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """release/finish.py, for releases of one fixed time."""
    pytest.importorskip("cyclonedx")
    monkeypatch.syspath_prepend(str(root / "release"))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    return import_module("finish")


def test_a_finished_wheel_has_a_bill_of_materials_and_the_same_bytes_for_the_same_content(
    finish: ModuleType, tmp_path: Path
) -> None:
    name = "victor_spark-1.0-cp311-abi3-linux_x86_64.whl"
    made = [
        finish.wheel(wheel(tmp_path / str(year) / name, times=(year,)), tmp_path / "made" / str(year))
        for year in (2001, 2002)
    ]
    assert made[0].read_bytes() == made[1].read_bytes()
    with zipfile.ZipFile(made[0]) as archive:
        assert archive.testzip() is None
        bom = json.loads(archive.read("victor_spark-1.0.dist-info/sboms/victor-spark.cdx.json"))
        record = archive.read("victor_spark-1.0.dist-info/RECORD").decode()
        assert {line.partition(",")[0] for line in record.splitlines()} == set(archive.namelist())
    assert bom["bomFormat"] == "CycloneDX"
    assert bom["metadata"]["component"]["purl"] == "pkg:pypi/victor-spark@1.0"
    kinds = {part["name"]: part["type"] for part in bom["components"]}
    models = dict.fromkeys(("crf/victor-3/weights.npz", f"sites/{FILE_NAME}"), "machine-learning-model")
    assert kinds == {**models, "cython": "library"}


def test_a_finished_sdist_has_the_same_bytes_for_the_same_content(finish: ModuleType, tmp_path: Path) -> None:
    made = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        with tarfile.open(folder / "a.tar.gz", "w:gz") as archive:
            for name in ("a/b", "a/a")[:: 1 if number == 1 else -1]:
                entry = tarfile.TarInfo(name)
                entry.size, entry.mtime, entry.uid = 1, number, number
                archive.addfile(entry, io.BytesIO(b"x"))
        (folder / "made").mkdir()
        made.append(finish.sdist(folder / "a.tar.gz", folder / "made").read_bytes())
    assert made[0] == made[1]


def test_cards_have_front_matter_with_the_values_of_metrics_json(root: Path, tmp_path: Path) -> None:
    listed = run(root, "release/cards.py", str(tmp_path)).stdout.split()
    assert {Path(path).parent.name for path in listed} >= {"crf-victor-3", "langid", "sites", "sample-crawl"}
    for path in listed:
        _, front, text = Path(path).read_text(encoding="utf-8").split("---\n", 2)
        matter = yaml.safe_load(front)
        assert matter["license"] == "apache-2.0"
        assert matter["language"]
        assert matter["tags"]
        assert text.lstrip().startswith("# ")
    card = (tmp_path / "crf-victor-3" / "README.md").read_text(encoding="utf-8")
    results = yaml.safe_load(card.split("---\n")[1])["model-index"][0]["results"]
    metrics = json.loads((root / "models/crf/victor-3/metrics.json").read_text(encoding="utf-8"))
    for result in results:
        found = metrics["cross_validation"]["victor"][result["dataset"]["name"]]
        assert result["metrics"][0]["value"] == round(found["words_macro"]["f1"], 4)


def test_every_package_that_is_installed_with_it_states_a_licence(root: Path) -> None:
    shown = run(root, "release/licences.py").stdout
    assert re.search(r"^\| victor-spark \| .* \| Apache-2\.0 \|$", shown, re.MULTILINE)
    for name in ("numpy", "pyarrow", "resiliparse", "urllib3"):
        assert f"| {name} |" in shown
    assert "not stated |" not in shown
    models = {str(path.parent.relative_to(root)) for path in (root / "models").rglob("CARD.md")}
    assert {line.split(" | ")[0].strip("| ") for line in shown.splitlines() if "models/" in line} == models


def test_the_sample_crawl_is_where_the_demo_looks(root: Path) -> None:
    assert {path.name for path in resources.directory("sample").iterdir()} >= {
        "crawl-00000.warc.gz",
        "crawl-00001.warc.gz",
        "gold.jsonl",
    }
