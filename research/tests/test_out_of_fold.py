"""A file of results out of fold is read back, or refused with one clear line."""

import gzip
from pathlib import Path

import pytest

from research import out_of_fold
from victor_spark.errors import InputError


@pytest.mark.parametrize(
    "content",
    [b"", b"no gzip", gzip.compress(b'{"set": "news"}\n', mtime=0), gzip.compress(b"[1]\n", mtime=0)],
    ids=["empty", "no gzip", "no labels", "no object"],
)
def test_a_file_that_is_none_is_one_clear_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.gz").write_bytes(content)
    with pytest.raises(InputError, match=r"x\.gz: no results out of fold"):
        out_of_fold.read(tmp_path / "x.gz")
