"""Cleans a page: from bytes to Document, without Spark."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from os import fspath
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import numpy as np

from victor_spark import roles
from victor_spark.blocks import OTHER, TEXT, Blocks, Bool, Cleaner, Page, Scores, uniform
from victor_spark.document import Document
from victor_spark.errors import InputError, ModelError, TableError, UsageError
from victor_spark.extractors import CRF_CLEANERS, cascade, check_name, load, models_of, template, victor
from victor_spark.kernels import warn_if_uncompiled
from victor_spark.langid.pages import PageIdentifier, PageLanguage, page_identifier
from victor_spark.metadata.body import body, is_whole
from victor_spark.model import decision
from victor_spark.model.features import LANGUAGE
from victor_spark.model.files import from_bytes, read_bytes
from victor_spark.preparation import Lap, PageFacts, handed_over, prepare, prepare_text, unmeasured
from victor_spark.rendering.plain import plain_text
from victor_spark.rendering.shown import LONGEST_HIDDEN, trimmed
from victor_spark.resources import directory
from victor_spark.settings import PREFERENCES, Settings
from victor_spark.sites.table import SiteTable
from victor_spark.templates.site import SiteTemplates
from victor_spark.warc import file_types
from victor_spark.warc.records import Record

EVERYTHING: Final = Settings(cleaner=template.NAME)
"""Keeps all blocks, unless a table of templates is given; needs `language_models` only."""

PROFILES: Final = "langid/profiles.npz"
LID_MODEL: Final = "lid-model"
TEMPLATES: Final = "templates"
NO_CLEANER: Final = "none"
"""The cleaner of plain text, and of text in JSON-LD: it keeps all blocks."""
ONLY_TEMPLATES: Final = "only templates of its site"
FROM_JSON_LD: Final = "text from JSON-LD"
_LONGEST_REQUEST: Final = 300
"""The longest text that can be only a request to turn on JavaScript."""

T = TypeVar("T")
Write: TypeAlias = Callable[[Blocks, Bool, str], str]


def models(settings: Settings) -> dict[str, bytes]:
    """The bytes of every model that the settings need, by name, read once and then sent to every process.

    Raises UsageError for wrong settings and ModelError for a bad model, before the first page is cleaned.
    """
    _check(settings)
    needed = language_models()
    if settings.sites:
        listing = SiteTable(fspath(settings.sites)).files.listing
        needed |= {**victor.site_model(), victor.SITE_TABLE: listing}
    if settings.templates:
        needed[TEMPLATES] = SiteTemplates(fspath(settings.templates)).files.listing
    if settings.lid_model:
        needed[LID_MODEL] = read_bytes(Path(settings.lid_model))
    folders = models_of(settings.cleaner)
    if settings.model and len(folders) != 1:
        n = len(folders) or "none"
        raise UsageError(f"--model replaces the model of a cleaner that has one; {settings.cleaner} has {n}")
    for name in folders:
        needed[name] = read_bytes(Path(settings.model) if settings.model else directory("models") / name)
    try:
        cleaning(settings, needed)
    except ModelError as error:
        if settings.model is None:
            raise
        raise ModelError(f"{settings.model}: {str(error).removeprefix('model: ')}") from error
    return needed


def language_models() -> dict[str, bytes]:
    """The models that every cleaning needs."""
    return {PROFILES: read_bytes(directory("models") / PROFILES)}


def identifier(models: Mapping[str, bytes], languages: tuple[str, ...] = ()) -> PageIdentifier:
    """The language identification of pages; of each block, too, only if a CRF reads that: it takes long."""
    crfs = (from_bytes(model) for name, model in models.items() if name.startswith("crf/"))
    of_blocks = any(LANGUAGE.intersection(crf.table.names) for crf in crfs)
    return page_identifier(models[PROFILES], languages, models.get(LID_MODEL), block_features=of_blocks)


def _check(settings: Settings) -> None:
    """Raises UsageError for unknown names, and for settings that do not fit together."""
    check_name(settings.cleaner)
    roles.check((*settings.without, *settings.including))
    if (settings.prefer or settings.fail_below) and settings.cleaner not in CRF_CLEANERS:
        option, known = "prefer" if settings.prefer else "fail-below", " or ".join(CRF_CLEANERS)
        raise UsageError(f"--{option} needs a cleaner that estimates F1 ({known}), not {settings.cleaner}")
    if template.NAME in cascade.parts(settings.cleaner) and not settings.templates:
        raise UsageError(f"the cleaner {settings.cleaner} needs a table of templates: --templates FILE")
    if settings.sites and settings.cleaner != victor.NAME:
        raise UsageError(f"--sites needs the cleaner {victor.NAME}, not {settings.cleaner}")


def cleaning(
    settings: Settings, models: Mapping[str, bytes], lap: Lap = unmeasured, write: Write = plain_text
) -> Callable[[Record], Document]:
    """The function that cleans one record; the document of a page that fails has a status other than ok.

    `lap` is called at the end of each stage: canonical, segment, language, decide, render. `write` makes the
    text of the kept blocks; if only the status is needed, it may make less of it (`telling_text`).
    """
    cleaner, templates_of = load(settings.cleaner, models), _templates(settings, models)
    if settings.sites:
        cleaner = victor.with_sites(cleaner, fspath(settings.sites), models)
    look, uncleaned = identifier(models, tuple(settings.languages)), replace(settings, cleaner=NO_CLEANER)
    warn_if_uncompiled()

    def keep_all(page: Page) -> Scores:  # boilerplate in plain text cannot be detected
        return uniform(len(page.blocks), TEXT)

    def made(page: Page, facts: PageFacts, cleaner: Cleaner, settings: Settings, write: Write) -> Document:
        templates = templates_of(page)
        page = templates.before(page) if templates else page
        status, reason = _unfit(page, facts.language, settings)
        scores = cleaner(page) if status is None else uniform(len(page.blocks), OTHER)
        known = (facts.language.score, facts.charset, facts.repairs, facts.markup)
        scored = Scored(page, scores, *known, status=status, reason=reason)
        return _decided(scored, settings, templates, lap, write)

    def stated(document: Document, page: Page, facts: PageFacts) -> Document:
        """The document of the text in the page's JSON-LD if that has a text that is ok, else `document`."""
        html = None if facts.markup is None else body(facts.markup(), page.url, page.title)
        if html is None:
            return document
        page, own = prepare(html, look, page.url)
        facts = replace(own, charset=facts.charset, markup=facts.markup)
        found = made(page, facts, keep_all, uncleaned, plain_text)
        if found.status != "ok" or not is_whole(found.text):
            return document
        return replace(found, reason="; ".join(filter(None, (FROM_JSON_LD, found.reason))))

    def cleaned(record: Record, payload: bytes) -> Document:
        if record.content_mime_type == "text/plain":
            page, facts = prepare_text(payload, look, record.url, record.http_charset)
            return made(page, facts, keep_all, uncleaned, plain_text)
        page, facts = prepare(payload, look, record.url, record.http_charset, lap)
        document = made(page, facts, cleaner, settings, write)
        return stated(document, page, facts) if _is_drawn_by_scripts(document) else document

    def clean(record: Record) -> Document:
        if record.status is not None or record.payload is None:
            return dropped(record, settings, record.status or "error", record.reason)
        return guarded(partial(cleaned, record, record.payload), partial(dropped, record, settings))

    return clean


