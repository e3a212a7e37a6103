"""A templates table after a second crawl, and how two tables differ."""

from collections.abc import Collection
from typing import Any, Final

import pyarrow as pa

from victor_spark.templates.table import TEMPLATES, Matchers

ADDED, VANISHED, KEPT = "added", "vanished", "kept"

DIFFERENCE: Final = pa.schema(
    [
        ("site", pa.string()),
        ("view", pa.string()),
        ("regex", pa.string()),
        ("change", pa.string()),
        ("old_document_frequency", pa.int32()),
        ("new_document_frequency", pa.int32()),
        ("example", pa.string()),
    ]
)

_Key = tuple[str, str, str]


def update(old: pa.Table, new: pa.Table, mined_without: Collection[tuple[str, str]] = ()) -> pa.Table:
    """The table after a second crawl, with all rows of the old table.

    For a site in the new crawl, frequencies and pages are added up. A template that the new crawl lacks
    is kept and marked `vanished`, unless new templates cover its example from end to end. Sites that are
    not in the new crawl stay unchanged; `mined_without`: (site, view) of those that were mined and
    gave no template.
    """
    rows = {_key(row): row for row in old.to_pylist()}
    fresh = {_key(row): row for row in new.to_pylist()}
    pages_before = {key[:2]: row["n_pages"] for key, row in rows.items()}
    pages_now = {key[:2]: row["n_pages"] for key, row in fresh.items()}
    when = {key[:2]: row["mined_at"] for key, row in fresh.items()}
    matchers = {view: Matchers(new, view) for view in {key[1] for key in fresh}}
    for key, row in rows.items():
        site = key[:2]
        if site not in pages_now:
            row["vanished"] = row["vanished"] or site in mined_without
            continue
        row["n_pages"] += pages_now[site]
        row["histogram"] = None
        if key in fresh:
            _seen_again(row, fresh[key])
        elif _covers(matchers[key[1]], row):
            row.update(vanished=False, last_seen=when[site])
        else:
            row["vanished"] = True
    for key, row in fresh.items():
        if key not in rows:
            rows[key] = row | {"n_pages": row["n_pages"] + pages_before.get(key[:2], 0)}
    return _ordered(
        list(rows.values()), {key[:2]: row["histogram"] for key, row in fresh.items() if row["histogram"]}
    )


def _key(row: dict[str, Any]) -> _Key:
    return row["site"], row["view"], row["regex"]


def _seen_again(row: dict[str, Any], again: dict[str, Any]) -> None:
    for name in ("document_frequency", "n_occurrences"):
        row[name] += again[name]
    for name in ("cut_off", "n_sites_seen", "example", "mined_at", "last_seen", "whole_lines"):
        row[name] = again[name]
    row["vanished"] = False


def _covers(matchers: Matchers, row: dict[str, Any]) -> bool:
    matcher = matchers.of(row["site"])
    return matcher is not None and matcher.intervals(row["example"]).tolist() == [[0, len(row["example"])]]


def _ordered(rows: list[dict[str, Any]], histograms: dict[tuple[str, str], list[int]]) -> pa.Table:
    """By site and view, frequent templates first; each site's histogram on its first row."""
    rows.sort(
        key=lambda row: (row["site"], row["view"], row["vanished"], -row["document_frequency"], row["regex"])
    )
    held: set[tuple[str, str]] = set()
    for row in rows:
        site = (row["site"], row["view"])
        if site in histograms:
            row["histogram"] = None if site in held else histograms[site]
            held.add(site)
    return pa.Table.from_pylist(rows, schema=TEMPLATES)


def diff(old: pa.Table, new: pa.Table) -> pa.Table:
    """What changed from one table to another: a row per template with added, vanished or kept.

    Templates marked as vanished count as absent.
    """
    before, after = (
        {_key(row): row for row in table.to_pylist() if not row["vanished"]} for table in (old, new)
    )
    records = []
    for key in sorted(before.keys() | after.keys()):
        earlier, later = before.get(key), after.get(key)
        change = ADDED if earlier is None else VANISHED if later is None else KEPT
        records.append(
            dict(zip(("site", "view", "regex"), key, strict=True))
            | {"change": change, "example": (later or earlier or {})["example"]}
            | {"old_document_frequency": earlier and earlier["document_frequency"]}
            | {"new_document_frequency": later and later["document_frequency"]}
        )
    return pa.Table.from_pylist(records, schema=DIFFERENCE)
