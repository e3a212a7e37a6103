"""A page that harms its process gets one row with the reason, and every other page gets its own row."""

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from tests.worker.hostile_work import WORK, row, write
from victor_spark.errors import ShardError, UsageError
from victor_spark.request import Limits
from victor_spark.warc import reading
from victor_spark.warc.records import Record
from victor_spark.warc.shard import Attempt, Place, Shard
from victor_spark.worker import page_process
from victor_spark.worker.page_process import Assignment, Note, Position
from victor_spark.worker.rows import Row
from victor_spark.worker.sandbox import MAX_DEATHS, Death, Sandbox, SandboxError, after_death

LIMITS = Limits(page_seconds=10.0, page_memory=128 << 20)
IMPATIENT = Limits(page_seconds=0.2)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    made = Sandbox(WORK, LIMITS)
    yield made
    made.close()


def cleaned(sandbox: Sandbox, *shards: Shard) -> list[dict[str, Any]]:
    return [row for batch in sandbox.batches(shards) for row in batch.to_pylist()]


def statuses(rows: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    return [(row["status"], row["reason"]) for row in rows]


def places(shard: Shard) -> list[tuple[str, int, str | None]]:
    return [(r.warc_filename, r.warc_record_offset, r.url) for r in reading.read(shard)]


OK = ("ok", None)
NO_MEMORY = ("out_of_memory", "needs more than 128 MiB")


@pytest.mark.parametrize(
    ("deed", "verdict"),
    [
        (b"segfaults", ("crash", "SIGSEGV")),
        (b"aborts", ("crash", "SIGABRT")),
        (b"exits", ("crash", "exit code 3")),
        (b"is killed", ("crash", "SIGKILL")),
        (b"eats memory", NO_MEMORY),
        (b"eats native memory", NO_MEMORY),
        (b"asks for a terabyte", NO_MEMORY),
    ],
)
def test_a_hostile_page_costs_itself_alone(
    sandbox: Sandbox, tmp_path: Path, deed: bytes, verdict: tuple[str, str]
) -> None:
    shard = write(tmp_path / "a.warc.gz", b"is short", b"is long", deed, b"is kind", b"is the last")
    rows = cleaned(sandbox, shard)
    assert statuses(rows) == [OK, OK, verdict, OK, OK]
    assert [(r["warc_filename"], r["warc_record_offset"], r["url"]) for r in rows] == places(shard)


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        (b"loops in C", "over 0.2 s of CPU time"),
        (b"loops in Python", "over 0.2 s of CPU time"),
        (b"sleeps", "over 6 s"),
    ],
)
def test_an_endless_page_is_given_up(tmp_path: Path, deed: bytes, reason: str) -> None:
    """By CPU time, so that machine load causes no timeout; by the clock only after many times as long."""
    shard = write(tmp_path / "a.warc.gz", b"is short", deed, b"is long")
    sandbox = Sandbox(WORK, IMPATIENT)
    rows = cleaned(sandbox, shard)
    sandbox.close()
    assert statuses(rows) == [OK, ("timeout", reason), OK]
    assert [(r["warc_filename"], r["warc_record_offset"], r["url"]) for r in rows] == places(shard)


