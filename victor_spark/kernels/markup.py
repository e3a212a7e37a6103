"""The one scan of the canonical HTML: the positions of text blocks, and the markup around them.

Cython pure Python mode: compiled when the wheel is built, and the same source runs uncompiled.
The input is a serialised tree (balanced tags, no comments, no raw text but `title`), so the scan
needs no error recovery; on anything else it stays within its bounds and gives some blocks.
"""

import cython
from cython import Py_ssize_t
from cython.cimports.victor_spark.kernels import num

from victor_html.elements import fnv1a

if cython.compiled:
    from cython.cimports.libc.string import memcmp

num.check()

_N_OUTER = cython.declare(cython.int, 2)  # html and body, whose classes name the page on many sites

# What an attribute asks for, as bits: the element is invisible, or not read out, or (both) hidden.
_UNSEEN = cython.declare(cython.uint, 1)
_UNHEARD = cython.declare(cython.uint, 2)
_HIDES = cython.declare(cython.uint, 3)
_STYLED = cython.declare(cython.uint, 4)  # the lowest bit of what a style asks for: 1 + its white space

_UNKNOWN = cython.declare(cython.uint, 4)  # any value of white-space but num.COLLAPSED ...

_WHITE_SPACE = cython.declare(cython.uint, fnv1a("ecaps-etihw"))
_NORMAL = cython.declare(cython.uint, fnv1a("normal"))
_NOWRAP = cython.declare(cython.uint, fnv1a("nowrap"))
_PRE_LINE = cython.declare(cython.uint, fnv1a("pre-line"))
_PRE_WRAP = cython.declare(cython.uint, fnv1a("pre-wrap"))
_BREAK_SPACES = cython.declare(cython.uint, fnv1a("break-spaces"))
_PRE = cython.declare(cython.uint, fnv1a("pre"))
_LOOKED_BACK = cython.declare(Py_ssize_t, 11)  # how far, at most, from the '=' or ':' of a name
_LONGEST_NAME = cython.declare(Py_ssize_t, 12)  # one letter more than white-space has


@cython.cfunc
@cython.inline
def entity_width(html: num.UInts, i: Py_ssize_t, n: Py_ssize_t) -> Py_ssize_t:
    """How long the entity at `i` is: the serialiser writes &amp; &lt; &gt; &nbsp; only (else 1)."""
    if i + 3 >= n:
        return 1
    second = html[i + 1]
    if (second == ord("l") or second == ord("g")) and html[i + 2] == ord("t") and html[i + 3] == ord(";"):
        return num.WIDTH_LT
    if i + 4 >= n or html[i + 3] != (ord("p") if second == ord("a") else ord("s")):
        return 1
    if second == ord("a") and html[i + 2] == ord("m") and html[i + 4] == ord(";"):
        return num.WIDTH_AMP
    if second != ord("n") or html[i + 2] != ord("b") or html[i + 4] != ord("p"):
        return 1
    return num.WIDTH_NBSP if i + 5 < n and html[i + 5] == ord(";") else 1


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _stand(html: num.UInts, i: Py_ssize_t, a: cython.uint, b: cython.uint, c: cython.uint) -> cython.bint:
    """Whether these three letters stand at `i`."""
    return html[i] == a and html[i + 1] == b and html[i + 2] == c


@cython.cfunc
@cython.inline
def tells_purpose(html: num.UInts, i: Py_ssize_t) -> cython.bint:
    """Whether the '=' at `i` ends the name class, id, role or itemprop (`i` is _LOOKED_BACK at least)."""
    last: cython.uint = html[i - 1]
    before: cython.uint = html[i - 2]
    if last == ord("s"):  # class
        return _stand(html, i - 4, ord("l"), ord("a"), ord("s")) and html[i - 6] == ord(" ")
    if last == ord("d"):
        return before == ord("i") and html[i - 3] == ord(" ")
    if last == ord("e"):  # role
        return before == ord("l") and _stand(html, i - 5, ord(" "), ord("r"), ord("o"))
    if last == ord("p"):  # itemprop
        return _stand(html, i - 4, ord("p"), ord("r"), ord("o")) and html[i - 9] == ord(" ")
    return False


