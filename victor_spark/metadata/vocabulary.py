"""Reads conf/metadata.toml: the names that pages use for their metadata."""

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
    between: tuple[str, ...]
    degrees: tuple[str, ...]
    nobody: frozenset[str]
    roles: frozenset[str]
    agencies: frozenset[str]
    updated: tuple[str, ...]
    users: tuple[str, ...]
    months: tuple[tuple[str, ...], ...]
    meta: Mapping[str, tuple[str, ...]]


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary; ConfigurationError for a wrong key or type in the file."""
    return configuration.read(resources.directory("conf") / "metadata.toml", Vocabulary)
