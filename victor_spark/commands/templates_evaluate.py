"""Measures templates on annotated pages, site by site: templates alone, a cleaner alone, and both.

--gold takes .jsonl(.xz) files of annotated pages or directories of them; sites with fewer than --min-pages
are left out. A site's templates are mined from the html of its own pages. DIR gets results.json and
results.csv.

examples:
  victor templates evaluate --gold daniel.jsonl.xz --group-by host --output out
  victor templates evaluate --gold pages/ --cleaner kimatu --min-pages 20 --output out
  victor templates evaluate --gold pages/ --view cleaned --output out
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Final

from victor_spark.commands import outputs
from victor_spark.commands.options import Command, option, positive
from victor_spark.commands.templates_mine import GROUP_BY
from victor_spark.errors import EXIT_DONE
from victor_spark.evaluation import gold, template_gain
from victor_spark.evaluation.gold import Choice
from victor_spark.templates.mine import MiningSettings
from victor_spark.templates.tokens import VIEWS

OPTIONS: Final = (
    option("--gold PATH...", "annotated pages, see above", required=True),
    option("--cleaner NAME", "", default="victor"),
    option("--view", "the text to mine", choices=VIEWS, default="text"),
    GROUP_BY,
    option("--min-pages N", "gold pages that a site needs", positive, default=template_gain.MIN_PAGES),
    option("--sets SET...", "only these sets"),
    option("--output DIR", "directory for the results", required=True),
    outputs.OVERWRITE,
)


def run(arguments: argparse.Namespace) -> int:
    """Mines, cleans, measures, writes the results, prints the table."""
    sources = gold.sources(arguments.gold)
    pages = gold.chosen(sources, Choice(tuple(arguments.sets)))
    of_sites = template_gain.by_site(pages, arguments.group_by, arguments.min_pages)
    mining = MiningSettings(view=arguments.view)
    with outputs.directory(Path(arguments.output), overwrite=arguments.overwrite) as output:
        found = list(template_gain.gains(of_sites, arguments.cleaner, mining, arguments.group_by))
        results = json.dumps(template_gain.as_json(found, arguments.cleaner), indent=1, ensure_ascii=False)
        with outputs.written(output):
            output.mkdir(parents=True, exist_ok=True)
            (output / "results.json").write_text(results + "\n", encoding="utf-8")
            template_gain.write_csv(found, output / "results.csv")
    sys.stdout.write("\n".join(["", *template_gain.lines(found, arguments.cleaner), ""]))
    return EXIT_DONE


EVALUATE: Final = Command(__doc__, OPTIONS, run)
