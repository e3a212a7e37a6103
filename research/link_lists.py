"""Which annotated pages `--max-list-share` drops, by set and kind of page.

python -m research.link_lists --data PAGES

The counts go to link_lists.json in --results.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

import research
from research import sample
from victor_spark import pipeline, roles
from victor_spark.errors import EXIT_DONE, VictorError
from victor_spark.evaluation import gold, measuring
from victor_spark.evaluation.gold import GoldPage
from victor_spark.settings import Settings

FILE_NAME: Final = "link_lists.json"

LIMITS: Final = (0.5, 0.7, 0.9)
"""Values of --max-list-share that are tried."""


def count(pages: Iterable[GoldPage]) -> Iterator[dict[str, Any]]:
    """For each set, and for the kinds of its pages: pages with text, and how many each limit drops."""
    clean = measuring.cleaner("victor", pipeline.models(Settings()))
    shares = defaultdict[str, list[float]](list)
    for page in pages:
        document = clean(page).document
        if document is not None and document.status == "ok":
            share = roles.list_share(document.columns, document.kept)
            kind = page.meta.get("page_type") if page.set == "wcxb" else None
            shares[f"{page.set}: {kind}" if kind else page.set].append(share)
    for name, of_pages in sorted(shares.items()):
        above = [int((np.array(of_pages) > limit).sum()) for limit in LIMITS]
        yield {"name": name, "n_pages": len(of_pages), "n_dropped": above}


def main(arguments: list[str] | None = None) -> int:
    """Cleans the pages and writes the counts."""
    parser = argparse.ArgumentParser(
        prog="python -m research.link_lists",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, required=True, help="the directory of the annotated pages")
    parser.add_argument("--results", type=Path, default=research.RESULTS)
    options = parser.parse_args(arguments)
    try:
        pages = (page for path in sample.files(options.data).values() for page in gold.read(path))
        rows = list(count(pages))
    except VictorError as error:
        print(f"link_lists: error: {error}", file=sys.stderr)
        return error.exit_code
    path = options.results / FILE_NAME
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(path)
    return EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
