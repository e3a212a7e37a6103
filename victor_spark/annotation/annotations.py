"""One annotator's labels of one page: opened, changed, undone, redone; each action is an entry of a log.

Undo and redo are entries too, so entries are never removed. An entry has the labels before and after it.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from statistics import multimode
from typing import Any, Final

import numpy as np

from victor_spark.annotation.store import BLANK, Row, Store, apply, checked_runs, differing, now, runs_of
from victor_spark.blocks import LABELS
from victor_spark.errors import AnnotationError

IDLE_SECONDS: Final = 60.0
"""A longer gap between two requests about a page is not working time."""

KINDS: Final = ("label", "undo", "redo", "done", "skip", "reopen", "note", "restore", "clear")
_CHANGING: Final = ("label", "restore", "clear")
_STATES: Final = {"done": "done", "skip": "skipped", "reopen": "open"}
MAX_NOTE: Final = 2000


@dataclass(frozen=True)
class Action:
    """A change of an annotation, sent by a browser; `kind` determines which of the other fields are used."""

    id: str
    kind: str
    revision: int
    runs: Any = None
    label: Any = None
    text: Any = None


def annotator_number(store: Store, name: Any) -> tuple[int, bool]:
    """The number of the annotator of that name, and whether the name is new."""
    name = checked_name(name)
    known = "SELECT id FROM annotator WHERE name = ?"
    if row := store.row(known, name):
        return int(row["id"]), False
    with store.writing() as connection:
        connection.execute("INSERT OR IGNORE INTO annotator (name, added) VALUES (?, ?)", (name, now()))
        return int(store.rows(known, name)[0]["id"]), True


def checked_name(name: Any) -> str:
    """An annotator's name, white space collapsed."""
    kept = " ".join(name.split()) if isinstance(name, str) else ""
    if not 1 <= len(kept) <= 40 or not kept.isprintable():
        raise AnnotationError("an annotator's name must have 1 to 40 characters")
    return kept


def page_row(store: Store, number: int) -> Row:
    """The page with its prelabels; AnnotationError for an unknown page."""
    row = store.row(
        "SELECT page.*, prelabel.labels AS prelabels, prelabel.uncertain, prelabel.uncertainty,"
        " prelabel.marginals FROM page"
        " LEFT JOIN prelabel ON prelabel.page = page.id WHERE page.id = ?",
        number,
    )
    if row is None:
        raise AnnotationError(f"there is no page {number}", "not_found")
    return row


def open_page(store: Store, number: int, name: Any, *, judge: bool = False) -> Row:
    """The annotation of that page by that annotator; created if there is none."""
    annotator, _ = annotator_number(store, name)
    page = page_row(store, number)
    found = _annotation(store, number, annotator, judge=judge)
    if found is not None:
        try:
            with store.writing() as connection:
                _touch(connection, found, found["active_seconds"])
        except AnnotationError as error:
            if error.code != "disk_full":  # a full disk does not prevent viewing the page
                raise
    else:
        with store.writing() as connection:
            initial = majority(store, number, page) if judge else _prelabels(page)
            connection.execute(
                "INSERT OR IGNORE INTO annotation"
                " (page, annotator, judge, labels, initial, opened, last_seen) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (number, annotator, int(judge), initial, initial, now(), time.time()),
            )
    opened = _annotation(store, number, annotator, judge=judge)
    assert opened is not None
    return opened


def _annotation(store: Store, page: int, annotator: int, *, judge: bool) -> Row | None:
    return store.row(
        "SELECT * FROM annotation WHERE page = ? AND annotator = ? AND judge = ?", page, annotator, int(judge)
    )


def _prelabels(page: Row) -> str:
    """The initial labels: those of the model, otherwise all blocks are other."""
    blank = BLANK * page["n_blocks"]
    return blank if page["practice"] else str(page["prelabels"] or blank)


def majority(store: Store, number: int, page: Row) -> str:
    """The most frequent label of each block; for a tie, other."""
    rows = store.rows("SELECT labels FROM annotation WHERE page = ? AND judge = 0 AND state = 'done'", number)
    return majority_of([row["labels"] for row in rows]) if rows else _prelabels(page)


def majority_of(given: Sequence[str]) -> str:
    """The most frequent digit at each position; for a tie, other."""
    modes = map(multimode, zip(*given, strict=True))
    return "".join(found[0] if len(found) == 1 else BLANK for found in modes)


def state(store: Store, number: int, name: Any, *, judge: bool = False) -> dict[str, Any]:
    """The page state that the browser shows; opens the annotation."""
    row = open_page(store, number, name, judge=judge)
    page = page_row(store, number)
    marginals = None
    if page["marginals"] is not None:
        marginals = np.frombuffer(page["marginals"], np.uint8).reshape(-1, len(LABELS)).tolist()
    return {
        "page": number,
        "frame": f"/frame/{number}",
        **{key: page[key] for key in ("title", "url", "host", "language", "n_blocks")},
        "labels": row["labels"],
        "prelabels": page["prelabels"],
        "uncertain": json.loads(page["uncertain"] or "[]") if not page["practice"] else [],
        "marginals": marginals,
        "annotator": checked_name(name),
        "judge": judge,
        "practice": bool(page["practice"]),
        "note": row["note"],
        "message": None,
        **_standing(row, *_stacks(store, row["id"])),
    }


