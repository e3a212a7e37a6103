# cython: language_level=3, infer_types=True
"""Counts and words of characters beyond ASCII, by which a misread charset is detected.

Text is uint32 code points. Cython pure Python mode.
"""

import cython

KINDS = ("blank", "space", "high", "letter", "doubtful")
"""U+0020; any white space; beyond ASCII, but no typographic sign and no space; a letter or mark; a character
that every word has which ftfy finds bad: an uncommon one, with another high one beside it."""

_BLANK = cython.declare(cython.int, 1)
_SPACE = cython.declare(cython.int, 2)
_HIGH = cython.declare(cython.int, 4)
_LETTER = cython.declare(cython.int, 8)
_DOUBTFUL = cython.declare(cython.int, 16)
_AT_ONCE = cython.declare(cython.Py_ssize_t, 64)  # characters: where all are ASCII nothing is counted


@cython.cfunc
@cython.inline
def _continues(c: cython.uint) -> cython.bint:
    """Whether windows-1252 or iso-8859-1 gives this character for a continuation byte of UTF-8 (80 to BF)."""
    return (
        128 <= c <= 191
        or (338 <= c <= 402 and (c <= 339 or 352 <= c <= 353 or c == 376 or 381 <= c <= 382 or c == 402))
        or c == 710
        or c == 732
        or 8211 <= c <= 8250
        or c == 8364
        or c == 8482
    )


@cython.ccall
def census(
    text: cython.const[cython.uint][::1], parts: cython.const[cython.uint][::1], counts: cython.int[::1]
) -> cython.int:
    """Fills `counts` with the numbers of U+FFFD; of C1 controls; of characters from U+00C0 up, except signs
    (U+2000 to U+2BFF); of places that look like a character of UTF-8 read as windows-1252 (and not like the
    end of a quotation), or read as KOI8-R or CP866 (Cyrillic beside box drawings); and of pairs of characters
    that look like the first two bytes of a character of UTF-8. `parts` has for each character, as bits, the
    charsets in which it is a first byte, and 16 bits higher those in which it is a later one.
    """
    n: cython.Py_ssize_t = text.shape[0]
    size: cython.uint = cython.cast(cython.uint, parts.shape[0])
    replaced: cython.int = 0
    controls: cython.int = 0
    high: cython.int = 0
    read_twice: cython.int = 0
    begun: cython.int = 0
    following: cython.uint
    any_bits: cython.uint
    for start in range(0, n, _AT_ONCE):
        end = start + _AT_ONCE if start + _AT_ONCE < n else n
        any_bits = 0
        for i in range(start, end):
            any_bits |= text[i]
        if any_bits < 128:
            continue
        for i in range(start, end):
            c = text[i]
            if c < 128:
                continue
            replaced += c == 65533
            controls += c < 160
            high += c >= 192 and (c < 8192 or c >= 11264)
            following = text[i + 1] if i + 1 < n else 0
            if following < 128:
                continue
            if 194 <= c <= 244:
                if not _continues(following):
                    pass
                elif c < 224:
                    read_twice += 1
                elif i + 2 < n and _continues(text[i + 2]):
                    read_twice += not (following == 160 and text[i + 2] == 187)
            elif 1040 <= c <= 1103:
                read_twice += 9552 <= following <= 9619
            if c < size and following < size:
                begun += (parts[c] & (parts[following] >> 16)) != 0
    counts[0] = replaced
    counts[1] = controls
    counts[2] = high
    counts[3] = read_twice
    counts[4] = begun
    return 0


@cython.cfunc
@cython.inline
def _beyond_doubt(c: cython.uint) -> cython.bint:
    """Greek, Russian and East Asian letters: a bad word has more than ASCII and these."""
    return (
        900 <= c <= 974
        or c == 1025
        or 1040 <= c <= 1103
        or c == 1105
        or 11264 <= c <= 65519  # U+2C00 to U+FFEF
    )


@cython.ccall
def tell_kinds(
    text: cython.const[cython.uint][::1],
    folding: cython.const[cython.uint][::1],
    kinds: cython.uchar[::1],
) -> cython.int:
    """Fills `kinds` with the KINDS of each character as bits; returns how many are doubtful.

    `folding` is langid's table of letters, the last of it for all beyond.
    """
    n: cython.Py_ssize_t = text.shape[0]
    last: cython.uint = cython.cast(cython.uint, folding.shape[0] - 1)
    n_doubtful: cython.int = 0
    kind: cython.uchar
    for i in range(n):
        c = text[i]
        kind = 0
        if c == 32:
            kind = _BLANK | _SPACE
        elif c < 32 or c == 160 or c == 12288:
            kind = _SPACE
        elif c > 160 and (c < 8192 or c > 8303):
            kind = _HIGH
        if c >= 128 and not _beyond_doubt(c):
            if (
                c < 160  # C1 controls are bad alone, and these beside a space or a sign
                or c == 194
                or c == 195
                or c == 338
                or c == 339
                or (i > 0 and text[i - 1] >= 128)
                or (i + 1 < n and text[i + 1] >= 128)
            ):
                kind |= _DOUBTFUL
                n_doubtful += 1
        if folding[c if c < last else last] != 32:
            kind |= _LETTER
        kinds[i] = kind
    return n_doubtful


@cython.ccall
def words_with(
    text: cython.const[cython.uint][::1],
    kinds: cython.const[cython.uchar][::1],
    wanted: cython.int,
    space: cython.int,
    words: cython.uint[::1],
) -> cython.Py_ssize_t:
    """Fills `words` with those that hold all the kinds wanted, each with the space before it; their length.

    `wanted` are bits of KINDS, and `space` is the kind that separates words. Where words are left out before
    a doubtful one, the letter a-z that ends them stays, after a space: ftfy finds `a Â ` bad, `a  Â ` not.
    """
    n: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t = 0  # of the last word that was copied
    held: cython.int = 0
    for i in range(text.shape[0] + 1):
        if i == text.shape[0] or kinds[i] & space:
            if held & wanted == wanted:
                if wanted & _DOUBTFUL and start > end:  # other words stand before it
                    if n:
                        words[n] = 32
                        n += 1
                    if 97 <= text[start - 1] <= 122:
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
