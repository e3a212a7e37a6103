"""Cleaners by name. A cleaner answers one question: which blocks of this page are content?"""

import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Final, TypeAlias

from victor_spark.cleaners import kimatu, line_block, victor
from victor_spark.errors import UsageError
from victor_spark.page import Page, Scores

Cleaner: TypeAlias = Callable[[Page], Scores]

CLEANERS: Final[Mapping[str, Callable[..., Cleaner]]] = {
    "victor": victor.load,
    "victor-2008": victor.load_2008,
    "kimatu": kimatu.load,
    "line-block": line_block.load,
}
"""Name → what builds the cleaner, from its model's bytes where it has one."""

MODELS: Final[Mapping[str, str]] = {"victor": "crf/victor-2008", "victor-2008": "crf/victor-2008"}
"""Name → the folder under models/ that the cleaner is built from."""


def check_name(name: str) -> None:
    """Raises UsageError for a name that no cleaner has."""
    if name not in CLEANERS:
        raise UsageError(f"no cleaner {name!r}; there are: {', '.join(CLEANERS)}")


def load(name: str, models: Mapping[str, bytes]) -> Cleaner:
    """The cleaner of that name; `models` holds the bytes of its folder under models/, if it has one."""
    check_name(name)
    return CLEANERS[name](models[MODELS[name]]) if name in MODELS else CLEANERS[name]()


class _CallableModule(ModuleType):
    """`victor_spark.cleaners()` is the public call, and `victor_spark.cleaners` is this package."""

    def __call__(self) -> tuple[str, ...]:
        return tuple(CLEANERS)


sys.modules[__name__].__class__ = _CallableModule
