"""What the server answers to each question of the browser (the interface is described in app.py)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from victor_spark import __version__
from victor_spark.annotation import agreement, annotations, pages, practice, progress, queue
from victor_spark.annotation.queue import Plan
from victor_spark.annotation.store import Store
from victor_spark.blocks import OTHER
from victor_spark.errors import AnnotationError

MAX_LISTED: Final = 1000


@dataclass(frozen=True)
class Desk:
    """What the server works with: the store, how pages are handed out, the model that labelled them
    beforehand."""

    store: Store
    plan: Plan
    model: str | None = None


@dataclass(frozen=True)
class Asked:
    """A request's own words: the page of its path, its query and its JSON body."""

    page: int
    query: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def annotator(self) -> Any:
        """The annotator's name, from the body or the query."""
        return self.body.get("annotator", self.query.get("annotator"))

    @property
    def judge(self) -> bool:
        """Whether she acts as the judge."""
        return self.body.get("judge") is True or self.query.get("judge") == "1"

    def number(self, name: str, default: int) -> int:
        """A whole number of the query, not negative."""
        word = self.query.get(name, str(default))
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            raise AnnotationError(f"{name} is a whole number")
        return int(word)


Answer = Callable[[Desk, Asked], Mapping[str, Any]]


def session(desk: Desk, _: Asked) -> Mapping[str, Any]:
    """What a window begins with."""
    store = desk.store
    total = store.row("SELECT count(*) AS n FROM page WHERE NOT practice")
    return {
        "labels": [label.as_json() for label in store.labels],
        "other": OTHER,
        "annotators": [row["name"] for row in store.rows("SELECT name FROM annotator ORDER BY name")],
        "order": desk.plan.order,
        "overlap": desk.plan.overlap,
        "n_pages": total["n"] if total else 0,
        "prelabelled": store.row("SELECT 1 FROM prelabel LIMIT 1") is not None,
        "model": desk.model,
        "version": __version__,
        "practice": [
            {"page": row["id"], "title": row["title"]}
            for row in store.rows("SELECT id, title FROM page WHERE practice ORDER BY id")
        ],
        "messages": pages.remarks(store),
        "store": store.path.name,
        "store_id": store.id,
    }


def annotators(desk: Desk, asked: Asked) -> Mapping[str, Any]:
    """The annotator of that name, made if there is none."""
    name = annotations.checked_name(asked.body.get("name"))
    _, is_new = annotations.annotator_number(desk.store, name)
    return {"name": name, "is_new": is_new}


def next_page(desk: Desk, asked: Asked) -> Mapping[str, Any]:
    """Her next page."""
    return queue.next_page(desk.store, desk.plan, asked.annotator, asked.body.get("after"))


def listing(desk: Desk, asked: Asked) -> Mapping[str, Any]:
    """The pages in the order of the queue."""
    offset, limit = asked.number("offset", 0), min(asked.number("limit", 100), MAX_LISTED)
    return queue.listing(desk.store, desk.plan, asked.annotator, offset, limit)


def history(desk: Desk, asked: Asked) -> Mapping[str, Any]:
    """The pages she opened."""
    return queue.history(desk.store, asked.annotator)


def state(desk: Desk, asked: Asked) -> Mapping[str, Any]:
    """A page as she left it."""
    return annotations.state(desk.store, asked.page, asked.annotator, judge=asked.judge)


def act(desk: Desk, asked: Asked) -> Mapping[str, Any]:
    """Does what she did."""
    action = annotations.checked_action(asked.body)
    return annotations.act(desk.store, asked.page, asked.annotator, action, judge=asked.judge)


def active(desk: Desk, asked: Asked) -> Mapping[str, Any]:
    """Notes that she is at work on the page."""
    seconds = annotations.touch(desk.store, asked.page, asked.annotator, judge=asked.judge)
    return {"active_seconds": round(seconds, 1)}


def check(desk: Desk, asked: Asked) -> Mapping[str, Any]:
    """What gold says of her practice page."""
    return practice.check(desk.store, asked.page, asked.annotator)


def progress_of(desk: Desk, asked: Asked) -> Mapping[str, Any]:
    """How far everybody is."""
    return progress.progress(desk.store, desk.plan, asked.query.get("annotator"))


def agreed(desk: Desk, _: Asked) -> Mapping[str, Any]:
    """How far annotators agree."""
    return agreement.agreement(desk.store)


def disagreements(desk: Desk, _: Asked) -> Mapping[str, Any]:
    """The pages on which they differ."""
    return agreement.disagreements(desk.store)


def disagreement(desk: Desk, asked: Asked) -> Mapping[str, Any]:
    """Where they differ on one page."""
    return agreement.disagreement(desk.store, asked.page)
