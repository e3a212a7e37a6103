"""Language labels: ISO 639-1 where there is one, else 639-3, from the labels of any model."""

import difflib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from victor_spark import configuration, resources
from victor_spark.errors import UsageError

_GLOTLID_ONLY: Final = {"als": "sq"}
"""`als` with a script (`als_Latn` of GlotLID) is Tosk Albanian; alone (lid.176) it is Alemannic."""


@dataclass(frozen=True, slots=True)
class Languages:
    """All of conf/languages.toml."""

    iso_639_1: Mapping[str, str]
    members: Mapping[str, str]
    names: Mapping[str, str]
    justext: Mapping[str, str]


@cache
def languages() -> Languages:
    """Codes and names of languages."""
    return configuration.read(resources.directory("conf") / "languages.toml", Languages)


_VALID: Final = re.compile(r"(?:__label__)?([a-z]{2,3})(?:[_-]([a-z]{4}))?(?:[_-].*)?", re.IGNORECASE)


@lru_cache(maxsize=1024)
def iso(label: str) -> str:
    """ISO 639-1, else 639-3, of a model's label: __label__ces_Latn → cs, __label__cs → cs, sr_latn → sr."""
    match = _VALID.fullmatch(label)
    if match is None:
        return label.removeprefix("__label__")
    language, script = match[1].lower(), match[2]
    if script and language in _GLOTLID_ONLY:
        return _GLOTLID_ONLY[language]
    known = languages()
    return known.members.get(language) or known.iso_639_1.get(language, language)


def resolve(codes: Collection[str], known: Collection[str]) -> tuple[str, ...]:
    """The profiles' labels for the codes a user gave: sr → sr, sr_latn; UsageError for unknown codes."""
    labels: list[str] = []
    for code in codes:
        wanted = code.strip().lower()
        if wanted in known:  # a code without a script selects all scripts of the language
            found = [label for label in known if label == wanted or label.startswith(f"{wanted}_")]
        else:
            found = [label for label in known if iso(label) == iso(wanted)]
        if not found:
            raise UsageError(f"unknown language {code!r}{closest(wanted, known)}")
        labels.extend(label for label in found if label not in labels)
    return tuple(labels)


def closest(code: str, known: Collection[str]) -> str:
    """The end of an error line: the codes most like a mistyped one, or those of a language's name."""
    wanted, name_of = code.strip().lower(), languages().names
    names = {name_of[label].lower(): label for label in known if label in name_of}
    near = [names[name] for name in difflib.get_close_matches(wanted, names, n=3, cutoff=0.7)]
    if len(wanted) > 1:  # cz → Czech
        near += [label for name, label in names.items() if name.startswith(wanted)]
    near += difflib.get_close_matches(wanted, sorted(known), n=3, cutoff=0.5)
    near = list(dict.fromkeys(near))[:3]
    shown = [f"{label} ({name_of[label]})" if label in name_of else label for label in near]
    return f" (did you mean {' or '.join(shown)}?)" if shown else " (`victor languages` lists them)"
