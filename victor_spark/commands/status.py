"""Shows the state of a run: which waves are done, missing or failed, pages by status, shards that failed.

OUT is what was given to victor clean --output. Nothing is changed; a running victor clean is not
disturbed. Exit code 0: complete; 4: incomplete, the same victor clean command resumes it (with a larger
failure budget, if more failed than may).
"""

import argparse
import json
from typing import Final

from victor_spark.errors import EXIT_DONE, EXIT_INCOMPLETE

EXAMPLES: Final = """\
examples:
  victor status out                   a few lines
  victor status out --waves           a line for every wave as well
  victor status out --json            everything, for programs
  victor status out && publish out    go on only when it is complete
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("output", metavar="OUT", help="what victor clean was given as --output")
    parser.add_argument("--waves", action="store_true", help="a line for every wave")
    parser.add_argument("--json", action="store_true", help="everything as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    from victor_spark.spark import ledger

    found = ledger.status(arguments.output)
    if arguments.json:
        print(json.dumps(ledger.as_json(found), ensure_ascii=False, indent=2))
    else:
        print("\n".join(ledger.as_lines(found, every_wave=arguments.waves)))
    return EXIT_DONE if found.is_complete else EXIT_INCOMPLETE
