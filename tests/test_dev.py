"""The commands of `dev` that need no setup; the setup works if any other test runs."""

import re
import subprocess
from pathlib import Path


def dev(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([root / "dev", *arguments], capture_output=True, text=True, check=False)


def test_help_names_every_command(root: Path) -> None:
    shown = dev(root, "help")
    assert shown.returncode == 0
    for command in (
        "demo",
        "test",
        "test-browser",
        "test-cluster",
        "test-s3",
        "test-spark",
        "test-hdfs",
        "test-yarn",
        "test-kubernetes",
        "test-image",
        "test-adapters",
        "test-checked",
        "test-wheel",
        "wheels",
        "licences",
        "cards",
        "fuzz",
        "check",
        "gate",
        "bench",
        "setup",
    ):
        assert re.search(rf"^  {command}( |$)", shown.stdout, re.MULTILINE), command


def test_an_unknown_command_is_a_usage_error(root: Path) -> None:
    shown = dev(root, "tset")
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr.startswith("usage: ./dev")
