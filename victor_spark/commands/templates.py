"""`victor templates mine`, `show`, `diff` and `evaluate`: finds, prints and measures templates of sites."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow.compute as pc
import pyarrow.parquet as pq

from victor_spark import configuration, hosts, resources
from victor_spark.commands import clean
from victor_spark.commands.clean import LIMITS, MASTER, READING
from victor_spark.commands.options import OVERWRITE, Command, Group, option, switch
from victor_spark.configuration import positive
from victor_spark.errors import EXIT_DONE, InputError, UsageError, suggestion
from victor_spark.evaluation import gold, template_gain
from victor_spark.logs import track
from victor_spark.tables import SITE
from victor_spark.templates import table
from victor_spark.templates.mine import MAX_PAGES, MiningSettings
from victor_spark.templates.tokens import VIEWS

MINE_HELP: Final = """\
Finds strings that many pages of a site repeat: menus, footers, notices, with varying dates and numbers.

Groups pages by site, mines a sample of each site, and writes one row per template to FILE. A second table
beside it (templates.report.parquet) has one row per site: its pages and, if nothing was mined, the reason.
--update merges the templates of an earlier crawl: frequencies are added up, vanished templates are marked.

examples:
  victor templates mine crawl.warc.gz --output templates.parquet
  victor templates mine 'crawl/*.warc.gz' --output templates.parquet --group-by host --max-pages-per-site 200
  victor templates mine crawl.warc.gz --output t.parquet --pattern 'session=sid=[0-9a-f]{32}'
  victor templates mine crawl-2.warc.gz --update templates.parquet --output templates-2.parquet
  victor templates mine crawl.warc.gz --view cleaned --output t.parquet     from kept text only
  spark-submit --master spark://host:7077 jobs/mine_templates.py warc.paths --output hdfs:///t.parquet
then:
  victor templates show templates.parquet example.org
  victor clean crawl.warc.gz --templates templates.parquet --output out
"""

EVALUATE_HELP: Final = """\
Measures templates on annotated pages, site by site: templates alone, a cleaner alone, and both.

--gold takes .jsonl(.xz) files of annotated pages or directories of them. A site's templates are mined from
the html of its own pages. DIR gets results.json.

examples:
  victor templates evaluate --gold daniel.jsonl.xz --group-by host --output out
  victor templates evaluate --gold pages/ --cleaner kimatu --min-pages 20 --output out
  victor templates evaluate --gold pages/ --view cleaned --output out
