"""The second-level filter: a string that many sites repeat is an idiom, no template (Foschini, 3.3)."""

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class AcrossSettings:
    """A template goes when at least `min_sites` sites and `min_site_share` of all mined sites have it,
    unless it mostly (`whole_lines`) fills whole lines, as "Read more" does and "as much as" does not."""

    min_sites: int = 5
    min_site_share: float = 0.1
    whole_lines: float = 0.5


def filter_across(table: pa.Table, n_sites: int, settings: AcrossSettings = AcrossSettings()) -> pa.Table:
    """The rows that stay, by the column n_sites_seen (`count_sites` fills it; in Spark a join does)."""
    raise NotImplementedError


def count_sites(table: pa.Table) -> pa.Table:
    """The table with n_sites_seen: how many sites have this regex in this view."""
    raise NotImplementedError
