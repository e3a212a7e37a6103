"""Finds the tags that state facts about the page: title, author, date, JSON-LD. Cython pure Python mode."""

import cython
from cython import Py_ssize_t
from cython.cimports.victor_spark.kernels import num

if cython.compiled:
    from cython.cimports.libc.string import memchr

num.check()

MARKED, META, LINK, HTML, TITLE, HEADING, TIME, JSON_LD, STYLE = range(9)
N_KINDS = 9
MOST = 200
ATTRIBUTES = ("", "href", "data-testid", "id", "class", "rel", "property", "itemprop")
"""Attributes that can mark an element, by rank: if several do, the last one here counts."""
_TABLE = (
    [(name, 0, rank) for rank, name in enumerate(ATTRIBUTES) if name],
    [("content", 1, 1), ("http-equiv", 0, 0), ("itemprop", 0, 1), ("name", 0, 2), ("property", 0, 3)],
    [("rel", 0, 1), ("href", 1, 1)],
    *([] for _ in range(LINK + 1, N_KINDS)),
    [(name, 0, kind) for kind, name in enumerate("meta link html title h1 time script style".split(), 1)],
)
_NONE = [(0, 0, 0)]
NAMES = [
    ([(int.from_bytes(name[-8:].encode(), "big"), *rest) for name, *rest in rows] + 9 * _NONE)[:9]
    for rows in _TABLE
]
"""The names that `statements` finds: for each kind of element a table of attributes, and one of elements.

An entry: the last 8 letters of the name as a number; for an attribute, the pair of columns that its value
goes to (0 or 1) and its rank; for an element, 0 and its kind.
"""

_N_KINDS = cython.declare(cython.int, N_KINDS)
_HREF = cython.declare(cython.int, ATTRIBUTES.index("href"))
_REL = cython.declare(cython.int, ATTRIBUTES.index("rel"))
_LINK = cython.declare(cython.int, LINK)
_JSON_LD = cython.declare(cython.int, JSON_LD)
_STYLE = cython.declare(cython.int, STYLE)
_MOST = cython.declare(cython.int, MOST)
_FIRST = cython.declare(cython.uint, sum(1 << (ord(name) & 31) for name in "hlmst"))
_LAST = cython.declare(cython.uint, sum(1 << (ord(letter) & 31) for letter in "dflpsy"))
"""The first letters of the elements, and the last letters of ATTRIBUTES. Other names are not looked up."""
_AUTHOR = cython.declare(cython.uint, int.from_bytes(b"thor", "big"))
_BYLINE = cython.declare(cython.uint, int.from_bytes(b"line", "big"))
_PUBLISH = cython.declare(cython.uint, int.from_bytes(b"lish", "big"))
_NAME = cython.declare(cython.uint, int.from_bytes(b"name", "big"))
_DATE = cython.declare(cython.uint, int.from_bytes(b"date", "big"))


