"""The numbers of conf/langid.toml, read once: confusable groups, samples, thresholds."""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from victor_spark import resources
from victor_spark.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Page:
    """How the language of a whole text is guessed."""

    least_letters: int
    least_gain: float
    n_windows: int
    window: int
    temperature: float


@dataclass(frozen=True, slots=True)
class Blocks:
    """How blocks are scored."""

    most_letters: int
    shrink: int
    n_lanes: int
    least_letters: int
    switch: float


@dataclass(frozen=True, slots=True)
class Encoding:
    """When a text counts as broken by a wrong charset."""

    scan_ratio: float
    scan_least: int
    badness_least: int
    badness_every: int
    sample: int
    misread_sample: int
    misread_least: int
    good_fit: float
    misread_gain: float


@dataclass(frozen=True, slots=True)
class Settings:
    """All of conf/langid.toml."""

    confusable: Mapping[str, tuple[str, ...]]
    anchors: tuple[str, ...]
    page: Page
    blocks: Blocks
    encoding: Encoding

    def group(self, language: str) -> frozenset[str]:
        """The languages that are no rivals to this one, itself among them."""
        together = (members for members in self.confusable.values() if language in members)
        return frozenset([language]).union(*together)


@cache
def settings(path: Path | None = None) -> Settings:
    """Reads conf/langid.toml (or `path`); an unknown or missing key is a ConfigurationError."""
    path = path or resources.directory("conf") / "langid.toml"
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from error
    _expect(path, "", tables, [field.name for field in fields(Settings)])
    _expect(path, "anchors.", tables["anchors"], ["languages"])
    return Settings(
        confusable={name: _names(path, members) for name, members in tables["confusable"].items()},
        anchors=_names(path, tables["anchors"]["languages"]),
        page=_numbers(path, "page", tables, Page),
        blocks=_numbers(path, "blocks", tables, Blocks),
        encoding=_numbers(path, "encoding", tables, Encoding),
    )


_Table = TypeVar("_Table", Page, Blocks, Encoding)


def _expect(path: Path, prefix: str, table: Any, names: Collection[str]) -> None:
    if not isinstance(table, dict):
        raise ConfigurationError(f"{path}: {prefix.rstrip('.')} is no table")
    for name in sorted(table.keys() ^ set(names)):
        raise ConfigurationError(f"{path}: {'unknown' if name in table else 'missing'} key {prefix}{name}")


def _names(path: Path, names: Any) -> tuple[str, ...]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ConfigurationError(f"{path}: {names!r} is no list of languages")
    return tuple(names)


def _numbers(path: Path, name: str, tables: dict[str, Any], kind: type[_Table]) -> _Table:
    table = tables[name]
    _expect(path, f"{name}.", table, [field.name for field in fields(kind)])
    for field in fields(kind):
        number = table[field.name]
        if isinstance(number, bool) or not isinstance(number, int if field.type is int else int | float):
            raise ConfigurationError(f"{path}: {name}.{field.name} = {number!r} is no {field.type}")
    return kind(**table)
