"""Compares two templates tables site by site: templates that were added, that vanished, that were kept.

When a site is redesigned, most of its templates vanish at once. --output writes all rows as Parquet.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from victor_spark.errors import EXIT_DONE, OutputError
from victor_spark.templates import table

EXAMPLES: Final = """\
examples:
  victor templates diff templates-march.parquet templates-april.parquet
  victor templates diff old.parquet new.parquet --site example.org
  victor templates diff old.parquet new.parquet --output changes.parquet
"""

_LIMIT: Final = 20
_WIDTH: Final = 120
_MARKS: Final = {"added": "+", "vanished": "-", "kept": " "}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("old", metavar="OLD", help="a templates table")
    parser.add_argument("new", metavar="NEW", help="a later templates table")
    parser.add_argument("--site", metavar="SITE", help="only this site, kept templates included")
    parser.add_argument(
        "--limit", metavar="N", type=int, default=_LIMIT, help="lines per site; 0: all (default: %(default)s)"
    )
    parser.add_argument("--output", metavar="FILE", help="all changes as Parquet")


def run(arguments: argparse.Namespace) -> int:
    """Prints the changes."""
    changes = table.diff(table.read(arguments.old), table.read(arguments.new))
    if arguments.output:
        _write(changes, Path(arguments.output))
    by_site: dict[str, list[dict[str, Any]]] = {}
    for row in changes.to_pylist():
        by_site.setdefault(row["site"], []).append(row)
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    for line in _lines(by_site, arguments):
        print(line)
    return EXIT_DONE


def _write(changes: pa.Table, path: Path) -> None:
    try:
        pq.write_table(changes, path, compression="zstd")
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def _lines(by_site: dict[str, list[dict[str, Any]]], arguments: argparse.Namespace) -> Iterator[str]:
    if arguments.site is not None:
        by_site = {arguments.site: by_site.get(arguments.site, [])}
    for site, rows in by_site.items():
        counts = {change: sum(row["change"] == change for row in rows) for change in _MARKS}
        yield f"{site}: {', '.join(f'{n} {change}' for change, n in counts.items())}"
        shown = [row for row in rows if arguments.site is not None or row["change"] != "kept"]
        for row in shown[: arguments.limit or None]:
            yield f"  {_MARKS[row['change']]} {_frequencies(row)}  {row['regex'][:_WIDTH]}"
        if arguments.limit and len(shown) > arguments.limit:
            yield f"  {len(shown) - arguments.limit} more: --limit 0"
    if not by_site:
        yield "no templates in either table"


def _frequencies(row: dict[str, Any]) -> str:
    old, new = (row[f"{name}_document_frequency"] for name in ("old", "new"))
    return f"{'–' if old is None else old:>6} → {'–' if new is None else new:>6}"
