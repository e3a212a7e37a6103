"""The Parquet table of templates, one row each: its columns; how it is made, read, updated and compared."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from victor_spark import tables
from victor_spark.errors import TableError
from victor_spark.site_files import Kind, SiteFiles
from victor_spark.tables import SITE
from victor_spark.templates import patterns
from victor_spark.templates.matcher import Matcher
from victor_spark.templates.tokens import TOKENISERS

VERSION_KEY: Final = "victor_spark.templates_version"
VERSION: Final = "2"
_MAX_MUTABLE: Final = 100

TEMPLATES: Final = pa.schema(
    [
        pa.field(SITE, pa.string(), metadata={VERSION_KEY: VERSION}),
        ("view", pa.string()),
        ("regex", pa.string()),
        ("tokens", pa.list_(pa.string())),
        ("n_tokens", pa.int32()),
        ("document_frequency", pa.int32()),  # distinct pages that hold it, over all crawls
        ("n_occurrences", pa.int32()),
        ("whole_lines", pa.float32()),
        ("n_pages", pa.int32()),  # distinct pages of the site, over all crawls
        ("cut_off", pa.int32()),  # of the last crawl that had it
        ("n_sites_seen", pa.int32()),
        ("example", pa.string()),
        ("mined_at", pa.timestamp("us", tz="UTC")),  # of the last crawl that had it
        ("first_seen", pa.timestamp("us", tz="UTC")),
        ("last_seen", pa.timestamp("us", tz="UTC")),
        ("vanished", pa.bool_()),  # not in the site's last crawl
    ],
    metadata={VERSION_KEY: VERSION},
)
MATCHED: Final = pa.schema([TEMPLATES.field(name) for name in (SITE, "view", "regex", "tokens", "n_pages")])
"""The columns that cleaning reads."""

Row: TypeAlias = dict[str, Any]
"""A row of TEMPLATES."""

OK, TOO_FEW_PAGES, NO_TEMPLATES = "ok", "too_few_pages", "no_templates"


@dataclass(frozen=True, slots=True)
class Template:
    """A string of tokens that a site repeats.

    `tokens`: a regular expression for each token, an escaped literal or a mutable pattern. `regex`: all
    tokens as one expression, for Python's `re`. `document_frequency`: the number of distinct pages that hold
    the template; `n_occurrences`: the number of its occurrences in them; `whole_lines`: the share of
    occurrences that fill whole lines. `example`: the text of one occurrence.
    """

    regex: str
    tokens: tuple[str, ...]
    n_tokens: int
    document_frequency: int
    n_occurrences: int
    whole_lines: float
    example: str


@dataclass(frozen=True, slots=True)
class Mined:
    """The result of mining one site.

    `n_seen` pages were given, `n_pages` of them are distinct (near-identical pages count once). `cut_off`:
    the least document frequency of a template. If `status` is not "ok", no templates; `reason` says why.
    """

    site: str
    view: str
    status: str
    reason: str | None
    n_seen: int
    n_pages: int
    cut_off: int
    templates: tuple[Template, ...]


def rows(mined: Mined, mined_at: datetime) -> pa.Table:
    """The rows of one site's templates; none if the site was not mined."""
    same = {"mined_at": mined_at, "first_seen": mined_at, "last_seen": mined_at, "vanished": False}
    same |= {SITE: mined.site, "view": mined.view, "n_pages": mined.n_pages, "cut_off": mined.cut_off}
    found = [{**same, **asdict(one), "n_sites_seen": 1} for one in mined.templates]
    return pa.Table.from_pylist(found, schema=TEMPLATES)


KIND: Final = Kind("table of templates", "victor templates mine", VERSION_KEY, VERSION, TEMPLATES)


def read(path: str | Path) -> pa.Table:
    """A whole table of templates in a local or remote file; InputError for other files and other versions."""
    files = SiteFiles(str(path), KIND)
    found = files.read(0, len(files), TEMPLATES)
    refuse_faults(found, str(path))
    return found


