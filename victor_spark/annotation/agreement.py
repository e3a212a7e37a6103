"""Agreement of annotators (Cohen's kappa of pairs, Fleiss' kappa of all), and where they differ."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

from victor_spark.annotation import annotations
from victor_spark.annotation.labels import spans
from victor_spark.annotation.store import Row, Store


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
        "SELECT annotation.page, annotator.name, annotation.labels FROM annotation"
        " JOIN annotator ON annotator.id = annotation.annotator JOIN page ON page.id = annotation.page"
        " WHERE judge = 0 AND state = 'done' AND NOT practice ORDER BY annotation.page, annotator.id"
    )
    of_page: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        of_page[row["page"]].append(row)
    return {page: given for page, given in of_page.items() if len(given) > 1}


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
    """Pages on which finished annotations differ, the worst first, with the judge who decided."""
    judges = store.rows(
        "SELECT annotation.page, annotator.name FROM annotation"
        " JOIN annotator ON annotator.id = annotation.annotator WHERE judge = 1 AND state = 'done'"
    )
    judged = {row["page"]: row["name"] for row in judges}
    listed = []
    for number, given in _done(store).items():
        n_differing = sum(len(set(column)) > 1 for column in _columns(given))
        if n_differing:
            page = annotations.page_row(store, number)
            listed.append({
                "page": number, "title": page["title"], "url": page["url"],
                "annotators": [row["name"] for row in given], "n_differing": n_differing,
                "n_blocks": page["n_blocks"], "kappa": _rounded(fleiss(_columns(given))),
                "judged": judged.get(number),
            })  # fmt: skip
    return {"pages": sorted(listed, key=lambda page: (page["judged"] is not None, -page["n_differing"]))}


def disagreement(store: Store, number: int) -> dict[str, Any]:
    """The labels of each annotator of a page, the blocks that differ, and the judge's labels."""
    page = annotations.page_row(store, number)
    rows = store.rows(
        "SELECT annotator.name, annotation.labels, judge, state FROM annotation"
        " JOIN annotator ON annotator.id = annotation.annotator WHERE page = ? ORDER BY annotation.id",
        number,
    )
    given = [row for row in rows if not row["judge"] and row["state"] == "done"]
    judge = next((row for row in rows if row["judge"] and row["state"] == "done"), None)
    differing = [block for block, column in enumerate(_columns(given)) if len(set(column)) > 1]
    return {
        "page": number,
        "n_blocks": page["n_blocks"],
        "annotators": [{"name": row["name"], "labels": row["labels"]} for row in given],
        "majority": annotations.majority(store, number, page),
        "differing": spans(differing),
        "judge": judge and {"name": judge["name"], "labels": judge["labels"]},
    }
