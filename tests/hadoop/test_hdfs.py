"""Runs on HDFS: the rows are those of a disk, also after a kill; otherwise the command ends with one line."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster.runs import Job, Outcome, of_kind, strike
from tests.hadoop.conftest import Victor
from tests.hadoop.servers import N_DATANODES, Hdfs
from tests.loopback import free_ports
from tests.spark.crawl import rows
from victor_spark.errors import EXIT_INCOMPLETE, EXIT_USAGE

pytestmark = [pytest.mark.hdfs, pytest.mark.timeout(900)]

FULL = 1 << 60
"""More bytes to leave free than a disk has."""


def outcomes(output: Path) -> list[Outcome]:
    """The file, offset, status and text of each row of an output."""
    return [
        (Path(row["warc_filename"]).name, row["warc_record_offset"], row["status"], row["text"])
        for row in rows(output)
    ]


def test_from_hdfs_to_hdfs_the_rows_are_those_of_a_disk(
    victor: Victor, hdfs: Hdfs, expected: list[Outcome], tmp_path: Path
) -> None:
    """A folder by hdfs:// without a host (core-site.xml names it); the same command again; its state."""
    command = ("clean", "hdfs:///crawl/", "--output", f"{hdfs.url}/out", "--wave-bytes", "20000")
    code, lines = victor(*command)
    assert code == 0, lines
    assert outcomes(hdfs.fetched("/out", tmp_path / "out")) == expected
    assert not (tmp_path / "out" / "_run" / "staged").exists()
    code, lines = victor(*command)
    assert code == 0
    assert any("already done" in line for line in lines)
    assert victor("status", f"{hdfs.url}/out") == (0, [])


def test_by_site_reads_what_it_wrote_and_webhdfs_is_an_input(
    victor: Victor, hdfs: Hdfs, expected: list[Outcome], tmp_path: Path
) -> None:
    """Executors read the scored pages, which Spark wrote to HDFS, between the passes and in the second."""
    pattern = f"{hdfs.web}/crawl/*.warc.gz"
    code, lines = victor("clean", pattern, "--by-site", "--output", f"{hdfs.url}/sites")
    assert code == 0, lines
    found = outcomes(hdfs.fetched("/sites", tmp_path / "sites"))
    assert [outcome[:3] for outcome in found] == [outcome[:3] for outcome in expected]
    assert victor("dedup", f"{hdfs.url}/sites", "--output", f"{hdfs.url}/unique")[0] == 0


def test_a_shard_that_changed_is_not_the_same_shard(victor: Victor, hdfs: Hdfs, crawl: Path) -> None:
    content = (crawl / "shard-0.warc.gz").read_bytes()
    hdfs.file_system().pipe_file("/changing.warc.gz", content)
    for root in (hdfs.url, hdfs.web):
        command = ("clean", f"{root}/changing.warc.gz", "--output", f"{hdfs.url}/{root[:4]}-changed")
        assert victor(*command)[0] == 0
        hdfs.file_system().pipe_file("/changing.warc.gz", content)  # as long as before, but later
        code, lines = victor(*command)
        assert code == 2
        assert "changing.warc.gz changed since" in lines[-1]


def failure(result: tuple[int, list[str]], expected: int = EXIT_USAGE) -> str:
    """The one line of a command that fails."""
    code, lines = result
    assert code == expected, lines
    assert lines[-1].startswith("error: ")
    assert not any("error: " in line for line in lines[:-1])
    return lines[-1]


def test_what_hdfs_refuses_is_one_line(victor: Victor, hdfs: Hdfs) -> None:
    """Without permission to read or write, in safe mode, and without a NameNode."""
    hdfs.ask("MKDIRS", "/closed", permission="700")
    hdfs.file_system().pipe_file("/closed/shard.warc.gz", b"")
    out = f"{hdfs.url}/refused"
    for root in (hdfs.url, hdfs.web):
        assert "ermission denied" in failure(victor("clean", f"{root}/closed/shard.warc.gz", "--output", out))
        missing = failure(victor("clean", f"{root}/crawl/none.warc.gz", "--output", out))
        assert "none.warc.gz: no such file" in missing
    assert "ermission denied" in failure(victor("clean", "hdfs:///crawl/", "--output", "hdfs:///closed/out"))
    hdfs.run("hdfs.tools.DFSAdmin", "-safemode", "enter")
    try:
        assert "in safe mode" in failure(victor("clean", "hdfs:///crawl/", "--output", out))
    finally:
        hdfs.run("hdfs.tools.DFSAdmin", "-safemode", "leave")
    nobody = f"hdfs://127.0.0.1:{free_ports(1)[0]}"
    assert "onnection refused" in failure(victor("clean", f"{nobody}/crawl/", "--output", out))
    assert "onnection refused" in failure(victor("clean", "hdfs:///crawl/", "--output", f"{nobody}/out"))
    assert not hdfs.exists("/refused")


