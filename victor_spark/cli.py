"""The command `victor`: runs the named command and turns every error into one line and an exit code."""

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
    suggestion,
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
  victor clean page.html                          print the page's text
  victor clean crawl.warc.gz --output out         write one row per page to out/pages/ (Parquet), with Spark
  victor clean --help                             list all options and more examples

options:
  -h, --help   print this help, or that of a command      --version   print the version
  --debug      with any command: print the traceback of an error

exit codes: 0 done, 1 internal error, 2 wrong usage or unreadable input, 3 failure budget exceeded,
4 stopped before the end (run the command again to resume)
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; a failure is one line on stderr, without a traceback.

    Without `arguments` this is the program: it reads the command line and ends the process (`_leave`).
    """
    if arguments is not None:
        return _run(list(arguments))
    codes: list[int] = []
    atexit.register(_leave, codes)  # registered first, so that it runs after all other exit handlers
    codes.append(_run(sys.argv[1:]))
    return codes[0]


def _leave(codes: list[int]) -> None:
    """Ends the process after its exit handlers, without finalizing the interpreter.

    Before Python 3.14, a C++ thread (such as Arrow's readers) that asks for the GIL during finalization is
    unwound by force; C++ then aborts the process with exit code 134.
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
    except BaseException as error:  # noqa: BLE001 - the outermost handler; a panic in Rust code is not an Exception
        if missing := _missing_extra(error):
            line, code = missing, EXIT_USAGE
        else:
            hint = "" if debug else " (--debug prints the traceback)"
            line, code = f"internal error: {described(error)}{hint}", EXIT_INTERNAL
        return _failed(line, code, debug=debug)


def _missing_extra(error: BaseException) -> str | None:
    """What to install if an optional package is missing."""
    package = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    extra = EXTRAS.get(package)
    return f"{package} is not installed: pip install 'victor-spark[{extra}]'" if extra else None


def _dispatch(words: list[str]) -> int:
    if not words or _HELP.intersection(words[:1]):
        print(_help())
        return EXIT_DONE if words else EXIT_USAGE
    if _is_group(words[0]) and _HELP.intersection(words[1:2]):
        print(_group_help(words[0]))
        return EXIT_DONE
    if words[0] == "--version":
        print(f"victor {__version__}")
        return EXIT_DONE
    name = _command(words)
    module = importlib.import_module(COMMANDS[name][0])
    parsed = _parser(name, module).parse_args(words[len(name.split()) :])
    code = int(module.run(parsed))
    if sys.stdout is not None:
        sys.stdout.flush()  # a failure here is an error of the command
    return code


def _is_group(word: str) -> bool:
    """Whether commands of two words begin with this word, which is no command itself."""
    return word not in COMMANDS and any(name.startswith(f"{word} ") for name in COMMANDS)


def _command(words: list[str]) -> str:
    for name in (" ".join(words[:2]), words[0]):
        if name in COMMANDS:
            return name
    in_group = [name for name in COMMANDS if name.startswith(f"{words[0]} ")]
    wrong = " ".join(words[: 2 if in_group else 1])
    groups = {name.split()[0] for name in COMMANDS}
    near = "" if wrong in groups else suggestion(wrong, in_group or sorted({*COMMANDS, *groups}))
    known = f" (commands: {', '.join(in_group)})" if in_group else " (`victor --help` lists the commands)"
    raise UsageError(f"no command {wrong!r}{near or known}")


def _parser(name: str, module: Any) -> argparse.ArgumentParser:
    parser = _Parser(
        prog=f"victor {name}",
        description=module.__doc__,
        epilog=getattr(module, "EXAMPLES", None),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--debug", action="store_true", help="print the traceback of an error")
    module.add_arguments(parser)
    return parser


class _Parser(argparse.ArgumentParser):  # argparse's messages can be changed only by overriding `error`
    def error(self, message: str) -> NoReturn:
        _, _, unknown = message.partition("unrecognized arguments: ")
        near = (
            suggestion(unknown.split()[0].partition("=")[0], self._option_string_actions) if unknown else ""
        )
        raise UsageError(f"{message}{near or f' (see {self.prog} --help)'}")


def _help() -> str:
    lines = [f"  {name:<19} {summary}" for name, (_, summary) in COMMANDS.items()]
    return _HEAD + "\n".join(lines) + "\n" + _FOOT.rstrip()


def _group_help(group: str) -> str:
    commands = [
        f"  {name:<19} {summary}" for name, (_, summary) in COMMANDS.items() if name.startswith(f"{group} ")
    ]
    head = f"usage: victor {group} COMMAND [ARGUMENT...]\n\ncommands:\n"
    return head + "\n".join(commands) + f"\n\nvictor {group} COMMAND --help describes a command's options."


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
