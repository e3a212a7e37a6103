"""`victor templates show` and `victor templates diff`: what templates tables hold."""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from math import ceil, log10
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from victor_spark import resources
from victor_spark.commands.options import Command, option, switch
from victor_spark.errors import EXIT_DONE, InputError, OutputError, suggestion
from victor_spark.evaluation import pictures
from victor_spark.templates import table

SHOW_HELP: Final = """\
Prints the templates of a site: regular expression, number of pages, example; and the site's cut-off.

SITE is written as in the table (example.org; with --group-by host www.example.org). Without SITE, lists the
sites of the table. The histogram counts strings by the number of the site's pages that contain them: idioms
on the left, templates on the right, the cut-off between them; --picture draws it.

examples:
  victor templates show --templates templates.parquet                  the sites in it
  victor templates show example.org --templates templates.parquet
  victor templates show example.org --templates templates.parquet --limit 5 --picture cut-off.svg
"""
DIFF_HELP: Final = """\
Compares two templates tables site by site: templates that were added, that vanished, that were kept.

When a site is redesigned, most of its templates vanish at once. --output writes all rows as Parquet.

examples:
  victor templates diff templates-march.parquet templates-april.parquet
  victor templates diff old.parquet new.parquet --site example.org
  victor templates diff old.parquet new.parquet --output changes.parquet
"""

_LIMIT: Final = 20
_WIDTH: Final = 200
_HISTOGRAM_ROWS: Final = 20
_BAR_WIDTH: Final = 50
_PICTURES: Final = (".svg", ".png", ".pdf")
_MARKS: Final = {"added": "+", "vanished": "-", "kept": " "}

SHOW_OPTIONS: Final = (
    option("[SITE]", "a site of the table (default: list the sites)", dest="site"),
    option("--templates FILE", "a templates table", required=True),
    option("--limit N", "templates to print; 0: all", int, default=_LIMIT),
    switch("--full", "do not shorten regular expressions and examples"),
    option("--picture FILE", f"draw the histogram ({', '.join(_PICTURES)})"),
)
DIFF_OPTIONS: Final = (
    option("OLD", "a templates table", dest="old"),
    option("NEW", "a later templates table", dest="new"),
    option("--site SITE", "only this site, kept templates included"),
    option("--limit N", "lines per site; 0: all", int, default=_LIMIT),
    option("--output FILE", "all changes as Parquet"),
)


def show(arguments: argparse.Namespace) -> int:
    """Prints the sites, or the templates of one."""
    found = table.read(arguments.templates)
    if arguments.site is None:
        lines = _sites(found)
    else:
        of_site = found.filter(pc.equal(found["site"], arguments.site)).to_pylist()
        if not of_site:
            raise _unknown(arguments.site, arguments.templates, pc.unique(found["site"]).to_pylist())
        of_site.sort(key=lambda row: (row["vanished"], -row["document_frequency"], row["regex"]))
        lines = _site(of_site, arguments)
        if arguments.picture:
            _draw(of_site, Path(arguments.picture))
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    for line in lines:
        print(line)
    return EXIT_DONE


def _sites(found: pa.Table) -> Iterator[str]:
    yield f"{'templates':>9} {'pages':>7}  site"
    counted = found.group_by("site").aggregate([("regex", "count"), ("n_pages", "max")])
    for row in counted.sort_by([("regex_count", "descending"), ("site", "ascending")]).to_pylist():
        yield f"{row['regex_count']:>9} {row['n_pages_max']:>7}  {row['site']}"


def _unknown(site: str, name: str, sites: Iterable[str]) -> InputError:
    hint = suggestion(site, sites) or " (`victor templates show` without SITE lists the sites)"
    return InputError(f"{name}: no templates of {site}{hint}")


