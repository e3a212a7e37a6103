"""Training without some features, to measure what they are worth."""

from collections.abc import Collection
from dataclasses import replace

from victor_spark.blocks import Float32
from victor_spark.errors import ConfigurationError, suggestion
from victor_spark.model.features import FeatureTable


def without(table: FeatureTable, names: Collection[str]) -> FeatureTable:
    """The table with some features silenced (0 everywhere, no bins, in no conjunction), for ablations.

    A model trained with this table does not use them, so they are not stored in it.
    Raises ConfigurationError for a name that is no feature.
    """
    if unknown := set(names) - set(table.names):
        near = suggestion(min(unknown), table.names)
        raise ConfigurationError(f"no feature {', '.join(sorted(unknown))} in {table.feature_set}{near}")
    silent = [name in names for name in table.names]
    return replace(
        table,
        silent=tuple(row for row, off in enumerate(silent) if off),
        edges=tuple(() if off else edges for edges, off in zip(table.edges, silent, strict=True)),
        conjunctions=tuple(
            parts for parts in table.conjunctions if not any(silent[feature] for feature, _ in parts)
        ),
    )


def silenced(table: FeatureTable, values: Float32) -> Float32:
    """The values, or the first rows of them, with 0 for silent features."""
    values[[row for row in table.silent if row < len(values)]] = 0.0
    return values
