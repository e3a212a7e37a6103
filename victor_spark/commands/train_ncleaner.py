"""Trains NCleaner, character n-gram models of clean and dirty text, from annotated pages.

The data is a directory of <set>.jsonl or <set>.jsonl.xz: one page a line with id, html, gold (the text to
keep, paragraphs separated by newline) and, optionally, host, url and split. Pages of the split "dev" are not
used for training: the model is measured on them. The model directory gets weights.npz, CARD.md and
metrics.json, and `victor clean --cleaner ncleaner --model DIR` uses it.

examples:
  victor train ncleaner --data pages/ --output models/ncleaner/default
  victor train ncleaner --data pages/ --non-lexical --output models/ncleaner/non-lexical
  victor train ncleaner --data pages/ --sets daniel --pairs 25 --output mine     25 pages are enough to begin
  victor train ncleaner --data pages/ --sets cleaneval-dev --uncalibrated --output mine      as in 2008
  victor clean page.html --cleaner ncleaner --model mine
"""

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from victor_spark.commands import outputs
from victor_spark.commands.options import Command, command_line, option, positive, switch
from victor_spark.errors import EXIT_DONE, InputError
from victor_spark.evaluation import card, crf, cross_validation, gold, labelling
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.evaluation.progress import track
from victor_spark.extractors import ncleaner as cleaner
from victor_spark.logs import log
from victor_spark.model.files import FILE_NAME
from victor_spark.train import ncleaner as training

OPTIONS: Final = (
    option("--data DIR", "directory of annotated pages", required=True),
    option("--output DIR", "the model directory to write", required=True),
    outputs.OVERWRITE,
    option("--sets SET...", "only these sets (default: all)"),
    option("--pairs N", "learn from N pages, drawn by hash of their ids (default: all)", positive),
    switch("--non-lexical", "every letter is `a`, every digit `0`: any language"),
    switch(
        "--uncalibrated", "decide by the likelihoods alone (default: weighed against a paragraph's length)"
    ),
)


def run(arguments: argparse.Namespace) -> int:
    """Labels, trains, measures on held-out pages, writes the model directory."""
    with outputs.directory(Path(arguments.output), overwrite=arguments.overwrite) as output:
        _train(arguments, output)
    print(f"model in {output}")
    return EXIT_DONE


def _train(arguments: argparse.Namespace, output: Path) -> None:
    files = gold.find(Path(arguments.data), arguments.sets).values()
    pages = [page for path in files for page in gold.read(path)]
    learnt = _training_pages(pages, arguments)
    metrics: dict[str, Any] = {
        "command": command_line(
            "victor train ncleaner --data PAGES", arguments, "sets", "pairs", "non_lexical", "uncalibrated"
        ),
        "lexical": not arguments.non_lexical,
        "calibrated": not arguments.uncalibrated,
        "n_training_pages": len(learnt),
        "training_pages": dict(sorted(Counter(page.gold.set for page in learnt).items())),
    }
    try:
        model = training.train(
            crf.training_pages(learnt),
            lexical=metrics["lexical"],
            calibrated=metrics["calibrated"],
            about={"command": metrics["command"]},
        )
    except ValueError as error:
        raise InputError(f"{arguments.data}: {error}") from error
    held_out = [page for page in pages if gold.usable(page) and page.split == card.HELD_OUT]
    clean = cleaner.load(cleaner.to_bytes(model))
    labelled = map(labelling.label, track(held_out, "measuring", len(held_out)))
    results = [cross_validation.result(page, clean(page.page)) for page in labelled]
    metrics["held_out"] = cross_validation.by_set(results) if results else {}
    if results:
        print(cross_validation.table(metrics["held_out"]))
    else:
        log(f"not measured: {arguments.data} has no page of the split dev", "warning")
    output.mkdir(parents=True, exist_ok=True)
    (output / FILE_NAME).write_bytes(cleaner.to_bytes(model))
    (output / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n", encoding="utf-8")
    (output / "CARD.md").write_text(
        card.write_ncleaner(f"ncleaner/{output.resolve().name}", metrics), encoding="utf-8"
    )


def _training_pages(pages: Sequence[GoldPage], arguments: argparse.Namespace) -> list[LabelledPage]:
    """The first `--pairs` pages (default: all) whose html holds their gold, ordered by hash of their ids."""
    chosen = [page for page in pages if gold.usable(page) and page.split != card.HELD_OUT]
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


TRAIN: Final = Command(__doc__, OPTIONS, run)
