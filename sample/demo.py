"""Cleans the sample crawl with the real Spark job, and shows how well that went.

    python sample/demo.py [--output DIR]

Everything printed is computed from the rows that the job wrote, beside gold.jsonl. Exit code 0; 1
if no page was cleaned, and that of `victor clean` where it fails.
"""

import argparse
import json
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq

from victor_spark import kernels, pipeline
from victor_spark.cli import main as victor
from victor_spark.errors import ShardError
from victor_spark.evaluation.measures import Overlap, macro, overlap
from victor_spark.warc import inputs, reading
from victor_spark.words import words

HERE: Final = Path(__file__).resolve().parent
DEFAULT_OUTPUT: Final = HERE.parent / "demo-out"
EXAMPLE: Final = "https://www.podhorsky-list.example/zpravy/2024/03/most-pres-bystrinku-1041.html"
WIDTH: Final = 100
N_SHOWN: Final = 4

Row = dict[str, Any]


@dataclass(frozen=True)
class Judged:
    """A row beside its line of gold: the words that victor found and those of all its blocks."""

    row: Row
    gold: Row
    found: Overlap
    everything: Overlap


def main() -> int:
    """Runs the demo and returns its exit code."""
    arguments = argparse.ArgumentParser(description="Clean the sample crawl and show how well that went.")
    arguments.add_argument("--output", type=Path, metavar="DIR", help="default: demo-out/, made afresh")
    chosen: Path | None = arguments.parse_args().output
    output = chosen or DEFAULT_OUTPUT
    if chosen is None and (output / "_run").is_dir():
        shutil.rmtree(output)
    shards = [_shown(path) for path in sorted(HERE.glob("crawl-*.warc.gz"))]
    command = ["clean", *shards, "--output", _shown(output), "--blocks", "--master", "local[*]"]
    print(f"$ victor {' '.join(command)}", flush=True)
    if code := victor(command):
        return code
    pages = _judged(output)
    for section in (_statuses, _quality, _example, _dropped):
        print("\n" + "\n".join(section(pages)))
    print("\n" + "\n".join(_speed(output, shards)))
    print("\n" + "\n".join(_where(_shown(output))))
    return int(all(page.row["status"] != "ok" for page in pages))


def _judged(output: Path) -> list[Judged]:
    """All records with their gold, matched by URL (the corrupt record has none on either side)."""
    gold = {line["url"]: line for line in map(json.loads, (HERE / "gold.jsonl").open(encoding="utf-8"))}
    rows: list[Row] = pq.read_table(output / "pages").to_pylist()
    return [_judge(row, gold[row["url"]]) for row in rows if row["warc_record_offset"] is not None]


def _judge(row: Row, gold: Row) -> Judged:
    wanted = words(gold["gold"])
    all_text = "\n".join(block["text"] for block in row["blocks"] or ())
    return Judged(row, gold, overlap(words(row["text"] or ""), wanted), overlap(words(all_text), wanted))


def _statuses(pages: Sequence[Judged]) -> Iterator[str]:
    counts = Counter(page.row["status"] for page in pages)
    yield f"Statuses of {len(pages)} records"
    yield "  " + ", ".join(f"{status} {n}" for status, n in counts.most_common())
    surprises = [page for page in pages if page.row["status"] != page.gold["status"]]
    yield f"  as sample/gold.jsonl expects: {len(pages) - len(surprises)} of {len(pages)}"
    index = [page for page in surprises if page.gold["kind"] == "index"]
    if index:
        yield f"  {len(index)} index pages, which hold nothing but teasers, are expected empty: see below"
    for page in surprises:
        if page not in index:
            yield f"  {page.row['url']}: {page.row['status']}, expected {page.gold['status']}"


def _quality(pages: Sequence[Judged]) -> Iterator[str]:
    """Means over the pages whose gold has text; a page that got lost counts as 0."""
    yield "Words kept, against the gold text (means over pages)     victor                 all text"
    yield f"  {'site':<22} {'language':<14} {'pages':>5}   precision  recall     F1    precision     F1"
    articles = [page for page in pages if page.gold["gold"]]
    for site in dict.fromkeys(page.gold["site"] for page in articles):
        yield _line(site, [page for page in articles if page.gold["site"] == site])
    yield _line("all", articles)
    index = [page for page in pages if page.gold["kind"] == "index"]
    n_kept, n_all = (sum(ns) for ns in zip(*map(_n_words, index), strict=True))
    name = "index pages, apart"
    yield f"  {name:<37} {len(index):>5}   {n_kept} of {n_all} words kept; gold has none"


