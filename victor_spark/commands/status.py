"""Prints the progress of a run: waves that are done, missing or failed, pages by status, failed shards.

OUT is the --output of victor clean. Changes nothing; safe while the run is active. Exit code 0: complete; 4:
incomplete: run the same victor clean command again to resume (with a larger failure budget, if it was
exceeded).
"""

import argparse
import json
from typing import Final

from victor_spark.errors import EXIT_DONE, EXIT_INCOMPLETE

EXAMPLES: Final = """\
examples:
  victor status out                   a few lines
  victor status out --waves           one line per wave as well
  victor status out --json            the same as JSON
  victor status out && publish out    continue only if it is complete
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("output", metavar="OUT", help="the --output of victor clean")
    parser.add_argument("--waves", action="store_true", help="print one line per wave")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    from victor_spark.spark import status

    found = status.status(arguments.output)
    if arguments.json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        print("\n".join(status.as_lines(found, every_wave=arguments.waves)))
    return EXIT_DONE if found["complete"] else EXIT_INCOMPLETE
