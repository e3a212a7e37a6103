"""`victor sites write` and `victor sites show`: tables with the sums of sites over one or more crawls."""

import argparse
from collections.abc import Iterator
from heapq import nlargest
from pathlib import Path
from typing import Final

from victor_spark import hosts, resources
from victor_spark.commands.clean import MASTER
from victor_spark.commands.options import Command, option
from victor_spark.configuration import positive
from victor_spark.errors import EXIT_DONE, InputError
from victor_spark.extractors import victor
from victor_spark.sites import evidence, table
from victor_spark.sites.table import Site
from victor_spark.warc.storage import printable

WRITE_HELP: Final = """\
Writes a table of sites from finished runs, for `victor clean --sites` in later crawls.

SOURCE is the --output of `victor clean --by-site --keep-blocks`, or a table that this command wrote. The sums
of several sources are added. The table is a folder of Parquet files. docs/running.md has more.

examples:
  victor sites write out --output sites-march
  victor sites write sites-march out-april --output sites-april      adds the pages of a later crawl
  victor clean may.warc.gz --sites sites-april --output may          one pass, also for single pages
  spark-submit --master spark://host:7077 jobs/sites.py hdfs:///out --output hdfs:///sites
"""
SHOW_HELP: Final = """\
Shows which parts of a site's pages are kept: its layouts in the order of a page, each with an example.

Each line has the mean probability P that a block with this layout is content (+: kept, -: dropped,
=: repeated text), the share of the site's pages with this layout, the element around its text, and an
example. Repeated texts follow. Without SITE, lists the largest sites; --html then writes the layouts of each.

examples:
  victor sites show sites-april
  victor sites show sites-april example.org --limit 100
  victor sites show sites-april example.org --html example.html      one page that needs no other file
"""

WRITE_OPTIONS: Final = (
    option("SOURCE...", "runs with block rows, and tables of sites", dest="sources"),
    option("--output TABLE", "a new folder", required=True, dest="target"),
    MASTER,
)
SHOW_OPTIONS: Final = (
    option("TABLE", "a table of sites", dest="table"),
    option("[SITE]", "a site of the table (default: list the sites)", dest="site"),
    option("--limit N", "sites, layouts (kept ones first) and texts to show", positive, default=40),
    option("--html FILE", "write an html page instead"),
)


def write(arguments: argparse.Namespace) -> int:
    """Writes the table."""
    from victor_spark.spark.site_sums import write_sites

    write_sites(arguments.sources, arguments.target, arguments.master)
    return EXIT_DONE


def show(arguments: argparse.Namespace) -> int:
    """Prints the sites or the layouts of one, or writes them as a page."""
    found = table.SiteTable(arguments.table)
    if arguments.site is None:
        sites = [site for _, site in nlargest(arguments.limit, found.sizes())]
    else:
        host = hosts.site(f"//{arguments.site}", hosts.HOST)  # in ASCII, as in the table
        named = (arguments.site, host, hosts.registered_domain(arguments.site))
        sites = [site for site in named if site and found.of(site) is not None][:1]
        if not sites:
            name = printable(arguments.site)
            raise InputError(f"{arguments.table}: has no site {name} (without SITE, they are listed)")
    model = evidence.model_from_bytes(victor.site_model()[victor.SITE_MODEL])
    shown = (table.of_site(found.files.rows(site, table.SITES), model) for site in sites)
    if arguments.html:
        title = " – ".join(map(printable, filter(None, (arguments.site, arguments.table))))
        lines = [(printable(site.name), list(_lines(site, arguments.limit))) for site in shown]
        page = resources.template(Path(__file__).with_name("sites.html")).render(title=title, sites=lines)
        with resources.written(Path(arguments.html)):
            Path(arguments.html).write_text(page, encoding="utf-8")
        return EXIT_DONE
    if arguments.site:
        print("P: probability of content, %: share of the pages; +: kept, -: dropped, =: repeated text")
    for site in shown:
        if arguments.site is None:
            print(f"{site.n_pages:>9,} pages {_n_layouts(site)}  {printable(site.name)}")
            continue
        for mark, numbers, text in _lines(site, arguments.limit):
            print(f"{mark:1} {numbers:>24}  {text}" if mark else f"\n{text}")
    return EXIT_DONE


def _n_layouts(site: Site) -> str:
    n_kept = sum(each.is_kept for each in site.layouts)
    return f"{len(site.layouts):>7,} layouts ({n_kept:,} kept)"


def _lines(site: Site, limit: int) -> Iterator[tuple[str, str, str]]:
    """A mark, numbers and a text, printable, of each line; headings have no mark."""
    ranks = [(each.is_kept, each.share) for each in site.layouts]
    shown = sorted(nlargest(limit, range(len(ranks)), key=ranks.__getitem__))
    yield "", "", f"{printable(site.name)}: {site.n_pages:,} pages, {_n_layouts(site).strip()}"
    for each in map(site.layouts.__getitem__, shown):
        numbers = f"P {each.p:.2f} {each.share:>6.1%} {printable(each.element)[:10]:10}"
        yield "+" if each.is_kept else "-", numbers, printable(each.example)
    if more := len(site.layouts) - len(shown):
        yield "", "", f"{more:,} more layouts, of fewer pages (--limit)"
    yield "", "", f"{len(site.texts):,} texts repeat"
    for each in site.texts[:limit]:
        yield "=", f"{each.share:.1%}", printable(each.example)


WRITE: Final = Command(WRITE_HELP, WRITE_OPTIONS, write, stopped="nothing was written")
SHOW: Final = Command(SHOW_HELP, SHOW_OPTIONS, show)
