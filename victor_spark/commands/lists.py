"""`victor cleaners` and `victor languages`: the names that other commands take."""

import argparse
import json
from typing import Final

from victor_spark import cleaners, pipeline, resources
from victor_spark.commands.options import Command, switch
from victor_spark.errors import EXIT_DONE
from victor_spark.langid.labels import languages
from victor_spark.langid.profiles import Profiles
from victor_spark.logs import aligned

CLEANERS_HELP: Final = """\
Lists the installed cleaners, one name per line. With `--cleaner a+b`, b cleans the output of a.

docs/method.md describes our cleaners; the others are other tools, such as trafilatura.

examples:
  victor cleaners
  victor clean page.html --cleaner kimatu
"""

LANGUAGES_HELP: Final = """\
Lists the languages that can be identified: code, name, and the share of texts identified correctly.

The shares are measured on texts of 20 words. The column group counts very similar languages (Croatian,
Bosnian, Serbian) as one. models/langid/CARD.md has more. --lang takes these codes.

examples:
  victor languages
  victor languages --json
  victor clean 'crawl/*.warc.gz' --output czech --lang cs,sk
"""

SHARES: Final = "languages.json"
"""The file beside the profiles: label → share identified as exactly this label, and as one of its group."""


def list_cleaners(_: argparse.Namespace) -> int:
    """Prints the names."""
    print("\n".join(cleaners()))
    return EXIT_DONE


def list_languages(arguments: argparse.Namespace) -> int:
    """Prints the languages of the shipped profiles."""
    profiles = resources.directory("models") / pipeline.PROFILES
    measured = profiles.with_name(SHARES)
    shares = json.loads(measured.read_text(encoding="utf-8")) if measured.is_file() else {}
    rows: list[tuple[str, ...]] = [("code", "language", "exact", "group")]
    for code in Profiles.load(profiles).languages:
        name, (exact, group) = languages().names.get(code, ""), shares.get(code, (None, None))
        if arguments.json:
            print(json.dumps({"code": code, "name": name, "exact": exact, "group": group}))
        rows.append((code, name, *("" if share is None else f"{share:.1%}" for share in (exact, group))))
    if not arguments.json:
        print("\n".join(aligned(rows, n_left=2)))
    return EXIT_DONE


CLEANERS: Final = Command(CLEANERS_HELP, (), list_cleaners)
LANGUAGES: Final = Command(LANGUAGES_HELP, (switch("--json", "one JSON object per line"),), list_languages)