"""


def pattern(text: str) -> tuple[str, str]:
    """NAME=REGEX."""
    name, equals, expression = text.partition("=")
    if not name or not equals or not expression:
        raise UsageError(f"{text!r}: expected NAME=REGEX")
    return name, expression


_GROUPINGS: Final = f"a site is: {', '.join(hosts.GROUPINGS)}"
GROUP_BY: Final = option("--group-by SITE", _GROUPINGS, hosts.check_grouping, default=hosts.REGISTERED_DOMAIN)
MINE_OPTIONS: Final = (
    option("INPUT...", "archives, pages, folders, globs, lists", dest="inputs"),
    option("--output FILE", "the table of templates to write", required=True),
    option("--update OLD", "the table of an earlier crawl, to be merged"),
    Group(
        "mining",
        option("--view", "mine the text of all blocks, html, or kept text", choices=VIEWS, default="text"),
        GROUP_BY,
        option("--max-pages-per-site N", "most pages in the sample of a site", positive, default=MAX_PAGES),
        option(
            "--min-pages N", f"distinct pages a site needs (default: {MiningSettings().min_pages})", positive
        ),
        option("--pattern NAME=REGEX", "text that varies (repeatable)", pattern, action="append", default=[]),
        option("--cleaner NAME", "for --view cleaned (default: victor)"),
    ),
    READING,
    LIMITS,
    Group("Spark", MASTER, option("--partitions N", "tasks that read the inputs", positive)),
)
EVALUATE_OPTIONS: Final = (
    option("--gold PATH...", "annotated pages, see above", required=True),
    option("--cleaner NAME", "", default="victor"),
    option("--view", "the text to mine", choices=VIEWS, default="text"),
    GROUP_BY,
    option("--min-pages N", "gold pages that a site needs", positive, default=template_gain.MIN_PAGES),
    option("--sets SET...", "only these sets"),
    option("--output DIR", "directory for the results", required=True),
    OVERWRITE,
)


def mine(arguments: argparse.Namespace) -> int:
    """Mines the templates of all sites."""
    if arguments.cleaner and arguments.view != "cleaned":
        raise UsageError("--cleaner needs --view cleaned")
    from victor_spark.spark.mine_templates import MiningRequest, run

    mining = {"view": arguments.view, "patterns": tuple(arguments.pattern), "min_pages": arguments.min_pages}
    request = MiningRequest(
        clean=clean.requested(arguments),
        mining=configuration.merged(MiningSettings(), {}, mining),
        grouping=arguments.group_by,
        max_pages=arguments.max_pages_per_site,
        update=arguments.update,
    )
    run(request)
    return EXIT_DONE


def evaluate(arguments: argparse.Namespace) -> int:
    """Mines, cleans, measures, writes the results, prints the table."""
    pages = track(gold.chosen(gold.sources(arguments.gold), arguments.sets), "reading gold pages", 0)
    of_sites = template_gain.by_site(pages, arguments.group_by, arguments.min_pages)
    mining = MiningSettings(view=arguments.view)
    with resources.new_directory(Path(arguments.output), overwrite=arguments.overwrite) as output:
        found = list(template_gain.gains(of_sites, arguments.cleaner, mining, arguments.group_by))
        results = json.dumps(template_gain.as_json(found, arguments.cleaner), indent=1, ensure_ascii=False)
        with resources.written(output):
            (output / "results.json").write_text(results + "\n", encoding="utf-8")
    sys.stdout.write("\n".join(["", *template_gain.lines(found, arguments.cleaner), ""]))
    return EXIT_DONE


MINE: Final = Command(MINE_HELP, MINE_OPTIONS, mine, stopped="nothing was written")
EVALUATE: Final = Command(EVALUATE_HELP, EVALUATE_OPTIONS, evaluate)


SHOW_HELP: Final = """\
Prints the templates of a site: regular expression, number of pages, example; and the site's cut-off.

Without SITE, lists the sites of the table.

examples:
  victor templates show templates.parquet                  the sites in it
  victor templates show templates.parquet example.org
  victor templates show templates.parquet example.org --limit 5
"""
DIFF_HELP: Final = """\
Compares two tables of templates site by site: templates that were added, that vanished, that were kept.

When a site is redesigned, most of its templates vanish at once. --output writes all rows as Parquet.

examples:
  victor templates diff templates-march.parquet templates-april.parquet
  victor templates diff old.parquet new.parquet --site example.org
  victor templates diff old.parquet new.parquet --output changes.parquet