def telling_text(blocks: Blocks, kept: Bool, html: str) -> str:
    """Enough of the text to find the status: the long blocks, which are always shown; without them, all text.

    Not for pages with templates, which cut letters out of blocks.
    """
    (rows,) = (kept & (blocks.text_end - blocks.text_start > LONGEST_HIDDEN)).nonzero()
    if blocks.n_letters[rows].sum() > _LONGEST_REQUEST:
        return blocks.text[blocks.text_start[rows[0]] : blocks.text_end[rows[-1]]]
    return plain_text(blocks, kept, html)


def guarded(action: Callable[[], T], lost: Callable[[str, str], T]) -> T:
    """The result of an action on one page; if it fails, the result of `lost` for a status and a reason."""
    try:
        return action()
    except MemoryError:
        return lost("out_of_memory", "MemoryError")
    except (KeyboardInterrupt, SystemExit, GeneratorExit, TableError):
        raise
    except BaseException as error:  # noqa: BLE001 - a panic in native code is no Exception
        return lost("error", f"{type(error).__name__}: {error}"[:500])


def _is_drawn_by_scripts(document: Document) -> bool:
    """Whether a page has no text, or only a sentence that asks the reader to turn on JavaScript."""
    if document.status == "ok":
        return len(document.text) <= _LONGEST_REQUEST and "javascript" in document.text.casefold()
    return document.status == "empty" and document.reason != ONLY_TEMPLATES and not document.kept.any()


@dataclass(frozen=True, slots=True)
class PageCleaner:
    """Cleans pages, all with the same settings; see `models` for the errors of wrong settings.

    It can be pickled, without the models: each process loads them once.
    """

    settings: Settings

    def __post_init__(self) -> None:
        _loaded(self.settings)

    def __call__(self, html: bytes | str, url: str | None = None) -> Document:
        """The document of one page; `victor_spark.clean` describes the arguments and errors."""
        if not isinstance(html, bytes | str):
            raise TypeError(f"html must be bytes or str, not {type(html).__name__}")
        if not isinstance(url, str | None):
            raise TypeError(f"url must be str or None, not {type(url).__name__}")
        if isinstance(html, str) and (what := file_types.only_named(html)):
            raise InputError(f"html is {what}, not a page: pass the content of the page, as bytes or str")
        given = (html.encode("utf-8", "replace"), url, "utf-8") if isinstance(html, str) else (html, url)
        try:
            return _loaded(self.settings)(handed_over(*given))
        except TableError:
            _loaded.cache_clear()  # the next page finds the table as it is then
            raise


@lru_cache(maxsize=8)
def _loaded(settings: Settings) -> Callable[[Record], Document]:
    return cleaning(settings, models(settings))


