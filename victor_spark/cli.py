"""The command `victor`: finds the command asked for, and turns every error into a line and an exit code."""

import argparse
import atexit
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, NoReturn

from victor_spark import __version__
from victor_spark.commands import COMMANDS
from victor_spark.errors import (
    EXIT_DONE,
    EXIT_INTERNAL,
    EXIT_USAGE,
    EXTRAS,
    UsageError,
    VictorError,
    described,
)
from victor_spark.redaction import redacted_message

EXIT_INTERRUPTED: Final = 130
EXIT_BROKEN_PIPE: Final = 141

_HELP: Final = frozenset({"-h", "--help", "help"})

_HEAD: Final = """\
usage: victor COMMAND [ARGUMENT...]

Web pages and web archives in, clean text out, with the reason for every block kept or dropped.

commands:
"""
_FOOT: Final = """
examples:
  victor clean page.html                          the page's text on stdout
  victor clean crawl.warc.gz --output out         one row per page in out/pages/ (Parquet), on Spark
  victor clean --help                             every option, more examples

options:
  -h, --help   this help, or a command's       --version   the version
  --debug      with any command: show where an error comes from

exit codes: 0 done, 1 internal error, 2 wrong usage or unreadable input, 3 failure budget exceeded,
4 stopped incomplete (run again)
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; prints one line, no traceback, when it fails.

    Without `arguments` it is the program: those of the command line, and see `_leave` for its end.
    """
    if arguments is not None:
        return _run(list(arguments))
    codes: list[int] = []
    atexit.register(_leave, codes)  # before any other handler of the command, so that it runs after them
    codes.append(_run(sys.argv[1:]))
    return codes[0]


def _leave(codes: list[int]) -> None:
    """Ends the process after its exit handlers, and does not take the interpreter apart.

    A thread of a library written in C++ (Arrow's readers) that asks for the interpreter while this is taken
    apart is unwound by force, and C++ answers that with an abort: exit code 134 (before Python 3.14).
    """
    if codes:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(codes[0])


def _run(words: list[str]) -> int:
    debug = "--debug" in words
    try:
        return _dispatch(words)
    except SystemExit as error:  # argparse: 0 after --help, 2 with its own line
        return error.code if isinstance(error.code, int) else EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _silence_stdout()
        return EXIT_BROKEN_PIPE
    except VictorError as error:
        return _failed(str(error), error.exit_code, debug=debug)
    except BaseException as error:  # noqa: BLE001 - the last place; a panic in Rust code is no Exception
        if missing := _missing_extra(error):
            line, code = missing, EXIT_USAGE
        else:
            hint = "" if debug else " (--debug shows where)"
            line, code = f"internal error: {described(error)}{hint}", EXIT_INTERNAL
        return _failed(line, code, debug=debug)


def _missing_extra(error: BaseException) -> str | None:
    """What to install if an optional package is missing."""
    package = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    extra = EXTRAS.get(package)
    return f"{package} is not installed: pip install 'victor-spark[{extra}]'" if extra else None


def _dispatch(words: list[str]) -> int:
    if not words or _HELP.intersection(words[:1]) or (_is_group(words[0]) and _HELP.intersection(words[1:2])):
        print(_help())
        return EXIT_DONE if words else EXIT_USAGE
    if words[0] == "--version":
        print(f"victor {__version__}")
        return EXIT_DONE
    name = _command(words)
    module = importlib.import_module(COMMANDS[name][0])
    parsed = _parser(name, module).parse_args(words[len(name.split()) :])
    code = int(module.run(parsed))
    if sys.stdout is not None:
        sys.stdout.flush()  # what fails here is an error of the command
    return code


def _is_group(word: str) -> bool:
    """Whether the word alone is no command, but begins some."""
    return word not in COMMANDS and any(name.startswith(f"{word} ") for name in COMMANDS)


def _command(words: list[str]) -> str:
    for name in (" ".join(words[:2]), words[0]):
        if name in COMMANDS:
            return name
    longer = [name for name in COMMANDS if name.startswith(f"{words[0]} ")]
    known = ", ".join(longer or COMMANDS)
    raise UsageError(f"no command {' '.join(words[: 2 if longer else 1])!r} (there is: {known})")


def _parser(name: str, module: Any) -> argparse.ArgumentParser:
    parser = _Parser(
        prog=f"victor {name}",
        description=module.__doc__,
        epilog=getattr(module, "EXAMPLES", None),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--debug", action="store_true", help="show where an error comes from")
    module.add_arguments(parser)
    return parser


class _Parser(argparse.ArgumentParser):  # overriding `error` is the only way to argparse's messages
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def _help() -> str:
    lines = [f"  {name:<14} {summary}" for name, (_, summary) in COMMANDS.items()]
    return _HEAD + "\n".join(lines) + "\n" + _FOOT.rstrip()


def _failed(line: str, code: int, *, debug: bool) -> int:
    if debug:
        print(redacted_message(traceback.format_exc()), file=sys.stderr, end="")
    print(f"victor: error: {' '.join(line.split())}", file=sys.stderr)
    return code


def _silence_stdout() -> None:
    """Keeps the interpreter from failing again when it flushes stdout at exit."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(devnull, sys.stdout.fileno())
    except (OSError, ValueError):  # no real stdout
        os.close(devnull)
