# cython: language_level=3
"""Joins kept blocks into running text. Cython pure Python mode."""

import cython

_WHITE = cython.declare(cython.int, 4)
_CLASS = cython.declare(cython.int, 7)


@cython.ccall
@cython.boundscheck(False)
@cython.wraparound(False)
def assemble(
    points: cython.const[cython.uint][::1],
    starts: cython.const[cython.int][::1],
    ends: cython.const[cython.int][::1],
    paragraphs: cython.const[cython.int][::1],
    spaces: cython.const[cython.int][::1],
    verbatim: cython.const[cython.uchar][::1],
    kept: cython.const[cython.uchar][::1],
    properties: cython.const[cython.uchar][::1],
    out: cython.uint[::1],
) -> cython.Py_ssize_t:
    """Writes the kept blocks' text to `out` (len(points) is enough) and returns its length.

    Blocks of one paragraph are joined by a space where the page has one, paragraphs by a newline;
    white space inside a block collapses to one space unless the block is `verbatim`.
    """
    n: cython.Py_ssize_t = 0
    block: cython.Py_ssize_t
    last: cython.Py_ssize_t = -1
    i: cython.Py_ssize_t
    c: cython.uint
    white: cython.bint
    was_white: cython.bint
    for block in range(starts.shape[0]):
        if not kept[block]:
            continue
        if last >= 0:
            if paragraphs[block] != paragraphs[last]:
                out[n] = 10
                n += 1
            elif spaces[block] or last != block - 1:
                out[n] = 32
                n += 1
        was_white = False
        for i in range(starts[block], ends[block]):
            c = points[i]
            white = c < 1114112 and (properties[c] & _CLASS) == _WHITE
            if not white:
                out[n] = c
                n += 1
            elif verbatim[block]:
                if c != 13:
                    out[n] = c
                    n += 1
            elif not was_white:
                out[n] = 32
                n += 1
            was_white = white
        last = block
    return n