@cython.cfunc
@cython.inline
def hides(html: num.UInts, i: Py_ssize_t, n: Py_ssize_t) -> cython.uint:
    """The effect of the attribute with its '=' at `i` on its element, as bits: 0 for none.

    The bits are _UNSEEN and _UNHEARD; and _STYLED times 1 + one of num.COLLAPSED ... for the white space.
    `i` is _LOOKED_BACK at least; a quote and another character follow.
    """
    last: cython.uint = html[i - 1]
    if last == ord("n"):  # hidden
        if not _stand(html, i - 4, ord("d"), ord("d"), ord("e")) or html[i - 6] != ord("h"):
            return 0
        if html[i - 7] == ord(" "):
            return _UNSEEN
        if html[i - 7] == ord("-") and html[i + 2] == ord("t"):  # aria-hidden, data-hidden: true
            return _UNHEARD
        return 0
    if last != ord("e") or html[i - 2] != ord("l") or html[i - 3] != ord("y") or html[i - 6] != ord(" "):
        return 0  # no style
    return _of_style(html, i + 2, n)


@cython.cfunc
def _of_style(html: num.UInts, i: Py_ssize_t, n: Py_ssize_t) -> cython.uint:
    """The effect of the declarations from `i` on: bits, as those of `hides`."""
    found: cython.uint = 0
    while i < n and html[i] != ord('"'):
        if html[i] == ord(":"):
            if (html[i - 1] | num.SMALL) == ord("y") and i + 5 < n and _is_unseen(html, i, n):
                found |= _UNSEEN
            elif (html[i - 1] | num.SMALL) == ord("e") or html[i - 1] == ord(" "):  # …e
                white_space = _white_space(html, i, n)
                if white_space != _UNKNOWN:  # the last one counts
                    found = (found & _HIDES) | (_STYLED * (white_space + 1))
        i += 1
    return found


@cython.cfunc
def _white_space(html: num.UInts, i: Py_ssize_t, n: Py_ssize_t) -> cython.uint:
    """Which white space the declaration with its ':' at `i` asks for, _UNKNOWN where it is none of that."""
    j: Py_ssize_t = i
    while j > 0 and html[j - 1] == ord(" "):
        j -= 1
    if _hash_of_name(html, j - 1, -1, max(j - 1 - _LONGEST_NAME, -1)) != _WHITE_SPACE:
        return _UNKNOWN
    i += 1
    while i < n and html[i] <= ord(" "):
        i += 1
    value: cython.uint = _hash_of_name(html, i, 1, n)
    if value == _NORMAL or value == _NOWRAP:
        return num.COLLAPSED
    if value == _PRE_LINE:
        return num.LINES
    if value == _PRE_WRAP or value == _BREAK_SPACES:
        return num.PROSE
    return num.CODE if value == _PRE else _UNKNOWN


@cython.cfunc
def _hash_of_name(html: num.UInts, i: Py_ssize_t, step: cython.int, end: Py_ssize_t) -> cython.uint:
    """The hash of the letters and hyphens from `i` on, any case; backwards where the step is -1."""
    value: cython.uint = num.FNV_SEED
    while i != end:
        c: cython.uint = html[i] | num.SMALL
        if c != ord("-") and not ord("a") <= c <= ord("z"):
            break
        value = num.hashed(value, c)
        i += step
    return value


@cython.cfunc
@cython.inline
def _is_unseen(html: num.UInts, i: Py_ssize_t, n: Py_ssize_t) -> cython.bint:
    """Whether the ':' at `i` of a style stands in display: none or visibility: hidden."""
    before: cython.uint = html[i - 2] | num.SMALL
    first: cython.uint = html[i - 11]  # before "visibility": a hyphen is that of backface-visibility
    i += 1
    while i < n and html[i] == ord(" "):
        i += 1
    if i + 3 >= n:
        return False
    one: cython.uint = html[i] | num.SMALL
    two: cython.uint = html[i + 1] | num.SMALL
    three: cython.uint = html[i + 2] | num.SMALL
    if before == ord("a"):  # display: none
        return one == ord("n") and two == ord("o") and three == ord("n")
    if before != ord("t") or first == ord("-"):
        return False
    return one == ord("h") and two == ord("i") and three == ord("d")  # visibility: hidden


