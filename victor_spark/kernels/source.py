# cython: language_level=3, infer_types=True
"""A page's source before parsing: where frames begin, and tags with too many attributes.

Parsers compare each attribute of a tag with all before it, so their number is capped. Cython pure Python
mode.
"""

import cython

_STRIDE = cython.declare(cython.Py_ssize_t, 128)  # a loop of fixed length is vectorised
_RAW_TEXT = (
    b"script",
    b"style",
    b"textarea",
    b"title",
    b"xmp",
    b"iframe",
    b"noembed",
    b"noframes",
    b"plaintext",
)

_TAG_NAME = cython.declare(cython.int, 0)
_BEFORE_NAME = cython.declare(cython.int, 1)
_NAME = cython.declare(cython.int, 2)
_AFTER_NAME = cython.declare(cython.int, 3)
_BEFORE_VALUE = cython.declare(cython.int, 4)
_VALUE = cython.declare(cython.int, 5)


@cython.ccall
def iframe_from(source: cython.const[cython.uchar][::1], i: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """The offset of the first lower-case `<iframe` from `i` on; -1 if there is none."""
    last: cython.Py_ssize_t = source.shape[0] - 7
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


def cap(html: str, max_attributes: cython.Py_ssize_t) -> str:
    """The same markup, without the attributes after the first `max_attributes` of any tag.

    A parser reads the attributes of end tags, too, though it drops them.
    """
    # Bytes, because indexing them compiles to a plain load.
    data: bytes = html.encode("utf-8", "surrogatepass")
    start: cython.Py_ssize_t = data.find(b"<")
    n: cython.Py_ssize_t = len(data)
    done: cython.Py_ssize_t = 0
    c: cython.uint
    kept: list[bytes] = []
    while 0 <= start < n - 2 * max_attributes and start + 1 < n:  # what is shorter can't hold that many
        c = data[start + 1]
        if c == 47:
            c = data[start + 2] if start + 2 < n else 0
        if not (97 <= c <= 122 or 65 <= c <= 90):
            end = _after_comment(data, start, n) if c == 33 and data.startswith(b"<!--", start) else start + 1
            start = data.find(b"<", end)
            continue
        cut, end = _long_tag(data, start, max_attributes)
        if cut >= 0:
            kept.append(data[done:cut])
            done = end
        c = data[start + 1] | 32
        if c == 115 or c == 116 or c == 120 or c == 105 or c == 110 or c == 112:  # s, t, x, i, n, p
            end = _after_raw_text(data, start, end)
        start = data.find(b"<", end)
    return html if not kept else (b"".join(kept) + data[done:]).decode("utf-8", "surrogatepass")


def any_exceeds(data: bytes, starts: list[int], max_attributes: cython.Py_ssize_t) -> bool:
    """Whether a tag that begins at one of the places has more attributes; `data` is UTF-8."""
    start: cython.Py_ssize_t
    for start in starts:
        if data[start + 1] == 33 or data[start + 1] == 63:
            continue
        cut, _ = _long_tag(data, start, max_attributes)
        if cut >= 0:
            return True
    return False


@cython.cfunc
def _after_comment(data: bytes, start: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Near the end of the comment at `start`, which may also be `<!-->` or end with `--!>`."""
    end: cython.Py_ssize_t = data.find(b"-->", start + 2)
    if end < 0:
        end = n
    odd: cython.Py_ssize_t = data.find(b"--!>", start + 4, end)
    return end if odd < 0 else odd


@cython.cfunc
def _after_raw_text(data: bytes, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """`end`, or where the raw text behind it ends when the tag at `start` opens one."""
    tag: bytes = data[start + 1 : start + 11].lower()
    for name in _RAW_TEXT:
        if tag.startswith(name) and _name_ends(tag, len(name)):
            if name == b"plaintext":
                return len(data)
            end = data.find(b"</", end)
            while end >= 0 and not _closes(data, end, name):
                end = data.find(b"</", end + 2)
            return end if end >= 0 else len(data)
    return end


@cython.cfunc
def _closes(data: bytes, start: cython.Py_ssize_t, name: bytes) -> cython.bint:
    """Whether the end tag at `start` is that of `name`."""
    tag: bytes = data[start + 2 : start + 3 + len(name)].lower()
    return tag.startswith(name) and _name_ends(tag, len(name))


@cython.cfunc
def _name_ends(tag: bytes, length: cython.Py_ssize_t) -> cython.bint:
    return len(tag) == length or tag[length] in b" >/\n\t\f\r"


@cython.cfunc
def _long_tag(
    data: bytes, start: cython.Py_ssize_t, max_attributes: cython.Py_ssize_t
) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t]:
    """Where the attributes past the cap begin (-1: none) and where the tag's '>' is.

    As the tokeniser of HTML reads a tag: a quote opens a value only right after `=` and white space.
    """
    n: cython.Py_ssize_t = len(data)
    n_attributes: cython.Py_ssize_t = 0
    cut: cython.Py_ssize_t = -1
    state: cython.int = _TAG_NAME
    i = start + 2  # past '<' and a letter, or past '</'
    while i < n:
        c = data[i]
        if c == 62:
            break
        if c == 32 or c == 10 or c == 9 or c == 13 or c == 12:
            if state == _NAME:
                state = _AFTER_NAME
            elif state != _AFTER_NAME and state != _BEFORE_VALUE:
                state = _BEFORE_NAME
        elif c == 47 and state != _VALUE and state != _BEFORE_VALUE:
            state = _BEFORE_NAME
        elif state == _BEFORE_VALUE:
            state = _VALUE
            if c == 34 or c == 39:
                i += 1
                while i < n and data[i] != c:
                    i += 1
                state = _BEFORE_NAME  # after the closing quote
        elif c == 61 and (state == _NAME or state == _AFTER_NAME):
            state = _BEFORE_VALUE
        elif state == _BEFORE_NAME or state == _AFTER_NAME:
            n_attributes += 1
            if n_attributes > max_attributes and cut < 0:
                cut = i
            state = _NAME
        i += 1
    return cut, min(i, n)
