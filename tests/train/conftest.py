"""The feature table that small models are trained with."""

import pytest

from victor_spark.model.features import FeatureTable, from_conf


@pytest.fixture(scope="session")
def table() -> FeatureTable:
    """The features of conf/."""
    return from_conf("victor-2008")
