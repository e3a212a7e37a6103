# cython: language_level=3
"""Caps the number of attributes of a tag before parsing: parsers compare each with all before it.

Cython pure Python mode.
"""

import cython

_RAW_TEXT = ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")


def cap(html: str, max_attributes: cython.Py_ssize_t) -> str:
    """The same markup, without the attributes after the first `max_attributes` of any start tag."""
    start: cython.Py_ssize_t = html.find("<")
    end: cython.Py_ssize_t
    cut: cython.Py_ssize_t
    n: cython.Py_ssize_t = len(html)
    done: cython.Py_ssize_t = 0
    c: cython.uint
    kept: list[str] = []
    while 0 <= start < n - 2 * max_attributes:  # what is shorter can't hold that many
        c = ord(html[start + 1])
        if not (97 <= c <= 122 or 65 <= c <= 90):
            end = html.find("-->", start) if c == 33 and html.startswith("<!--", start) else start + 1
            start = html.find("<", end) if end >= 0 else -1
            continue
        cut, end = _long_tag(html, start, max_attributes)
        if cut >= 0:
            kept.append(html[done:cut])
            done = end
        c |= 32
        if c == 115 or c == 116 or c == 120 or c == 105 or c == 110:  # s, t, x, i, n
            end = _after_raw_text(html, start, end)
        start = html.find("<", end)
    return html if not kept else "".join(kept) + html[done:]


@cython.cfunc
def _after_raw_text(html: str, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """`end`, or where the raw text behind it ends when the tag at `start` opens one."""
    tag: str = html[start + 1 : start + 9].lower()
    name: str
    for name in _RAW_TEXT:
        if tag.startswith(name):
            end = html.find("</", end)
            while end >= 0 and html[end + 2 : end + 2 + len(name)].lower() != name:
                end = html.find("</", end + 2)
            return end if end >= 0 else len(html)
    return end


@cython.cfunc
def _long_tag(
    html: str, start: cython.Py_ssize_t, max_attributes: cython.Py_ssize_t
) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t]:
    """Where the attributes past the cap begin (-1: none) and where the tag's '>' is."""
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t = len(html)
    n_attributes: cython.Py_ssize_t = 0
    cut: cython.Py_ssize_t = -1
    c: cython.uint
    quote: cython.uint = 0
    in_name: cython.bint = True
    after_equals: cython.bint = False
    i = start + 1
    while i < n:
        c = ord(html[i])
        if quote:
            if c == quote:
                quote = 0
                in_name = False
        elif c == 62:
            break
        elif c == 32 or c == 10 or c == 9 or c == 13 or c == 12 or c == 47:
            in_name = False
        elif c == 61:
            after_equals = True
            in_name = True
        elif (c == 34 or c == 39) and after_equals:
            quote = c
            after_equals = False
        else:
            if not in_name and not after_equals:
                n_attributes += 1
                if n_attributes > max_attributes and cut < 0:
                    cut = i
            in_name = True
            after_equals = False
        i += 1
    return cut, i
