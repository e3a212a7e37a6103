"""Measures the figures of docs/templates.md; each entry of PARTS is one of its measurements."""

import json
import lzma
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from research import injection, template_agreement, template_folds
from research import template_guard as guard
from victor_spark import hosts, pipeline
from victor_spark.blocks import Page
from victor_spark.evaluation import gold, template_gain
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.template_gain import SiteGain
from victor_spark.model.files import FORMAT
from victor_spark.templates import coverage, tokens
from victor_spark.templates.mine import MiningSettings

GROUPING: Final = hosts.HOST
GOLD_SETS: Final = ("cleanportaleval", "daniel", "dragnet", "wcxb")
"""The sets with several pages of one site."""
CLEAN_SETS: Final = ("dragnet", "wcxb")
N_FOLDS: Final = 3
MIN_PAGES: Final = 3
OTHERS: Final = ("kimatu", "line-block")
FEATURES = "victor-2"
_LENGTHS: Final = range(300, 8000)


def injected(data: Path, _models: Path | None = None) -> dict[str, Any]:
    """Precision and recall by the number of pages, for templates that were put into unrelated clean texts."""
    texts = clean_texts(data)
    return {"n_texts": len(texts), "points": [asdict(point) for point in injection.curve(texts)]}


def clean_texts(data: Path) -> list[str]:
    """One gold text of every site, neither very short nor very long."""
    found: dict[str, str] = {}
    for page in _gold_pages(data, CLEAN_SETS):
        if len(page.gold or "") in _LENGTHS:
            found.setdefault(gold.site(page), page.gold or "")
    return list(found.values())


def on_gold(data: Path, models: Path | None = None) -> dict[str, Any]:
    """The gain from templates on each site, with models trained without it; and the figures of the guard."""
    pages = list(_gold_pages(data, GOLD_SETS))
    of_sites = template_gain.by_site(pages, GROUPING, MIN_PAGES)
    split = template_folds.split(pages, N_FOLDS)
    models_for = template_folds.out_of_fold(split, FEATURES, models)
    cleaner = template_folds.CLEANER
    gains = list(template_gain.gains(of_sites, cleaner, MiningSettings(), GROUPING, models_for))
    return {
        "n_pages": len(pages),
        "n_folds": N_FOLDS,
        "kinds": {site: _kind(of_site) for site, of_site in of_sites.items()},
        "sites": [_site(gain) for gain in gains],
        "date": datetime.now(tz=UTC).date().isoformat(),
        "features": FEATURES,
        "model_format": FORMAT,
        "guard": guard.figures(guard.tested(of_sites, cleaner, GROUPING, models_for)),
    }


def after_rules(data: Path, _models: Path | None = None) -> dict[str, Any]:
    """The gain from templates on each site, with cleaners that need no training."""
    of_sites = template_gain.by_site(_gold_pages(data, GOLD_SETS), GROUPING, MIN_PAGES)
    return {
        name: [_site(gain) for gain in template_gain.gains(of_sites, name, MiningSettings(), GROUPING)]
        for name in OTHERS
    }


def _site(gain: SiteGain) -> dict[str, Any]:
    """The figures of a site, rounded."""
    qualities = {
        name: {part: round(value, 5) for part, value in asdict(quality).items()}
        for name, quality in gain.qualities.items()
    }
    return {"site": gain.site, "n_pages": gain.n_pages, "n_templates": gain.n_templates, "ways": qualities}


def _kind(pages: Sequence[GoldPage]) -> str:
    """The kind of most pages of a site. In wcxb each page has its type; each other set has one kind."""
    kinds = {"daniel": "news", "cleanportaleval": "news", "dragnet": "blog, news"}
    counted = Counter(kinds.get(page.set) or str(page.meta.get("page_type")) for page in pages)
    return counted.most_common(1)[0][0]


def agreement(data: Path, _models: Path | None = None) -> dict[str, Any]:
    """How often the automaton finds the same intervals as `re` and the interval rule, by view."""
    html = [(site, texts[:N_HTML]) for site, texts in _sites(data, tokens.HTML, with_gold=False)]
    found = {}
    for view, given in ((tokens.TEXT, list(_sites(data, tokens.TEXT, with_gold=True))), (tokens.HTML, html)):
        rows = list(template_agreement.agreements(given, view))
        total = template_agreement.total(rows)
        found[view] = {"total": asdict(total), "sites": [asdict(row) for row in rows]}
    return found


N_HTML: Final = 10
"""In html, `re` is tried on this number of pages per site only, because it takes seconds per page."""


def _sites(data: Path, view: str, *, with_gold: bool) -> Iterator[tuple[str, list[str]]]:
    """The pages of each site in a view: the sites without gold, and, `with_gold`, those of the gold sets."""
    clean = pipeline.cleaning(pipeline.EVERYTHING, pipeline.language_models())

    def of(pages: Iterable[GoldPage]) -> list[str]:
        made = (clean(template_gain.record(page)) for page in pages)
        return [coverage.view(view, Page(each.html, each.columns), each.kept) for each in made]

    if with_gold:
        for site, pages in template_gain.by_site(_gold_pages(data, GOLD_SETS), GROUPING, MIN_PAGES).items():
            yield site, of(pages)
    for path in sorted((data / "sites").glob("*.jsonl.xz")):
        yield gold.set_name(path), of(_pages_without_gold(path))


def _pages_without_gold(path: Path) -> Iterator[GoldPage]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield GoldPage(row["id"], gold.set_name(path), row["html"], None, row.get("url"), row.get("host"))


def _gold_pages(data: Path, names: Sequence[str]) -> Iterator[GoldPage]:
    for path in gold.find(data / "pages", names).values():
        yield from filter(gold.usable, gold.read(path))


PARTS: Final[Mapping[str, Callable[[Path, Path | None], dict[str, Any]]]] = {
    "injection": injected,
    "gold": on_gold,
    "rules": after_rules,
    "agreement": agreement,
}


def measured(part: str, data: Path, models: Path | None = None) -> dict[str, Any]:
    """The figures of one part, with the CPU minutes that measuring them took."""
    started = time.process_time()
    figures = PARTS[part](data, models)
    return {"cpu_minutes": round((time.process_time() - started) / 60, 1), **figures}
