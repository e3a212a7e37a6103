"""One compact profile a language, and all of them in one file without pickles.

A profile holds what is most frequent in a language's text: its commonest trigrams with quantised
log-probabilities (Beesley 1988), and its commonest n-grams of one to five characters in order of
rank (Cavnar and Trenkle 1994). The file is a zip of arrays (numpy's npz): three a language, the
list of languages, each one's nearest languages, and a format number. Text is UTF-8 in uint8 arrays,
so a profile can be read back as it was counted, and a language's arrays depend on its text alone.
"""

import io
import zipfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from victor_spark.blocks import UInt8, UInt32, UInt64
from victor_spark.errors import ModelError, UsageError
from victor_spark.kernels import code_points, text_of
from victor_spark.langid.labels import closest
from victor_spark.langid.settings import settings

FORMAT: Final = 1
FLOOR: Final = -12.0
"""The log-probability of a trigram that a profile doesn't have; gain 0."""
STEP: Final = -FLOOR / 255
"""Nats in one unit of gain."""
N_NEAREST: Final = 15

_COMMONEST: Final = 400
_MAX_LANGUAGES: Final = 255  # the number of a missing neighbour


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """The statistics of one language's text.

    trigrams: (n, 3) code points in ascending order; gains: (n,), (log P(trigram) - FLOOR) / STEP;
    ngrams: those of one to five characters, the commonest first, a word's edge being a space.
    """

    trigrams: UInt32
    gains: UInt8
    ngrams: tuple[str, ...]

    def commonest(self, n: int | None = None) -> npt.NDArray[np.intp]:
        """The rows of the n likeliest trigrams, or of all, the likeliest first."""
        return np.argsort(-self.gains.astype(np.int32), kind="stable")[:n]


@dataclass(frozen=True, slots=True, eq=False)
class Profiles:
    """The profiles of some languages."""

    languages: tuple[str, ...]
    profiles: Mapping[str, Profile]
    nearest: Mapping[str, tuple[str, ...]]

    @classmethod
    def from_bytes(cls, data: bytes, languages: Collection[str] | None = None) -> "Profiles":
        """Expands a profiles file, or the part that is needed to distinguish `languages` from all others.

        That is the languages, their confusable groups, their nearest languages, and the anchors of
        conf/langid.toml. ModelError for another file or format, UsageError for a language without a profile.
        """
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
                return cls._from_arrays(arrays, languages)
        except UsageError:
            raise
        except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile) as error:
            raise ModelError(f"not a language profiles file: {error or type(error).__name__}") from error

    @classmethod
    def load(cls, path: Path, languages: Collection[str] | None = None) -> "Profiles":
        """`from_bytes` of a file; errors name it."""
        try:
            return cls.from_bytes(path.read_bytes(), languages)
        except OSError as error:
            raise ModelError(f"can't read language profiles {path}: {error.strerror}") from error
        except ModelError as error:
            raise ModelError(f"{path}: {error}") from error

    @classmethod
    def of(cls, profiles: Mapping[str, Profile]) -> "Profiles":
        """Profiles of these languages; their nearest ones are found by comparing them all."""
        if len(profiles) > _MAX_LANGUAGES:
            raise UsageError(f"{len(profiles)} languages, but a profiles file holds {_MAX_LANGUAGES}")
        languages = tuple(sorted(profiles))
        return cls(languages, {name: profiles[name] for name in languages}, _nearest(profiles, languages))

    @classmethod
    def _from_arrays(cls, arrays: Any, wanted: Collection[str] | None) -> "Profiles":
        found = int(arrays["format"][0])
        if found != FORMAT:
            stated = f"language profiles of format {found}"
            raise ModelError(f"{stated}, but this code reads {FORMAT}: train them again")
        languages = tuple(_text(arrays["languages"]).split("\n"))
        rows = arrays["nearest"].tolist()
        nearest = {
            name: tuple(languages[i] for i in row if i < len(languages))
            for name, row in zip(languages, rows, strict=True)
        }
        if wanted is not None:
            needed = set(settings().anchors.languages)
            for name in wanted:
                if name not in languages:
                    raise UsageError(f"no profile of language {name!r}{closest(name, languages)}")
                needed |= settings().group(name) | set(nearest[name])
            languages = tuple(sorted(needed.intersection(languages)))
        return cls(languages, {name: _profile(arrays, name) for name in languages}, nearest)

    def to_bytes(self) -> bytes:
        """The file's bytes; equal profiles give equal bytes."""
        output = io.BytesIO()
        index = {name: i for i, name in enumerate(self.languages)}
        nearest = np.full((len(self.languages), N_NEAREST), _MAX_LANGUAGES, dtype=np.uint8)
        for name, i in index.items():
            row = [index[other] for other in self.nearest[name] if other in index]
            nearest[i, : len(row)] = row
        arrays = {"format": np.array([FORMAT], np.uint8), "languages": _bytes("\n".join(self.languages))}
        for name in self.languages:
            profile = self.profiles[name]
            arrays[f"{name}/trigrams"] = _bytes(text_of(profile.trigrams))
            arrays[f"{name}/gains"] = profile.gains
            arrays[f"{name}/ngrams"] = _bytes("\n".join(profile.ngrams))
        np.savez_compressed(output, allow_pickle=False, nearest=nearest, **arrays)
        return output.getvalue()

    def listing(self, language: str) -> Iterator[str]:
        """One language's profile as lines of text: n-grams by rank, then trigrams by probability."""
        if language not in self.profiles:
            raise UsageError(f"no profile of language {language!r}{closest(language, self.languages)}")
        profile = self.profiles[language]
        yield f"# {language}: {len(profile.ngrams)} n-grams by rank (Cavnar-Trenkle); _ is a word's edge"
        for rank, ngram in enumerate(profile.ngrams, start=1):
            yield f"{rank}\t{ngram.replace(' ', '_')}"
        yield f"# {language}: {len(profile.gains)} trigrams by log-probability (Beesley)"
        text = text_of(profile.trigrams)
        for i in profile.commonest().tolist():
            yield f"{FLOOR + STEP * int(profile.gains[i]):.2f}\t{text[3 * i : 3 * i + 3].replace(' ', '_')}"


