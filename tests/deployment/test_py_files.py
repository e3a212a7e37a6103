"""The zip for --py-files has both packages complete, with kernels and models."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import victor_spark
from tests.spark.crawl import PARAGRAPH, page
from victor_spark import kernels
from victor_spark import packing as archives
from victor_spark.packing import unpacking

_CLEAN = """
import json, sys
import victor_html  # the first of both, which unpacks the zip
import victor_spark
from victor_spark import kernels, resources
text = victor_spark.clean(sys.stdin.read()).text
models = str(resources.directory("models"))
packages = [victor_html.__file__, victor_spark.__file__]
print(json.dumps([text, packages, models, kernels.uncompiled()]))
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packed") / "v 1 č.zip"
    archives.pack_zip(path)
    return path


def start(archive: Path) -> subprocess.Popen[str]:
    """A process that has victor-spark from the zip, cleaning the page that it is given."""
    return subprocess.Popen(
        [sys.executable, "-c", _CLEAN],
        env={**os.environ, "PYTHONPATH": str(archive)},
        cwd=archive.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_processes_that_import_it_at_once_share_one_folder_and_clean_as_we_do(archive: Path) -> None:
    html = page("Ferry", PARAGRAPH, PARAGRAPH)
    expected = victor_spark.clean(html).text
    processes = [start(archive) for _ in range(3)]
    for process in processes:
        report, _ = process.communicate(html)
        text, packages, models, uncompiled = json.loads(report)
        assert text == expected
        whole = unpacking.unpacked(archive)
        assert packages == [f"{whole}/victor_html/__init__.py", f"{whole}/victor_spark/__init__.py"]
        assert Path(models).is_relative_to(whole)
        assert uncompiled == list(kernels.uncompiled())
    assert len(list(archive.parent.iterdir())) == 2


def test_another_zip_of_the_name_has_another_folder(archive: Path, tmp_path: Path) -> None:
    changed = tmp_path / archive.name
    changed.write_bytes(archive.read_bytes() + b" ")
    assert unpacking.unpacked(changed).parent.name != unpacking.unpacked(archive).parent.name


def test_the_same_files_make_the_same_zip(archive: Path, tmp_path: Path) -> None:
    archives.pack_zip(tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == archive.read_bytes()


def test_a_folder_of_someone_else_is_not_trusted(
    archive: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where nobody may write beside the zip it is unpacked into a folder that everybody may write to."""
    unpacking.unpacked(archive)
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    folder = unpacking.unpacked(archive).parent
    assert folder.parent == tmp_path
    if os.getuid() == 0:
        os.chown(folder, 12345, -1)
        with pytest.raises(ImportError, match="someone else"):
            unpacking.unpacked(archive)


def test_a_folder_that_others_could_write_to_or_point_elsewhere_is_not_trusted(
    archive: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    folder = unpacking.unpacked(archive).parent
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    with pytest.raises(ImportError, match="others can write"):
        unpacking.unpacked(archive)
    folder.chmod(0o700)
    moved = folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(moved)
    with pytest.raises(ImportError, match="someone else"):
        unpacking.unpacked(archive)
