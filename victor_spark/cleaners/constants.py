"""The constants of a rule cleaner: a file of conf/ → a frozen dataclass, every key checked."""

import tomllib
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from victor_spark.errors import ConfigurationError

T = TypeVar("T")

_KINDS: Final[dict[type, tuple[type, ...]]] = {int: (int,), float: (int, float), str: (str,)}


def read(path: Path, kind: type[T]) -> T:
    """The dataclass `kind` from a TOML file; its fields are int, float, str, or such dataclasses (tables).

    Raises ConfigurationError for a file that can't be read or is no TOML, for an unknown or missing
    key, and for a value of a wrong type.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from error
    constants: T = _table(table, kind, f"{path}: ")
    return constants


def _table(table: object, kind: Any, where: str) -> Any:
    if not isinstance(table, dict):
        raise ConfigurationError(f"{where.rstrip('.')} is no table")
    types: dict[str, Any] = {field.name: field.type for field in fields(kind)}
    for key in sorted(table.keys() ^ types.keys()):
        raise ConfigurationError(f"{where}{'unknown' if key in table else 'missing'} key {key}")
    return kind(**{key: _value(table[key], types[key], where + key) for key in types})


def _value(value: object, kind: Any, where: str) -> Any:
    if is_dataclass(kind):
        return _table(value, kind, f"{where}.")
    if isinstance(value, bool) or not isinstance(value, _KINDS[kind]):
        raise ConfigurationError(f"{where} = {value!r} is no {kind.__name__}")
    return kind(value)
