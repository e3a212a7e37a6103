"""conf/metadata.toml: what pages name their own data with."""

from dataclasses import dataclass
from functools import cache

from victor_spark import configuration, resources


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The lists of conf/metadata.toml, which says what they are."""

    works: frozenset[str]
    pages: frozenset[str]
    title: tuple[str, ...]
    other_title: tuple[str, ...]
    author: tuple[str, ...]
    published: tuple[str, ...]
    modified: tuple[str, ...]
    site: tuple[str, ...]
    other_site: tuple[str, ...]
    description: tuple[str, ...]
    image: tuple[str, ...]
    language: tuple[str, ...]
    license: tuple[str, ...]
    tags: tuple[str, ...]
    card: tuple[str, ...]
    author_label: tuple[str, ...]
    introduction: tuple[str, ...]
    between: tuple[str, ...]
    degrees: tuple[str, ...]
    nobody: frozenset[str]
    roles: frozenset[str]
    months: tuple[tuple[str, ...], ...]

    @property
    def meta_names(self) -> tuple[str, ...]:
        """All names of `meta` elements that are asked for."""
        fields = (
            "title",
            "other_title",
            "author",
            "published",
            "modified",
            "site",
            "other_site",
            "description",
        )
        others = ("image", "language", "license", "tags", "card")
        return tuple(name for field in (*fields, *others) for name in getattr(self, field))


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary; ConfigurationError when the file is not as it should be."""
    return configuration.read(resources.directory("conf") / "metadata.toml", Vocabulary)
