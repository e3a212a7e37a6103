"""One page and some cleaners → a measurement each: the overlap of output and gold, and processor time."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np

from victor_spark import pipeline, words
from victor_spark.blocks import OTHER, Float64, UInt8, labels
from victor_spark.document import Document
from victor_spark.errors import InputError, UsageError, choices
from victor_spark.evaluation import cleaneval, gold, labelling, measures
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.labelling import LabelledPage
from victor_spark.evaluation.measures import Counts, Overlap
from victor_spark.extractors import models_of
from victor_spark.preparation import handed_over
from victor_spark.settings import Settings

BLOCKS: Final = "blocks"
"""Victor's block measures; all others are overlaps of two texts."""

SNIPPETS: Final = "snippets"


@dataclass(frozen=True, slots=True)
class Output:
    """The output of a cleaner for a page: text, the same with markup, and the document if it has blocks."""

    status: str
    reason: str | None
    text: str
    marked: str
    document: Document | None = None


Clean: TypeAlias = Callable[[GoldPage], Output]


@dataclass(frozen=True, slots=True)
class Measurement:
    """The measures of a cleaner's output for a page.

    `status` is that of the document; any but "ok" counts as empty, any but "ok" and "empty" is a
    failure. `seconds` is processor time. `blocks` and `scored` (P(other) and the annotated label of
    each block) are None if the labels of the page are not reliable.
    """

    id: str
    set: str
    site: str
    language: str | None
    page_type: str | None
    cleaner: str
    status: str
    reason: str | None = None
    seconds: float = 0.0
    n_characters: int = 0
    overlaps: Mapping[str, Overlap] = field(default_factory=dict)
    blocks: Counts | None = None
    scored: tuple[Float64, UInt8] | None = None

    @property
    def is_failure(self) -> bool:
        """Whether the cleaner failed on this page, instead of finding content or none."""
        return self.status not in {"ok", "empty"}


@dataclass(frozen=True, slots=True)
class Plan:
    """The cleaners with their models, the folders and the measures that a process measures pages with.

    `cleaned` are folders of texts that other tools cleaned, evaluated as cleaners of that name.
    """

    cleaners: tuple[str, ...]
    cleaned: tuple[str, ...]
    measures: tuple[str, ...]
    models: Mapping[str, Mapping[str, bytes]]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of cleaners and folders, in order."""
        return (*self.cleaners, *self.cleaned)


def plan(
    cleaners: Sequence[str], cleaned: Sequence[str], wanted: Sequence[str], model: str | None = None
) -> Plan:
    """Checks names and folders and reads the models; UsageError, InputError or ModelError where these fail.

    `model` is a directory that replaces the model of the one cleaner that has one.
    """
    names = tuple(dict.fromkeys(cleaners))
    if not names and not cleaned:
        raise UsageError("nothing to evaluate: add --cleaner NAME..., --model DIR or --cleaned FOLDER...")
    if unknown := [name for name in wanted if name not in MEASURES]:
        raise UsageError(f"no measure {unknown[0]!r}{choices(unknown[0], MEASURES)}")
    for folder in cleaned:
        if not Path(folder).is_dir():
            raise InputError(f"--cleaned {folder}: not a directory")
        gold.texts(Path(folder))
    fitting = [name for name in names if len(models_of(name)) == 1] if model else []
    if model and len(fitting) != 1:
        found = ", ".join(fitting) or "none"
        raise UsageError(f"--model {model} needs one cleaner with a model in --cleaner, not {found}")
    settings = (Settings(name, model=model if name in fitting else None) for name in names)
    models = {each.cleaner: pipeline.models(each) for each in settings}
    return Plan(names, tuple(dict.fromkeys(cleaned)), tuple(wanted) or tuple(MEASURES), models)


def measurer(plan: Plan) -> Callable[[GoldPage, int], Iterator[Measurement]]:
    """Builds the function (page, first) → a measurement for every name from number `first` on."""
    cleaners = list(cleaners_of(plan).items())

    def measure(page: GoldPage, first: int) -> Iterator[Measurement]:
        is_labelled = BLOCKS in plan.measures and page.gold is not None and page.html
        labelled = labelling.label(page) if is_labelled else None
        for name, clean in cleaners[first:]:
            started = time.process_time()
            output = clean(page)
            seconds = time.process_time() - started
            yield _measurement(page, labelled, name, output, seconds, plan)

    return measure


def cleaners_of(plan: Plan) -> dict[str, Clean]:
    """The cleaners and folders of the plan, by name, in order."""
    ours = {name: cleaner(name, plan.models[name]) for name in plan.cleaners}
    return ours | {folder: folder_cleaner(Path(folder)) for folder in plan.cleaned}


def cleaner(name: str, models: Mapping[str, bytes]) -> Clean:
    """A cleaner of ours, a peer or a cascade, as the pipeline runs it, from html to document."""
    run = pipeline.cleaning(Settings(name), models)
    run(handed_over(b"<p>The first page loads resources.</p>", None))

    def clean(page: GoldPage) -> Output:
        document = run(handed_over(page.html.encode("utf-8", "replace"), page.url, "utf-8"))
        return Output(document.status, document.reason, document.text, document.render("cleaneval"), document)

    return clean


def folder_cleaner(folder: Path) -> Clean:
    """Texts that another tool cleaned, with or without CleanEval's markers, found by the stem of the page."""
    files = gold.texts(folder)

    def clean(page: GoldPage) -> Output:
        path = files.get(gold.stem(page.id))
        if path is None:
            return Output("error", f"no text of this page in {folder}", "", "")
        content = gold.read_text(path)
        marked = content if cleaneval.is_marked(content) else cleaneval.from_text(content)
        text = cleaneval.to_text(marked)
        return Output("ok" if text else "empty", None, text, marked)

    return clean


