"""Executors that lack a package end the run with a line that says what to install."""

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from victor_spark.errors import ConfigurationError
from victor_spark.spark.session import session

pytestmark = pytest.mark.spark


def lacking(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import no_such_package  # type: ignore[import-not-found]

    yield no_such_package


def test_a_package_that_executors_lack_is_named(spark: SparkSession) -> None:
    with (
        pytest.raises(ConfigurationError, match=r"Python has no no_such_package: .*victor package"),
        session() as active,
    ):
        active.range(3).mapInArrow(lacking, "id long").collect()
    assert spark.range(3).count() == 3
