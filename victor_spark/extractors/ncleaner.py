"""NCleaner: paragraphs whose characters are likelier in clean text than in boilerplate (Evert 2008).

As Lejeune and Zhu (2018, section 3.4) describe it: character n-gram models (n up to 3) of clean and
of dirty text judge each segment by itself; no markup is looked at. Ours weighs the mean ratio
of a segment's characters against its length, as calibrated in training, so that its probabilities
can be thresholded. The settings differ by model: default, non-lexical, trained on x pairs.
"""

from collections.abc import Callable

import numpy as np

from victor_spark.blocks import HEADER, LABELS, OTHER, TEXT, Page, Scores
from victor_spark.extractors import ncleaner_model
from victor_spark.extractors.ncleaner_model import from_bytes
from victor_spark.extractors.ncleaner_segments import segments

_MOST_LOG_ODDS = 30.0


def load(stored: bytes) -> Callable[[Page], Scores]:
    """`ncleaner` and its settings; ModelError for a bad model."""
    model = from_bytes(stored)
    table = model.table()

    def clean(page: Page) -> Scores:
        found = segments(page.blocks, table)
        odds = np.clip(ncleaner_model.log_odds(found, model), -_MOST_LOG_ODDS, _MOST_LOG_ODDS)
        p_clean = (1 / (1 + np.exp(-odds)))[found.of_block]
        probabilities = np.zeros((len(page.blocks), len(LABELS)))
        content = np.where(page.blocks.heading_level > 0, HEADER, TEXT)
        probabilities[np.arange(len(content)), content] = p_clean
        probabilities[:, OTHER] = 1 - p_clean
        return Scores(probabilities, probabilities[:, OTHER] < 0.5)

    return clean