def test_a_full_directory_and_with_room_the_same_command_ends_well(
    victor: Victor, hdfs: Hdfs, expected: list[Outcome], tmp_path: Path
) -> None:
    """A quota of space: HDFS counts each open file as a whole block of each replica."""
    hdfs.ask("MKDIRS", "/small", permission="777")
    hdfs.ask("SETQUOTA", "/small", storagespacequota=3 << 20)
    command = ("clean", "hdfs:///crawl/", "--output", "hdfs:///small/out", "--wave-bytes", "20000")
    line = failure(victor(*command), EXIT_INCOMPLETE)
    assert "/small/out: " in line
    assert "quota" in line
    assert "the same command resumes" in line
    hdfs.ask("SETQUOTA", "/small", storagespacequota=1 << 30)
    code, lines = victor(*command)
    assert code == 0, lines
    assert outcomes(hdfs.fetched("/small/out", tmp_path / "out")) == expected


@pytest.fixture
def on_hdfs(job: Callable[..., Job], hdfs: Hdfs, variables: dict[str, str]) -> Callable[[str], Job]:
    """Makes jobs on a standalone cluster, from HDFS to a folder of HDFS."""

    def made(output: str) -> Job:
        options = ["--wave-bytes", "20000"]
        inputs, output = ["hdfs:///crawl/*.warc.gz"], f"{hdfs.url}/{output}"
        return job(inputs=inputs, output=output, options=options, held=True, variables=variables)

    return made


def test_an_executor_and_a_datanode_killed_at_work_cost_no_row(
    on_hdfs: Callable[[str], Job], hdfs: Hdfs, expected: list[Outcome], tmp_path: Path
) -> None:
    """A DataNode is killed while shards are read from it, and started again later."""
    run = on_hdfs("struck").start()
    busy = run.busy(2)
    strike(hdfs.daemons["datanode-0"].process.pid)
    strike(of_kind(busy[0], "executor"))
    run.go()
    run.finish()
    hdfs.start_datanodes(0)
    assert outcomes(hdfs.fetched("/struck", tmp_path / "rows")) == expected


def test_a_driver_killed_at_work_leaves_a_lease_that_ends(
    on_hdfs: Callable[[str], Job], hdfs: Hdfs, expected: list[Outcome], tmp_path: Path
) -> None:
    """The same command waits for a minute, sees that the lease is not renewed, and resumes."""
    made = on_hdfs("resumed")
    first = made.start()
    first.busy(2)
    first.go()
    while first.process.poll() is None and not hdfs.exists("/resumed/_run/ledger/00000.json"):
        time.sleep(0.1)
    first.kill()
    assert hdfs.exists("/resumed/_run/lease.json")
    assert not hdfs.exists("/resumed/_run/run.json")
    last = made.start()
    last.finish()
    assert "victor: resuming 6 shards" in (tmp_path / "driver.log").read_text(errors="replace")
    assert outcomes(hdfs.fetched("/resumed", tmp_path / "rows")) == expected
    assert not hdfs.exists("/resumed/_run/lease.json")
    assert not hdfs.exists("/resumed/_run/staged")


@pytest.mark.parametrize("fault", ["dead", "full"])
def test_without_a_datanode_that_takes_blocks_a_run_ends_with_one_line(
    victor: Victor, hdfs: Hdfs, crawl: Path, expected: list[Outcome], tmp_path: Path, fault: str
) -> None:
    """One full DataNode has no effect; if all are full or dead, the same command resumes later."""
    numbers = range(N_DATANODES)
    try:
        if fault == "full":
            hdfs.start_datanodes(0, reserved=FULL)
            code, lines = victor("clean", crawl, "--output", "hdfs:///one-full")
            assert code == 0, lines
            assert outcomes(hdfs.fetched("/one-full", tmp_path / "one")) == expected
            hdfs.start_datanodes(*numbers, reserved=FULL)
        else:
            for number in numbers:
                strike(hdfs.daemons[f"datanode-{number}"].process.pid)
            hdfs.wait_for_datanodes(0)
        command = ("clean", crawl, "--output", f"hdfs:///{fault}")
        assert "could only be written to 0" in failure(victor(*command), EXIT_INCOMPLETE)
    finally:
        hdfs.start_datanodes(*numbers)
    code, lines = victor(*command)
    assert code == 0, lines
    assert outcomes(hdfs.fetched(f"/{fault}", tmp_path / "rows")) == expected