@dataclass(frozen=True, slots=True)
class Scored:
    """A page, the scores that a cleaner gave it, and facts for its document.

    `kept` is None until the kept blocks are chosen. `status` and `reason` are set if the page was dropped
    before any cleaner ran.
    """

    page: Page
    scores: Scores
    language_score: float | None
    charset: str | None
    repairs: str | None
    markup: Callable[[], bytes] | None = None
    kept: Bool | None = None
    status: str | None = None
    reason: str | None = None


def deciding(settings: Settings, models: Mapping[str, bytes], lap: Lap) -> Callable[[Scored], Document]:
    """The function that makes the document of a page whose scores are known, as `cleaning` does."""
    templates_of = _templates(settings, models)

    def decide(scored: Scored) -> Document:
        templates = templates_of(scored.page)
        page = templates.before(scored.page) if templates else scored.page
        return _decided(replace(scored, page=page), settings, templates, lap, plain_text)

    return decide


def _templates(settings: Settings, models: Mapping[str, bytes]) -> Callable[[Page], SiteTemplates | None]:
    """Gives a page's templates; the process that cleans opens them at its first page with an address."""
    opened = cache(lambda: SiteTemplates(fspath(settings.templates or ""), models.get(TEMPLATES)))
    return lambda page: opened() if settings.templates and page.url else None


def _decided(
    scored: Scored, settings: Settings, templates: SiteTemplates | None, lap: Lap, write: Write
) -> Document:
    """The document of a page."""
    page, scores, status, reason = scored.page, scored.scores, scored.status, scored.reason
    kept, headline = _kept(page, scores, settings) if scored.kept is None else (scored.kept, scores.headline)
    if headline is not scores.headline:
        scores = replace(scores, headline=headline)
    if status is None and (settings.without or settings.including):
        without, including = settings.without, settings.including
        kept = roles.chosen(page.blocks, page.title, kept, without=without, including=including)
    if scores.text is None and (kept & page.blocks.left_out).any():
        kept = kept & ~page.blocks.left_out
    chosen, cut = kept, None
    if templates is not None and status is None:
        page, kept, cut = templates.after(page, kept, scores)
    lap("decide")
    # What changes nothing leaves a tool its own text.
    is_own = scores.text is not None and cut is None and np.array_equal(kept, scores.kept)
    own = scores.text if is_own else None
    text = write(trimmed(page.blocks, cut), kept, page.html) if own is None else own
    lap("render")
    expected = scores.expected_f1
    if expected is not None and kept is not scores.kept:
        expected = decision.expected_f1(scores.probabilities, decision.n_words(page.blocks), kept)
    if status is None and not text:
        in_templates = page.blocks.template_share > 0
        nothing = "no visible text kept" if kept.any() else "no block kept"
        is_repeated = (chosen & in_templates).any() or in_templates.all()
        status, reason = "empty", ONLY_TEMPLATES if is_repeated else nothing
    elif status is None and settings.fail_below is not None and (expected or 0.0) < settings.fail_below:
        status, reason = "empty", f"expected F1 {expected or 0.0:.2f}, below {settings.fail_below:g}"
    elif status is None and settings.max_list_share is not None:
        share = roles.list_share(page.blocks, kept)
        if share > settings.max_list_share:
            status, reason = "empty", f"{share:.0%} of the text is a list of links"
    return Document(
        status=status or "ok",
        reason=scored.repairs if status is None else reason,
        text=text if status is None else "",
        html=page.html,
        title=page.title,
        url=page.url,
        language=page.language,
        language_score=scored.language_score,
        charset=scored.charset,
        cleaner=settings.cleaner,
        columns=page.blocks,
        scores=scores,
        kept=kept,
        cut=cut,
        p_content=decision.mean_content(scores.probabilities, page.blocks, kept) if kept.any() else None,
        expected_f1=expected,
        markup=scored.markup,
        repairs=scored.repairs,
    )


def _kept(page: Page, scores: Scores, settings: Settings) -> victor.Decided:
    """The blocks to keep: by the settings, or the cleaner's own decision."""
    if settings.threshold is not None:
        return decision.by_threshold(scores.probabilities, settings.threshold), None
    if settings.prefer is not None and scores.expected_f1 is not None:
        beta = PREFERENCES[settings.prefer]
        decide = victor.decide if settings.cleaner == victor.NAME else victor.decide_2
        return decide(scores.probabilities, page.blocks, beta)
    return scores.kept, scores.headline


def _unfit(page: Page, language: PageLanguage, settings: Settings) -> tuple[str | None, str | None]:
    """The status and reason of a page that is dropped before any cleaner (Victor, section 3.1, step 1)."""
    if not len(page.blocks):
        return "empty", "no text block"
    if language.finding.problem is not None:
        return "broken_encoding", language.finding.problem
    if language.is_wanted:
        return None, None
    wanted = ", ".join(settings.languages)
    if not language.has_text:
        return "empty", f"too little text to tell whether it is {wanted}"
    return "wrong_language", f"{language.language or 'no known language'}, not {wanted}"


def dropped(record: Record, settings: Settings, status: str, reason: str | None) -> Document:
    """The document of a record that was not cleaned, or could not be."""
    return Document(status, reason, url=record.url, charset=record.http_charset, cleaner=settings.cleaner)
