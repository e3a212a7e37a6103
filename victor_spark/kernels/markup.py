# cython: language_level=3
"""The one scan of the canonical HTML: where text blocks stand, and the markup around them.

Cython pure Python mode: compiled when the wheel is built, and the same source runs uncompiled.
The input is a serialised tree (balanced tags, no comments, no raw text but `title`), so the scan
needs no error recovery; on anything else it stays within its bounds and gives some blocks.
"""

import cython

COLUMNS = (
    "start",
    "end",
    "text_start",
    "text_end",
    "n_split_p",
    "n_split_br",
    "n_split_hr",
    "n_split_inline",
    "n_split_block",
    "div_group",
    "td_group",
    "paragraph",
    "heading_level",
    "depth",
    "space_before",
    "tag",
    "parent_block",
    "named",
    "white_space",
    "listing",
)
"""The int32 columns that `scan` fills, in the order in which it fills them."""

FLAGS = ("void", "block-level", "p", "br", "hr", "div", "td", "skipped", "img", "preformatted")
"""What a tag may be: bit i of its flags stands for FLAGS[i]."""


def _hashed(name: str) -> int:
    """The 32-bit FNV-1a hash of a word in style, as the scan computes it."""
    value = 2166136261
    for byte in name.encode():
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value


_VOID = cython.declare(cython.int, 1)
_BLOCK_LEVEL = cython.declare(cython.int, 2)
_P = cython.declare(cython.int, 4)
_BR = cython.declare(cython.int, 8)
_HR = cython.declare(cython.int, 16)
_DIV = cython.declare(cython.int, 32)
_TD = cython.declare(cython.int, 64)
_SKIPPED = cython.declare(cython.int, 128)
_IMG = cython.declare(cython.int, 256)
_PREFORMATTED = cython.declare(cython.int, 512)
_CLASS = cython.declare(cython.int, 7)
_WHITE = cython.declare(cython.int, 4)

_MOST_NAME_WORDS = cython.declare(cython.int, 32)

_UNSEEN = cython.declare(cython.uint, 1)
_UNHEARD = cython.declare(cython.uint, 2)
_HIDES = cython.declare(cython.uint, 3)
_STYLED = cython.declare(cython.uint, 4)  # and from here on the white space that the style asks for

_COLLAPSED = cython.declare(cython.uint, 0)
_LINES = cython.declare(cython.uint, 1)
_PROSE = cython.declare(cython.uint, 2)
_CODE = cython.declare(cython.uint, 3)
_UNKNOWN = cython.declare(cython.uint, 4)

_WHITE_SPACE = cython.declare(cython.uint, _hashed("ecaps-etihw"))
_NORMAL = cython.declare(cython.uint, _hashed("normal"))
_NOWRAP = cython.declare(cython.uint, _hashed("nowrap"))
_PRE_LINE = cython.declare(cython.uint, _hashed("pre-line"))
_PRE_WRAP = cython.declare(cython.uint, _hashed("pre-wrap"))
_BREAK_SPACES = cython.declare(cython.uint, _hashed("break-spaces"))
_PRE = cython.declare(cython.uint, _hashed("pre"))
_LONGEST_NAME = cython.declare(cython.Py_ssize_t, 12)  # one letter more than white-space has


