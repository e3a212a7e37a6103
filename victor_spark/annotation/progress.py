"""How far the work is, and how fast each annotator works."""

from collections.abc import Sequence
from statistics import median
from typing import Any, Final

from victor_spark.annotation.queue import Plan
from victor_spark.annotation.store import Store

RECENT: Final = 20


def progress(store: Store, plan: Plan, name: str | None = None) -> dict[str, Any]:
    """Pages done and wanted, and pages an hour (of active time) of every annotator, or of one."""
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
