"""Reads conf/metadata.toml: the names that pages use for their metadata."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from victor_spark import configuration, resources


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The lists of conf/metadata.toml; the comments there explain them."""

    works: frozenset[str]
    pages: frozenset[str]
    author_label: tuple[str, ...]
    introduction: frozenset[str]
    introduction_of_prose: frozenset[str]
    introduction_in: Mapping[str, tuple[str, ...]]
    between: tuple[str, ...]
    degrees: tuple[str, ...]
    nobody: frozenset[str]
    roles: frozenset[str]
    agencies: frozenset[str]
    months: tuple[tuple[str, ...], ...]
    patterns: Mapping[str, tuple[str, ...]]
    meta: Mapping[str, tuple[str, ...]]


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary; ConfigurationError for a wrong key or type in the file."""
    return configuration.read(resources.directory("conf") / "metadata.toml", Vocabulary)


@cache
def pattern_of(name: str, before: str = "", flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    """Any of the regular expressions with this name in the vocabulary, behind the expression `before`."""
    return re.compile(f"{before}(?:{'|'.join(vocabulary().patterns[name])})", flags)
