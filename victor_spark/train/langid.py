"""From text to a profile: counting trigrams and n-grams of one to five characters."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from victor_spark.blocks import Int64
from victor_spark.errors import InputError, UsageError
from victor_spark.kernels import code_points
from victor_spark.kernels.num import HAN_FIRST, HAN_LAST, LONGEST_NGRAM, MORE_HAN_FIRST
from victor_spark.langid.normalise import folded
from victor_spark.langid.profiles import FLOOR, STEP, Profile, Profiles

N_TRIGRAMS: Final = 5000
N_NGRAMS: Final = 400
LEAST_LETTERS: Final = 1000
UNPACK: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    ".gz": gzip.decompress,
    ".xz": lzma.decompress,
    ".bz2": bz2.decompress,
}
_BITS: Final = 21
_SPACE: Final = ord(" ")


def read(path: Path) -> str:
    """The text of a UTF-8 file, plain, .gz, .xz or .bz2; InputError for anything that is no text."""
    try:
        content = UNPACK.get(path.suffix, bytes)(path.read_bytes())
    except (OSError, EOFError, lzma.LZMAError, zlib.error, ValueError) as error:  # bz2: ValueError
        raise InputError(f"can't read {path}: {getattr(error, 'strerror', None) or error}") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no UTF-8 text: byte {error.start} can't be decoded") from error
    if "\0" in text:
        raise InputError(f"{path} is no text: it holds NUL characters")
    return text


def profile(text: str, name: str = "the text") -> Profile:
    """The profile of one language's text; InputError if the text is too short."""
    points = code_points(text)
    letters = folded(points, np.array([0], np.int32), np.array([len(points)], np.int32))[0].astype(np.int64)
    letters = np.concatenate([[_SPACE], letters, [_SPACE]])
    doubled = (letters[1:] == _SPACE) & (letters[:-1] == _SPACE)
    characters = letters[np.append(True, ~doubled)]  # single spaces, also at either end
    n_letters = int((characters != _SPACE).sum())
    if n_letters < LEAST_LETTERS:
        raise InputError(f"{name} has {n_letters} letters; a profile needs at least {LEAST_LETTERS}")
    trigrams, gains = _trigrams(characters)
    return Profile(trigrams, gains, tuple(_ngrams(characters)))


def train(texts: Iterable[tuple[str, str]], known: Mapping[str, Profile] | None = None) -> Profiles:
    """Profiles of (language, text) pairs, and the `known` ones of all other languages, unchanged."""
    profiles: dict[str, Profile] = {}
    for language, text in texts:
        if language in profiles:
            raise UsageError(f"two training files for language {language!r}")
        profiles[language] = profile(text, language)
    return Profiles.of({**(known or {}), **profiles})


def _trigrams(characters: Int64) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
    """The commonest trigrams in ascending order and their quantised log-probabilities.

    A word's first letter follows two spaces, no trigram spans two words, and an ideograph is a word
    of its own (there are too many pairs of them to count).
    """
    alone = ((characters >= HAN_FIRST) & (characters <= HAN_LAST)) | (characters >= MORE_HAN_FIRST)
    context = np.where(alone, _SPACE, characters)
    third = characters[1:]
    second = np.where(alone[1:], _SPACE, context[:-1])
    first = np.where(second == _SPACE, _SPACE, np.concatenate([[_SPACE], context[:-2]]))
    in_word = (second != _SPACE) | (third != _SPACE)
    keys = (first << 2 * _BITS) | (second << _BITS) | third
    keys, counts = np.unique(keys[in_word], return_counts=True)
    top = np.sort(np.lexsort((keys, -counts))[:N_TRIGRAMS])
    keys, log_probabilities = keys[top], np.log(counts[top] / counts.sum())
    mask = (1 << _BITS) - 1
    trigrams = np.stack([keys >> 2 * _BITS, (keys >> _BITS) & mask, keys & mask], axis=1)
    gains = np.clip(np.rint((log_probabilities - FLOOR) / STEP), 1, 255)
    return trigrams.astype(np.uint32), gains.astype(np.uint8)


def _ngrams(characters: Int64) -> list[str]:
    """The commonest n-grams of one to five characters within a word and its two spaces.

    Of equal counts the shorter comes first, so a kept n-gram's beginnings are kept before it.
    """
    ids = np.zeros(len(characters), dtype=np.int64)  # equal n-grams that start here have equal ids
    counted: list[tuple[int, int, str]] = []
    for length in range(1, LONGEST_NGRAM + 1):
        windows = sliding_window_view(characters == _SPACE, length)
        within_word = ~windows[:, 1:-1].any(axis=1)  # no space but at their ends
        starts = np.flatnonzero(within_word)
        keys = (ids[starts] << _BITS) | characters[starts + length - 1]
        _, first, inverse, counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        ids[:] = 0
        ids[starts] = inverse
        for i in np.argsort(-counts, kind="stable")[: N_NGRAMS + 1].tolist():
            start = starts[first[i]]
            text = "".join(map(chr, characters[start : start + length].tolist()))
            if text != " ":
                counted.append((-int(counts[i]), length, text))
    return [text for _, _, text in sorted(counted)[:N_NGRAMS]]
