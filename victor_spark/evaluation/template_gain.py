"""The gain from templates on annotated pages, site by site: alone, and before or after a cleaner.

A site's templates are mined from the html of its own pages, as in a crawl, without any gold text.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass
from datetime import UTC, datetime
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias

import numpy as np
import pyarrow.parquet as pq

from victor_spark import hosts, pipeline, words
from victor_spark.blocks import Page
from victor_spark.document import Document
from victor_spark.errors import InputError
from victor_spark.evaluation import gold, measures
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.measures import Overlap, Quality
from victor_spark.extractors import template
from victor_spark.logs import aligned, track
from victor_spark.preparation import handed_over
from victor_spark.settings import Settings
from victor_spark.templates import coverage, table, tokens
from victor_spark.templates.mine import MiningSettings, mine, sample
from victor_spark.templates.table import Mined
from victor_spark.warc.records import Record

MIN_PAGES: Final = 10
"""Gold pages that a site needs."""

TEMPLATES: Final = "templates"
ALL_TEXT: Final = "all text"

Pages: TypeAlias = Mapping[str, Sequence[GoldPage]]
"""Site → its gold pages."""
ModelsFor: TypeAlias = Callable[[Sequence[GoldPage]], Mapping[str, bytes]]
"""The models that may clean these pages: trained without their site."""


@dataclass(frozen=True, slots=True)
class SiteGain:
    """The quality of every way to clean the pages of a site, by name, means over pages."""

    site: str
    n_pages: int
    n_templates: int
    status: str
    qualities: Mapping[str, Quality]


def by_site(pages: Iterable[GoldPage], grouping: str, min_pages: int) -> Pages:
    """The sites with enough usable gold pages; InputError if there is none."""
    found: dict[str, list[GoldPage]] = {}
    for page in pages:
        if gold.usable(page) and (site := hosts.site(address(page), grouping)):
            found.setdefault(site, []).append(page)
    kept = {site: of_site for site, of_site in sorted(found.items()) if len(of_site) >= min_pages}
    if not kept:
        most = max(map(len, found.values()), default=0)
        raise InputError(f"no site has {min_pages} gold pages (the largest has {most}): lower --min-pages")
    return kept


def address(page: GoldPage) -> str | None:
    """The page's URL, or one that names its host."""
    return page.url or (f"http://{page.host}/{page.id}" if page.host else None)


def gains(
    pages: Pages, cleaner: str, mining: MiningSettings, grouping: str, models_for: ModelsFor | None = None
) -> Iterator[SiteGain]:
    """The gain on each site, those with most pages first; progress on stderr.

    `models_for`: the models for the pages of a site (default: the shipped ones).
    """
    ordered = sorted(pages, key=lambda site: -len(pages[site]))
    shipped = pipeline.models(Settings(cleaner))
    for site in track(ordered, f"sites, {cleaner}", len(ordered)):
        own = pages[site]
        models = models_for(own) if models_for else shipped
        documents = cleaned(own, Settings(cleaner), models)
        pages_kept = [(Page(each.html, each.columns), each.kept) for each in documents]
        found = mine(site, sample(coverage.view(mining.view, *each) for each in pages_kept), mining)
        outputs = {ALL_TEXT: cleaned(own, pipeline.EVERYTHING, models), cleaner: documents}
        with written(found, grouping) as path:
            for name, settings in ways(cleaner, mining.view, path).items():
                outputs[name] = cleaned(own, settings, models)
        qualities = {name: measures.macro(map(_overlap, made, own)) for name, made in outputs.items()}
        yield SiteGain(site, len(own), len(found.templates), found.status, qualities)


def cleaned(pages: Sequence[GoldPage], settings: Settings, models: Mapping[str, bytes]) -> list[Document]:
    """The pages, cleaned with these models."""
    clean = pipeline.cleaning(settings, models)
    return [clean(record(page)) for page in pages]


def ways(cleaner: str, view: str, path: str) -> dict[str, Settings]:
    """The settings that are compared with the cleaner alone; `path` is the table of templates."""
    with_cleaner = Settings(cleaner, templates=path)
    if view == tokens.CLEANED:
        return {f"{cleaner}, then templates": with_cleaner}
    return {
        TEMPLATES: Settings(template.NAME, templates=path),
        f"{cleaner}, then templates": with_cleaner,
        f"templates, then {cleaner}": Settings(f"{template.NAME}+{cleaner}", templates=path),
    }


@contextmanager
def written(found: Mined, grouping: str) -> Iterator[str]:
    """A temporary file with the table of templates of a site that was mined now."""
    rows = table.with_grouping(table.rows(found, datetime.now(UTC)), grouping)
    with TemporaryDirectory() as folder:
        pq.write_table(rows, f"{folder}/templates.parquet")
        yield f"{folder}/templates.parquet"


def record(page: GoldPage) -> Record:
    """A gold page as the record of a WARC file."""
    return handed_over(page.html.encode("utf-8", "replace"), address(page), "utf-8")


def _overlap(document: Document, page: GoldPage) -> Overlap:
    return measures.overlap(words.words(document.text), words.words(page.gold or ""))


def means(found: Sequence[SiteGain]) -> dict[str, Quality]:
    """The quality of every way, by name: the mean over sites."""
    rows = {name: [astuple(site.qualities[name]) for site in found] for name in found[0].qualities}
    return {name: Quality(*np.mean(of_sites, axis=0).tolist()) for name, of_sites in rows.items()}


def losses(found: Sequence[SiteGain], cleaner: str) -> dict[str, float]:
    """Site → recall of the cleaner alone minus recall after templates are removed from its output."""
    after = f"{cleaner}, then templates"
    return {site.site: site.qualities[cleaner].recall - site.qualities[after].recall for site in found}


def lines(found: Sequence[SiteGain], cleaner: str) -> Iterator[str]:
    """The figures for a terminal: precision, recall and F1 of each way, one line per site."""
    names = list(found[0].qualities)

    def cells(qualities: Mapping[str, Quality]) -> Iterator[str]:
        return (f"{part:.4f}" for name in names for part in astuple(qualities[name]))

    head = ("site", "pages", "templates", *(title for name in names for title in (f"{name}: P", "R", "F1")))
    rows = [(site.site, site.n_pages, site.n_templates, *cells(site.qualities)) for site in found]
    yield from aligned([head, *rows, ("mean over sites", "", "", *cells(means(found)))])
    worst, loss = max(losses(found, cleaner).items(), key=lambda each: each[1])
    yield f"most recall lost after {cleaner}: {100 * loss:.2f} points, on {worst}"


def as_json(found: Sequence[SiteGain], cleaner: str) -> dict[str, object]:
    """The same for results.json."""
    return {
        "cleaner": cleaner,
        "sites": [asdict(site) for site in found],
        "mean_over_sites": {name: asdict(each) for name, each in means(found).items()},
        "recall_lost": losses(found, cleaner),
    }
