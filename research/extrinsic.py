"""The effect of cleaning on a later task: epidemics found in pages that each cleaner cleaned (Table 7)."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, astuple, dataclass
from typing import Any, Final, TypeAlias

from research import daniel, findings
from research.findings import Finding
from victor_spark.errors import InputError
from victor_spark.evaluation import gold
from victor_spark.evaluation.gold import GoldPage

REFERENCE: Final = "reference"
"""Name of the row for the gold cleaning."""
ALL: Final = "all"
COLUMNS: Final = (*daniel.LANGUAGES, ALL)
_NAMES: Final = {"en": "English", "zh": "Chinese", "el": "Greek", "pl": "Polish", "ru": "Russian", ALL: "All"}


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of pages by the answer of the classifier and the annotation."""

    true_positives: int = 0
    false_positives: int = 0
    false_negatives: int = 0
    true_negatives: int = 0

    @property
    def n_pages(self) -> int:
        """All of them."""
        return sum(astuple(self))

    @property
    def precision(self) -> float | None:
        """The share of relevant pages among those found; None without true positives, as in the paper."""
        return self._share(self.false_positives)

    @property
    def recall(self) -> float | None:
        """The share of the relevant pages that are found; None where there are none."""
        n_relevant = self.true_positives + self.false_negatives
        return self.true_positives / n_relevant if n_relevant else None

    @property
    def f1(self) -> float | None:
        """Their harmonic mean; None without true positives."""
        return self._share((self.false_positives + self.false_negatives) / 2)

    def _share(self, n_wrong: float) -> float | None:
        return self.true_positives / (self.true_positives + n_wrong) if self.true_positives else None


def labelled(pages: Iterable[GoldPage]) -> list[GoldPage]:
    """The pages that can be tested: with an epidemic label and a language that has a lexicon.

    Raises InputError where there is none.
    """
    chosen = [page for page in pages if gold.usable(page) and _wanted(page) is not None]
    chosen = [page for page in chosen if page.language in daniel.LANGUAGES]
    if not chosen:
        raise InputError(
            "no gold page has meta.epidemic.relevant, gold text and one of the languages "
            + ", ".join(daniel.LANGUAGES)
        )
    return chosen


def _wanted(page: GoldPage) -> bool | None:
    label = page.meta.get("epidemic")
    relevant = label.get("relevant") if isinstance(label, dict) else None
    return relevant if isinstance(relevant, bool) else None


def reference(pages: Iterable[GoldPage]) -> list[Finding]:
    """The answers of the classifier for the gold texts."""
    return [_of_gold(page) for page in pages]


def _of_gold(page: GoldPage) -> Finding:
    text = page.gold or ""
    evidence = findings.evidence(page, text)
    return Finding(REFERENCE, page.id, page.set, page.language or "", is_empty=not text, evidence=evidence)


def relevant(pages: Iterable[GoldPage]) -> set[str]:
    """The ids of the pages that do report an epidemic."""
    return {page.id for page in pages if _wanted(page)}


def by_language(found: Iterable[Finding], wanted: Collection[str]) -> dict[str, Counts]:
    """Language → counts, in the order of Table 7; the last, `all`, is over all pages.

    `wanted` are the ids of the relevant pages.
    """
    rows = list(found)
    return {
        column: counts([row for row in rows if column in (row.language, ALL)], wanted)
        for column in COLUMNS
        if column == ALL or any(row.language == column for row in rows)
    }


def counts(found: Iterable[Finding], wanted: Collection[str]) -> Counts:
    """True and false positives and negatives."""
    kinds = [(row.evidence.relevant, row.id in wanted) for row in found]
    return Counts(
        *(kinds.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False)))
    )


Table: TypeAlias = Mapping[str, Mapping[str, Counts]]
"""Cleaner → language → counts."""


def figures(table: Table) -> dict[str, dict[str, dict[str, Any]]]:
    """Counts and percentages as plain dicts, ready for JSON."""
    return {
        cleaner: {
            language: {**asdict(own), "precision": own.precision, "recall": own.recall, "f1": own.f1}
            for language, own in row.items()
        }
        for cleaner, row in table.items()
    }


def lines(table: Table) -> str:
    """Table 7 as text: percentages of each cleaner by language, then the counts they come from."""
    columns = list(next(iter(table.values()), ()))
    width = max(map(len, table), default=0) + 2
    head = " " * width + "".join(f"{_NAMES.get(column, column):^21}" for column in columns)
    marks = " " * width + "".join(f"{'P':>6}{'R':>7}{'F1':>7} " for _ in columns)
    rows = [
        f"{cleaner:<{width}}" + "".join(map(_percentages, row.values())) for cleaner, row in table.items()
    ]
    tallies = [f"{cleaner:<{width}}" + "".join(map(_tally, row.values())) for cleaner, row in table.items()]
    note = " " * width + "".join(f"{'TP/FP/FN/TN':^21}" for _ in columns)
    return "\n".join(line.rstrip() for line in (head, marks, *rows, "", note, *tallies))


def percent(share: float | None) -> str:
    """A share as the paper prints it, in percent; N/A where there is none."""
    return "N/A" if share is None else f"{100 * share:.1f}"


def _percentages(own: Counts) -> str:
    return f"{percent(own.precision):>6}{percent(own.recall):>7}{percent(own.f1):>7} "


def _tally(own: Counts) -> str:
    return f"{'/'.join(map(str, astuple(own))):^21}"
