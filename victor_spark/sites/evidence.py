"""The sums over the pages of a site, and the evidence that they give for the blocks of each page.

Every page contributes one row a key: its layouts (the ancestors of a block, with their classes) and those of
its texts (the letters of a block, in its layout: links to an article don't repeat its headline) that may be
content. Rows of equal key are added up over the site's pages. The sums are integers, so that the order of the
pages changes no bit. The evidence for a block is what is left when the page's own rows are subtracted.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import HEADER, OTHER, TEXT, Blocks, Float32, Float64, Int64, UInt64
from victor_spark.errors import ModelError
from victor_spark.kernels import KEY, num, slots, views
from victor_spark.kernels import blocks as kernel

Places = npt.NDArray[np.signedinteger]

OF_TEXT: Final = 1
"""The last bit of a text's key; that of a layout is 0."""

SUMS: Final = ("n_pages", "log_odds")
"""The columns of a key's row: its number of pages, and the sum of their mean log-odds of content."""

EVIDENCE: Final = ("consensus", "n_pages", "share", "repeats")
"""The rows of `evidence`: of the site's other pages with the block's layout the mean log-odds of content,
their number, their share of all other pages, and the share of them that has the block's text there."""

CONSENSUS, N_PAGES, SHARE, REPEATS = range(len(EVIDENCE))

_KIND_BITS: Final = np.uint64(1)
_IN_LAYOUT: Final = np.uint64(num.GOLDEN)
"""An odd number, by which a layout is multiplied before its texts are keyed."""

_SCALE: Final = 1024.0
"""Log-odds are rounded to multiples of 1 / _SCALE."""

_LEAST: Final = 1e-6
"""Probabilities closer to 0 and 1 than this count as this far from them."""

_MOST: Final = float(np.log((1.0 - _LEAST) / _LEAST))
"""The highest log-odds."""

_MIN_CONTENT: Final = 0.02
"""Texts with a lower P(content) are no keys: two thirds of all, which need no second reason to be dropped."""


@dataclass(frozen=True, slots=True)
class Contributions:
    """Sums by key: `key` is a hash with its kind in the last bit, each once.

    `sums` has shape (2, n_keys), rows as in SUMS; log-odds are multiples of 1 / 1024.
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


def log_odds(probabilities: Float64) -> Float64:
    """The log-odds of content of each block, finite."""
    other = np.minimum(np.maximum(probabilities[:, OTHER], _LEAST), 1.0 - _LEAST)
    return np.asarray(np.log((1.0 - other) / other))


def mean_log_odds(sums: Int64, n_pages: Int64) -> Float64:
    """The mean log-odds of content, from the sums over some pages."""
    return np.minimum(np.maximum(sums / (_SCALE * n_pages), -_MOST), _MOST)


def contributions(blocks: Blocks, probabilities: Float64) -> Contributions:
    """The contribution of a page to its site: a row for each layout and each text that may be content."""
    rows, keys = _keys(blocks, probabilities)
    return Contributions(keys.key, _sums(blocks, probabilities, rows, keys))


def first_blocks(blocks: Blocks, probabilities: Float64) -> Places:
    """The first block of each key of `contributions`."""
    rows, keys = _keys(blocks, probabilities)
    return rows[keys.first]


def evidence(blocks: Blocks, probabilities: Float64, known: Known, *, is_among: bool = True) -> Float32:
    """The evidence of the site's other pages for each block: shape (len(EVIDENCE), n_blocks).

    `is_among`: the page is one of those that `known` sums up, so that its own contribution is subtracted.
    Zeros where no other page has the block's layout.
    """
    n_blocks, n_others, of_site = len(blocks), known.n_pages - is_among, known.of_keys
    result = np.zeros((len(EVIDENCE), n_blocks), np.float32)
    if n_others <= 0 or not n_blocks or not len(of_site):
        return result
    rows, keys = _keys(blocks, probabilities)
    place = np.minimum(np.searchsorted(of_site.key, keys.key), len(of_site) - 1)
    n_pages, total = of_site.sums[:, place] * (of_site.key[place] == keys.key)
    if is_among:
        own = _sums(blocks, probabilities, rows, keys)
        n_pages, total = n_pages - own[0], total - own[1]
    is_seen, divisor = n_pages > 0, np.maximum(n_pages, 1)
    mean = mean_log_odds(total, divisor)
    n_pages = np.maximum(n_pages, 0)
    of_keys = np.stack([mean, n_pages, np.minimum(n_pages / n_others, 1.0)]) * is_seen
    of_layouts, of_texts = np.split(keys.of_rows, [n_blocks])
    result[:REPEATS] = of_keys[:, of_layouts]
    of_layout = result[N_PAGES, rows[n_blocks:]]
    result[REPEATS, rows[n_blocks:]] = np.minimum(n_pages[of_texts], of_layout) / np.maximum(of_layout, 1)
    return result


class _Keys(NamedTuple):
    """The distinct keys of some rows, the first row of each, and the number of its key for each row."""

    key: UInt64
    first: Places
    of_rows: Places


def _keys(blocks: Blocks, probabilities: Float64) -> tuple[Places, _Keys]:
    """The blocks with keys: all, by layout, and again those with texts that may be content; and the keys."""
    likely = (blocks.n_letters > 0) & (probabilities[:, OTHER] <= 1.0 - _MIN_CONTENT)
    with_text = np.flatnonzero(likely)
    texts = (blocks.letters_hash ^ blocks.class_path * _IN_LAYOUT)[with_text]
    key = np.concatenate([blocks.class_path, texts]) << _KIND_BITS
    key[len(blocks) :] |= np.uint64(OF_TEXT)
    table = np.empty((len(num.EQUAL), len(key)), np.int32)
    n = kernel.number(*views(key), KEY, *views(slots(len(key)), table))
    first = table[num.EQUAL_FIRSTS, :n]
    rows = np.concatenate([np.arange(len(blocks)), with_text])
    return rows, _Keys(key[first], first, table[num.EQUAL_NUMBER])


def _sums(blocks: Blocks, probabilities: Float64, rows: Places, keys: _Keys) -> Int64:
    """One column a key: the mean of its blocks' log-odds is weighted by the root of their words."""
    weights = np.sqrt(blocks.n_words + 1.0)[rows]
    total = np.bincount(keys.of_rows, weights * log_odds(probabilities)[rows])
    mean = np.rint(total / np.bincount(keys.of_rows, weights) * _SCALE).astype(np.int64)
    return np.stack([np.ones_like(mean), mean])


