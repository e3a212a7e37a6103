"""The Dockerfile without Docker: its instructions are run in root directories of Debian's packages.

Needs root, namespaces (`unshare`) and debootstrap. While the image is made, the network is this machine's.
What runs in the image afterwards has a network of its own, of loopback addresses only.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from string import Template
from typing import Final

from tests.cluster.standalone import Daemon
from tests.conftest import ROOT

FOLDER: Final = Path(sys.prefix) / "image"
_CERTIFICATES: Final = Path("/etc/ssl/certs/ca-certificates.crt")
_OURS: Final = "/etc/this-machine.pem"
_PASSED_ON: Final = re.compile("PIP_(INDEX_URL|EXTRA_INDEX_URL|DEFAULT_TIMEOUT)|(?i:https?|no)_(?i:proxy)")
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_LOOPBACK_UP: Final = (
    "import fcntl, signal, socket, struct; "
    "fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sH14s', b'lo', 1, b''))"  # SIOCSIFFLAGS, IFF_UP
)


class UnavailableError(Exception):
    """No image can be made here; the message gives the reason."""


@dataclass
class Image:
    """A root directory, and the Dockerfile's settings for programs in it."""

    root: Path
    variables: dict[str, str] = field(default_factory=lambda: {"PATH": _PATH})
    user: str = "root"
    folder: str = "/"
    entrypoint: list[str] = field(default_factory=list)

    def command(self, words: Sequence[str], data: Path | None = None, host: str = "image") -> list[str]:
        """The command that runs `words` in the image, in namespaces that end with it; `data` is its /data."""
        root = shlex.quote(str(self.root))
        prepare = [f"mount --rbind /dev {root}/dev", f"mount -t proc proc {root}/proc", f"hostname {host}"]
        if data is not None:
            prepare.append(f"mount --bind {shlex.quote(str(data))} {root}/data")
        inside = f"cd {self.folder} && exec {shlex.join([*self.entrypoint, *words])}"
        chroot = ["chroot", f"--userspec={self._user()}", str(self.root), "/bin/sh", "-c", inside]
        script = " && ".join([*prepare, f"exec {shlex.join(chroot)}"])
        return ["unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", script]

    def _user(self) -> str:
        """User and group as numbers, because chroot looks names up outside."""
        for line in (self.root / "etc/passwd").read_text().splitlines():
            name, _, uid, gid, *_ = line.split(":")
            if name == self.user:
                return f"{uid}:{gid}"
        raise KeyError(self.user)


def built(file: Path) -> Image:
    """The image of the last stage of a Dockerfile; raises UnavailableError where none can be made."""
    stages: dict[str, Image] = {}
    image: Image | None = None
    for instruction, rest in _instructions(file):
        if instruction == "FROM":
            base, _, name = rest.partition(" AS ")
            image = _started(base, name or "last")
            stages[name or "last"] = image
            continue
        assert image is not None, f"{instruction} before FROM"
        if instruction == "RUN":
            _run(image.command(["/bin/sh", "-c", rest]), {**_downloads(), **image.variables})
        elif instruction == "COPY":
            _copy(rest.split(), image, stages)
        elif instruction == "ENV":
            words = Template(rest).substitute(image.variables)
            image.variables |= dict(word.split("=", 1) for word in shlex.split(words))
        elif instruction == "USER":
            image.user = rest
        elif instruction == "WORKDIR":
            image.folder = rest
        elif instruction == "ENTRYPOINT":
            image.entrypoint = json.loads(rest)
        else:
            raise NotImplementedError(instruction)
    assert image is not None, "no FROM"
    return image


def _instructions(file: Path) -> list[tuple[str, str]]:
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    text = "\n".join(lines).replace("\\\n", " ")
    return [(words[0], words[1].strip()) for line in text.splitlines() if (words := line.split(None, 1))]