def _line(name: str, pages: Sequence[Judged]) -> str:
    languages = " ".join(sorted({page.gold["language"] for page in pages})) if name != "all" else ""
    ours, theirs = macro(page.found for page in pages), macro(page.everything for page in pages)
    return (
        f"  {name:<22} {languages:<14} {len(pages):>5}   {ours.precision:>9.3f}  {ours.recall:>6.3f}"
        f"  {ours.f1:.3f}    {theirs.precision:>9.3f}  {theirs.f1:.3f}"
    )


def _n_words(page: Judged) -> tuple[int, int]:
    return page.found.n_found, page.everything.n_found


def _example(pages: Sequence[Judged]) -> Iterator[str]:
    cleaned = {page.row["url"]: page.row for page in pages if page.row["status"] == "ok"}
    if not cleaned:
        yield "No page was cleaned."
        return
    row = cleaned.get(EXAMPLE) or next(iter(cleaned.values()))
    yield f"A page: {row['url']}"
    yield (
        f"  {row['status']}, {row['n_kept_blocks']} of {row['n_blocks']} blocks kept,"
        f" p_content {row['p_content']:.2f}, expected_f1 {row['expected_f1']:.2f}; its text begins"
    )
    yield from _fitting(row["text"].split("\n")[:N_SHOWN], "  | ")
    dropped = [block for block in row["blocks"] if block["label"] == "other"]
    yield f"  and {len(dropped)} blocks were dropped, such as"
    longest = sorted(dropped, key=lambda block: -len(block["text"]))[:N_SHOWN]
    yield from _fitting((f"{block['p_other']:.2f}  {block['text']}" for block in longest), "  P(other) ")


def _dropped(pages: Sequence[Judged]) -> Iterator[str]:
    yield "Why pages were dropped, one for each status"
    first = {page.row["status"]: page.row for page in reversed(pages)}
    for status, row in sorted(first.items()):
        if status != "ok":
            where = row["url"] or f"{row['warc_filename']} at byte {row['warc_record_offset']}"
            yield from _fitting([f"{status:<15} {row['reason']}  ({where})"], "  ")


def _speed(output: Path, shards: Sequence[str]) -> Iterator[str]:
    run = json.loads((output / "_run" / "run.json").read_bytes())
    seconds = run["seconds"]["clean"]
    yield f"Speed: {run['n_pages']} pages in {seconds:.1f} s, with the start of Spark's processes"
    if names := kernels.uncompiled():
        yield f"  {len(names)} kernels run uncompiled here, about 50 times slower"
    else:
        yield f"  the same records on one core without Spark: {_rate(shards):.0f} pages/s"


def _rate(shards: Sequence[str]) -> float:
    """Pages per second of CPU time, from WARC.gz to text, with the model loaded."""
    settings = pipeline.Settings()
    clean = pipeline.cleaning(settings, pipeline.models(settings))
    start, n_pages = time.process_time(), 0
    for shard in inputs.resolve(shards):
        with suppress(ShardError):  # one ends too early, as the rows say
            for record in reading.read(shard):
                clean(record)
                n_pages += 1
    return n_pages / (time.process_time() - start)


def _where(output: str) -> Iterator[str]:
    yield f"Rows are in {output}/pages (Parquet), the record of the run in {output}/_run. A look at them:"
    columns = "['url', 'status', 'n_kept_blocks', 'text']"
    yield f"  python -c \"import pandas; print(pandas.read_parquet('{output}/pages')[{columns}])\""


def _fitting(lines: Iterable[str], prefix: str) -> Iterator[str]:
    """Lines cut to the width of a terminal."""
    for line in lines:
        whole = prefix + line
        yield whole if len(whole) <= WIDTH else whole[: WIDTH - 1] + "…"


def _shown(path: Path) -> str:
    """A path as one would type it here."""
    absolute = path.absolute()
    return str(absolute.relative_to(Path.cwd())) if absolute.is_relative_to(Path.cwd()) else str(absolute)


if __name__ == "__main__":
    sys.exit(main())
