"""Line-block: content by the density of text, links and title words in runs of source lines (Pan Ei San).

No DOM: lines of the HTML, joined to line-blocks. As lines are stretches of the canonical HTML, the
text blocks of the segmentation map to them exactly, so this is a cleaner with a label per block and
not only an extractor. Where the paper leaves a choice open or contradicts itself, the variant that fits
annotated pages best is used (research/fit_rules.py tries the others):

- Thresholds are the paper's adaptive ones: a constant times the standard deviation of the feature over the
  page's line-blocks. The paper's constants (30, 0.2, 2) are used if a feature is the same everywhere.
- The title keyword density is the inverse of equation (3): the mean number of occurrences of a keyword that
  is found. As printed it is below 1, so `TKD >= 2` would never hold.
- The rule is the paper's step 3: dense in text and not in links, or else dense in title keywords, "to remedy"
  the loss of important text that is not dense.

Lengths are in characters, one of a script written without spaces counting three.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

from victor_spark import configuration, resources
from victor_spark.blocks import Blocks, Bool, Cleaner, Float64, Int32, Page, Scores, by_rule
from victor_spark.html.characters import properties
from victor_spark.html.tags import BLOCK_LEVEL, TAG, VOID, inside
from victor_spark.kernels.num import UNSPACED
from victor_spark.templates.coverage import sums
from victor_spark.words import words

FILE: Final = "line_block.toml"
_TAG_OR_NEWLINE: Final = re.compile(rf"{TAG}|\n")
UNSPACED_WEIGHT: Final = 3
"""The ratio of the length of a word with its space (6) to that of a word of an unspaced script (2)."""
MIN_KEYWORD: Final = 4
"""Letters of a title's keyword at least, in scripts with spaces: a stop list for all languages."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Limits of the three features, as they are or as multiples of a standard deviation."""

    ttr: float
    attr: float
    tkd: float


@dataclass(frozen=True, slots=True)
class Options:
    """All of conf/line_block.toml; `near` joins lines with text that are at most that many lines apart."""

    near: int
    constant: Thresholds
    deviation: Thresholds


@dataclass(frozen=True, slots=True)
class Features:
    """Equations (1) to (3), one row each: text-to-tag and anchor-text-to-text ratio, title density."""

    ttr: Float64
    attr: Float64
    tkd: Float64


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a page's source, or line-blocks: which one each text block is on, and the tags on each."""

    of_block: Int32
    n_tags: Int32


@dataclass(slots=True)
class _Scan:
    """State of the scan: the number of tags on each line so far, and how the current line ends."""

    n_tags: list[int] = field(default_factory=lambda: [0])
    is_empty: bool = True
    ends_inline: bool = False
    newline: bool = False

    def read(self, html: str, start: int, end: int) -> None:
        """The tags and newlines between two texts: a line ends before and after block-level elements."""
        for match in _TAG_OR_NEWLINE.finditer(html, start, end):
            closing, name = match[1], match[2]
            if name is None:
                self.newline = self.ends_inline
            elif name not in BLOCK_LEVEL:
                self.inline()
                self.n_tags[-1] += 1
            else:
                if not closing:
                    self.end_line()
                self.is_empty = self.ends_inline = self.newline = False
                self.n_tags[-1] += 1
                if closing or name in VOID:
                    self.end_line()

    def inline(self) -> None:
        """Text or an inline tag: a newline before it counts only after another of the kind."""
        if self.newline:
            self.end_line()
        self.is_empty, self.ends_inline = False, True

    def end_line(self) -> None:
        """Ends the current line, unless it is empty."""
        if not self.is_empty:
            self.n_tags.append(0)
        self.is_empty, self.ends_inline, self.newline = True, False, False


def lines(page: Page) -> Lines:
    """Cuts the source into lines: at newlines, before block-level start tags, after block-level end tags.

    This is the paper's `break_original_lines`; so a page on a single line has the lines it would
    have if it were written out. White space that HTML drops makes no line: newlines beside
    block-level tags, and all but the first of several. A run of text stays on one line, even with
    newlines inside: these are neighbours, and would be of one line-block anyway.
    """
    scan, of_block, after = _Scan(), [], 0
    for start, end in zip(page.blocks.start.tolist(), page.blocks.end.tolist(), strict=True):
        scan.read(page.html, after, start)
        scan.inline()
        of_block.append(len(scan.n_tags) - 1)
        after = end
    scan.read(page.html, after, len(page.html))
    return Lines(np.array(of_block, dtype=np.int32), np.array(scan.n_tags, dtype=np.int32))


