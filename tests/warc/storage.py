"""An S3 server of moto on this machine, for the quick tests."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_MAX_ATTEMPTS": "1",  # our own tries are what is tested
}
FOREIGN = ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN")


def fresh() -> None:
    """Forgets the connections that fsspec keeps."""
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()


@contextmanager
def s3() -> Iterator[Any]:
    """A moto server: a boto3 client of it. The environment points there, for us and our child processes."""
    pytest.importorskip("s3fs")
    moto_server = pytest.importorskip("moto.server")
    boto3 = pytest.importorskip("boto3")
    before = dict(os.environ)
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    for name in FOREIGN:
        os.environ.pop(name, None)
    os.environ.update(ENVIRONMENT, AWS_ENDPOINT_URL=f"http://{host}:{port}")
    fresh()
    client = boto3.client("s3")
    try:
        yield client
    finally:
        client.close()
        fresh()
        os.environ.clear()
        os.environ.update(before)
        server.stop()
