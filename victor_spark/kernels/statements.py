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
ATTRIBUTES = ("", "data-testid", "id", "class", "rel", "itemprop")
"""What can mark an element; of several attributes the last one here counts."""

_META = cython.declare(cython.int, META)
_LINK = cython.declare(cython.int, LINK)
_HTML = cython.declare(cython.int, HTML)
_TITLE = cython.declare(cython.int, TITLE)
_HEADING = cython.declare(cython.int, HEADING)
_TIME = cython.declare(cython.int, TIME)
_JSON_LD = cython.declare(cython.int, JSON_LD)
_MARKED = cython.declare(cython.int, MARKED)
_STYLE = cython.declare(cython.int, -1)
_LONGEST_NAME = cython.declare(cython.Py_ssize_t, 8)
_MOST = cython.declare(cython.int, MOST)
_NAME_TITLE = cython.declare(cython.ulonglong, 0x7469746C65)
_NAME_SCRIPT = cython.declare(cython.ulonglong, 0x736372697074)
_NAME_STYLE = cython.declare(cython.ulonglong, 0x7374796C65)
"""Names as numbers, declared here: such literals are Python objects in compiled code."""
_ONES = cython.declare(cython.ulonglong, 0x0101010101010101)
_HIGH = cython.declare(cython.ulonglong, 0x8080808080808080)
_LETTERS = cython.declare(cython.ulonglong, 1 << 4 | 1 << 8 | 1 << 25)
"""d, h and y: one of them is in every mark."""


@cython.ccall
def statements(
    source: cython.const[cython.uchar][::1],
    words: cython.const[cython.ulonglong][::1],
    found: cython.int[:, ::1],
    counts: cython.int[::1],
) -> cython.Py_ssize_t:
    """Fills `found` with tags in the order of the source; returns the number of rows.

    A row: kind, start, end, then two pairs of places: of a META its name and its content, of a LINK its rel
    and its href, of JSON_LD its text in the second. MARKED are other elements with `author`, `byline`,
    `publish` or `date` in one of ATTRIBUTES: their rows have its number twice, then the places of its value.
    Of `link`, only canonical addresses and licences count. The content of scripts, styles and comments
    holds no tags. `words`: the source, 8 bytes each, without its last 7 bytes at most. At most MOST of a kind
    are reported: `found` needs MOST rows a kind, and `counts` N_KINDS zeros.
    """
    n: cython.Py_ssize_t = source.shape[0]
    n_found: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t = 0
    name_start: cython.Py_ssize_t
    name_end: cython.Py_ssize_t
    value_start: cython.Py_ssize_t
    value_end: cython.Py_ssize_t
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    behind: cython.Py_ssize_t
    c: cython.uchar
    while True:
        i = _next(source, words, i, 60)  # <
        if i >= n:
            return n_found
        begin = i
        i += 1
        if i + 2 < n and source[i] == 33 and source[i + 1] == 45 and source[i + 2] == 45:  # !--
            i = _after_comment(source, words, i + 3)
            continue
        if i >= n or not _is_letter(source[i]):
            continue
        kind = _kind(source, i)
        rank = 0
        name_start = name_end = value_start = value_end = 0
        while i < n:
            c = source[i]
            i += 1
            if c == 62:  # >
                break
            if c != 61:  # =
                continue
            behind = i - 1
            while behind > begin and source[behind - 1] <= 32:
                behind -= 1
            while i < n and source[i] <= 32:
                i += 1
            if i >= n:
                break
            c = source[i]
            if c == 34 or c == 39:  # quotes
                start = i + 1
                stop = _next(source, words, start, c)
                i = min(stop + 1, n)
            else:
                start = i
                while i < n and source[i] > 32 and source[i] != 62:
                    i += 1
                stop = i
            c = source[behind - 1] | 32
            own = 0
            if kind == 0:
                if c == 115 and _is_named(source, begin, behind, 5, b"class\0"):
                    own = 3
                elif c == 100 and _is_named(source, begin, behind, 2, b"id\0"):
                    own = 2
                elif c == 100 and _is_named(source, begin, behind, 11, b"data-testid\0"):
                    own = 1
                elif c == 108 and _is_named(source, begin, behind, 3, b"rel\0"):
                    own = 4
                elif c == 112 and _is_named(source, begin, behind, 8, b"itemprop\0"):
                    own = 5
                if own > rank and _has_mark(source, start, stop):
                    rank, value_start, value_end = own, start, stop
                    name_start = name_end = own
            elif kind == _META:
                if c == 116 and value_end == 0 and _is_named(source, begin, behind, 7, b"content\0"):
                    value_start, value_end = start, stop
                elif c == 121 and _is_named(source, begin, behind, 8, b"property\0"):
                    own = 3
                elif c == 101 and _is_named(source, begin, behind, 4, b"name\0"):
                    own = 2
                elif c == 112 and _is_named(source, begin, behind, 8, b"itemprop\0"):
                    own = 1
                if own > rank and stop > start:
                    rank, name_start, name_end = own, start, stop
            elif kind == _LINK:
                if c == 108 and name_end == 0 and _is_named(source, begin, behind, 3, b"rel\0"):
                    name_start, name_end = start, stop
                elif c == 102 and value_end == 0 and _is_named(source, begin, behind, 4, b"href\0"):
                    value_start, value_end = start, stop
        if kind == _JSON_LD:
            value_start = i
            value_end = _raw_end(source, words, i, b"script\0")
            if not _holds(source, begin, i, b"ld+json\0"):
                i = value_end
                continue
        elif kind == _STYLE:
            i = _raw_end(source, words, i, b"style\0")
            continue
        elif kind == 0 and rank:
            kind = _MARKED
        elif kind == _LINK and not (
            _holds(source, name_start, name_end, b"canonical\0")
            or _holds(source, name_start, name_end, b"licen\0")
        ):
            continue
        elif kind == _META and (name_end == 0 or value_end == 0):
            continue
        if kind and counts[kind] < _MOST and n_found < found.shape[0]:
            counts[kind] += 1
            found[n_found, 0] = kind
            found[n_found, 1] = begin
            found[n_found, 2] = i
            found[n_found, 3] = name_start
            found[n_found, 4] = name_end
            found[n_found, 5] = value_start
            found[n_found, 6] = value_end
            n_found += 1
        if kind == _JSON_LD:
            i = value_end


