"""Settings of the pipeline: options of `victor clean`, keys of conf/cleaning.toml, keywords of `clean`."""

from collections.abc import Collection, Iterable
from dataclasses import KW_ONLY, dataclass, fields
from inspect import formatannotation
from numbers import Real
from os import PathLike, fspath
from typing import Final, TypeAlias, get_args

from victor_spark.configuration import names, probability, setting
from victor_spark.errors import UsageError, choices

Names: TypeAlias = Collection[str]
"""Names, or one text with commas between them; a tuple after `__post_init__`."""
StrPath: TypeAlias = str | PathLike[str]

PREFERENCES: Final = {"precision": 0.5, "recall": 2.0}
"""Values of `--prefer` and their beta: within 0.001 of the best F0.5 and F2 (docs/quality.md)."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How pages are cleaned; equal settings and models give equal documents.

    `threshold`: keep a block when P(other) is below it; None: the cleaner's own decision. `prefer`:
    "precision" or "recall" instead of their balance, for cleaners that give probabilities. `fail_below`:
    a page with a lower expected F1 is dropped. `max_list_share`: a page is dropped if a higher share of its
    text is a list of links, such as teasers. `without` and `including`: roles of blocks to drop and to keep,
    whatever the cleaner decides. `model`: a model directory instead of the cleaner's own. `languages`: ISO
    codes of the pages to keep, empty for all. `lid_model`: a fastText file that identifies languages instead
    of our profiles. `templates`: a table of templates. `sites`: a table of sites.

    Raises UsageError for a value out of range or of another type.
    """

    cleaner: str = setting("victor", "--cleaner NAME", "see `victor cleaners`", heading="cleaner")
    threshold: float | None = setting(
        None, "--threshold P", "keep blocks with P(other) < P (default: by page)", probability
    )
    _: KW_ONLY
    prefer: str | None = setting(
        None, "--prefer", "weigh precision or recall higher (default: F1)", choices=tuple(PREFERENCES)
    )
    fail_below: float | None = setting(
        None, "--fail-below F1", "pages with a lower expected F1 get the status empty", probability
    )
    max_list_share: float | None = setting(
        None, "--max-list-share P", "drop pages of which a higher share is a list of links", probability
    )
    without: Names = setting(
        (), "--without ROLE,ROLE", "drop blocks with these roles (docs/structure.md)", names
    )
    including: Names = setting((), "--with ROLE,ROLE", "keep blocks with these roles, such as title", names)
    model: StrPath | None = setting(
        None, "--model DIR", "use this trained model instead of the cleaner's own"
    )
    templates: StrPath | None = setting(
        None,
        "--templates FILE",
        "a table of templates: remove from the kept text what the site repeats",
        heading="tables about the page's site (see `victor templates mine`, `victor sites write`)",
    )
    sites: StrPath | None = setting(
        None, "--sites TABLE", "a table of sites: decide with their earlier pages"
    )
    languages: Names = setting(
        (),
        "--lang CODE,CODE",
        "keep pages in these languages, such as cs,sk (see `victor languages`)",
        names,
        heading="language",
    )
    lid_model: StrPath | None = setting(
        None, "--lid-model FILE", "identify languages with this fastText model (lid.176, GlotLID)"
    )

    def __post_init__(self) -> None:
        for one in fields(self):
            value, wanted = getattr(self, one.name), formatannotation(one.type)
            kinds = get_args(one.type) or (one.type,)
            plain = tuple(kind for kind in kinds if isinstance(kind, type))
            if isinstance(value, PathLike) and PathLike[str] in kinds:
                value = fspath(value)
            if value == "" and PathLike[str] in kinds:
                raise UsageError(f"{one.name} is an empty path")
            if one.type == Names:
                value, wanted, plain = _tuple(value), "str or a list of str", (tuple,)
            if not isinstance(value, (*plain, Real) if float in kinds else plain):
                raise UsageError(f"{one.name} must be {wanted}, not {value!r}")
            if float in kinds and isinstance(value, Real) and not 0 <= float(value) <= 1:
                raise UsageError(f"{one.name} must be between 0 and 1, not {value}")
            object.__setattr__(self, one.name, value)
        if self.prefer is not None and self.prefer not in PREFERENCES:
            raise UsageError(f"prefer cannot be {self.prefer!r}{choices(self.prefer, PREFERENCES)}")
        if self.prefer and self.threshold is not None:
            raise UsageError("--threshold and --prefer cannot be combined")


def _tuple(given: object) -> object:
    """The names in a text or an iterable as a tuple; a list of the values if one of them is no text."""
    if isinstance(given, str):
        return names(given)
    found = [*given] if isinstance(given, Iterable) else [given]
    texts = [name for name in found if isinstance(name, str)]
    return names(",".join(texts)) if len(texts) == len(found) else found
