"""The processor time of a command and of all processes that it starts."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

_SUBREAPER: Final = 36  # PR_SET_CHILD_SUBREAPER (Linux): orphans become children of this process


def cpu_seconds(command: Sequence[object], environment: Mapping[str, str] | None = None) -> float:
    """Runs a command, and returns the CPU seconds of all its processes; its stdout becomes stderr."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    before = os.times()
    environment = {**os.environ, **(environment or {})}
    subprocess.run([*map(str, command)], env=environment, check=True, stdout=sys.stderr)
    with suppress(ChildProcessError):  # Java and its Python workers outlive the command for a moment
        while True:
            os.wait()
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system
