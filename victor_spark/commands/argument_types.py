"""Values of options, as argparse wants them; it names these functions: "invalid probability value: 'x'"."""

import argparse


def probability(text: str) -> float:
    """A number from 0 to 1."""
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def positive(text: str) -> int:
    """A whole number from 1 on."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


def n_bytes(text: str) -> int:
    """A number of bytes, with K, M, G or T behind it for so many times 1024."""
    number, unit = text.rstrip("KMGTkmgt"), text[len(text.rstrip("KMGTkmgt")) :].upper()
    value = int(float(number) * 1024 ** ("KMGT".index(unit) + 1 if unit else 0))
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


def numbers(text: str) -> tuple[int, ...]:
    """Whole numbers between commas."""
    return tuple(int(number) for number in text.split(","))


def words(text: str) -> tuple[str, ...]:
    """Lower-case words between commas."""
    return tuple(word.strip().lower() for word in text.split(",") if word.strip())
