"""Joins kept blocks into running text. Cython pure Python mode."""

from typing import Any

import cython
import numpy as np
from cython import Py_ssize_t
from cython.cimports.victor_spark.kernels import num

num.check()


@cython.ccall
def assemble(
    points: num.UInts,
    starts: num.Ints,
    ends: num.Ints,
    paragraphs: num.Ints,
    spaces: num.Ints,
    white_space: num.Ints,
    listing: num.Ints,
    left_out: num.Bytes,
    gaps: num.UInts,
    gap_ends: num.Ints,
    kept: num.Bytes,
    properties: num.Bytes,
    first: Py_ssize_t,
    after: Py_ssize_t,
) -> Any:
    """The text of the kept blocks from `first` up to `after`, as code points.

    Blocks of one paragraph are joined by a space where the page has one (`spaces` is 1; 1 + n: by n tabs,
    also at the beginning of a line), paragraphs by a newline, and blocks of one listing by the white space
    between them. White space inside a block collapses to one space, or to its line breaks, where
    `white_space` says so; a line break between Chinese or Japanese characters is no space.
    """
    size: Py_ssize_t = gap_ends[after - 1] - (gap_ends[first - 1] if first else 0)
    for block in range(first, after):
        if kept[block]:
            size += ends[block] - starts[block] + 1 + spaces[block]
    written = np.empty(size, dtype=np.uint32)
    out: cython.uint[::1] = memoryview(written)
    n: Py_ssize_t = 0
    last: Py_ssize_t = -1
    is_apart: cython.bint = False  # since the last kept block, a block or a space was dropped
    for block in range(first, after):
        if not kept[block]:
            is_apart = is_apart or not left_out[block] or spaces[block] != 0
            continue
        end = start = gap_ends[block]
        if (
            last >= 0
            and listing[block] != 0
            and listing[block] == listing[last]
            and (white_space[block] == num.CODE or paragraphs[block] == paragraphs[last])
        ):
            start = gap_ends[last]
            i = last + 1
            while i < block and left_out[i]:
                i += 1
            if i < block:  # one line break or space where code was dropped
                start = _last_line(gaps, start, end)
                out[n] = ord("\n") if start > gap_ends[last] else ord(" ")
                start = start if out[n] == ord("\n") else end
                n += 1
        elif last < 0 or paragraphs[block] != paragraphs[last]:
            if last >= 0:
                out[n] = ord("\n")
                n += 1
            if white_space[block] == num.CODE:
                start = _last_line(gaps, gap_ends[block - 1] if block else 0, end)
            n = _with_tabs(out, n, spaces[block] - 1)
        elif spaces[block] > 1:
            n = _with_tabs(out, n, spaces[block] - 1)
        elif spaces[block] or is_apart:
            out[n] = ord(" ")
            n += 1
        for i in range(start, end):
            out[n] = gaps[i]
            n += 1
        if white_space[block] > num.LINES:
            for i in range(starts[block], ends[block]):
                if points[i] != ord("\r"):
                    out[n] = points[i]
                    n += 1
        else:
            keeps_lines = white_space[block] == num.LINES
            n = _with_collapsed(points, starts[block], ends[block], keeps_lines, properties, out, n)
        last, is_apart = block, False
    return written[:n]


@cython.cfunc
@cython.inline
def _with_collapsed(
    points: num.UInts,
    start: Py_ssize_t,
    end: Py_ssize_t,
    keeps_lines: cython.bint,
    properties: num.Bytes,
    out: cython.uint[::1],
    n: Py_ssize_t,
) -> Py_ssize_t:
    """Writes a block's text; a run of white space becomes a space, or its line breaks with `keeps_lines`."""
    was_white: cython.int = 0
    i: Py_ssize_t = start
    while i < end:
        c = points[i]
        white: cython.int = _is_white(c, properties)
        if c == ord("\n"):
            n -= was_white
            n_lines: Py_ssize_t = 0
            while i < end and _is_white(points[i], properties):
                n_lines += points[i] == ord("\n")
                i += 1
            if i < end and keeps_lines:
                for _ in range(n_lines):
                    out[n] = ord("\n")
                    n += 1
            elif i < end and not (n and is_wide(points[i]) and is_wide(out[n - 1])):
                out[n] = ord(" ")
                n += 1
            was_white = 0
            continue
        out[n] = ord(" ") if white else c  # without a branch, which would be mispredicted
        n += 1 - (white & was_white)
        was_white = white
        i += 1
    return n - was_white


@cython.cfunc
@cython.inline
def _is_white(c: cython.uint, properties: num.Bytes) -> cython.bint:
    return c < num.N_CODE_POINTS and (properties[c] & num.CLASS_MASK) == num.WHITE


@cython.cfunc
@cython.inline
def _with_tabs(out: cython.uint[::1], n: Py_ssize_t, n_tabs: cython.int) -> Py_ssize_t:
    for i in range(n, n + n_tabs):
        out[i] = ord("\t")
    return n + n_tabs if n_tabs > 0 else n


@cython.ccall
def is_wide(c: cython.uint) -> cython.bint:
    """Whether a character is Chinese or Japanese: a line break between two of them is no space."""
    if 0x3130 <= c <= 0x318F:  # letters of Hangul
        return False
    return (
        num.FIRST_WIDE <= c <= 0xA4CF  # radicals, kana, ideographs and Yi
        or 0xF900 <= c <= 0xFAFF  # compatibility ideographs
        or 0xFF01 <= c <= 0xFF9F  # full-width signs, half-width katakana
        or 0x20000 <= c <= 0x3FFFF  # the planes of rare ideographs
    )


@cython.cfunc
@cython.inline
def _last_line(gaps: num.UInts, first: Py_ssize_t, end: Py_ssize_t) -> Py_ssize_t:
    """Where the last line of the white space from `first` to `end` begins."""
    while end > first and gaps[end - 1] != ord("\n"):
        end -= 1
    return end
