"""Types of option values for argparse. Each raises an error that says which values are allowed."""

import argparse
import re
from typing import Final

MAX_SECONDS: Final = 1e6
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?", re.IGNORECASE)
_UNITS: Final = ("", "K", "M", "G", "T")


def probability(text: str) -> float:
    """A number from 0 to 1."""
    return _between(text, 1.0, "a number between 0 and 1")


def seconds(text: str) -> float:
    """A number of seconds from 0 to 1e6."""
    return _between(text, MAX_SECONDS, "a number of seconds between 0 and 1e6")


def _between(text: str, most: float, allowed: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not {allowed}")
    return value


def positive(text: str) -> int:
    """A whole number of 1 or more."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return value


def n_bytes(text: str) -> int:
    """Bytes: a number, with K, M, G or T for powers of 1024 (10M, 512K, 1.5GB, 2 GiB)."""
    match = _SIZE.fullmatch(text.strip())
    value = int(float(match[1]) * 1024 ** _UNITS.index(match[2].upper())) if match else 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 512K, 10M or 1G")
    return value


def megabytes(text: str) -> int:
    """Megabytes, rounded up: a size with a unit, or a bare number of megabytes."""
    return positive(text) if text.isdecimal() else -(-n_bytes(text) >> 20)


def numbers(text: str) -> tuple[int, ...]:
    """Whole numbers separated by commas."""
    try:
        return tuple(int(number) for number in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers such as 200,203") from None


def words(text: str) -> tuple[str, ...]:
    """Lower-case words separated by commas."""
    return tuple(word.strip().lower() for word in text.split(",") if word.strip())