def _started(base: str, name: str) -> Image:
    """An image like `debian:trixie-slim`; Debian's packages are fetched once for all stages."""
    suite = re.fullmatch(r"debian:(\w+)-slim", base)
    assert suite, f"no way to make {base}"
    plain = FOLDER / suite[1]
    if not (plain / "made").exists():
        shutil.rmtree(plain, ignore_errors=True)
        plain.mkdir(parents=True)
        _bootstrap(suite[1], plain)
        (plain / "made").touch()
    root = FOLDER / name
    shutil.rmtree(root, ignore_errors=True)
    _run(["cp", "--archive", str(plain), str(root)])
    return Image(root)


def _bootstrap(suite: str, root: Path) -> None:
    if os.getuid() != 0:
        raise UnavailableError("only root can make a root directory")
    try:
        if not shutil.which("debootstrap"):
            _run(["apt-get", "update"])
            _run(["apt-get", "install", "--yes", "--no-install-recommends", "debootstrap"])
        _run(["unshare", "--mount", "--uts", "--net", "true"])
        formats = ["--format", "$(REPO_URI)", "Origin: Debian"]
        mirrors = subprocess.run(
            ["apt-get", "indextargets", *formats], capture_output=True, text=True, check=True
        )
        _run(["debootstrap", "--variant=minbase", suite, str(root), mirrors.stdout.split()[0]])
    except (OSError, IndexError, subprocess.CalledProcessError) as error:
        raise UnavailableError(f"no root directory of Debian's packages: {error}") from error
    for file, inside in ((Path("/etc/resolv.conf"), "/etc/resolv.conf"), (_CERTIFICATES, _OURS)):
        if file.exists():
            shutil.copyfile(file, root / inside[1:])


def _copy(words: list[str], image: Image, stages: Mapping[str, Image]) -> None:
    """COPY from another stage, or from the checkout without what .dockerignore names."""
    *options, source, target = words
    if options:
        [stage] = options
        shutil.copytree(
            stages[stage.removeprefix("--from=")].root / source.lstrip("/"), image.root / target[1:]
        )
        return
    if (ROOT / source).is_file():
        shutil.copy(ROOT / source, image.root / target[1:])
        return
    patterns = [line.removeprefix("**/") for line in (ROOT / ".dockerignore").read_text().split()]

    def ignored(folder: str, names: list[str]) -> set[str]:
        return {name for name in names if any(PurePath(name).match(pattern) for pattern in patterns)}

    shutil.copytree(ROOT / source, image.root / target[1:], ignore=ignored, symlinks=True)


def _downloads() -> dict[str, str]:
    """The environment variables of apt and pip: proxies and certificates."""
    found = {name: value for name, value in os.environ.items() if _PASSED_ON.fullmatch(name)}
    if _CERTIFICATES.exists():
        found |= dict.fromkeys(("PIP_CERT", "SSL_CERT_FILE"), _OURS)
    return {**found, "DEBIAN_FRONTEND": "noninteractive"}


def _run(command: Sequence[str], variables: Mapping[str, str] | None = None) -> None:
    """Runs a command; an error holds its output."""
    done = subprocess.run(
        command, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        message = (done.stdout + done.stderr)[-2000:]
        raise subprocess.CalledProcessError(done.returncode, f"{shlex.join(command)}\n{message}")


@dataclass
class Network:
    """A network of its own, with loopback addresses only, in which services find each other by name."""

    holder: Daemon
    folder: Path

    @classmethod
    def made(cls, folder: Path, names: Sequence[str], image: Image) -> "Network":
        """Runs until it is stopped; `names` are hosts."""
        hosts = "".join(f"127.0.0.1 {name}\n" for name in ("localhost", *names))
        (image.root / "etc/hosts").write_text(hosts, encoding="utf-8")
        command = [
            "unshare",
            "--net",
            sys.executable,
            "-c",
            f"{_LOOPBACK_UP}; print('up', flush=True); signal.pause()",
        ]
        holder = Daemon.started(command, folder / "network.log", os.environ)
        holder.wait_for(re.compile("up"))
        return cls(holder, folder)

    def start(self, name: str, command: Sequence[str], variables: Mapping[str, str]) -> Daemon:
        """A program in this network."""
        inside = ["nsenter", f"--net=/proc/{self.holder.process.pid}/ns/net", *command]
        return Daemon.started(inside, self.folder / f"{name}.log", variables)
