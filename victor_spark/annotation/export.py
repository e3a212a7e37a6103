"""What leaves the store: gold JSON lines, CleanEval's folders, and the pages with their labels merged in."""

import io
import json
import lzma
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from victor_spark.annotation import annotations, pages
from victor_spark.annotation.labels import DIGITS, decode, encode
from victor_spark.annotation.store import Row, Store
from victor_spark.blocks import HEADER, LABELS, OTHER, Blocks, Bool, Scores, UInt8
from victor_spark.document import Document, plain_text
from victor_spark.errors import AnnotationError, OutputError
from victor_spark.html.canonical import restored
from victor_spark.html.segment import segment

FORMS: Final = ("gold", "cleaneval", "html")


@dataclass(frozen=True)
class Finished:
    """A page that is done: its row, its final labels (digits of the store's labels), and who gave them."""

    row: Row
    labels: str
    annotators: tuple[str, ...]
    judge: str | None
    active_seconds: float
    notes: tuple[str, ...]


def finished(store: Store) -> Iterator[Finished]:
    """The pages that somebody finished: a judge's labels, else the majority's (a tie is `other`)."""
    for row in store.rows("SELECT * FROM page WHERE NOT practice ORDER BY id"):
        given = store.rows(
            "SELECT annotation.*, annotator.name FROM annotation JOIN annotator ON annotator.id = annotator"
            " WHERE page = ? AND state = 'done' ORDER BY annotation.id",
            row["id"],
        )
        judges = [each for each in given if each["judge"]]
        others = [each for each in given if not each["judge"]]
        if not given:
            continue
        chosen = (
            judges[-1]["labels"] if judges else annotations.majority_of([each["labels"] for each in others])
        )
        yield Finished(
            row,
            chosen,
            tuple(each["name"] for each in others),
            judges[-1]["name"] if judges else None,
            round(sum(each["active_seconds"] for each in given), 1),
            tuple(each["note"] for each in given if each["note"]),
        )


def export(store: Store, form: str, output: Path) -> int:
    """Writes all finished pages in one of FORMS; how many. Raises OutputError where it can't be written."""
    count = _WRITERS[form](store, output)
    if not count:
        raise AnnotationError(f"{store.path}: no page is finished yet (Enter in the browser finishes a page)")
    return count


def _gold(store: Store, output: Path) -> int:
    """One JSON object a line, as evaluation.gold reads it; a name that ends in .xz is compressed."""
    n = 0
    text = io.StringIO()
    for page in finished(store):
        text.write(json.dumps(gold_row(store, page), ensure_ascii=False) + "\n")
        n += 1
    content = text.getvalue().encode("utf-8", "replace")
    if n:
        _write(output, lzma.compress(content) if output.suffix == ".xz" else content)
    return n


def gold_row(store: Store, page: Finished) -> dict[str, Any]:
    """A page as a line of gold: the text kept, and in meta the label of every block."""
    row = page.row
    kept = pages.content(store, row["id"])
    blocks = segment(kept.html)
    labels = carried_over(kept, roles(store, page.labels), blocks)
    document = _document(kept.html, blocks, labels, row)
    names = [label.name for label in store.labels]
    meta: dict[str, Any] = {
        "block_labels": encode(labels.tolist()),
        "annotators": list(page.annotators),
        "judge": page.judge,
        "active_seconds": page.active_seconds,
        "source": row["source"],
        "record_id": row["record_id"],
    }
    if len(names) > len(LABELS):
        own = carried_over(kept, np.array(decode(page.labels), dtype=np.uint8), blocks)
        meta |= {"own_labels": names, "own_block_labels": encode(own.tolist())}
    if page.notes:
        meta["notes"] = list(page.notes)
    return {
        "id": row["hash"][:16],
        "url": row["url"],
        "host": row["host"],
        "lang": row["language"],
        "html": kept.markup,
        "gold": document.text,
        "gold_markup": document.render("cleaneval"),
        "meta": meta,
        "split": "train",
    }


