# cython: language_level=3
"""Checks of a page's bytes before parsing: whether they are UTF-8, counts, and positions.

The number of iterations of the inner loops does not depend on the bytes, so compilers vectorise them. Cython
pure Python mode.
"""

import cython

_STRIDE = cython.declare(cython.Py_ssize_t, 128)


@cython.ccall
def count(source: cython.const[cython.uchar][::1], wanted: cython.uchar) -> cython.Py_ssize_t:
    """How often a byte occurs in the source."""
    n: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t
    k: cython.Py_ssize_t
    found: cython.uchar
    while i < source.shape[0]:
        end = i + _STRIDE if i + _STRIDE <= source.shape[0] else source.shape[0]
        found = 0
        for k in range(i, end):
            found += source[k] == wanted
        n += found
        i = end
    return n


@cython.ccall
def iframe_from(source: cython.const[cython.uchar][::1], i: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """The offset of the first lower-case `<iframe` from `i` on; -1 if there is none."""
    last: cython.Py_ssize_t = source.shape[0] - 7
    end: cython.Py_ssize_t
    k: cython.Py_ssize_t
    found: cython.uchar
    while i <= last:
        end = i + _STRIDE if i + _STRIDE <= last else last + 1
        found = 0
        for k in range(i, end):  # `<i` alone begins many tags
            found |= (source[k] == 60) & (source[k + 2] == 102)
        if found:
            for k in range(i, end):
                if (
                    source[k] == 60
                    and source[k + 1] == 105
                    and source[k + 2] == 102
                    and source[k + 3] == 114
                    and source[k + 4] == 97
                    and source[k + 5] == 109
                    and source[k + 6] == 101
                ):
                    return k
        i = end
    return -1


@cython.ccall
def is_utf8(source: cython.const[cython.uchar][::1]) -> cython.bint:
    """Whether Python would decode the source as UTF-8: no surrogates, no overlong sequences."""
    n: cython.Py_ssize_t = source.shape[0]
    i: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t
    k: cython.Py_ssize_t
    high: cython.uchar
    width: cython.Py_ssize_t
    c: cython.uint
    least: cython.uint
    most: cython.uint
    while i < n:
        end = i + _STRIDE if i + _STRIDE <= n else n
        high = 0
        for k in range(i, end):
            high |= source[k]
        if high < 128:
            i = end
            continue
        while i < end:
            c = source[i]
            if c < 128:
                i += 1
                continue
            least = 128
            most = 191
            if c < 194:
                return False
            if c < 224:
                width = 2
            elif c < 240:
                width = 3
                least = 160 if c == 224 else 128
                most = 159 if c == 237 else 191
            elif c < 245:
                width = 4
                least = 144 if c == 240 else 128
                most = 143 if c == 244 else 191
            else:
                return False
            if i + width > n or source[i + 1] < least or source[i + 1] > most:
                return False
            if width > 2 and (source[i + 2] & 192) != 128:
                return False
            if width > 3 and (source[i + 3] & 192) != 128:
                return False
            i += width
    return True