def failed(plan: Plan, page: GoldPage, row: int, status: str, reason: str) -> Measurement:
    """The measurement where a cleaner returned nothing, not even a status: an empty output."""
    return _measurement(page, None, plan.names[row], Output(status, reason, "", ""), 0.0, plan)


def _measurement(
    page: GoldPage, labelled: LabelledPage | None, name: str, output: Output, seconds: float, plan: Plan
) -> Measurement:
    counts, scored = _blocks(labelled, output)
    known = output.document or (labelled.page if labelled else None)
    overlaps: dict[str, Overlap] = {}
    for names, compare in _FAMILIES.items():
        if any(each in plan.measures for each in names):
            overlaps |= compare(output, page)
    return Measurement(
        id=page.id,
        set=page.set,
        site=gold.site(page),
        language=page.language or (known.language if known else None),
        page_type=page.meta.get("page_type"),
        cleaner=name,
        status=output.status,
        reason=output.reason,
        seconds=seconds,
        n_characters=len(output.text),
        overlaps={each: overlaps[each] for each in plan.measures if each in overlaps},
        blocks=counts,
        scored=scored,
    )


def _blocks(
    labelled: LabelledPage | None, output: Output
) -> tuple[Counts, tuple[Float64, UInt8]] | tuple[None, None]:
    """`blocks` and `scored`; a document that failed counts as one with every block dropped."""
    document = output.document
    if labelled is None or not labelling.trainable(labelled):
        return None, None
    n_blocks = len(labelled.labels)
    if document is not None and document.n_blocks == n_blocks:
        decided, p_other = labels(document.scores, document.kept), document.scores.probabilities[:, OTHER]
    elif document is None and output.status in {"ok", "empty"}:
        return None, None
    else:
        decided, p_other = np.full(n_blocks, OTHER, np.uint8), np.ones(n_blocks)
    return measures.block_counts(decided, labelled.labels), (p_other, labelled.labels)


def _bag_overlap(output: Output, page: GoldPage) -> dict[str, Overlap]:
    if page.gold is None:
        return {}
    found, wanted = _words(output.text), _words(page.gold)
    shingles = measures.overlap(measures.shingles(found), measures.shingles(wanted))
    return {"words": measures.overlap(found, wanted), "shingles": shingles}


def _rouge_overlap(output: Output, page: GoldPage) -> dict[str, Overlap]:
    if page.gold is None:
        return {}
    found, wanted = _words(output.text), _words(page.gold)
    return {"rouge-l": Overlap(words.subsequence(found, wanted), len(found), len(wanted))}


def _snippet_overlap(output: Output, page: GoldPage) -> dict[str, Overlap]:
    """Wanted snippets that are in the text, and unwanted ones that are; white space is normalised."""
    must, must_not = (page.meta.get(key) or () for key in ("with", "without"))
    if not must and not must_not:
        return {}
    text = " ".join(output.text.split())
    n_right, n_wrong = (sum(" ".join(each.split()) in text for each in rows) for rows in (must, must_not))
    return {SNIPPETS: Overlap(n_right, n_right + n_wrong, len(must))}


def _cleaneval_overlap(
    compare: Callable[[str, str], dict[str, Overlap]], output: Output, page: GoldPage
) -> dict[str, Overlap]:
    wanted = gold.marked(page)
    return {} if wanted is None else compare(output.marked, wanted)


@lru_cache(maxsize=4)
def _words(text: str) -> tuple[str, ...]:
    return tuple(words.words(text))


_FAMILIES: Final[Mapping[tuple[str, ...], Callable[[Output, GoldPage], dict[str, Overlap]]]] = {
    ("words", "shingles"): _bag_overlap,
    ("rouge-l",): _rouge_overlap,
    ("TO",): partial(_cleaneval_overlap, cleaneval.text_overlap),
    ("TM", "TM-tags"): partial(_cleaneval_overlap, partial(cleaneval.markup_overlap, labelled=True)),
    ("IU", "IU-tags"): partial(_cleaneval_overlap, partial(cleaneval.markup_overlap, labelled=False)),
    ("CHA", "CHA-4"): partial(_cleaneval_overlap, cleaneval.character_overlap),
    (SNIPPETS,): _snippet_overlap,
}
"""Measures that are computed together → the function."""

MEASURES: Final = (*(name for names in _FAMILIES for name in names), BLOCKS)
"""The names of all measures."""
