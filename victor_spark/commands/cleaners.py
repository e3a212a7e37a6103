"""Lists the cleaners that can be used here, one name a line; `a+b` makes a cascade of two."""

import argparse
from typing import Final

EXAMPLES: Final = """\
examples:
  victor cleaners
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Takes no options."""


def run(arguments: argparse.Namespace) -> int:  # noqa: ARG001 - takes no options
    """Prints the names."""
    import victor_spark

    for name in victor_spark.cleaners():
        print(name)
    return 0
