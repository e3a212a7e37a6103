"""Documents made by hand: a page, and the blocks of it that are kept."""

from collections.abc import Collection

import numpy as np

from victor_spark.blocks import HEADER, OTHER, TEXT, Scores
from victor_spark.document import Document
from victor_spark.html.canonical import canonical
from victor_spark.html.segment import segment
from victor_spark.rendering.plain import plain_text


def document(source: str, dropped: Collection[str | int] = ()) -> Document:
    """The page with all blocks kept but those of these texts or rows, and those the pipeline never keeps.

    Headings are labelled headers.
    """
    page = canonical(source)
    blocks = segment(page.html, page.elements)
    spans = zip(blocks.text_start.tolist(), blocks.text_end.tolist(), strict=True)
    texts = [blocks.text[start:end] for start, end in spans]
    kept = np.array(
        [row not in dropped and text not in dropped for row, text in enumerate(texts)], dtype=bool
    )
    kept &= ~blocks.left_out
    probabilities = np.zeros((len(blocks), 3))
    label = np.where(kept, np.where(blocks.heading_level > 0, HEADER, TEXT), OTHER)
    probabilities[range(len(blocks)), label] = 1.0
    return Document(
        status="ok",
        reason=None,
        text=plain_text(blocks, kept, page.html),
        html=page.html,
        title=blocks.title,
        url=None,
        language=None,
        language_score=None,
        charset=None,
        cleaner="by hand",
        columns=blocks,
        scores=Scores(probabilities, kept),
        kept=kept,
    )
