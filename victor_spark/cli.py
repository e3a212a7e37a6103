"""The command `victor`: runs the named command and turns every error into one line and an exit code."""

import argparse
import atexit
import errno
import os
import platform
import re
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Final, NoReturn

from victor_spark import __version__, errors, logs
from victor_spark.commands import COMMANDS, loaded, options
from victor_spark.commands.options import Command
from victor_spark.errors import UsageError, VictorError
from victor_spark.redaction import redacted_message

EXIT_INTERRUPTED: Final = 130
EXIT_BROKEN_PIPE: Final = 141

_HELP: Final = frozenset({"-h", "--help", "help"})
_CHOICE: Final = re.compile(r".+: invalid choice: '(.+)' \(choose from (.+)\)", re.DOTALL)  # by argparse

_ABOUT: Final = (
    "Turns web pages and web archives into clean text, with the reason for every block kept or dropped."
)
_CODES: Final = "\n".join(f"  {code}  {meaning}" for code, meaning in errors.EXIT_CODES.items())
_FOOT: Final = f"""\
examples:
  victor clean page.html                          print the page's text
  victor clean crawl.warc.gz --output out         write one row per page to out/pages/ (Parquet), with Spark
  victor clean --help                             list all options and more examples

exit codes:
{_CODES}
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; a failure is one line on stderr, without a traceback.

    Without `arguments` this is the program: it opens standard streams that are closed, and ends the process.
    """
    if arguments is not None:
        return _run(list(arguments))
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # the stream is closed
            stream = open(os.devnull, "r+", encoding="utf-8")  # noqa: SIM115 - it stays open
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)
    for number in (signal.SIGTERM, signal.SIGHUP):  # as Ctrl-C; `nohup` ignores SIGHUP
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    logs.take_over()
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
        return error.code if isinstance(error.code, int) else errors.EXIT_USAGE
    except KeyboardInterrupt:
        logs.log("stopped", "warning")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        with suppress(OSError, ValueError):  # no real stdout
            # Keeps the interpreter from failing again when it flushes stdout at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except VictorError as error:
        return _failed(str(error), error.exit_code, debug=debug)
    except BaseException as error:  # noqa: BLE001 - the outermost handler; a panic in Rust code is not an Exception
        package = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
        if extra := errors.EXTRAS.get(package):
            line, code = f"{package} is not installed: pip install 'victor-spark[{extra}]'", errors.EXIT_USAGE
        elif isinstance(error, OSError) and error.filename is not None:
            line, code = f"{error.filename}: {errors.one_line(error)}", errors.EXIT_USAGE
        elif isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            line, code = f"can't write: {errors.one_line(error)}", errors.EXIT_INCOMPLETE
        else:
            hint = "" if debug else " (--debug prints the traceback)"
            line, code = f"internal error: {errors.described(error)}{hint}", errors.EXIT_INTERNAL
        return _failed(line, code, debug=debug)


def _dispatch(words: list[str]) -> int:
    if words[:1] == ["--version"]:
        print("\n".join(_version()))
        return errors.EXIT_DONE
    group = words[0] if words and _in_group(words[0]) and words[0] not in COMMANDS else ""
    if words[:1] in ([], [group]) and not words[1:]:
        with redirect_stdout(sys.stderr):
            _overview(group).print_help()
        return errors.EXIT_USAGE
    if words[0] in _HELP or (group and words[1] in _HELP):
        _overview(group).print_help()
        return errors.EXIT_DONE
    name = _command(words)
    command = loaded(name)
    reader = parser(name, command)
    parsed = reader.parse_args(words[len(name.split()) :])
    flags = [word.partition("=")[0] for word in words if word.startswith("--")]
    if repeated := {flag for flag in reader.once() if flags.count(flag) > 1}:
        raise UsageError(f"{min(repeated)} is given twice: give it once")
    if parsed.quiet:
        logs.quieten()
    if parsed.log_format == "json":
        logs.structure(command=name)
    if isinstance(sys.stdout, TextIOWrapper):  # pages have letters that the locale may lack
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    try:
        code = int(command.run(parsed))
    except KeyboardInterrupt:
        if not command.stopped:
            raise
        logs.log(f"stopped; {command.stopped}", "warning")
        return errors.EXIT_INCOMPLETE
    sys.stdout.flush()  # a failure here is an error of the command
    return code


