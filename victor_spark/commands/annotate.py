"""`victor annotate`, `victor annotate export` and `victor annotate agreement`."""

import argparse
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final

from victor_spark.commands.options import Command, Group, OneOf, option, switch
from victor_spark.configuration import positive
from victor_spark.errors import EXIT_DONE, UsageError
from victor_spark.fetch import Limits, Politeness
from victor_spark.logs import log
from victor_spark.settings import Settings

HELP: Final = """\
Serves a web application in which you label the blocks of pages. Every action is saved at once.

Prints its address (with a token), and runs until Ctrl-C. INPUT is as in `victor clean`, or a text file of
http addresses, whose pages are fetched first. Without INPUT, you label the pages that are in the store.

examples:
  victor annotate pages.warc.gz --store annotations.sqlite
  victor annotate crawl/ --store annotations.sqlite --order uncertain --overlap 0.2
  victor annotate --store annotations.sqlite --model mine           continue, with labels of a newer model
  victor annotate urls.txt --store annotations.sqlite --label comment=other
  victor annotate pages/ --store annotations.sqlite --host 0.0.0.0  open to the network
"""

EXPORT_HELP: Final = """\
Exports the finished pages of an annotation store, with the labels of the adjudicator, or of the majority.

With --format
  gold       JSON lines for `victor train` and `victor evaluate` (compressed if the name ends in .xz)
  cleaneval  a directory with gold/ and html/
  html       a directory of pages, with the label of each block in an attribute

examples:
  victor annotate export --store annotations.sqlite --output annotations.jsonl
  victor annotate export --store annotations.sqlite --format cleaneval --output cleaneval/
  victor annotate export --store annotations.sqlite --format html --output labelled/
  victor evaluate --gold annotations.jsonl --cleaner victor --output report
"""

AGREEMENT_HELP: Final = """\
Measures how far annotators agree on pages that several of them finished (see `annotate --overlap`).

Prints Cohen's kappa of each pair, Fleiss' kappa of all, and the pages on which labels differ.

examples:
  victor annotate agreement --store annotations.sqlite
  victor annotate agreement --store annotations.sqlite --json > agreement.json
"""

_TOKEN: Final = re.compile(r"[\w.~-]+", re.ASCII)
SERVE_OPTIONS: Final = (
    option("[INPUT...]", "pages to label (default: those in the store)", dest="inputs"),
    option("--store FILE", "the SQLite file of pages and labels", required=True),
    option("--limit N", "add only the first N pages of the inputs", positive),
    switch("--allow-private", "fetch listed addresses also from private networks"),
    switch("--import-only", "add the pages, do not serve"),
    option("--label NAME=ROLE", "an additional label, exported as ROLE", action="append"),
    Group(
        "order of pages",
        option("--order", "", choices=("random", "site", "uncertain"), default="random"),
        option("--overlap SHARE", "share of pages that several annotators label", float, default=0.0),
        option("--overlap-annotators N", "annotators per such page", int, default=2),
    ),
    Group(
        "initial labels",
        option("--cleaner NAME", "", default="victor"),
        option("--model DIR", "use this trained model instead of the cleaner's own"),
        switch("--no-prelabels", "initial label of all blocks: other"),
    ),
    Group(
        "server",
        option("--host HOST", "default: %(default)s, this machine only", default="127.0.0.1"),
        option("--port PORT", "0: any free port", int, default=8790),
        OneOf(
            option("--token TOKEN", "the secret in the address (default: a random one, kept in the store)"),
            switch("--no-token", "no secret: every program of this machine has access"),
        ),
    ),
)
STORE: Final = option("--store FILE", "the annotation store", required=True)
EXPORT_OPTIONS: Final = (
    STORE,
    option("--format", "", choices=("gold", "cleaneval", "html"), default="gold"),
    option("--output PATH", "a file for gold, otherwise a directory", required=True),
)


