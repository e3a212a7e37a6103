"""Benchmarks run on any shards and print the tables that RESULTS.md is made of; small ones here."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.html.hostile import FAMILIES
from tests.spark.crawl import PARAGRAPH, Response, page, write_warc
from victor_spark import kernels

SCRIPTS = ("pipeline", "memory", "sandbox", "spark_job", "stable_abi")


HELP = """
import os, runpy, sys
import numpy, pyarrow
for path in sys.argv[1:]:
    if os.fork():
        os.wait()
    else:
        sys.argv, sys.path[0] = [path, "--help"], os.path.dirname(path)
        runpy.run_path(path, run_name="__main__")
"""
"""Prints the help of each script given, in a process of its own that has the libraries."""


def without_path() -> dict[str, str]:
    """The environment without PYTHONPATH, which tests set and users don't."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def bench(
    root: Path, name: str, *arguments: object, data: Path | None = None
) -> subprocess.CompletedProcess[str]:
    environment = {**without_path(), "PYTHONIOENCODING": "utf-8"}
    if data is not None:
        environment["VICTOR_DATA"] = str(data)
    return subprocess.run(
        [sys.executable, root / "bench" / f"{name}.py", *map(str, arguments)],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_every_benchmark_finds_what_it_imports_from_the_checkout(root: Path) -> None:
    paths = (root / "bench").glob("[!_]*.py")
    scripts = [path for path in paths if "ArgumentParser" in path.read_text(encoding="utf-8")]
    assert len(scripts) > len(SCRIPTS)
    command = [sys.executable, "-c", HELP, *map(str, scripts)]
    shown = subprocess.run(command, env=without_path(), capture_output=True, text=True, check=False)
    assert shown.stdout.count("usage: ") == len(scripts), shown.stderr


@pytest.fixture
def shard(tmp_path: Path) -> Path:
    """Twenty invented pages; the sample crawl's hostile ones would take some peers minutes."""
    pages = [page(f"Ferry {n}", *[PARAGRAPH] * (n + 1)).encode() for n in range(20)]
    responses = [Response(f"http://harbour.example/{n}", body) for n, body in enumerate(pages)]
    return write_warc(tmp_path / "crawl.warc.gz", responses)


def test_the_pipeline_is_timed_beside_peers_and_step_by_step(root: Path, shard: Path) -> None:
    shown = bench(root, "pipeline", "--shards", shard, "--rounds", 1)
    assert shown.returncode == 0, shown.stderr
    rows = dict(re.findall(r"^\| ([\w ,-]+) \| (-?[\d.]+) \|", shown.stdout, re.MULTILINE))
    assert {"victor", "victor-2008", "resiliparse, main content", "read", "segment", "rest"} <= set(rows)
    whole = float(rows.pop("victor as a whole"))
    start = list(rows).index("read")
    assert sum(map(float, list(rows.values())[start:])) == pytest.approx(whole, abs=0.01)


def test_memory_is_reported_after_every_thousand_pages(root: Path, shard: Path) -> None:
    shown = bench(root, "memory", "--shards", shard, "--pages", 2000)
    curve = re.search(r"^[\d ]+$", shown.stdout, re.MULTILINE)
    assert curve is not None
    assert len(curve[0].split()) == 3
    assert shown.returncode == 0, shown.stdout


def test_the_sandbox_is_timed_beside_the_same_work_without_it(root: Path, shard: Path) -> None:
    shown = bench(root, "sandbox", "--shards", shard, "--rounds", 2)
    assert "20 pages, 2 rounds" in shown.stdout, shown.stderr
    ratios = re.findall(r"^\| [\d.]+ \| [\d.]+ \| ([\d.]+) \|$", shown.stdout, re.MULTILINE)
    assert len(ratios) == 2
    assert all(float(ratio) > 0 for ratio in ratios)  # so short a run says nothing more


def test_kernels_are_timed_beside_others_in_processes_that_take_turns(root: Path, shard: Path) -> None:
    if kernels.uncompiled():
        pytest.skip("kernels are not compiled")
    shown = bench(root, "stable_abi", "--shards", shard, "--rounds", 2, "--control")
    assert "20 pages, 2 rounds" in shown.stdout, shown.stderr
    row = r"^\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) – ([\d.]+) \|$"
    (found,) = re.findall(row, shown.stdout, re.MULTILINE)
    *_, ratio, low, high = map(float, found)
    assert 0 < low <= ratio <= high


def test_hostile_pages_are_timed_at_n_and_twice_n(root: Path) -> None:
    shown = bench(root, "hostile", "--units", 20, "--rounds", 1)
    rows = re.findall(
        r"^\| .* \| [\d.]+ \| [\d.]+ \| [\d.]+ \| [\d.]+ \| [\d.]+ \|$", shown.stdout, re.MULTILINE
    )
    assert len(rows) == len(FAMILIES), shown.stderr


@pytest.mark.parametrize("name", SCRIPTS)
def test_without_pages_a_benchmark_is_skipped_in_one_line(root: Path, tmp_path: Path, name: str) -> None:
    shown = bench(root, name, data=tmp_path / "nothing")
    assert (shown.returncode, shown.stdout) == (0, "")
    assert shown.stderr.startswith("skipped: no annotated pages")
    assert shown.stderr.count("\n") == 1


def test_a_renewed_part_of_the_results_leaves_the_others(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(root / "bench"))
    import _results

    path = tmp_path / "RESULTS.md"
    path.write_text(_results.written("# Head", {"a.py": "one\n\n## two", "b.py": "three"}), encoding="utf-8")
    _results.replace("b.py", "four", path)
    _results.replace("c.py", "five", path)
    assert _results.parts(path) == {"a.py": "one\n\n## two\n", "b.py": "four\n", "c.py": "five\n"}
    assert path.read_text(encoding="utf-8").startswith("# Head\n\n`python bench/a.py` prints:\n\none")
