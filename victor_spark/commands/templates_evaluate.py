"""Measures templates on annotated pages, site by site: templates alone, a cleaner alone, and both.

--gold takes .jsonl(.xz) files of annotated pages or directories of them; sites with fewer than --min-pages
are left out. A site's templates are mined from the html of its own pages. DIR gets results.json and
results.csv.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Final

from victor_spark.commands import outputs
from victor_spark.commands.argument_types import positive
from victor_spark.commands.templates_mine import add_grouping
from victor_spark.errors import EXIT_DONE, OutputError
from victor_spark.evaluation import gold, template_gain
from victor_spark.evaluation.gold import Choice
from victor_spark.templates.mine import MiningSettings
from victor_spark.templates.tokens import VIEWS

EXAMPLES: Final = """\
examples:
  victor templates evaluate --gold daniel.jsonl.xz --group-by host --output out
  victor templates evaluate --gold pages/ --cleaner kimatu --min-pages 20 --output out
  victor templates evaluate --gold pages/ --view cleaned --output out
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("--gold", metavar="PATH", nargs="+", required=True, help="annotated pages, see above")
    parser.add_argument("--cleaner", metavar="NAME", default="victor", help="default: %(default)s")
    parser.add_argument(
        "--view", choices=VIEWS, default="text", help="the text to mine (default: %(default)s)"
    )
    add_grouping(parser)
    parser.add_argument(
        "--min-pages",
        type=positive,
        metavar="N",
        default=template_gain.MIN_PAGES,
        help="gold pages that a site needs (default: %(default)s)",
    )
    parser.add_argument("--sets", metavar="SET", nargs="+", default=[], help="only these sets")
    parser.add_argument("--output", metavar="DIR", required=True, help="directory for the results")
    outputs.add_overwrite(parser)


def run(arguments: argparse.Namespace) -> int:
    """Mines, cleans, measures, writes the results, prints the table."""
    sources = gold.sources(arguments.gold)
    pages = gold.chosen(sources, Choice(tuple(arguments.sets)))
    of_sites = template_gain.by_site(pages, arguments.group_by, arguments.min_pages)
    mining = MiningSettings(view=arguments.view)
    with outputs.directory(Path(arguments.output), overwrite=arguments.overwrite) as output:
        found = list(template_gain.gains(of_sites, arguments.cleaner, mining, arguments.group_by))
        _write(found, arguments.cleaner, output)
    sys.stdout.write("\n".join(["", *template_gain.lines(found, arguments.cleaner), ""]))
    return EXIT_DONE


def _write(found: list[template_gain.SiteGain], cleaner: str, output: Path) -> None:
    try:
        output.mkdir(parents=True, exist_ok=True)
        results = json.dumps(template_gain.as_json(found, cleaner), indent=1, ensure_ascii=False)
        (output / "results.json").write_text(results + "\n", encoding="utf-8")
        template_gain.write_csv(found, output / "results.csv")
    except OSError as error:
        raise OutputError(f"cannot write to {output}: {error.strerror or error}") from error
