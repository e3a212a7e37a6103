"""`victor sites write` and `victor sites show`: what crawls show of their sites, kept as a table."""

import argparse
import sys
from collections.abc import Iterator
from heapq import nlargest
from html import escape
from pathlib import Path
from typing import Final

from victor_spark.commands import outputs
from victor_spark.commands.clean_options import MASTER
from victor_spark.commands.options import Command, option
from victor_spark.errors import EXIT_DONE, EXIT_INCOMPLETE, InputError
from victor_spark.extractors import by_site
from victor_spark.sites import decision, layouts, table
from victor_spark.sites.layouts import SiteLayouts
from victor_spark.warc.storage import printable

WRITE_HELP: Final = """\
Writes what crawls show of their sites as a table, for `victor clean --sites` in the next crawl.

SOURCE is the --output of `victor clean --by-site --keep-blocks`, or a table that this command wrote; the sums
of several sources are added. The table is a folder of Parquet files, sorted by site: for every layout and
text that at least two pages of a site have, the number of pages, the sum of their log-odds of content, and
an example. docs/running.md has more.

examples:
  victor sites write out --output sites-march
  victor sites write sites-march out-april --output sites-april      adds the pages of a later crawl
  victor clean may.warc.gz --sites sites-april --output may          one pass, also for single pages
  spark-submit --master spark://host:7077 jobs/sites.py hdfs:///out --output hdfs:///sites
"""
SHOW_HELP: Final = """\
Shows which parts of a site's pages are kept: its layouts in the order of a page, each with an example.

P is the probability of content of a block whose own probability equals the mean over the site's pages; blocks
with .5 and more are marked as kept (+). Texts that repeat follow. Without SITE, lists the largest sites, and
--html has the layouts of each.

examples:
  victor sites show sites-april
  victor sites show sites-april example.org --limit 100
  victor sites show sites-april example.org --html example.html      one page that needs no other file
"""
_CSS: Final = """\
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: auto; }
div { display: flex; gap: 1rem; border-left: .4rem solid #9aa5ae; padding: .15rem .7rem; margin: .15rem 0; }
div.kept { border-color: #3f8f5f; background: #3f8f5f22; font-weight: 600; }
small { opacity: .75; font-weight: 400; white-space: nowrap; }
bdi { flex: 1; min-width: 0; overflow-wrap: anywhere; }
"""
_LIMIT: Final = 40

WRITE_OPTIONS: Final = (
    option("SOURCE...", "runs with block rows, and tables of sites", dest="sources"),
    option("--output TABLE", "a new folder", required=True, dest="target"),
    MASTER,
)
SHOW_OPTIONS: Final = (
    option("TABLE", "a table of sites", dest="table"),
    option("[SITE]", "a site of the table (default: list the sites)", dest="site"),
    option("--limit N", "sites, layouts and texts to show, those of the most pages", int, default=_LIMIT),
    option("--html FILE", "write a page instead"),
)


def write(arguments: argparse.Namespace) -> int:
    """Writes the table."""
    from victor_spark.spark import site_table

    try:
        site_table.run(arguments.sources, arguments.target, arguments.master)
    except KeyboardInterrupt:
        print("victor: stopped; nothing was written", file=sys.stderr)
        return EXIT_INCOMPLETE
    return EXIT_DONE


def show(arguments: argparse.Namespace) -> int:
    """Prints the sites or the layouts of one, or writes them as a page."""
    found = table.SiteTable(arguments.table, table.listing(arguments.table))
    if arguments.site is None:
        counted = (row for part in found.sizes() for row in part.to_pylist())
        largest = nlargest(arguments.limit, ((row["n_pages"], row["site"]) for row in counted))
        sites = [site for _, site in largest]
    elif found.of(arguments.site) is None:
        name = printable(arguments.site)
        raise InputError(f"{arguments.table}: has no site {name} (without SITE, they are listed)")
    else:
        sites = [arguments.site]
    model = decision.from_bytes(by_site.model()[by_site.MODEL])
    shown = (layouts.of_site(found.rows(site), model, arguments.limit) for site in sites)
    if arguments.html:
        with outputs.written(Path(arguments.html)), open(arguments.html, "w", encoding="utf-8") as file:
            file.writelines(_html(arguments.table, shown))
        return EXIT_DONE
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    if arguments.site is None:
        print(f"{'pages':>9} {'layouts':>8} {'kept':>8}  site")
        for each in shown:
            print(f"{each.n_pages:>9} {each.n_layouts:>8} {each.n_kept:>8}  {printable(each.site)}")
    else:
        print("\n".join(_lines(next(shown))))
    return EXIT_DONE


def _lines(found: SiteLayouts) -> Iterator[str]:
    counts = f"{found.n_pages:,} pages, {found.n_layouts:,} layouts ({found.n_kept:,} kept)"
    yield f"{printable(found.site)}: {counts}, {found.n_texts:,} repeated texts"
    yield f"\n{'':2}{'P':>4} {'pages':>6}  layouts, in the order of a page"
    for each in found.layouts:
        yield f"{'+' if each.is_kept else '-'} {each.p:>4.2f} {each.share:>6.1%}  {printable(each.example)}"
    yield f"\n{'':7}{'pages':>6}  texts that repeat"
    for share, text in found.texts:
        yield f"{'':7}{share:>6.1%}  {printable(text)}"


def _html(name: str, sites: Iterator[SiteLayouts]) -> Iterator[str]:
    yield f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(name)}</title>\n'
    yield f'<meta name="viewport" content="width=device-width"><style>\n{_CSS}</style></head><body>\n'
    yield "<p>Layouts in the order of a page, each with the longest example. Green: kept.</p>\n"
    for found in sites:
        counts = f"{found.n_pages:,} pages, {found.n_layouts:,} layouts, {found.n_kept:,} of them kept"
        yield f"<h1><bdi>{escape(printable(found.site))}</bdi></h1>\n<p>{counts}</p>\n"
        for each in found.layouts:
            numbers = f"P {each.p:.2f} · {each.share:.0%} of pages"
            text = f"<bdi>{escape(printable(each.example))}</bdi><small>{numbers}</small>"
            yield f"<div{' class=kept' if each.is_kept else ''}>{text}</div>\n"
        yield f"<h2>{found.n_texts:,} texts repeat</h2>\n"
        for share, text in found.texts:
            yield f"<div><bdi>{escape(printable(text))}</bdi><small>{share:.0%} of pages</small></div>\n"
    yield "</body></html>\n"


WRITE: Final = Command(WRITE_HELP, WRITE_OPTIONS, write)
SHOW: Final = Command(SHOW_HELP, SHOW_OPTIONS, show)
