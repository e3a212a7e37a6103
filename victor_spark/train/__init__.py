"""Trains the models that `victor_spark.model` and `victor_spark.extractors` load; cleaning never imports it.

CRFs, trees and weights are fitted by libraries of the extra `train`; each is imported where it is used.
"""

from importlib.util import find_spec

from victor_spark.errors import UsageError
from victor_spark.model.features import FeatureTable


def check_installed(table: FeatureTable) -> None:
    """Raises UsageError naming the extra when a library that models of this table need is not installed."""
    needed = ("pycrfsuite", "catboost", "sklearn") if table.is_learnt else ("pycrfsuite",)
    if missing := [name for name in needed if find_spec(name) is None]:
        raise UsageError(f"training needs {' and '.join(missing)}: pip install 'victor-spark[train]'")
