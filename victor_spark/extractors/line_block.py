"""Line-block: content by the density of text, links and title words in runs of source lines (Pan Ei San).

No DOM: lines of the HTML, joined to line-blocks. As lines are stretches of the canonical HTML, the
text blocks of the segmentation map to them exactly, so this is a cleaner with a label per block and
not only an extractor. Choices that the paper leaves open or contradicts are options in conf/line_block.toml:

- *thresholds*: `constant` (the paper's 30, 0.2, 2) or `deviation` (its adaptive mode: a constant
  times the standard deviation of the feature over the page's line-blocks).
- *title_density*: `printed` is equation (3): 1 - m / F, with m the title keywords found in the
  line-block and F how often they occur there in all. It is below 1, so `TKD >= 2` never holds.
  `frequency` is F / m, how often a keyword that is found occurs: the fraction the other way up,
  for which 2 makes sense. (printed = 1 - 1 / frequency: the order of line-blocks is the same.)
- *rule*: `all` is the paper's step 4: TTR > threshold and ATTR < threshold and TKD >= threshold.
  `rescue` is its step 3: the first two, or a title density at the threshold, "to remedy" the loss
  of important text that is not dense.

Lengths are in characters, one of a script written without spaces counting three.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np

from victor_spark import configuration, resources
from victor_spark.blocks import Blocks, Bool, Cleaner, Float64, Int32, Page, Scores, by_rule
from victor_spark.errors import ConfigurationError
from victor_spark.html.characters import properties
from victor_spark.html.tags import BIT, BLOCK_LEVEL, TAG, VOID
from victor_spark.kernels.num import UNSPACED
from victor_spark.words import words

FILE: Final = "line_block.toml"
_TAG_OR_NEWLINE: Final = re.compile(rf"{TAG}|\n")
UNSPACED_WEIGHT: Final = 3
"""A word is two letters of an unspaced script, or some five others and a space."""
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

    rule: str
    thresholds: str
    title_density: str
    near: int
    constant: Thresholds
    deviation: Thresholds


@dataclass(frozen=True, slots=True)
class Features:
    """Text-to-tag ratio, anchor-text-to-text ratio, title keyword density: a row a line-block."""

    ttr: Float64
    attr: Float64
    tkd: Float64


@dataclass(frozen=True, slots=True)
class Counts:
    """What equations (1) to (3) are made of: a row a line-block.

    `text` and `anchor_text` are lengths, `n_keywords` the title's keywords found, `n_occurrences` how often.
    """

    text: Float64
    anchor_text: Float64
    n_tags: Float64
    n_keywords: Float64
    n_occurrences: Float64


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
        """The next thing begins a line; nothing happens on an empty one."""
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
    path = path or resources.directory("conf") / FILE
    options = configuration.read(path, Options)
    for key, known in (("rule", RULES), ("thresholds", THRESHOLDS), ("title_density", TITLE_DENSITIES)):
        if getattr(options, key) not in known:
            raise ConfigurationError(f"{path}: {key} is one of {', '.join(known)}")
    return lambda page: clean(page, options)


def clean(page: Page, options: Options) -> Scores:
    """0/1 probabilities; kept blocks in h1–h6 are labelled header."""
    joined = line_blocks(lines(page), options.near)
    kept = content(count(page, joined), options)[joined.of_block]
    return by_rule(kept, page.blocks.heading_level > 0)


def content(counts: Counts, options: Options) -> Bool:
    """Which line-blocks are content (section 3, step 4)."""
    found = features(counts, TITLE_DENSITIES[options.title_density])
    return RULES[options.rule](found, THRESHOLDS[options.thresholds](found, options))


def features(counts: Counts, title_density: "TitleDensity") -> Features:
    """Equations (1), (2) and (3). A line-block without tags counts as having one."""
    return Features(
        ttr=counts.text / np.maximum(counts.n_tags, 1),
        attr=counts.anchor_text / np.maximum(counts.text, 1),
        tkd=title_density(counts.n_keywords, counts.n_occurrences),
    )


def count(page: Page, joined: Lines) -> Counts:
    """Lengths, tags and title keywords of the line-blocks."""
    n = len(joined.n_tags)
    length = weighted_lengths(page.blocks)
    in_link = (page.blocks.containers & np.uint64(BIT["a"])) != 0
    found = keyword_counts(page, joined)
    return Counts(
        text=np.bincount(joined.of_block, weights=length, minlength=n).astype(np.float64),
        anchor_text=np.bincount(joined.of_block, weights=length * in_link, minlength=n).astype(np.float64),
        n_tags=joined.n_tags.astype(np.float64),
        n_keywords=np.array([len(each) for each in found], dtype=np.float64),
        n_occurrences=np.array([each.total() for each in found], dtype=np.float64),
    )


def weighted_lengths(blocks: Blocks) -> Float64:
    """Characters per block, those of unspaced scripts counted UNSPACED_WEIGHT times."""
    unspaced = (properties()[np.minimum(blocks.points, 0x10FFFF)] & UNSPACED) != 0
    before = np.concatenate([[0], np.cumsum(unspaced)])
    n_unspaced = before[blocks.text_end] - before[blocks.text_start]
    length = blocks.text_end - blocks.text_start + (UNSPACED_WEIGHT - 1) * n_unspaced
    return np.asarray(length, dtype=np.float64)


def keyword_counts(page: Page, joined: Lines) -> list[Counter[str]]:
    """For each line-block how often each keyword of the title occurs in it, those that do."""
    counts: list[Counter[str]] = [Counter() for _ in joined.n_tags]
    blocks = page.blocks
    spans = zip(blocks.text_start.tolist(), blocks.text_end.tolist(), strict=True)
    if wanted := set(keywords(page.title or "")):
        for number, (start, end) in zip(joined.of_block.tolist(), spans, strict=True):
            counts[number].update(word for word in keywords(blocks.text[start:end]) if word in wanted)
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


def printed(n_keywords: Float64, n_occurrences: Float64) -> Float64:
    """Equation (3) as printed; 0 for a line-block without keywords."""
    return np.where(n_keywords > 0, 1 - n_keywords / np.maximum(n_occurrences, 1), 0.0)


def frequency(n_keywords: Float64, n_occurrences: Float64) -> Float64:
    """How often a keyword occurs in the line-block, of those that do; 0 without any."""
    return np.asarray(n_occurrences / np.maximum(n_keywords, 1))


def constant(found: Features, options: Options) -> Thresholds:  # noqa: ARG001 - the same for every page
    """The paper's constants."""
    return options.constant


