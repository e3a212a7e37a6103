"""An algorithm for the html extraction of NeMo Curator, instead of `JusTextExtractor`."""

from typing import Any

from nemo_curator.stages.text.download.html_extractors import HTMLExtractorAlgorithm

import victor_spark
from victor_spark.adapters import page
from victor_spark.extractors.victor import NAME


class VictorExtractor(HTMLExtractorAlgorithm):  # type: ignore[misc] # not installed where mypy runs
    """Gives the kept paragraphs; pages without any are dropped.

    `options` are those of `victor_spark.load`. Curator identifies the language first, and passes only pages
    in languages of its `stop_lists`; the words of these lists are not used here.
    """

    def __init__(self, cleaner: str = NAME, **options: Any) -> None:
        self.clean = victor_spark.load(cleaner, **options)

    def extract_text(self, html: str, stop_words: frozenset[str], language: str) -> list[str] | None:  # noqa: ARG002 - Curator passes them
        """The paragraphs of a page; None if none is kept."""
        text = self.clean(page(html)).text
        return text.split("\n") if text else None
