"""Trains what `victor_spark.model` and `victor_spark.extractors` load. Cleaning never imports this package.

CRFs, trees and weights are fitted by libraries of the extra `train`; each is imported where it is used.
"""

from importlib.util import find_spec

from victor_spark.errors import UsageError


def check_installed(*modules: str) -> None:
    """Raises UsageError naming the extra when one of the modules is not installed."""
    if missing := [name for name in modules if find_spec(name) is None]:
        raise UsageError(f"training needs {', '.join(missing)}: pip install 'victor-spark[train]'")