def refuse_faults(rows: pa.Table, path: str) -> None:
    """TableError if `mine` would not write these rows: the matching time of others has no known limit."""
    columns = [rows[name].to_pylist() for name in ("view", "regex", "tokens")]
    distinct = dict.fromkeys(chain.from_iterable(filter(None, columns[-1])))
    words = {token: None if token is None else patterns.literal_token(token) for token in distinct}
    mutable = {token or "" for token, word in words.items() if word is None}
    faults = [token for token, word in words.items() if word is not None and len(word.split()) != 1]
    for token in mutable:
        inner = token.removeprefix("(?:").removesuffix(")")
        faults += [] if token == patterns.mutable(inner) and patterns.is_cheap(inner) else [token]
    faults += [f"no {name}" for name in rows.column_names if rows[name].null_count]
    if len(mutable) > _MAX_MUTABLE:
        faults.append(f"{len(mutable)} mutable patterns")
    for view, regex, tokens in () if faults else zip(*columns, strict=True):
        tokeniser = TOKENISERS.get(view)
        anchors = patterns.anchors_of(regex or "", tokeniser) if tokeniser else 0
        if tokeniser is None or tokens is None or regex != patterns.glue(tokens, anchors, tokeniser):
            faults.append(view if tokeniser is None else regex)
    if faults:
        why = f"rows that victor-spark did not write: {str(faults[0])!r:.100}"
        raise TableError(f"{KIND.unreadable}: {path}: {why}")


def with_grouping(table: pa.Table, grouping: str) -> pa.Table:
    """The table, with how its pages were grouped into sites."""
    return table.replace_schema_metadata({**(table.schema.metadata or {}), tables.GROUPING_KEY: grouping})


_IDIOM_SITES, _IDIOM_SHARE, _WHOLE_LINES = 5, 0.1, 0.5


def is_idiom(row: Mapping[str, Any], n_sites: int) -> bool:
    """Whether a row is an idiom of the language (Foschini, section 3.3), one of `n_sites` mined sites.

    An idiom is on at least five sites and a tenth of all sites, and less than half of its occurrences fill
    whole lines: "as much as" is one, "Read more" is not.
    """
    least = max(_IDIOM_SITES, _IDIOM_SHARE * n_sites)
    return bool(row["n_sites_seen"] >= least and row["whole_lines"] < _WHOLE_LINES)


ADDED, VANISHED, KEPT = "added", "vanished", "kept"

_FREQUENCIES: Final = [(f"{when}_document_frequency", pa.int32()) for when in ("old", "new")]
_TEXTS: Final = [(name, pa.string()) for name in (SITE, "view", "regex", "change", "example")]
DIFFERENCE: Final = pa.schema([*_TEXTS[:-1], *_FREQUENCIES, _TEXTS[-1]])


def update(old: list[Row], new: list[Row], *, is_without: bool = False) -> list[Row]:
    """The rows of a site after a second crawl, with all old ones.

    Frequencies and numbers of pages are added up. A template that the new crawl lacks is kept and marked
    `vanished`, unless new templates cover its example from end to end. Without new templates the rows stay
    unchanged, or all are `vanished` if the site was mined (`is_without`).
    """
    rows, fresh = ({row["regex"]: dict(row) for row in given} for given in (old, new))
    matcher = Matcher([(row["tokens"], row["regex"]) for row in new], new[0]["view"]) if old and new else None
    for regex, row in rows.items():
        if matcher is None:
            row["vanished"] = row["vanished"] or is_without
            continue
        row["n_pages"] += new[0]["n_pages"]
        if (again := fresh.pop(regex, None)) is not None:
            for name in ("document_frequency", "n_occurrences"):
                row[name] += again[name]
            for name in ("cut_off", "n_sites_seen", "example", "mined_at", "last_seen", "whole_lines"):
                row[name] = again[name]
            row["vanished"] = False
            continue
        row["vanished"] = matcher.intervals(row["example"]).tolist() != [[0, len(row["example"])]]
        if not row["vanished"]:
            row["last_seen"] = new[0]["mined_at"]
    n_before = old[0]["n_pages"] if old else 0
    found = [*rows.values(), *({**row, "n_pages": row["n_pages"] + n_before} for row in fresh.values())]
    return sorted(found, key=lambda row: (row["vanished"], -row["document_frequency"], row["regex"]))


def diff(old: pa.Table, new: pa.Table) -> pa.Table:
    """The changes from one table to another: for each template a row, with added, vanished or kept.

    A template that is marked `vanished` counts as absent.
    """
    rows = (table.filter(pc.invert(table["vanished"])).to_pylist() for table in (old, new))
    before, after = ({(row[SITE], row["view"], row["regex"]): row for row in found} for found in rows)
    records = []
    for key in sorted(before.keys() | after.keys()):
        change = KEPT if key in before and key in after else ADDED if key in after else VANISHED
        frequencies = [found.get(key, {}).get("document_frequency") for found in (before, after)]
        example = (after.get(key) or before[key])["example"]
        records.append(dict(zip(DIFFERENCE.names, (*key, change, *frequencies, example), strict=True)))
    return pa.Table.from_pylist(records, schema=DIFFERENCE)
