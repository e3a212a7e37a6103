# cython: language_level=3
"""Caps the number of attributes of a tag before parsing: parsers compare each with all before it.

Cython pure Python mode.
"""

import cython

_RAW_TEXT = ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext")

_TAG_NAME = cython.declare(cython.int, 0)
_BEFORE_NAME = cython.declare(cython.int, 1)
_NAME = cython.declare(cython.int, 2)
_AFTER_NAME = cython.declare(cython.int, 3)
_BEFORE_VALUE = cython.declare(cython.int, 4)
_VALUE = cython.declare(cython.int, 5)


def cap(html: str, max_attributes: cython.Py_ssize_t) -> str:
    """The same markup, without the attributes after the first `max_attributes` of any tag.

    A parser reads the attributes of end tags, too, though it drops them.
    """
    start: cython.Py_ssize_t = html.find("<")
    end: cython.Py_ssize_t
    cut: cython.Py_ssize_t
    n: cython.Py_ssize_t = len(html)
    done: cython.Py_ssize_t = 0
    c: cython.uint
    kept: list[str] = []
    while 0 <= start < n - 2 * max_attributes:  # what is shorter can't hold that many
        c = ord(html[start + 1])
        if c == 47:
            c = ord(html[start + 2]) if start + 2 < n else 0
        if not (97 <= c <= 122 or 65 <= c <= 90):
            end = _after_comment(html, start, n) if c == 33 and html.startswith("<!--", start) else start + 1
            start = html.find("<", end)
            continue
        cut, end = _long_tag(html, start, max_attributes)
        if cut >= 0:
            kept.append(html[done:cut])
            done = end
        c = ord(html[start + 1]) | 32
        if c == 115 or c == 116 or c == 120 or c == 105 or c == 110 or c == 112:  # s, t, x, i, n, p
            end = _after_raw_text(html, start, end)
        start = html.find("<", end)
    return html if not kept else "".join(kept) + html[done:]


@cython.cfunc
def _after_comment(html: str, start: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Near the end of the comment at `start`, which may also be `<!-->` or end with `--!>`."""
    end: cython.Py_ssize_t = html.find("-->", start + 2)
    if end < 0:
        end = n
    odd: cython.Py_ssize_t = html.find("--!>", start + 4, end)
    return end if odd < 0 else odd


@cython.cfunc
def _after_raw_text(html: str, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """`end`, or where the raw text behind it ends when the tag at `start` opens one."""
    tag: str = html[start + 1 : start + 11].lower()
    name: str
    for name in _RAW_TEXT:
        if tag.startswith(name) and _name_ends(tag, len(name)):
            if name == "plaintext":
                return len(html)
            end = html.find("</", end)
            while end >= 0 and not _closes(html, end, name):
                end = html.find("</", end + 2)
            return end if end >= 0 else len(html)
    return end


@cython.cfunc
def _closes(html: str, start: cython.Py_ssize_t, name: str) -> cython.bint:
    """Whether the end tag at `start` is that of `name`."""
    tag: str = html[start + 2 : start + 3 + len(name)].lower()
    return tag.startswith(name) and _name_ends(tag, len(name))


@cython.cfunc
def _name_ends(tag: str, length: cython.Py_ssize_t) -> cython.bint:
    return len(tag) == length or tag[length] in " >/\n\t\f\r"


@cython.cfunc
def _long_tag(
    html: str, start: cython.Py_ssize_t, max_attributes: cython.Py_ssize_t
) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t]:
    """Where the attributes past the cap begin (-1: none) and where the tag's '>' is.

    As the tokeniser of HTML reads a tag: a quote opens a value only right after `=` and white space.
    """
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t = len(html)
    n_attributes: cython.Py_ssize_t = 0
    cut: cython.Py_ssize_t = -1
    c: cython.uint
    quote: cython.uint = 0
    state: cython.int = _TAG_NAME
    i = start + 2  # past '<' and a letter, or past '</'
    while i < n:
        c = ord(html[i])
        if quote:
            if c == quote:
                quote = 0
        elif c == 62:
            break
        elif c == 32 or c == 10 or c == 9 or c == 13 or c == 12:
            if state == _NAME:
                state = _AFTER_NAME
            elif state != _AFTER_NAME and state != _BEFORE_VALUE:
                state = _BEFORE_NAME
        elif c == 47 and state != _VALUE and state != _BEFORE_VALUE:
            state = _BEFORE_NAME
        elif state == _BEFORE_VALUE:
            state = _VALUE
            if c == 34 or c == 39:
                quote = c
                state = _BEFORE_NAME  # after the closing quote
        elif c == 61 and (state == _NAME or state == _AFTER_NAME):
            state = _BEFORE_VALUE
        elif state == _BEFORE_NAME or state == _AFTER_NAME:
            n_attributes += 1
            if n_attributes > max_attributes and cut < 0:
                cut = i
            state = _NAME
        i += 1
    return cut, i
