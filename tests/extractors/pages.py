"""Pages as input of cleaners, and the text that cleaners keep."""

from tests.html.pages import texts_of
from victor_spark.blocks import Page, Scores
from victor_spark.html.canonical import canonical
from victor_spark.html.segment import segment


def page(source: str) -> Page:
    """The page of a source, language not looked at."""
    document = canonical(source)
    blocks = segment(document.html, document.elements)
    return Page(document.html, blocks, title=blocks.title)


def kept(of: Page, scores: Scores) -> list[str]:
    """The texts of the blocks that are kept."""
    return [text for text, keep in zip(texts_of(of.blocks), scores.kept.tolist(), strict=True) if keep]
