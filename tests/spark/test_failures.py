"""Errors that end a job are one line: which store or disk, what is wrong, what to do; and the exit code."""

import errno
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.crawl import PARAGRAPH, Response, Victor, page, rows, tree, write_warc
from victor_spark.errors import EXIT_INCOMPLETE, EXIT_USAGE, ConfigurationError, OutputError, SpaceError
from victor_spark.spark.failures import disk_errors
from victor_spark.spark.files import output_errors


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
        OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)),
        OSError(errno.EFBIG, os.strerror(errno.EFBIG)),  # beyond `ulimit -f`
        RuntimeError("Job aborted.\nCaused by: java.io.IOException: No space left on device\n\tat a.b"),
        RuntimeError("DSQuotaExceededException: The DiskSpace quota of /small is exceeded: quota = 3 B"),
        RuntimeError("File /out could only be written to 0 of the 1 minReplication nodes."),
    ],
)
def test_a_full_disk_is_a_run_that_is_not_complete(tmp_path: Path, error: Exception) -> None:
    """Of the output, or of the shuffle: the command need not change."""
    with pytest.raises(SpaceError) as raised, disk_errors(f"file://{tmp_path}"):
        raise error
    assert raised.value.exit_code == EXIT_INCOMPLETE
    assert re.fullmatch(
        rf"{tmp_path}: a disk is full \(.+\); make room, and the same command resumes", str(raised.value)
    )


def test_a_disk_that_is_full_when_the_ledger_is_written_is_such_a_run_too(tmp_path: Path) -> None:
    expected = pytest.raises(SpaceError, match="can't write there: No space left on device")
    with expected as raised, output_errors(str(tmp_path)):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert raised.value.exit_code == EXIT_INCOMPLETE


@pytest.mark.spark
def test_a_damaged_file_of_pages_is_named_and_can_be_made_again(
    spark: SparkSession, crawl: Path, tmp_path: Path, victor: Victor
) -> None:
    """Its size is right, so that only who reads it finds the damage: Spark, in its footer or in a column."""
    assert spark
    out = tmp_path / "out"
    assert victor("clean", crawl, "--output", out).code == 0
    damaged, expected = max((out / "pages").glob("*.parquet")), rows(out)
    content = damaged.read_bytes()
    n = len(content)
    for start, end in ((n - n // 4, n - 8), (4, n // 2)):
        damaged.write_bytes(content[:start] + b"\xff" * (end - start) + content[end:])
        for command in (["dedup", out], ["export", out, tmp_path / "lines", "--to", "jsonl"]):
            outcome = victor(*command)
            assert outcome.code == EXIT_USAGE
            assert outcome.lines[-1].startswith(f"victor: error: {damaged}: can't be read; a damaged file")
            assert not (tmp_path / "lines").exists()
    damaged.unlink()
    assert victor("clean", crawl, "--output", out).code == 0
    assert rows(out) == expected
    assert victor("dedup", out).code == 0


@pytest.mark.spark
def test_a_disk_that_dedup_or_export_fills_is_one_line_and_leaves_nothing(
    spark: SparkSession, small_disk: Path, tmp_path: Path, victor: Victor
) -> None:
    """The tasks find it full: those of dedup in Java, those of export in Python."""
    assert spark

    def resize(n_bytes: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={n_bytes}", small_disk], check=True)

    source, out = random.Random(0), small_disk / "out"
    texts = [" ".join(source.choices(PARAGRAPH.split(), k=400)) for _ in range(150)]
    pages = [Response(f"http://a.example/{n}", page(f"{n}", text).encode()) for n, text in enumerate(texts)]
    resize(8 << 20)
    assert victor("clean", write_warc(tmp_path / "a.warc.gz", pages), "--output", out).code == 0
    before = tree(small_disk)
    lines = small_disk / "lines"
    commands = {out: ["dedup", out], lines: ["export", out, lines, "--to", "jsonl"]}
    for full, command in commands.items():
        resize(shutil.disk_usage(small_disk).used + (32 << 10))
        outcome = victor(*command)
        line = f"{full}: a disk is full (No space left on device); make room, and repeat the command"
        assert (outcome.code, outcome.lines[-1]) == (EXIT_INCOMPLETE, f"victor: error: {line}")
        assert tree(small_disk).keys() - {"out/_run/.lock"} == before.keys() - {"out/_run/.lock"}
        resize(8 << 20)
    assert [victor(*command).code for command in commands.values()] == [0, 0]


def test_a_disk_that_fails_otherwise_needs_a_change_by_the_user(tmp_path: Path) -> None:
    expected = pytest.raises(OutputError, match=r"^/nowhere: Read-only file system; ")
    with expected as raised, disk_errors("/nowhere"):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))
    assert raised.value.exit_code == EXIT_USAGE


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("S3Exception: null (Service: S3, Status Code: 403, Request ID: 1)", "the store denies access (403)"),
        ("a.warc.gz: the credentials expired (ExpiredToken)", "the credentials expired (ExpiredToken)"),
        ("java.lang.Error: bad length: 400 bytes\n\tat a.B.c(DAGScheduler.scala:403)", None),
    ],
)
def test_only_a_store_that_refuses_is_named_as_one(tmp_path: Path, line: str, message: str | None) -> None:
    expected = pytest.raises(OutputError if message else RuntimeError, match=re.escape(message or line))
    with expected, disk_errors(str(tmp_path)):
        raise RuntimeError(line)


def test_a_container_that_yarn_killed_needs_more_memory(tmp_path: Path) -> None:
    killed = "Container killed by YARN for exceeding physical memory limits. 4.6 GB of 4.5 GB memory used."
    expected = pytest.raises(
        ConfigurationError, match=r"^YARN killed a container \(4\.6 GB of 4\.5 GB memory used\)"
    )
    with expected as raised, disk_errors(str(tmp_path)):
        raise RuntimeError(f"Job aborted.\n{killed} Consider boosting spark.executor.memoryOverhead.")
    assert str(raised.value).endswith("raise spark.executor.memoryOverhead, and the same command resumes")