FORMAT: Final = 2
FILE_NAME: Final = "model.json"

_LARGEST: Final = {"weight": 1.0, "common": 50.0, "repeated": 50.0, "calibration": 1.0}
"""Parameter → its highest value (a million where none is given); the lowest is 0."""


@dataclass(frozen=True, slots=True)
class SiteModel:
    """Few numbers, fitted over many sites.

    `weight`: how much the consensus of very many pages counts against the page's own log-odds (0 to 1).
    `prior_pages`: the number of other pages at which the consensus has half of that weight.
    `common`: added to the log-odds of a block whose layout is on all pages, where very many are known.
    `common_pages`: the number of pages with the layout at which half of `common` is added.
    `repeated`: what is subtracted where all these repeat its text, among texts of the page's own.
    `calibration`: the factor that calibrates the log-odds.
    """

    weight: float
    prior_pages: float
    common: float
    common_pages: float
    repeated: float
    calibration: float

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            most = _LARGEST.get(name, 1e6)
            if not isinstance(value, int | float) or not 0.0 <= value <= most:
                raise ModelError(f"{name} of a site model must be between 0 and {most:g}, not {value!r}")

    def to_bytes(self) -> bytes:
        """The model as JSON."""
        return (json.dumps({"format": FORMAT, **asdict(self)}, indent=1) + "\n").encode()


def model_from_bytes(stored: bytes, name: str = "site model") -> SiteModel:
    """The model in `stored`; ModelError when it is damaged or doesn't fit this code."""
    try:
        values = json.loads(stored)
        if values.pop("format") == FORMAT:
            return SiteModel(**values)
    except (ModelError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise ModelError(f"{name}: not a site model of format {FORMAT}: {error}") from error
    raise ModelError(f"{name}: not a site model of format {FORMAT}")


def revised(model: SiteModel, probabilities: Float64, words: Float64, evidence: Float32) -> Float64:
    """P(header), P(text), P(other) per block, revised by the evidence of the site: rows sum to 1.

    A block without evidence keeps its probabilities exactly. More pages with its text never raise P(content).
    """
    n_pages = evidence[N_PAGES].astype(np.float64)
    is_known = n_pages > 0
    if not is_known.any():
        return probabilities
    own = log_odds(probabilities)
    weight = model.weight * n_pages / np.maximum(n_pages + model.prior_pages, 1.0)
    odds = own + weight * (evidence[CONSENSUS] - own)
    # Which share of the other blocks' likely content no other page has, per repeated block. It is 0 where a
    # whole page is repeated: such a page is the same article at another address.
    mass = words / (1.0 + np.exp(-odds))
    own_mass = np.where(evidence[REPEATS] > 0, 0.0, mass).sum()
    others = np.maximum(mass.sum() - mass, 0.0)
    among = np.clip(own_mass / np.where(others > 0, others, np.inf), 0.0, 1.0)
    common = model.common * n_pages / np.maximum(n_pages + model.common_pages, 1.0)
    shift = common - model.repeated * evidence[REPEATS] * among
    content = 1.0 / (1.0 + np.exp(-model.calibration * (odds + evidence[SHARE] * shift)))
    return np.where(is_known[:, np.newaxis], with_content(probabilities, content), probabilities)


def with_content(probabilities: Float64, content: Float64) -> Float64:
    """Probabilities with this P(content) of each block; the ratio of header to text stays."""
    before = probabilities[:, HEADER] + probabilities[:, TEXT]
    ratio = np.divide(probabilities[:, HEADER], before, out=np.zeros_like(before), where=before > 0)
    found = np.empty_like(probabilities)
    found[:, HEADER] = content * ratio
    found[:, TEXT] = content - found[:, HEADER]
    found[:, OTHER] = 1.0 - content
    return found
