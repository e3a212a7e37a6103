"""Logistic regression, as the weights of names and of origins are learnt."""

import warnings
from collections.abc import Callable
from typing import Any

from victor_spark.errors import UsageError


def fitting(what: str, **options: Any) -> Callable[..., Any]:
    """What fits scikit-learn's logistic regression with these options, as its `fit` does, and quietly.

    Raises UsageError where scikit-learn is not installed, naming `what` is to be trained.
    """
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise UsageError(f"training {what} needs scikit-learn: pip install 'victor-spark[train]'") from error

    def fit(*data: Any, **weights: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it stops before it has converged, as it should
            return LogisticRegression(**options).fit(*data, **weights)

    return fit
