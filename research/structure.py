"""The quality of Markdown: its elements compared with those of annotated Markdown.

python -m research.structure --data DATA

The pages of DATA/more/defuddle.jsonl.xz. Both sides are read by markdown-it-py. Elements are paired by kind:
equal ones first, the others by the similarity of their text, the best first. The score of a page is the F1 of
the similarities of its pairs, that of a kind the mean over pages annotated with it. With the extra `peers`,
trafilatura and resiliparse are measured on the same pages. CPU time is that of the Markdown alone for victor,
of everything for the others.
"""

import argparse
import json
import lzma
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from statistics import mean
from typing import Any, Final

import victor_spark
from victor_spark.errors import EXIT_DONE, InputError, VictorError

KINDS: Final = ("code", "table", "heading", "list", "link", "image", "formula")
_FORMULA: Final = re.compile(r"\$\$(.+?)\$\$|(?<![\\$\w])\$([^$\n]+?)\$(?![\w$])", re.DOTALL)
_MAX_ELEMENTS: Final = 200
"""Elements of a kind on a page that are compared."""

Elements = dict[str, list[str]]


def elements(markdown: str) -> Elements:
    """The texts of the elements of each kind; a table's is its cells, a link's its text and address."""
    from markdown_it import MarkdownIt

    found: Elements = {kind: [] for kind in KINDS}
    cells: list[str] = []
    before = ""
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        if token.type == "fence":
            found["code"].append(token.content.strip("\n"))
        elif token.type == "table_close":
            found["table"].append(" | ".join(cells))
            cells = []
        elif token.type == "inline":
            text = " ".join(
                "".join(child.content for child in token.children or () if child.type in _TEXTS).split()
            )
            if before in ("th_open", "td_open"):
                cells.append(text)
            elif before in ("heading_open", "list"):
                found[before.removesuffix("_open")].append(text)
            _add_links(token.children or (), found)
        before = "list" if before == "list_item_open" and token.type == "paragraph_open" else token.type
    outside = re.sub(r"```.*?```", "", markdown, flags=re.DOTALL)
    found["formula"] = ["".join((one or other).split()) for one, other in _FORMULA.findall(outside)]
    return found


def _add_links(children: Sequence[Any], found: Elements) -> None:
    address = ""
    for child in children:
        if child.type == "link_open":
            address = str(child.attrs.get("href", ""))
            found["link"].append(_last(address) + " ")
        elif child.type == "link_close":
            address = ""
        elif child.type == "image":
            found["image"].append(_last(str(child.attrs.get("src", "")).split("?")[0]))
        elif address:
            found["link"][-1] += child.content


_TEXTS: Final = ("text", "code_inline", "softbreak")


def _last(address: str) -> str:
    """The last part of an address: pages are measured without their own."""
    return address.rstrip("/").rsplit("/", 1)[-1]


def score(found: Sequence[str], annotated: Sequence[str]) -> float:
    """The F1 of the similarities of paired elements; one side has some."""
    left, right = list(found[:_MAX_ELEMENTS]), list(annotated[:_MAX_ELEMENTS])
    total = 0.0
    for text in list(left):
        if text in right:
            total += 1
            left.remove(text)
            right.remove(text)
    pairs = sorted(
        (
            (SequenceMatcher(None, a, b, autojunk=False).ratio(), i, j)
            for i, a in enumerate(left)
            for j, b in enumerate(right)
        ),
        reverse=True,
    )
    used: tuple[set[int], set[int]] = (set(), set())
    for similarity, i, j in pairs:
        if similarity >= 0.3 and i not in used[0] and j not in used[1]:
            used[0].add(i)
            used[1].add(j)
            total += similarity
    return 2 * total / (len(found[:_MAX_ELEMENTS]) + len(annotated[:_MAX_ELEMENTS]))


def by_victor() -> Callable[[str], tuple[str, float]]:
    """Markdown of victor-spark, and the seconds that it takes after cleaning."""

    def render(html: str) -> tuple[str, float]:
        document = victor_spark.clean(html.encode("utf-8", "replace"))
        started = time.process_time()
        return document.render("markdown"), time.process_time() - started

    return render


def by_trafilatura() -> Callable[[str], tuple[str, float]]:
    """Markdown of trafilatura."""
    import trafilatura

    return _timed(
        lambda html: trafilatura.extract(
            html, output_format="markdown", include_links=True, include_images=True, include_formatting=True
        )
    )


def by_resiliparse() -> Callable[[str], tuple[str, float]]:
    """The text of resiliparse, which has marks of lists."""
    from resiliparse.extract.html2text import extract_plain_text

    return _timed(
        lambda html: extract_plain_text(html, main_content=True, preserve_formatting=True, links=True)
    )


def _timed(extract: Callable[[str], str | None]) -> Callable[[str], tuple[str, float]]:
    def render(html: str) -> tuple[str, float]:
        started = time.process_time()
        return extract(html) or "", time.process_time() - started

    return render


SYSTEMS: Final = {"victor": by_victor, "trafilatura": by_trafilatura, "resiliparse": by_resiliparse}


def pages(data: Path) -> Iterator[tuple[str, str]]:
    """The html and the annotated Markdown of each page."""
    path = data / "more" / "defuddle.jsonl.xz"
    try:
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for page in map(json.loads, lines):
                yield page["html"], page["gold_markdown"]
    except OSError as error:
        raise InputError(f"cannot read {path}: {error}") from error


def measure(data: Path, name: str) -> str:
    """A line with the means of one system."""
    render = SYSTEMS[name]()
    scores: dict[str, list[float]] = {kind: [] for kind in KINDS}
    spent = []
    for html, gold in pages(data):
        markdown, seconds = render(html)
        spent.append(seconds)
        found, annotated = elements(markdown), elements(gold)
        for kind in KINDS:
            if annotated[kind]:
                scores[kind].append(score(found[kind], annotated[kind]))
    means = "  ".join(f"{kind} {mean(values):.3f}" for kind, values in scores.items() if values)
    return f"{name:12} {means}  {1000 * mean(spent):.2f} ms"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the script and returns the process exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m research.structure",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", metavar="DIR", type=Path, required=True, help="has more/defuddle.jsonl.xz")
    try:
        data = parser.parse_args(argv).data
        for name in SYSTEMS:
            try:
                print(measure(data, name), flush=True)
            except ImportError:
                print(f"{name:12} is not installed")
    except VictorError as error:
        print(f"structure: {error}", file=sys.stderr)
        return error.exit_code
    return EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
