"""Kimatu: the heuristic cleaner of Saralegi & Leturia (2007), all seven steps of section 3.4.

Sure blocks are found by a ratio; then blocks are taken in or thrown out by where they stand, by
what they repeat and by whether they look like the sure ones. Where the paper leaves things open:

- A text element is a paragraph of the segmentation. Distances count text elements, 1 for
  neighbours; lengths count words (two letters of a script written without spaces are one).
- Elements look alike when they agree on the tags that shape text, on the presentational
  attributes in force and on the nearest class.
- What is rejected in steps 3 and 4 stays out: later steps don't take it in again.
- Step 5 divides a block's ratio by the mean ratio of the sure blocks of its look; it is near when
  it is near any sure block.
- Step 6 measures each candidate against the nearest other one; step 7's references are the
  candidates that are left then.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from victor_spark import configuration, resources
from victor_spark.blocks import HEADER, LABELS, OTHER, TEXT, Blocks, Bool, Float64, Page, Scores
from victor_spark.extractors.kimatu_blocks import (
    Elements,
    KimatuBlocks,
    RatioConstants,
    content_relevance,
    detect,
    distances,
    elements,
)
from victor_spark.extractors.repeated_words import RepetitionConstants, function_blocks, quotes
from victor_spark.html.tags import BIT

FILE: Final = "kimatu.toml"


@dataclass(frozen=True, slots=True)
class StepConstants:
    """Thresholds of the steps: ratios, and distances in text elements.

    `near` joins elements (step 1); a candidate is deleted when its distance is more than `far`
    times the geometric mean and its ratio is not above `high_ratio` (step 6).
    """

    near: int
    sure_ratio: float
    dispersed_ratio: float
    dispersed_near: int
    far: float
    high_ratio: float
    relevant_ratio: float
    relevant_near: int
    heading_words: int


@dataclass(frozen=True, slots=True)
class Constants:
    """All of conf/kimatu.toml."""

    ratios: RatioConstants
    repetition: RepetitionConstants
    steps: StepConstants


def load(path: Path | None = None) -> Callable[[Page], Scores]:
    """`kimatu` with the constants of conf/kimatu.toml (or `path`); ConfigurationError for a bad file."""
    constants = configuration.read(path or resources.directory("conf") / FILE, Constants)
    return lambda page: clean(page, elements(page), constants)


def clean(page: Page, found: Elements, constants: Constants) -> Scores:
    """0/1 probabilities of a page whose text elements are `found`; headings are labelled header."""
    blocks = detect(found, constants.steps.near)
    kept = candidates(blocks, constants)[blocks.of_element][found.of_block]
    heading = headings(found, page.blocks, constants.steps.heading_words)[found.of_block]
    labels = np.where(kept, np.where(heading, HEADER, TEXT), OTHER)
    return Scores(np.eye(len(LABELS))[labels], kept)


def candidates(blocks: KimatuBlocks, constants: Constants) -> Bool:
    """Which blocks are content after steps 2 to 7."""
    steps = constants.steps
    ratio = content_relevance(blocks, constants.ratios)
    chosen = ratio > steps.sure_ratio
    if not chosen.any():
        return chosen
    rejected = function_blocks(blocks, constants.repetition)
    chosen &= ~rejected
    rejected |= quotes(blocks, chosen, constants.repetition)
    chosen &= ~rejected
    chosen |= dispersed(blocks, ratio, chosen, steps) & ~rejected
    chosen &= ~far_away(blocks, ratio, chosen, steps)
    near = distances(blocks, chosen) <= steps.relevant_near
    return chosen | (near & (ratio > steps.relevant_ratio) & ~rejected)


def dispersed(blocks: KimatuBlocks, ratio: Float64, sure: Bool, steps: StepConstants) -> Bool:
    """Step 5: which blocks look like sure ones, are near one and have a share of their ratio."""
    n_looks = int(blocks.look.max()) + 1
    n_sure = np.bincount(blocks.look[sure], minlength=n_looks)
    total = np.bincount(blocks.look[sure], weights=ratio[sure], minlength=n_looks)
    reference = (total / np.maximum(n_sure, 1))[blocks.look]
    alike = (n_sure > 0)[blocks.look] & (ratio > steps.dispersed_ratio * reference)
    return np.asarray(alike & (distances(blocks, sure) <= steps.dispersed_near))


def far_away(blocks: KimatuBlocks, ratio: Float64, chosen: Bool, steps: StepConstants) -> Bool:
    """Step 6: which candidates are far from the others by the geometric mean, with no high ratio."""
    if chosen.sum() < 2:
        return np.zeros(len(blocks), dtype=bool)
    distance = distances(blocks, chosen)
    mean = np.exp(np.log(distance[chosen]).mean())
    return np.asarray(chosen & (distance > steps.far * mean) & (ratio <= steps.high_ratio))


def headings(found: Elements, page: Blocks, max_words: int) -> Bool:
    """Which text elements are headings: in h1–h6, or bold as a whole, short and without a sentence's end."""
    n = len(found.first)
    bold = (page.containers & np.uint64(BIT["class-bold"])) != 0
    all_bold = np.bincount(found.of_block[~bold], minlength=n) == 0
    last = np.searchsorted(found.of_block, np.arange(n), side="right") - 1
    short = found.n_words <= max_words
    in_list = page.in_list_item[found.first] > 0
    open_ended = page.sentence_end[last] == 0
    return np.asarray(short & ((page.heading_level[found.first] > 0) | (all_bold & open_ended & ~in_list)))
