"""Cleans a sample crawl of invented sites and broken pages, and measures the result.

Prints statuses, the quality against the gold texts (what a perfect cleaner would keep) and examples, all from
the rows. On a desktop, it also opens one page in the browser, with the reasons for every block.

examples:
  victor demo
  victor demo --output somewhere --no-open
"""

import argparse
import json
import os
import shutil
import sys
import webbrowser
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib import util
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from victor_spark import clean, pipeline, resources
from victor_spark.annotation import explained
from victor_spark.blocks import LABELS, OTHER
from victor_spark.commands.options import Command, option, switch
from victor_spark.errors import EXIT_DONE, EXIT_INTERNAL
from victor_spark.evaluation.measures import Overlap, macro, overlap
from victor_spark.logs import log
from victor_spark.request import CleanRequest, RowOptions, SparkOptions
from victor_spark.warc import inputs
from victor_spark.words import words
from victor_spark.worker.rows import page_work

EXAMPLE: Final = "https://www.podhorsky-list.example/zpravy/2024/03/most-pres-bystrinku-1041.html"
OUTPUT: Final = "demo-out"
WIDTH: Final = 100
N_SHOWN: Final = 4

Row = dict[str, Any]
OPTIONS: Final = (
    option("--output DIR", f"a new directory (default: {OUTPUT}, which is replaced)", default=OUTPUT),
    switch("--no-open", "open no browser", value=False, dest="open"),
)


class Measured(NamedTuple):
    """A row beside its line of gold: the words that victor found and those of all its blocks."""

    row: Row
    gold: Row
    found: Overlap
    everything: Overlap


def run(arguments: argparse.Namespace) -> int:
    """Runs the demo."""
    sample, output = resources.directory("sample"), Path(arguments.output)
    pages_at, report = output / "pages", output / "explained.html"
    if arguments.output == OUTPUT and report.exists():  # of an earlier demo, maybe by another version
        with resources.written(output):
            for folder in filter(Path.exists, (pages_at, output / "_run")):
                shutil.rmtree(folder)
            report.unlink()
    request = CleanRequest(
        inputs=tuple(map(str, sorted(sample.glob("crawl-*.warc.gz")))),
        output=str(output),
        rows=RowOptions(blocks=True, html=True),
        spark=SparkOptions(master="local[*]"),
    )
    models = pipeline.models(request.cleaning)
    if util.find_spec("pyspark"):
        from victor_spark.spark import run as job

        job.run(request)
    else:
        log("pyspark is not installed: the sample is cleaned in this process, without Spark")
        work, shards = page_work(request, models), inputs.resolve(request.inputs)
        with resources.written(output):
            pages_at.mkdir(parents=True, exist_ok=True)
            pages_at /= "part-0.parquet"
            pq.write_table(pa.Table.from_batches(work.batches(shards)), pages_at)
    table = pq.read_table(pages_at)
    rows = table.sort_by([("warc_filename", "ascending"), ("warc_record_offset", "ascending")])
    pages = list(_measured(rows.to_pylist(), sample / "gold.jsonl"))
    example = next(page.row for page in pages if page.row["url"] == EXAMPLE)
    for section in (_statuses(pages), _quality(pages), _example(example), _dropped(pages)):
        print("\n".join(section), end="\n\n")
    document = clean(example["html"], EXAMPLE)
    content = explained.page(document, models, name=EXAMPLE, markup=example["html"].decode())
    report.write_text(content, encoding="utf-8")
    print(f"Rows are in {output / 'pages'} (Parquet); the page above, block by block: {report}")
    desktop = sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if arguments.open is not False and desktop and sys.stdout.isatty():
        webbrowser.open(report.resolve().as_uri())
    return EXIT_DONE if any(page.row["status"] == "ok" for page in pages) else EXIT_INTERNAL


