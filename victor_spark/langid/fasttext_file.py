"""Is this file a whole fastText model? Its loader doesn't ask, and a file cut short crashes the process.

The layout is fastText's own (versions 11 and 12): a header, the dictionary, the input matrix and the
output matrix, dense or quantised.
"""

import mmap
import struct
from pathlib import Path
from typing import Final

from victor_spark.errors import ModelError

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


def labels(path: Path) -> list[str]:
    """The labels of a classifier; ModelError for a file that is no model, or not all of one."""
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
