"""Dataclasses whose fields are settings: values from conf/*.toml, and the option that sets a field.

An unknown or missing key or a wrong type in a file raises ConfigurationError. The type of an option's value
is a function: it reads the text of an argument, and raises UsageError for an invalid one.
"""

import dataclasses
import re
import tomllib
import types
import typing
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from victor_spark import resources
from victor_spark.errors import ConfigurationError, UsageError, choices

T = TypeVar("T")

MAX_SECONDS: Final = 1e6
_MAX_BYTES: Final = 1 << 50
_MAX_COUNT: Final = 1_000_000
_SIZE: Final = re.compile(r"(\d{1,15}(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?", re.IGNORECASE)
_UNITS: Final = ("", "K", "M", "G", "T")


def n_bytes(text: str) -> int:
    """Bytes: a number, with K, M, G or T for powers of 1024 (10M, 512K, 1.5GB, 2 GiB)."""
    match = _SIZE.fullmatch(text.strip())
    value = int(float(match[1]) * 1024 ** _UNITS.index(match[2].upper())) if match else 0
    if not 1 <= value <= _MAX_BYTES:
        raise UsageError(f"{text!r} is not a size such as 512K, 10M or 1G")
    return value


Size: TypeAlias = Annotated[int, n_bytes]
"""Bytes, which a TOML file may state as a text such as "10M"."""


def not_empty(text: str) -> str:
    """A text of at least one character, such as a path."""
    if not text:
        raise UsageError("must not be empty")
    return text


def probability(text: str, most: float = 1.0) -> float:
    """A number from 0 to 1, or to another maximum."""
    with suppress(ValueError):
        if 0 <= (value := float(text)) <= most:
            return value
    raise UsageError(f"{text!r} is not a number between 0 and {most:,.0f}")


def seconds(text: str) -> float:
    """A number of seconds, a million at most."""
    return probability(text, MAX_SECONDS)


def positive(text: str) -> int:
    """A whole number between 1 and a million."""
    if not text.isdecimal() or not 1 <= float(text) <= _MAX_COUNT:
        raise UsageError(f"{text!r} is not a whole number between 1 and {_MAX_COUNT:,}")
    return int(text)


def numbers(text: str) -> tuple[int, ...]:
    """Whole numbers separated by commas."""
    try:
        return tuple(int(number) for number in text.split(","))
    except ValueError:
        raise UsageError(f"{text!r} is not a list of whole numbers such as 200,203") from None


def names(text: str) -> tuple[str, ...]:
    """Names separated by commas, in lower case."""
    return tuple(name.strip().lower() for name in text.split(",") if name.strip())


def setting(
    default: Any,
    flag: str,
    help_: str,
    kind: Callable[[str], Any] | None = str,
    *,
    heading: str = "",
    instead: tuple[str, str, Any] | None = None,
    compare: bool = True,
    **how: Any,
) -> Any:
    """A field of a dataclass with its built-in value and its option, which `commands.options.of` makes.

    `kind`: the type of the option's value; None: a switch. `heading`: this field and those after it stand
    below it in the help. `instead`: flag, help and value of a switch for the same field. `how`: other
    arguments of argparse.
    """
    option = {"default": default, "flag": flag, "help": help_, "kind": kind}
    option |= {"heading": heading, "instead": instead, "how": how}
    return dataclasses.field(default=default, compare=compare, metadata=option)


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


def sections(file: str, kinds: Mapping[str, type]) -> Mapping[str, Mapping[str, Any]]:
    """The tables of conf/`file`, if it exists. `kinds`: the dataclass whose fields a table may have."""
    path = resources.directory("conf") / file
    tables = toml(path) if path.is_file() else {}
    for name in tables:
        if name not in kinds:
            raise ConfigurationError(f"{path}: unknown table or key {name!r}{choices(name, kinds)}")
    return {name: _fields(table, kinds[name], f"{path}: {name}.") for name, table in tables.items()}


def merged(built_in: T, configured: Mapping[str, Any], given: Mapping[str, Any], file: str = "") -> T:
    """The dataclass `built_in` with `configured` values, and over these the `given` ones of its fields.

    A given value that is None, or that belongs to no field, is ignored. `file`: the name of the file of the
    configured values in conf/, for the error of a value in it.
    """
    try:
        found = dataclasses.replace(built_in, **configured)  # type: ignore[type-var]
    except UsageError as error:
        raise ConfigurationError(f"{resources.directory('conf') / file}: {error}") from None
    names = [one.name for one in dataclasses.fields(found) if given.get(one.name) is not None]  # type: ignore[arg-type]
    return dataclasses.replace(found, **{name: given[name] for name in names})  # type: ignore[type-var]


def _fields(table: object, kind: type, where: str) -> dict[str, Any]:
    """The fields of `kind` that the table has, by name; `where` is the prefix of their names in messages."""
    hints = typing.get_type_hints(kind, include_extras=True)
    hints = {one.name: hints[one.name] for one in dataclasses.fields(kind)}
    if not isinstance(table, dict):
        raise ConfigurationError(f"{where.rstrip('. ')} is not a table")
    for key in table:
        if key not in hints:
            raise ConfigurationError(f"{where}{key}: unknown key {key!r}{choices(key, sorted(hints))}")
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
        try:
            value = arguments[1](str(value)) if type(value) in (str, hint) else value
        except UsageError as error:
            raise ConfigurationError(f"{where} = {error}") from None
    if origin in {typing.Union, types.UnionType}:
        for argument in arguments[1:]:
            with suppress(ConfigurationError):
                return _converted(value, argument, where)
        return _converted(value, arguments[0], where)
    if origin in _COLLECTIONS and isinstance(value, list):
        value = _COLLECTIONS[origin](_converted(each, arguments[0], where) for each in value)
    elif origin is Mapping and isinstance(value, dict):
        value = {key: _converted(each, arguments[1], f"{where}.{key}") for key, each in value.items()}
    elif hint is float and type(value) in (int, float):
        value = float(value)
    elif type(value) is not hint:
        raise ConfigurationError(f"{where} = {value!r} is not {_KINDS.get(hint, _KINDS.get(origin, hint))}")
    return value


_COLLECTIONS: Final[Mapping[Any, type]] = {tuple: tuple, Collection: tuple, frozenset: frozenset}
_KINDS: Final[Mapping[Any, str]] = {
    **dict.fromkeys(_COLLECTIONS, 'a list such as ["a", "b"]'),
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text in quotes",
    Mapping: "a table",
}
"""Type → its description in messages."""
