"""`victor plan` predicts the results of a run; `victor status` reports the files that exist."""

import gzip
import json
import random
import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark.crawl import PARAGRAPH, Response, Victor, page, rows, tree, write_warc
from tests.warc import storage
from victor_spark.cli import main
from victor_spark.spark import estimate, plan, status
from victor_spark.warc import remote_files
from victor_spark.warc.shard import Shard

pytestmark = pytest.mark.spark

N = 400


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a shard of 400 pages and some tiny ones; every tenth page has the HTTP status 404."""
    folder, noise = tmp_path_factory.mktemp("shards"), random.Random(3)
    responses = [
        Response(
            f"http://a.example/{n}",
            page(f"Ferry {n}", PARAGRAPH, noise.randbytes(noise.randint(100, 900)).hex()).encode(),
            "404 Not Found" if n % 10 == 0 else "200 OK",
        )
        for n in range(N)
    ]
    write_warc(folder / "a.warc.gz", responses)
    for n in range(5):
        write_warc(folder / f"b{n}.warc.gz", responses[n : n + 2])
    return folder


@pytest.fixture(scope="module")
def output(spark: SparkSession, shards: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of cleaning the shards in several waves."""
    from victor_spark.request import CleanRequest, SparkOptions
    from victor_spark.spark.run import run

    assert spark
    output = tmp_path_factory.mktemp("out") / "out"
    sizes = SparkOptions(wave_bytes=100 << 10, split_bytes=50 << 10)
    run(CleanRequest(inputs=(str(shards),), output=str(output), spark=sizes))
    return output


