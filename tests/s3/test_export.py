"""Finished runs exported to the store: lines, a Delta table and an Iceberg table, each once."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.s3.conftest import Store, Victor, victor
from tests.s3.seaweed import KEY, SECRET
from tests.versions.environments import OURS, UnavailableError, made
from tests.versions.test_versions import NEWEST

pytestmark = [pytest.mark.s3, pytest.mark.timeout(400)]


def test_each_format_in_the_store_holds_the_pages_once(
    store: Store, ours: Victor, expected: list[dict[str, Any]], tmp_path: Path
) -> None:
    """The second export of the same run adds nothing."""
    try:
        python = made(NEWEST, OURS, "pyiceberg[sql-sqlite]", "deltalake", "duckdb")
    except UnavailableError as error:
        pytest.skip(str(error))
    store.client.create_bucket(Bucket="lake")
    catalog = {
        "TYPE": "sql",
        "URI": f"sqlite:///{tmp_path}/catalog.db",
        "WAREHOUSE": "s3://lake/iceberg",
        "S3__ENDPOINT": store.server.url,
        "S3__ACCESS_KEY_ID": KEY,
        "S3__SECRET_ACCESS_KEY": SECRET,
        "S3__REGION": "us-east-1",
    }
    variables = {f"PYICEBERG_CATALOG__LAKE__{name}": value for name, value in catalog.items()}
    output = str(store.folder / "expected")
    exports = [
        ("s3://lake/lines", "--to", "jsonl"),
        ("s3://lake/delta", "--to", "delta", "--partition-by", "language"),
        ("lake.web.pages", "--to", "iceberg"),
    ]
    with victor(tmp_path, store.server.url, python=python, AWS_ALLOW_HTTP="true", **variables) as made_:
        for export in exports:
            made_.run("export", output, *export)
            assert any("holds this run already" in line for line in made_.run("export", output, *export))
    texts = sorted(row["text"] for row in expected if row["status"] == "ok")
    assert sorted(line["text"] for line in lines(store)) == texts
    assert "lines/_SUCCESS" in store.names("lake", "lines/")
    assert sorted(row["text"] for row in store.rows("s3://lake/delta")) == texts
    assert len([name for name in store.names("lake", "delta/_delta_log/") if name.endswith(".json")]) == 2
    assert sorted(row["text"] for row in store.rows("s3://lake/iceberg")) == texts


def lines(store: Store) -> list[dict[str, Any]]:
    """The lines of all files of s3://lake/lines."""
    found = []
    for name in store.names("lake", "lines/"):
        if name.endswith(".jsonl.zst"):
            content = store.client.get_object(Bucket="lake", Key=name)["Body"].read()
            with pa.CompressedInputStream(pa.BufferReader(content), "zstd") as stream:
                found += [json.loads(line) for line in stream.read().splitlines()]
    return found
