"""Words of class, id, role and itemprop that say what an element is for, as a look-up table for the scan."""

import tomllib
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from victor_spark.errors import ConfigurationError
from victor_spark.html.tags import fnv1a
from victor_spark.resources import directory


class WordTable(NamedTuple):
    """The groups of conf/words.toml in order, and hash slots that lead from a word to its group."""

    groups: tuple[str, ...]
    slots: npt.NDArray[np.uint32]
    slot_groups: npt.NDArray[np.uint8]


@cache
def table() -> WordTable:
    """The table of conf/words.toml, made once per process; ConfigurationError when it is malformed."""
    path = directory("conf") / "words.toml"
    try:
        groups = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from error
    slots = np.zeros(2048, dtype=np.uint32)
    slot_groups = np.zeros(2048, dtype=np.uint8)
    for number, (group, words) in enumerate(groups.items()):
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words) or number > 63:
            raise ConfigurationError(f"{path}: {group} is no list of words, or one group too many")
        for word in words:
            code = fnv1a(word)
            slot = code % len(slots)
            while slots[slot] and slots[slot] != code:
                slot = (slot + 1) % len(slots)
            if slots[slot] == code:
                raise ConfigurationError(f"{path}: {word} stands twice")
            slots[slot], slot_groups[slot] = code, number
    return WordTable(tuple(groups), slots, slot_groups)
