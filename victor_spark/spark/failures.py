"""Turns the errors of disks and stores that end a job into one line, with what to do about them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from victor_spark.errors import REFUSALS, ConfigurationError, OutputError, SpaceError, VictorError, one_line
from victor_spark.sites.table import KIND as SITES
from victor_spark.spark import ledger
from victor_spark.spark.files import DISK_FULL
from victor_spark.templates.table import KIND as TEMPLATES
from victor_spark.worker.second_pass import UNREADABLE

_UNREADABLE: Final = re.compile(f"(?:{UNREADABLE}|{SITES.unreadable}|{TEMPLATES.unreadable}): [^\\n]*")
_REFUSED: Final = re.compile(
    rf"(?:(?<=[(:])|(?<=[(:] ))(?:{'|'.join(code for code in REFUSALS if code.isalpha())})\b"
    r"|(?<=Status Code: )(?:400|403)\b"
)
_ADDRESS: Final = re.compile(r"\w+://[^\s'\"]+(?=:)")
_KILLED: Final = re.compile(r"killed by YARN for exceeding \w+ memory limits\. ([^\n]{1,99}? used)")


@contextmanager
def disk_errors(location: str, again: str = "the same command resumes") -> Iterator[None]:
    """Turns errors of disks and stores, damaged files, and containers that YARN killed into one line.

    `again`: what the user must do after the cause is removed.
    """
    try:
        yield
    except VictorError:
        raise
    except Exception as error:
        text, out, later = str(error), location.removeprefix("file://"), f"{again} when that is mended"
        if refused := [line for line in text.splitlines() if _REFUSED.search(line)]:
            code = _REFUSED.findall(refused[-1])[0]
            where = (_ADDRESS.findall(refused[-1]) or [location])[0]
            raise OutputError(f"{where}: {REFUSALS[code]} ({code}); {later}") from error
        if found := _UNREADABLE.search(text):
            if found[0].startswith(UNREADABLE):
                later = f"to make them again, remove {ledger.FIRST_PASS} from OUT and repeat `victor clean`"
            raise OutputError(f"{found[0]}; {later}") from error
        if found := _KILLED.search(text):
            advice = f"raise spark.executor.memoryOverhead, and {again}"
            raise ConfigurationError(f"YARN killed a container ({found[1]}): {advice}") from error
        if found := DISK_FULL.search(text):
            raise SpaceError(f"{out}: a disk is full ({found[0]}); make room, and {again}") from error
        if isinstance(error, OSError) and not isinstance(error, ConnectionError):  # which is that to Java
            raise OutputError(f"{out}: {one_line(error)}; {later}") from error
        raise