"""

_LIMIT: Final = 20
_WIDTH: Final = 200
_MARKS: Final = {"added": "+", "vanished": "-", "kept": " "}

SHOW_OPTIONS: Final = (
    option("TABLE", "a table of templates", dest="table"),
    option("[SITE]", "a site of the table (default: list the sites)", dest="site"),
    option("--limit N", "templates to print; 0: all", int, default=_LIMIT),
    switch("--full", "do not shorten regular expressions and examples"),
)
DIFF_OPTIONS: Final = (
    option("OLD", "a table of templates", dest="old"),
    option("NEW", "a later table of templates", dest="new"),
    option("--site SITE", "only this site, kept templates included"),
    option("--limit N", "lines per site; 0: all", int, default=_LIMIT),
    option("--output FILE", "all changes as Parquet"),
)


def show(arguments: argparse.Namespace) -> int:
    """Prints the sites, or the templates of one."""
    found = table.read(arguments.table)
    if arguments.site is None:
        counted = found.group_by(SITE).aggregate([("regex", "count"), ("n_pages", "max")])
        sites = counted.sort_by([("regex_count", "descending"), (SITE, "ascending")]).to_pylist()
        lines = [f"{row['regex_count']:>9} {row['n_pages_max']:>7}  {row[SITE]}" for row in sites]
        lines.insert(0, f"{'templates':>9} {'pages':>7}  site")
    else:
        of_site = found.filter(pc.equal(found[SITE], arguments.site)).to_pylist()
        if not of_site:
            raise _unknown(arguments.site, arguments.table, pc.unique(found[SITE]).to_pylist())
        of_site.sort(key=lambda row: (row["vanished"], -row["document_frequency"], row["regex"]))
        lines = list(_site(of_site, arguments))
    print("\n".join(lines))
    return EXIT_DONE


def _unknown(site: str, name: str, sites: Iterable[str]) -> InputError:
    hint = suggestion(site, sites) or " (`victor templates show` without SITE lists the sites)"
    return InputError(f"{name}: no templates of {site}{hint}")


def _site(rows: list[dict[str, Any]], arguments: argparse.Namespace) -> Iterator[str]:
    def short(text: str) -> str:
        is_whole = arguments.full or len(text) <= _WIDTH
        return text if is_whole else f"{text[:_WIDTH]}… ({len(text)} characters)"

    first = rows[0]
    of_site = f"{len(rows)} templates in the view {first['view']}, from {first['n_pages']} pages"
    yield f"{first['site']}: {of_site}; cut-off: {first['cut_off']} pages (short lines: a fifth of all pages)"
    shown = rows[: arguments.limit or None]
    for number, row in enumerate(shown, 1):
        vanished = f", vanished after {row['last_seen']:%Y-%m-%d}" if row["vanished"] else ""
        seen = f"{row['n_tokens']} tokens, sites: {row['n_sites_seen']}{vanished}"
        yield f"\n{number}. on {row['document_frequency']} of {row['n_pages']} pages, {seen}"
        yield f"   {short(row['regex'])}"
        yield f"   example: {short(' '.join(str(row['example']).split()))}"
    if len(shown) < len(rows):
        yield f"\n{len(rows) - len(shown)} more: --limit 0"


def diff(arguments: argparse.Namespace) -> int:
    """Prints the changes."""
    changes = table.diff(table.read(arguments.old), table.read(arguments.new))
    if arguments.output:
        with resources.written(Path(arguments.output)):
            pq.write_table(changes, arguments.output, compression="zstd")
    by_site: dict[str, list[dict[str, Any]]] = {}
    for row in changes.to_pylist():
        by_site.setdefault(row[SITE], []).append(row)
    if arguments.site is not None:
        if arguments.site not in by_site:
            raise _unknown(arguments.site, f"{arguments.old}, {arguments.new}", by_site)
        by_site = {arguments.site: by_site[arguments.site]}
    for site, rows in by_site.items():
        counts = {change: sum(row["change"] == change for row in rows) for change in _MARKS}
        print(f"{site}: {', '.join(f'{n} {change}' for change, n in counts.items())}")
        shown = [row for row in rows if arguments.site is not None or row["change"] != "kept"]
        for row in shown[: arguments.limit or None]:
            old, new = (row[f"{name}_document_frequency"] for name in ("old", "new"))
            frequencies = f"{'–' if old is None else old:>6} → {'–' if new is None else new:>6}"
            print(f"  {_MARKS[row['change']]} {frequencies}  {row['regex'][:_WIDTH]}")
        if arguments.limit and len(shown) > arguments.limit:
            print(f"  {len(shown) - arguments.limit} more: --limit 0")
    if not by_site:
        print("no templates in either table")
    return EXIT_DONE


SHOW: Final = Command(SHOW_HELP, SHOW_OPTIONS, show)
DIFF: Final = Command(DIFF_HELP, DIFF_OPTIONS, diff)