@cython.ccall
def statements(
    source: num.Bytes,
    names: cython.const[cython.ulonglong][:, :, ::1],
    found: cython.int[:, ::1],
    counts: cython.int[::1],
) -> cython.void:
    """Fills `found` with the tags of each kind, in the order of the source, and `counts` with their numbers.

    The columns are: start, end, rank, then start and end of two values. The values of META are its name
    and content; those of LINK its rel (if it begins with c or l, as canonical and licence) and href; JSON_LD
    has its text as the second value. MARKED are other elements with `author`, `byline`, `username`, `publish`
    or `date` in one of ATTRIBUTES (in `href`: `author`), or with `license` in `rel`; the rank is the index of
    the attribute, the first value its value. Scripts, styles and comments hold no tags. `names`: NAMES. At
    most MOST tags of a kind are reported: `found` needs MOST rows for each kind and one for the tag that is
    read, and `counts` N_KINDS zeros.
    """
    n: Py_ssize_t = source.shape[0]
    i: Py_ssize_t = 0
    while True:
        i = _next(source, i, ord("<"))
        if i >= n:
            return
        begin = i
        i += 1
        if i + 2 < n and source[i] == ord("!") and source[i + 1] == source[i + 2] == ord("-"):
            i += 4
            while i < n and not (source[i] == ord(">") and source[i - 2] == source[i - 1] == ord("-")):
                i = _next(source, i + 1, ord(">"))
            continue
        if i >= n or not ord("a") <= (source[i] | num.SMALL) <= ord("z"):
            continue
        while i < n and _is_of_name(source[i]):
            i += 1
        is_known: cython.bint = _FIRST >> (source[begin + 1] & 31) & 1
        row = _row(names, _name(source, begin + 1, i), _N_KINDS) if is_known else -1
        kind: cython.int = 0 if row < 0 else cython.cast(cython.int, names[_N_KINDS, row, num.NAME_RANK])
        place: Py_ssize_t = kind * _MOST + counts[kind] if counts[kind] < _MOST else _N_KINDS * _MOST
        found[place, num.STATED_START] = begin
        for column in range(num.STATED_RANK, num.STATED_SECOND_END + 1):
            found[place, column] = 0
        i = min(_attributes(source, names, i, kind, found, place) + 1, n)
        found[place, num.STATED_END] = i
        if kind == _STYLE:
            i = _raw_end(source, i, b"</style\0", 7)
            continue
        first: cython.uchar = source[found[place, num.STATED_FIRST]] | num.SMALL
        if kind == _LINK and first != ord("c") and first != ord("l"):
            continue  # no canonical address, no licence
        if kind == _JSON_LD:
            found[place, num.STATED_SECOND] = i
            i = _raw_end(source, i, b"</script\0", 8)
            found[place, num.STATED_SECOND_END] = i
            if not _holds(source, begin, found[place, num.STATED_END], b"ld+json\0"):
                continue
        if (kind or found[place, num.STATED_RANK]) and counts[kind] < _MOST:
            counts[kind] += 1


@cython.cfunc
def _attributes(
    source: num.Bytes,
    names: cython.const[cython.ulonglong][:, :, ::1],
    i: Py_ssize_t,
    kind: cython.int,
    found: cython.int[:, ::1],
    place: Py_ssize_t,
) -> Py_ssize_t:
    """Puts the values of a tag's attributes, from `i` on, in found[place]; where the tag's `>` is."""
    n: Py_ssize_t = source.shape[0]
    while True:
        start = i
        while i < n and source[i] != ord("=") and source[i] != ord(">"):
            i += 1
        if i >= n or source[i] == ord(">"):
            return i
        end = i
        while end > start and source[end - 1] <= ord(" "):
            end -= 1
        is_known: cython.bint = end > start and (kind or _LAST >> (source[end - 1] & 31) & 1)
        row = _row(names, _name(source, start, end), kind) if is_known else -1
        i += 1
        while i < n and source[i] <= ord(" "):
            i += 1
        c: cython.uchar = source[i] if i < n else 0
        if c == ord('"') or c == ord("'"):  # quotes
            start = i + 1
            end = _next(source, start, c)
            i = min(end + 1, n)
        else:
            start = i
            while i < n and source[i] > ord(" ") and source[i] != ord(">"):
                i += 1
            end = i
        if row < 0 or start == end:
            continue
        rank = cython.cast(cython.int, names[kind, row, num.NAME_RANK])
        pair = num.STATED_FIRST + 2 * cython.cast(Py_ssize_t, names[kind, row, num.NAME_PAIR])
        is_higher: cython.bint = pair == num.STATED_FIRST and rank > found[place, num.STATED_RANK]
        if found[place, pair] == 0 or is_higher:
            is_license: cython.bint = rank == _REL and _holds(source, start, end, b"license\0")
            if kind or is_license or _has_mark(source, start, end, rank > _HREF):
                found[place, pair] = start
                found[place, pair + 1] = end
                if pair == num.STATED_FIRST:
                    found[place, num.STATED_RANK] = rank


@cython.cfunc
@cython.inline
def _is_of_name(c: cython.uchar) -> cython.bint:
    """Not white space, quotes, a slash or a bracket."""
    return c > ord('"') and c != ord("'") and c != ord("/") and c != ord("<") and c != ord(">")


