"""victor-spark: web crawls into clean text, with the reason for every block kept or dropped."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from victor_spark.document import Document

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


def cleaners() -> tuple[str, ...]:
    """The names of the cleaners that can be loaded here; `a+b` makes a cascade of two."""
    from victor_spark import extractors

    return extractors.available()
