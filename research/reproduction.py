"""The content of docs/evaluation.md: our figures for Lejeune and Zhu (2018), with theirs in brackets."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Final

from research import FOLDER, claims, daniel, extrinsic, published, wrong_words, zones
from research.extrinsic import REFERENCE, percent
from research.findings import Finding
from research.published import Triple
from victor_spark.evaluation import measures
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.measures import Quality
from victor_spark.extractors import MODELS, models_of
from victor_spark.resources import directory

_NAMES: Final = {
    "en": "English",
    "zh": "Chinese",
    "el": "Greek",
    "pl": "Polish",
    "ru": "Russian",
    "all": "All",
}
_LETTERS: Final = "abcde"
_SETS: Final = ("daniel", "cleaneval-dev")
_CLEANEVAL: Final = ("TO", "TM", "IU", "CHA", "CHA-4")


@dataclass(frozen=True, slots=True)
class Measured:
    """Pages, the results of every cleaner, and the ids of the pages that report an epidemic."""

    pages: tuple[GoldPage, ...]
    rows: Mapping[str, Sequence[Finding]]
    relevant: Collection[str]


def sections(daniel_set: Measured, cleaneval_set: Measured) -> dict[str, str]:
    """Name of the section → Markdown."""
    return {
        "pages": _pages(daniel_set, cleaneval_set),
        "training pages": _training_pages(daniel_set),
        "claims": _claims(daniel_set),
        "ncleaner": _wrong_words(daniel_set),
        "table 5": _table_5(daniel_set),
        "table 6": _table_6(daniel_set),
        "table 7": _table_7(daniel_set),
        "zones": zones_section(daniel_set),
        "cleaneval": _cleaneval(cleaneval_set),
    }


def macro(found: Iterable[Finding], measure: str) -> Quality:
    """Means over pages."""
    return measures.macro(row.overlaps[measure] for row in found)


def _pages(tested: Measured, cleaneval: Measured) -> str:
    n = Counter(page.language for page in tested.pages)
    n_relevant = Counter(page.language for page in tested.pages if page.id in tested.relevant)
    rows = [[_NAMES[code], str(n[code]), str(n_relevant[code])] for code in daniel.LANGUAGES]
    rows.append(["All", str(n.total()), str(n_relevant.total())])
    failed = Counter(row.failure.partition(":")[0] for row in next(iter(tested.rows.values())) if row.failure)
    lost = [f"{n} pages that no cleaner sees count as empty ({why})." for why, n in failed.items()]
    table = markdown(["language", "pages", "relevant"], rows)
    return "\n\n".join([table, *lost, f"CleanEval-dev: {len(cleaneval.pages)} pages."])


def _training_pages(tested: Measured) -> str:
    """How many of the pages each model was trained on, from its metrics.json."""
    rows = []
    for name in tested.rows:
        for folder in models_of(name) if name in MODELS else ():
            model = directory("models") / folder
            path = model / "metrics.json"
            known = json.loads(path.read_text(encoding="utf-8"))["training_pages"] if path.is_file() else None
            numbers = ["unknown" if known is None else str(known.get(own, 0)) for own in _SETS]
            rows.append([f"`{name}`", f"`{_in_checkout(folder)}`", *numbers])
    return markdown(["cleaner", "model", *(f"trained on, of {own}" for own in _SETS)], rows)


def _in_checkout(folder: str) -> str:
    """The path of a model from the root of the checkout: research names its own models by absolute paths."""
    path = Path("models", folder)
    return str(path.relative_to(FOLDER.parent) if path.is_absolute() else path)


def _wrong_words(tested: Measured) -> str:
    """The words that NCleaner keeps of English pages, the language that it is trained on, by kind."""
    english = [page for page in tested.pages if page.language == "en"]
    n_words = wrong_words.count(english, claims.NC)
    total = max(1, sum(n_words.values()))
    body = [[kind, str(n), percent(n / total)] for kind, n in n_words.items()]
    return markdown([f"words that `{claims.NC}` keeps of the {len(english)} English pages", "n", "%"], body)


def _table_5(tested: Measured) -> str:
    return _intrinsic(tested.rows, published.TABLE_5)


def _table_6(tested: Measured) -> str:
    rows = {name: own for name, own in tested.rows.items() if "+" not in name or name in published.TABLE_5}
    parts = []
    for letter, code in zip(_LETTERS, published.TABLE_6, strict=True):
        n = sum(page.language == code for page in tested.pages)
        table = _intrinsic(rows, published.TABLE_6[code], code)
        parts.append(f"#### ({letter}) {_NAMES[code]}, {n} pages\n\n{table}")
    return "\n\n".join(parts)


def _intrinsic(
    rows: Mapping[str, Sequence[Finding]],
    theirs: Mapping[str, Mapping[str, Triple]],
    language: str | None = None,
) -> str:
    head = [
        "",
        *(f"{measure} {part}" for measure in published.MEASURES for part in ("P", "R", "F1")),
        "empty",
    ]
    body = []
    for name, found in rows.items():
        own = [row for row in found if language in {None, row.language}]
        if name == REFERENCE or not own:
            continue
        cells = [
            cell
            for measure, ours in published.MEASURES.items()
            for cell in _beside(claims.micro(own, ours), theirs.get(name, {}).get(measure))
        ]
        body.append([f"`{name}`", *cells, str(sum(row.is_empty for row in own))])
    return markdown(head, body)


def _beside(quality: Quality, theirs: Triple | None) -> Iterator[str]:
    figures = theirs or (None, None, None)
    for ours, figure in zip(astuple(quality), figures, strict=True):
        yield percent(ours) if figure is None else f"{percent(ours)} ({figure:.1f})"


def _table_7(tested: Measured) -> str:
    table = {name: extrinsic.by_language(found, tested.relevant) for name, found in tested.rows.items()}
    columns = list(table[REFERENCE])
    head = ["", *(f"{_NAMES[column]} {part}" for column in columns for part in ("P", "R", "F1"))]
    shares = []
    for name, row in table.items():
        theirs = published.TABLE_7.get(name)
        cells = [f"`{name}`"]
        for column, own in row.items():
            figures = theirs[column] if theirs else None
            for at, ours in enumerate((own.precision, own.recall, own.f1)):
                beside = "" if figures is None else f" ({_plain(figures[at])})"
                cells.append(percent(ours) + beside)
        shares.append(cells)
    counts = [
        [f"`{name}`", *("/".join(map(str, astuple(own))) for own in row.values())]
        for name, row in table.items()
    ]
    tallies = markdown(["TP/FP/FN/TN", *(_NAMES[column] for column in columns)], counts)
    return f"{markdown(head, shares)}\n\n{tallies}"


def zones_section(tested: Measured) -> str:
    """The quality of the classifier on texts that lack paragraphs."""
    names = [name for name in (claims.BP, REFERENCE) if name in tested.rows]
    body = [
        [f"`{name}`", form, percent(own.precision), percent(own.recall), percent(own.f1)]
        for name in names
        for form, own in zones.by_form(tested.pages, None if name == REFERENCE else name).items()
    ]
    return markdown(["", "text", "P", "R", "F1"], body)


def _plain(figure: float | None) -> str:
    return "N/A" if figure is None else f"{figure:.1f}"


def _cleaneval(tested: Measured) -> str:
    head = ["", *(f"{measure} {part}" for measure in _CLEANEVAL for part in ("P", "R", "F1"))]
    body = []
    for name, found in tested.rows.items():
        if name != REFERENCE:
            cells = [cell for measure in _CLEANEVAL for cell in _beside(macro(found, measure), None)]
            body.append([f"`{name}`", *cells])
    return markdown(head, body)


def _claims(tested: Measured) -> str:
    """The conclusions of the paper, and whether our figures confirm them."""
    body = [
        [claim, figures, "yes" if holds else "**no**"]
        for claim, figures, holds in claims.tried(tested.rows, tested.relevant)
    ]
    return markdown(["the paper's conclusion", "here", "holds"], body, numbers=False)


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = True) -> str:
    """A table, its columns but the first flush right where they are numbers."""
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    return "\n".join(
        [lines[0], "|---" + ("|---:" if numbers else "|---") * (len(head) - 1) + "|", *lines[1:]]
    )
