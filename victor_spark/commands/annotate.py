"""Serves a web application that labels the blocks of pages: prints its address (with a token), runs until
Ctrl-C, saves every action at once.

INPUT is what `victor clean` takes: WARC or ARC files, html pages, folders, globs, lists of paths; or a text
file of http addresses, whose pages are fetched first (see `victor fetch`). Without INPUT, the pages in the
store are labelled. A page that is given twice is added once. `victor annotate export` writes the labels,
`victor annotate agreement` measures how far annotators agree.
"""

import argparse
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from victor_spark.commands.argument_types import positive
from victor_spark.errors import EXIT_DONE, UsageError
from victor_spark.redaction import redacted_message

if TYPE_CHECKING:
    from victor_spark.annotation.importing import Assistant
    from victor_spark.annotation.store import Store
    from victor_spark.pipeline import Settings

_TOKEN: Final = re.compile(r"[\w.~-]+", re.ASCII)
EXAMPLES: Final = """\
examples:
  victor annotate pages.warc.gz --store annotations.sqlite
  victor annotate crawl/ --store annotations.sqlite --order uncertain --overlap 0.2
  victor annotate --store annotations.sqlite --model mine           continue, with labels of a newer model
  victor annotate urls.txt --store annotations.sqlite --label comment=other
  victor annotate pages/ --store annotations.sqlite --host 0.0.0.0  open to the network
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument(
        "inputs", metavar="INPUT", nargs="*", help="pages to label (default: those in the store)"
    )
    parser.add_argument("--store", metavar="FILE", required=True, help="the SQLite file of pages and labels")
    parser.add_argument(
        "--limit", metavar="N", type=positive, help="add only the first N pages of the inputs"
    )
    parser.add_argument(
        "--allow-private", action="store_true", help="fetch listed addresses also from private networks"
    )
    parser.add_argument("--import-only", action="store_true", help="add the pages, do not serve")
    parser.add_argument(
        "--label",
        metavar="NAME=ROLE",
        action="append",
        help="an additional label; the export writes it as ROLE (header, text, other)",
    )
    handing = parser.add_argument_group("order of pages")
    handing.add_argument(
        "--order",
        default="random",
        choices=("random", "site", "uncertain"),
        help="uncertain: pages with the least certain labels first (default: %(default)s)",
    )
    handing.add_argument(
        "--overlap",
        metavar="SHARE",
        type=float,
        default=0.0,
        help="share of pages that several annotators label (default: %(default)s)",
    )
    handing.add_argument(
        "--overlap-annotators",
        metavar="N",
        type=int,
        default=2,
        help="annotators per such page (default: %(default)s)",
    )
    model = parser.add_argument_group("initial labels")
    model.add_argument("--cleaner", metavar="NAME", default="victor", help="default: %(default)s")
    model.add_argument("--model", metavar="DIR", help="use this trained model instead of the cleaner's own")
    model.add_argument("--no-prelabels", action="store_true", help="initial label of all blocks: other")
    server = parser.add_argument_group("server")
    server.add_argument("--host", default="127.0.0.1", help="default: %(default)s, this machine only")
    server.add_argument("--port", type=int, default=8790, help="0: any free port (default: %(default)s)")
    token = server.add_mutually_exclusive_group()
    token.add_argument("--token", help="the secret in the address (default: a random one, kept in the store)")
    token.add_argument(
        "--no-token", action="store_true", help="no secret: every program of this machine has access"
    )


def run(arguments: argparse.Namespace) -> int:
    """Adds the inputs to the store, then serves it."""
    if not all(map(find_spec, ("starlette", "uvicorn"))):
        raise UsageError("the annotation tool needs an extra: pip install 'victor-spark[annotate]'")
    from victor_spark.annotation import app, importing, labels, store
    from victor_spark.annotation.queue import Plan
    from victor_spark.pipeline import Settings

    plan = Plan(arguments.order, arguments.overlap, arguments.overlap_annotators)
    if not 0 <= arguments.port < 65536:
        raise UsageError("--port must be between 0 and 65535")
    if arguments.token is not None and not _TOKEN.fullmatch(arguments.token):
        raise UsageError("--token must consist of ASCII letters, digits, and . _ ~ -")
    if arguments.no_token and not app.is_local(arguments.host):
        raise UsageError(f"--no-token needs a --host that only this machine reaches, not {arguments.host}")
    path = Path(arguments.store)
    if not arguments.inputs and not path.is_file():
        raise UsageError(f"{path}: no such store; give INPUT to create it")
    wanted = labels.parse(arguments.label) if arguments.label else None
    settings = Settings(arguments.cleaner, model=arguments.model)
    predictor = None if arguments.no_prelabels else importing.assistant(settings)
    kept = store.create_or_open(path, wanted)
    try:
        importing.add_practice(kept)
        _fill(kept, arguments, settings, predictor)
        if not arguments.import_only:
            work = app.Workspace(kept, plan, predictor.name if predictor else None)
            token = None if arguments.no_token else arguments.token or kept.token
            app.serve(work, host=arguments.host, port=arguments.port, token=token)
    except KeyboardInterrupt:
        print("victor: stopped; all labels are saved", file=sys.stderr)
    finally:
        kept.close()
    return EXIT_DONE


def _fill(
    kept: "Store", arguments: argparse.Namespace, settings: "Settings", predictor: "Assistant | None"
) -> None:
    """Adds the inputs' pages; with a new model, labels again the pages that nobody has opened."""
    from victor_spark import pipeline
    from victor_spark.annotation import importing
    from victor_spark.langid.pages import linguist

    if predictor is not None and (n_renewed := importing.renew(kept, predictor)):
        _say(f"{n_renewed} pages have new initial labels by {predictor.name}")
    inputs = [_fetched(name, Path(arguments.store), arguments) for name in arguments.inputs]
    if inputs:
        look = (
            predictor.look
            if predictor
            else linguist(pipeline.models(settings)[pipeline.PROFILES], block_features=False)
        )
        importing.add_inputs(kept, inputs, look, predictor, limit=arguments.limit, say=_say)


def _fetched(name: str, path: Path, arguments: argparse.Namespace) -> str:
    """The input; for a list of addresses, the WARC beside the store into which they are fetched."""
    from victor_spark.annotation.importing import is_list_of_pages

    if not is_list_of_pages(name):
        return name
    if not all(map(find_spec, ("protego", "yarl"))):
        raise UsageError(f"{name}: fetching needs an extra: pip install 'victor-spark[fetch]'")
    from victor_spark.commands import fetch
    from victor_spark.fetch import addresses
    from victor_spark.fetch.exchange import Limits
    from victor_spark.fetch.politeness import Politeness

    output = path.with_name(f"{path.stem}.fetched.warc.gz")
    _say(f"{name}: fetching a list of addresses into {output}")
    limits = Limits(allow_private=arguments.allow_private)
    _, complete = fetch.fetch(addresses.read(Path(name)).urls, output, fetch.USER_AGENT, limits, Politeness())
    if not complete:
        raise KeyboardInterrupt
    return str(output)


def _say(line: str) -> None:
    print(f"victor: {redacted_message(line)}", file=sys.stderr)
