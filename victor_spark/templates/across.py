"""The second-level filter: a string that many sites repeat is an idiom, no template (Foschini, 3.3)."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True, slots=True)
class AcrossSettings:
    """When a string is an idiom: many sites have it, and it does not fill lines.

    A template goes when at least `min_sites` sites and `min_site_share` of all mined sites have it,
    unless `whole_lines` of its occurrences fill whole lines, as "Read more" does and "as much as" does not.
    """

    min_sites: int = 5
    min_site_share: float = 0.1
    whole_lines: float = 0.5


def filter_across(table: pa.Table, n_sites: int, settings: AcrossSettings = AcrossSettings()) -> pa.Table:
    """The rows that stay, by the column n_sites_seen (`count_sites` fills it; in Spark a join does)."""
    least = max(settings.min_sites, settings.min_site_share * n_sites)
    rare = pc.less(table["n_sites_seen"], least)
    lines = pc.greater_equal(table["whole_lines"], settings.whole_lines)
    return table.filter(pc.or_(rare, lines))


def count_sites(table: pa.Table) -> pa.Table:
    """The table with n_sites_seen: how many sites have this expression in this view."""
    keys = ["view", "regex"]
    distinct = table.select(["site", *keys]).group_by(["site", *keys]).aggregate([])
    counted = {
        (row["view"], row["regex"]): row["site_count"]
        for row in distinct.group_by(keys).aggregate([("site", "count")]).to_pylist()
    }
    pairs = zip(table["view"].to_pylist(), table["regex"].to_pylist(), strict=True)
    column = pa.array([counted[pair] for pair in pairs], pa.int32())
    return table.set_column(
        table.schema.get_field_index("n_sites_seen"), table.schema.field("n_sites_seen"), column
    )
