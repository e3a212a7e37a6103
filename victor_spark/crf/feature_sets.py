"""Feature sets by name; a set's name means one list of features for ever."""

from collections.abc import Callable, Mapping
from typing import Final

from victor_spark.crf import surroundings
from victor_spark.crf.features import VICTOR_2008, BlockView, Column


def _row(number: int) -> Callable[[BlockView], Column]:
    return lambda view: surroundings.matrix(view)[number]


LANGUAGE: Final = frozenset({"langid1", "langid2"})
"""Features that need the language profiles. They bring victor-2008 nothing on our pages (docs/quality.md)."""

VICTOR_2: Final[Mapping[str, Callable[[BlockView], Column]]] = {
    **{name: feature for name, feature in VICTOR_2008.items() if name not in LANGUAGE},
    **{name: _row(number) for number, name in enumerate(surroundings.NAMES)},
}

FEATURE_SETS: Final[Mapping[str, Mapping[str, Callable[[BlockView], Column]]]] = {
    "victor-2008": VICTOR_2008,
    "victor-2": VICTOR_2,
}
