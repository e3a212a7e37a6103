"""Practice pages: written by us, with the right label of every block, and why, in their mark-up."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from victor_spark.annotation import annotations, pages
from victor_spark.annotation.labels import DIGITS, decode, differing
from victor_spark.annotation.pages import Source
from victor_spark.annotation.store import Store
from victor_spark.blocks import LABELS, OTHER, Page
from victor_spark.errors import AnnotationError
from victor_spark.html.canonical import canonical
from victor_spark.html.segment import segment

FOLDER: Final = Path(__file__).resolve().parent / "practice_pages"
_TAG: Final = re.compile(r"<(/?)([^\s/>]+)([^>]*)>")
_GOLD: Final = re.compile(r'\sdata-gold="([a-z]+)"')
_WHY: Final = re.compile(r'\sdata-why="([^"]*)"')
_VOID: Final = frozenset(["br", "hr", "img", "input", "wbr", "col", "area"])


def add_all(store: Store) -> None:
    """Puts the practice pages into the store, those that are not there yet."""
    for path in sorted(FOLDER.glob("*.html")):
        markup = path.read_text(encoding="utf-8")
        document = canonical(markup)
        blocks = segment(document.html, document.elements)
        page = Page(document.html, blocks, title=blocks.title)
        gold = list(_gold(document.html, blocks.start.tolist()))
        with store.writing() as connection:
            pages.add(connection, page, markup, Source(f"practice/{path.name}"), gold=json.dumps(gold))


def _gold(html: str, starts: Sequence[int]) -> Iterator[tuple[int, str]]:
    """(label, why) of each block: those of the nearest element around it that has a data-gold."""
    around: list[tuple[int, str]] = [(OTHER, "")]
    block = 0
    for tag in _TAG.finditer(html):
        while block < len(starts) and starts[block] < tag.start():
            yield around[-1]
            block += 1
        closing, name, attributes = tag.groups()
        if closing:
            around.pop()
        elif name not in _VOID and not name.startswith("!"):
            said, why = _GOLD.search(attributes), _WHY.search(attributes)
            around.append((LABELS.index(said[1]), why[1] if why else "") if said else around[-1])


def check(store: Store, number: int, name: Any) -> dict[str, Any]:
    """How the annotator's labels of a practice page compare with the right ones."""
    row = annotations.open_page(store, number, name)
    page = annotations.page_row(store, number)
    if not page["practice"]:
        raise AnnotationError("only practice pages can be checked")
    gold = json.loads(page["gold"])
    roles = [LABELS.index(label.role) for label in store.labels]
    given = "".join(DIGITS[roles[label]] for label in decode(row["labels"]))
    wrong = differing(given, "".join(DIGITS[label] for label, _ in gold))
    labels = decode(row["labels"])
    return {
        "n_right": page["n_blocks"] - len(wrong),
        "n_wrong": len(wrong),
        "n_blocks": page["n_blocks"],
        "wrong": [{"block": b, "given": labels[b], "gold": gold[b][0], "why": gold[b][1]} for b in wrong],
    }
