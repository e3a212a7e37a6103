"""Reads conf/structure.toml: the names by which pages mark what Markdown shows in its own way."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from victor_spark import configuration, resources


@dataclass(frozen=True, slots=True)
class Names:
    """The lists of conf/structure.toml; the comments there explain them."""

    languages: frozenset[str]
    no_languages: frozenset[str]
    schemes: frozenset[str]
    lazy: tuple[str, ...]
    marks: Mapping[str, tuple[str, ...]]
    callouts: Mapping[str, frozenset[str]]
    quotes: Mapping[str, frozenset[str]]


@cache
def names() -> Names:
    """The names; ConfigurationError for a wrong key or type in the file."""
    return configuration.read(resources.directory("conf") / "structure.toml", Names)
