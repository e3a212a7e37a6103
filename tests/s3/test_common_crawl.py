"""Every command of docs/common-crawl.md, on an invented crawl laid out as Common Crawl is, by http and S3."""

import functools
import http.server
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest

from tests import loopback
from tests.conftest import ROOT
from tests.s3 import common_crawl
from tests.s3.common_crawl import N_PAGES, N_SITES
from tests.s3.conftest import Store, Victor, disk_rows, require_jars, s3a_flags, victor
from tests.versions.environments import OURS, UnavailableError, made
from tests.versions.test_versions import NEWEST

pytestmark = [pytest.mark.s3, pytest.mark.timeout(600)]

PAGE: Final = (ROOT / "docs" / "common-crawl.md").read_text(encoding="utf-8")
HOME: Final = "https://data.commoncrawl.org"
READ: Final = """
from pyiceberg.catalog import load_catalog
print(load_catalog("lake").load_table("web.pages").scan().to_arrow().num_rows)
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files, as a static web server without ranges."""

    def log_message(self, *args: object) -> None:
        """Says nothing."""


def served(folder: Path) -> AbstractContextManager[str]:
    """A web server of a folder: its address."""
    return loopback.served(functools.partial(Quiet, directory=str(folder)))


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl")
    common_crawl.write(folder)
    return folder


@pytest.fixture(scope="module")
def python() -> Path:
    """An interpreter with pyiceberg."""
    if shutil.which("curl") is None:
        pytest.skip("no curl here")
    try:
        return made(NEWEST, OURS, "pyiceberg[sql-sqlite]", "deltalake", "duckdb")
    except UnavailableError as error:
        pytest.skip(str(error))


def catalog(folder: Path) -> dict[str, str]:
    """The variables that configure a catalog `lake` in a folder."""
    (folder / "warehouse").mkdir()
    found = {
        "TYPE": "sql",
        "URI": f"sqlite:///{folder}/catalog.db",
        "WAREHOUSE": f"file://{folder}/warehouse",
    }
    return {f"PYICEBERG_CATALOG__LAKE__{name}": value for name, value in found.items()}


def follow(made: Victor, folder: Path, web: str, base: str, output: str) -> None:
    """Runs the page from top to bottom: curl from `web`, our inputs from `base`, OUT in `output`."""
    places = {name: f"{folder}/{name}" for name in ("warc.paths", "wet.paths", "czech.parquet", "corpus")}
    places |= {name: f"{output}/{name}" for name in ("clean", "unique", "czech", "wet")}
    for language, block in re.findall(r"^```(sh|python)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        lines = block.splitlines() if language == "sh" else [f"{sys.executable} - <<'END'\n{block}END"]
        for line in lines:
            if line.startswith("victor "):
                command, *words = shlex.split(line.removeprefix("victor "))
                made.run(command, *(places.get(word, word).replace(HOME, base) for word in words))
            else:
                script = ["bash", "-o", "pipefail", "-ec", line.replace(HOME, web)]
                subprocess.run(script, cwd=folder, check=True)


def check(folder: Path, python: Path, variables: dict[str, str], rows: Callable[[str], list[Any]]) -> None:
    """Checks the results of the page's commands: the last page of each site repeats the one before."""
    clean = rows("clean/pages")
    assert len(clean) == N_SITES * N_PAGES
    assert {row["status"] for row in clean} == {"ok"}
    assert {row["n_site_pages"] for row in clean} == {N_PAGES}, "decided by site"
    assert len(rows("unique")) == N_SITES * (N_PAGES - 1)
    lines = [line for path in (folder / "corpus").glob("*.jsonl.zst") for line in lines_of(path)]
    assert len(lines) == N_SITES // 2 * (N_PAGES - 1), "the English sites, each text once"
    assert all(line["text"] for line in lines)
    assert len(rows("czech/pages")) == N_SITES // 2 * N_PAGES
    assert {row["cleaner"] for row in rows("wet/pages")} == {"none"}
    assert len(rows("wet/pages")) == N_SITES * N_PAGES
    read = subprocess.run(
        [python, "-c", READ], env={**os.environ, **variables}, capture_output=True, text=True, check=True
    )
    assert int(read.stdout) == N_SITES * (N_PAGES - 1)


def lines_of(path: Path) -> list[dict[str, Any]]:
    with pa.CompressedInputStream(pa.OSFile(str(path)), "zstd") as stream:
        return [json.loads(line) for line in stream.read().splitlines()]


def test_over_http_to_a_disk(crawl: Path, python: Path, tmp_path: Path) -> None:
    variables = catalog(tmp_path)
    with served(crawl) as web, victor(tmp_path, web, python=python, **variables) as made:
        follow(made, tmp_path, web, web, str(tmp_path))
    check(tmp_path, python, variables, lambda name: disk_rows(tmp_path / name))


def test_from_s3_to_s3(crawl: Path, python: Path, store: Store, tmp_path: Path) -> None:
    """OUT is written and read by hadoop-aws."""
    variables = catalog(tmp_path)
    for bucket in ("commoncrawl", "mine"):
        store.client.create_bucket(Bucket=bucket)
    for path in crawl.rglob("*.*"):
        if path.is_file():
            store.client.upload_file(str(path), "commoncrawl", str(path.relative_to(crawl)))
    flags, url = s3a_flags(store), store.server.url
    with served(crawl) as web, victor(tmp_path, url, *flags, python=python, **variables) as made:
        require_jars(made)
        follow(made, tmp_path, web, "s3://commoncrawl", "s3a://mine/out")
    check(tmp_path, python, variables, lambda name: store.rows(f"s3://mine/out/{name}"))