def line_blocks(of_page: Lines, near: int) -> Lines:
    """Joins neighbouring lines with text no more than `near` lines apart, with the lines between."""
    begins = np.diff(of_page.of_block, prepend=-near - 1) > near
    number = np.cumsum(begins).astype(np.int32) - 1
    firsts = of_page.of_block[begins]
    lasts = of_page.of_block[np.append(begins[1:], True)] if len(begins) else firsts
    total = np.concatenate([[0], np.cumsum(of_page.n_tags)])
    return Lines(number.astype(np.int32), (total[lasts + 1] - total[firsts]).astype(np.int32))


def load(path: Path | None = None) -> Cleaner:
    """`line-block` by conf/line_block.toml (or `path`); ConfigurationError for a bad file."""
    options = configuration.read(path or resources.directory("conf") / FILE, Options)
    return lambda page: clean(page, options)


def clean(page: Page, options: Options) -> Scores:
    """0/1 probabilities; kept blocks in h1–h6 are labelled header."""
    joined = line_blocks(lines(page), options.near)
    found = features(page, joined)
    kept = content_line_blocks(found, limits(found, options))[joined.of_block]
    return by_rule(kept, page.blocks.heading_level > 0)


def features(page: Page, joined: Lines) -> Features:
    """The three features of the line-blocks. A line-block without tags counts as having one."""
    n, length = len(joined.n_tags), weighted_lengths(page.blocks)
    in_link = inside(page.blocks, "a")
    text = np.bincount(joined.of_block, weights=length, minlength=n)
    anchor_text = np.bincount(joined.of_block, weights=length * in_link, minlength=n)
    found = keyword_counts(page, joined)
    n_keywords = np.array([len(each) for each in found], dtype=np.float64)
    n_occurrences = np.array([each.total() for each in found], dtype=np.float64)
    return Features(
        ttr=text / np.maximum(joined.n_tags, 1),
        attr=anchor_text / np.maximum(text, 1),
        tkd=n_occurrences / np.maximum(n_keywords, 1),
    )


def weighted_lengths(blocks: Blocks) -> Float64:
    """Characters per block, those of unspaced scripts counted UNSPACED_WEIGHT times."""
    n_unspaced = sums(blocks, properties()[blocks.points] & UNSPACED != 0)
    length = blocks.text_end - blocks.text_start + (UNSPACED_WEIGHT - 1) * n_unspaced
    return np.asarray(length, dtype=np.float64)


def keyword_counts(page: Page, joined: Lines) -> list[Counter[str]]:
    """The number of occurrences of the title's keywords in each line-block, for those that occur."""
    counts: list[Counter[str]] = [Counter() for _ in joined.n_tags]
    if wanted := set(keywords(page.title or "")):
        for number, text in zip(joined.of_block.tolist(), page.blocks.texts(), strict=True):
            counts[number].update(word for word in keywords(text) if word in wanted)
    return counts


def keywords(text: str) -> list[str]:
    """Words that can be keywords: those of MIN_KEYWORD letters, and pairs of letters of unspaced scripts."""
    found = words(text)
    pairs = [
        first + second for first, second in pairwise(found) if _is_unspaced(first) and _is_unspaced(second)
    ]
    return [word for word in found if len(word) >= MIN_KEYWORD] + pairs


def _is_unspaced(word: str) -> bool:
    return len(word) == 1 and bool(properties()[ord(word)] & UNSPACED)


def limits(found: Features, options: Options) -> Thresholds:
    """The adaptive thresholds; the paper's constant for a feature that is the same everywhere."""
    adaptive = []
    for name in Thresholds.__slots__:
        feature = getattr(found, name)
        spread = float(feature.std()) if len(feature) else 0.0
        constant, factor = getattr(options.constant, name), getattr(options.deviation, name)
        adaptive.append(factor * spread if spread else constant)
    return Thresholds(*adaptive)


def content_line_blocks(found: Features, limits: Thresholds) -> Bool:
    """Which line-blocks are content: dense in text and not in links, or else dense in title keywords."""
    dense = (found.ttr > limits.ttr) & (found.attr < limits.attr)
    return np.asarray(dense | ((found.tkd > 0) & (found.tkd >= limits.tkd)))
