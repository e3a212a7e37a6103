"""The conclusions that Lejeune and Zhu (2018) draw from their tables, each tested on our own figures."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from research import extrinsic, published
from research.extrinsic import percent
from research.findings import Finding
from victor_spark.evaluation import measures
from victor_spark.evaluation.measures import Quality

Rows: TypeAlias = Mapping[str, Sequence[Finding]]
"""Cleaner → its result on each page."""

BP, JTA, JTS, NC = (published.TOOLS[tool] for tool in ("BP", "JTA", "JTS", "NC"))
_SINGLE: Final = tuple(published.TOOLS.values())
_PAIR: Final = f"{BP}+{JTA}"
_NC_PAIRS: Final = (f"{BP}+{NC}", f"{NC}+{BP}", f"{JTA}+{NC}", f"{NC}+{JTA}", f"{JTS}+{NC}", f"{NC}+{JTS}")


@dataclass(frozen=True, slots=True)
class Claim:
    """A conclusion, the cleaners it is about, and a function: (the figures here, whether it holds)."""

    text: str
    cleaners: tuple[str, ...]
    check: Callable[[Rows, Collection[str]], tuple[str, bool]]


def tried(rows: Rows, relevant: Collection[str]) -> Iterator[tuple[str, str, bool]]:
    """Text, figures, whether it holds, for every claim about cleaners that are there."""
    for claim in CLAIMS:
        if all(rows.get(name) for name in claim.cleaners):
            yield claim.text, *claim.check(rows, relevant)


def micro(found: Sequence[Finding], measure: str, language: str | None = None) -> Quality:
    """The quality of all pages taken as one."""
    return measures.micro(row.overlaps[measure] for row in found if language in {None, row.language})


def _order(measure: str, rows: Rows, _: Collection[str]) -> tuple[str, bool]:
    f1 = {name: micro(rows[name], published.MEASURES[measure]).f1 for name in (BP, JTA, JTS, NC)}
    holds = f1[BP] > max(f1[JTA], f1[JTS]) and min(f1[JTA], f1[JTS]) > f1[NC]
    return _figures(f1), holds


def _precise(rows: Rows, _: Collection[str]) -> tuple[str, bool]:
    precision = {name: micro(rows[name], "TO").precision for name in _SINGLE}
    return _figures(precision), max(precision, key=precision.__getitem__) == NC


def _low_recall(rows: Rows, _: Collection[str]) -> tuple[str, bool]:
    recall = {name: micro(rows[name], "TO").recall for name in (BP, JTA, JTS, NC)}
    return _figures(recall), recall[NC] < 0.5 < min(recall[name] for name in (BP, JTA, JTS))


def _nothing_found(rows: Rows, relevant: Collection[str]) -> tuple[str, bool]:
    own = [row for row in rows[NC] if row.language in {"el", "ru", "zh"}]
    counts = extrinsic.counts(own, relevant)
    n_relevant = counts.true_positives + counts.false_negatives
    return f"{counts.true_positives} of {n_relevant} found", counts.true_positives == 0


def _same(rows: Rows, _: Collection[str]) -> tuple[str, bool]:
    with_list, without = (micro(rows[name], "TO", "zh") for name in (JTA, JTS))
    return _figures({JTA: with_list.f1, JTS: without.f1}), with_list == without


def _far_above(rows: Rows, _: Collection[str]) -> tuple[str, bool]:
    f1 = {name: micro(rows[name], "CHA", "zh").f1 for name in (BP, JTA)}
    return _figures(f1), f1[BP] > f1[JTA] + 0.1


def _trade(rows: Rows, _: Collection[str]) -> tuple[str, bool]:
    pair, alone = (micro(rows[name], "TO") for name in (_PAIR, BP))
    figures = "; ".join(
        f"`{name}` P {percent(each.precision)} R {percent(each.recall)}"
        for name, each in ((BP, alone), (_PAIR, pair))
    )
    return figures, pair.precision > alone.precision and pair.recall < alone.recall


def _poor_pairs(rows: Rows, _: Collection[str]) -> tuple[str, bool]:
    f1 = {name: micro(rows[name], "TO").f1 for name in _NC_PAIRS}
    best = max(f1, key=f1.__getitem__)
    alone = micro(rows[BP], "TO").f1
    return _figures({BP: alone, best: f1[best]}), f1[best] < alone


def _useful_pair(rows: Rows, relevant: Collection[str]) -> tuple[str, bool]:
    f1 = {name: extrinsic.counts(rows[name], relevant).f1 or 0.0 for name in (BP, _PAIR)}
    return _figures(f1), f1[_PAIR] > f1[BP]


def _other_winner(rows: Rows, relevant: Collection[str]) -> tuple[str, bool]:
    names = [name for name in published.TABLE_7 if rows.get(name) and name != extrinsic.REFERENCE]
    f1 = {name: extrinsic.counts(rows[name], relevant).f1 or 0.0 for name in names}
    intrinsic = max(names, key=lambda name: micro(rows[name], "TO").f1)
    best = max(f1, key=f1.__getitem__)
    return f"TO: `{intrinsic}`; epidemics: {_figures({best: f1[best]})}", best != intrinsic


def _figures(figures: Mapping[str, float]) -> str:
    return "; ".join(f"`{name}` {percent(value)}" for name, value in figures.items())


CLAIMS: Final = (
    *(
        Claim(f"BP > JTA, JTS > NC in F1 ({measure})", (BP, JTA, JTS, NC), partial(_order, measure))
        for measure in published.MEASURES
    ),
    Claim("NC has the highest precision of all tools (TO)", _SINGLE, _precise),
    Claim("NC has a low recall (TO)", (BP, JTA, JTS, NC), _low_recall),
    Claim(
        "On what NC leaves of Greek, Russian and Chinese pages, no epidemic is found", (NC,), _nothing_found
    ),
    Claim("Chinese has no stop list: JTA = JTS in F1 (TO)", (JTA, JTS), _same),
    Claim("BP is far above JusText on Chinese in F1 (CHA)", (BP, JTA), _far_above),
    Claim("BP–JTA has a higher precision and a lower recall than BP (TO)", (BP, _PAIR), _trade),
    Claim("Pairs with NC are poorer than BP in F1 (TO)", (BP, *_NC_PAIRS), _poor_pairs),
    Claim(
        "On what BP–JTA leaves, epidemics are found better (F1) than on what BP leaves",
        (BP, _PAIR),
        _useful_pair,
    ),
    Claim("The best tool by content is not the best by task (F1)", (BP, JTA, JTS, NC, _PAIR), _other_winner),
)
