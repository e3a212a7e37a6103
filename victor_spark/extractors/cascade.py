"""Cascades `a+b`: b cleans the output of a (Lejeune and Zhu 2018, section 5, "pipelines")."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Final

import numpy as np

from victor_spark.blocks import OTHER, Bool, Cleaner, Page, Scores, uniform
from victor_spark.errors import UsageError
from victor_spark.html.segment import segment

JOINT: Final = "+"


def parts(name: str) -> tuple[str, ...]:
    """The cleaners a name is made of, in the order they run; UsageError for `a+`, `+b`, `a++b`."""
    names = tuple(name.split(JOINT))
    if not all(names) and name:
        raise UsageError(f"{name!r} is no cascade: write a+b, two or more cleaners joined by {JOINT}")
    return names


def compose(cleaners: Sequence[Cleaner]) -> Cleaner:
    """One cleaner made of several; each gets only the text that the previous ones kept."""
    return reduce(_then, cleaners)


def _then(first: Cleaner, second: Cleaner) -> Cleaner:
    def clean(page: Page) -> Scores:
        kept = first(page).kept
        scores = uniform(len(kept), OTHER)  # what the first drops is `other` for certain
        if not kept.any():
            return scores
        of_kept = second(left(page, kept))
        scores.probabilities[kept] = of_kept.probabilities
        scores.kept[kept] = of_kept.kept
        return replace(scores, text=of_kept.text)

    return clean


def left(page: Page, kept: Bool) -> Page:
    """The page that is left when the text of the other blocks is deleted from its HTML; tags stay.

    Tags separate blocks, so deleting text neither joins nor splits any: row i of the new page is the
    i-th kept row of the old one, while `split.*`, groups and paragraphs are those of the new HTML.
    Offsets are into the new HTML; they end here, since scores have none.
    """
    old = page.blocks
    dropped = ~kept
    cuts = zip([0, *old.end[dropped].tolist()], [*old.start[dropped].tolist(), len(page.html)], strict=True)
    html = "".join(page.html[start:end] for start, end in cuts)
    known = {name: getattr(old, name)[kept] for name in ("langid1", "langid2", "template_share")}
    blocks = replace(segment(html, old.source_elements), **known)
    return replace(page, html=html, blocks=blocks, in_template=_in_template(page, kept))


def _in_template(page: Page, kept: Bool) -> Bool | None:
    """The code points of the remaining text that templates cover."""
    if page.in_template is None:
        return None
    places = zip(page.blocks.text_start[kept].tolist(), page.blocks.text_end[kept].tolist(), strict=True)
    return np.concatenate([page.in_template[:0], *(page.in_template[a : b + 1] for a, b in places)])
