"""`victor train langid` and `victor train ncleaner`: models of character n-grams."""

import argparse
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from victor_spark import pipeline, resources
from victor_spark.commands.options import OVERWRITE, Command, command_line, option, switch
from victor_spark.configuration import positive
from victor_spark.errors import EXIT_DONE, InputError, OutputError, UsageError
from victor_spark.evaluation import crf, cross_validation, gold, labelling, report
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.extractors import ncleaner as cleaner
from victor_spark.langid.profiles import Profiles
from victor_spark.logs import log, track
from victor_spark.model.files import FILE_NAME
from victor_spark.train import langid, ncleaner

LANGID_HELP: Final = """\
Builds language profiles from text files, adds a language to profiles, or prints a profile.

A text file is UTF-8 (plain, .gz, .xz or .bz2) and its name begins with its language: cs.txt, sr_latn.txt.xz.
If an input is a directory, all its text files are read. The profile of a language depends on its text only.

examples:
  victor train langid texts/ --output profiles.npz            every text file in texts/
  victor train langid texts/cs.txt texts/sk.txt.xz --output profiles.npz
  victor train langid --add gsw=swiss.txt --output profiles.npz    the shipped profiles and one more
  victor train langid --add cs=new.txt --profiles mine.npz --output mine.npz
  victor train langid --list cs | head -50                    the most frequent n-grams
"""

NCLEANER_HELP: Final = """\
Trains NCleaner, character n-gram models of clean and dirty text, from annotated pages.

The data are files as in `victor train crf --data`. Pages of the split "dev" are not used for training: the
model is measured on them. `victor clean --cleaner ncleaner --model DIR` uses the model directory.

examples:
  victor train ncleaner --data pages/ --output models/ncleaner/default
  victor train ncleaner --data pages/ --non-lexical --output models/ncleaner/non-lexical
  victor train ncleaner --data pages/ --sets daniel --pairs 25 --output mine     25 pages are enough to begin
  victor train ncleaner --data pages/ --sets cleaneval-dev --uncalibrated --output mine      as in 2008
  victor clean page.html --cleaner ncleaner --model mine
"""

_LANGUAGE: Final = re.compile(r"[a-z]{2,3}(_[a-z]{4})?")

LANGID_OPTIONS: Final = (
    option("[FILE_OR_DIR...]", "text files named by language", dest="inputs"),
    option("--output FILE", "the profiles to write", Path),
    OVERWRITE,
    option("--add LANG=FILE", "add or replace a language (may be repeated)", action="append", default=[]),
    option("--profiles FILE", "profiles for --add and --list (default: the shipped ones)", Path),
    option("--list LANG", "print a language's profile and stop"),
)