def predicted(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    assert main(["plan", *map(str, arguments), "--json"]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def test_of_a_small_crawl_everything_is_cleaned_and_the_prediction_is_the_count(
    shards: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = predicted(capsys, shards, "--cores", 7)
    found = Counter(row["status"] for row in rows(output))
    assert report["n_pages"] == len(rows(output)) == N + 10
    assert report["statuses"] == dict(found)
    assert (report["n_shards"], report["n_cores"], report["error"]) == (6, 7, 0.0)


def test_of_a_larger_one_a_sample_tells_about_as_much(
    shards: Path,
    output: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(estimate, "RANGE_BYTES", 8 << 10)
    monkeypatch.setattr(estimate, "N_RANGES", 12)
    report = predicted(capsys, shards)
    n_rows = len(rows(output))
    sampled = report["sample"]
    assert isinstance(sampled, dict)
    assert sampled["n_pages"] < n_rows / 2
    assert report["n_pages"] == pytest.approx(n_rows, rel=0.35)
    written = sum(size for name, (size, _) in tree(output / "pages").items() if name.endswith(".parquet"))
    assert report["n_output"] == pytest.approx(written, rel=0.75)


def test_the_total_of_one_small_page_is_its_size_on_a_system_without_processor_affinity(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As macOS is; to cut the shards, opening a file counts as some bytes more."""
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    small = tmp_path / "page.html"
    small.write_text("<p>A page.")
    report = predicted(capsys, small)
    assert report["n_bytes"] == report["largest"] == report["sample"]["n_bytes"] == small.stat().st_size
    assert report["n_cores"] >= 1


def test_a_plan_for_people_is_a_few_lines(shards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(shards), "--cores", "400"]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert "cleaning a sample, ranges: " in printed.err
    assert lines[0].startswith("shards   6 (6 warc), ")
    assert lines[1].endswith(" s: all available")
    assert [line.split()[0] for line in lines if line[0] != " "] == [
        *("shards", "sample", "pages", "time", "tasks", "disk", "memory")
    ]
    assert len(lines) < 20


def test_a_plan_by_site_has_the_room_between_the_passes(
    shards: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", str(shards), "--by-site"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(
        re.fullmatch(r" +\S+ .?B between the passes; \S+ .?B shuffled between the tasks", line)
        for line in lines
    )


def test_of_an_archive_that_cannot_be_divided_the_sample_is_all_of_it_once(tmp_path: Path) -> None:
    name = str(tmp_path / "a.warc.gz")
    write_warc(tmp_path / "b.warc.gz", [Response("http://a.example/", page("Ferry").encode())])
    Path(name).write_bytes(gzip.compress(gzip.decompress((tmp_path / "b.warc.gz").read_bytes()) * 3))
    size = Path(name).stat().st_size
    first, second = (Shard(name, size, "warc", start=start, end=size) for start in (size // 3, size // 2))
    divisible: dict[str, bool] = {}
    assert estimate._readable(first, divisible) == Shard(name, size, "warc")
    assert estimate._readable(second, divisible) is None
    gone = replace(first, path=str(tmp_path / "gone.warc.gz"), name="gone")
    assert estimate._readable(gone, divisible) == gone


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries follow each other at once."""
    monkeypatch.setattr(remote_files, "FIRST_WAIT", 0.002)


def test_a_path_on_a_list_that_cannot_be_had_is_named(
    shards: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], no_pauses: None
) -> None:
    pytest.importorskip("requests")
    listed = tmp_path / "warc.paths"
    listed.write_text(f"{shards / 'a.warc.gz'}\nhttp://127.0.0.1:9/gone.warc.gz\n")
    assert main(["plan", str(listed)]) == 0, "one may fail"
    assert "http://127.0.0.1:9/gone.warc.gz: " in capsys.readouterr().err
    assert main(["plan", str(listed), "--max-failed-shards", "0"]) == 3
    assert "1 of 2 shards could not be read, such as: " in capsys.readouterr().err


def test_shards_that_cannot_be_had_or_have_no_size_leave_the_sample_to_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], no_pauses: None
) -> None:
    pytest.importorskip("requests")
    good = write_warc(tmp_path / "a.warc.gz", [Response("http://a.example/", page("A", PARAGRAPH).encode())])
    gone = [f"http://127.0.0.1:9/{n}.warc.gz" for n in range(4)]
    listed = tmp_path / "warc.paths"
    listed.write_text("\n".join([*gone[:2], str(good), *gone[2:]]))
    report = predicted(capsys, listed, "--max-failed-shards", 4)
    assert (report["n_shards"], report["n_unavailable"], report["n_splits"]) == (5, 4, 1)
    assert report["n_bytes"] == predicted(capsys, good)["n_bytes"] < 1 << 20
    assert (report["n_pages"], report["error"], report["statuses"]) == (1, 0.0, {"ok": 1})
    assert main(["plan", str(listed), "--max-failed-shards", "4"]) == 0
    printed = capsys.readouterr()
    assert "sample   1 range, " in printed.out
    assert "\ntasks    1 split in 1 wave\n" in printed.out

    unknown = [Shard(path, None, "warc") for path in gone]
    known = Shard(str(good), good.stat().st_size, "warc")
    planned = plan.plan(plan.of_shards([*unknown, known]), n_cores=1)
    assert [[shard.path for shard in some] for some in estimate.ranges(planned)] == [[str(good)]]


def test_where_no_page_could_be_read_nothing_is_estimated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "a.warc.gz"
    broken.write_bytes(b"no archive at all" * 100)
    assert main(["plan", str(broken), "--max-failed-shards", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "sample   no page could be read, so there is no estimate"
    assert lines[3].strip().startswith("1 shard couldn't be read to the end, such as ")
    assert len(lines) == 4
    report = predicted(capsys, broken, "--max-failed-shards", 1)
    assert (report["n_pages"], report["hours"], report["n_output"]) == (None, None, None)
    assert list(estimate.ranges(plan.plan(plan.of_shards([Shard("x", None, "warc")]), n_cores=1))) == []


def test_shards_that_cannot_be_read_are_told_with_the_reason_and_pages_add_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reason of a page that was only moved is not shown as that of a failed shard."""
    moved = [
        Response(f"http://a.example/{n}", page(f"A {n}", PARAGRAPH).encode(), "301 Moved" if n else "200 OK")
        for n in range(6)
    ]
    write_warc(tmp_path / "a.warc.gz", moved)
    for name in "bc":
        (tmp_path / f"{name}.warc.gz").write_bytes(b"no archive at all" * 100)
    assert main(["plan", str(tmp_path)]) == 3
    printed = capsys.readouterr()
    assert "by the sample, victor clean would stop: 2 of 3 shards could not be read" in printed.err
    lines = printed.out.splitlines()
    assert f"2 shards couldn't be read to the end, such as {tmp_path / 'b.warc.gz'}: " in lines[3]
    assert lines[4:6] == ["pages    6", "         http_status 83.3%, ok 16.7%"]
    report = predicted(capsys, tmp_path, "--max-failed-shards", 2)
    assert report["statuses"] == {"http_status": 5, "ok": 1}
    assert set(report["sample"]["failed_shards"]) == {str(tmp_path / f"{name}.warc.gz") for name in "bc"}


def test_a_plan_ends_as_the_run_that_it_plans(tmp_path: Path, victor: Victor) -> None:
    broken = write_warc(
        tmp_path / "a.warc.gz",
        [Response(f"http://a.example/{n}", page(f"A {n}", PARAGRAPH).encode()) for n in range(4)],
    )
    content = broken.read_bytes()
    (tmp_path / "b.warc.gz").write_bytes(b"no archive at all" * 100)
    (tmp_path / "c.warc.gz").write_bytes(content)
    for n, budget in enumerate(("0", "1", "40%")):
        words = [tmp_path, "--max-failed-shards", budget]
        ends = {victor("plan", *words).code, victor("clean", *words, "--output", f"{tmp_path}/out{n}").code}
        assert ends == {0 if budget != "0" else 3}


def test_the_time_of_a_run_includes_its_start(shards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = predicted(capsys, shards, "--cores", 1000)
    assert report["hours"] * 3600 > report["start_seconds"] >= estimate.START_SECONDS


def test_an_output_in_a_store_is_looked_at_before_anything_is_spent(
    spark: SparkSession, shards: Path, victor: Victor
) -> None:
    """An existing bucket is sufficient; no object is left in it."""
    assert spark
    with storage.s3() as client:
        client.create_bucket(Bucket="outs")
        client.put_object(Bucket="outs", Key="taken", Body=b"mine")
        client.put_object(Bucket="outs", Key="full/thesis.tex", Body=b"mine")
        before = client.list_objects_v2(Bucket="outs")["KeyCount"]
        for output, message in (
            ("s3://outs/taken", "is a file"),
            ("s3://outs/full", "holds other files (thesis.tex)"),
            ("s3://nobody/out", "no such bucket"),
        ):
            outcome = victor("plan", shards, "--output", output)
            assert (outcome.code, len(outcome.lines)) == (2, 1)
            assert message in outcome.lines[0]
        assert victor("plan", shards, "--output", "s3://outs/fresh").code == 0
        assert client.list_objects_v2(Bucket="outs")["KeyCount"] == before


def test_a_complete_run_has_status_0(output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree(output)
    assert main(["status", str(output), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["complete"]
    assert report["n_rows"] == N + 10
    assert {wave["state"] for wave in report["waves"]} == {"done"}
    assert main(["status", str(output)]) == 0
    assert "complete" in capsys.readouterr().out
    assert tree(output) == before


def test_what_is_missing_lost_or_failed_is_told(
    output: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    partly = Path(shutil.copytree(output, tmp_path / "out"))
    (partly / "_run" / "run.json").unlink()
    (partly / "_run" / "ledger" / "00000.json").unlink()
    (partly / "_run" / "ledger" / "00001.json").unlink()
    (partly / "_run" / "failures").mkdir()
    (partly / "_run" / "failures" / "00001.json").write_text(
        '{"wave": 1, "reason": "No space left on device"}'
    )
    next((partly / "pages").glob("wave-00002-*")).unlink()
    assert main(["status", str(partly), "--json"]) == 4
    report = json.loads(capsys.readouterr().out)
    assert not report["complete"]
    assert [wave["state"] for wave in report["waves"][:4]] == ["missing", "failed", "lost", "done"]
    assert report["n_rows"] < N
    assert 0 < report["share_done"] < 1
    assert main(["status", str(partly)]) == 4
    shown = capsys.readouterr().out
    assert "wave 1 failed: No space left on device" in shown
    assert "incomplete: the same command resumes it" in shown


@pytest.mark.parametrize("is_complete", [True, False])
def test_counts_of_pages_add_up_and_failed_shards_are_told_apart(is_complete: bool) -> None:
    failed = {f"{n}.warc.gz": f"{n}.warc.gz: gone" for n in range(11)}
    found = {"output": "out", "complete": is_complete, "stopped": None, "share_done": 1.0, "n_shards": 40}
    found |= {"n_rows": 30, "n_pages": 19, "statuses": {"ok": 18, "error": 12}, "failed_shards": failed}
    shown = list(status.as_lines({**found, "waves": []}))
    assert "  pages   19: ok 18, error 1" in shown
    so_far = "" if is_complete else " (so far)"
    assert f"  shards  40, 11 of them couldn't be read to the end{so_far}" in shown
    assert shown[-2:] == ["    4.warc.gz: gone", "    and 6 more (--json has them all)"]


def test_where_no_run_began_status_says_so_in_a_line(tmp_path: Path, victor: Victor) -> None:
    outcome = victor("status", tmp_path)
    assert (outcome.code, len(outcome.lines)) == (2, 1)
    assert "holds no run of victor clean" in outcome.lines[0]