@cython.cfunc
@cython.inline
def _name(source: num.Bytes, start: Py_ssize_t, end: Py_ssize_t) -> cython.ulonglong:
    """The last 8 letters, as in NAMES, of the name that ends at `end` and begins at `start` or later."""
    name: cython.ulonglong = 0
    bits: cython.int = 0
    while bits < 64 and end > start and _is_of_name(source[end - 1]):
        end -= 1
        name |= cython.cast(cython.ulonglong, source[end] | num.SMALL) << bits
        bits += 8
    return name


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _row(
    names: cython.const[cython.ulonglong][:, :, ::1], name: cython.ulonglong, kind: cython.int
) -> Py_ssize_t:
    """The row of names[kind] with a name, or -1."""
    row: Py_ssize_t = 0
    while names[kind, row, num.NAME_LETTERS]:
        if names[kind, row, num.NAME_LETTERS] == name:
            return row
        row += 1
    return -1


@cython.cfunc
@cython.inline
def _next(source: num.Bytes, i: Py_ssize_t, c: cython.uchar) -> Py_ssize_t:
    """The position of the first character `c` from `i` on, or the end of the source."""
    n: Py_ssize_t = source.shape[0]
    if cython.compiled and i < n:
        at = cython.cast(cython.p_uchar, memchr(cython.address(source[i]), c, n - i))
        return n if at == cython.NULL else at - cython.address(source[0])
    while i < n and source[i] != c:
        i += 1
    return i


@cython.cfunc
def _holds(source: num.Bytes, i: Py_ssize_t, end: Py_ssize_t, word: cython.p_const_char) -> cython.bint:
    """Whether a word (given in lower case) occurs between two positions, in any case."""
    while i < end:
        k = 0
        while word[k] != 0 and i + k < end and (source[i + k] | num.SMALL) == (word[k] | num.SMALL):
            k += 1
        if word[k] == 0:
            return True
        i += 1
    return False


@cython.cfunc
def _raw_end(source: num.Bytes, i: Py_ssize_t, name: cython.p_const_char, length: Py_ssize_t) -> Py_ssize_t:
    """The start of the end tag of a script or style, or the end of the source."""
    n: Py_ssize_t = source.shape[0]
    i = _next(source, i, ord("<"))
    while i < n and not _holds(source, i, min(i + length, n), name):
        i = _next(source, i + 1, ord("<"))
    return i


@cython.cfunc
def _has_mark(source: num.Bytes, start: Py_ssize_t, end: Py_ssize_t, any_mark: cython.bint) -> cython.bint:
    """Whether a value holds `author`, or any of the marks; compares the last four letters of a mark first."""
    wanted: cython.uchar = 3 if any_mark else 1
    pairs: cython.uchar = 0
    i: Py_ssize_t = start
    while i < end and not pairs & wanted and i + 16 < source.shape[0]:
        for k in range(i, i + 16):  # A loop of fixed length is vectorised: each mark has one of these pairs.
            a: cython.uchar = source[k] | num.SMALL
            b: cython.uchar = source[k + 1] | num.SMALL
            pairs |= (a == ord("a")) & (b == ord("u"))
            pairs |= ((a == ord("a")) & (b == ord("m"))) << 1  # of `name`
            pairs |= ((a == ord("d")) & (b == ord("a"))) << 1
            pairs |= (((a == ord("u")) & (b == ord("b"))) | ((a == ord("y")) & (b == ord("l")))) << 1
        i += 16
    i = max(start, i - 17 if pairs & wanted else i - 1)
    last: cython.uint = 0
    while i < end:
        last = (last & 0xFFFFFF) << 8 | source[i] | num.SMALL
        i += 1
        if last == _AUTHOR and _holds(source, max(start, i - 6), i, b"author\0"):
            return True
        if any_mark and (
            last == _DATE
            or (last == _NAME and _holds(source, max(start, i - 9), i, b"user\0"))
            or (last == _BYLINE and _holds(source, max(start, i - 6), i, b"byline\0"))
            or (last == _PUBLISH and _holds(source, max(start, i - 7), i, b"publish\0"))
        ):
            return True
    return False
