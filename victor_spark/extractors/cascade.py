"""Cascades `a+b`: b cleans the output of a (Lejeune and Zhu 2018, section 5, "pipelines")."""

from dataclasses import replace
from typing import Final

from victor_spark.blocks import AFTERWARDS, COLUMNS, OTHER, Bool, Cleaner, Page, Scores, uniform
from victor_spark.errors import UsageError
from victor_spark.html.segment import segment
from victor_spark.templates.coverage import of_blocks

JOINT: Final = "+"


def parts(name: str) -> tuple[str, ...]:
    """The cleaners a name is made of, in the order they run; UsageError for `a+`, `+b`, `a++b`."""
    names = tuple(name.split(JOINT))
    if not all(names) and name:
        raise UsageError(f"{name!r} is no cascade: write a+b, two or more cleaners joined by {JOINT}")
    return names


def then(first: Cleaner, second: Cleaner) -> Cleaner:
    """A cleaner of two, the second of which gets only the text that the first keeps."""

    def clean(page: Page) -> Scores:
        kept = first(page).kept
        scores = uniform(len(kept), OTHER)  # blocks that the first drops have P(other) = 1
        if not kept.any():
            return scores
        of_kept = second(left(page, kept))
        scores.probabilities[kept] = of_kept.probabilities
        scores.kept[kept] = of_kept.kept
        return replace(scores, text=of_kept.text)

    return clean


_KEPT: Final = tuple(name for name, column in COLUMNS.items() if AFTERWARDS in column.notes)


def left(page: Page, kept: Bool) -> Page:
    """The page that is left when the text of the other blocks is deleted from its HTML; tags stay.

    Tags separate blocks, so deleting text neither joins nor splits any: row i of the new page is the
    i-th kept row of the old one, while `split.*`, groups and paragraphs are those of the new HTML.
    Offsets are into the new HTML; scores have no offsets.
    """
    old = page.blocks
    dropped = ~kept
    cuts = zip([0, *old.end[dropped].tolist()], [*old.start[dropped].tolist(), len(page.html)], strict=True)
    html = "".join(page.html[start:end] for start, end in cuts)
    known = {name: getattr(old, name)[kept] for name in _KEPT}
    blocks = replace(segment(html, old.source_elements), **known)
    covered = None if page.in_template is None else page.in_template[of_blocks(old, kept)]
    return replace(page, html=html, blocks=blocks, in_template=covered)
