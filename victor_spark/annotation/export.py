"""Exports: gold JSON lines, CleanEval folders, and pages with their labels in attributes."""

import json
import lzma
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from victor_spark import resources
from victor_spark.annotation import annotations
from victor_spark.annotation.store import Content, Row, Store, content, roles
from victor_spark.blocks import HEADER, LABELS, OTHER, Blocks, Bool, Scores, UInt8
from victor_spark.document import Document
from victor_spark.errors import AnnotationError
from victor_spark.html.canonical import restored
from victor_spark.html.segment import segment
from victor_spark.logs import track
from victor_spark.rendering.plain import plain_text


def finished(store: Store) -> Iterator[tuple[Row, str, list[Row]]]:
    """The done pages: the row of each, its final labels (digits of the store's labels), its annotations.

    The labels are those of the adjudicator, or else of the majority (a tie is `other`).
    """
    for row in store.rows("SELECT * FROM page WHERE NOT practice ORDER BY id"):
        given = store.rows("SELECT * FROM given WHERE page = ? AND state = 'done' ORDER BY id", row["id"])
        if given:
            judged = [each["labels"] for each in given if each["judge"]]
            labels = judged[-1] if judged else annotations.majority_of([each["labels"] for each in given])
            yield row, labels, given


def export(store: Store, form: str, output: Path) -> int:
    """Writes all done pages; returns their number, OutputError if that fails.

    `form`: gold, one JSON object per line; cleaneval, OUT/gold/ID.txt in CleanEval's markup and
    OUT/html/ID.html; html, OUT/ID.html.
    """
    if not (done := list(finished(store))):
        raise AnnotationError(f"{store.path}: no page is done yet: press Enter in the browser to finish one")
    lines = []
    for page, labels, given in track(done, "exporting", len(done)):
        if form == "html":
            names = [store.labels[int(label)].name for label in labels]
            _write(output / f"{page['hash'][:16]}.html", merged(content(store, page["id"]), names))
            continue
        row = gold_row(store, page, labels, given)
        if form == "gold":  # as evaluation.gold reads it
            lines.append(json.dumps(row, ensure_ascii=False) + "\n")
        else:  # for `victor evaluate --gold --pages`
            _write(output / "gold" / f"{row['id']}.txt", row["gold_markup"])
            _write(output / "html" / f"{row['id']}.html", row["html"])
    if form == "gold":
        _write(output, "".join(lines))
    return len(done)


def gold_row(store: Store, row: Row, digits: str, given: Sequence[Row]) -> dict[str, Any]:
    """A `finished` page as a line of gold: the kept text, and in meta the label of each block."""
    kept = content(store, row["id"])
    blocks = segment(kept.html)
    labels = carried_over(kept, roles(store, digits), blocks)
    document = _document(kept.html, blocks, labels, row)
    names = [label.name for label in store.labels]
    meta: dict[str, Any] = {
        "block_labels": "".join(map(str, labels.tolist())),
        "annotators": [each["name"] for each in given if not each["judge"]],
        "judge": next((each["name"] for each in reversed(given) if each["judge"]), None),
        "active_seconds": round(sum(each["active_seconds"] for each in given), 1),
        "source": row["source"],
        "record_id": row["record_id"],
    }
    if len(names) > len(LABELS):
        own = carried_over(kept, np.array(list(digits), dtype=np.uint8), blocks)
        meta |= {"own_labels": names, "own_block_labels": "".join(map(str, own.tolist()))}
    if notes := [each["note"] for each in given if each["note"]]:
        meta["notes"] = notes
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


def carried_over(kept: Content, labels: UInt8, blocks: Blocks) -> UInt8:
    """Labels for the blocks of the current segmentation: that of the stored block in which each begins."""
    if not len(kept.start) or not len(blocks):
        return np.full(len(blocks), OTHER, dtype=np.uint8)
    row = np.searchsorted(kept.start, blocks.start, side="right") - 1
    inside = (row >= 0) & (blocks.start < kept.end[row])
    return np.where(inside, labels[row], OTHER).astype(np.uint8)


def _document(html: str, blocks: Blocks, labels: UInt8, row: Row) -> Document:
    """The document of a cleaner that agrees with the annotator, headers included."""
    kept: Bool = labels != OTHER
    level = np.where(labels == HEADER, np.maximum(blocks.heading_level, 1), 0).astype(np.int32)
    columns = replace(blocks, heading_level=level)
    return Document(
        status="ok",
        text=plain_text(columns, kept),
        html=html,
        title=row["title"],
        url=row["url"],
        language=row["language"],
        cleaner="annotation",
        columns=columns,
        scores=Scores(np.eye(len(LABELS))[labels], kept),
        kept=kept,
    )


_NO_ELEMENTS_INSIDE: Final = ("<option", "<textarea")


def merged(kept: Content, names: list[str]) -> str:
    """The whole page, scripts included, with its labels: `<span data-victor-label="text">` around each block.

    Inside option and textarea, which cannot contain elements, their own tag gets the attribute.
    """
    html, dropped = restored(kept.markup)
    if html != kept.html:
        html, dropped = kept.html, []
    inserted: list[tuple[int, int, str]] = [(offset, 2, markup) for offset, markup in dropped]
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


def _write(path: Path, text: str) -> None:
    """Writes a file, compressed for .xz, whole or not at all."""
    content = text.encode("utf-8", "replace")
    with resources.written(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with resources.replaced(path) as draft:
            draft.write_bytes(lzma.compress(content) if path.suffix == ".xz" else content)
