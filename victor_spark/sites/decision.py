"""The probabilities of a page's blocks once its site is known."""

import json
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

import numpy as np

from victor_spark.blocks import HEADER, OTHER, TEXT, Bool, Float32, Float64
from victor_spark.errors import ModelError
from victor_spark.sites import evidence as rows
from victor_spark.sites.evidence import log_odds

FORMAT: Final = 1
FILE_NAME: Final = "model.json"

_LIMITS: Final = {"weight": 1.0, "prior_pages": 1e6, "common": 50.0, "repeated": 50.0, "calibration": 1.0}
"""Parameters, with the highest value of each; the lowest is 0."""


@dataclass(frozen=True, slots=True)
class SiteModel:
    """Few numbers, fitted over many sites.

    `weight`: how much the consensus of very many pages counts against the page's own log-odds (0 to 1).
    `prior_pages`: the number of other pages at which the consensus has half of that weight.
    `common`: what is added to the log-odds of a block in a layout that all other pages have.
    `repeated`: what is subtracted where all these repeat its text, among texts of the page's own.
    `calibration`: the factor that calibrates the log-odds.
    """

    weight: float
    prior_pages: float
    common: float
    repeated: float
    calibration: float

    def __post_init__(self) -> None:
        for name, most in _LIMITS.items():
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0.0 <= value <= most:
                raise ModelError(f"{name} of a site model must be between 0 and {most:g}, not {value!r}")

    def to_bytes(self) -> bytes:
        """The model as JSON."""
        return (json.dumps({"format": FORMAT, **asdict(self)}, indent=1) + "\n").encode()


def from_bytes(stored: bytes, name: str = "site model") -> SiteModel:
    """The model in `stored`; ModelError when it is damaged or doesn't fit this code."""
    try:
        values = json.loads(stored)
    except ValueError as error:
        raise ModelError(f"{name}: not a site model ({error})") from error
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise ModelError(f"{name}: not a site model of format {FORMAT}")
    parameters: dict[str, Any] = {field.name: values.get(field.name) for field in fields(SiteModel)}
    if extra := values.keys() - parameters.keys() - {"format", "about"}:
        raise ModelError(f"{name}: unknown parameters {', '.join(sorted(extra))}")
    try:
        return SiteModel(**parameters)
    except ModelError as error:
        raise ModelError(f"{name}: {error}") from error


def revised(model: SiteModel, probabilities: Float64, words: Float64, evidence: Float32) -> Float64:
    """P(header), P(text), P(other) per block with what the site tells: rows sum to 1.

    A block about which the site tells nothing keeps its probabilities, to the bit. The ratio of header to
    text stays. More pages with a block's text never raise its P(content).
    """
    n_pages = evidence[rows.N_PAGES].astype(np.float64)
    is_known = n_pages > 0
    if not is_known.any():
        return probabilities
    own = log_odds(probabilities)
    weight = model.weight * n_pages / np.maximum(n_pages + model.prior_pages, 1.0)
    odds = own + weight * (evidence[rows.CONSENSUS] - own)
    among = _among_own_texts(odds, words, evidence[rows.REPEATS] > 0)
    shift = model.common - model.repeated * evidence[rows.REPEATS] * among
    content = 1.0 / (1.0 + np.exp(-model.calibration * (odds + evidence[rows.SHARE] * shift)))
    before = probabilities[:, HEADER] + probabilities[:, TEXT]
    header = np.where(before > 0, probabilities[:, HEADER] / np.where(before > 0, before, 1.0), 0.0)
    result = np.empty_like(probabilities)
    result[:, HEADER] = content * header
    result[:, TEXT] = content - result[:, HEADER]
    result[:, OTHER] = 1.0 - content
    return np.where(is_known[:, np.newaxis], result, probabilities)


def _among_own_texts(odds: Float64, words: Float64, is_repeated: Bool) -> Float64:
    """Which share of the other blocks' likely content no other page has, per repeated block.

    It is 0 where a whole page is repeated: such a page is the same article at another address.
    """
    mass = words / (1.0 + np.exp(-odds))
    own = np.where(is_repeated, 0.0, mass)
    others = np.maximum(mass.sum() - mass, 0.0)
    return np.asarray(np.clip(own.sum() / np.where(others > 0, others, np.inf), 0.0, 1.0))
