"""Shards are read from S3 as from a disk: with any key and size, and after broken connections."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.between import Between, between
from tests.warc import making, storage
from victor_spark.errors import InputError, ShardError
from victor_spark.warc.inputs import resolve
from victor_spark.warc.reading import read
from victor_spark.warc.shard import Shard
from victor_spark.warc.storage import open_file

SHARD = making.shard(making.responses(30))
ODD_KEYS = ("2024/a b.warc.gz", "2024/čí%20slo+#.warc.gz", "2024/what?[1]*.warc.gz", "2024/a//b.warc.gz")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of an S3 on this machine, with a bucket `crawls`."""
    with storage.s3() as client:
        client.create_bucket(Bucket="crawls")
        client.put_object(Bucket="crawls", Key="one/b.warc.gz", Body=SHARD.content)
        client.put_object(Bucket="crawls", Key="one/deep/c.warc.gz", Body=SHARD.content)
        client.put_object(Bucket="crawls", Key="one/notes.txt", Body=b"not an archive")
        client.put_object(
            Bucket="crawls", Key="one/warc.paths", Body=b"b.warc.gz\ns3a://crawls/one/deep/c.warc.gz\n"
        )
        client.put_object(Bucket="crawls", Key="empty.warc.gz", Body=b"")
        yield client


@pytest.fixture
def go_between(client: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Between]:
    """A proxy through which all requests to S3 pass."""
    with between(os.environ["AWS_ENDPOINT_URL"].removeprefix("http://")) as made:
        monkeypatch.setenv("AWS_ENDPOINT_URL", made.url)
        storage.fresh()
        yield made
    storage.fresh()


def paths(*inputs: str) -> list[str]:
    return [shard.path for shard in resolve(inputs)]


def offsets(path: str) -> list[int]:
    records = list(read(Shard(path, None, "warc")))
    assert [record.status for record in records] == [None] * len(records)
    return [record.warc_record_offset for record in records]


def test_folders_globs_and_lists_stand_for_their_shards(client: Any) -> None:
    both = ["s3://crawls/one/b.warc.gz", "s3://crawls/one/deep/c.warc.gz"]
    assert paths(*both) == both
    assert paths("s3://crawls/one/") == paths("s3://crawls/one") == both
    assert paths("s3a://crawls/one/") == [path.replace("s3:", "s3a:") for path in both]
    assert paths("s3://crawls/*/*.warc.gz") == both[:1]
    assert paths("s3://crawls/one/**/*.warc.gz") == both
    listed = resolve(["s3://crawls/one/warc.paths"])
    assert [shard.path for shard in listed] == [both[0], "s3a://crawls/one/deep/c.warc.gz"]
    for shard in listed:
        assert offsets(shard.path) == SHARD.offsets[:-1]


@pytest.mark.parametrize("key", ODD_KEYS)
def test_a_key_may_hold_any_character(client: Any, key: str) -> None:
    client.put_object(Bucket="crawls", Key=key, Body=SHARD.content)
    try:
        (shard,) = resolve([f"s3://crawls/{key}"])
        assert (shard.path, shard.size) == (f"s3://crawls/{key}", len(SHARD.content))
        assert offsets(shard.path) == SHARD.offsets[:-1]
        assert paths("s3://crawls/2024/") == [shard.path]
    finally:
        client.delete_object(Bucket="crawls", Key=key)


def test_a_big_object_of_several_parts_is_read_by_ranges(client: Any, go_between: Between) -> None:
    big = making.shard([*making.responses(200), making.warc(os.urandom(14 << 20), kind="resource")], "plain")
    upload = client.create_multipart_upload(Bucket="crawls", Key="big.warc")["UploadId"]
    parts = [big.content[start : start + (5 << 20)] for start in range(0, len(big.content), 5 << 20)]
    assert len(parts) == 3
    sent = [
        client.upload_part(Bucket="crawls", Key="big.warc", UploadId=upload, PartNumber=number, Body=part)
        for number, part in enumerate(parts, 1)
    ]
    listed = [{"ETag": part["ETag"], "PartNumber": number} for number, part in enumerate(sent, 1)]
    client.complete_multipart_upload(
        Bucket="crawls", Key="big.warc", UploadId=upload, MultipartUpload={"Parts": listed}
    )
    go_between.fail("SlowDown", 100_000)
    assert offsets("s3://crawls/big.warc") == big.offsets[:-2]
    assert len(go_between.ranges) == 4  # of the block that is no page, none
    go_between.ranges.clear()
    with open_file("s3://crawls/big.warc") as file:
        file.seek(9 << 20)
        assert file.read(100) == big.content[9 << 20 :][:100]
    assert go_between.ranges == [f"{9 << 20}-{(9 << 20) + (256 << 10) - 1}"]


@pytest.mark.parametrize("fault", ["SlowDown", 10])
def test_an_s3_that_fails_for_a_while_costs_nothing(go_between: Between, fault: str | int) -> None:
    go_between.fail(*[fault] * 3)
    assert offsets("s3://crawls/one/b.warc.gz") == SHARD.offsets[:-1]
    assert go_between.answered[fault] == 3


def test_an_s3_that_keeps_failing_is_one_clear_line(go_between: Between) -> None:
    go_between.fail(*[10] * 1000)
    with pytest.raises(ShardError, match=r"^s3://crawls/one/b\.warc\.gz: .*\(4 tries\)$"):
        offsets("s3://crawls/one/b.warc.gz")


def test_an_object_that_changes_while_it_is_read_is_an_error(client: Any) -> None:
    client.put_object(Bucket="crawls", Key="changing", Body=bytes(1 << 20))
    with open_file("s3://crawls/changing") as file:
        assert file.read(10) == bytes(10)
        client.put_object(Bucket="crawls", Key="changing", Body=b"1" * (1 << 20))
        file.seek(1 << 19)
        with pytest.raises(OSError, match="changed while it was read"):
            file.read(10)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("s3://crawls/gone.warc.gz", "no such file"),
        ("s3://crawls/gone/", "no such file"),
        ("s3://crawls/gone/*.warc.gz", "matches no file"),
        ("s3://nowhere/gone.warc.gz", "no such bucket"),
        ("s3://nowhere/*.warc.gz", ""),
        ("s3://crawls/empty.warc.gz", "empty file"),
        ("s3://", ""),
    ],
)
def test_a_missing_file_or_bucket_is_named(client: Any, path: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        resolve([path])
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


def test_refused_access_is_named_and_not_tried_again(go_between: Between) -> None:
    go_between.fail(*["AccessDenied"] * 1000)
    with pytest.raises(ShardError, match=r"^s3://crawls/one/b\.warc\.gz: access denied"):
        offsets("s3://crawls/one/b.warc.gz")
    assert len(go_between.ranges) == 1


def test_missing_credentials_are_named_with_the_variables_to_set(
    client: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    storage.fresh()
    with pytest.raises(InputError, match=r"^s3://crawls/one/b\.warc\.gz: .*set AWS_ACCESS_KEY_ID"):
        resolve(["s3://crawls/one/b.warc.gz"])
    storage.fresh()
