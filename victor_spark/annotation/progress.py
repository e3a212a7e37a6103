"""The work of several annotators: the order of pages for them, their progress and their agreement.

Pages come in random order, by site, or the least certain first. Agreement: Cohen's and Fleiss' kappa.
"""

import math
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, groupby
from operator import itemgetter
from statistics import median
from typing import Any, Final

from victor_spark.annotation import annotations
from victor_spark.annotation.store import Row, Store, spans
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
        if not 0.0 <= self.overlap <= 1.0:
            raise UsageError("--overlap must be between 0 and 1")
        if self.n_overlap < 2:
            raise UsageError("--overlap-annotators must be at least 2")

    def wanted(self, draw: float) -> int:
        """How many annotators label a page with this draw."""
        return self.n_overlap if draw < self.overlap else 1


_N_DONE: Final = """
(SELECT count(*) FROM annotation a WHERE a.page = page.id AND a.judge = 0 AND a.state = 'done') AS n_done
"""
"""A column: by how many annotators the page is done."""

_OPEN: Final = """
SELECT page FROM given WHERE annotator = :annotator AND judge = 0 AND state = 'open' AND NOT practice
  AND page != :after ORDER BY last_seen DESC LIMIT 1
"""

_NEW: Final = """
SELECT page.id AS page FROM page LEFT JOIN prelabel ON prelabel.page = page.id
WHERE NOT page.practice
  AND NOT EXISTS (SELECT 1 FROM annotation a
       WHERE a.page = page.id AND a.judge = 0 AND a.annotator = :annotator)
  AND (SELECT count(*) FROM annotation a WHERE a.page = page.id AND a.judge = 0
       AND (a.state = 'done' OR a.state = 'open' AND a.last_seen > :claimed))
      < CASE WHEN page.draw < :overlap THEN :n_overlap ELSE 1 END
ORDER BY {order} LIMIT 1
"""


