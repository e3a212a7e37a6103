"""victor-spark: web crawls into clean text, with the reason for every block kept or dropped."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from victor_spark.document import Document

__version__ = "0.1.0"
__all__ = ["__version__", "clean", "cleaners", "language_shares"]


def clean(
    html: bytes | str, url: str | None = None, cleaner: str = "victor", threshold: float | None = None
) -> "Document":
    """Cleans one page: the text worth keeping, and the reason for every block kept or dropped.

    `html` is the page's content, as bytes or str, not its path or address; `url` is its address, if known.
    `cleaner` is one of `cleaners()`. `threshold` keeps blocks with P(other) below it (None: the cleaner
    decides page by page). A page without content, or a file that is not a page, gives a document whose
    `status` and `reason` say why. The first call loads the model.

    Raises TypeError for other types of `html`, InputError for a string that is an address or a path,
    UsageError for an unknown cleaner or a threshold outside 0..1.
    """
    from victor_spark import pipeline

    return pipeline.clean(html, url, cleaner, threshold)


def language_shares(document: "Document") -> dict[str, float]:
    """The share of a page's letters in each language (ISO 639), largest first, at any status of the page.

    Languages are identified block by block; blocks that are too short are left out.
    """
    from victor_spark import pipeline
    from victor_spark.langid import identify
    from victor_spark.langid.labels import iso

    blocks = document.columns
    by_code: dict[str, float] = {}
    found = identify.shares(blocks.points, blocks.text_start, blocks.text_end, pipeline.profiles())
    for label, share in found.items():
        by_code[iso(label)] = by_code.get(iso(label), 0.0) + share
    return by_code


def cleaners() -> tuple[str, ...]:
    """The names of the cleaners that can be loaded here; `a+b` makes a cascade of two."""
    from victor_spark import extractors

    return extractors.available()
