"""`parse` of victor_html gives the canonical HTML that the parser library gives, or leaves the page to it."""

import json
import lzma
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.html.pages import soup, strings
from tests.victor_html.markup import LEFT_TO_THE_LIBRARY, READ_BY_KERNELS, markup
from victor_html.parse import parse
from victor_spark.errors import ShardError
from victor_spark.html.canonical import by_library, canonical
from victor_spark.html.charset import as_utf8
from victor_spark.warc import inputs, reading


@pytest.mark.parametrize("markup", READ_BY_KERNELS.values(), ids=READ_BY_KERNELS)
def test_the_kernels_read_this_as_the_library_does(markup: str) -> None:
    assert parse(markup.encode()).html == by_library(markup)


@pytest.mark.parametrize("markup", LEFT_TO_THE_LIBRARY.values(), ids=LEFT_TO_THE_LIBRARY)
def test_nothing_is_lost_of_what_the_kernels_leave_to_the_library(markup: str) -> None:
    assert canonical(markup).html == by_library(markup)


@given(markup | soup | strings)
@settings(max_examples=10 * settings().max_examples)
def test_tag_soup_is_read_as_by_the_library_or_left_to_it(markup: str) -> None:
    encoded = markup.encode("utf-8", "replace")
    assert parse(encoded).html in (None, by_library(encoded.decode()))


def test_nearly_all_pages_of_the_sample_crawl_are_read_by_the_kernels_and_alike(root: Path) -> None:
    shards = inputs.resolve([str(path) for path in (root / "sample").glob("*.warc.gz")])
    pages = []
    for shard in shards:
        with suppress(ShardError):  # one ends too early
            pages += [record.payload for record in reading.read(shard) if record.payload]
    read = [
        (parse(utf8).html, by_library(utf8.decode())) for utf8 in (as_utf8(page, None)[0] for page in pages)
    ]
    assert all(ours in (None, theirs) for ours, theirs in read)
    assert sum(ours is not None for ours, _ in read) > 0.9 * len(read) > 0


def test_annotated_pages_are_read_as_by_the_library(annotated: Path) -> None:
    """Every twelfth page of every set: real markup of thousands of sites."""
    n_aside = n_pages = 0
    for path in sorted((annotated / "pages").glob("*.jsonl.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                if number % 12:
                    continue
                page = json.loads(line)["html"].encode("utf-8", "replace")
                n_pages += 1
                if (ours := parse(page).html) is None:
                    n_aside += 1
                else:
                    assert ours == by_library(page.decode()), (path.name, number)
    assert n_aside < 0.05 * n_pages
