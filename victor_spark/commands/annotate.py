"""Labels the blocks of pages in the browser: prints an address with a token, serves until Ctrl-C, saves every
action at once.

INPUT is what `victor clean` takes: WARC or ARC files, html pages, folders, globs, lists of paths; or a text
file of http addresses, whose pages are fetched first, politely. Without INPUT the pages already in the store
are labelled. The same page twice is added once. `victor annotate export` takes the labels out, `victor
annotate agreement` says how far annotators agree.
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
    from victor_spark.annotation.prelabelling import Assistant
    from victor_spark.annotation.store import Store
    from victor_spark.pipeline import Settings

_TOKEN: Final = re.compile(r"[\w.~-]+", re.ASCII)
EXAMPLES: Final = """\
examples:
  victor annotate pages.warc.gz --store annotations.sqlite
  victor annotate crawl/ --store annotations.sqlite --order uncertain --overlap 0.2
  victor annotate --store annotations.sqlite --model mine           continue, with a newer model's labels
  victor annotate urls.txt --store annotations.sqlite --label comment=other
  victor annotate pages/ --store annotations.sqlite --host 0.0.0.0  for colleagues
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument(
        "inputs", metavar="INPUT", nargs="*", help="pages to label (default: those in the store)"
    )
    parser.add_argument(
        "--store", metavar="FILE", required=True, help="the SQLite file that keeps everything"
    )
    parser.add_argument(
        "--limit", metavar="N", type=positive, help="add only the first N pages of the inputs"
    )
    parser.add_argument(
        "--allow-private", action="store_true", help="fetch listed addresses also from this machine's network"
    )
    parser.add_argument("--import-only", action="store_true", help="add the pages and stop")
    parser.add_argument(
        "--label",
        metavar="NAME=ROLE",
        action="append",
        help="one more label; ROLE (header, text, other) is what it means in the export",
    )
    handing = parser.add_argument_group("which page next")
    handing.add_argument(
        "--order",
        default="random",
        choices=("random", "site", "uncertain"),
        help="uncertain: those first that the model is least sure of (default: %(default)s)",
    )
    handing.add_argument(
        "--overlap",
        metavar="SHARE",
        type=float,
        default=0.0,
        help="this share of pages is labelled by several",
    )
    handing.add_argument(
        "--overlap-annotators", metavar="N", type=int, default=2, help="by so many (default: %(default)s)"
    )
    model = parser.add_argument_group("labels to begin with")
    model.add_argument("--cleaner", metavar="NAME", default="victor", help="default: %(default)s")
    model.add_argument("--model", metavar="DIR", help="a trained model instead of the cleaner's own")
    model.add_argument("--no-prelabels", action="store_true", help="begin with everything `other`")
    server = parser.add_argument_group("server")
    server.add_argument("--host", default="127.0.0.1", help="default: %(default)s, this machine only")
    server.add_argument("--port", type=int, default=8790, help="0: any free one (default: %(default)s)")
    token = server.add_mutually_exclusive_group()
    token.add_argument("--token", help="the secret in the address (default: the store's own, a random one)")
    token.add_argument(
        "--no-token", action="store_true", help="let in every program and person of this machine"
    )


def run(arguments: argparse.Namespace) -> int:
    """Fills the store, then serves it."""
    if not all(map(find_spec, ("starlette", "uvicorn"))):
        raise UsageError("the annotation tool needs an extra: pip install 'victor-spark[annotate]'")
    from victor_spark.annotation import labels, practice, prelabelling, server, store
    from victor_spark.annotation.answers import Desk
    from victor_spark.annotation.queue import Plan
    from victor_spark.pipeline import Settings

    plan = Plan(arguments.order, arguments.overlap, arguments.overlap_annotators)
    if not 0 <= arguments.port < 65536:
        raise UsageError("--port is a number from 0 to 65535")
    if arguments.token is not None and not _TOKEN.fullmatch(arguments.token):
        raise UsageError("--token must consist of ASCII letters, digits, and . _ ~ -")
    if arguments.no_token and not server.is_local(arguments.host):
        raise UsageError(f"--no-token: others reach {arguments.host}; only on this machine can it do without")
    path = Path(arguments.store)
    if not arguments.inputs and not path.is_file():
        raise UsageError(f"{path}: no such store, and no INPUT to fill it with")
    wanted = labels.parse(arguments.label) if arguments.label else None
    settings = Settings(arguments.cleaner, model=arguments.model)
    predictor = None if arguments.no_prelabels else prelabelling.assistant(settings)
    kept = store.create_or_open(path, wanted)
    try:
        practice.add_all(kept)
        _fill(kept, arguments, settings, predictor)
        if not arguments.import_only:
            desk = Desk(kept, plan, predictor.name if predictor else None)
            token = None if arguments.no_token else arguments.token or kept.token
            server.serve(desk, host=arguments.host, port=arguments.port, token=token)
    except KeyboardInterrupt:
        print("victor: stopped; every label is saved", file=sys.stderr)
    finally:
        kept.close()
    return EXIT_DONE


def _fill(
    kept: "Store", arguments: argparse.Namespace, settings: "Settings", predictor: "Assistant | None"
) -> None:
    """Adds the inputs' pages, and has a new model label those that nobody has begun."""
    from victor_spark import pipeline
    from victor_spark.annotation import importing, prelabelling
    from victor_spark.langid.pages import linguist

    if predictor is not None and (n_renewed := prelabelling.renew(kept, predictor)):
        _say(f"{n_renewed} pages labelled beforehand by {predictor.name}")
    inputs = [_fetched(name, Path(arguments.store), arguments) for name in arguments.inputs]
    if inputs:
        look = (
            predictor.look
            if predictor
            else linguist(pipeline.models(settings)[pipeline.PROFILES], block_features=False)
        )
        importing.add_inputs(kept, inputs, look, predictor, limit=arguments.limit, say=_say)


def _fetched(name: str, path: Path, arguments: argparse.Namespace) -> str:
    """The input; for a list of web addresses the WARC beside the store that they were fetched into."""
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
    _say(f"{name}: a list of addresses, fetched into {output}")
    limits = Limits(allow_private=arguments.allow_private)
    _, complete = fetch.fetch(addresses.read(Path(name)).urls, output, fetch.USER_AGENT, limits, Politeness())
    if not complete:
        raise KeyboardInterrupt
    return str(output)


def _say(line: str) -> None:
    print(f"victor: {redacted_message(line)}", file=sys.stderr)