@cython.final
@cython.cclass
class Scan:
    """The scan of pages, one after the other.

    `views`: memory views of the fields, from `html` to `text`. Read are the page's code points, the
    characters' `properties`, and tables: `slots`/`slot_tags` is an open-addressing table from the 32-bit
    FNV-1a hash of a tag's name to its row in the tag tables (row 0: any other tag),
    `word_slots`/`word_groups` the same from words of class, id, role and itemprop to their group. The
    stacks are scratch.

    Filled are, with a column for each block, its `rows` of blocks.ROWS, `containers`, `paths` (a hash of the
    ancestors' tags and one of their tags and classes) and `hints[g]` (how many elements up the nearest
    ancestor with a word of group g is; 0: the innermost, NO_HINT: none). `elements[0, e]` is the block-level
    element around block-level element e (0: none), `elements[1, e]` the last one inside e; `named_elements[0,
    e]` the named element around named element e, `named_elements[1, e]` the end of its words in `name_words`,
    where those of e + 1 begin: hashes of different words and of pairs of them, 32 at most. `text` is the
    decoded text of all blocks, a newline after each.

    Elements that style, hidden, aria-hidden or data-hidden hide count as named, by the words 1 (invisible;
    in `hidden_group`, too) and 2 (not read out). `white_space` is what the innermost element that sets it
    asks for, by tag or style (0: it collapses, 1: lines are kept, 2: all of it in prose, 3: in code);
    `listing` the ordinal of the outermost such element around the block (0: none).

    All that is filled, and the stacks, have one column or row more than there are `<` in a page, or, as `run`
    says, room for the first of them; `text` one for each code point and `<`. Values of class, id, role and
    itemprop come again and again: `kept_values` (start, length, number of words; a power of two of rows),
    `kept_bits` (groups, hash of the words) and `kept_words` hold what some of them say.
    """

    html: num.UInts
    properties: num.Bytes
    slots: num.UInts
    slot_tags: num.Int16s
    tag_flags: num.UInt16s
    tag_levels: num.Bytes
    tag_masks: num.UInt64s
    word_slots: num.UInts
    word_groups: num.Bytes
    stack: cython.int[:, ::1]
    stack_masks: cython.ulonglong[::1]
    stack_paths: cython.ulonglong[:, ::1]
    stack_hints: cython.int[:, ::1]
    rows: cython.int[:, ::1]
    containers: cython.ulonglong[::1]
    paths: cython.ulonglong[:, ::1]
    hints: cython.uchar[:, ::1]
    elements: cython.int[:, ::1]
    named_elements: cython.int[:, ::1]
    name_words: cython.uint[::1]
    text: cython.uint[::1]
    kept_values: cython.int[:, ::1]
    kept_bits: cython.ulonglong[:, ::1]
    kept_words: cython.uint[:, ::1]
    n: Py_ssize_t
    most_words: Py_ssize_t
    hidden: cython.ulonglong
    img_mask: cython.ulonglong
    # Of the tag at hand: groups of its words, a hash of them, the white space it asks for plus 1 (0: none).
    groups: cython.ulonglong
    classes: cython.ulonglong
    styled: cython.uint
    n_words: Py_ssize_t  # in name_words, those of the tag at hand included
    # Of the place reached: what `_add_block` writes.
    n_blocks: Py_ssize_t
    n_text: Py_ssize_t
    depth: Py_ssize_t
    space: cython.bint
    new_paragraph: cython.bint
    mask: cython.ulonglong
    path: cython.ulonglong
    class_path: cython.ulonglong
    level: cython.int
    div: cython.int
    td: cython.int
    paragraph: cython.int
    parent_block: cython.int
    named: cython.int
    hint_row: cython.int
    white_space: cython.uint
    listing: cython.int
    n_div: cython.int
    n_td: cython.int
    n_parent_block: cython.int
    n_named: cython.int
    n_listing: cython.int
    split_p: cython.int
    split_br: cython.int
    split_hr: cython.int
    split_inline: cython.int
    split_block: cython.int

    def __init__(self, hidden_group: cython.int, img_mask: cython.ulonglong, *views: object):
        self.html, self.properties, self.slots, self.slot_tags, self.tag_flags, self.tag_levels = views[:6]
        self.tag_masks, self.word_slots, self.word_groups, self.stack, self.stack_masks = views[6:11]
        self.stack_paths, self.stack_hints, self.rows, self.containers, self.paths, self.hints = views[11:17]
        self.elements, self.named_elements, self.name_words, self.text = views[17:21]
        self.kept_values, self.kept_bits, self.kept_words = views[21:]
        self.hidden = cython.cast(cython.ulonglong, 1) << hidden_group
        self.img_mask = img_mask

    def run(self, n: Py_ssize_t) -> tuple[int, int, int, int]:
        """How many blocks, block-level and named elements there are, and the length of `text`.

        Read are the first n code points of `html`. -1 blocks: there is no room for as many `<`.
        """
        i: Py_ssize_t = 0
        n_tags: Py_ssize_t = 0
        most_tags: Py_ssize_t = self.stack_masks.shape[0] - 1
        self._begin(n)
        while i < n:
            if self.html[i] != ord("<"):
                i = self._text_run(i)
                continue
            if n_tags == most_tags:
                return -1, 0, 0, 0
            n_tags += 1
            i = self._tag(i + 1)
        return self.n_blocks, self.n_parent_block, self.n_named, self.n_text

    @cython.cfunc
    def _begin(self, n: Py_ssize_t) -> cython.void:
        self.n = n
        self.most_words = n // num.POINTS_PER_WORD + 1
        self.n_words = self.n_blocks = self.n_text = self.depth = 0
        self.groups = self.classes = self.mask = self.path = self.class_path = 0
        self.styled = self.white_space = num.COLLAPSED
        self.space = False
        self.new_paragraph = True
        self.level = self.div = self.td = self.paragraph = self.parent_block = self.named = 0
        self.hint_row = self.listing = 0
        self.n_div = self.n_td = self.n_parent_block = self.n_named = self.n_listing = 0
        self.split_p = self.split_br = self.split_hr = self.split_inline = self.split_block = 0
        for group in range(self.hints.shape[0]):
            self.stack_hints[0, group] = -num.NO_HINT
        self.elements[num.ELEMENTS_OUTER, 0] = self.elements[num.ELEMENTS_LAST_INSIDE, 0] = 0
        self.named_elements[num.NAMED_AROUND, 0] = self.named_elements[num.NAMED_END, 0] = 0
        for value in range(self.kept_values.shape[0]):
            self.kept_values[value, num.KEPT_LENGTH] = -1

    # --- text ------------------------------------------------------------------------------------

    @cython.cfunc
    def _text_run(self, i: Py_ssize_t) -> Py_ssize_t:
        """Decodes the run of text at `i`, up to the next '<': a block, unless it is white space alone."""
        n: Py_ssize_t = self.n
        start: Py_ssize_t = i
        k: Py_ssize_t = self.n_text
        while i < n and (self.html[i] == ord(" ") or self.html[i] == ord("\n")):
            i += 1
        if i > start:
            self.space = True
            start = i
        while i < n and self.html[i] != ord("<"):
            c: cython.uint = self.html[i]
            i += 1
            if c == ord("&"):
                width = entity_width(self.html, i - 1, n)
                if width == num.WIDTH_LT:
                    c = ord("<") if self.html[i] == ord("l") else ord(">")
                elif width == num.WIDTH_NBSP:
                    c = ord("\xa0")
                i += width - 1
            if k == self.n_text and self._is_white(c):
                self.space = True
                start = i
            else:
                self.text[k] = c
                k += 1
        if k > self.n_text:
            end = i
            text_end = k
            while self._is_white(self.text[text_end - 1]):  # trimmed; the first character is none
                text_end -= 1
                is_entity = self.text[text_end] == ord("\xa0") and self.html[end - 1] != ord("\xa0")
                end -= num.WIDTH_NBSP if is_entity else 1
            self._add_block(start, end, text_end)
            self.space = k > text_end  # white space trimmed from this block's end
        return i

    @cython.cfunc
    @cython.inline
    def _is_white(self, c: cython.uint) -> cython.bint:
        return c < num.N_CODE_POINTS and (self.properties[c] & num.CLASS_MASK) == num.WHITE

    @cython.cfunc
    def _add_block(self, start: Py_ssize_t, end: Py_ssize_t, text_end: Py_ssize_t) -> cython.void:
        block: Py_ssize_t = self.n_blocks
        if self.new_paragraph or self.split_br > 1:
            self.paragraph += 1
            self.new_paragraph = False
        self.rows[num.ROW_START, block] = cython.cast(cython.int, start)
        self.rows[num.ROW_END, block] = cython.cast(cython.int, end)
        self.rows[num.ROW_TEXT_START, block] = cython.cast(cython.int, self.n_text)
        self.rows[num.ROW_TEXT_END, block] = cython.cast(cython.int, text_end)
        self.rows[num.ROW_N_SPLIT_P, block] = self.split_p
        self.rows[num.ROW_N_SPLIT_BR, block] = self.split_br
        self.rows[num.ROW_N_SPLIT_HR, block] = self.split_hr
        self.rows[num.ROW_N_SPLIT_INLINE, block] = self.split_inline
        self.rows[num.ROW_N_SPLIT_BLOCK, block] = self.split_block
        self.rows[num.ROW_DIV_GROUP, block] = self.div
        self.rows[num.ROW_TD_GROUP, block] = self.td
        self.rows[num.ROW_PARAGRAPH, block] = self.paragraph
        self.rows[num.ROW_HEADING_LEVEL, block] = self.level
        self.rows[num.ROW_DEPTH, block] = cython.cast(cython.int, self.depth)
        self.rows[num.ROW_SPACE_BEFORE, block] = 1 if self.space else 0
        self.rows[num.ROW_TAG, block] = self.stack[self.depth - 1, num.STACK_TAG] if self.depth > 0 else 0
        self.rows[num.ROW_PARENT_BLOCK, block] = self.parent_block
        self.rows[num.ROW_NAMED, block] = self.named
        self.rows[num.ROW_WHITE_SPACE, block] = cython.cast(cython.int, self.white_space)
        self.rows[num.ROW_LISTING, block] = self.listing
        self.containers[block] = self.mask
        self.paths[num.PATH_TAGS, block] = self.path
        self.paths[num.PATH_CLASSES, block] = self.class_path
        for g in range(self.hints.shape[0]):
            distance = self.depth - self.stack_hints[self.hint_row, g]
            self.hints[g, block] = cython.cast(cython.uchar, min(distance, num.NO_HINT))
        self.n_blocks += 1
        self.text[text_end] = ord("\n")
        self.n_text = text_end + 1
        self.split_p = self.split_br = self.split_hr = self.split_inline = self.split_block = 0

    # --- tags ------------------------------------------------------------------------------------

    @cython.cfunc
    def _tag(self, i: Py_ssize_t) -> Py_ssize_t:
        """Reads the tag whose '<' is before `i`, to its '>', which the serialiser escapes everywhere else."""
        n: Py_ssize_t = self.n
        closing: cython.bint = i < n and self.html[i] == ord("/")
        name_hash: cython.uint = num.FNV_SEED
        if closing:
            i += 1
        name_start = i
        while i < n:
            c = self.html[i]
            if c == ord(">") or c == ord(" ") or c == ord("/"):
                break
            name_hash = num.hashed(name_hash, c)
            i += 1
        if i == name_start or self.html[name_start] == ord("!"):  # '<!DOCTYPE …>' or a stray '<'
            return self._after_tag(i)
        i = self._attributes(i)
        tag: cython.int = self.slot_tags[num.place(self.slots, name_hash)]
        flags = self.tag_flags[tag]
        if flags & num.TAG_SKIPPED and not closing:  # title: its text is no block
            name_start = i
            while i < n and self.html[i] != ord("<"):
                i += 1
            if i + 1 >= n or self.html[i + 1] == ord("/"):
                return self._after_tag(i)
            i = name_start  # one that holds elements is no title of HTML but one of MathML
        if flags & num.TAG_BR:
            self.split_br += 1
            self.space = True
        elif flags & num.TAG_P:
            self.split_p += 1
        elif flags & num.TAG_HR:
            self.split_hr += 1
        if flags & num.TAG_BLOCK_LEVEL:
            self.split_block += 1
            self.new_paragraph = True
        else:
            self.split_inline += 1
        if flags & num.TAG_VOID:
            if flags & num.TAG_IMG:  # marks the blocks after it inside the same block-level parent
                self.mask |= self.tag_masks[tag]
        elif not closing:
            self._open(tag, flags, name_hash)
        elif self.depth > 0:
            self._close(flags)
        return i

    @cython.cfunc
    def _after_tag(self, i: Py_ssize_t) -> Py_ssize_t:
        while i < self.n and self.html[i] != ord(">"):
            i += 1
        return i + 1

    @cython.cfunc
    def _attributes(self, i: Py_ssize_t) -> Py_ssize_t:
        """Reads the attributes from `i` on; just past the tag's '>'. Sets the fields of the tag at hand."""
        n: Py_ssize_t = self.n
        stray: Py_ssize_t = -1
        self.groups = 0
        self.classes = 0
        self.styled = 0
        self.n_words = self.named_elements[num.NAMED_END, self.n_named]
        while i < n and self.html[i] != ord(">"):
            if self.html[i] != ord("=") or i < _LOOKED_BACK or i + 2 >= n or self.html[i + 1] != ord('"'):
                i += 1
                continue
            bits = hides(self.html, i, n)
            if bits:
                if bits & _HIDES:
                    self._add_word(bits & _HIDES)
                if bits & _HIDES == _UNSEEN:
                    self.groups |= self.hidden
                if bits >= _STYLED:
                    self.styled = bits // _STYLED
            end = self._value_end(i + 2)
            if not bits and tells_purpose(self.html, i):
                self._words_of_value(i + 2, end)
            elif i == stray:
                end = i
            elif self.html[end - 1] == ord("="):
                # style="… class=" words"="", where a quote is missing: the words are read
                stray = end - 1
                end = stray - 1
            i = end + 1
        return i + 1

    @cython.cfunc
    @cython.inline
    def _value_end(self, i: Py_ssize_t) -> Py_ssize_t:
        """Where the quote is that ends the value at `i`; n: nowhere."""
        while i + 3 < self.n and (
            (self.html[i] != ord('"'))
            & (self.html[i + 1] != ord('"'))
            & (self.html[i + 2] != ord('"'))
            & (self.html[i + 3] != ord('"'))
        ):
            i += 4
        while i < self.n and self.html[i] != ord('"'):
            i += 1
        return i

    @cython.cfunc
    def _words_of_value(self, start: Py_ssize_t, end: Py_ssize_t) -> cython.void:
        """Reads the words of a value; those of a value that was read before are cached."""
        length: Py_ssize_t = end - start
        first: Py_ssize_t = self.n_words
        groups: cython.ulonglong = self.groups
        if length == 0 or self.classes or first > self.named_elements[num.NAMED_END, self.n_named]:
            self._words(start, end)
            return
        # A hash of the length and of five code points, each with a factor of its own.
        slot: Py_ssize_t = length + self.html[start] + 3 * self.html[start + length // 4]
        slot += 7 * self.html[start + length // 2] + 31 * self.html[end - 1 - length // 4]
        slot = (slot + 61 * self.html[end - 1]) & (self.kept_values.shape[0] - 1)
        if self.kept_values[slot, num.KEPT_LENGTH] == length:
            if self._is_same(self.kept_values[slot, num.KEPT_START], start, length):
                self.groups |= self.kept_bits[slot, num.KEPT_GROUPS]
                self.classes = self.kept_bits[slot, num.KEPT_CLASSES]
                for k in range(min(self.kept_values[slot, num.KEPT_N_WORDS], self.most_words - first)):
                    self.name_words[first + k] = self.kept_words[slot, k]
                    self.n_words += 1
                return
        self.groups = 0
        self._words(start, end)
        if self.n_words == self.most_words:  # there was no room for some, perhaps
            length = -1
        self.kept_values[slot, num.KEPT_START] = cython.cast(cython.int, start)
        self.kept_values[slot, num.KEPT_LENGTH] = cython.cast(cython.int, length)
        self.kept_values[slot, num.KEPT_N_WORDS] = cython.cast(cython.int, self.n_words - first)
        self.kept_bits[slot, num.KEPT_GROUPS] = self.groups
        self.kept_bits[slot, num.KEPT_CLASSES] = self.classes
        for k in range(self.n_words - first):
            self.kept_words[slot, k] = self.name_words[first + k]
        self.groups |= groups

    @cython.cfunc
    @cython.inline
    def _is_same(self, one: Py_ssize_t, other: Py_ssize_t, length: Py_ssize_t) -> cython.bint:
        """Whether the same code points stand at two places."""
        if cython.compiled:
            return memcmp(cython.address(self.html[one]), cython.address(self.html[other]), 4 * length) == 0
        return self.html[one : one + length] == self.html[other : other + length]

    @cython.cfunc
    def _words(self, i: Py_ssize_t, end: Py_ssize_t) -> cython.void:
        """Reads the words of a value."""
        word: cython.uint = num.FNV_SEED
        before: cython.uint = 0
        was_small: cython.bint = False
        while i <= end:
            c = self.html[i] if i < end else ord('"')
            if (
                (ord("a") <= c <= ord("z"))
                or (ord("A") <= c <= ord("Z") and not was_small)
                or c >= num.N_ASCII
            ):
                was_small = c >= ord("a")
                word = num.hashed(word, c | num.SMALL if c < num.N_ASCII else c)
                i += 1
                continue
            if word != num.FNV_SEED:
                self.classes = ((self.classes ^ word) * num.FNV_64_PRIME) & num.ALL_64_BITS
                slot = num.place(self.word_slots, word)
                if self.word_slots[slot]:
                    self.groups |= cython.cast(cython.ulonglong, 1) << self.word_groups[slot]
                self._add_word(word)
                if before:  # `entry-content` is neither an entry nor content
                    self._add_word(num.hashed(before, word))
                before = word
                word = num.FNV_SEED
            was_small = False
            if c == ord('"'):
                break
            if c <= ord(" "):
                before = 0
            if not ord("A") <= c <= ord("Z"):  # a capital after a small letter begins a word: look again
                i += 1

    @cython.cfunc
    @cython.inline
    def _add_word(self, word: cython.uint) -> cython.void:
        """Adds a word to those of the tag at hand, once, if there is room for it."""
        first: Py_ssize_t = self.named_elements[num.NAMED_END, self.n_named]
        k: Py_ssize_t = first
        while k < self.n_words and self.name_words[k] != word:
            k += 1
        if k == self.n_words and k < first + self.kept_words.shape[1] and k < self.most_words:
            self.name_words[k] = word
            self.n_words = k + 1

    @cython.cfunc
    def _open(self, tag: cython.int, flags: cython.int, name_hash: cython.uint) -> cython.void:
        """Enters an element: what holds outside goes onto the stacks."""
        if self.depth < self.stack_masks.shape[0]:
            self._push(tag, name_hash)
        self._set_white_space(flags)
        if flags & num.TAG_BLOCK_LEVEL:
            self.mask &= ~self.img_mask
        self.mask |= self.tag_masks[tag]
        if self.tag_levels[tag]:
            self.level = self.tag_levels[tag]
        if flags & num.TAG_DIV:
            self.n_div += 1
            self.div = self.n_div
        elif flags & num.TAG_TD:
            self.n_td += 1
            self.td = self.n_td
        if flags & num.TAG_BLOCK_LEVEL:
            self.n_parent_block += 1
            self.elements[num.ELEMENTS_OUTER, self.n_parent_block] = self.parent_block
            self.elements[num.ELEMENTS_LAST_INSIDE, self.n_parent_block] = self.n_parent_block
            self.parent_block = self.n_parent_block

    @cython.cfunc
    def _push(self, tag: cython.int, name_hash: cython.uint) -> cython.void:
        depth: Py_ssize_t = self.depth
        self.stack[depth, num.STACK_TAG] = tag
        self.stack[depth, num.STACK_DIV] = self.div
        self.stack[depth, num.STACK_TD] = self.td
        self.stack[depth, num.STACK_LEVEL] = self.level
        self.stack[depth, num.STACK_PARENT_BLOCK] = self.parent_block
        self.stack[depth, num.STACK_HINT_ROW] = self.hint_row
        self.stack[depth, num.STACK_NAMED] = self.named
        self.stack[depth, num.STACK_WHITE_SPACE] = cython.cast(cython.int, self.white_space)
        self.stack[depth, num.STACK_LISTING] = self.listing
        self.stack_masks[depth] = self.mask
        self.stack_paths[depth, num.PATH_TAGS] = self.path
        self.stack_paths[depth, num.PATH_CLASSES] = self.class_path
        self.depth = depth + 1
        if self.groups:  # a row of its own; elements without such words share the one around them
            for g in range(self.hints.shape[0]):
                self.stack_hints[depth + 1, g] = (
                    cython.cast(cython.int, depth + 1)
                    if (self.groups >> g) & 1
                    else self.stack_hints[self.hint_row, g]
                )
            self.hint_row = cython.cast(cython.int, depth + 1)
        if self.n_words > self.named_elements[num.NAMED_END, self.n_named]:
            self.n_named += 1
            self.named_elements[num.NAMED_AROUND, self.n_named] = self.named
            self.named_elements[num.NAMED_END, self.n_named] = cython.cast(cython.int, self.n_words)
            self.named = self.n_named
        self.path = ((self.path ^ name_hash) * num.FNV_64_PRIME) & num.ALL_64_BITS
        classes = self.classes if depth >= _N_OUTER else 0
        self.class_path = ((self.class_path ^ name_hash ^ classes) * num.FNV_64_PRIME) & num.ALL_64_BITS

    @cython.cfunc
    def _set_white_space(self, flags: cython.int) -> cython.void:
        """Sets the white space of the element just opened, by its tag or style."""
        styled: cython.uint = self.styled
        if flags & num.TAG_PREFORMATTED and (styled == 0 or styled == num.PROSE + 1):
            styled = num.CODE + 1
        if styled == num.COLLAPSED + 1:
            self.listing = 0
            self.white_space = num.COLLAPSED
        elif styled and (styled != num.PROSE + 1 or self.white_space != num.CODE):
            if self.listing == 0 or (styled == num.CODE + 1 and self.white_space != num.CODE):
                self.n_listing += 1
                self.listing = self.n_listing
            self.white_space = styled - 1

    @cython.cfunc
    def _close(self, flags: cython.int) -> cython.void:
        """Leaves the innermost element: what held outside holds again."""
        depth: Py_ssize_t = self.depth - 1
        self.depth = depth
        if flags & num.TAG_BLOCK_LEVEL:
            self.elements[num.ELEMENTS_LAST_INSIDE, self.parent_block] = self.n_parent_block
        self.div = self.stack[depth, num.STACK_DIV]
        self.td = self.stack[depth, num.STACK_TD]
        self.level = self.stack[depth, num.STACK_LEVEL]
        self.parent_block = self.stack[depth, num.STACK_PARENT_BLOCK]
        self.hint_row = self.stack[depth, num.STACK_HINT_ROW]
        self.named = self.stack[depth, num.STACK_NAMED]
        self.white_space = cython.cast(cython.uint, self.stack[depth, num.STACK_WHITE_SPACE])
        self.listing = self.stack[depth, num.STACK_LISTING]
        self.mask = self.stack_masks[depth]
        self.path = self.stack_paths[depth, num.PATH_TAGS]
        self.class_path = self.stack_paths[depth, num.PATH_CLASSES]
