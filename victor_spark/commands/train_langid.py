"""Builds language profiles from text files, adds a language to profiles, or prints a profile.

A text file is UTF-8 (plain, .gz, .xz or .bz2) and its name begins with its language: cs.txt, sr_latn.txt.xz.
A directory stands for its text files. The profile of a language depends on its own text only.

examples:
  victor train langid texts/ --output profiles.npz            every text file in texts/
  victor train langid texts/cs.txt texts/sk.txt.xz --output profiles.npz
  victor train langid --add gsw=swiss.txt --output profiles.npz    the shipped profiles and one more
  victor train langid --add cs=new.txt --profiles mine.npz --output mine.npz
  victor train langid --list cs | head -50                    the most frequent n-grams
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from victor_spark import resources
from victor_spark.commands.options import OVERWRITE, Command, option
from victor_spark.errors import EXIT_DONE, InputError, OutputError, UsageError
from victor_spark.evaluation.progress import track
from victor_spark.langid import training
from victor_spark.langid.profiles import Profiles
from victor_spark.logs import log

_LANGUAGE: Final = re.compile(r"[a-z]{2,3}(_[a-z]{4})?")
_SUFFIXES: Final = ("", ".gz", ".xz", ".bz2")


OPTIONS: Final = (
    option("[FILE_OR_DIR...]", "text files named by language", dest="inputs"),
    option("--output FILE", "the profiles to write", Path),
    OVERWRITE,
    option(
        "--add LANG=FILE",
        "add or replace one language, keep the others (may be repeated)",
        action="append",
        default=[],
    ),
    option("--profiles FILE", "profiles for --add and --list (default: the shipped ones)", Path),
    option("--list LANG", "print a language's profile and stop"),
)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    if arguments.list:
        for line in _existing(arguments).listing(arguments.list):
            print(line)
        return EXIT_DONE
    if arguments.output is None:
        raise UsageError("--output FILE or --list LANG is required")
    if bool(arguments.inputs) == bool(arguments.add):
        raise UsageError("give either FILE_OR_DIR or --add LANG=FILE")
    updates = arguments.add and arguments.output == arguments.profiles
    if arguments.output.exists() and not (updates or arguments.overwrite):
        raise OutputError(f"{arguments.output}: exists; choose another --output or add --overwrite")
    if arguments.add:
        profiles = _existing(arguments)
        for pair in arguments.add:
            language, equals, path = pair.partition("=")
            if not equals or not path:
                raise UsageError(f"--add {pair}: expected LANG=FILE")
            profiles = training.add(profiles, _checked(language, path), training.read(Path(path)))
    else:
        profiles = training.train(_texts(arguments.inputs))
    with resources.written(arguments.output), resources.replaced(arguments.output) as draft:
        draft.write_bytes(profiles.to_bytes())
    log(f"{arguments.output}: {len(profiles.languages)} languages")
    return EXIT_DONE


def _existing(arguments: argparse.Namespace) -> Profiles:
    return Profiles.load(arguments.profiles or resources.directory("models") / "langid" / "profiles.npz")


def _texts(inputs: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Language and text of files and of directories' text files, in the order given."""
    files: list[tuple[str, Path]] = []
    for path in map(Path, inputs):
        found = [path]
        if path.is_dir():
            found = sorted(file for suffix in _SUFFIXES for file in path.glob(f"*.txt{suffix}"))
            if not found:
                raise InputError(f"no text files (*.txt, *.txt.gz, *.txt.xz) in {path}")
        elif not path.exists():
            raise InputError(f"no such file: {path}")
        files += [(_checked(file.name.split(".")[0], str(file)), file) for file in found]
    return ((language, training.read(path)) for language, path in track(files, "reading", len(files)))


def _checked(language: str, source: str) -> str:
    if not _LANGUAGE.fullmatch(language):
        raise UsageError(
            f"{source}: {language!r} is not a language code "
            "(two or three lower-case letters, such as cs, ast, sr_latn)"
        )
    return language


TRAIN: Final = Command(__doc__, OPTIONS, run)