@cython.cfunc
@cython.inline
def _next(
    source: cython.const[cython.uchar][::1],
    words: cython.const[cython.ulonglong][::1],
    i: cython.Py_ssize_t,
    c: cython.uchar,
) -> cython.Py_ssize_t:
    """Where `c` stands next from `i` on, looked for in 8 bytes at a time; the source's end without one."""
    n: cython.Py_ssize_t = source.shape[0]
    while i < n and i & 7:
        if source[i] == c:
            return i
        i += 1
    word: cython.Py_ssize_t = i >> 3
    while word < words.shape[0]:
        # A byte of `differing` is 0 where `c` is, and then the highest bit of that byte is set below.
        differing: cython.ulonglong = words[word] ^ (_ONES * c)
        if (differing - _ONES) & ~differing & _HIGH:
            break
        word += 1
    i = max(i, word << 3)
    while i < n and source[i] != c:
        i += 1
    return i


@cython.cfunc
@cython.inline
def _is_letter(c: cython.uchar) -> cython.bint:
    return 97 <= (c | 32) <= 122


@cython.cfunc
def _kind(source: cython.const[cython.uchar][::1], i: cython.Py_ssize_t) -> cython.int:
    """The kind of the element whose name begins at `i`: JSON_LD for a script, else 0."""
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
    if name == _NAME_TITLE:
        return _TITLE
    if name == 0x6831:
        return _HEADING
    if name == 0x74696D65:
        return _TIME
    if name == _NAME_SCRIPT:
        return _JSON_LD
    return _STYLE if name == _NAME_STYLE else 0


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
def _after_comment(
    source: cython.const[cython.uchar][::1],
    words: cython.const[cython.ulonglong][::1],
    i: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    end: cython.Py_ssize_t = i + 1
    while True:
        end = _next(source, words, end + 1, 62) if end < source.shape[0] else source.shape[0]
        if end >= source.shape[0]:
            return end
        if source[end - 1] == 45 and source[end - 2] == 45:
            return end + 1


@cython.cfunc
def _raw_end(
    source: cython.const[cython.uchar][::1],
    words: cython.const[cython.ulonglong][::1],
    i: cython.Py_ssize_t,
    name: cython.p_const_char,
) -> cython.Py_ssize_t:
    """Where the end tag of a script or style begins; the source's end without one."""
    while True:
        i = _next(source, words, i, 60)
        if i >= source.shape[0]:
            return i
        k = 0
        if i + 1 < source.shape[0] and source[i + 1] == 47:  # </
            while name[k] != 0 and i + 2 + k < source.shape[0] and (source[i + 2 + k] | 32) == name[k]:
                k += 1
            if name[k] == 0:
                return i
        i += 1


@cython.cfunc
def _is_named(
    source: cython.const[cython.uchar][::1],
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    length: cython.Py_ssize_t,
    name: cython.p_const_char,
) -> cython.bint:
    """Whether the attribute whose name ends at `end`, in a tag from `begin` on, has this name."""
    k: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t = end - length
    if start <= begin:
        return False
    while k < length:
        if (source[start + k] | 32) != name[k]:
            return False
        k += 1
    before = source[start - 1]
    return before <= 32 or before == 34 or before == 39 or before == 47  # white space, quotes, /


@cython.cfunc
def _has_mark(
    source: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.bint:
    """Whether a value holds one of the marks; each has one of _LETTERS, which are looked for first."""
    i: cython.Py_ssize_t = start
    while i < end:
        if (_LETTERS >> (source[i] & 31)) & 1:
            c = source[i] | 32
            if c == 104 and (
                (i >= start + 3 and _holds(source, i - 3, min(i + 3, end), b"author\0"))
                or (i >= start + 6 and _holds(source, i - 6, i + 1, b"publish\0"))
            ):
                return True
            if c == 121 and i > start and _holds(source, i - 1, min(i + 5, end), b"byline\0"):
                return True
            if c == 100 and _holds(source, i, min(i + 4, end), b"date\0"):
                return True
        i += 1
    return False
