"""From S3 to S3 the rows are those of a run on a disk."""

import datetime as dt
import ipaddress
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.between import Handler
from tests.s3 import seaweed
from tests.s3.conftest import WAVES, Store, Victor, rows_of, victor

pytestmark = [pytest.mark.s3, pytest.mark.timeout(400)]


def test_our_own_reader_and_writer(store: Store, ours: Victor, expected: list[dict[str, Any]]) -> None:
    command = ("clean", "s3://crawls/in/", "--output", "s3://crawls/own", *WAVES)
    ours.run(*command)
    assert store.rows("s3://crawls/own/pages") == expected
    assert not store.names("crawls", "own/_run/staged/")
    assert any("already done" in line for line in ours.run(*command))


# One process serves all tests, and keeps its options.
SPARKS = {
    "spark.sql.sources.commitProtocolClass": (
        "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol"
    ),
    "spark.sql.parquet.output.committer.class": "org.apache.parquet.hadoop.ParquetOutputCommitter",
}
HADOOPS = {
    "spark.sql.sources.commitProtocolClass": "org.apache.spark.internal.io.cloud.PathOutputCommitProtocol",
    "spark.sql.parquet.output.committer.class": (
        "org.apache.spark.internal.io.cloud.BindingParquetOutputCommitter"
    ),
}


@pytest.mark.parametrize("committer", ["file", "magic", "directory"])
def test_hadoops_writer_with_each_of_its_committers(
    store: Store, hadoop: Victor, expected: list[dict[str, Any]], committer: str
) -> None:
    protocol = SPARKS if committer == "file" else HADOOPS
    hadoop.configure({**protocol, "fs.s3a.committer.name": committer})
    n_uploads = 0

    def watch(handler: Handler) -> None:
        nonlocal n_uploads
        begins = handler.command == "POST" and handler.path.endswith(".parquet?uploads")
        n_uploads += begins and "/_temporary/" not in handler.path

    store.between.fault = watch
    output = f"s3a://crawls/{committer}"
    command = ("clean", "s3a://crawls/in/", "--output", output, *WAVES)
    lines = hadoop.run(*command)
    assert store.rows(f"{output}/pages") == expected, lines
    assert not store.names("crawls", f"{committer}/_run/staged/")
    assert (n_uploads > 0) == (committer != "file"), "S3A's committers write no temporary object"
    if committer == "file":
        assert any("already done" in line for line in hadoop.run(*command))


def certified(folder: Path) -> tuple[Path, tuple[Path, Path]]:
    """Our own certificate authority, and its certificate and key for 127.0.0.1."""
    now, day = dt.datetime.now(dt.UTC), dt.timedelta(days=1)
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in ("test CA", "127.0.0.1")]
    paths = []
    for number, (name, key) in enumerate(zip(names, keys, strict=True)):
        made = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(names[0])
            .public_key(key.public_key())
            .serial_number(number + 1)
            .not_valid_before(now - day)
            .not_valid_after(now + day)
            .add_extension(x509.BasicConstraints(ca=number == 0, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(keys[0].public_key()), critical=False
            )
        )
        if number:
            address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
            made = made.add_extension(x509.SubjectAlternativeName([address]), critical=False)
        else:
            usage = dict.fromkeys(
                ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement"), False
            )
            made = made.add_extension(
                x509.KeyUsage(
                    digital_signature=True,
                    key_cert_sign=True,
                    crl_sign=True,
                    encipher_only=False,
                    decipher_only=False,
                    **usage,
                ),
                critical=True,
            )
        path = folder / f"{number}.pem"
        path.write_bytes(made.sign(keys[0], hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        paths.append(path)
    key_path = folder / "key.pem"
    key_path.write_bytes(
        keys[1].private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths[0], (paths[1], key_path)


def test_a_server_with_a_certificate_of_an_own_authority(
    store: Store, expected: list[dict[str, Any]], tmp_path: Path
) -> None:
    """AWS_CA_BUNDLE names the authority; without it, the server is refused in one line.

    The names of folders need not be ASCII, and may be values of a column.
    """
    authority, pair = certified(tmp_path)
    with seaweed.running(tmp_path / "server", pair) as server:
        client = server.client(verify=str(authority))
        client.create_bucket(Bucket="crawls")
        for shard in sorted(store.crawl.iterdir()):
            client.upload_file(str(shard), "crawls", f"in č/{shard.name}")
        with victor(tmp_path, server.url, AWS_CA_BUNDLE=str(authority)) as trusting:
            options = ("--partition-by", "language", *WAVES)
            trusting.run("clean", "s3://crawls/in č/", "--output", "s3://crawls/out", *options)
        czech = rows_of(client, "crawls", "out/pages/language=cs")
        assert [{**row, "language": "cs"} for row in czech] == [
            row for row in expected if row["language"] == "cs"
        ]
        assert 0 < len(czech) < len(rows_of(client, "crawls", "out/pages")) == len(expected)
        with victor(tmp_path, server.url, WITHOUT_SPARK="yes") as wary:
            line = wary.refused("clean", "s3://crawls/in č/", "--output", str(tmp_path / "out"))
        assert "s3://crawls/in č/: " in line
        assert line.endswith("certificate is not trusted; AWS_CA_BUNDLE names a file of authorities")
        assert not (tmp_path / "out").exists()
