"""fastText: our own small model, and lid.176, GlotLID and others from a user's file.

Our model was trained on normalised text and says so in its labels (`__label__victor:cs`); any other
model gets the text as it stands, and its labels are mapped to ISO 639-1, else 639-3.
"""

import io
import mmap
import os
import random
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from victor_spark.errors import ModelError, OutputError, UsageError
from victor_spark.langid.identify import UNKNOWN, Guess, Identifier
from victor_spark.langid.labels import iso
from victor_spark.langid.normalise import normalised
from victor_spark.langid.settings import settings

_LABEL: Final = "__label__"
_OURS: Final = "victor:"
_N_LABELS: Final = 10
"""How many of a model's labels are looked at for the best rival outside the confusable group."""

LEAST_THREADS: Final = 12
"""fastText 0.9.3 initialises a tenth of the weights a thread: with fewer than 11, some are garbage."""
_PIECE_LENGTHS: Final = (4, 9, 20)
_LEAST_WORDS: Final = 40_000
_MOST_WORDS: Final = 80_000
_MOST_REPEATS: Final = 4
_LETTERS_PER_WORD: Final = 4
_LONG_WORD: Final = 30
_TRAINING: Final[Mapping[str, Any]] = {
    "minn": 2,
    "maxn": 5,
    "minCount": 1_000_000_000,  # no words of their own, only their n-grams: a third of the size
    "loss": "softmax",
    "lr": 0.5,
    "epoch": 6,
    "seed": 1,
    "verbose": 1,
}


def identifier(path: Path) -> Identifier:
    """Identification by a fastText model; UsageError without the package, ModelError for no model."""
    model = _load(path)
    ours = all(label.startswith(_LABEL + _OURS) for label in model.get_labels())
    return partial(_identify, model, ours)


def _module() -> Any:
    try:
        import fasttext
    except ImportError as error:
        raise UsageError("this needs fastText: pip install 'victor-spark[fasttext]'") from error
    return fasttext


def _load(path: Path) -> Any:
    fasttext = _module()
    found = file_labels(path)
    if not found or not all(label.startswith(_LABEL) for label in found):
        raise ModelError(f"{path} is a fastText model, but none that classifies languages")
    try:
        with redirect_stderr(io.StringIO()):  # the loader prints a warning of its own
            return fasttext.load_model(str(path))
    except (ValueError, MemoryError, RuntimeError) as error:
        raise ModelError(f"{path} is no fastText model: {error or type(error).__name__}") from error


def _identify(model: Any, ours: bool, texts: Sequence[str]) -> list[Guess]:
    if not texts:
        return []
    read = [normalised(text) for text in texts]
    letters = [len(text) - text.count(" ") for text in read]
    given = read if ours else [" ".join(text.split()) for text in texts]
    clean = [text.encode("utf-8", "replace").decode("utf-8") for text in given]
    labels, probabilities = model.predict(clean, k=_N_LABELS)
    least = settings().page.least_letters
    return [
        _guess(names, scores) if n_letters >= least else UNKNOWN
        for names, scores, n_letters in zip(labels, probabilities, letters, strict=True)
    ]


def _guess(labels: Sequence[str], probabilities: Sequence[float]) -> Guess:
    names = [_name(label) for label in labels]
    scores = [min(max(float(score), 0.0), 1.0) for score in probabilities]
    if not names:
        return UNKNOWN
    group = settings().group(names[0])
    rival = max((score for name, score in zip(names, scores, strict=True) if name not in group), default=0.0)
    return Guess(names[0], scores[0] - rival, scores[0])


def _name(label: str) -> str:
    name = label.removeprefix(_LABEL)
    return name.removeprefix(_OURS) if name.startswith(_OURS) else iso(name)


def train(
    texts: Iterable[tuple[str, str]],
    output: Path,
    *,
    threads: int = LEAST_THREADS,
    dim: int = 16,
    bucket: int = 500_000,
) -> None:
    """Trains and quantises our model on (language, text) pairs: two minutes for 122 languages.

    `dim` and `bucket` (the number of hash buckets for n-grams) decide its size. Every run gives a slightly
    different model.
    """
    fasttext = _module()
    if not os.access(output.parent, os.W_OK):
        raise OutputError(f"can't write {output}: no such directory, or not ours to write to")
    with TemporaryDirectory(prefix="victor-langid-") as folder:
        lines = [
            f"{_LABEL}{_OURS}{language} {piece}\n" for language, text in texts for piece in _pieces(text)
        ]
        random.Random(_TRAINING["seed"]).shuffle(lines)  # training goes in order and weighs later lines more
        file = Path(folder) / "train.txt"
        file.write_text("".join(lines), "utf-8")
        model = fasttext.train_supervised(
            input=str(file), thread=threads, dim=dim, bucket=bucket, **_TRAINING
        )
        model.quantize(qnorm=True)
        try:
            model.save_model(str(output))
        except (ValueError, OSError) as error:
            raise OutputError(f"can't write {output}: {error}") from error


