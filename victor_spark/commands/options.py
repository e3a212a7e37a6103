"""The parts of a command. Its options, but for those of a request: fields with a `setting` (settings.py)."""

import argparse
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, TypeAlias

from victor_spark import errors
from victor_spark.configuration import n_bytes, not_empty

_PERCENT: Final = re.compile(r"%(?!\()")


@dataclass(frozen=True)
class Option:
    """An option (or, without a flag, an argument) and the arguments of argparse's `add_argument`."""

    flag: str
    how: dict[str, Any]

    @property
    def dest(self) -> str:
        """The name of its value among the parsed arguments."""
        return str(self.how.get("dest") or self.flag.lstrip("-").replace("-", "_"))


class Group:
    """Options under one heading of the help."""

    def __init__(self, heading: str, *options: "Option | OneOf") -> None:
        self.heading, self.options = heading, options


class OneOf:
    """Options that exclude each other; one of them must be given if `required`."""

    def __init__(self, *options: Option, required: bool = False) -> None:
        self.options, self.required = options, required


Entry: TypeAlias = Option | OneOf | Group


@dataclass(frozen=True)
class Command:
    """A command of `victor`: its help, its options, and the function that runs it and gives the exit code.

    `help`: the examples in it, from the line "examples:" on, are printed after the options. `stopped`: the
    line that is printed when a user interrupts the command; the exit code is then EXIT_INCOMPLETE. `codes`:
    the exit codes that only some commands have, and their meaning.
    """

    help: str | None
    options: tuple[Entry, ...]
    run: Callable[[argparse.Namespace], int]
    stopped: str = ""
    codes: Mapping[int, str] = field(default_factory=dict)

    @property
    def exit_codes(self) -> str:
        """The line of the help that lists the exit codes."""
        stopped = {errors.EXIT_INCOMPLETE: f"stopped; {self.stopped}"} if self.stopped else {}
        usual = {code: meaning for code, meaning in errors.EXIT_CODES.items() if code <= errors.EXIT_USAGE}
        codes = sorted((usual | stopped | dict(self.codes)).items())
        return f"exit codes: {', '.join(f'{code} {meaning}' for code, meaning in codes)}"


def option(name: str, help_: str, kind: Callable[[str], Any] = not_empty, **how: Any) -> Option:
    """An entry for `--flag VALUE`, or for the argument `VALUE`; the default is added to the help.

    `VALUE...` is one or more values, `[VALUE]` may be left out, `[VALUE...]` is any number of values.
    `kind` is the type of a value. `how` holds other arguments of argparse.
    """
    flag, _, value = name.partition(" ") if name.startswith("-") else ("", "", name)
    if value:
        how["metavar"] = value.strip("[].")
    if "..." in value:
        how = {"nargs": "*" if "[" in value else "+", **({"default": []} if flag else {}), **how}
    elif "[" in value:
        how["nargs"] = "?"
    default = how.get("default")
    if "default" not in help_ and default not in (None, []):
        shown = f"default: {default:g}" if isinstance(default, float) else "default: %(default)s"
        help_ = f"{help_} ({shown})" if help_ else shown
    return Option(flag, {"help": _PERCENT.sub("%%", help_), "type": kind, **how})


def switch(flag: str, help_: str, value: object = True, **how: Any) -> Option:
    """An entry for an option without a value, which is None, or `value` if it is given."""
    return Option(flag, {"help": help_, "action": "store_const", "const": value, **how})


def headed(kind: type) -> tuple[Group, ...]:
    """The options of a dataclass in groups; a field's `setting` begins a group if it has a heading."""
    found: list[tuple[str, list[Option | OneOf]]] = []
    for one in fields(kind):
        if heading := one.metadata["heading"]:
            found.append((heading, []))
        found[-1][1].append(of(kind, one.name))
    return tuple(Group(heading, *options) for heading, options in found)


def of(kind: type, name: str) -> Option | OneOf:
    """The option that a field's `setting` describes, or two that exclude each other."""
    (chosen,) = [one.metadata for one in fields(kind) if one.name == name]
    flag, help_, default = chosen["flag"], chosen["help"], chosen["default"]
    if chosen["kind"] is None:
        return switch(flag, help_, value=not default, dest=name)
    if default and "default" not in help_:
        shown = f"{default >> 20}M" if chosen["kind"] is n_bytes else f"{default}".removesuffix(".0")
        shown = ",".join(map(str, default)) if isinstance(default, tuple) else shown
        help_ = f"{help_} (default: {shown})"
    made = option(flag, help_, chosen["kind"], dest=name, **chosen["how"])
    return OneOf(switch(*chosen["instead"], dest=name), made) if chosen["instead"] else made


OVERWRITE: Final = switch("--overwrite", "replace files of an earlier command in --output")
COMMON: Final = (
    switch("--debug", "print the traceback of an error"),
    switch("--quiet", "no progress, only warnings and errors"),
    option("--log-format", "lines on stderr (default: text)", choices=("text", "json")),
)
"""The options that every command has."""


def add(parser: argparse._ActionsContainer, entries: Iterable[Entry]) -> None:
    """Adds the options to a parser."""
    for entry in entries:
        if isinstance(entry, Option):
            parser.add_argument(*filter(None, [entry.flag]), **entry.how)
        elif isinstance(entry, OneOf):
            add(parser.add_mutually_exclusive_group(required=entry.required), entry.options)
        else:
            add(parser.add_argument_group(entry.heading), entry.options)


def flat(entries: Iterable[Entry]) -> Iterator[Option]:
    """The options, also those in groups."""
    for entry in entries:
        yield from [entry] if isinstance(entry, Option) else flat(entry.options)


def command_line(start: str, arguments: argparse.Namespace, *names: str) -> str:
    """The command line of this call: the options that were given, and files without their folders."""
    words = start.split()
    for name in names:
        value = getattr(arguments, name)
        if value is not None and value != []:
            words.append(f"--{name.replace('_', '-')}")
            values = [] if value is True else value if isinstance(value, list) else [value]
            words += [Path(each).name if isinstance(each, str) else str(each) for each in values]
    return shlex.join(words)
