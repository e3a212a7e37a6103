"""One pass over the decoded text of all blocks: characters, tokens, sentences, letters' hash.

Victor, section 3.2 (content-based features), counted per block. Cython pure Python mode.
"""

import cython
from cython import Py_ssize_t
from cython.cimports.victor_spark.kernels import num

num.check()
assert num.N_TOKEN_KINDS == 5  # the size of an array

_FULL_WIDTH = cython.declare(cython.uint, 0x3000)  # from here on characters are as wide as ideographs


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _kind(letters: cython.bint, digits: cython.bint, rest: cython.bint) -> cython.int:
    """The kind of a token with such characters."""
    if letters:
        return num.TOKEN_MIX if digits else num.TOKEN_ALPHA
    return num.TOKEN_NUM if digits else num.TOKEN_OTHER if rest else num.TOKEN_NONE


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _marks_url(c: cython.uint, before: cython.uint, first: cython.uint) -> cython.bint:
    """Whether a character with two before it is the end of `://`, or of `ww.` in any case."""
    if c == ord("/"):
        return before == ord("/") and first == ord(":")
    return c == ord(".") and (before | first | num.SMALL) == ord("w")


@cython.ccall
def measure(
    text: num.UInts, properties: num.Bytes, rows: cython.int[:, ::1], hashes: cython.ulonglong[::1]
) -> cython.void:
    """Fills its `rows` of blocks.ROWS, and `hashes` (FNV-1a of a block's letters, case kept).

    A token is a run without white space; it is alpha with letters and no digits, num with digits
    and no letters, mix with both, other with neither. Letters of unspaced scripts leave the
    tokens: two of them, or one left over, count as one alpha token. What is left of a token
    without them counts as any other token, but not when only punctuation is.
    """
    for block in range(rows.shape[1]):
        _measure(text, properties, rows, hashes, block)


@cython.cfunc
def _measure(
    text: num.UInts,
    properties: num.Bytes,
    rows: cython.int[:, ::1],
    hashes: cython.ulonglong[::1],
    block: Py_ssize_t,
) -> cython.void:
    """Fills the columns of one block."""
    i: Py_ssize_t
    n_tokens = cython.declare(cython.int[5])
    n_letters = n_digits = n_punctuation = n_white = n_other = 0
    n_unspaced = n_sentences = 0
    for token in range(num.N_TOKEN_KINDS):
        n_tokens[token] = 0
    token_letters = token_digits = token_rest = token_unspaced = False
    begins = -1
    ended = 0
    pending = False
    url_mark = 0
    previous = num.WHITE
    hashes[block] = num.FNV_64_SEED
    start = i = rows[num.ROW_TEXT_START, block]
    end = rows[num.ROW_TEXT_END, block]
    while i < end:
        c = text[i]
        bits: cython.int = properties[c] if c < num.N_CODE_POINTS else 0
        kind = bits & num.CLASS_MASK
        if pending and (kind == num.WHITE or not (bits & (num.CLOSING | num.SENTENCE_END))):
            # An end mark counts when the sentence really stops there: before white space.
            if kind == num.WHITE:
                n_sentences += 1
            pending = False
        if kind == num.LETTER:
            if begins < 0:
                begins = 1 if bits & num.UPPER else 0
            last = end
            if bits & num.UNSPACED:
                n_unspaced += 1
                token_unspaced = True
                last = i + 1
            else:
                token_letters = True
            last = _add_letters(text, properties, i, last, hashes, block)
            n_letters += last + 1 - i
            i = last
            bits = properties[text[i]]
            ended = 0
        elif kind == num.DIGIT:
            n_digits += 1
            token_digits = True
            if begins < 0:
                begins = 1
            ended = 0
        elif kind == num.WHITE:
            n_white += 1
            n_tokens[_kind(token_letters, token_digits, token_rest and not token_unspaced)] += 1
            token_letters = token_digits = token_rest = token_unspaced = False
        else:
            if kind == num.PUNCTUATION:
                n_punctuation += 1
            else:
                n_other += 1
            token_rest = True
            is_question: cython.bint = c == ord(";") or c == ord("\u037e")  # after Greek
            if bits & num.SENTENCE_END or (is_question and previous & num.GREEK):
                ended = 1
                if c >= _FULL_WIDTH:  # full-width marks end a sentence without white space
                    n_sentences += 1
                else:
                    pending = True
            elif not bits & num.CLOSING:
                ended = 0
            if c == ord("@") or (i >= start + 2 and _marks_url(c, text[i - 1], text[i - 2])):
                url_mark = 1
        previous = bits
        i += 1
    n_tokens[_kind(token_letters, token_digits, token_rest and not token_unspaced)] += 1
    if pending:
        n_sentences += 1
    rows[num.ROW_N_LETTERS, block] = n_letters
    rows[num.ROW_N_DIGITS, block] = n_digits
    rows[num.ROW_N_PUNCTUATION, block] = n_punctuation
    rows[num.ROW_N_WHITE, block] = n_white
    rows[num.ROW_N_OTHER, block] = n_other
    rows[num.ROW_N_ALPHA_TOKENS, block] = n_tokens[num.TOKEN_ALPHA] + (n_unspaced + 1) // 2
    rows[num.ROW_N_NUM_TOKENS, block] = n_tokens[num.TOKEN_NUM]
    rows[num.ROW_N_MIX_TOKENS, block] = n_tokens[num.TOKEN_MIX]
    rows[num.ROW_N_OTHER_TOKENS, block] = n_tokens[num.TOKEN_OTHER]
    rows[num.ROW_N_SENTENCES, block] = n_sentences
    rows[num.ROW_SENTENCE_BEGIN, block] = 1 if begins == 1 else 0
    rows[num.ROW_SENTENCE_END, block] = ended
    rows[num.ROW_HAS_URL_MARK, block] = url_mark


@cython.cfunc
@cython.inline
def _add_letters(
    text: num.UInts,
    properties: num.Bytes,
    i: Py_ssize_t,
    end: Py_ssize_t,
    hashes: cython.ulonglong[::1],
    block: Py_ssize_t,
) -> Py_ssize_t:
    """Adds the letter at `i` to the hash of a block, and the letters of spaced scripts that follow it.

    Returns the place of the last one.
    """
    letters_hash: cython.ulonglong = hashes[block]
    c: cython.uint = text[i]
    while True:
        letters_hash = ((letters_hash ^ c) * num.FNV_64_PRIME) & num.ALL_64_BITS
        i += 1
        if i >= end:
            break
        c = text[i]
        bits: cython.int = properties[c] if c < num.N_CODE_POINTS else 0
        if (bits & (num.CLASS_MASK | num.UNSPACED)) != num.LETTER:
            break
    hashes[block] = letters_hash
    return i - 1
