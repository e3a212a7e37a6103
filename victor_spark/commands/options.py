"""Options from three places, the later winning: built-in default < conf/*.toml < command line."""

import dataclasses
import tomllib
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from victor_spark import resources
from victor_spark.errors import ConfigurationError

Options = TypeVar("Options")
Tables = Mapping[str, Mapping[str, Any]]


def configuration(name: str, sections: Mapping[str, type]) -> Tables:
    """The tables of conf/`name`, checked: only `sections`, only the fields of their dataclasses.

    Raises ConfigurationError for whatever else stands there, and for a value of the wrong type.
    """
    path = resources.directory("conf") / name
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path}: {' '.join(str(error).split())}") from error
    for section, table in tables.items():
        if section not in sections or not isinstance(table, dict):
            raise ConfigurationError(f"{path}: unknown table or key {section!r}")
        _check(table, sections[section], where=f"{path}: [{section}]")
    return tables


def merged(built_in: Options, configured: Mapping[str, Any], given: Mapping[str, Any]) -> Options:
    """The dataclass `built_in` with what is configured, and over that what the user gave (not None)."""
    chosen = {**configured, **{key: value for key, value in given.items() if value is not None}}
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in chosen.items()}
    return dataclasses.replace(built_in, **values)  # type: ignore[type-var]


def _check(table: Mapping[str, Any], options: type, *, where: str) -> None:
    hints = typing.get_type_hints(options)
    known = {field.name for field in dataclasses.fields(options)}
    for key, value in table.items():
        if key not in known:
            raise ConfigurationError(f"{where} unknown key {key!r} (known: {', '.join(sorted(known))})")
        if not _fits(value, hints[key]):
            raise ConfigurationError(f"{where} {key} = {value!r} has the wrong type")


def _fits(value: Any, hint: Any) -> bool:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {typing.Union, types.UnionType}:
        return any(_fits(value, argument) for argument in arguments)
    if origin in {tuple, frozenset}:
        return isinstance(value, list) and all(_fits(item, arguments[0]) for item in value)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(hint, type) and isinstance(value, hint)
