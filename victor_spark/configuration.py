"""conf/*.toml → dataclasses. An unknown or missing key or a wrong type raises ConfigurationError."""

import dataclasses
import re
import tomllib
import types
import typing
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from victor_spark import resources
from victor_spark.errors import ConfigurationError, UsageError

T = TypeVar("T")
Tables = Mapping[str, Mapping[str, Any]]

_SIZE: Final = re.compile(r"(\d{1,15}(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?", re.IGNORECASE)
_UNITS: Final = ("", "K", "M", "G", "T")


def n_bytes(text: str) -> int:
    """Bytes: a number, with K, M, G or T for powers of 1024 (10M, 512K, 1.5GB, 2 GiB)."""
    match = _SIZE.fullmatch(text.strip())
    value = int(float(match[1]) * 1024 ** _UNITS.index(match[2].upper())) if match else 0
    if value < 1:
        raise UsageError(f"{text!r} is not a size such as 512K, 10M or 1G")
    return value


Size: TypeAlias = Annotated[int, n_bytes]
"""Bytes, which a TOML file may state as a text such as "10M"."""


def toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file; ConfigurationError when it cannot be read or is not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path}: {' '.join(str(error).split())}") from error


def read(path: Path, kind: type[T]) -> T:
    """The dataclass `kind` from a TOML file that has every field; fields that are dataclasses are tables."""
    table: T = _converted(toml(path), kind, f"{path}: ")
    return table


def sections(name: str, kinds: Mapping[str, type]) -> Tables:
    """The tables of conf/`name`, if it exists. `kinds`: the dataclass whose fields a table may have."""
    path = resources.directory("conf") / name
    tables = toml(path) if path.is_file() else {}
    for section, table in tables.items():
        if section not in kinds or not isinstance(table, dict):
            raise ConfigurationError(f"{path}: unknown table or key {section!r}")
    return {
        section: _fields(table, kinds[section], f"{path}: {section}.") for section, table in tables.items()
    }


def merged(built_in: T, configured: Mapping[str, Any], given: Mapping[str, Any]) -> T:
    """The dataclass `built_in` with `configured` values, and over these `given` ones that are not None."""
    chosen = {**configured, **{key: value for key, value in given.items() if value is not None}}
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in chosen.items()}
    return dataclasses.replace(built_in, **values)  # type: ignore[type-var]


def _fields(table: object, kind: type, where: str) -> dict[str, Any]:
    """The fields of `kind` that the table has, by name; `where` is the prefix of their names in messages."""
    hints = typing.get_type_hints(kind, include_extras=True)
    if not isinstance(table, dict):
        raise ConfigurationError(f"{where.rstrip('. ')} is not a table")
    for key in table:
        if key not in hints:
            raise ConfigurationError(f"{where}{key}: unknown key {key!r} (known: {', '.join(sorted(hints))})")
    return {key: _converted(value, hints[key], where + key) for key, value in table.items()}


def _converted(value: Any, hint: Any, where: str) -> Any:
    """The value in the type of its hint: tables become dataclasses, lists tuples, integers floats."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        prefix = where if where.endswith(" ") else f"{where}."
        fields = _fields(value, hint, prefix)
        for field in dataclasses.fields(hint):
            if field.name not in fields:
                raise ConfigurationError(f"{prefix}{field.name}: missing key {field.name!r}")
        return hint(**fields)
    if origin is Annotated:
        hint = arguments[0]
        with suppress(UsageError):
            value = arguments[1](value) if isinstance(value, str) else value
    if origin in {typing.Union, types.UnionType}:
        for argument in arguments:
            with suppress(ConfigurationError):
                return _converted(value, argument, where)
    elif origin in {tuple, frozenset} and isinstance(value, list):
        return origin(_converted(item, arguments[0], where) for item in value)
    elif origin is Mapping and isinstance(value, dict):
        return {key: _converted(item, arguments[1], f"{where}.{key}") for key, item in value.items()}
    elif hint is float and type(value) in (int, float):
        return float(value)
    elif type(value) is hint:
        return value
    raise ConfigurationError(f"{where} = {value!r} is not of type {getattr(hint, '__name__', hint)}")
