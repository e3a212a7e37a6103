"""The exceptions of victor-spark, their exit codes, and their messages.

An exception ends the run, before the first page if possible; a `ShardError` costs only its shard. A record
that cannot be cleaned raises nothing: its row has a status (statuses.py).

    VictorError          exit code 2
    ├── UsageError       a ValueError, too
    ├── InputError       a ValueError, too
    │   └── TableError
    ├── OutputError
    │   └── SpaceError   exit code 4
    ├── ModelError
    ├── ConfigurationError
    ├── AnnotationError
    ├── BudgetError      exit code 3
    └── ShardError       exit code 1
"""

import difflib
import re
from argparse import ArgumentTypeError
from collections.abc import Collection, Iterable
from typing import Final

from victor_spark.redaction import redacted_message

EXIT_DONE: Final = 0
EXIT_INTERNAL: Final = 1
EXIT_USAGE: Final = 2
EXIT_BUDGET: Final = 3
EXIT_INCOMPLETE: Final = 4

EXIT_CODES: Final = {
    EXIT_DONE: "done",
    EXIT_INTERNAL: "internal error",
    EXIT_USAGE: "wrong usage or unreadable input",
    EXIT_BUDGET: "failure budget exceeded",
    EXIT_INCOMPLETE: "stopped before the end (run the command again to resume)",
}
"""Exit code → meaning."""

_PACKAGES: Final = {
    "annotate": "markdown_it starlette uvicorn",
    "completion": "shtab",
    "delta": "deltalake",
    "fasttext": "fasttext",
    "fetch": "aiohttp protego yarl",
    "iceberg": "pyiceberg",
    "report": "matplotlib",
    "spark": "packaging pandas py4j pydivsufsort pyspark",
    "train": "catboost pycrfsuite sklearn",
}
EXTRAS: Final = {package: extra for extra, packages in _PACKAGES.items() for package in packages.split()}
"""Optional package → the extra that installs it."""

REFUSALS: Final = {
    "ExpiredToken": "the credentials expired",
    "InvalidAccessKeyId": "the access key does not exist in the store",
    "NoSuchBucket": "no such bucket",
    "RequestTimeTooSkewed": "the clocks of this machine and the store differ by minutes",
    "SignatureDoesNotMatch": "the secret of the credentials is wrong",
    "400": "the store refuses requests; probably the credentials expired",
    "403": "the store denies access",
}
"""Code with which an S3 server refuses all requests → its meaning."""


class StoreError(OSError):
    """A store refuses all requests (`REFUSALS`): the whole run fails, not only the shard."""


class VictorError(Exception):
    """The base of all errors that are raised on purpose; the message is one line without credentials."""

    exit_code: int = EXIT_USAGE

    def __init__(self, message: str) -> None:
        super().__init__(redacted_message(message))


class UsageError(VictorError, ValueError, ArgumentTypeError):
    """The value of an option or argument is invalid; argparse shows the message."""


class InputError(VictorError, ValueError):
    """An input is missing or unreadable, or holds neither an archive nor a page."""


class TableError(InputError):
    """A table that all pages need can't be read: the run fails, not a page."""


class OutputError(VictorError):
    """The output can't be written, or already holds another run's rows."""


class SpaceError(OutputError):
    """A disk is full, or a quota is reached: when there is space, the same command continues."""

    exit_code = EXIT_INCOMPLETE


class ModelError(VictorError):
    """A model is missing, damaged or doesn't fit this version of the code."""


class ConfigurationError(VictorError):
    """A configuration file has an unknown key or a value of the wrong type."""


class AnnotationError(VictorError):
    """A request to the annotation tool or its store can't be served; `code` is for programs."""

    def __init__(self, message: str, code: str = "bad_request") -> None:
        super().__init__(message)
        self.code = code


class BudgetError(VictorError):
    """More shards or pages failed than the run's budget allows."""

    exit_code = EXIT_BUDGET


class ShardError(VictorError):
    """One shard can't be opened or read at all; it counts in the failure budget."""

    exit_code = EXIT_INTERNAL


def described(error: BaseException) -> str:
    """The type of an error and the most informative line of its message, without credentials.

    The message of a Spark error may hold the traceback of a Python worker, or a chain of Java causes.
    """
    lines = [line.strip() for line in redacted_message(str(error)).splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    named = [line for line in lines if re.match(r"[^:]*(?:Error|Exception): ", line)]
    if "Traceback (most recent call last):" in lines and named:
        best = named[0]
    elif causes:
        best = causes[-1]
    elif lines and lines[0].startswith("An error occurred while calling") and lines[1:]:
        best = lines[1].lstrip(": ")
    else:
        best = lines[0] if lines else ""
    return f"{type(error).__name__}: {best}" if best else type(error).__name__


def one_line(error: BaseException) -> str:
    """The message of an exception as a short line without credentials, and without the path of an OSError."""
    if isinstance(error, OSError) and error.strerror:
        return redacted_message(error.strerror)
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    message = redacted_message(first) or type(error).__name__
    return message if len(message) <= 200 else re.sub(r" \S{,40}$", "", message[:199]) + "…"


def suggestion(word: str, known: Iterable[str]) -> str:
    """The end of an error message: the names that are most similar to a mistyped word; "" if none is."""
    spelt = {name.lower().lstrip("-"): name for name in known}
    near = difflib.get_close_matches(word.lower().lstrip("-"), spelt, n=3, cutoff=0.6)
    return f" (did you mean {' or '.join(spelt[name] for name in near)}?)" if near else ""


def choices(word: str, known: Collection[str]) -> str:
    """As `suggestion`; if no name is similar, all of them."""
    return suggestion(word, known) or f" (choose from {', '.join(known)})"