def next_page(store: Store, plan: Plan, name: Any, after: Any) -> dict[str, Any]:
    """The state of the annotator's next page: the open one, else a new one; with `after`, a new one first."""
    annotator, _ = annotations.annotator_number(store, name)
    values = {
        "annotator": annotator,
        "after": after if type(after) is int and 0 <= after < 1 << 63 else -1,
        "claimed": time.time() - CLAIM_SECONDS,
        **asdict(plan),
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
        f" mine.state, mine.last_seen, {_N_DONE}"
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
    opened = "SELECT page FROM given WHERE annotator = ? AND judge = 0 AND NOT practice ORDER BY opened, id"
    return {"pages": [row["page"] for row in store.rows(opened, annotator)]}


def progress(store: Store, plan: Plan, name: str | None = None) -> dict[str, Any]:
    """Pages done and wanted; pages per hour (of active time) of all annotators, or of one."""
    pages = store.rows(f"SELECT id, draw, {_N_DONE} FROM page WHERE NOT practice")
    unfinished = {page["id"] for page in pages if page["n_done"] < plan.wanted(page["draw"])}
    rows = store.rows("SELECT id, name FROM annotator ORDER BY name")
    return {
        "n_pages": len(pages),
        "n_done": sum(page["n_done"] > 0 for page in pages),
        "n_annotations": sum(page["n_done"] for page in pages),
        "n_wanted": sum(plan.wanted(page["draw"]) for page in pages),
        "annotators": [
            {"name": row["name"], **_of_annotator(store, row["id"], unfinished)}
            for row in rows
            if name is None or row["name"] == name
        ],
    }


def _of_annotator(store: Store, annotator: int, unfinished: set[int]) -> dict[str, Any]:
    rows = store.rows(
        "SELECT *, (SELECT count(*) FROM action WHERE action.annotation = given.id) AS n_actions FROM given"
        " WHERE annotator = ? AND judge = 0 AND NOT practice ORDER BY done, id",
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


def cohen(first: str, second: str) -> float | None:
    """Cohen's kappa of two label strings; None without blocks, or if the agreement by chance is 1."""
    n = len(first)
    if not n:
        return None
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    of_first, of_second = Counter(first), Counter(second)
    chance = sum(of_first[digit] * of_second[digit] for digit in of_first) / n**2
    return None if math.isclose(chance, 1.0) else (observed - chance) / (1 - chance)


def fleiss(blocks: Iterable[Sequence[str]]) -> float | None:
    """Fleiss' kappa over blocks, each with the labels of its raters (two or more; the number may vary).

    The mean share of agreeing pairs of raters per block, against the agreement by chance of the labels'
    frequencies. None without blocks, or if the agreement by chance is 1.
    """
    totals: Counter[str] = Counter()
    n_blocks, agreeing = 0, 0.0
    for given in blocks:
        counts = Counter(given)
        n = len(given)
        agreeing += sum(c * (c - 1) for c in counts.values()) / (n * (n - 1))
        totals.update(counts)
        n_blocks += 1
    if not n_blocks:
        return None
    n_all = totals.total()
    chance = sum((c / n_all) ** 2 for c in totals.values())
    return None if math.isclose(chance, 1.0) else (agreeing / n_blocks - chance) / (1 - chance)


def _done(store: Store) -> dict[int, list[Row]]:
    """Page → its finished annotations, if there are two or more."""
    rows = store.rows(
        "SELECT * FROM given WHERE judge = 0 AND state = 'done' AND NOT practice ORDER BY page, annotator"
    )
    of_pages = ((page, list(given)) for page, given in groupby(rows, itemgetter("page")))
    return {page: given for page, given in of_pages if len(given) > 1}


def agreement(store: Store) -> dict[str, Any]:
    """The kappas over all pages that two or more annotators finished."""
    pages = _done(store)
    joined: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for given in pages.values():
        for a, b in combinations(given, 2):
            joined[a["name"], b["name"]].append((a["labels"], b["labels"]))
    return {
        "n_pages": len(pages),
        "n_blocks": sum(len(given[0]["labels"]) for given in pages.values()),
        "pairs": [_pair(names, both) for names, both in sorted(joined.items())],
        "fleiss": _rounded(fleiss(column for given in pages.values() for column in _columns(given))),
        "labels": [label.name for label in store.labels],
        "messages": [] if pages else ["No page is finished by two annotators yet (see --overlap)."],
    }


def _columns(given: Sequence[Row]) -> Iterable[tuple[str, ...]]:
    return zip(*(row["labels"] for row in given), strict=True)


def _pair(names: tuple[str, str], pages: Sequence[tuple[str, str]]) -> dict[str, Any]:
    first, second = ("".join(side) for side in zip(*pages, strict=True))
    n = len(first)
    return {
        "annotators": list(names),
        "n_pages": len(pages),
        "n_blocks": n,
        "kappa": _rounded(cohen(first, second)),
        "agreement": _rounded(sum(a == b for a, b in zip(first, second, strict=True)) / n if n else None),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def disagreements(store: Store) -> dict[str, Any]:
    """Pages on which finished annotations differ, the worst first, with the adjudicator."""
    judges = store.rows("SELECT page, name FROM given WHERE judge = 1 AND state = 'done'")
    judge_of = {row["page"]: row["name"] for row in judges}
    listed = []
    for number, given in _done(store).items():
        if n_differing := sum(len(set(column)) > 1 for column in _columns(given)):
            page = annotations.page_row(store, number)
            listed.append({
                "page": number, "title": page["title"], "url": page["url"],
                "annotators": [row["name"] for row in given], "n_differing": n_differing,
                "n_blocks": page["n_blocks"], "kappa": _rounded(fleiss(_columns(given))),
                "judged": judge_of.get(number),
            })  # fmt: skip
    return {"pages": sorted(listed, key=lambda page: (page["judged"] is not None, -page["n_differing"]))}


def disagreement(store: Store, number: int) -> dict[str, Any]:
    """The labels of each annotator of a page, the blocks that differ, and the adjudicator's labels."""
    page = annotations.page_row(store, number)
    rows = store.rows("SELECT * FROM given WHERE page = ? AND state = 'done' ORDER BY id", number)
    given = [row for row in rows if not row["judge"]]
    judge = next((row for row in rows if row["judge"]), None)
    differing = [block for block, column in enumerate(_columns(given)) if len(set(column)) > 1]
    return {
        "page": number,
        "n_blocks": page["n_blocks"],
        "annotators": [{"name": row["name"], "labels": row["labels"]} for row in given],
        "majority": annotations.majority(store, number, page),
        "differing": spans(differing),
        "judge": judge and {"name": judge["name"], "labels": judge["labels"]},
    }
