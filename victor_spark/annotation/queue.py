"""The order of pages for annotators (random, by site, or the least certain first), and their progress."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from victor_spark.annotation import annotations
from victor_spark.annotation.store import Store
from victor_spark.errors import UsageError

ORDERS: Final = {
    "random": "page.hash",
    "site": "page.site, page.url, page.id",
    "uncertain": "coalesce(prelabel.uncertainty, 0) DESC, page.hash",
}
"""Order → its SQL; the order of hashes is random, and the same for all annotators."""

CLAIM_SECONDS: Final = 1800.0
"""How long an open page is reserved for its annotator."""

RECENT: Final = 20
"""Pages that count for the recent speed of an annotator."""


@dataclass(frozen=True)
class Plan:
    """The order of pages; `overlap` is the share of pages that `n_overlap` annotators label each."""

    order: str = "random"
    overlap: float = 0.0
    n_overlap: int = 2

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise UsageError(f"--order must be one of {', '.join(ORDERS)}")
        if not 0.0 <= self.overlap <= 1.0 or self.n_overlap < 2:
            raise UsageError("--overlap must be between 0 and 1, --overlap-annotators at least 2")

    def wanted(self, draw: float) -> int:
        """How many annotators label a page with this draw."""
        return self.n_overlap if draw < self.overlap else 1


_OPEN: Final = """
SELECT annotation.page FROM annotation JOIN page ON page.id = annotation.page
WHERE annotator = :annotator AND judge = 0 AND state = 'open' AND NOT page.practice AND annotation.page !=
:after ORDER BY last_seen DESC LIMIT 1
"""

_NEW: Final = """
SELECT page.id AS page FROM page LEFT JOIN prelabel ON prelabel.page = page.id
WHERE NOT page.practice
  AND NOT EXISTS (SELECT 1 FROM annotation a WHERE a.page = page.id AND a.annotator = :annotator AND a.judge
  = 0) AND (SELECT count(*) FROM annotation a WHERE a.page = page.id AND a.judge = 0
       AND (a.state = 'done' OR a.state = 'open' AND a.last_seen > :claimed))
      < CASE WHEN page.draw < :overlap THEN :n_overlap ELSE 1 END
ORDER BY {order} LIMIT 1
"""


def next_page(store: Store, plan: Plan, name: Any, after: Any = None) -> dict[str, Any]:
    """The state of the annotator's next page: the open one, else a new one; with `after`, a new one first."""
    annotator, _ = annotations.annotator_number(store, name)
    values = {
        "annotator": annotator,
        "after": after if type(after) is int and 0 <= after < 1 << 63 else -1,
        "claimed": time.time() - CLAIM_SECONDS,
        "overlap": plan.overlap,
        "n_overlap": plan.n_overlap,
    }
    statements = [_OPEN, _NEW.format(order=ORDERS[plan.order])]
    if after is not None:
        statements.reverse()
    with store.writing():  # the same transaction reserves the page
        for statement in statements:
            if row := store.row(statement, values):
                return annotations.state(store, row["page"], name)
    message = "The store has no pages yet: start `victor annotate` with INPUT."
    if n_pages(store):
        message = "No page is left for you: all pages are labelled or reserved for others."
    return {"page": None, "message": message}


def listing(store: Store, plan: Plan, name: Any, offset: int = 0, limit: int = 100) -> dict[str, Any]:
    """The pages in the order of the queue, with their state for this annotator."""
    annotator, _ = annotations.annotator_number(store, name)
    rows = store.rows(
        "SELECT page.id, page.title, page.url, page.host, page.n_blocks, page.draw, prelabel.uncertainty,"
        " mine.state, mine.last_seen,"
        " (SELECT count(*) FROM annotation a"
        " WHERE a.page = page.id AND a.judge = 0 AND a.state = 'done') AS n_done"
        " FROM page LEFT JOIN prelabel ON prelabel.page = page.id"
        " LEFT JOIN annotation mine ON mine.page = page.id AND mine.annotator = ? AND mine.judge = 0"
        f" WHERE NOT page.practice ORDER BY {ORDERS[plan.order]} LIMIT ? OFFSET ?",
        annotator, limit, offset,
    )  # fmt: skip
    listed = [
        {
            "page": row["id"],
            **{key: row[key] for key in ("title", "url", "host", "n_blocks", "n_done")},
            "state": row["state"] or "new",
            "wanted": plan.wanted(row["draw"]),
            "uncertainty": None if row["uncertainty"] is None else round(row["uncertainty"], 3),
            "seen": row["last_seen"],
        }
        for row in rows
    ]
    return {"n_pages": n_pages(store), "pages": listed}


def n_pages(store: Store) -> int:
    """The number of pages, without those for practice."""
    (row,) = store.rows("SELECT count(*) AS n FROM page WHERE NOT practice")
    return int(row["n"])


def history(store: Store, name: Any) -> dict[str, Any]:
    """The pages the annotator opened, the latest last."""
    annotator, _ = annotations.annotator_number(store, name)
    rows = store.rows(
        "SELECT annotation.page FROM annotation JOIN page ON page.id = annotation.page"
        " WHERE annotator = ? AND judge = 0 AND NOT practice ORDER BY annotation.opened, annotation.id",
        annotator,
    )
    return {"pages": [row["page"] for row in rows]}


def progress(store: Store, plan: Plan, name: str | None = None) -> dict[str, Any]:
    """Pages done and wanted; pages per hour (of active time) of all annotators, or of one."""
    pages = store.rows(
        "SELECT id, draw, (SELECT count(*) FROM annotation a"
        " WHERE a.page = page.id AND a.judge = 0 AND a.state = 'done') AS n_done FROM page WHERE NOT practice"
    )
    n_wanted = sum(plan.wanted(page["draw"]) for page in pages)
    n_annotations = sum(page["n_done"] for page in pages)
    unfinished = {page["id"] for page in pages if page["n_done"] < plan.wanted(page["draw"])}
    rows = store.rows("SELECT id, name FROM annotator ORDER BY name")
    return {
        "n_pages": len(pages),
        "n_done": sum(page["n_done"] > 0 for page in pages),
        "n_annotations": n_annotations,
        "n_wanted": n_wanted,
        "annotators": [
            {"name": row["name"], **_of_annotator(store, row["id"], unfinished)}
            for row in rows
            if name is None or row["name"] == name
        ],
    }


def _of_annotator(store: Store, annotator: int, unfinished: set[int]) -> dict[str, Any]:
    rows = store.rows(
        "SELECT annotation.page, state, active_seconds,"
        " (SELECT count(*) FROM action WHERE action.annotation = annotation.id) AS n_actions"
        " FROM annotation JOIN page ON page.id = annotation.page"
        " WHERE annotator = ? AND judge = 0 AND NOT practice ORDER BY done, annotation.id",
        annotator,
    )
    seconds = [row["active_seconds"] for row in rows if row["state"] == "done"]
    return {
        "n_done": len(seconds),
        "n_left": len(unfinished - {row["page"] for row in rows if row["state"] != "open"}),
        "n_skipped": sum(row["state"] == "skipped" for row in rows),
        "active_seconds": round(sum(row["active_seconds"] for row in rows), 1),
        "median_seconds": round(median(seconds), 1) if seconds else None,
        "pages_per_hour": _per_hour(seconds),
        "pages_per_hour_recent": _per_hour(seconds[-RECENT:]),
        "n_actions": sum(row["n_actions"] for row in rows),
    }


def _per_hour(seconds: Sequence[float]) -> float | None:
    total = sum(seconds)
    return round(3600 * len(seconds) / total, 1) if total > 0 else None
