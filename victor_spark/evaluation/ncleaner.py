"""NCleaner from annotated pages: what it learns from, how good it is on others, and its model card."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from victor_spark.blocks import Page, Scores
from victor_spark.evaluation import card, cross_validation, gold, labelling
from victor_spark.evaluation.cross_validation import PageResult
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.summary import ALL
from victor_spark.train.ncleaner import Example

HELD_OUT: Final = "dev"
"""Pages of this split are never learnt from."""


@dataclass(slots=True)
class Lesson:
    """Examples, and how many pages of each set they are."""

    examples: list[Example] = field(default_factory=list)
    n_by_set: dict[str, int] = field(default_factory=dict)


def training_pages(pages: Iterable[GoldPage]) -> list[GoldPage]:
    """The pages that may be learnt from, in an order that no file decides: by hash of their ids."""
    usable = [page for page in pages if gold.usable(page) and page.split != HELD_OUT]
    return sorted(usable, key=lambda page: hashlib.sha256(f"{page.set} {page.id}".encode()).hexdigest())


def lesson(pages: Iterable[GoldPage], n_pairs: int | None = None) -> Lesson:
    """The first `n_pairs` (None: all) of the pages whose html holds their gold, labelled."""
    learnt = Lesson()
    for page in filter(labelling.trainable, map(labelling.label, pages)):
        learnt.examples.append(Example(page.page.blocks, page.labels, page.site))
        learnt.n_by_set[page.gold.set] = learnt.n_by_set.get(page.gold.set, 0) + 1
        if len(learnt.examples) == n_pairs:
            break
    return learnt


def judge(pages: Iterable[GoldPage], cleaner: Callable[[Page], Scores]) -> Iterator[PageResult]:
    """What the cleaner keeps of each page, against its gold."""
    for page in map(labelling.label, pages):
        yield cross_validation.result(page, cleaner(page.page))


def write_card(name: str, metrics: Mapping[str, Any]) -> str:
    """The model card, from what `victor train ncleaner` puts into metrics.json."""
    alphabet = "its letters told apart" if metrics["lexical"] else "all letters `a`, all digits `0`"
    decision = "its length weighed in" if metrics["calibrated"] else "nothing else weighed in"
    lines = [
        f"# {name}",
        "",
        (
            f"Character trigram models of clean and of dirty text, {alphabet}, after NCleaner (Evert 2008) "
            "as Lejeune and Zhu (2018) describe it. A paragraph is kept when its characters are likelier in "
            f"clean text, {decision}. Trained with `{metrics['command']}`."
        ),
        "",
        card.training_data(metrics),
        "",
        "## Quality on pages it has not seen",
        "",
        *_quality(metrics["held_out"]),
        "",
        "## Limits",
        "",
        _LIMITS,
    ]
    return "\n".join(lines) + "\n"


def _quality(rows: Mapping[str, Mapping[str, Any]]) -> Sequence[str]:
    if not rows:
        return ["Not measured: no page of the data is held out."]
    n_sites = rows[ALL]["n_sites"]
    lines = [
        (
            f"Pages of the split `{HELD_OUT}`, of {n_sites} sites that it has not seen. Word F1 is the mean "
            "over pages, its interval a bootstrap over sites."
        ),
        "",
        "| set | pages | word F1 | 95 % interval | precision | recall | empty |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        words, means = row["word_f1"], row["words_macro"]
        lines.append(
            f"| {name} | {row['n_pages']} | {words['mean']:.3f} | {words['low']:.3f} – {words['high']:.3f} | "
            f"{means['precision']:.3f} | {means['recall']:.3f} | {row['empty_ratio']:.3f} |"
        )
    return lines


_LIMITS: Final = """\
No markup is looked at, and every paragraph is judged by itself. A language or script that the training pages
lack is judged by its length, spaces and punctuation."""