def deviation(found: Features, options: Options) -> Thresholds:
    """A constant times the standard deviation over the page's line-blocks, for each feature.

    A feature that is the same everywhere has no deviation: there the paper's constant stands.
    """
    limits = []
    for name in Thresholds.__slots__:
        feature = getattr(found, name)
        spread = float(feature.std()) if len(feature) else 0.0
        limit = getattr(options.deviation, name) * spread if spread else getattr(options.constant, name)
        limits.append(float(limit))
    return Thresholds(*limits)


def pass_all(found: Features, limits: Thresholds) -> Bool:
    """Step 4: all three conditions."""
    return np.asarray((found.ttr > limits.ttr) & (found.attr < limits.attr) & (found.tkd >= limits.tkd))


def rescue(found: Features, limits: Thresholds) -> Bool:
    """Step 3: dense in text and not in links, or else dense in title keywords."""
    dense = (found.ttr > limits.ttr) & (found.attr < limits.attr)
    return np.asarray(dense | ((found.tkd > 0) & (found.tkd >= limits.tkd)))


RULES: Final[Mapping[str, Callable[[Features, Thresholds], Bool]]] = {"all": pass_all, "rescue": rescue}
THRESHOLDS: Final[Mapping[str, Callable[[Features, Options], Thresholds]]] = {
    "constant": constant,
    "deviation": deviation,
}
TitleDensity: TypeAlias = Callable[[Float64, Float64], Float64]
TITLE_DENSITIES: Final[Mapping[str, TitleDensity]] = {"printed": printed, "frequency": frequency}
