"""victor-spark: web crawls into clean text, with the reason for every block kept or dropped."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from victor_spark.page import Document

__version__ = "0.1.0"
__all__ = ["__version__", "clean", "cleaners", "language_shares"]


def clean(
    html: bytes | str, url: str | None = None, cleaner: str = "victor", threshold: float | None = None
) -> "Document":
    """Cleans one page; see `victor_spark.pipeline.clean`. The first call loads the model."""
    from victor_spark import pipeline

    return pipeline.clean(html, url, cleaner, threshold)


def language_shares(document: "Document") -> dict[str, float]:
    """The share of a cleaned page's letters per language; see `victor_spark.pipeline.language_shares`."""
    from victor_spark import pipeline

    return pipeline.language_shares(document)


if TYPE_CHECKING:

    def cleaners() -> tuple[str, ...]:
        """The names of the cleaners that can be loaded here."""

else:

    def __getattr__(name):
        # The package of that name is callable; it is imported when somebody asks for it.
        if name == "cleaners":
            return importlib.import_module("victor_spark.cleaners")
        raise AttributeError(f"module 'victor_spark' has no attribute {name!r}")