def _site(rows: list[dict[str, Any]], arguments: argparse.Namespace) -> Iterator[str]:
    first = rows[0]
    yield (
        f"{first['site']}: {len(rows)} templates in the view {first['view']}, from {first['n_pages']} pages; "
        f"cut-off: a string on at least {first['cut_off']} pages, a whole short line on at least a fifth"
    )
    if histogram := _histogram(rows):
        yield from ["", *_histogram_lines(histogram, first["cut_off"], first["n_pages"])]
    shown = rows[: arguments.limit or None]
    for number, row in enumerate(shown, 1):
        yield ""
        yield from _template(number, row, full=arguments.full)
    if len(shown) < len(rows):
        yield f"\n{len(rows) - len(shown)} more: --limit 0"


def _histogram_lines(histogram: Sequence[int], cut_off: int, n_pages: int) -> list[str]:
    """The histogram of repeated strings (Foschini, Figure 3.2), with logarithmic bars, and its cut-off."""
    step = max(len(histogram) // _HISTOGRAM_ROWS, 1)
    counts = [sum(histogram[first : first + step]) for first in range(0, len(histogram), step)]
    longest = max((_bar_length(count) for count in counts), default=0) or 1
    shown = [" share of pages   strings (log scale)"]
    at = pictures.cut_bin(histogram, cut_off, n_pages)
    for row, count in enumerate(counts):
        if row * step <= at < (row + 1) * step:
            shown.append(f" {'-' * 14} cut-off: {cut_off} of {n_pages} pages {'-' * 14}")
        bar = "#" * min(_BAR_WIDTH, ceil(_BAR_WIDTH * _bar_length(count) / longest))
        share = f"{row * step / len(histogram):>5.0%} – {(row + 1) * step / len(histogram):>4.0%}"
        shown.append(f" {share} {count:>8} {bar}".rstrip())
    return shown


def _bar_length(count: int) -> float:
    return log10(count) + 1 if count > 0 else 0.0


def _template(number: int, row: dict[str, Any], *, full: bool) -> Iterator[str]:
    width = None if full else _WIDTH
    vanished = f", vanished after {row['last_seen']:%Y-%m-%d}" if row["vanished"] else ""
    yield (
        f"{number}. on {row['document_frequency']} of {row['n_pages']} pages, {row['n_tokens']} tokens, "
        f"{row['n_sites_seen']} {'site' if row['n_sites_seen'] == 1 else 'sites'}{vanished}"
    )
    yield f"   {_short(row['regex'], width)}"
    yield f"   example: {_short(' '.join(str(row['example']).split()), width)}"


def _short(text: str, width: int | None) -> str:
    return text if width is None or len(text) <= width else f"{text[:width]}… ({len(text)} characters)"


def _histogram(rows: list[dict[str, Any]]) -> list[int]:
    return next((row["histogram"] for row in rows if row["histogram"]), [])


def _draw(rows: list[dict[str, Any]], path: Path) -> None:
    if path.suffix not in _PICTURES:
        raise OutputError(f"{path}: a picture's name must end in {', '.join(_PICTURES)}")
    first, histogram = rows[0], _histogram(rows)
    if not histogram:
        raise InputError(f"no histogram of {first['site']} in the table")
    title = f"Repeated strings of {first['site']}"
    with resources.written(path):
        pictures.save(pictures.histogram(histogram, first["cut_off"], first["n_pages"], title=title), path)


def diff(arguments: argparse.Namespace) -> int:
    """Prints the changes."""
    changes = table.diff(table.read(arguments.old), table.read(arguments.new))
    if arguments.output:
        with resources.written(Path(arguments.output)):
            pq.write_table(changes, arguments.output, compression="zstd")
    by_site: dict[str, list[dict[str, Any]]] = {}
    for row in changes.to_pylist():
        by_site.setdefault(row["site"], []).append(row)
    if arguments.site is not None:
        if arguments.site not in by_site:
            raise _unknown(arguments.site, f"{arguments.old}, {arguments.new}", by_site)
        by_site = {arguments.site: by_site[arguments.site]}
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
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
