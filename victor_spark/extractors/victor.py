"""Victor: block marginals from the CRF, and a decision per page (Victor, sections 3.1 and 5.2)."""

from collections.abc import Callable
from typing import Final

from victor_spark import roles
from victor_spark.blocks import Blocks, Bool, Cleaner, Float64, Scores
from victor_spark.model import decision
from victor_spark.model.crf import Model, marginals
from victor_spark.model.decision import by_expected_f1
from victor_spark.model.feature_sets import LANGUAGE
from victor_spark.model.files import from_bytes

NAME: Final = "victor"
DEFAULT_THRESHOLD: Final = 0.5
"""The paper's default: a block stays when P(other) is below it."""

Decision = Callable[[Float64, Blocks], Bool]


def decide(probabilities: Float64, blocks: Blocks, beta: float = 1.0) -> Bool:
    """What makes the page's expected F highest, and its headline, which many gold texts leave out."""
    kept = by_expected_f1(probabilities, decision.n_words(blocks), beta)
    return kept | roles.headline(blocks, kept)


def load(model: bytes) -> Cleaner:
    """`victor`: keeps what `decide` chooses. ModelError for a bad model."""
    return _cleaner(from_bytes(model), decide)


def load_2(model: bytes) -> Cleaner:
    """`victor-2`: keeps what makes the page's expected F1 highest. ModelError for a bad model."""
    return _cleaner(from_bytes(model), lambda found, blocks: by_expected_f1(found, decision.n_words(blocks)))


def load_2008(model: bytes) -> Cleaner:
    """`victor-2008`: keeps blocks with P(other) < 0.5, as in the paper. ModelError for a bad model."""
    return _cleaner(from_bytes(model), lambda found, _blocks: decision.by_threshold(found, DEFAULT_THRESHOLD))


def reads_language(model: bytes) -> bool:
    """Whether the model uses langid1 or langid2, which take longer than all its other features."""
    return not LANGUAGE.isdisjoint(from_bytes(model).table.names)


def _cleaner(model: Model, decide: Decision) -> Cleaner:
    return lambda page: scores(marginals(model, page.blocks), page.blocks, decide)


def scores(probabilities: Float64, blocks: Blocks, decide: Decision = decide) -> Scores:
    """What a cleaner makes of a page's probabilities; `victor` without `decide`."""
    kept = decide(probabilities, blocks)
    return Scores(probabilities, kept, decision.expected_f1(probabilities, decision.n_words(blocks), kept))
