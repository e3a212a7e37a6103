"""Pages and cleaners → the overlap of each output with the gold, and whether it reports an epidemic."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from research import daniel, ncleaners
from research.daniel import Evidence
from victor_spark import pipeline
from victor_spark.evaluation import cleaneval, contained, gold, measuring
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.measures import Overlap
from victor_spark.evaluation.measuring import Output
from victor_spark.extractors import models_of
from victor_spark.settings import Settings

SECONDS: Final = 120.0
"""How long a cleaner may take for one page, its measures included."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one cleaner on one page. If the cleaner fails, it has no text, and a `failure`."""

    cleaner: str
    id: str
    set: str
    language: str
    failure: str | None = None
    is_empty: bool = True
    overlaps: Mapping[str, Overlap] = field(default_factory=dict)
    evidence: Evidence = daniel.NONE


@dataclass(frozen=True, slots=True)
class Plan:
    """The cleaners of a process, their models, and whether overlaps are wanted. All fields pickle.

    `variants` are cleaners with another model than their own: name of the row → name of the cleaner.
    """

    cleaners: tuple[str, ...]
    models: Mapping[str, Mapping[str, bytes]]
    intrinsic: bool
    variants: Mapping[str, str] = field(default_factory=dict)


def plan(cleaners: Sequence[str], *, intrinsic: bool) -> Plan:
    """Reads the models; UsageError or ModelError for a cleaner that can't be loaded."""
    ncleaners.add()
    names = tuple(dict.fromkeys(cleaners))
    return Plan(names, {name: pipeline.models(Settings(name)) for name in names}, intrinsic)


def with_model(plan: Plan, row: str, cleaner: str, model: bytes) -> Plan:
    """The plan with one more row: a cleaner that has a single model, with this one instead of its own."""
    (folder,) = models_of(cleaner)
    return replace(
        plan,
        cleaners=(*plan.cleaners, row),
        models={**plan.models, row: {**pipeline.models(Settings(cleaner)), folder: model}},
        variants={**plan.variants, row: cleaner},
    )


def find(pages: Iterable[GoldPage], plan: Plan, *, n_jobs: int) -> Iterator[Finding]:
    """A finding for every page and cleaner, pages in any order, in child processes that may fail or hang."""
    work = contained.Work(
        make=partial(_finder, plan),
        n_steps=len(plan.cleaners),
        failed=partial(_failed, plan),
        seconds=SECONDS,
    )
    return contained.results(pages, work, n_jobs=n_jobs)


def _finder(plan: Plan) -> Callable[[GoldPage, int], Iterator[Finding]]:
    ncleaners.add()
    cleaners = {
        row: measuring.cleaner(plan.variants.get(row, row), plan.models[row]) for row in plan.cleaners
    }

    def every(page: GoldPage, first: int) -> Iterator[Finding]:
        for name in plan.cleaners[first:]:
            yield _finding(page, name, cleaners[name](page), intrinsic=plan.intrinsic)

    return every


def _failed(plan: Plan, page: GoldPage, row: int, status: str, reason: str) -> Finding:
    return _finding(page, plan.cleaners[row], Output(status, reason, "", ""), intrinsic=plan.intrinsic)


def _finding(page: GoldPage, name: str, output: Output, *, intrinsic: bool) -> Finding:
    failed = output.status not in {"ok", "empty"}
    return Finding(
        cleaner=name,
        id=page.id,
        set=page.set,
        language=page.language or "",
        failure=f"{output.status}: {output.reason}" if failed else None,
        is_empty=not output.text,
        overlaps=overlaps(output.marked, gold.marked(page) or "") if intrinsic else {},
        evidence=evidence(page, output.text),
    )


def overlaps(ours: str, wanted: str) -> dict[str, Overlap]:
    """The CleanEval measures of marked text: TO, TM, IU, CHA."""
    return {
        **cleaneval.text_overlap(ours, wanted),
        **cleaneval.markup_overlap(ours, wanted, labelled=True),
        **cleaneval.markup_overlap(ours, wanted, labelled=False),
        **cleaneval.character_overlap(ours, wanted),
    }


def evidence(page: GoldPage, text: str) -> Evidence:
    """The answer of the classifier for the text; NONE if the page's language has no lexicon."""
    if page.language not in daniel.LANGUAGES:
        return daniel.NONE
    return daniel.classify(text, daniel.lexicon(page.language))