def roles(store: Store, labels: str) -> UInt8:
    """Labels of the store as the three that models know."""
    role_of = {DIGITS[n]: LABELS.index(label.role) for n, label in enumerate(store.labels)}
    return np.array([role_of[digit] for digit in labels], dtype=np.uint8)


def carried_over(kept: pages.Content, labels: UInt8, blocks: Blocks) -> UInt8:
    """The labels for the blocks of today's segmentation: each has that of the stored block it begins in."""
    if not len(kept.start) or not len(blocks):
        return np.full(len(blocks), OTHER, dtype=np.uint8)
    row = np.searchsorted(kept.start, blocks.start, side="right") - 1
    inside = (row >= 0) & (blocks.start < kept.end[np.maximum(row, 0)])
    return np.where(inside, labels[np.maximum(row, 0)], OTHER).astype(np.uint8)


def _document(html: str, blocks: Blocks, labels: UInt8, row: Row) -> Document:
    """The page as a cleaner would give it that agrees with the annotator; headers are those she labelled."""
    kept: Bool = labels != OTHER
    level = np.where(labels == HEADER, np.maximum(blocks.heading_level, 1), 0).astype(np.int32)
    columns = replace(blocks, heading_level=level)
    return Document(
        status="ok",
        reason=None,
        text=plain_text(columns, kept),
        html=html,
        title=row["title"],
        url=row["url"],
        language=row["language"],
        language_score=None,
        charset=None,
        cleaner="annotation",
        columns=columns,
        scores=Scores(np.eye(len(LABELS))[labels], kept),
        kept=kept,
    )


def _cleaneval(store: Store, output: Path) -> int:
    """OUT/gold/ID.txt in CleanEval's markup and OUT/html/ID.html, as `victor evaluate --gold --pages`
    reads.
    """
    n = 0
    for page in finished(store):
        row = gold_row(store, page)
        _write(output / "gold" / f"{row['id']}.txt", _bytes(row["gold_markup"]))
        _write(output / "html" / f"{row['id']}.html", _bytes(row["html"]))
        n += 1
    return n


def _html(store: Store, output: Path) -> int:
    """OUT/ID.html: the page as it was parsed, scripts and all, with data-victor-label on every block."""
    n = 0
    for page in finished(store):
        kept = pages.content(store, page.row["id"])
        names = [store.labels[label].name for label in decode(page.labels)]
        _write(output / f"{page.row['hash'][:16]}.html", _bytes(merged(kept, names)))
        n += 1
    return n


_NO_ELEMENTS_INSIDE: Final = ("<option", "<textarea")


def merged(kept: pages.Content, names: list[str]) -> str:
    """The whole page with its labels: `<span data-victor-label="text">` around each block.

    Where no element may stand, inside option and textarea, their own tag gets the attribute.
    """
    whole = restored(kept.markup)
    dropped = whole.dropped if whole.html == kept.html else ()
    inserted: list[tuple[int, int, str]] = [(offset, 2, markup) for offset, markup in dropped]
    html = kept.html
    for (start, end), name in zip(kept.blocks, names, strict=True):
        attribute = f' data-victor-label="{name}"'
        tag = html.rfind("<", 0, start)
        if html.startswith(_NO_ELEMENTS_INSIDE, tag):
            inserted.append((html.index(">", tag), 0, attribute))
        else:
            inserted += [(start, 3, f"<span{attribute}>"), (end, 1, "</span>")]
    parts, done = [], 0
    for offset, _, text in sorted(inserted, key=lambda each: each[:2]):
        parts += [html[done:offset], text]
        done = offset
    return "".join(parts) + html[done:]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _write(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all."""
    beside = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise OutputError(f"can't write {path}: {error.strerror or error}") from error


_WRITERS: Final[dict[str, Callable[[Store, Path], int]]] = {
    "gold": _gold,
    "cleaneval": _cleaneval,
    "html": _html,
}
