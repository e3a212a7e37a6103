"""Feature sets by name; a set's name means one list of features for ever."""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from victor_spark.crf import surroundings
from victor_spark.crf.features import VICTOR_2008, BlockView, Column
from victor_spark.crf.surroundings import SURROUNDINGS, PageFeature


def _of_view(feature: PageFeature) -> Callable[[BlockView], Column]:
    return lambda view: feature(surroundings.of(view)) if len(view.blocks) else np.zeros(0)


VICTOR_2: Final[Mapping[str, Callable[[BlockView], Column]]] = {
    **VICTOR_2008,
    **{name: _of_view(feature) for name, feature in SURROUNDINGS.items()},
}

FEATURE_SETS: Final[Mapping[str, Mapping[str, Callable[[BlockView], Column]]]] = {
    "victor-2008": VICTOR_2008,
    "victor-2": VICTOR_2,
}
