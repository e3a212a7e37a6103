"""A page's source before parsing: whether it is UTF-8, and what it holds. And what the library serialises.

`drop_textless` drops comments, instructions and elements without text (Victor, section 3.1, step 3). It works
on the serialiser's output, where tags are balanced, names are lower case, attribute values hold no `<` or `>`
(names may hold `<` and quotes), and text holds them only in raw text elements.
"""

import re

import cython
from cython import Py_ssize_t
from cython.cimports.victor_spark.kernels import num

from victor_html.elements import DROPPED, RAW_TEXT, VOID

num.check()

_STRIDE = cython.declare(Py_ssize_t, 128)  # a loop of fixed length is vectorised


@cython.ccall
def find(source: num.Bytes, wanted: num.Bytes, apart: Py_ssize_t, i: Py_ssize_t) -> Py_ssize_t:
    """As `bytes.find`, for what begins with a byte and, `apart` from it, another that is rare there."""
    length: Py_ssize_t = wanted.shape[0]
    last: Py_ssize_t = source.shape[0] - length
    first: cython.uchar = wanted[0]
    second: cython.uchar = wanted[apart]
    while i <= last:
        end = i + _STRIDE if i + _STRIDE <= last else last + 1
        found: cython.uchar = 0
        for k in range(i, end):
            found |= (source[k] == first) & (source[k + apart] == second)
        if found:
            for k in range(i, end):
                same = 0
                while same < length and source[k + same] == wanted[same]:
                    same += 1
                if same == length:
                    return k
        i = end
    return -1


@cython.ccall
def is_utf8(source: num.Bytes) -> cython.bint:
    """Whether Python decodes the source as UTF-8: no surrogates, nothing past U+10FFFF."""
    n: Py_ssize_t = source.shape[0]
    i: Py_ssize_t = 0
    is_wrong: cython.uchar = 0
    while i < n and not is_wrong:
        end = i + _STRIDE if i + _STRIDE <= n else n
        high: cython.uchar = 0
        for k in range(i if i < 3 else i - 3, end):
            high |= source[k]
        if high >= num.LATER_BYTE:
            for k in range(i, min(end, 3)):
                is_wrong |= _is_wrong(source[k], source[k - 1] if k else 0, source[0] if k == 2 else 0, 0)
            for k in range(max(i, 3), end):
                is_wrong |= _is_wrong(source[k], source[k - 1], source[k - 2], source[k - 3])
        i = end
    is_cut: cython.bint = n > 0 and source[n - 1] >= num.FIRST_OF_2
    is_cut = is_cut or (n > 1 and source[n - 2] >= num.FIRST_OF_3)
    return not (is_wrong or is_cut or (n > 2 and source[n - 3] >= num.FIRST_OF_4))


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_wrong(c: cython.uchar, b1: cython.uchar, b2: cython.uchar, b3: cython.uchar) -> cython.uchar:
    """Whether byte `c` is wrong behind the bytes b1, b2 and b3, without branches: loops are vectorised."""
    follows: cython.uchar = (b1 >= num.FIRST_OF_2) | (b2 >= num.FIRST_OF_3) | (b3 >= num.FIRST_OF_4)
    is_wrong: cython.uchar = follows != ((c >= num.LATER_BYTE) & (c < num.FIRST_OF_2))
    # Forms that are longer than needed, surrogates (ED A0 and up), and what is past U+10FFFF (F4 8F BF BF):
    is_wrong |= (c == 0xC0) | (c == 0xC1) | (c > 0xF4)
    is_wrong |= ((b1 == 0xE0) & (c < 0xA0)) | ((b1 == 0xED) & (c > 0x9F))
    return is_wrong | ((b1 == 0xF0) & (c < 0x90)) | ((b1 == 0xF4) & (c > 0x8F))


_RAW_TEXT = frozenset(RAW_TEXT.split())
_NESTING = frozenset(DROPPED.split()) - frozenset(VOID.split())
_VERBATIM = frozenset({"xmp", "plaintext"})
_LISTED = _RAW_TEXT | _VERBATIM | {"input", *DROPPED.split()}
_IN_SCRIPT = re.compile(r"<!--(?!-?>)|-->|</?script(?=[\s/>])", re.IGNORECASE)


