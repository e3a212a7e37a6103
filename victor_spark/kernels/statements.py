# cython: language_level=3, infer_types=True
"""Where the tags of a page stand that say something about the page itself. Cython pure Python mode."""

import cython

META = 1
LINK = 2
HTML = 3
TITLE = 4
HEADING = 5
TIME = 6
JSON_LD = 7
MARKED = 8
N_KINDS = 9
MOST = 200

_META = cython.declare(cython.int, META)
_LINK = cython.declare(cython.int, LINK)
_HTML = cython.declare(cython.int, HTML)
_TITLE = cython.declare(cython.int, TITLE)
_HEADING = cython.declare(cython.int, HEADING)
_TIME = cython.declare(cython.int, TIME)
_JSON_LD = cython.declare(cython.int, JSON_LD)
_MARKED = cython.declare(cython.int, MARKED)
_LONGEST_NAME = cython.declare(cython.Py_ssize_t, 8)
_MOST = cython.declare(cython.int, MOST)


@cython.ccall
def statements(
    source: cython.const[cython.uchar][::1],
    found: cython.int[:, ::1],
    counts: cython.int[::1],
    marked: cython.bint,
) -> cython.Py_ssize_t:
    """Fills `found` with (kind, start, end) of tags in the order of the source; returns the number of rows.

    With `marked`, only tags of kind MARKED: those of other elements with `author`, `byline`, `publish` or
    `date` within; without, all other kinds. The content of scripts, styles and comments holds no tags. At
    most MOST of a kind are reported: `found` needs MOST rows a kind, and `counts` N_KINDS zeros.
    """
    n: cython.Py_ssize_t = source.shape[0]
    n_found: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t = 0
    while i < n:
        if source[i] != 60:  # <
            i += 1
            continue
        begin = i
        i += 1
        if i + 2 < n and source[i] == 33 and source[i + 1] == 45 and source[i + 2] == 45:  # !--
            i = _after_comment(source, i + 3)
            continue
        if i >= n or not _is_letter(source[i]):
            continue
        kind = _kind(source, i)
        end = _tag_end(source, i)
        i = end
        if kind == _JSON_LD:
            if not _holds(source, begin, end, b"ld+json\0"):
                kind = 0
            i = _raw_end(source, end, b"script\0")
        elif kind < 0:
            kind = 0
            i = _raw_end(source, end, b"style\0")
        elif kind == 0 and marked and _is_marked(source, begin, end):
            kind = _MARKED
        if kind and (kind == _MARKED) == marked and counts[kind] < _MOST and n_found < found.shape[0]:
            counts[kind] += 1
            found[n_found, 0] = kind
            found[n_found, 1] = begin
            found[n_found, 2] = end
            n_found += 1
    return n_found


@cython.cfunc
@cython.inline
def _is_letter(c: cython.uchar) -> cython.bint:
    return 97 <= (c | 32) <= 122


@cython.cfunc
def _kind(source: cython.const[cython.uchar][::1], i: cython.Py_ssize_t) -> cython.int:
    """The kind of the element whose name begins at `i`: JSON_LD for a script, -1 for a style, else 0."""
    name: cython.ulonglong = 0
    length: cython.Py_ssize_t = 0
    while i + length < source.shape[0] and length < _LONGEST_NAME:
        c = source[i + length]
        if not (_is_letter(c) or 48 <= c <= 57):
            break
        name = (name << 8) | (c | 32)
        length += 1
    if name == 0x6D657461:
        return _META
    if name == 0x6C696E6B:
        return _LINK
    if name == 0x68746D6C:
        return _HTML
    if name == 0x7469746C65:
        return _TITLE
    if name == 0x6831:
        return _HEADING
    if name == 0x74696D65:
        return _TIME
    if name == 0x736372697074:
        return _JSON_LD
    return -1 if name == 0x7374796C65 else 0


@cython.cfunc
def _tag_end(source: cython.const[cython.uchar][::1], i: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """The place after the tag's `>` (not one within a quoted value); the source's end without one."""
    quote: cython.uchar = 0
    last: cython.uchar = 0
    while i < source.shape[0]:
        c = source[i]
        i += 1
        if quote:
            if c == quote:
                quote = 0
        elif c == 62:  # >
            return i
        elif (c == 34 or c == 39) and last == 61:  # a quote after =
            quote = c
        if c > 32:
            last = c
    return i


@cython.cfunc
def _after_comment(source: cython.const[cython.uchar][::1], i: cython.Py_ssize_t) -> cython.Py_ssize_t:
    while i + 2 < source.shape[0]:
        if source[i] == 45 and source[i + 1] == 45 and source[i + 2] == 62:
            return i + 3
        i += 1
    return source.shape[0]


@cython.cfunc
def _raw_end(
    source: cython.const[cython.uchar][::1], i: cython.Py_ssize_t, name: cython.p_const_char
) -> cython.Py_ssize_t:
    """Where the end tag of a script or style begins; the source's end without one."""
    while i + 1 < source.shape[0]:
        if source[i] == 60 and source[i + 1] == 47:  # </
            k = 0
            while name[k] != 0 and i + 2 + k < source.shape[0] and (source[i + 2 + k] | 32) == name[k]:
                k += 1
            if name[k] == 0:
                return i
        i += 1
    return source.shape[0]


@cython.cfunc
def _holds(
    source: cython.const[cython.uchar][::1],
    i: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    word: cython.p_const_char,
) -> cython.bint:
    """Whether a word of small letters stands between two places, in letters of any case."""
    while i < end:
        k = 0
        while word[k] != 0 and i + k < end and (source[i + k] | 32) == (word[k] | 32):
            k += 1
        if word[k] == 0:
            return True
        i += 1
    return False


@cython.cfunc
def _is_marked(
    source: cython.const[cython.uchar][::1], i: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.bint:
    """Whether a tag holds one of the marks; each has a letter in its middle that is looked for first."""
    c: cython.uchar
    begin: cython.Py_ssize_t = i
    while i + 3 < end:
        c = source[i] | 32
        if c == 116 and i >= begin + 2 and (source[i + 1] | 32) == 104 and (source[i - 1] | 32) == 117:
            if _holds(source, i - 2, i + 4, b"author\0"):
                return True
        elif c == 98:
            if _holds(source, i, i + 6 if i + 6 < end else end, b"byline\0"):
                return True
            if i >= begin + 2 and _holds(source, i - 2, i + 5 if i + 5 < end else end, b"publish\0"):
                return True
        elif c == 100 and _holds(source, i, i + 4, b"date\0"):
            return True
        i += 1
    return False
