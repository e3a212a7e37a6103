"""The hot loops of language identification: fold letters, score trigrams, rank n-grams.

Cython pure Python mode: compiled when the wheel is built, and the same source runs uncompiled.
Text is uint32 code points; a segment is `text[starts[i]:ends[i]]`, a page or a block. After `fold`
everything but letters and marks is a space, and runs of spaces count as one.

A hash table is an array of uint64 slots, its length a power of two, empty slots 0. A slot holds a
fingerprint of the n-gram (30 bits), where its entries begin (24 bits) and how many they are (10
bits). Collisions go to the next slot.
"""

import cython
from cython import Py_ssize_t
from cython.cimports.victor_spark.kernels import num

num.check()

_AT_ONCE = cython.declare(Py_ssize_t, 64)  # trigrams that are looked up together
assert _AT_ONCE == 64  # the size of arrays


@cython.ccall
def fold(text: num.UInts, table: num.UInts, folded: cython.uint[::1]) -> cython.bint:
    """Fills `folded` with letters and marks in lower case and spaces; True where NFC is in doubt."""
    size: cython.uint = cython.cast(cython.uint, table.shape[0])
    flags: cython.uint = 0
    for i in range(text.shape[0]):
        c: cython.uint = text[i]
        c = table[c] if c < size else ord(" ")
        flags |= c
        folded[i] = c & num.POINT_MASK
    return (flags & num.NOT_COMPOSED) != 0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def mixed(a: cython.ulonglong, b: cython.ulonglong, c: cython.ulonglong) -> cython.ulonglong:
    """A 64-bit hash of three code points, or of (node + 1, 0, code point)."""
    key = ((a << 42) | (b << 21) | c) * num.GOLDEN
    if not cython.compiled:
        key &= num.ALL_64_BITS
    key ^= key >> 32
    return key


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def alone(c: cython.uint) -> cython.bint:
    """Whether this is an ideograph. Each is a word of its own to the trigrams: there are too many pairs."""
    return num.HAN_FIRST <= c <= num.HAN_LAST or c >= num.MORE_HAN_FIRST


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _found(slots: num.UInt64s, key: cython.ulonglong) -> cython.ulonglong:
    """The slot of an n-gram with this hash, 0 for none."""
    mask: cython.ulonglong = slots.shape[0] - 1
    at: cython.ulonglong = key & mask
    slot: cython.ulonglong = slots[at]
    while slot != 0 and (slot ^ key) >> num.FINGERPRINT_AT != 0:
        at = (at + 1) & mask
        slot = slots[at]
    return slot


@cython.ccall
def insert(
    slots: cython.ulonglong[::1], grams: num.UIntRows, first_entry: num.UInts, n_entries: num.UInts
) -> cython.void:
    """Puts n-grams (rows of three numbers, all different) into an empty table."""
    mask: cython.ulonglong = slots.shape[0] - 1
    for i in range(grams.shape[0]):
        key = mixed(grams[i, 0], grams[i, 1], grams[i, 2])
        first: cython.ulonglong = first_entry[i]
        count: cython.ulonglong = n_entries[i]
        at = key & mask
        while slots[at] != 0:
            at = (at + 1) & mask
        slots[at] = (key >> num.FINGERPRINT_AT << num.FINGERPRINT_AT) | (first << num.ENTRIES_AT) | count


@cython.ccall
def score_trigrams(
    text: num.UInts,
    folding: num.UInts,
    starts: num.Ints,
    ends: num.Ints,
    slots: num.UInt64s,
    entries: num.UInt16s,
    most_letters: cython.int,
    gains: cython.int[:, ::1],
    n_letters: cython.int[::1],
) -> cython.bint:
    """Adds every trigram's gains to its segment's row of `gains` (n_segments, n_languages).

    The text is folded by the table `folding` (so may folded text be); True where NFC is in doubt.

    An entry is language << 8 | gain. A word's first letter has two spaces before it, and an
    ideograph is a word of its own, so a segment is the sum of its words. Letters beyond
    `most_letters` are not looked at; `n_letters` says how many were.
    """
    a: cython.uint
    b: cython.uint
    c: cython.uint
    size: cython.uint = cython.cast(cython.uint, folding.shape[0])
    flags: cython.uint = 0
    keys = cython.declare(cython.ulonglong[64])
    for segment in range(starts.shape[0]):
        a = b = ord(" ")
        n = 0
        n_keys = 0
        end = ends[segment]
        for i in range(starts[segment], end + 1):
            c = ord(" ")
            if i < end and n < most_letters:
                c = folding[text[i]] if text[i] < size else ord(" ")
                flags |= c
                c &= num.POINT_MASK
            if c != ord(" "):
                n += 1
                if alone(c):
                    a = b = ord(" ")
            elif b == ord(" "):
                if n >= most_letters:
                    break
                continue
            keys[n_keys] = mixed(a, b, c)
            n_keys += 1
            if n_keys == _AT_ONCE:
                _add_gains(keys, n_keys, slots, entries, gains, segment)
                n_keys = 0
            a = b
            b = c
            if c == ord(" ") or alone(c):
                a = b = ord(" ")
        _add_gains(keys, n_keys, slots, entries, gains, segment)
        n_letters[segment] = n
    return (flags & num.NOT_COMPOSED) != 0