def _nearest(profiles: Mapping[str, Profile], languages: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Each language's nearest ones: those that share most of its commonest trigrams."""
    common = [packed(profiles[name].trigrams[profiles[name].commonest(_COMMONEST)]) for name in languages]
    keys = np.unique(np.concatenate(common))
    has = np.zeros((len(languages), len(keys)), dtype=np.float32)
    for row, mine in zip(has, common, strict=True):
        row[np.searchsorted(keys, mine)] = 1
    shared = has @ has.T
    np.fill_diagonal(shared, 0)
    order = np.argsort(-shared, axis=1, kind="stable")[:, :N_NEAREST].tolist()
    return {
        name: tuple(languages[j] for j in row if shared[i, j] > 0)
        for i, (name, row) in enumerate(zip(languages, order, strict=True))
    }


def packed(trigrams: UInt32) -> UInt64:
    """Trigrams (n, 3) as one number each."""
    wide = trigrams.astype(np.uint64)
    return (wide[:, 0] << np.uint64(42)) | (wide[:, 1] << np.uint64(21)) | wide[:, 2]


def _profile(arrays: Any, name: str) -> Profile:
    text = _text(arrays[f"{name}/trigrams"])
    points = code_points(text).reshape(-1, 3)
    gains = arrays[f"{name}/gains"]
    if gains.dtype != np.uint8 or len(gains) != len(points):
        raise ModelError(f"damaged language profiles: {name}")
    return Profile(points, gains, tuple(_text(arrays[f"{name}/ngrams"]).split("\n")))


def _bytes(text: str) -> UInt8:
    return np.frombuffer(text.encode("utf-8"), dtype=np.uint8)


def _text(array: UInt8) -> str:
    return array.tobytes().decode("utf-8")
