"""Words of class, id, role and itemprop that say what an element is for, as a look-up table for the scan."""

import hashlib
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from victor_spark import configuration
from victor_spark.errors import ConfigurationError
from victor_spark.parser.hashing import hashed
from victor_spark.resources import directory

GROUPS: Final = (
    "article", "content", "text", "post", "comment", "related", "teaser", "share", "side", "nav",
    "crumb", "head", "foot", "ad", "consent", "subscribe", "byline", "meta", "tag", "media", "title",
    "lead", "form", "product", "list", "hidden", "quote", "document",
)  # fmt: skip
"""The groups, in the order of their features."""


class WordTable(NamedTuple):
    """Hash slots that lead from a word to its group, and a digest of all the words."""

    digest: str
    slots: npt.NDArray[np.uint32]
    slot_groups: npt.NDArray[np.uint8]


@cache
def table() -> WordTable:
    """The table of conf/words.toml, made once per process; ConfigurationError when it is malformed."""
    path = directory("conf") / "words.toml"
    groups = configuration.toml(path)
    if tuple(groups) != GROUPS:
        raise ConfigurationError(f"{path}: the groups must be {', '.join(GROUPS)}, in this order")
    numbers: dict[str, int] = {}
    for number, (group, words) in enumerate(groups.items()):
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise ConfigurationError(f"{path}: {group} is no list of words")
        for word in words:
            if word in numbers:
                raise ConfigurationError(f"{path}: {word} stands twice")
            numbers[word] = number
    slots, values = hashed(numbers, 2048)
    slot_groups = values.astype(np.uint8)
    digest = hashlib.sha256(slots.tobytes() + slot_groups.tobytes()).hexdigest()
    return WordTable(digest, slots, slot_groups)
