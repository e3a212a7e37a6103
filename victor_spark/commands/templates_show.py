"""Prints the templates of a site: regular expression, number of pages, example; and the site's cut-off.

SITE is written as in the table (example.org; with --group-by host www.example.org). Without SITE, lists the
sites of the table. The histogram counts strings by the number of the site's pages that contain them: idioms
on the left, templates on the right, the cut-off between them; --picture draws it.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from math import ceil, log10
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from victor_spark.errors import EXIT_DONE, InputError, OutputError
from victor_spark.evaluation import pictures
from victor_spark.templates import table

EXAMPLES: Final = """\
examples:
  victor templates show --templates templates.parquet                  the sites in it
  victor templates show example.org --templates templates.parquet
  victor templates show example.org --templates templates.parquet --limit 5 --picture cut-off.svg
"""

_LIMIT: Final = 20
_WIDTH: Final = 200
_HISTOGRAM_ROWS: Final = 20
_BAR_WIDTH: Final = 50
_PICTURES: Final = (".svg", ".png", ".pdf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument(
        "site", metavar="SITE", nargs="?", help="a site of the table (default: list the sites)"
    )
    parser.add_argument("--templates", metavar="FILE", required=True, help="a templates table")
    parser.add_argument(
        "--limit",
        metavar="N",
        type=int,
        default=_LIMIT,
        help="templates to print; 0: all (default: %(default)s)",
    )
    parser.add_argument("--full", action="store_true", help="do not shorten regular expressions and examples")
    parser.add_argument("--picture", metavar="FILE", help=f"draw the histogram ({', '.join(_PICTURES)})")


def run(arguments: argparse.Namespace) -> int:
    """Prints the sites, or the templates of one."""
    found = table.read(arguments.templates)
    if arguments.site is None:
        lines = _sites(found)
    else:
        of_site = _of_site(found, arguments.site, arguments.templates)
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


def _of_site(found: pa.Table, site: str, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = found.filter(pc.equal(found["site"], site)).to_pylist()
    if rows:
        return sorted(rows, key=lambda row: (row["vanished"], -row["document_frequency"], row["regex"]))
    near = sorted({other for other in pc.unique(found["site"]).to_pylist() if site in other or other in site})
    hint = f" (did you mean {' or '.join(near[:3])}?)" if near else " (without SITE, all sites are listed)"
    raise InputError(f"{name}: no templates of {site}{hint}")


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
    histogram = _histogram(rows)
    if not histogram:
        raise InputError(f"no histogram of {rows[0]['site']} in the table")
    try:
        title = f"Repeated strings of {rows[0]['site']}"
        pictures.save(
            pictures.histogram(histogram, rows[0]["cut_off"], rows[0]["n_pages"], title=title), path
        )
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