@cython.cfunc
def _add_gains(
    keys: cython.p_ulonglong,
    n_keys: Py_ssize_t,
    slots: num.UInt64s,
    entries: num.UInt16s,
    gains: cython.int[:, ::1],
    segment: Py_ssize_t,
) -> cython.void:
    """Adds the entries of _AT_ONCE trigrams at most, so that the waits for memory overlap."""
    found = cython.declare(cython.ulonglong[64])
    heads = cython.declare(cython.int[64])
    mask: cython.ulonglong = slots.shape[0] - 1
    for m in range(n_keys):
        found[m] = slots[keys[m] & mask]
    for m in range(n_keys):
        if found[m] != 0 and (found[m] ^ keys[m]) >> num.FINGERPRINT_AT != 0:
            found[m] = _found(slots, keys[m])
        heads[m] = entries[(found[m] >> num.ENTRIES_AT) & num.ENTRIES_MASK]
    for m in range(n_keys):
        if found[m] == 0:
            continue
        gains[segment, heads[m] >> num.LANGUAGE_AT] += heads[m] & num.GAIN_MASK
        first = (found[m] >> num.ENTRIES_AT) & num.ENTRIES_MASK
        for k in range(first + 1, first + cython.cast(Py_ssize_t, found[m] & num.COUNT_MASK)):
            entry = entries[k]
            gains[segment, entry >> num.LANGUAGE_AT] += entry & num.GAIN_MASK


@cython.ccall
def rank_distances(
    text: num.UInts,
    starts: num.Ints,
    ends: num.Ints,
    slots: num.UInt64s,
    roots: num.UInt64s,
    ranks: num.ByteRows,
    most_letters: cython.int,
    counts: cython.int[::1],
    seen: cython.int[::1],
    histogram: cython.int[::1],
    rank_of: cython.int[::1],
    distances: cython.ushort[:, ::1],
    n_ngrams: cython.int[::1],
) -> cython.void:
    """Cavnar and Trenkle's out-of-place measure of every segment to every language.

    `slots` is a trie: from (node + 1, 0, code point) to the node's row of `ranks`, with num.LEAF for the
    number of entries where no n-gram goes on; the root is node -1, and `roots` has its slots by code point.
    N-grams have one to five characters and lie in a word with a space on either side. The n-grams of a
    segment that some language has are ranked by count; equal counts share their middle rank. Each of the
    N_RANKED commonest adds the distance of its rank from that in the language, at most FARTHEST_RANK, which a
    language without it (NO_RANK) gets. `n_ngrams` is the number of different n-grams.

    `counts` (one per node, zeros, left zeros), `seen` (one per node), `histogram` (zeros, left zeros)
    and `rank_of` are scratch; counts past the last row of `histogram` count as that.
    """
    n_lanes = ranks.shape[1]
    for segment in range(starts.shape[0]):
        n_seen = _count(text, starts[segment], ends[segment], slots, roots, most_letters, counts, seen)
        n_ngrams[segment] = n_seen
        most: cython.int = 0
        for k in range(n_seen):
            most = max(most, counts[seen[k]])
        # Ranks of counts, from the highest down; `histogram` turns into what may still be ranked.
        most = min(most, cython.cast(cython.int, histogram.shape[0] - 1))
        for k in range(n_seen):
            histogram[min(counts[seen[k]], most)] += 1
        above: cython.int = 0
        count: cython.int
        for count in range(most, 0, -1):
            n: cython.int = min(histogram[count], num.N_RANKED - above)
            histogram[count] = n
            rank_of[count] = (above + n // 2) // num.RANK_STEP
            above += n
        for k in range(n_seen):
            node = seen[k]
            count = min(counts[node], most)
            counts[node] = 0
            if histogram[count] > 0:
                histogram[count] -= 1
                rank: cython.short = rank_of[count]
                for j in range(n_lanes):
                    distance: cython.short = rank - ranks[node, j]
                    distance = distance if distance >= 0 else -distance
                    distance = distance if distance < num.FARTHEST_RANK else num.FARTHEST_RANK
                    distances[segment, j] += distance


@cython.cfunc
def _count(
    text: num.UInts,
    start: Py_ssize_t,
    end: Py_ssize_t,
    slots: num.UInt64s,
    roots: num.UInt64s,
    most_letters: cython.int,
    counts: cython.int[::1],
    seen: cython.int[::1],
) -> cython.int:
    """Counts the n-grams of a segment that some language has; how many are `seen`."""
    n_roots: cython.uint = cython.cast(cython.uint, roots.shape[0])
    n: cython.int = 0
    n_seen: cython.int = 0
    i: Py_ssize_t = start - 1  # the space before the text
    while i < end and n <= most_letters:
        c: cython.uint = text[i] if i >= start else ord(" ")
        if c != ord(" "):
            n += 1
        elif i + 1 >= end or text[i + 1] == ord(" "):
            i += 1
            continue
        node = -1
        for length in range(num.LONGEST_NGRAM):
            if length != 0:
                c = text[i + length] if i + length < end else ord(" ")
                slot = _found(slots, mixed(node + 1, 0, c))
            else:
                slot = roots[c] if c < n_roots else 0
            if slot == 0:
                break
            node = (slot >> num.ENTRIES_AT) & num.ENTRIES_MASK
            if c == ord(" ") and length == 0:
                continue
            if counts[node] == 0:
                seen[n_seen] = node
                n_seen += 1
            counts[node] += 1
            if c == ord(" ") or (slot & num.COUNT_MASK) == num.LEAF:
                break
        i += 1
    return n_seen
