"""A store that refuses all requests fails the run at once, not shard by shard."""

import pytest

from tests.between import between
from tests.warc import making, storage
from victor_spark.errors import StoreError
from victor_spark.warc.reading import read
from victor_spark.warc.shard import Shard


@pytest.mark.parametrize("n_before", range(3))
@pytest.mark.parametrize("packing", ["gzip", "plain"])
def test_a_token_that_expires_anywhere_in_a_shard_is_no_damage(
    monkeypatch: pytest.MonkeyPatch, packing: str, n_before: int
) -> None:
    """Neither at its first byte nor within a record, where readers take other errors for damage."""
    content = making.shard(making.responses(3000), packing).content
    assert len(content) > 600_000, "several ranges"
    name = "s3://crawls/a.warc.gz" if packing == "gzip" else "s3://crawls/a.warc"

    with storage.s3() as client:
        client.create_bucket(Bucket="crawls")
        client.put_object(Bucket="crawls", Key=name.removeprefix("s3://crawls/"), Body=content)
        with between(client.meta.endpoint_url.removeprefix("http://")) as made:
            monkeypatch.setenv("AWS_ENDPOINT_URL", made.url)
            storage.fresh()
            made.fail(*[None] * n_before, *["ExpiredToken"] * 1000)
            with pytest.raises(
                StoreError, match=r"^s3://crawls/a.*: the credentials expired \(ExpiredToken\)$"
            ):
                list(read(Shard(name, None, "warc")))
            assert len(made.ranges) == n_before + 1, "asked once"
        storage.fresh()