def _in_group(word: str) -> list[str]:
    """The commands of two words that begin with this one."""
    return [name for name in COMMANDS if name.startswith(f"{word} ")]


def _command(words: list[str]) -> str:
    for name in (" ".join(words[:2]), words[0]):
        if name in COMMANDS:
            return name
    in_group = _in_group(words[0])
    tried = words[: 2 if in_group else 1]
    kind, wrong = "command", " ".join(tried)
    known = in_group or {*COMMANDS, *(name.split()[0] for name in COMMANDS)}
    if (flag := tried[-1].partition("=")[0]).startswith("-"):
        kind, wrong, known = "option", flag, ["--help", "--version", *(one.flag for one in options.COMMON)]
        if flag == "--version":
            raise UsageError("--version stands alone: victor --version")
        if flag in known:
            raise UsageError(f"{flag} must follow the command: victor COMMAND {flag}")
    listed = f"victor {words[0]} --help" if in_group else "victor --help"
    raise UsageError(f"no {kind} {wrong!r}{errors.suggestion(wrong, known) or f' (see `{listed}`)'}")


def parser(name: str, command: Command) -> "_Parser":
    """The parser of a command's options."""
    about, _, examples = (command.help or "").partition("\nexamples:\n")
    made = _Parser(
        prog=f"victor {name}",
        description=about,
        epilog=f"examples:\n{examples}\n{command.exit_codes}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    options.add(made, (*options.COMMON, *command.options))
    return made


class _Parser(argparse.ArgumentParser):  # argparse's messages can be changed only by overriding `error`
    def once(self) -> set[str]:
        """The options that may be given once only: of repeated ones, argparse takes the last value."""
        found = self._option_string_actions.items()
        return {flag for flag, how in found if how.nargs != 0 and not isinstance(how, argparse._AppendAction)}

    def error(self, message: str) -> NoReturn:
        _, _, unknown = message.partition("unrecognized arguments: ")
        near = ""
        if unknown:
            near = errors.suggestion(unknown.split()[0].partition("=")[0], self._option_string_actions)
        elif choice := _CHOICE.fullmatch(message):
            near = errors.suggestion(choice[1], re.findall(r"[^\s,']+", choice[2]))
        raise UsageError(f"{message}{near or f' (see {self.prog} --help)'}")


def _overview(group: str) -> argparse.ArgumentParser:
    """The parser that prints the help of all commands, or of a group of them."""
    name = f"victor {group}".rstrip()
    made = argparse.ArgumentParser(
        usage=f"{name} COMMAND [ARGUMENT...]",
        description=None if group else _ABOUT,
        epilog=f"{name} COMMAND --help lists a command's options and examples." if group else _FOOT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    commands = made.add_argument_group("commands")
    for each in _in_group(group) if group else COMMANDS:
        commands.add_argument(each, help=COMMANDS[each][1])
    if not group:
        own = made.add_argument_group("options")
        own.add_argument("-h", "--help", action="store_true", help="print this help, or that of a command")
        own.add_argument("--version", action="store_true", help="print version, model, kernels")
        options.add(made.add_argument_group("options of every command"), options.COMMON)
    return made


def _version() -> Iterator[str]:
    """The lines of --version: the release, the default model, the kernels, Python."""
    from victor_spark import extractors, kernels
    from victor_spark.kernels import blocks

    yield f"victor {__version__}"
    yield f"model: {', '.join(extractors.models_of('victor'))}"
    names = kernels.uncompiled()
    abi = Path(blocks.__file__).name.split(".")[1]
    yield f"kernels: {'not compiled: ' + ', '.join(names) if names else f'compiled ({abi})'}"
    yield f"Python: {platform.python_version()} ({platform.system()} {platform.machine()})"


def _failed(line: str, code: int, *, debug: bool) -> int:
    if debug:
        logs.write(redacted_message(traceback.format_exc()))
    logs.log(" ".join(line.split()), "error", exit_code=code)
    return code