def _standing(row: Row | Mapping[str, Any], undoable: list[int], redoable: list[int]) -> dict[str, Any]:
    return {
        "revision": row["revision"],
        "can_undo": bool(undoable),
        "can_redo": bool(redoable),
        "state": row["state"],
        "active_seconds": round(row["active_seconds"], 1),
    }


def _touch(connection: Connection, row: Row, active: float) -> float:
    """Adds the time since the last request, if it was working time."""
    seen = time.time()
    gap = seen - row["last_seen"]
    active += gap if 0 <= gap <= IDLE_SECONDS else 0.0
    touched = "UPDATE annotation SET last_seen = ?, active_seconds = ? WHERE id = ?"
    connection.execute(touched, (seen, active, row["id"]))
    return active


def act(store: Store, number: int, name: Any, action: Action, *, judge: bool = False) -> dict[str, Any]:
    """Applies and logs one action in one transaction; a repeated action gets its first answer."""
    annotator, _ = annotator_number(store, name)
    page = page_row(store, number)
    with store.writing() as connection:
        row = _annotation(store, number, annotator, judge=judge) or open_page(
            store, number, name, judge=judge
        )
        answered = "SELECT answer FROM action WHERE annotation = ? AND client_id = ?"
        if known := store.row(answered, row["id"], action.id):
            return dict(json.loads(known["answer"]))
        if action.revision != row["revision"]:
            why = "this page was changed in another window; its current state is loaded"
            raise AnnotationError(why, "stale")
        return _logged(connection, store, page, row, action)


def _logged(connection: Connection, store: Store, page: Row, row: Row, action: Action) -> dict[str, Any]:
    undoable, redoable = _stacks(store, row["id"])
    labels, n_blocks = row["labels"], int(page["n_blocks"])
    if action.kind == "label":
        runs = checked_runs(action.runs, action.label, n_blocks=n_blocks, n_labels=len(store.labels))
        labels = apply(labels, runs)
    elif action.kind in ("restore", "clear"):
        labels = row["initial"] if action.kind == "restore" else BLANK * n_blocks
    elif action.kind in ("undo", "redo"):
        stack, other = (undoable, redoable) if action.kind == "undo" else (redoable, undoable)
        if not stack:
            raise AnnotationError(f"there is nothing to {action.kind}")
        other.append(stack.pop())
        (known,) = store.rows("SELECT before, after FROM action WHERE id = ?", other[-1])
        labels = known["before" if action.kind == "undo" else "after"]
    if action.kind in _CHANGING:
        undoable, redoable = [*undoable, -1], []
    updated = {
        "labels": labels,
        "revision": row["revision"] + 1,
        "state": _STATES.get(action.kind, row["state"] if action.kind == "note" else "open"),
        "note": action.text if action.kind == "note" else row["note"],
        "active_seconds": _touch(connection, row, row["active_seconds"]),
    }
    done = now() if action.kind == "done" else row["done"] if updated["state"] == "done" else None
    changed = runs_of(labels, differing(row["labels"], labels))
    answer = {"page": row["page"], "changed": changed, **_standing(updated, undoable, redoable)}
    connection.execute(
        "UPDATE annotation SET labels = ?, revision = ?, state = ?, note = ?, done = ? WHERE id = ?",
        (*(updated[key] for key in ("labels", "revision", "state", "note")), done, row["id"]),
    )
    entry = (row["id"], updated["revision"], action.id, action.kind, row["labels"], labels, now())
    connection.execute(
        "INSERT INTO action (annotation, revision, client_id, kind, before, after, at, answer)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (*entry, json.dumps(answer)),
    )
    return answer


def checked_action(sent: Mapping[str, Any]) -> Action:
    """The action that a browser sent; AnnotationError if it is invalid."""
    kind, client_id, revision = sent.get("kind"), sent.get("id"), sent.get("revision")
    if kind not in KINDS:
        raise AnnotationError(f"kind must be one of {', '.join(KINDS)}")
    if not isinstance(client_id, str) or not 1 <= len(client_id) <= 64:
        raise AnnotationError("id must have 1 to 64 characters and be unique")
    if type(revision) is not int:
        raise AnnotationError("revision must be the number of the state that the action changes")
    text = sent.get("text")
    if kind == "note" and not (isinstance(text, str) and len(text) <= MAX_NOTE):
        raise AnnotationError(f"a note must be a text of at most {MAX_NOTE} characters")
    return Action(client_id, kind, revision, sent.get("runs"), sent.get("label"), text)


def _stacks(store: Store, annotation: int) -> tuple[list[int], list[int]]:
    """The entries of the log that can be undone and redone, the next one last."""
    undoable, redoable = list[int](), list[int]()
    for entry in store.rows("SELECT id, kind FROM action WHERE annotation = ? ORDER BY id", annotation):
        if entry["kind"] in _CHANGING:
            undoable.append(entry["id"])
            redoable.clear()
        elif entry["kind"] == "undo":
            redoable.append(undoable.pop())
        elif entry["kind"] == "redo":
            undoable.append(redoable.pop())
    return undoable, redoable
