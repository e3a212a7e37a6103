"""Counts and words of characters beyond ASCII, by which a misread charset is detected.

Text is uint32 code points. Cython pure Python mode.
"""

import cython
from cython import Py_ssize_t
from cython.cimports.victor_spark.kernels import num

num.check()

_AT_ONCE = cython.declare(Py_ssize_t, 64)  # characters; runs of as many ASCII characters are skipped
_SIGNS = cython.declare(cython.uint, 0x2000)  # from here on signs, the typographic ones first
_OTHER_SIGNS = cython.declare(cython.uint, 0x2070)
_AFTER_SIGNS = cython.declare(cython.uint, 0x2C00)  # from here on letters again


@cython.cfunc
@cython.inline
def _continues(c: cython.uint) -> cython.bint:
    """Whether windows-1252 or iso-8859-1 gives this character for a continuation byte of UTF-8 (80 to BF)."""
    return (
        num.LATER_BYTE <= c < num.FIRST_OF_2
        or ord("Œ") <= c <= ord("œ")
        or ord("Š") <= c <= ord("š")
        or c == ord("Ÿ")
        or ord("Ž") <= c <= ord("ž")
        or c == ord("ƒ")
        or c == ord("ˆ")
        or c == ord("˜")
        or ord("–") <= c <= ord("›")  # dashes, quotes, daggers, dots
        or c == ord("€")
        or c == ord("™")
    )


@cython.ccall
def census(text: num.UInts, parts: num.UInts, counts: cython.int[::1]) -> cython.void:
    """Fills `counts` with the numbers of U+FFFD; of C1 controls; of characters from U+00C0 up, except signs
    (U+2000 to U+2BFF); of places that look like a character of UTF-8 read as windows-1252 (and not like the
    end of a quotation), or read as KOI8-R or CP866 (Cyrillic beside box drawings); and of pairs of characters
    that look like the first two bytes of a character of UTF-8. `parts` has for each character, as bits, the
    charsets in which it is a first byte, and 16 bits higher those in which it is a later one.
    """
    n: Py_ssize_t = text.shape[0]
    size: cython.uint = cython.cast(cython.uint, parts.shape[0])
    replaced: cython.int = 0
    controls: cython.int = 0
    high: cython.int = 0
    read_twice: cython.int = 0
    begun: cython.int = 0
    for start in range(0, n, _AT_ONCE):
        end = start + _AT_ONCE if start + _AT_ONCE < n else n
        any_bits: cython.uint = 0
        for i in range(start, end):
            any_bits |= text[i]
        if any_bits < num.N_ASCII:
            continue
        for i in range(start, end):
            c = text[i]
            if c < num.N_ASCII:
                continue
            replaced += c == ord("\ufffd")
            controls += c < ord("\xa0")
            high += c >= ord("À") and (c < _SIGNS or c >= _AFTER_SIGNS)
            following: cython.uint = text[i + 1] if i + 1 < n else 0
            if following < num.N_ASCII:
                continue
            if 0xC2 <= c <= 0xF4:  # the first bytes of UTF-8
                if not _continues(following):
                    pass
                elif c < num.FIRST_OF_3:
                    read_twice += 1
                elif i + 2 < n and _continues(text[i + 2]):
                    read_twice += not (following == ord("\xa0") and text[i + 2] == ord("»"))
            elif ord("А") <= c <= ord("я"):
                read_twice += ord("═") <= following <= ord("▓")
            if c < size and following < size:
                begun += (parts[c] & (parts[following] >> 16)) != 0
    counts[num.CENSUS_REPLACED] = replaced
    counts[num.CENSUS_CONTROLS] = controls
    counts[num.CENSUS_HIGH] = high
    counts[num.CENSUS_READ_TWICE] = read_twice
    counts[num.CENSUS_BEGUN] = begun


@cython.cfunc
@cython.inline
def _beyond_doubt(c: cython.uint) -> cython.bint:
    """Greek, Russian and East Asian letters: a bad word has more than ASCII and these."""
    return (
        ord("Ά") <= c <= ord("ώ")
        or c == ord("Ё")
        or ord("А") <= c <= ord("я")
        or c == ord("ё")
        or (_AFTER_SIGNS <= c <= 0xFFEF and not 0xF8FF <= c <= 0xFB02)
    )


