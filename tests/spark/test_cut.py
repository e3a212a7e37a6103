"""A shard that ends too early counts as failed, and every command about shards reports it."""

import json
from pathlib import Path

import pytest

from tests.spark.crawl import Victor, rows
from tests.warc import making
from victor_spark.cli import main
from victor_spark.spark import estimate

pytestmark = pytest.mark.spark


def test_a_cut_shard_is_counted_and_shown_and_loses_no_page_before_its_end(
    tmp_path: Path, victor: Victor, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def printed(*arguments: object) -> str:
        capfd.readouterr()
        main([str(argument) for argument in arguments])
        return capfd.readouterr().out

    crawl, out = tmp_path / "crawl", tmp_path / "out"
    crawl.mkdir()
    for name in ("a", "b"):
        packed = making.shard(making.responses(6))
        (crawl / f"{name}.warc.gz").write_bytes(packed.content)
    cut = crawl / "cut.warc.gz"
    cut.write_bytes(making.shard(making.responses(6)).content[:-40])
    reason = f"{cut}: ends too early, at byte {cut.stat().st_size}, within a gzip member"

    monkeypatch.setattr(estimate, "N_RANGES", 1)  # a sample that doesn't reach the end of any shard
    monkeypatch.setattr(estimate, "RANGE_BYTES", 1000)
    monkeypatch.setattr(estimate, "END_BYTES", 1000)
    assert f"1 shard couldn't be read to the end, such as {reason}" in printed("plan", crawl)

    assert victor("clean", crawl, "--output", out).code == 0
    found = [row for row in rows(out) if row["warc_filename"] == str(cut)]
    assert len(found) == 7
    assert [row["content_truncated"] for row in found if row["warc_record_offset"] is not None] == [
        *[None] * 5,
        "unspecified",
    ]
    (failed,) = (row for row in found if row["warc_record_offset"] is None)
    assert (failed["status"], failed["reason"]) == ("error", reason)
    report = json.loads((out / "_run/run.json").read_text())
    assert (report["n_failed_shards"], report["failed_shards"]) == (1, {str(cut): reason})
    assert reason in (out / "_run/report.html").read_text()
    assert reason in printed("status", out)

    outcome = victor("clean", cut, "--output", tmp_path / "alone")
    assert outcome.code == 3
    assert any("1 of 1 shard could not be read" in line and reason in line for line in outcome.lines)
