"""The nouns of template mining: Template, Mined, and why a site was not mined."""

from dataclasses import dataclass
from typing import Final

VIEWS: Final = ("text", "html", "cleaned")
"""What is mined: the text of all blocks, the canonical HTML, or the text a cleaner kept."""

OK, TOO_FEW_PAGES, NO_TEMPLATES = "ok", "too_few_pages", "no_templates"
STATUSES: Final = (OK, TOO_FEW_PAGES, NO_TEMPLATES)


@dataclass(frozen=True, slots=True)
class Template:
    """A string of tokens that a site repeats.

    `tokens`: one regular expression a token: an escaped literal, or the mutable pattern that stands
    there. `regex`: the same as one expression, for Python's `re`. `document_frequency`: the distinct
    pages that hold it; `n_occurrences`: how often it occurs in them; `whole_lines`: the share of
    occurrences that fill whole lines. `example`: one occurrence, as it stands in a page.
    """

    regex: str
    tokens: tuple[str, ...]
    n_tokens: int
    document_frequency: int
    n_occurrences: int
    whole_lines: float
    example: str


@dataclass(frozen=True, slots=True)
class Mined:
    """What mining one site gave.

    `n_seen` pages were given, `n_pages` of them distinct (near-identical pages count once).
    `cut_off`: the document frequency from which on a string is a template; `histogram`: strings by
    the share of pages they occur in, 100 bins. `status` other than "ok": no templates, and `reason` says why.
    """

    site: str
    view: str
    status: str
    reason: str | None
    n_seen: int
    n_pages: int
    cut_off: int
    histogram: tuple[int, ...]
    templates: tuple[Template, ...]
