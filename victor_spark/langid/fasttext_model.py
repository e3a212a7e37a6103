"""fastText: lid.176, GlotLID and others from a user's file.

A model that was trained on normalised text has labels that show it (`__label__victor:cs`, see
`research.langid_fasttext`); others get the text as it is, and their labels become ISO 639-1, else 639-3.
"""

import io
import mmap
import os
import struct
from collections.abc import Sequence
from contextlib import redirect_stderr
from functools import partial
from pathlib import Path
from typing import Any, Final

from victor_spark.errors import ModelError, UsageError
from victor_spark.langid.identify import UNKNOWN, Guess, Identifier
from victor_spark.langid.labels import iso
from victor_spark.langid.normalise import normalised
from victor_spark.langid.settings import settings

LABEL: Final = "__label__"
OURS: Final = "victor:"


def identifier(path: Path) -> Identifier:
    """Identification by a fastText model; UsageError without the package, ModelError for no model."""
    try:
        import fasttext
    except ImportError as error:
        raise UsageError("--lid-model needs fastText: pip install 'victor-spark[fasttext]'") from error
    found = file_labels(path)
    if not found or not all(label.startswith(LABEL) for label in found):
        raise ModelError(f"{path} is a fastText model, but none that classifies languages")
    try:
        with redirect_stderr(io.StringIO()):  # the loader prints a warning of its own
            model = fasttext.load_model(str(path))
    except (ValueError, MemoryError, RuntimeError) as error:
        raise ModelError(f"{path} is no fastText model: {error or type(error).__name__}") from error
    return partial(_identify, model, all(label.startswith(LABEL + OURS) for label in found))


def _identify(model: Any, ours: bool, texts: Sequence[str]) -> list[Guess]:
    if not texts:
        return []
    read = [normalised(text) for text in texts]
    letters = [len(text) - text.count(" ") for text in read]
    given = read if ours else [" ".join(text.split()) for text in texts]
    clean = [text.encode("utf-8", "replace").decode("utf-8") for text in given]
    labels, probabilities = model.predict(clean)
    least = settings().page.least_letters
    return [
        Guess(_name(names[0]), min(max(float(scores[0]), 0.0), 1.0))
        if len(names) and n_letters >= least
        else UNKNOWN
        for names, scores, n_letters in zip(labels, probabilities, letters, strict=True)
    ]


def _name(label: str) -> str:
    name = label.removeprefix(LABEL)
    return name.removeprefix(OURS) if name.startswith(OURS) else iso(name)


_MAGIC: Final = 793712314
_ARGUMENTS: Final = 12 * 4 + 8
_LABEL_ENTRY: Final = 1
_CENTROIDS: Final = 256


def file_labels(path: Path) -> list[str]:
    """The labels of a classifier; ModelError for a file that is no model or is incomplete.

    fastText's own loader does not check, and an incomplete file crashes the process. The layout (versions 11
    and 12): a header, the dictionary, the input matrix and the output matrix, dense or quantised.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            labels = _labels(content)
            _skip_matrices(content)
            return labels
    except OSError as error:
        raise ModelError(f"can't read language model {path}: {error.strerror}") from error
    except (struct.error, ValueError, OverflowError) as error:
        raise ModelError(f"{path} is no fastText model, or a damaged one") from error


def _numbers(content: mmap.mmap, kinds: str) -> tuple[int, ...]:
    """The next numbers in the file, of these kinds (as in `struct`); struct.error at its end."""
    return struct.unpack(f"<{kinds}", content.read(struct.calcsize(f"<{kinds}")))


def _skip(content: mmap.mmap, n_bytes: int) -> None:
    """Skips these bytes; ValueError if the file ends before them."""
    if n_bytes < 0:
        raise ValueError("a negative size")
    content.seek(n_bytes, os.SEEK_CUR)


def _labels(content: mmap.mmap) -> list[str]:
    """Reads the header and the dictionary."""
    magic, _version = _numbers(content, "ii")
    if magic != _MAGIC:
        raise ValueError("another magic number")
    _skip(content, _ARGUMENTS)
    n_entries, _n_words, _n_labels, _n_tokens, n_pruned = _numbers(content, "iiiqq")
    labels = []
    for _ in range(n_entries):
        begin = content.tell()
        end = content.find(b"\0", begin)
        _skip(content, end + 1 - begin)
        _count, kind = _numbers(content, "qb")
        if kind == _LABEL_ENTRY:
            labels.append(content[begin:end].decode("utf-8"))
    _skip(content, 8 * max(n_pruned, 0))
    return labels


def _skip_matrices(content: mmap.mmap) -> None:
    """Skips the input and output matrix; ValueError if the file does not end there."""
    is_quantised = True  # the output can be only where the input is
    for _ in ("input", "output"):
        is_quantised = bool(_numbers(content, "?")[0] and is_quantised)
        if not is_quantised:
            n_rows, n_columns = _numbers(content, "qq")
            _skip(content, 4 * n_rows * n_columns)
            continue
        has_norms, n_rows, _n_columns, n_codes = _numbers(content, "?qqi")
        for size in (n_codes, n_rows) if has_norms else (n_codes,):
            _skip(content, size)
            dim, _n_parts, _part, _last_part = _numbers(content, "iiii")
            _skip(content, 4 * dim * _CENTROIDS)
    if content.read(1):
        raise ValueError("it goes on after its end")
