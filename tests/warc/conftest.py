"""Shards on disk, and the records that are read from them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from victor_spark.errors import ShardError
from victor_spark.warc import remote_files
from victor_spark.warc.inputs import resolve
from victor_spark.warc.reading import DEFAULTS, read
from victor_spark.warc.records import Record
from victor_spark.warc.shard import ReadOptions

Reading = Callable[..., list[Record]]


@pytest.fixture
def reading(tmp_path: Path) -> Reading:
    """Writes bytes to a file and reads its records, also where it ends too early (test_cut.py)."""

    def records(content: bytes, name: str = "made.warc.gz", options: ReadOptions = DEFAULTS) -> list[Record]:
        path = tmp_path / name
        path.write_bytes(content)
        found: list[Record] = []
        try:
            found.extend(record for shard in resolve([str(path)]) for record in read(shard, options))
        except ShardError as error:
            if "ends too early" not in str(error):
                raise
        return found

    return records


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits are short: what is proved is that, and how often, a read is tried again."""
    monkeypatch.setattr(remote_files, "N_TRIES", 4)
    monkeypatch.setattr(remote_files, "FIRST_WAIT", 0.002)
