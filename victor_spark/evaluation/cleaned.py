"""Annotated pages as a cleaner leaves them: text and markup of each, failures told apart from emptiness."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context

from victor_spark import pipeline
from victor_spark.evaluation.gold import GoldPage
from victor_spark.page import Document, Record


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What is left of a page: text (paragraphs by newline), CleanEval markup, and why it failed, if it did.

    A page on which the cleaner fails has no text; an empty page is no failure.
    """

    text: str
    marked: str
    failure: str | None = None


def clean(pages: Sequence[GoldPage], cleaner: str, n_jobs: int = 1) -> Iterator[Cleaned]:
    """The pages cleaned, in their order; UsageError or ModelError before the first one.

    Nothing is done before the first is asked for, but for the checks of the cleaner.
    """
    settings = pipeline.Settings(cleaner)
    run = pipeline.cleaning(settings, pipeline.models(settings))
    return _each(lambda page: _cleaned(run, page), pages, n_jobs)


def _cleaned(run: Callable[[Record], Document], page: GoldPage) -> Cleaned:
    payload = page.html.encode("utf-8", "replace")
    record = Record(page.id, page.url, page.set, 0, len(payload), payload, http_charset="utf-8")
    try:
        document = run(record)
        marked = document.render("cleaneval")
    except Exception as error:  # noqa: BLE001 - a page never ends the run, and is listed
        return Cleaned("", "", f"{type(error).__name__}: {error}")
    if document.status in {"ok", "empty"}:
        return Cleaned(document.text, marked)
    return Cleaned("", "", f"{document.status}: {document.reason or 'no reason given'}")


_forked: tuple[Callable[[GoldPage], Cleaned], Sequence[GoldPage]] | None = None
"""What forked children do: they inherit it, since neither pages nor functions need pickling then."""


def _each(run: Callable[[GoldPage], Cleaned], pages: Sequence[GoldPage], n_jobs: int) -> Iterator[Cleaned]:
    global _forked  # noqa: PLW0603 - inherited by the children, see above
    if n_jobs <= 1 or len(pages) < 2:
        yield from map(run, pages)
        return
    _forked = (run, pages)
    with get_context("fork").Pool(min(n_jobs, len(pages))) as pool:
        yield from pool.imap(_run_forked, range(len(pages)), chunksize=4)
    _forked = None


def _run_forked(row: int) -> Cleaned:
    assert _forked is not None
    run, pages = _forked
    return run(pages[row])