@cython.cfunc
@cython.inline
def entity_width(
    html: cython.const[cython.uint][::1], i: cython.Py_ssize_t, n: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """How long the entity at `i` is: the serialiser writes &amp; &lt; &gt; &nbsp; only (else 1)."""
    second: cython.uint
    if i + 3 >= n:
        return 1
    second = html[i + 1]
    if (second == 108 or second == 103) and html[i + 2] == 116 and html[i + 3] == 59:
        return 4
    if i + 4 >= n or html[i + 3] != (112 if second == 97 else 115):
        return 1
    if second == 97 and html[i + 2] == 109 and html[i + 4] == 59:
        return 5
    if second == 110 and html[i + 2] == 98 and html[i + 4] == 112 and i + 5 < n and html[i + 5] == 59:
        return 6
    return 1


@cython.cfunc
@cython.inline
def tells_purpose(html: cython.const[cython.uint][::1], i: cython.Py_ssize_t) -> cython.bint:
    """Whether the '=' at `i` ends the name class, id, role or itemprop (`i` is 11 at least)."""
    last: cython.uint = html[i - 1]
    before: cython.uint = html[i - 2]
    if last == 115:
        return before == 115 and html[i - 3] == 97 and html[i - 4] == 108 and html[i - 6] == 32
    if last == 100:
        return before == 105 and html[i - 3] == 32
    if last == 101:
        return before == 108 and html[i - 3] == 111 and html[i - 4] == 114 and html[i - 5] == 32
    if last == 112:
        return before == 111 and html[i - 3] == 114 and html[i - 4] == 112 and html[i - 9] == 32
    return False


@cython.cfunc
@cython.inline
def hides(html: cython.const[cython.uint][::1], i: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.uint:
    """What the attribute with its '=' at `i` says of its element: bits, or 0.

    Not to be seen, not to be read, and how its style treats white space (_STYLED times 1 + one of
    _COLLAPSED ...). `i` is 11 at least; a quote and another character follow.
    """
    last: cython.uint = html[i - 1]
    if last == 110:  # hidden
        if html[i - 2] != 101 or html[i - 3] != 100 or html[i - 4] != 100 or html[i - 6] != 104:
            return 0
        if html[i - 7] == 32:
            return _UNSEEN
        return _UNHEARD if html[i - 7] == 45 and html[i + 2] == 116 else 0  # aria-hidden, data-hidden: true
    if last != 101 or html[i - 2] != 108 or html[i - 3] != 121 or html[i - 6] != 32:  # style
        return 0
    return _of_style(html, i + 2, n)


@cython.cfunc
def _of_style(
    html: cython.const[cython.uint][::1], i: cython.Py_ssize_t, n: cython.Py_ssize_t
) -> cython.uint:
    """What the declarations from `i` on say, as `hides` has it."""
    found: cython.uint = 0
    white_space: cython.uint
    while i < n and html[i] != 34:
        if html[i] == 58:
            if (html[i - 1] | 32) == 121 and i + 5 < n and _says_no(html, i, n):
                found |= _UNSEEN
            elif (html[i - 1] | 32) == 101 or html[i - 1] == 32:  # …e
                white_space = _white_space(html, i, n)
                if white_space != _UNKNOWN:  # the last one counts
                    found = (found & _HIDES) | (_STYLED * (white_space + 1))
        i += 1
    return found


@cython.cfunc
def _white_space(
    html: cython.const[cython.uint][::1], i: cython.Py_ssize_t, n: cython.Py_ssize_t
) -> cython.uint:
    """Which white space the declaration with its ':' at `i` asks for, _UNKNOWN where it is none of that."""
    j: cython.Py_ssize_t = i
    while j > 0 and html[j - 1] == 32:
        j -= 1
    if _hash_of_name(html, j - 1, -1, max(j - 1 - _LONGEST_NAME, -1)) != _WHITE_SPACE:
        return _UNKNOWN
    i += 1
    while i < n and html[i] <= 32:
        i += 1
    value: cython.uint = _hash_of_name(html, i, 1, n)
    if value == _NORMAL or value == _NOWRAP:
        return _COLLAPSED
    if value == _PRE_LINE:
        return _LINES
    if value == _PRE_WRAP or value == _BREAK_SPACES:
        return _PROSE
    return _CODE if value == _PRE else _UNKNOWN


@cython.cfunc
def _hash_of_name(
    html: cython.const[cython.uint][::1], i: cython.Py_ssize_t, step: cython.int, end: cython.Py_ssize_t
) -> cython.uint:
    """The hash of the letters and hyphens from `i` on, any case; backwards where the step is -1."""
    # As variables, because a literal beyond 31 bits makes Cython fall back to Python integers.
    value: cython.uint = 2166136261
    low_bits: cython.ulonglong = 4294967295
    c: cython.uint
    while i != end:
        c = html[i] | 32
        if c != 45 and not 97 <= c <= 122:
            break
        value = ((value ^ c) * 16777619) & low_bits
        i += step
    return value


@cython.cfunc
@cython.inline
def _says_no(html: cython.const[cython.uint][::1], i: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.bint:
    """Whether the ':' at `i` of a style stands in display: none or visibility: hidden."""
    before: cython.uint = html[i - 2] | 32
    first: cython.uint = html[i - 11]  # before "visibility": that of a backface is another matter
    i += 1
    while i < n and html[i] == 32:
        i += 1
    if i + 3 >= n:
        return False
    if before == 97:
        return (html[i] | 32) == 110 and (html[i + 1] | 32) == 111 and (html[i + 2] | 32) == 110
    if before != 116 or first == 45:
        return False
    return (html[i] | 32) == 104 and (html[i + 1] | 32) == 105 and (html[i + 2] | 32) == 100


@cython.cfunc
@cython.inline
def _with_word(
    words: cython.uint[::1],
    first: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    most: cython.Py_ssize_t,
    word: cython.uint,
) -> cython.Py_ssize_t:
    """How many words there are when `word` is among those from `first` on, if there is room for it."""
    k: cython.Py_ssize_t = first
    while k < n and words[k] != word:
        k += 1
    if k == n and n < most:
        words[n] = word
        return n + 1
    return n


@cython.ccall
def n_tags(html: cython.const[cython.uint][::1]) -> cython.Py_ssize_t:
    """How many `<` there are: no page has more tags."""
    n: cython.uint = 0
    i: cython.Py_ssize_t
    for i in range(html.shape[0]):
        n += html[i] == 60
    return n


@cython.ccall
def scan(
    html: cython.const[cython.uint][::1],
    properties: cython.const[cython.uchar][::1],
    slots: cython.const[cython.uint][::1],
    slot_tags: cython.const[cython.short][::1],
    tag_flags: cython.const[cython.ushort][::1],
    tag_levels: cython.const[cython.uchar][::1],
    tag_masks: cython.const[cython.ulonglong][::1],
    word_slots: cython.const[cython.uint][::1],
    word_groups: cython.const[cython.uchar][::1],
    hidden_group: cython.int,
    stack_tags: cython.int[::1],
    stack_groups: cython.int[:, ::1],
    stack_masks: cython.ulonglong[::1],
    stack_paths: cython.ulonglong[:, ::1],
    stack_hints: cython.int[:, ::1],
    rows: cython.int[:, ::1],
    containers: cython.ulonglong[::1],
    asked: cython.const[cython.ulonglong][::1],
    inside: cython.uchar[:, ::1],
    paths: cython.ulonglong[:, ::1],
    hints: cython.uchar[:, ::1],
    elements: cython.int[:, ::1],
    named_elements: cython.int[:, ::1],
    name_words: cython.uint[::1],
    text: cython.uint[::1],
) -> cython.longlong:
    """Fills `rows` (len(COLUMNS), n_blocks) and `containers` (n_blocks), a column a block.

    `inside[k, i]`: whether block i is inside one of the containers `asked[k]`.

    `text` gets the decoded text of all blocks, a newline after each; `paths` a hash of the ancestors'
    tags and one of their tags and classes; `hints[g, i]` how many elements up the nearest ancestor
    with a word of group g is (0: the innermost, 255: none); `elements[0, e]` the block-level element
    around block-level element e (0: none) and `elements[1, e]` the last one inside e; `named_elements[0, e]`
    the named element around named element e and `named_elements[1, e]` the end of its words in `name_words`,
    where those of e + 1 begin: hashes of different ones and of pairs of them,
    32 at most. White space: what the innermost element that sets it asks for, by tag or style (0: it
    collapses, 1: lines are kept, 2: all of it in prose, 3: in code); listing: the ordinal of the outermost
    element of that kind around the block (0: none).

    `slots`/`slot_tags` is an open-addressing table from the 32-bit FNV-1a hash of a tag's name to
    its row in the tag tables (row 0: any other tag); `word_slots`/`word_groups` the same from words of
    class, id, role and itemprop to their group. Elements that style, hidden, aria-hidden or data-hidden hide
    count as named, by the words 1 (not to be seen; in `hidden_group`, too) and 2 (not to be read out). The
    stacks and `text` hold one entry per `<` and per code point of the page at most. Returns n_blocks * 2**32
    + length of `text`.
    """
    n: cython.Py_ssize_t = html.shape[0]
    slot_mask: cython.uint = cython.cast(cython.uint, slots.shape[0] - 1)
    i: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    n_blocks: cython.Py_ssize_t = 0
    n_text: cython.Py_ssize_t = 0
    depth: cython.Py_ssize_t = 0
    max_depth: cython.Py_ssize_t = stack_tags.shape[0]
    block_start: cython.Py_ssize_t
    block_end: cython.Py_ssize_t
    text_end: cython.Py_ssize_t
    c: cython.uint
    width: cython.Py_ssize_t
    name_hash: cython.uint
    slot: cython.uint
    word_mask: cython.uint = cython.cast(cython.uint, word_slots.shape[0] - 1)
    word: cython.uint
    bits: cython.uint
    styled: cython.uint
    before: cython.uint
    both: cython.uint
    was_small: cython.bint
    n_hints: cython.Py_ssize_t = hints.shape[0]
    g: cython.Py_ssize_t
    distance: cython.Py_ssize_t
    found: cython.ulonglong
    hidden: cython.ulonglong = cython.cast(cython.ulonglong, 1) << hidden_group
    classes: cython.ulonglong
    hint_row: cython.int = 0
    n_words: cython.Py_ssize_t = 0  # in name_words, those of the tag at hand included
    first_word: cython.Py_ssize_t
    most_words: cython.Py_ssize_t
    room: cython.Py_ssize_t = name_words.shape[0]
    named: cython.int = 0
    n_named: cython.int = 0
    path: cython.ulonglong = 0
    class_path: cython.ulonglong = 0
    prime: cython.ulonglong = 1099511628211
    # As variables, because a literal beyond 31 bits makes Cython fall back to Python integers.
    all_bits: cython.ulonglong = 18446744073709551615
    low_bits: cython.ulonglong = 4294967295
    seed: cython.uint = 2166136261
    tag: cython.int
    flags: cython.int
    closing: cython.bint
    space: cython.bint = False
    new_paragraph: cython.bint = True
    mask: cython.ulonglong = 0
    img_mask: cython.ulonglong = 8
    level: cython.int = 0
    div: cython.int = 0
    td: cython.int = 0
    n_div: cython.int = 0
    n_td: cython.int = 0
    paragraph: cython.int = 0
    parent_block: cython.int = 0
    n_parent_block: cython.int = 0
    white_space: cython.uint = _COLLAPSED
    listing: cython.int = 0
    n_listing: cython.int = 0
    split_p: cython.int = 0
    split_br: cython.int = 0
    split_hr: cython.int = 0
    split_inline: cython.int = 0
    split_block: cython.int = 0

    for g in range(n_hints):
        stack_hints[0, g] = -255
    while i < n:
        if html[i] != 60:  # a run of text, up to the next '<'
            block_start = -1
            block_end = i
            text_end = n_text
            k = n_text
            while i < n and html[i] != 60:
                c = html[i]
                width = 1
                if c == 38:
                    width = entity_width(html, i, n)
                    if width == 4:
                        c = 60 if html[i + 1] == 108 else 62
                    elif width == 6:
                        c = 160
                if c < 1114112 and (properties[c] & _CLASS) == _WHITE:
                    if block_start < 0:
                        space = True
                    else:
                        text[k] = c
                        k += 1
                else:
                    if block_start < 0:
                        block_start = i
                    text[k] = c
                    k += 1
                    block_end = i + width
                    text_end = k
                i += width
            if block_start < 0:
                continue
            if new_paragraph or split_br > 1:
                paragraph += 1
                new_paragraph = False
            rows[0, n_blocks] = cython.cast(cython.int, block_start)
            rows[1, n_blocks] = cython.cast(cython.int, block_end)
            rows[2, n_blocks] = cython.cast(cython.int, n_text)
            rows[3, n_blocks] = cython.cast(cython.int, text_end)
            rows[4, n_blocks] = split_p
            rows[5, n_blocks] = split_br
            rows[6, n_blocks] = split_hr
            rows[7, n_blocks] = split_inline
            rows[8, n_blocks] = split_block
            rows[9, n_blocks] = div
            rows[10, n_blocks] = td
            rows[11, n_blocks] = paragraph
            rows[12, n_blocks] = level
            rows[13, n_blocks] = cython.cast(cython.int, depth)
            rows[14, n_blocks] = 1 if space else 0
            rows[15, n_blocks] = stack_tags[depth - 1] if depth > 0 else 0
            rows[16, n_blocks] = parent_block
            rows[17, n_blocks] = named
            rows[18, n_blocks] = cython.cast(cython.int, white_space)
            rows[19, n_blocks] = listing
            containers[n_blocks] = mask
            for g in range(asked.shape[0]):
                inside[g, n_blocks] = (mask & asked[g]) != 0
            paths[0, n_blocks] = path
            paths[1, n_blocks] = class_path
            for g in range(n_hints):
                distance = depth - stack_hints[hint_row, g]
                hints[g, n_blocks] = cython.cast(cython.uchar, distance if distance < 255 else 255)
            n_blocks += 1
            text[text_end] = 10
            n_text = text_end + 1
            space = k > text_end  # white space trimmed from this block's end
            split_p = 0
            split_br = 0
            split_hr = 0
            split_inline = 0
            split_block = 0
            continue

        # A tag: its name, then on to its '>', which the serialiser escapes everywhere else.
        i += 1
        closing = i < n and html[i] == 47
        if closing:
            i += 1
        name_hash = seed
        j = i
        while i < n:
            c = html[i]
            if c == 62 or c == 32 or c == 47:
                break
            name_hash = ((name_hash ^ c) * 16777619) & low_bits
            i += 1
        if i == j or html[j] == 33:  # '<!DOCTYPE …>' or a stray '<'
            while i < n and html[i] != 62:
                i += 1
            i += 1
            continue
        found = 0
        classes = 0
        styled = 0
        first_word = named_elements[1, n_named]
        n_words = first_word
        most_words = first_word + _MOST_NAME_WORDS
        if most_words > room:
            most_words = room
        while i < n:
            c = html[i]
            if c < 61 or c > 62:
                i += 1
                continue
            if c == 62:
                break
            if i <= 10 or i + 2 >= n or html[i + 1] != 34:
                i += 1
                continue
            bits = hides(html, i, n)
            if bits:
                word = bits & _HIDES
                if word:
                    n_words = _with_word(name_words, first_word, n_words, most_words, word)
                if word == _UNSEEN:
                    found |= hidden
                if bits >= _STYLED:
                    styled = bits // _STYLED
            elif tells_purpose(html, i):
                i += 2
                word = seed
                before = 0
                was_small = False
                while i < n and html[i] != 62:
                    c = html[i]
                    if (97 <= c <= 122) or (65 <= c <= 90 and not was_small) or c > 127:
                        was_small = c >= 97
                        word = ((word ^ (c | 32 if c < 128 else c)) * 16777619) & low_bits
                        i += 1
                        continue
                    if word != seed:
                        classes = ((classes ^ word) * prime) & all_bits
                        slot = word & word_mask
                        while word_slots[slot] != word and word_slots[slot] != 0:
                            slot = (slot + 1) & word_mask
                        if word_slots[slot]:
                            found |= cython.cast(cython.ulonglong, 1) << word_groups[slot]
                        n_words = _with_word(name_words, first_word, n_words, most_words, word)
                        if before:  # `entry-content` is neither an entry nor content
                            both = ((before ^ word) * 16777619) & low_bits
                            n_words = _with_word(name_words, first_word, n_words, most_words, both)
                        before = word
                        word = seed
                    was_small = False
                    if c == 34:
                        break
                    if c <= 32:
                        before = 0
                    if 65 <= c <= 90:  # a capital after a small letter begins a word: look again
                        continue
                    i += 1
                if i < n and html[i] == 62:
                    break
            i += 1
        i += 1
        slot = name_hash & slot_mask
        while slots[slot] != name_hash and slots[slot] != 0:
            slot = (slot + 1) & slot_mask
        tag = slot_tags[slot]
        flags = tag_flags[tag]

        if flags & _SKIPPED and not closing:  # title: its text is no block
            j = i
            while i < n and html[i] != 60:
                i += 1
            if i + 1 >= n or html[i + 1] == 47:
                while i < n and html[i] != 62:
                    i += 1
                i += 1
                continue
            i = j  # one that holds elements is no title of HTML but one of MathML
        if flags & _BR:
            split_br += 1
            space = True
        elif flags & _P:
            split_p += 1
        elif flags & _HR:
            split_hr += 1
        if flags & _BLOCK_LEVEL:
            split_block += 1
            new_paragraph = True
        else:
            split_inline += 1
        if flags & _VOID:
            if flags & _IMG:  # marks the blocks after it inside the same block-level parent
                mask |= tag_masks[tag]
            continue
        if not closing:
            if depth < max_depth:
                stack_tags[depth] = tag
                stack_groups[depth, 0] = div
                stack_groups[depth, 1] = td
                stack_groups[depth, 2] = level
                stack_groups[depth, 3] = parent_block
                stack_groups[depth, 5] = named
                stack_groups[depth, 6] = cython.cast(cython.int, white_space)
                stack_groups[depth, 7] = listing
                stack_masks[depth] = mask
                stack_paths[depth, 0] = path
                stack_paths[depth, 1] = class_path
                depth += 1
                stack_groups[depth, 4] = hint_row
                if found:  # a row of its own; elements without such words share the one around them
                    for g in range(n_hints):
                        stack_hints[depth, g] = (
                            cython.cast(cython.int, depth) if (found >> g) & 1 else stack_hints[hint_row, g]
                        )
                    hint_row = cython.cast(cython.int, depth)
                if n_words > first_word:
                    n_named += 1
                    named_elements[0, n_named] = named
                    named_elements[1, n_named] = cython.cast(cython.int, n_words)
                    named = n_named
                path = ((path ^ name_hash) * prime) & all_bits
                class_path = ((class_path ^ name_hash ^ classes) * prime) & all_bits
            if flags & _PREFORMATTED and (styled == 0 or styled == _PROSE + 1):
                styled = _CODE + 1
            if styled == _COLLAPSED + 1:
                listing = 0
                white_space = _COLLAPSED
            elif styled and (styled != _PROSE + 1 or white_space != _CODE):
                if listing == 0 or (styled == _CODE + 1 and white_space != _CODE):
                    n_listing += 1
                    listing = n_listing
                white_space = styled - 1
            if flags & _BLOCK_LEVEL:
                mask &= ~img_mask
            mask |= tag_masks[tag]
            if tag_levels[tag]:
                level = tag_levels[tag]
            if flags & _DIV:
                n_div += 1
                div = n_div
            elif flags & _TD:
                n_td += 1
                td = n_td
            if flags & _BLOCK_LEVEL:
                n_parent_block += 1
                elements[0, n_parent_block] = parent_block
                elements[1, n_parent_block] = n_parent_block
                parent_block = n_parent_block
        elif depth > 0:
            depth -= 1
            if flags & _BLOCK_LEVEL:
                elements[1, parent_block] = n_parent_block
            div = stack_groups[depth, 0]
            td = stack_groups[depth, 1]
            level = stack_groups[depth, 2]
            parent_block = stack_groups[depth, 3]
            named = stack_groups[depth, 5]
            white_space = cython.cast(cython.uint, stack_groups[depth, 6])
            listing = stack_groups[depth, 7]
            mask = stack_masks[depth]
            hint_row = stack_groups[depth + 1, 4]
            path = stack_paths[depth, 0]
            class_path = stack_paths[depth, 1]
    return (cython.cast(cython.longlong, n_blocks) << 32) | n_text
