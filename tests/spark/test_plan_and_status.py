"""What `victor plan` predicts is what a run finds; what `victor status` says is what is there."""

import json
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.archive import storage
from tests.spark.crawl import PARAGRAPH, Response, Victor, page, rows, tree, write_warc
from victor_spark.cli import main
from victor_spark.spark import estimate

pytestmark = pytest.mark.spark

N = 400


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a shard of 400 pages and some tiny ones; every tenth page is gone."""
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
    """What cleaning them gives, in several waves."""
    from victor_spark.spark.run import CleanJob, run

    assert spark
    output = tmp_path_factory.mktemp("out") / "out"
    run(CleanJob(inputs=(str(shards),), output=str(output), wave_bytes=100 << 10, split_bytes=50 << 10))
    return output


def predicted(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, object]:
    assert main(["plan", *map(str, arguments), "--json"]) == 0
    told: dict[str, object] = json.loads(capsys.readouterr().out)
    return told


def test_of_a_small_crawl_everything_is_cleaned_and_the_prediction_is_the_count(
    shards: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = predicted(capsys, shards, "--cores", 7)
    found = Counter(row["status"] for row in rows(output))
    assert told["n_pages"] == len(rows(output)) == N + 10
    assert told["statuses"] == dict(found)
    assert (told["n_shards"], told["n_cores"], told["error"]) == (6, 7, 0.0)


def test_of_a_larger_one_a_sample_tells_about_as_much(
    shards: Path,
    output: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(estimate, "RANGE_BYTES", 8 << 10)
    monkeypatch.setattr(estimate, "N_RANGES", 12)
    told = predicted(capsys, shards)
    n_rows = len(rows(output))
    sampled = told["sample"]
    assert isinstance(sampled, dict)
    assert sampled["n_pages"] < n_rows / 2
    assert told["n_pages"] == pytest.approx(n_rows, rel=0.35)
    written = sum(size for name, (size, _) in tree(output / "pages").items() if name.endswith(".parquet"))
    assert told["n_output"] == pytest.approx(written, rel=0.75)


def test_a_plan_for_people_is_a_few_lines(shards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(shards), "--cores", "400"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("shards   6 (6 warc), ")
    assert [line.split()[0] for line in lines if line[0] != " "] == [
        *("shards", "sample", "pages", "time", "tasks", "disk", "memory")
    ]
    assert len(lines) < 20


def test_a_path_on_a_list_that_cannot_be_had_is_named(
    shards: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("requests")
    listed = tmp_path / "warc.paths"
    listed.write_text(f"{shards / 'a.warc.gz'}\nhttp://127.0.0.1:9/gone.warc.gz\n")
    assert main(["plan", str(listed)]) == 2
    assert "http://127.0.0.1:9/gone.warc.gz: " in capsys.readouterr().err


def test_an_output_in_a_store_is_looked_at_before_anything_is_spent(
    spark: SparkSession, shards: Path, victor: Victor
) -> None:
    """A bucket that is there is enough; nothing is left in it."""
    assert spark
    with storage.s3() as client:
        client.create_bucket(Bucket="outs")
        client.put_object(Bucket="outs", Key="taken", Body=b"mine")
        client.put_object(Bucket="outs", Key="full/thesis.tex", Body=b"mine")
        before = client.list_objects_v2(Bucket="outs")["KeyCount"]
        for output, said in (
            ("s3://outs/taken", "is a file"),
            ("s3://outs/full", "holds other files (thesis.tex)"),
            ("s3://nobody/out", "no such bucket"),
        ):
            outcome = victor("plan", shards, "--output", output)
            assert (outcome.code, len(outcome.lines)) == (2, 1)
            assert said in outcome.lines[0]
        assert victor("plan", shards, "--output", "s3://outs/fresh").code == 0
        assert client.list_objects_v2(Bucket="outs")["KeyCount"] == before


def test_a_complete_run_has_status_0(output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree(output)
    assert main(["status", str(output), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["complete"]
    assert told["n_rows"] == N + 10
    assert {wave["state"] for wave in told["waves"]} == {"done"}
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
    told = json.loads(capsys.readouterr().out)
    assert not told["complete"]
    assert [wave["state"] for wave in told["waves"][:4]] == ["missing", "failed", "lost", "done"]
    assert told["n_rows"] < N
    assert 0 < told["share_done"] < 1
    assert main(["status", str(partly), "--waves"]) == 4
    shown = capsys.readouterr().out
    assert "wave 1 failed: No space left on device" in shown
    assert "incomplete: the same command goes on from here" in shown


def test_where_no_run_began_status_says_so_in_a_line(tmp_path: Path, victor: Victor) -> None:
    outcome = victor("status", tmp_path)
    assert (outcome.code, len(outcome.lines)) == (2, 1)
    assert "no run began there" in outcome.lines[0]