def _measured(rows: Iterable[Row], file: Path) -> Iterator[Measured]:
    """All records with their gold, matched by URL (the corrupt record has none on either side)."""
    with file.open(encoding="utf-8") as lines:
        gold = {line["url"]: line for line in map(json.loads, lines)}
    for row in rows:
        if row["warc_record_offset"] is not None:
            wanted = words(gold[row["url"]]["gold"])
            all_text = "\n".join(block["text"] for block in row["blocks"] or ())
            found, everything = overlap(words(row["text"] or ""), wanted), overlap(words(all_text), wanted)
            yield Measured(row, gold[row["url"]], found, everything)


def _statuses(pages: Sequence[Measured]) -> Iterator[str]:
    counts = Counter(page.row["status"] for page in pages)
    yield f"Statuses of {len(pages)} records"
    yield "  " + ", ".join(f"{status} {n}" for status, n in counts.most_common())
    surprises = [page for page in pages if page.row["status"] != page.gold["status"]]
    yield f"  status equals the gold: {len(pages) - len(surprises)} of {len(pages)}"
    for page in surprises:
        yield f"  {page.row['url']}: {page.row['status']}, expected {page.gold['status']}"


def _quality(pages: Sequence[Measured]) -> Iterator[str]:
    """Means over the pages whose gold has text; a missing page counts as 0."""
    yield "Words kept, against the gold text (means over pages)     victor                 all text"
    yield f"  {'site':<22} {'language':<14} {'pages':>5}   precision  recall     F1    precision     F1"
    articles = [page for page in pages if page.gold["gold"]]
    for site in (*dict.fromkeys(page.gold["site"] for page in articles), "all"):
        chosen = [page for page in articles if site in (page.gold["site"], "all")]
        languages = " ".join(sorted({page.gold["language"] for page in chosen})) if site != "all" else ""
        ours, theirs = macro(page.found for page in chosen), macro(page.everything for page in chosen)
        yield (
            f"  {site:<22} {languages:<14} {len(chosen):>5}   {ours.precision:>9.3f}  {ours.recall:>6.3f}"
            f"  {ours.f1:.3f}    {theirs.precision:>9.3f}  {theirs.f1:.3f}"
        )
    index = [page for page in pages if page.gold["kind"] == "index"]
    n_kept, n_all = (sum(getattr(page, of).n_found for page in index) for of in ("found", "everything"))
    name, kept = "index pages (not in the mean)", f"{n_kept} of {n_all} words kept"
    yield f"  {name:<37} {len(index):>5}   {kept} (--max-list-share 0.5: none)"


def _example(row: Row) -> Iterator[str]:
    yield f"A page: {row['url']}"
    yield (
        f"  {row['status']}, {row['n_kept_blocks']} of {row['n_blocks']} blocks kept,"
        f" p_content {row['p_content']:.2f}, expected_f1 {row['expected_f1']:.2f}; its text begins"
    )
    yield from _fitting((row["text"] or "").split("\n")[:N_SHOWN], "  | ")
    dropped = [block for block in row["blocks"] if block["label"] == LABELS[OTHER]]
    yield f"  and {len(dropped)} blocks were dropped, such as"
    longest = sorted(dropped, key=lambda block: -len(block["text"]))[:N_SHOWN]
    yield from _fitting((f"{block['p_other']:.2f}  {block['text']}" for block in longest), "  P(other) ")


def _dropped(pages: Sequence[Measured]) -> Iterator[str]:
    yield "Why pages were dropped, one for each status"
    first = {page.row["status"]: page.row for page in reversed(pages)}
    for status, row in sorted(first.items()):
        if status != "ok":
            where = row["url"] or f"{Path(row['warc_filename']).name} at byte {row['warc_record_offset']}"
            yield from _fitting([f"{status:<15} {row['reason']}  ({where})"], "  ")


def _fitting(lines: Iterable[str], prefix: str) -> Iterator[str]:
    """Lines cut to the width of a terminal."""
    for line in lines:
        whole = prefix + line
        yield whole if len(whole) <= WIDTH else whole[: WIDTH - 1] + "…"


DEMO: Final = Command(__doc__, OPTIONS, run, "run the same command again")
