"""Where the words stand that a cleaner keeps and shouldn't: in paragraphs of links, short ones, long ones."""

from collections.abc import Iterable
from typing import Final

import numpy as np

from victor_spark import pipeline
from victor_spark.blocks import OTHER, Bool, Float64
from victor_spark.document import Document
from victor_spark.evaluation import labelling, measuring
from victor_spark.evaluation.gold import GoldPage
from victor_spark.html.tags import CONTAINERS
from victor_spark.settings import Settings

KINDS: Final = ("right", "in paragraphs that are mostly links", "in others under 25 words", "in longer ones")
_SHORT: Final = 25
_LINK: Final = np.uint64(1 << list(CONTAINERS).index("a"))


def count(pages: Iterable[GoldPage], cleaner: str) -> dict[str, int]:
    """Kind → words kept, over the pages with reliable block labels."""
    clean = measuring.cleaner(cleaner, pipeline.models(Settings(cleaner)))
    totals = np.zeros(len(KINDS))
    for page in pages:
        document = clean(page).document
        labelled = labelling.label(page)
        if document is not None and document.status == "ok" and labelling.trainable(labelled):
            totals += _of_page(document, labelled.labels != OTHER)
    return dict(zip(KINDS, totals.astype(int).tolist(), strict=True))


def _of_page(document: Document, content: Bool) -> Float64:
    columns = document.columns
    spans = zip(columns.text_start.tolist(), columns.text_end.tolist(), strict=True)
    n_words = np.array([len(columns.text[start:end].split()) for start, end in spans], dtype=np.float64)
    of_paragraph = np.bincount(columns.paragraph, n_words)[columns.paragraph]
    in_links = np.bincount(columns.paragraph, n_words * ((columns.containers & _LINK) > 0))[columns.paragraph]
    kinds = np.select([content, in_links > of_paragraph / 2, of_paragraph < _SHORT], [0, 1, 2], 3)
    return np.bincount(kinds[document.kept], n_words[document.kept], len(KINDS)).astype(np.float64)
