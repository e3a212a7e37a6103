"""victor-spark: web crawls into clean text, with the reason for every block kept or dropped."""

from collections.abc import Callable
from inspect import signature
from typing import TYPE_CHECKING, ParamSpec, Protocol

from victor_spark.errors import choices
from victor_spark.settings import Settings

if TYPE_CHECKING:
    from victor_spark.document import Document
    from victor_spark.pipeline import PageCleaner

__version__ = "0.1.0"
__all__ = ["__version__", "clean", "cleaners", "load"]

P = ParamSpec("P")


class _Clean(Protocol[P]):
    def __call__(
        self, html: bytes | str, url: str | None = None, *options: P.args, **named: P.kwargs
    ) -> "Document": ...


def _of_settings(settings: Callable[P, Settings]) -> tuple[Callable[P, "PageCleaner"], _Clean[P]]:
    """The functions `load` and `clean`: their options are the fields of `settings`."""

    def load(*options: P.args, **named: P.kwargs) -> "PageCleaner":
        """A function of `html` and `url` that cleans pages as `clean` does, to be made once and called often.

        `cleaner` is one of `cleaners()`. The other arguments are the options of `victor clean`: `threshold`
        keeps blocks with P(other) below it (None: the cleaner decides page by page); `prefer` is "precision"
        or "recall"; a page is dropped if its expected F1 is lower than `fail_below`, or if a higher share of
        its text than `max_list_share` is a list of links; blocks of the roles `without` ("comment,caption"
        or a list) are dropped and those of the roles `including` always kept; `model` is a directory;
        `languages` are the ISO codes of pages to keep ("cs,sk" or a list; empty: all); `lid_model` and
        `templates` are files; `sites` is a folder.

        Raises UsageError (a ValueError) for an unknown name, a value out of range or of another type,
        InputError (a ValueError) and ModelError for a file that cannot be used.
        """
        from victor_spark import pipeline

        if unknown := sorted(named.keys() - known.keys()):
            raise TypeError(f"unexpected keyword argument {unknown[0]!r}{choices(unknown[0], known)}")
        return pipeline.PageCleaner(settings(*options, **named))

    def clean(html: bytes | str, url: str | None = None, *options: P.args, **named: P.kwargs) -> "Document":
        """Cleans one page: the text worth keeping, and the reason for every block kept or dropped.

        `html` is the page's content, as bytes or str, not its path or address; `url` is its address, if
        known. A page without content, or a file that is not a page, gives a document whose `status` and
        `reason` say why. The first call loads the model. The other arguments are those of `load`.

        Raises TypeError for other types of `html` and `url`, InputError for an `html` that is an address or
        a path.
        """
        return load(*options, **named)(html, url)

    known = signature(settings).parameters
    of_page = [*signature(clean).parameters.values()][:2]
    for function, parameters in ((load, [*known.values()]), (clean, [*of_page, *known.values()])):
        vars(function)["__signature__"] = signature(function).replace(parameters=parameters)
        function.__qualname__ = function.__name__
    return load, clean


load, clean = _of_settings(Settings)


def cleaners() -> tuple[str, ...]:
    """The names of the cleaners that can be loaded here; `a+b` makes a cascade of two."""
    from victor_spark import extractors

    return extractors.available()