def test_any_number_of_endless_pages_in_a_row_are_given_up_and_fail_no_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no row between their deaths, but a verdict."""
    monkeypatch.setattr("victor_spark.worker.sandbox.MAX_DEATHS", 2)
    shard = write(tmp_path / "a.warc.gz", *[b"loops in C"] * 3, b"is kind")
    sandbox = Sandbox(WORK, IMPATIENT)
    rows = cleaned(sandbox, shard)
    sandbox.close()
    assert statuses(rows) == [("timeout", "over 0.2 s of CPU time")] * 3 + [OK]


def test_hostile_pages_at_both_ends_beside_each_other_and_in_tiny_shards(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    pages = [
        (b"segfaults", b"exits", b"is kind", b"aborts"),
        (b"aborts",),
        (b"is kind",),
        (b"exits", b"exits"),
    ]
    shards = [write(tmp_path / f"{n}.warc.gz", *texts) for n, texts in enumerate(pages)]
    rows = cleaned(sandbox, *shards)
    names = {b"segfaults": "SIGSEGV", b"aborts": "SIGABRT", b"exits": "exit code 3"}
    verdicts = [("crash", names[text]) if text in names else OK for texts in pages for text in texts]
    assert statuses(rows) == verdicts
    assert [(r["warc_filename"], r["warc_record_offset"], r["url"]) for r in rows] == [
        place for shard in shards for place in places(shard)
    ]


def test_a_page_is_not_blamed_for_what_happened_once(tmp_path: Path) -> None:
    """If the system kills the process, the page is tried again."""
    trace = tmp_path / "killed once"

    def killed_once(record: Record) -> Row:
        if b"is kind" in (record.payload or b"") and not trace.exists():
            trace.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return row(record)

    sandbox = Sandbox(replace(WORK, row=killed_once), LIMITS)
    shard = write(tmp_path / "a.warc.gz", b"is short", b"is kind", b"is long")
    rows = cleaned(sandbox, shard)
    sandbox.close()
    assert trace.exists()
    assert statuses(rows) == [OK, OK, OK]
    assert [r["warc_record_offset"] for r in rows] == [place[1] for place in places(shard)]


def test_deaths_with_rows_between_them_fail_no_task(tmp_path: Path) -> None:
    """Each page kills one process, as when an operator ends it again and again."""

    def killed_once(record: Record) -> Row:
        trace = tmp_path / f"{record.warc_record_offset} killed one"
        if not trace.exists():
            trace.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return row(record)

    sandbox = Sandbox(replace(WORK, row=killed_once), LIMITS)
    shard = write(tmp_path / "a.warc.gz", *[b"is kind"] * (MAX_DEATHS + 2))
    rows = cleaned(sandbox, shard)
    sandbox.close()
    assert statuses(rows) == [OK] * (MAX_DEATHS + 2)
    assert [r["warc_record_offset"] for r in rows] == [place[1] for place in places(shard)]


def test_no_record_is_passed_over_before_the_rows_of_those_before_it_have_arrived(tmp_path: Path) -> None:
    """The next process begins at the record that is passed over."""
    shard = write(tmp_path / "a.warc.gz", b"is short", b"is kind")
    for phase in (page_process.IDLE, page_process.READING, page_process.PAGE):
        note = Note(Position(0, 1), page_process.READING, 1.0, 0, Place(300, 0))
        before = note._replace(phase=phase)
        death = Death(note, "SIGKILL", timed_out=False, starved=False)
        for start in (Position(0, 0), Position(0, 1)):
            todo = after_death(Assignment((shard,), start, suspect=before), death, LIMITS)
            is_passed = phase == page_process.READING and start == note.position
            assert (set(todo.passed), todo.start) == (({0}, Position(0, 0)) if is_passed else (set(), start))


def test_a_death_between_two_pages_counts_against_none(tmp_path: Path) -> None:
    todo = Assignment((write(tmp_path / "a.warc.gz", b"is kind"),), Position(0, 0))
    idle = Note(Position(0, 0), page_process.IDLE, 0.0, 0, None)
    assert after_death(todo, Death(idle, "SIGKILL", timed_out=False, starved=False), LIMITS) == todo


def test_a_shard_error_after_some_records_is_a_row_between_theirs(tmp_path: Path) -> None:
    def clipped(shard: Shard, attempt: Attempt) -> Iterator[Record]:
        yield next(reading.read(shard))
        raise ShardError("no more of it")

    shards = [write(tmp_path / f"{n}.warc.gz", b"is a", b"is b") for n in range(2)]
    sandbox = Sandbox(replace(WORK, read=clipped), LIMITS)
    rows = cleaned(sandbox, *shards)
    sandbox.close()
    assert statuses(rows) == [OK, ("error", "no more of it")] * 2


def test_processes_that_die_without_a_page_to_blame_fail_the_task_after_a_bound(tmp_path: Path) -> None:
    """Nothing but the processes' own deaths moves on here: each is killed at another page."""
    turn = tmp_path / "turn"
    turn.write_text("0")

    def killed_in_turn(record: Record) -> Row:
        n = int(turn.read_text())
        if record.url == f"http://site.example/{19 - n % 20}":
            turn.write_text(str(n + 1))
            os.kill(os.getpid(), signal.SIGKILL)
        return row(record)

    shard = write(tmp_path / "a.warc.gz", *[b"is kind"] * 20)
    sandbox = Sandbox(replace(WORK, row=killed_in_turn), LIMITS)
    with pytest.raises(SandboxError, match=f"{MAX_DEATHS} processes died .* SIGKILL"):
        cleaned(sandbox, shard)
    assert int(turn.read_text()) == MAX_DEATHS


