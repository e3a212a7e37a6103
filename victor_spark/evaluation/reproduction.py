"""What is in docs/evaluation.md: the tables of Lejeune and Zhu (2018) computed here, theirs in brackets."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Final

from victor_spark.evaluation import daniel, extrinsic, measures, published
from victor_spark.evaluation.extrinsic import REFERENCE, percent
from victor_spark.evaluation.findings import Finding
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.measures import Quality
from victor_spark.evaluation.published import Triple

_NAMES: Final = {
    "en": "English",
    "zh": "Chinese",
    "el": "Greek",
    "pl": "Polish",
    "ru": "Russian",
    "all": "All",
}
_LETTERS: Final = "abcde"
_CLEANEVAL: Final = ("TO", "TM", "IU", "CHA", "CHA-4")


@dataclass(frozen=True, slots=True)
class Judged:
    """Pages, what every cleaner made of them, and which of them report an epidemic."""

    pages: tuple[GoldPage, ...]
    rows: Mapping[str, Sequence[Finding]]
    relevant: Collection[str]


def sections(daniel_set: Judged, cleaneval_set: Judged) -> dict[str, str]:
    """Name of the section → Markdown."""
    return {
        "pages": _pages(daniel_set, cleaneval_set),
        "claims": _claims(daniel_set),
        "table 5": _table_5(daniel_set),
        "table 6": _table_6(daniel_set),
        "table 7": _table_7(daniel_set),
        "cleaneval": _cleaneval(cleaneval_set),
    }


def micro(found: Iterable[Finding], measure: str) -> Quality:
    """The quality of all pages taken as one."""
    return measures.micro(row.overlaps[measure] for row in found)


def macro(found: Iterable[Finding], measure: str) -> Quality:
    """Means over pages."""
    return measures.macro(row.overlaps[measure] for row in found)


def _pages(judged: Judged, cleaneval: Judged) -> str:
    n = Counter(page.language for page in judged.pages)
    n_relevant = Counter(page.language for page in judged.pages if page.id in judged.relevant)
    rows = [[_NAMES[code], str(n[code]), str(n_relevant[code])] for code in daniel.LANGUAGES]
    rows.append(["All", str(n.total()), str(n_relevant.total())])
    failed = Counter(row.failure.partition(":")[0] for row in judged.rows[_first(judged)] if row.failure)
    lost = "".join(
        f" {times} pages count as empty for every cleaner: {why}." for why, times in failed.items()
    )
    return (
        f"{markdown(['language', 'pages', 'relevant'], rows)}\n\n"
        f"CleanEval-dev: {len(cleaneval.pages)} pages.{lost}"
    )


def _first(judged: Judged) -> str:
    return next(iter(judged.rows))


def _table_5(judged: Judged) -> str:
    return _intrinsic(judged.rows, published.TABLE_5)


def _table_6(judged: Judged) -> str:
    parts = []
    for letter, code in zip(_LETTERS, published.TABLE_6, strict=True):
        n = sum(page.language == code for page in judged.pages)
        table = _intrinsic(judged.rows, published.TABLE_6[code], code)
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
            for cell in _beside(micro(own, ours), theirs.get(name, {}).get(measure))
        ]
        body.append([f"`{name}`", *cells, str(sum(row.is_empty for row in own))])
    return markdown(head, body)


def _beside(quality: Quality, theirs: Triple | None) -> Iterator[str]:
    figures = theirs or (None, None, None)
    for ours, figure in zip(astuple(quality), figures, strict=True):
        yield percent(ours) if figure is None else f"{percent(ours)} ({figure:.1f})"


def _table_7(judged: Judged) -> str:
    table = {name: extrinsic.by_language(found, judged.relevant) for name, found in judged.rows.items()}
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


def _plain(figure: float | None) -> str:
    return "N/A" if figure is None else f"{figure:.1f}"


def _cleaneval(judged: Judged) -> str:
    head = ["", *(f"{measure} {part}" for measure in _CLEANEVAL for part in ("P", "R", "F1"))]
    body = []
    for name, found in judged.rows.items():
        if name != REFERENCE:
            cells = [cell for measure in _CLEANEVAL for cell in _beside(macro(found, measure), None)]
            body.append([f"`{name}`", *cells])
    return markdown(head, body)


def _claims(judged: Judged) -> str:
    """What the paper concludes, and whether it comes out here."""
    f1 = {
        name: {measure: micro(found, ours).f1 for measure, ours in published.MEASURES.items()}
        for name, found in judged.rows.items()
        if name != REFERENCE
    }
    body = [
        [what, "; ".join(said), "yes" if holds else "**no**"] for what, said, holds in _checks(judged, f1)
    ]
    return markdown(["the paper's conclusion", "here", "holds"], body)


def _checks(judged: Judged, f1: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, list[str], bool]]:
    single = ("boilerpipe", "justext", "justext-nostop", "ncleaner")
    for measure in published.MEASURES:
        values = [f1[name][measure] for name in single]
        said = [f"{name} {percent(value)}" for name, value in zip(single, values, strict=True)]
        yield (
            f"BP > JTA, JTS > NC in {measure} F1",
            said,
            values[0] > max(values[1:3]) > min(values[1:3]) > values[3],
        )
    quality = {name: micro(judged.rows[name], "TO") for name in published.TOOLS.values()}
    nc = quality["ncleaner"]
    said = [f"P {percent(nc.precision)}, R {percent(nc.recall)}"]
    said.append(
        f"best other P {percent(max(each.precision for name, each in quality.items() if name != 'ncleaner'))}"
    )
    yield "NC: the highest precision, low recall (TO)", said, _best(quality, "ncleaner") and nc.recall < 0.6
    yield from _chinese(judged)
    yield from _pipelines(judged)


def _best(quality: Mapping[str, Quality], name: str) -> bool:
    return all(quality[name].precision >= each.precision for each in quality.values())


def _chinese(judged: Judged) -> Iterator[tuple[str, list[str], bool]]:
    own = {
        name: micro([row for row in judged.rows[name] if row.language == "zh"], "CHA")
        for name in ("boilerpipe", "justext", "justext-nostop")
    }
    said = [f"{name} {percent(each.f1)}" for name, each in own.items()]
    yield "Chinese has no stop list: JTA = JTS (CHA)", said, own["justext"] == own["justext-nostop"]
    yield "Chinese: BP far above JT (CHA)", said, own["boilerpipe"].f1 > own["justext"].f1 + 0.1


def _pipelines(judged: Judged) -> Iterator[tuple[str, list[str], bool]]:
    both, alone = "boilerpipe+justext", "boilerpipe"
    if both not in judged.rows:
        return
    pair, first = (micro(judged.rows[name], "TO") for name in (both, alone))
    said = [f"{both} P {percent(pair.precision)} R {percent(pair.recall)}"]
    said.append(f"{alone} P {percent(first.precision)} R {percent(first.recall)}")
    yield "BP–JTA trades BP's recall for precision (TO)", said, _trades(pair, first)
    counts = {name: extrinsic.counts(judged.rows[name], judged.relevant).f1 or 0.0 for name in (both, alone)}
    said = [f"{name} F1 {percent(value)}" for name, value in counts.items()]
    yield "BP–JTA finds epidemics better than BP", said, counts[both] > counts[alone]
    nc = max(
        (name for name in judged.rows if "ncleaner" in name and "+" in name), key=lambda n: _to(judged, n)
    )
    said = [f"best, {nc}: {percent(_to(judged, nc))}", f"{alone}: {percent(_to(judged, alone))}"]
    yield "every pair with NCleaner is poorer than BP (TO F1)", said, _to(judged, nc) < _to(judged, alone)


def _trades(pair: Quality, first: Quality) -> bool:
    return pair.precision > first.precision and pair.recall < first.recall


def _to(judged: Judged, name: str) -> float:
    return micro(judged.rows[name], "TO").f1


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    return "\n".join([lines[0], "|---" + "|---:" * (len(head) - 1) + "|", *lines[1:]])
