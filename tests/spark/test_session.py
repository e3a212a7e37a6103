"""What the session sets by itself, and that whoever says otherwise wins."""

import pytest
from pyspark import SparkConf
from pyspark.sql import SparkSession

from victor_spark.spark.session import QUICK, SMALL, _defaults

pytestmark = pytest.mark.spark

OPTIONS = "spark.executor.extraJavaOptions"


def conf(**values: str) -> SparkConf:
    """A configuration of these values alone, `_` for `.` in their names."""
    pairs = [(f"spark.{name.replace('_', '.')}", value) for name, value in values.items()]
    return SparkConf(loadDefaults=False).setAll(pairs)


def test_java_starts_quickly_on_the_driver(spark: SparkSession) -> None:
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    arguments = jvm.java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments()
    assert QUICK in list(arguments)


def test_executors_get_a_quick_java_with_a_small_heap(spark: SparkSession) -> None:
    assert spark
    assert _defaults("spark://one:7077", conf())[OPTIONS] == f"{QUICK} {SMALL}"


@pytest.mark.parametrize("name", ["executor_extraJavaOptions", "executor_defaultJavaOptions"])
def test_options_for_java_that_the_user_set_are_all_there_are(spark: SparkSession, name: str) -> None:
    assert spark
    assert OPTIONS not in _defaults("spark://one:7077", conf(**{name: "-XX:+UseZGC"}))


def test_the_driver_keeps_little_of_what_is_over_unless_told_to(spark: SparkSession) -> None:
    assert spark.sparkContext.getConf().get("spark.ui.retainedTasks") == "10000"
    kept = _defaults("local[2]", conf(ui_retainedTasks="7"))
    assert "spark.ui.retainedTasks" not in kept
    assert "spark.ui.retainedStages" in kept