def serve(arguments: argparse.Namespace) -> int:
    """Adds the inputs to the store, then serves the application."""
    from victor_spark.annotation import app, importing, serving, store
    from victor_spark.annotation.progress import Plan

    plan = Plan(arguments.order, arguments.overlap, arguments.overlap_annotators)
    if not 0 <= arguments.port < 65536:
        raise UsageError("--port must be between 0 and 65535")
    if arguments.token is not None and not _TOKEN.fullmatch(arguments.token):
        raise UsageError("--token must consist of ASCII letters, digits, and . _ ~ -")
    if arguments.no_token and not serving.is_local(arguments.host):
        raise UsageError(f"--no-token needs a --host that only this machine reaches, not {arguments.host}")
    path = Path(arguments.store)
    if not arguments.inputs and not path.is_file():
        raise UsageError(f"{path}: no such store; give INPUT to create it")
    wanted = store.parse_labels(arguments.label) if arguments.label else None
    settings = None if arguments.no_prelabels else Settings(arguments.cleaner, model=arguments.model)
    prelabeller = importing.prelabeller(settings)
    with closing(store.create_or_open(path, wanted)) as kept:
        try:
            importing.add_practice(kept)
            if n_renewed := importing.renew(kept, prelabeller):
                log(f"{n_renewed} pages have new initial labels by {prelabeller.name}")
            if inputs := [_fetched(each, path, arguments) for each in arguments.inputs]:
                importing.add_inputs(kept, inputs, prelabeller, limit=arguments.limit)
            if not arguments.import_only:
                application = partial(app.application, app.Workspace(kept, plan, prelabeller.name))
                token = None if arguments.no_token else arguments.token or kept.token
                where = {"host": arguments.host, "port": arguments.port, "token": token}
                serving.serve(application, **where, note="Ctrl-C stops; everything is saved")
        except KeyboardInterrupt:
            log("stopped; all labels are saved", "warning")
    return EXIT_DONE


def _fetched(name: str, path: Path, arguments: argparse.Namespace) -> str:
    """The input; for a list of addresses, the WARC beside the store into which they are fetched."""
    from victor_spark.annotation.importing import is_list_of_pages

    if not is_list_of_pages(name):
        return name
    from victor_spark.commands import fetch
    from victor_spark.fetch import addresses

    output = path.with_name(f"{path.stem}.fetched.warc.gz")
    log(f"{name}: fetching a list of addresses into {output}")
    limits = Limits(allow_private=arguments.allow_private)
    urls = addresses.read(Path(name)).urls
    if not fetch.fetch(urls, output, fetch.USER_AGENT, limits, Politeness())[1]:
        raise KeyboardInterrupt
    return str(output)


def export(arguments: argparse.Namespace) -> int:
    """Writes the export."""
    from victor_spark.annotation import export, store

    with closing(store.open_existing(Path(arguments.store))) as kept:
        n_pages = export.export(kept, arguments.format, Path(arguments.output))
    print(f"{n_pages} pages in {arguments.output}")
    return EXIT_DONE


def agreement(arguments: argparse.Namespace) -> int:
    """Prints the report."""
    from victor_spark.annotation import progress, store

    with closing(store.open_existing(Path(arguments.store))) as kept:
        report = progress.agreement(kept)
        report["disagreements"] = progress.disagreements(kept)["pages"]
        report["annotators"] = progress.progress(kept, progress.Plan())["annotators"]
    print(json.dumps(report, ensure_ascii=False, indent=1) if arguments.json else "\n".join(_lines(report)))
    return EXIT_DONE


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    def number(value: float | None) -> str:
        return "undefined" if value is None else f"{value:.3f}"

    for one in report["annotators"]:
        speed = f"{one['pages_per_hour']:g} pages an hour" if one["pages_per_hour"] else "speed unknown"
        yield f"{one['name']}: {one['n_done']} pages done, {one['n_skipped']} skipped, {speed}"
    yield f"{report['n_pages']} pages done by two or more, {report['n_blocks']} blocks"
    for pair in report["pairs"]:
        measured = f"kappa {number(pair['kappa'])}, agreement {number(pair['agreement'])}"
        yield f"{' and '.join(pair['annotators'])}: {measured} ({pair['n_pages']} pages)"
    if report["pairs"]:
        yield f"Fleiss' kappa: {number(report['fleiss'])}"
    for page in report["disagreements"]:
        state = f"decided by {page['judged']}" if page["judged"] else "not decided"
        where = page["url"] or page["title"] or f"page {page['page']}"
        yield f"{page['n_differing']} of {page['n_blocks']} blocks differ, {state}: {where}"
    yield from report["messages"]


ANNOTATE: Final = Command(HELP, SERVE_OPTIONS, serve)
EXPORT: Final = Command(EXPORT_HELP, EXPORT_OPTIONS, export)
AGREEMENT: Final = Command(AGREEMENT_HELP, (STORE, switch("--json", "print one JSON object")), agreement)
