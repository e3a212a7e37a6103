"""Writes the sample crawl: two WARC shards of invented sites, and gold.jsonl beside them.

    python sample/build.py [--output DIR]

The same bytes come out every time (up to the version of zlib that compresses them).
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sample_crawl import forum, hostile, magazine, municipality, museum, newspaper, shards
from sample_crawl.exchange import Exchange, Gold, golds, regular
from sample_crawl.pages import WebPage

HERE: Final = Path(__file__).parent


def main() -> None:
    """Builds the crawl into --output and prints what was written."""
    arguments = argparse.ArgumentParser(description="Write the sample crawl and its gold text.")
    arguments.add_argument("--output", type=Path, default=HERE, metavar="DIR")
    output: Path = arguments.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    rows: list[Gold] = []
    for filename, exchanges in crawl().items():
        content = shards.shard(filename, exchanges)
        (output / filename).write_bytes(content)
        rows += golds(exchanges)
        print(f"{output / filename}: {len(exchanges)} responses, {len(content):,} bytes")
    path = output / "gold.jsonl"
    path.write_text("".join(_line(row) for row in rows), encoding="utf-8")
    print(f"{path}: {len(rows)} rows expected: {_counts(rows)}")


def crawl() -> dict[str, list[Exchange]]:
    """The exchanges of each shard; the second one's last response is clipped."""
    news = _regular(newspaper.web_pages())
    middle = len(news) // 2
    return {
        "crawl-00000.warc.gz": [
            *news[:middle],
            hostile.middle(),
            *news[middle:],
            *hostile.no_pages(),
            *_regular(forum.web_pages()),
            *hostile.charsets(),
        ],
        "crawl-00001.warc.gz": [
            *_regular(municipality.web_pages()),
            *hostile.encoded_bodies(),
            *_regular(magazine.web_pages()),
            *hostile.markup_defects(),
            *_regular(museum.web_pages()),
            *hostile.cut_by_the_crawler(),
            hostile.last(),
        ],
    }


def _regular(web_pages: Sequence[WebPage]) -> list[Exchange]:
    return [regular(page) for page in web_pages]


def _line(row: Gold) -> str:
    return json.dumps(row.as_dict(), ensure_ascii=False) + "\n"


def _counts(rows: Sequence[Gold]) -> str:
    return ", ".join(f"{n} {status}" for status, n in Counter(row.status for row in rows).most_common())


if __name__ == "__main__":
    main()
