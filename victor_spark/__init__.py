"""victor-spark: web crawls into clean text, with the reason for every block kept or dropped."""

from collections.abc import Iterable
from contextlib import suppress
from os import PathLike, fspath
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from victor_spark.document import Document
    from victor_spark.pipeline import PageCleaner

StrPath: TypeAlias = str | PathLike[str]

__version__ = "0.1.0"
__all__ = ["__version__", "clean", "cleaners", "load"]


def clean(
    html: bytes | str,
    url: str | None = None,
    cleaner: str = "victor",
    threshold: float | None = None,
    *,
    prefer: str | None = None,
    fail_below: float | None = None,
    without: str | Iterable[str] = (),
    including: str | Iterable[str] = (),
    model: StrPath | None = None,
    languages: str | Iterable[str] = (),
    lid_model: StrPath | None = None,
    templates: StrPath | None = None,
    sites: StrPath | None = None,
) -> "Document":
    """Cleans one page: the text worth keeping, and the reason for every block kept or dropped.

    `html` is the page's content, as bytes or str, not its path or address; `url` is its address, if known.
    A page without content, or a file that is not a page, gives a document whose `status` and `reason` say
    why. The first call loads the model. The other arguments are those of `load`.

    Raises TypeError for other types of `html` and `url`, InputError for an `html` that is an address or
    a path.
    """
    return load(
        cleaner,
        threshold,
        prefer=prefer,
        fail_below=fail_below,
        without=without,
        including=including,
        model=model,
        languages=languages,
        lid_model=lid_model,
        templates=templates,
        sites=sites,
    )(html, url)


def load(
    cleaner: str = "victor",
    threshold: float | None = None,
    *,
    prefer: str | None = None,
    fail_below: float | None = None,
    without: str | Iterable[str] = (),
    including: str | Iterable[str] = (),
    model: StrPath | None = None,
    languages: str | Iterable[str] = (),
    lid_model: StrPath | None = None,
    templates: StrPath | None = None,
    sites: StrPath | None = None,
) -> "PageCleaner":
    """A function of `html` and `url` that cleans pages as `clean` does, to be made once and called often.

    `cleaner` is one of `cleaners()`. The other arguments are the options of `victor clean`: `threshold` keeps
    blocks with P(other) below it (None: the cleaner decides page by page); `prefer` is "precision" or
    "recall"; a page with an expected F1 lower than `fail_below` is dropped; blocks of the roles `without`
    ("comment,caption" or a list) are dropped and those of the roles `including` kept at any decision; `model`
    is a directory; `languages` are the ISO codes of pages to keep ("cs,sk" or a list; empty: all);
    `lid_model` and `templates` are files; `sites` is a folder.

    Raises UsageError (a ValueError) for an unknown name, a value out of range or of another type, InputError
    (a ValueError) and ModelError for a file that cannot be used.
    """
    from victor_spark import pipeline

    chosen = pipeline.Settings(
        cleaner=cleaner,
        threshold=threshold,
        prefer=prefer,
        fail_below=fail_below,
        without=_names(without),
        including=_names(including),
        model=_path(model),
        languages=_names(languages),
        lid_model=_path(lid_model),
        templates=_path(templates),
        sites=_path(sites),
    )
    return pipeline.PageCleaner(chosen)


def _names(given: str | Iterable[str]) -> tuple[str, ...]:
    """Names separated by commas, or in a sequence; `Settings` refuses other values."""
    with suppress(TypeError):
        return tuple(filter(None, map(str.strip, given.split(",") if isinstance(given, str) else given)))
    return given  # type: ignore[return-value]


def _path(given: StrPath | None) -> str | None:
    return fspath(given) if isinstance(given, PathLike) else given


def cleaners() -> tuple[str, ...]:
    """The names of the cleaners that can be loaded here; `a+b` makes a cascade of two."""
    from victor_spark import extractors

    return extractors.available()