@cython.cfunc
@cython.inline
def _quotes(c: cython.uint) -> cython.bint:
    """A quote, a dash or a no-break space: not bad beside one letter that is `_beyond_doubt`."""
    return c == ord("\xa0") or c == ord("«") or c == ord("»") or ord("‐") <= c <= ord("„")


@cython.cfunc
@cython.inline
def _bad_beside(c: cython.uint, other: cython.uint, folding: num.UInts) -> cython.bint:
    """Whether a character may be bad beside another one; two small Latin letters are not."""
    if other < num.N_ASCII or _quotes(c):
        return other >= num.N_ASCII and not _beyond_doubt(other)
    is_latin = ord("ß") <= min(c, other) and max(c, other) <= ord("ž")
    return not (is_latin and folding[c] == c and folding[other] == other)


@cython.ccall
def tell_kinds(text: num.UInts, folding: num.UInts, kinds: cython.uchar[::1]) -> cython.int:
    """Fills `kinds` with the LOOKS of each character as bits; returns how many are doubtful.

    `folding` is langid's table of letters, the last of it for all beyond.
    """
    n: Py_ssize_t = text.shape[0]
    last: cython.uint = cython.cast(cython.uint, folding.shape[0] - 1)
    n_doubtful: cython.int = 0
    for i in range(n):
        c = text[i]
        kind: cython.uchar = 0
        if c == ord(" "):
            kind = num.LOOKS_BLANK | num.LOOKS_SPACE
        elif c < ord(" ") or c == ord("\xa0") or c == ord("\u3000"):
            kind = num.LOOKS_SPACE
        elif c > ord("\xa0") and (c < _SIGNS or c >= _OTHER_SIGNS):
            kind = num.LOOKS_HIGH
        if c >= num.N_ASCII and not _beyond_doubt(c):
            before: cython.uint = text[i - 1] if i > 0 else 0
            after: cython.uint = text[i + 1] if i + 1 < n else 0
            if (
                c < ord("\xa0")  # C1 controls are bad alone, and these beside a space or a sign
                or c == ord("Â")
                or c == ord("Ã")
                or c == ord("Œ")
                or c == ord("œ")
                or _bad_beside(c, before, folding)
                or _bad_beside(c, after, folding)
                or (_quotes(c) and num.N_ASCII <= before < _SIGNS and num.N_ASCII <= after < _SIGNS)
            ):
                kind |= num.LOOKS_DOUBTFUL
                n_doubtful += 1
        if folding[c if c < last else last] != ord(" "):
            kind |= num.LOOKS_LETTER
        kinds[i] = kind
    return n_doubtful


@cython.ccall
def words_with(
    text: num.UInts, kinds: num.Bytes, wanted: cython.int, space: cython.int, words: cython.uint[::1]
) -> Py_ssize_t:
    """Fills `words` with those that hold all the kinds wanted, each with the space before it; their length.

    `wanted` are bits of LOOKS, and `space` is the kind that separates words. If words are left out before a
    doubtful one and the last of them ends with a letter a-z, that letter stays, after a space: ftfy finds
    `a Â ` bad, `a  Â ` not.
    """
    n: Py_ssize_t = 0
    start: Py_ssize_t = 0
    end: Py_ssize_t = 0  # of the last word that was copied
    held: cython.int = 0
    for i in range(text.shape[0] + 1):
        if i == text.shape[0] or kinds[i] & space:
            if held & wanted == wanted:
                if wanted & num.LOOKS_DOUBTFUL and start > end:  # other words stand before it
                    if n:
                        words[n] = ord(" ")
                        n += 1
                    if ord("a") <= text[start - 1] <= ord("z"):
                        words[n] = text[start - 1]
                        n += 1
                for k in range(start, i):
                    words[n] = text[k]
                    n += 1
                end = i
            start = i
            held = 0
        if i < text.shape[0]:
            held |= kinds[i]
    return n