def drop_textless(html: str, cuts: list[tuple[int, int, int]] | None = None) -> str:
    """The serialised HTML without comments, instructions, the listed elements and hidden inputs.

    `xmp` and `plaintext`, whose text is serialised unescaped, become an escaped `pre`. `cuts`, where given,
    gets (offset in what is returned, start, end in `html`) of everything dropped.
    """
    n: Py_ssize_t = len(html)
    done: Py_ssize_t = 0
    n_kept: Py_ssize_t = 0
    start: Py_ssize_t = html.find("<")
    kept: list[str] = []
    while 0 <= start < n - 3:
        first: cython.uint = ord(html[start + 1])
        if first == ord("!") and html.startswith("<!--", start):
            end = html.find("-->", start + 4)
            end = n if end < 0 else end + 3
        elif first == ord("?"):  # a processing instruction, such as a forgotten <?php … ?>
            end = html.find(">", start) + 1
        else:
            is_other: cython.bint = first == ord("/") or _is_common(first, ord(html[start + 2]))
            name = "" if is_other else _name(html, start, n)
            if (
                is_other
                or name not in _LISTED
                or (name == "input" and 'type="hidden"' not in html[start : _after_tag(html, start)].lower())
            ):
                start = html.find("<", _after_tag(html, start))
                continue
            if name in _RAW_TEXT:
                end = _after_raw_text(html, start, n, name)
            elif name in _NESTING:
                end = _after_element(html, start, n, name)
            elif name in _VERBATIM:
                kept.append(html[done:start])
                end = _after_verbatim(html, start, n, name, kept)
                n_kept += start - done + len(kept[len(kept) - 1])
                done = end
                start = html.find("<", end)
                continue
            else:
                end = _after_tag(html, start)
        if end <= start:
            end = n
        if start > done:
            kept.append(html[done:start])
            n_kept += start - done
        if cuts is not None:
            cuts.append((n_kept, start, end))
        done = end
        start = html.find("<", end)
    return html if not done else "".join(kept) + html[done:]


@cython.cfunc
@cython.inline
def _is_common(first: cython.uint, second: cython.uint) -> cython.bint:
    """Whether a tag's first letters are those of no listed one: d…, h…, u…, sp…, im…, or one alone.

    Nearly all tags are such, and a look at two letters is cheaper than one at the name.
    """
    if second == ord(" ") or second == ord(">"):  # a, b, i, p, u
        return True
    if first == ord("d") or first == ord("h") or first == ord("u"):
        return True
    return (first == ord("s") and second == ord("p")) or (first == ord("i") and second == ord("m"))


@cython.cfunc
def _name(html: str, start: Py_ssize_t, n: Py_ssize_t) -> str:
    """The tag name at `start`, empty when it is longer than any that matters."""
    i: Py_ssize_t = start + 1
    stop: Py_ssize_t = min(n, start + 12)
    while i < stop:
        c: cython.uint = ord(html[i])
        if c == ord(">") or c == ord(" ") or c == ord("/"):
            return html[start + 1 : i]
        i += 1
    return ""


@cython.cfunc
def _after_tag(html: str, start: Py_ssize_t) -> Py_ssize_t:
    """Just past the tag's '>'."""
    end: Py_ssize_t = html.find(">", start)
    return len(html) if end < 0 else end + 1


@cython.cfunc
def _after_raw_text(html: str, start: Py_ssize_t, n: Py_ssize_t, name: str) -> Py_ssize_t:
    """Just past the end tag of the raw-text element at `start`."""
    closing: str = "</" + name + ">"
    end: Py_ssize_t = html.find(closing, start)
    if name == "script" and end >= 0 and html.find("<!--", start, end) >= 0:
        end = _end_of_script(html, start + len(closing) - 1)
    return n if end < 0 else end + len(closing)


def _end_of_script(html: str, start: Py_ssize_t) -> Py_ssize_t:
    """Where the script's own end tag is: one that follows `<!-- <script` belongs to its text."""
    escaped: cython.bint = False
    nested: cython.bint = False
    for match in _IN_SCRIPT.finditer(html, start):
        mark = match[0].lower()
        if mark == "<!--":
            escaped = True
        elif mark == "-->":
            escaped = nested = False
        elif mark == "<script":
            nested = escaped
        elif nested:
            nested = False
        else:
            return match.start()
    return -1


@cython.cfunc
def _after_element(html: str, start: Py_ssize_t, n: Py_ssize_t, name: str) -> Py_ssize_t:
    """Just past the end tag that closes the element at `start`, elements of its name nested or not.

    Tags inside comments and raw text are no tags.
    """
    closing: str = "</" + name + ">"
    depth: Py_ssize_t = 0
    i: Py_ssize_t = start
    while 0 <= i < n - 1:
        if html[i + 1] == "/":
            if html.startswith(closing, i):
                depth -= 1
                if depth == 0:
                    return i + len(closing)
            i = html.find("<", _after_tag(html, i))
        elif html.startswith("<!--", i):
            i = html.find("-->", i + 4)
            i = html.find("<", i) if i >= 0 else -1
        else:
            inner = _name(html, i, n)
            if inner == name:
                depth += 1
            if inner == "plaintext":  # nothing ends it but the page
                i = html.rfind("</plaintext>", i)
            elif inner == "xmp" or inner in _RAW_TEXT:
                i = html.find("<", _after_raw_text(html, i, n, inner))
            else:
                i = html.find("<", _after_tag(html, i))
    return n


@cython.cfunc
def _after_verbatim(html: str, start: Py_ssize_t, n: Py_ssize_t, name: str, kept: list[str]) -> Py_ssize_t:
    """Appends the element at `start` as an escaped `pre`; just past its end."""
    inside: Py_ssize_t = _after_tag(html, start)
    end: Py_ssize_t = html.find("</" + name + ">", inside)
    if name == "plaintext":  # nothing ends it but the page
        end = html.rfind("</plaintext>", inside)
    if end < 0:
        end = n
    text: str = html[inside:end].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    kept.append("<pre>" + text + "</pre>")
    return n if end == n else _after_tag(html, end)
