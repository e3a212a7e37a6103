# cython: language_level=3, infer_types=True
"""One pass over the decoded text of all blocks: characters, tokens, sentences, letters' hash.

Victor, section 3.2 (content-based features), counted per block. Cython pure Python mode.
"""

import cython
from cython.cimports.victor_spark.kernels import num

num.check()


@cython.ccall
def measure(
    text: cython.const[cython.uint][::1],
    properties: cython.const[cython.uchar][::1],
    rows: cython.int[:, ::1],
    hashes: cython.ulonglong[::1],
) -> cython.int:
    """Fills its `rows` of blocks.ROWS, and `hashes` (FNV-1a of a block's letters, case kept).

    A token is a run without white space; it is alpha with letters and no digits, num with digits
    and no letters, mix with both, other with neither. Letters of unspaced scripts leave the
    tokens: two of them, or one left over, count as one alpha token. What is left of a token
    without them counts as any other token, but not when only punctuation is.
    """
    i: cython.Py_ssize_t
    # As variables, because a literal beyond 63 bits makes Cython fall back to Python integers.
    seed: cython.ulonglong = 14695981039346656037
    prime: cython.ulonglong = 1099511628211
    all_bits: cython.ulonglong = 18446744073709551615

    for block in range(rows.shape[1]):
        n_letters = n_digits = n_punctuation = n_white = n_other = 0
        n_alpha = n_num = n_mix = n_rest = n_unspaced = n_sentences = 0
        token_letters = token_digits = token_rest = token_unspaced = False
        begins = -1
        ended = 0
        pending = False
        url_mark = 0
        previous = num.WHITE
        letters_hash = seed
        start = i = rows[num.ROW_TEXT_START, block]
        end = rows[num.ROW_TEXT_END, block]
        while i < end:
            c = text[i]
            bits: cython.int = properties[c] if c < 1114112 else 0
            kind = bits & num.CLASS_MASK
            if pending and (kind == num.WHITE or not (bits & (num.CLOSING | num.SENTENCE_END))):
                # An end mark counts when the sentence really stops there: before white space.
                if kind == num.WHITE:
                    n_sentences += 1
                pending = False
            if kind == num.LETTER:
                n_letters += 1
                letters_hash = ((letters_hash ^ c) * prime) & all_bits
                if begins < 0:
                    begins = 1 if bits & num.UPPER else 0
                if bits & num.UNSPACED:
                    n_unspaced += 1
                    token_unspaced = True
                else:
                    token_letters = True
                    while i + 1 < end:  # the letters that follow
                        c = text[i + 1]
                        following: cython.int = properties[c] if c < 1114112 else 0
                        if (following & (num.CLASS_MASK | num.UNSPACED)) != num.LETTER:
                            break
                        n_letters += 1
                        letters_hash = ((letters_hash ^ c) * prime) & all_bits
                        bits = following
                        i += 1
                ended = 0
            elif kind == num.DIGIT:
                n_digits += 1
                token_digits = True
                if begins < 0:
                    begins = 1
                ended = 0
            elif kind == num.WHITE:
                n_white += 1
                if token_letters or token_digits or token_rest:
                    if token_letters and token_digits:
                        n_mix += 1
                    elif token_letters:
                        n_alpha += 1
                    elif token_digits:
                        n_num += 1
                    elif not token_unspaced:
                        n_rest += 1
                token_letters = token_digits = token_rest = token_unspaced = False
            else:
                if kind == num.PUNCTUATION:
                    n_punctuation += 1
                else:
                    n_other += 1
                token_rest = True
                if bits & num.SENTENCE_END or ((c == 59 or c == 894) and previous & num.GREEK):
                    ended = 1
                    if c > 0x2FFF:  # full-width marks end a sentence without white space
                        n_sentences += 1
                    else:
                        pending = True
                elif not bits & num.CLOSING:
                    ended = 0
                if c == 47 and i >= start + 2 and text[i - 1] == 47 and text[i - 2] == 58:
                    url_mark = 1
                elif c == 64:
                    url_mark = 1
                elif c == 46 and i >= start + 2 and (text[i - 1] | text[i - 2] | 32) == 119:
                    url_mark = 1
            previous = bits
            i += 1
        if token_letters and token_digits:
            n_mix += 1
        elif token_letters:
            n_alpha += 1
        elif token_digits:
            n_num += 1
        elif token_rest and not token_unspaced:
            n_rest += 1
        if pending:
            n_sentences += 1
        rows[num.ROW_N_LETTERS, block] = n_letters
        rows[num.ROW_N_DIGITS, block] = n_digits
        rows[num.ROW_N_PUNCTUATION, block] = n_punctuation
        rows[num.ROW_N_WHITE, block] = n_white
        rows[num.ROW_N_OTHER, block] = n_other
        rows[num.ROW_N_ALPHA_TOKENS, block] = n_alpha + (n_unspaced + 1) // 2
        rows[num.ROW_N_NUM_TOKENS, block] = n_num
        rows[num.ROW_N_MIX_TOKENS, block] = n_mix
        rows[num.ROW_N_OTHER_TOKENS, block] = n_rest
        rows[num.ROW_N_SENTENCES, block] = n_sentences
        rows[num.ROW_SENTENCE_BEGIN, block] = 1 if begins == 1 else 0
        rows[num.ROW_SENTENCE_END, block] = ended
        rows[num.ROW_HAS_URL_MARK, block] = url_mark
        hashes[block] = letters_hash
    return 0