def test_a_fault_of_ours_is_raised_with_its_traceback_and_blames_no_page(tmp_path: Path) -> None:
    def buggy(record: Record) -> Row:
        raise KeyError("our own mistake")

    sandbox = Sandbox(replace(WORK, row=buggy), LIMITS)
    with pytest.raises(SandboxError, match="our own mistake"):
        cleaned(sandbox, write(tmp_path / "a.warc.gz", b"is kind"))


def test_one_process_serves_task_after_task_and_a_task_given_up_leaves_none_behind(tmp_path: Path) -> None:
    def with_pid(record: Record) -> Row:
        return {**row(record), "title": str(os.getpid())}

    shards = [write(tmp_path / f"{n}.warc.gz", *[b"is kind"] * 3) for n in range(2)]
    sandbox = Sandbox(replace(WORK, row=with_pid), LIMITS)
    first = {r["title"] for r in cleaned(sandbox, *shards) + cleaned(sandbox, *shards)}
    given_up = sandbox.batches(shards)
    next(given_up)
    given_up.close()  # type: ignore[attr-defined]
    assert len(first) == 1
    assert not alive(int(first.pop()))
    assert len(cleaned(sandbox, *shards)) == 6
    sandbox.close()


def test_what_a_page_writes_to_stderr_arrives_there(
    sandbox: Sandbox, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cleaned(sandbox, write(tmp_path / "a.warc.gz", b"writes to stderr", b"is kind"))
    assert capsys.readouterr().err == "said by a page\n"


def test_a_page_is_cleaned_though_stderr_takes_no_line(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = Mock(write=Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
    monkeypatch.setattr(sys, "stderr", full)
    assert len(cleaned(sandbox, write(tmp_path / "a.warc.gz", b"writes to stderr", b"is kind"))) == 2
    full.write.assert_called_once_with("said by a page\n")


def test_the_time_a_page_may_take_grows_with_it(tmp_path: Path) -> None:
    assert Limits(page_seconds=2.0).seconds(3_000_000) == pytest.approx(8.0)


@pytest.mark.parametrize(
    "limits", [{"page_seconds": 0.0}, {"page_seconds": float("nan")}, {"page_memory": 1 << 20}]
)
def test_limits_that_no_page_could_keep_are_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"--page-(seconds|memory) must be between"):
        Limits(**limits)


def alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_the_child_dies_with_its_parent(root: Path, tmp_path: Path) -> None:
    """Also while a page keeps it busy, and if the parent is killed."""
    write(tmp_path / "a.warc.gz", b"sleeps")
    program = f"""
import os, sys
from dataclasses import replace
from tests.worker.hostile_work import WORK, row
from victor_spark.warc.inputs import resolve
from victor_spark.request import Limits
from victor_spark.worker.sandbox import Sandbox
def told(record):
    os.write(1, b"%d\\n" % os.getpid())
    return row(record)
list(Sandbox(replace(WORK, row=told), Limits()).batches(resolve([{str(tmp_path / "a.warc.gz")!r}])))
"""
    environment = {**os.environ, "PYTHONPATH": str(root)}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        assert alive(child)
        parent.kill()
    for _ in range(100):
        if not alive(child):
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the child outlived its parent")
