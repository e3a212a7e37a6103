"""In place of a person: labels pages in a running annotation tool as the sample's gold has them.

    python sample/annotator.py 'http://127.0.0.1:8790/?token=…' --gold gold.jsonl --name Anna --pages 40

It asks for one page after the other and sends what the browser sends: a run at a time, then done. Pages
without gold are skipped. gold.jsonl is what sample/serve.py wrote.
"""

import argparse
import json
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, groupby
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from victor_spark.evaluation import gold, labelling

Page = dict[str, Any]


class Annotator:
    """Somebody with a name at the tool's HTTP interface."""

    def __init__(self, address: str, name: str) -> None:
        parts = urlsplit(address)
        self.address, self.name = f"{parts.scheme}://{parts.netloc}", name
        self.token = parse_qs(parts.query).get("token", [""])[0]
        self.numbers = count()

    def ask(self, where: str, **body: Any) -> Any:
        """The answer to a POST of this annotator."""
        request = urllib.request.Request(
            self.address + where,
            json.dumps({"annotator": self.name, **body}).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def act(self, page: Page, kind: str, **more: Any) -> None:
        """One action on the page."""
        name = f"{self.name}-{page['page']}-{next(self.numbers)}"
        answer = self.ask(
            f"/api/pages/{page['page']}/actions", id=name, kind=kind, revision=page["revision"], **more
        )
        page["revision"] = answer["revision"]

    def label(self, page: Page, wanted: str) -> int:
        """Labels what differs, and says done; how many runs that took."""
        runs = list(differing(page["labels"], wanted))
        for first, last, label in runs:
            self.act(page, "label", runs=[[first, last]], label=label)
        self.act(page, "done")
        return len(runs)


def differing(labels: str, wanted: str) -> Iterator[tuple[int, int, int]]:
    """First block, last block and right label of each run that is labelled otherwise."""
    blocks = enumerate(zip(labels, wanted, strict=True))
    for (differs, label), run in groupby(blocks, lambda block: (block[1][0] != block[1][1], block[1][1])):
        numbers = [number for number, _ in run]
        if differs:
            yield numbers[0], numbers[-1], int(label)


def main(arguments: Sequence[str] | None = None) -> None:
    """Labels so many pages, or all there are."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("address", help="what victor annotate printed")
    parser.add_argument("--gold", required=True, type=Path)
    parser.add_argument("--name", default="Anna")
    parser.add_argument("--pages", type=int, default=40)
    chosen = parser.parse_args(arguments)
    rows = {page.url: page for page in gold.read(chosen.gold)}
    annotator = Annotator(chosen.address, chosen.name)
    n_pages = n_runs = 0
    page = annotator.ask("/api/next")
    while n_pages < chosen.pages and page["page"] is not None:
        if (right := right_labels(page, rows)) is None:
            annotator.act(page, "skip")
        else:
            n_runs += annotator.label(page, right)
            n_pages += 1
        page = annotator.ask("/api/next", after=page["page"])
    print(f"{chosen.name}: {n_pages} pages done, {n_runs} runs labelled")


def right_labels(page: Page, rows: Mapping[str | None, gold.GoldPage]) -> str | None:
    """A digit a block, where the page's gold is known and its blocks hold it."""
    row = rows.get(page["url"])
    if row is None:
        return None
    known = labelling.label(row)
    labels = "".join(map(str, known.labels.tolist()))
    return labels if labelling.trainable(known) and len(labels) == page["n_blocks"] else None


if __name__ == "__main__":
    main()
