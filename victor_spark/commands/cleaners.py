"""Lists the cleaners that are installed, one name per line; `a+b` is a cascade of two.

victor (default) and victor-2008 (the features of the paper) are trained CRFs. ncleaner and
ncleaner-non-lexical are character n-gram models. kimatu and line-block are heuristics. template keeps all
text except site templates, and needs --templates. Other names are tools of others. docs/method.md has more.
"""

import argparse
from typing import Final

EXAMPLES: Final = """\
examples:
  victor cleaners
  victor clean page.html --cleaner kimatu
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Takes no options."""


def run(arguments: argparse.Namespace) -> int:  # noqa: ARG001 - takes no options
    """Prints the names."""
    import victor_spark

    for name in victor_spark.cleaners():
        print(name)
    return 0
