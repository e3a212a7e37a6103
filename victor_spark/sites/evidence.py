"""The sums over the pages of a site, and the evidence that they give for the blocks of each page.

Every page has a row for each key: its layouts (the ancestors of a block, with their classes) and those of
its texts (the letters of a block, in its layout: links to an article don't repeat its headline) that may be
content. Rows of equal key are added up over the site's pages. The sums are integers, so that the order of the
pages changes no bit. The evidence for a block is what is left when the page's own rows are subtracted.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Final, NamedTuple

import numpy as np

from victor_spark.blocks import Blocks, Float32, Float64, Int32, Int64, UInt64
from victor_spark.errors import ModelError
from victor_spark.kernels import KEY, num, slots, views
from victor_spark.kernels import sites as kernel

OF_TEXT: Final = num.KEYED_TEXT
"""The last bit of a text's key; that of a layout is 0."""

SUMS: Final = num.SITE_SUMS
"""The columns of a key's row: its number of pages, and the sum of their mean log-odds of content."""

EVIDENCE: Final = num.EVIDENCE
"""The rows of `evidence`: of the site's other pages with the block's layout the mean log-odds of content,
their number, their share of all other pages, and the share of them that has the block's text there."""

CONSENSUS, N_PAGES, SHARE, REPEATS = range(len(EVIDENCE))


@dataclass(frozen=True, slots=True)
class Contributions:
    """Sums by key: `key` is a hash with its kind in the last bit, each once.

    `sums` has shape (2, n_keys), contiguous, rows as in SUMS; log-odds are multiples of 1 / 1024.
    """

    key: UInt64
    sums: Int64

    def __len__(self) -> int:
        return len(self.key)

    def to_bytes(self) -> bytes:
        """The contribution of one page: its keys, and the log-odds of each."""
        return b"".join([self.key.tobytes(), self.sums[1].tobytes()])

    @classmethod
    def from_bytes(cls, stored: bytes) -> "Contributions":
        """The contribution of one page, as `to_bytes` writes it."""
        key, log_odds = np.frombuffer(stored, np.int64).reshape(2, -1)
        return cls(key.view(np.uint64), np.stack([np.ones_like(log_odds), log_odds]))


_NOTHING: Final = Contributions(np.empty(0, np.uint64), np.empty((len(SUMS), 0), np.int64))


@dataclass(frozen=True, slots=True)
class Known:
    """The sums over `n_pages` pages of a site, for all or requested keys; keys of one page may be missing."""

    n_pages: int
    of_keys: Contributions


def added(parts: Iterable[Contributions]) -> Contributions:
    """The sums over all parts, whose keys may repeat; in the order of the keys."""
    rows = [_NOTHING, *parts]
    key, place = np.unique(np.concatenate([part.key for part in rows]), return_inverse=True)
    sums = np.zeros((len(SUMS), len(key)), np.int64)
    for column, values in zip(sums, np.concatenate([part.sums for part in rows], axis=1), strict=True):
        np.add.at(column, place, values)
    return Contributions(key, sums)


def contributions(blocks: Blocks, probabilities: Float64) -> Contributions:
    """The contribution of a page to its site: a row for each layout and each text that may be content."""
    found = keys(blocks, probabilities)
    return Contributions(found.key, np.stack([np.ones_like(found.log_odds), found.log_odds]))


def evidence(blocks: Blocks, probabilities: Float64, known: Known, *, is_among: bool = True) -> Float32:
    """The evidence of the site's other pages for each block: shape (len(EVIDENCE), n_blocks).

    `is_among`: the page is one of those that `known` sums up, so that its own contribution is subtracted.
    Zeros where no other page has the block's layout.
    """
    n_others, of_site = known.n_pages - is_among, known.of_keys
    result = np.zeros((len(EVIDENCE), len(blocks)), np.float32)
    if n_others > 0:
        own = keys(blocks, probabilities)
        given = views(own.of_blocks, own.key, own.log_odds, of_site.key, of_site.sums)
        work = views(np.empty_like(own.log_odds), np.empty(len(own.key)))
        kernel.compare(*given, n_others, is_among, *work, *views(result))
    return result


class Keys(NamedTuple):
    """The distinct keys of a page: the first block and the mean log-odds (multiples of 1 / 1024) of each.

    `of_blocks`: for each block the numbers of its keys, shape (2, n_blocks); -1 where it has none.
    """

    key: UInt64
    first: Int32
    log_odds: Int64
    of_blocks: Int32


def keys(blocks: Blocks, probabilities: Float64) -> Keys:
    """The keys of a page, in the order of its `contributions`."""
    shape = (len(num.KEYED), len(blocks))
    most = shape[0] * shape[1]
    key, first, log_odds = np.empty(most, np.uint64), np.empty(most, np.int32), np.empty(most, np.int64)
    of_blocks = np.empty(shape, np.int32)
    columns = views(blocks.class_path, blocks.letters_hash, blocks.n_letters, blocks.n_words, probabilities)
    work = views(slots(most), np.empty(shape[1]), np.empty((2, most)))
    n = kernel.contribute(*columns, KEY, *work, *views(of_blocks, key, first, log_odds))
    return Keys(key[:n], first[:n], log_odds[:n], of_blocks)


FORMAT: Final = 3
FILE_NAME: Final = f"model-{FORMAT}.json"

_LARGEST: Final = {"weight": 1.0, "repeated": 50.0, "calibration": 1.0}
"""Parameter → its highest value (a million where none is given); the lowest is 0."""


@dataclass(frozen=True, slots=True)
class SiteModel:
    """Few numbers, fitted over many sites.

    `weight`: how much the consensus of very many pages counts against the page's own log-odds (0 to 1).
    `prior_pages`: the number of other pages at which the consensus has half of that weight.
    `doubt`: that number is as many times higher where the consensus makes a block less likely.
    `repeated`: what is subtracted where all other pages repeat its text, among texts of the page's own.
    `calibration`: the factor that calibrates the log-odds.
    """

    weight: float
    prior_pages: float
    doubt: float
    repeated: float
    calibration: float

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            most = _LARGEST.get(name, 1e6)
            if not isinstance(value, int | float) or not 0.0 <= value <= most:
                raise ModelError(f"{name} of a site model must be between 0 and {most:g}, not {value!r}")


def model_from_bytes(stored: bytes, name: str = "site model") -> SiteModel:
    """The model in `stored`; ModelError when it is damaged or doesn't fit this code."""
    try:
        values = json.loads(stored)
        if values.pop("format") == FORMAT:
            return SiteModel(**values)
    except (ModelError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise ModelError(f"{name}: not a site model of format {FORMAT}: {error}") from error
    raise ModelError(f"{name}: not a site model of format {FORMAT}")


def revised(
    model: SiteModel,
    probabilities: Float64,
    words: Float64,
    evidence: Float32,
    paragraph: Int32 | None = None,
) -> Float64:
    """P(header), P(text), P(other) per block, revised by the evidence of the site: rows sum to 1.

    A block without evidence keeps its probabilities exactly. More pages with the text of a
    block that is a paragraph of its own never raise its P(content).
    `paragraph`: the number of the paragraph that each block is in; None: each block is one.
    """
    if not evidence[N_PAGES].any():
        return probabilities
    if paragraph is None:
        paragraph = np.arange(len(words), dtype=np.int32)
    found = np.empty_like(probabilities)
    parameters = np.array([getattr(model, name) for name in num.SITE_PARAMETERS])
    given = views(probabilities, words, paragraph, evidence, parameters)
    kernel.revise(*given, *views(np.empty(len(words)), np.zeros(num.N_PAGE_LEVELS), found))
    return found