def train_langid(arguments: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    if arguments.list:
        print("\n".join(_existing(arguments).listing(arguments.list)))
        return EXIT_DONE
    if arguments.output is None:
        raise UsageError("--output FILE or --list LANG is required")
    if bool(arguments.inputs) == bool(arguments.add):
        raise UsageError("give either FILE_OR_DIR or --add LANG=FILE")
    updates = arguments.add and arguments.output == arguments.profiles
    if arguments.output.exists() and not (updates or arguments.overwrite):
        raise OutputError(f"{arguments.output}: exists; choose another --output or add --overwrite")
    if arguments.add:
        added = []
        for pair in arguments.add:
            language, equals, path = pair.partition("=")
            if not equals or not path:
                raise UsageError(f"--add {pair}: expected LANG=FILE")
            added.append((_checked(language, path), langid.read(Path(path))))
        profiles = langid.train(added, _existing(arguments).profiles)
    else:
        profiles = langid.train(_texts(arguments.inputs))
    with resources.written(arguments.output), resources.replaced(arguments.output) as draft:
        draft.write_bytes(profiles.to_bytes())
    log(f"{arguments.output}: {len(profiles.languages)} languages")
    return EXIT_DONE


def _existing(arguments: argparse.Namespace) -> Profiles:
    return Profiles.load(arguments.profiles or resources.directory("models") / pipeline.PROFILES)


def _texts(inputs: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Language and text of files and of directories' text files, in the order given."""
    files: list[tuple[str, Path]] = []
    for path in map(Path, inputs):
        found = [path]
        if path.is_dir():
            found = sorted(file for suffix in ("", *langid.UNPACK) for file in path.glob(f"*.txt{suffix}"))
            if not found:
                raise InputError(f"no text files (*.txt, *.txt.gz, *.txt.xz) in {path}")
        elif not path.exists():
            raise InputError(f"no such file: {path}")
        files += [(_checked(file.name.split(".")[0], str(file)), file) for file in found]
    return ((language, langid.read(path)) for language, path in track(files, "reading", len(files)))


def _checked(language: str, source: str) -> str:
    if not _LANGUAGE.fullmatch(language):
        raise UsageError(f"{source}: {language!r} is not a language code such as cs, ast or sr_latn")
    return language


LANGID: Final = Command(LANGID_HELP, LANGID_OPTIONS, train_langid)


NCLEANER_OPTIONS: Final = (
    option("--data DIR", "directory of annotated pages", required=True),
    option("--output DIR", "the model directory to write", required=True),
    OVERWRITE,
    option("--sets SET...", "only these sets (default: all)"),
    option("--pairs N", "learn from N pages, drawn by hash of their ids (default: all)", positive),
    switch("--non-lexical", "read every letter as `a`, every digit as `0`: for any language"),
    switch("--uncalibrated", "decide by the likelihoods only, without a paragraph's length"),
)


def train_ncleaner(arguments: argparse.Namespace) -> int:
    """Labels, trains, measures on held-out pages, writes the model directory."""
    with resources.new_directory(Path(arguments.output), overwrite=arguments.overwrite) as output:
        files = gold.find(Path(arguments.data), arguments.sets).values()
        pages = [page for path in files for page in track(gold.read(path), f"reading {path.name}", 0)]
        learnt = _training_pages(pages, arguments)
        options = ("sets", "pairs", "non_lexical", "uncalibrated")
        metrics: dict[str, Any] = {
            "command": command_line("victor train ncleaner --data PAGES", arguments, *options),
            "lexical": not arguments.non_lexical,
            "calibrated": not arguments.uncalibrated,
            "n_training_pages": len(learnt),
            "training_pages": dict(sorted(Counter(page.gold.set for page in learnt).items())),
        }
        try:
            model = ncleaner.train(
                crf.training_pages(learnt),
                lexical=metrics["lexical"],
                calibrated=metrics["calibrated"],
                about={"command": metrics["command"]},
            )
        except ValueError as error:
            raise InputError(f"{arguments.data}: {error}") from error
        held_out = [page for page in pages if gold.usable(page) and page.split == report.HELD_OUT]
        clean = cleaner.load(cleaner.to_bytes(model))
        labelled = map(labelling.label, track(held_out, "measuring", len(held_out)))
        results = [cross_validation.result(page, clean(page.page)) for page in labelled]
        metrics["held_out"] = cross_validation.by_set(results) if results else {}
        if results:
            print(cross_validation.table(metrics["held_out"]))
        else:
            log(f"not measured: {arguments.data} has no page of the split dev", "warning")
        (output / FILE_NAME).write_bytes(cleaner.to_bytes(model))
        (output / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n", encoding="utf-8")
        text = report.card("ncleaner", f"ncleaner/{output.resolve().name}", metrics)
        (output / "CARD.md").write_text(text, encoding="utf-8")
    print(f"model in {output}")
    return EXIT_DONE


def _training_pages(pages: Sequence[GoldPage], arguments: argparse.Namespace) -> list[LabelledPage]:
    """The first `--pairs` pages (default: all) whose html holds their gold, ordered by hash of their ids."""
    chosen = [page for page in pages if gold.usable(page) and page.split != report.HELD_OUT]
    chosen.sort(key=lambda page: hashlib.sha256(f"{page.set} {page.id}".encode()).hexdigest())
    wanted = arguments.pairs
    labelled = map(labelling.label, chosen if wanted else track(chosen, "labelling", len(chosen)))
    found = list(islice(filter(labelling.trainable, labelled), wanted))
    if not found:
        raise InputError(f"no page in {arguments.data} has a gold text that its html holds")
    if wanted and len(found) < wanted:
        where = f"in {arguments.data} have a gold text that their html holds"
        raise InputError(f"only {len(found)} pages {where}, not {wanted}")
    return found


NCLEANER: Final = Command(NCLEANER_HELP, NCLEANER_OPTIONS, train_ncleaner)
