"""The values of conf/langid.toml: confusable groups, samples, thresholds. The file explains each one."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from victor_spark import configuration, resources


@dataclass(frozen=True, slots=True)
class Anchors:
    """The languages that a text is always compared with."""

    languages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """The table [page]: how the language of a whole text is guessed."""

    least_letters: int
    least_gain: float
    n_windows: int
    window: int
    temperature: float


@dataclass(frozen=True, slots=True)
class Blocks:
    """The table [blocks]: how the language of blocks is scored."""

    most_letters: int
    shrink: int
    n_lanes: int
    least_letters: int
    switch: float


@dataclass(frozen=True, slots=True)
class Encoding:
    """The table [encoding]: when a text counts as decoded with the wrong charset."""

    lost_ratio: float
    lost_least: int
    lost_signs_ratio: float
    badness_least: int
    badness_every: int
    sample: int
    misread_sample: int
    misread_least: int
    good_fit: float
    misread_gain: float
    repaired_fit: float
    repaired_fit_wide: float


@dataclass(frozen=True, slots=True)
class Settings:
    """All of conf/langid.toml."""

    confusable: Mapping[str, tuple[str, ...]]
    anchors: Anchors
    page: Page
    blocks: Blocks
    encoding: Encoding

    def group(self, language: str) -> frozenset[str]:
        """The confusable languages of this one, with itself; none of them is its rival."""
        together = (members for members in self.confusable.values() if language in members)
        return frozenset([language]).union(*together)


@cache
def settings(path: Path | None = None) -> Settings:
    """Reads conf/langid.toml (or `path`); an unknown or missing key is a ConfigurationError."""
    return configuration.read(path or resources.directory("conf") / "langid.toml", Settings)
