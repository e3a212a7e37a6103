"""What the tests of the package also use: the annotated pages, the checkout, the shipped profiles."""

from collections.abc import Iterator

import pytest

from tests.conftest import annotated, pytest_configure, root
from tests.langid.conftest import shipped
from victor_spark.extractors import CLEANERS, MODELS

__all__ = ["annotated", "pytest_configure", "root", "shipped"]


@pytest.fixture(scope="module", autouse=True)
def own_cleaners() -> Iterator[None]:
    """Takes the cleaners away again that a module's tests added to those of the package."""
    before = dict(CLEANERS), dict(MODELS)
    yield
    for table, own in zip((CLEANERS, MODELS), before, strict=True):
        for name in table.keys() - own.keys():
            table.pop(name)