def _pieces(text: str) -> Iterator[str]:
    """Normalised pieces of few, some and many words; short texts several times, long ones cut."""
    words = normalised(text).split()
    words = [part for word in words for part in _cut(word)][:_MOST_WORDS]
    repeats = min(max(-(-_LEAST_WORDS // max(len(words), 1)), 1), _MOST_REPEATS)
    for repeat in range(repeats):
        start, turn = 0, repeat
        while start < len(words):
            length = _PIECE_LENGTHS[turn % len(_PIECE_LENGTHS)]
            yield " ".join(words[start : start + length])
            start, turn = start + length, turn + 1


def _cut(word: str) -> Iterator[str]:
    """The word; a run of an unspaced script in short parts, so that lengths mean something."""
    if len(word) <= _LONG_WORD:
        return iter([word])
    return (word[i : i + _LETTERS_PER_WORD] for i in range(0, len(word), _LETTERS_PER_WORD))


_MAGIC: Final = 793712314
_ARGUMENTS: Final = 12 * 4 + 8
_LABEL_ENTRY: Final = 1
_CENTROIDS: Final = 256
_MOST: Final = 1 << 62


class _Reader:
    """A position in the file; reading past the end raises struct.error."""

    def __init__(self, content: mmap.mmap) -> None:
        self.content = content
        self.at = 0

    def read(self, kinds: str) -> tuple[int, ...]:
        """Numbers of these kinds (as in `struct`), little-endian."""
        numbers = struct.unpack_from(f"<{kinds}", self.content, self.at)
        self.at += struct.calcsize(f"<{kinds}")
        return numbers

    def word(self) -> bytes:
        """The bytes up to a NUL."""
        end = self.content.find(b"\0", self.at)
        if end < 0:
            raise struct.error("a word without end")
        word = self.content[self.at : end]
        self.at = end + 1
        return word

    def skip(self, n_bytes: int) -> None:
        """Goes on behind these bytes."""
        if not 0 <= n_bytes < _MOST:
            raise struct.error("a size that can't be")
        self.at += n_bytes


def file_labels(path: Path) -> list[str]:
    """The labels of a classifier; ModelError for a file that is no model or is incomplete.

    fastText's own loader does not check, and an incomplete file crashes the process. The layout (versions 11
    and 12): a header, the dictionary, the input matrix and the output matrix, dense or quantised.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            reader = _Reader(content)
            found = _scan(reader)
            if reader.at != len(content):
                raise ModelError(f"{path} is a damaged fastText model: {len(content)} bytes, not {reader.at}")
            return found
    except OSError as error:
        raise ModelError(f"can't read language model {path}: {error.strerror}") from error
    except (struct.error, ValueError, UnicodeDecodeError) as error:
        raise ModelError(f"{path} is no fastText model") from error


def _scan(reader: _Reader) -> list[str]:
    magic, _version = reader.read("ii")
    if magic != _MAGIC:
        raise struct.error("another magic number")
    reader.skip(_ARGUMENTS)
    n_entries, _n_words, _n_labels, _n_tokens, n_pruned = reader.read("iiiqq")
    found = []
    for _ in range(n_entries):
        word = reader.word()
        _count, kind = reader.read("qb")
        if kind == _LABEL_ENTRY:
            found.append(word.decode("utf-8"))
    reader.skip(8 * max(n_pruned, 0))
    (is_quantised,) = reader.read("?")
    _skip_matrix(reader, quantised=bool(is_quantised))
    (is_output_quantised,) = reader.read("?")
    _skip_matrix(reader, quantised=bool(is_quantised and is_output_quantised))
    return found


def _skip_matrix(reader: _Reader, *, quantised: bool) -> None:
    if not quantised:
        n_rows, n_columns = reader.read("qq")
        reader.skip(4 * n_rows * n_columns)
        return
    has_norms, n_rows, _n_columns, n_codes = reader.read("?qqi")
    reader.skip(n_codes)
    _skip_quantiser(reader)
    if has_norms:
        reader.skip(n_rows)
        _skip_quantiser(reader)


def _skip_quantiser(reader: _Reader) -> None:
    dim, _n_parts, _part, _last_part = reader.read("iiii")
    reader.skip(4 * dim * _CENTROIDS)
