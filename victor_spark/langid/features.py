"""Victor's langid1 and langid2 (section 3.2), as differences from the best rival.

The probability that a block is in a language is a poor feature by itself: it says more about the
block's length and letters than about the language. How much better the target is than the best
language that is no target tells blocks apart, so that is the feature.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from victor_spark.kernels import ngrams
from victor_spark.langid import beesley, cavnar_trenkle
from victor_spark.langid.normalise import Int32, UInt32, folded
from victor_spark.langid.profiles import STEP, Profiles
from victor_spark.langid.settings import settings

Float32 = npt.NDArray[np.float32]


def block_scores(
    text: UInt32, starts: Int32, ends: Int32, targets: Sequence[str], profiles: Profiles
) -> tuple[Float32, Float32, Int32]:
    """langid1 and langid2 of every block, and how many letters they were read from.

    langid1 is the best target's trigram log-probability less the best rival's, in nats a letter;
    langid2 the best rival's out-of-place distance less the best target's, as a share of the
    greatest possible (-1 to 1). Rivals are the targets' nearest languages outside their confusable
    groups and, as one, all other languages. Both are shrunk by n / (n + 10) for n letters, and 0
    without letters. `targets` are labels of `profiles`; only a block's first letters are read.
    """
    numbers = settings().blocks
    lanes = profiles.table(lanes_of, tuple(targets))
    ranks = profiles.table(cavnar_trenkle.rank_table, lanes, True)
    letters = folded(text, starts, ends)
    gains, n_letters = beesley.lane_gains(profiles, lanes, *letters, numbers.most_letters)
    distances, n_ngrams = cavnar_trenkle.distances(ranks, *letters, numbers.most_letters)
    weight = 1 / np.maximum(n_letters + numbers.shrink, 1)
    langid1 = _lead(gains.astype(np.int32), len(targets)) * STEP * weight
    most = np.maximum(n_ngrams, 1) * ngrams.FARTHEST
    langid2 = _lead(-distances.astype(np.int32), len(targets)) / most * n_letters * weight
    return langid1.astype(np.float32), langid2.astype(np.float32), n_letters


def lanes_of(profiles: Profiles, targets: tuple[str, ...]) -> tuple[str, ...]:
    """The targets and then their rivals: as many lanes as conf/ says, less one for all the rest."""
    numbers = settings()
    excluded = frozenset[str]().union(*(numbers.group(target) for target in targets))
    nearest = [profiles.nearest[target] for target in targets]
    n_ranks = max(map(len, nearest), default=0)
    ranked = [names[rank] for rank in range(n_ranks) for names in nearest if rank < len(names)]
    rivals = dict.fromkeys(
        name for name in [*ranked, *numbers.anchors.languages] if name in profiles.profiles
    )
    wanted = max(numbers.blocks.n_lanes - 1, len(targets) + 1)
    return (*targets, *[name for name in rivals if name not in excluded])[:wanted]


def _lead(points: Int32, n_targets: int) -> Int32:
    """The best of the first columns less the best of the others."""
    best = points[:, :n_targets].max(axis=1)
    return np.asarray(best - points[:, n_targets:].max(axis=1))
