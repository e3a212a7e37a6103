"""Lists the languages that can be identified: code, name, and the share of texts identified correctly.

The shares are measured on texts of 20 words. The first counts the exact label; the second counts languages
that letters hardly distinguish (such as Croatian, Bosnian and Serbian) as one. models/langid/CARD.md has the
rest. --lang takes these codes.
"""

import argparse
import json
from typing import Final

from victor_spark import resources
from victor_spark.errors import EXIT_DONE
from victor_spark.langid.labels import NAMES
from victor_spark.langid.profiles import Profiles

SHARES: Final = "languages.json"
"""The file beside the profiles: label → share identified as exactly this label, and as one of its group."""

EXAMPLES: Final = """\
examples:
  victor languages
  victor languages --json
  victor clean 'crawl/*.warc.gz' --output czech --lang cs,sk
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(arguments: argparse.Namespace) -> int:
    """Prints the languages of the shipped profiles."""
    folder = resources.directory("models") / "langid"
    measured = folder / SHARES
    shares = json.loads(measured.read_text(encoding="utf-8")) if measured.is_file() else {}
    if not arguments.json:
        print(f"{'code':<8} {'language':<24} {'exact':>6} {'group':>6}")
    for code in Profiles.load(folder / "profiles.npz").languages:
        name, (exact, group) = NAMES.get(code, ""), shares.get(code, (None, None))
        if arguments.json:
            print(json.dumps({"code": code, "name": name, "exact": exact, "group": group}))
        else:
            print(f"{code:<8} {name:<24} {_percent(exact):>6} {_percent(group):>6}")
    return EXIT_DONE


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"
