"""The bytes of a page → its tags and runs of text as columns (the HTML standard's tokenization, 13.2.5).

For speed, a token is no object, attributes are not split, and what never reaches the canonical HTML
(comments, scripts, styles, drawings) is skipped. A page that needs a rule of the standard that is missing
here is left to the parser library: `tokenize` then returns -1. Cython pure Python mode.
"""

import cython
from cython.cimports.victor_html import num

from victor_html.elements import NOT_PLAIN

if cython.compiled:
    from cython.cimports.libc.string import memchr, strcspn

num.check()

_UNLISTED = cython.declare(cython.int, -4096)
_CUT_OFF = cython.declare(cython.Py_ssize_t, -2)
_DEEPEST_DRAWING = cython.declare(cython.int, 256)
_LOW_BITS = cython.declare(cython.uint, 0xFFFFFFFF)


@cython.final
@cython.cclass
class Tokenizer:
    """The tokenization of pages, one after the other: `begin`, then `tokenize` or `follow`.

    `views`: memory views of the fields, from `classes` to `used`.
    """

    buffer: bytes
    classes: num.Bytes
    slots: num.UInts
    slot_names: num.Ints
    contents: num.Bytes
    source: cython.pointer(cython.const[cython.uchar])
    not_plain: cython.pointer(cython.const[cython.char])
    tokens: cython.int[:, ::1]
    names: cython.uint[::1]
    used: cython.uchar[::1]
    n: cython.Py_ssize_t
    n_tokens: cython.Py_ssize_t
    name: cython.int
    attributes_end: cython.Py_ssize_t
    flags: cython.int
    closed_itself: cython.bint
    commented: cython.bint
    joined: cython.bint
    nested: cython.bint
    aside: cython.bint
    leaves_nothing: cython.bint
    beyond: cython.bint
    foreign: cython.int

    def __init__(self, *views: object):
        (
            self.classes,
            self.slots,
            self.slot_names,
            self.contents,
            self.tokens,
            self.names,
            self.used,
        ) = views
        self.not_plain = NOT_PLAIN

    def begin(self, buffer: bytes) -> None:
        """Takes a page."""
        self.buffer = buffer
        self.source = buffer
        self.n = len(buffer)
        self.n_tokens = self.foreign = 0
        self.commented = self.joined = self.aside = self.leaves_nothing = self.beyond = False
        for element in range(self.used.shape[0]):
            self.used[element] = 0

    @cython.ccall
    def tokenize(self) -> cython.Py_ssize_t:
        """Fills `tokens` (at most two rows for each `<`, and one more); how many there are, or -1.

        It is also -1 if `tokens` is too short; `count` is then its number of rows.

        `classes[byte]`: BYTE_CLASSES as bits; `slots`/`slot_names`: from a name's 32-bit FNV-1a hash to its
        element; `contents[element]`: the place in CONTENTS, with ENDS_DRAWING and HOLDS_HTML; `names`: room
        for MOST_ATTRIBUTES hashes; `used[element]` becomes 1 where an element's start tag is a token.
        """
        i: cython.Py_ssize_t = 0
        while i < self.n:
            i = self._step(i)
            if i < 0 or self.aside:
                return -1
        return self.n_tokens

    @cython.ccall
    def follow(self, i: cython.Py_ssize_t, foreign: cython.int) -> cython.Py_ssize_t:
        """Adds only the token that begins at `i`, of any page; returns where the next one begins.

        `foreign` is what `construction.Builder.follow` says of the place. The attributes of a tag after the
        first MOST_ATTRIBUTES are left out.
        """
        self.leaves_nothing = True
        self.foreign = foreign
        return self._step(i)

    @cython.ccall
    def is_beyond(self) -> cython.bint:
        """Whether a tag has TOO_MANY_ATTRIBUTES."""
        return self.beyond

    @cython.ccall
    def count(self) -> cython.Py_ssize_t:
        """How many tokens there are."""
        return self.n_tokens

    @cython.cfunc
    def _step(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        if self.source[i] != ord("<"):
            return self._text(i, i)
        c: cython.uint = self.source[i + 1] if i + 1 < self.n else 0
        if self.classes[c] & num.IS_LETTER:
            return self._start_tag(i + 1)
        if c == ord("/"):
            return self._end_tag(i)
        if c == ord("!") or c == ord("?"):
            return self._declaration(i)
        return self._text(i, i + 1)

    @cython.cfunc
    @cython.inline
    def _emit(
        self,
        name: cython.int,
        kind: cython.int,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        flags: cython.int,
        name_start: cython.Py_ssize_t,
    ) -> cython.void:
        t: cython.Py_ssize_t = self.n_tokens
        if t == self.tokens.shape[0]:
            self.aside = True
            return
        self.tokens[t, num.TOKEN_NAME] = name
        self.tokens[t, num.TOKEN_KIND] = kind
        self.tokens[t, num.TOKEN_START] = cython.cast(cython.int, start)
        self.tokens[t, num.TOKEN_END] = cython.cast(cython.int, end)
        self.tokens[t, num.TOKEN_FLAGS] = (
            flags | (num.AFTER_COMMENT if self.commented else 0) | (num.JOINED if self.joined else 0)
        )
        self.tokens[t, num.TOKEN_NAME_START] = cython.cast(cython.int, name_start)
        self.commented = False
        self.joined = False
        self.n_tokens = t + 1

    @cython.cfunc
    @cython.inline
    def _next_tag(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Where the next `<` from `i` on is; -1: nowhere."""
        if not cython.compiled:
            return self.buffer.find(b"<", i)
        found: cython.pointer(cython.const[cython.uchar]) = cython.NULL
        if i < self.n:
            found = cython.cast(
                cython.pointer(cython.const[cython.uchar]), memchr(self.source + i, ord("<"), self.n - i)
            )
        return -1 if found == cython.NULL else found - self.source

    @cython.cfunc
    def _text(self, start: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """A run of text from `start`, looked at from `i`, up to what can be a tag."""
        flags: cython.int = num.NOT_WHITE | num.CARE if i > start else 0
        while True:
            while i < self.n and self.source[i] != ord("<"):
                flags |= self.classes[self.source[i]]
                i += 1
            if i >= self.n:
                break
            c: cython.uint = self.source[i + 1] if i + 1 < self.n else 0
            if (
                self.classes[c] & num.IS_LETTER
                or c == ord("!")
                or c == ord("?")
                or (c == ord("/") and i + 2 < self.n)
            ):
                break
            flags |= num.NOT_WHITE | num.CARE  # a '<' that is text
            i += 1
        self._emit(0, num.TEXT, start, i, flags & (num.NOT_WHITE | num.CARE), 0)
        return i

    @cython.cfunc
    def _start_tag(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The tag whose name starts at `i`, with the raw text it opens; -1: for the library."""
        name_start: cython.Py_ssize_t = i
        i = self._read_name(i)
        name_end = i
        i = self._read_attributes(i)
        if i < 0:
            return self.n if i == _CUT_OFF else i  # cut off inside: no tag at all
        content = self.contents[self.name] & num.CONTENT if self.name > 0 else num.HOLDS_NODES
        if self.leaves_nothing:
            if self.foreign == num.PLACE_FOREIGN or content == num.HOLDS_FOREIGN:
                content = num.HOLDS_NODES
            elif content == num.HOLDS_ELSEWHERE:
                content = (
                    num.HOLDS_TEXT if self.name == num.XMP or self.name == num.PLAINTEXT else num.HOLDS_NODES
                )
        elif content == num.HOLDS_ELSEWHERE:
            return -1
        if self.name > 0:
            self.used[self.name] = 1
        self._emit(self.name, num.START, name_end, self.attributes_end, self.flags, name_start)
        if content == num.HOLDS_NODES:
            return i
        if content == num.HOLDS_FOREIGN:
            return i if self.closed_itself else self._skip_drawing(i)
        return self._raw_text(i, name_start, name_end, content)

    @cython.cfunc
    def _end_tag(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        name_start: cython.Py_ssize_t = i + 2
        if name_start >= self.n:
            return self._text(i, i + 1)
        c = self.source[name_start]
        if c == ord(">"):
            self.joined = True  # '</>' is nothing, and the text around it one run
            return name_start + 1
        if not self.classes[c] & num.IS_LETTER:
            return self._after_bogus_comment(i)
        i = self._read_name(name_start)
        i = self._read_attributes(i)
        if i < 0:
            return self.n if i == _CUT_OFF else i
        self._emit(self.name, num.END, name_start, i, 0, name_start)
        return i

    @cython.cfunc
    @cython.inline
    def _read_name(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Just past the name at `i`; sets `name`: an element's number, below 0 for one not listed."""
        code: cython.uint = num.FNV_SEED
        white: cython.uint = num.IS_WHITE  # a local variable is a register
        prime: cython.uint = num.FNV_PRIME
        mask: cython.uint = cython.cast(cython.uint, self.slots.shape[0] - 1)
        while i < self.n:
            c: cython.uint = self.source[i]
            if c == ord(">") or c == ord("/") or self.classes[c] & white:
                break
            if ord("A") <= c <= ord("Z"):
                c += num.SMALL_LETTER
            code = ((code ^ c) * prime) & _LOW_BITS
            i += 1
        slot: cython.uint = code & mask
        while self.slots[slot] != code and self.slots[slot] != 0:
            slot = (slot + 1) & mask
        self.name = (
            self.slot_names[slot] if self.slots[slot] else _UNLISTED - cython.cast(cython.int, code >> 2)
        )
        return i

    @cython.cfunc
    def _read_attributes(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Just past the tag's '>'; _CUT_OFF when the page ends inside the tag, -1 for too many attributes.

        Sets `attributes_end`, `closed_itself` and `flags`: clean attributes are written as the serialiser
        would write them, so that they can be copied.
        """
        n: cython.Py_ssize_t = self.n
        white: cython.uint = num.IS_WHITE
        cut: cython.Py_ssize_t = 0
        n_attributes: cython.int = 0
        n_more: cython.int = 0
        self.attributes_end = i
        self.flags = 0
        while True:
            began = i
            while i < n and (self.classes[self.source[i]] & white or self.source[i] == ord("/")):
                i += 1
            if i >= n:
                return _CUT_OFF
            if self.source[i] == ord(">"):
                break
            if n_attributes == num.MOST_ATTRIBUTES:
                if not self.leaves_nothing:
                    return -1
                cut = cut or self.attributes_end
                n_attributes -= 1
                n_more += 1
                self.beyond |= n_more > num.TOO_MANY_ATTRIBUTES - num.MOST_ATTRIBUTES
            if i != began + 1 or self.source[began] != ord(" "):
                self.flags = num.UNCLEAN
            i = self._read_attribute_name(i, n_attributes)
            n_attributes += 1
            i = self._read_value(i)
            if i < 0:
                return i
        self.closed_itself = i > began and self.source[i - 1] == ord("/")
        self.attributes_end = cut or self.attributes_end
        if n_attributes:
            self.flags |= num.ATTRIBUTES
        if self.closed_itself:
            self.flags |= num.CLOSED
        return i + 1

    @cython.cfunc
    @cython.inline
    def _read_attribute_name(self, i: cython.Py_ssize_t, n_before: cython.int) -> cython.Py_ssize_t:
        """Just past the name at `i`, which follows `n_before` others.

        Names with capitals, and those that another attribute has, are unclean.
        """
        white: cython.uint = num.IS_WHITE
        code: cython.uint = self.source[i]
        if ord("A") <= code <= ord("Z"):
            self.flags = num.UNCLEAN
        i += 1  # the first byte belongs to the name, even a '='
        while i < self.n:
            c: cython.uint = self.source[i]
            if c == ord("=") or c == ord(">") or c == ord("/") or self.classes[c] & white:
                break
            if ord("A") <= c <= ord("Z"):
                self.flags = num.UNCLEAN
            code = (code * 31 + c) & _LOW_BITS
            i += 1
        for k in range(n_before):
            if self.names[k] == code:
                self.flags = num.UNCLEAN
        self.names[n_before] = code
        return i

    @cython.cfunc
    @cython.inline
    def _read_value(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Just past the value, if there is one, of the attribute whose name ends at `i`; or _CUT_OFF.

        Sets `attributes_end`. Clean are values in double quotes right after the '='.
        """
        self.attributes_end = i
        if i + 1 < self.n and self.source[i] == ord("=") and self.source[i + 1] == ord('"'):
            i = self._after_quoted(i + 2)
        else:
            self.flags = num.UNCLEAN
            i = self._after_white(i)
            if i < self.n and self.source[i] != ord("="):
                return i
            i = self._after_white(i + 1)
            if i >= self.n:
                return _CUT_OFF
            c = self.source[i]
            if c == ord('"'):
                i = self._after_quoted(i + 1)
            elif c == ord("'"):
                i += 1
                while i < self.n and self.source[i] != ord("'"):
                    i += 1
                i = i + 1 if i < self.n else _CUT_OFF
            else:
                while i < self.n and not (
                    self.source[i] == ord(">") or self.classes[self.source[i]] & num.IS_WHITE
                ):
                    i += 1
        if i >= 0:
            self.attributes_end = i
        return i

    @cython.cfunc
    @cython.inline
    def _after_white(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        while i < self.n and self.classes[self.source[i]] & num.IS_WHITE:
            i += 1
        return i

    @cython.cfunc
    @cython.inline
    def _after_quoted(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Just past the double quote that ends the value at `i`, or _CUT_OFF."""
        n: cython.Py_ssize_t = self.n
        not_plain: cython.uint = num.IS_NOT_PLAIN
        while i < n:
            if cython.compiled:  # bytes end with a NUL, and this page has no other
                i += strcspn(cython.cast(cython.p_char, self.source + i), self.not_plain)
            c: cython.uint = self.source[i]
            if self.classes[c] & not_plain:
                if c == ord('"'):
                    break
                self.flags = num.UNCLEAN
            i += 1
        return i + 1 if i < n else _CUT_OFF

    @cython.cfunc
    def _declaration(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """A comment, an instruction or the doctype at `i`."""
        if self.foreign and self.buffer[i : i + 9] == b"<![CDATA[":
            end = self.buffer.find(b"]]>", i)
            self._emit(0, num.TEXT, i + 9, self.n if end < 0 else end, num.NOT_WHITE | num.CARE, 0)
            return self.n if end < 0 else end + 3
        if (
            i + 3 < self.n
            and self.source[i + 1] == ord("!")
            and self.source[i + 2] == ord("-")
            and self.source[i + 3] == ord("-")
        ):
            self.commented = True
            return self._after_comment(i + 4)
        if self.source[i + 1] == ord("!") and self.buffer[i + 2 : i + 9].lower() == b"doctype":
            end = self.buffer.find(b">", i)
            end = self.n if end < 0 else end
            self._emit(0, num.DOCTYPE, i, end, 0, 0)
            return end + 1 if end < self.n else end
        return self._after_bogus_comment(i)

    @cython.cfunc
    def _after_bogus_comment(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Just past the comment at `i` that any '>' ends."""
        end: cython.Py_ssize_t = self.buffer.find(b">", i + 2)
        self.commented = True
        return self.n if end < 0 else end + 1

    @cython.cfunc
    def _after_comment(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Just past the comment whose text starts at `i`: '-->', '--!>' or, there, '>' or '->' end it."""
        end: cython.Py_ssize_t = i
        if i < self.n and self.source[i] == ord(">"):
            return i + 1
        if i + 1 < self.n and self.source[i] == ord("-") and self.source[i + 1] == ord(">"):
            return i + 2
        while True:
            end = self.buffer.find(b"--", end)
            if end < 0:
                return self.n
            if end + 2 < self.n and self.source[end + 2] == ord(">"):
                return end + 3
            if end + 3 < self.n and self.source[end + 2] == ord("!") and self.source[end + 3] == ord(">"):
                return end + 4
            end += 1

    @cython.cfunc
    def _raw_text(
        self,
        i: cython.Py_ssize_t,
        name_start: cython.Py_ssize_t,
        name_end: cython.Py_ssize_t,
        content: cython.int,
    ) -> cython.Py_ssize_t:
        """The raw text from `i` of the element just opened; just past its end tag."""
        end: cython.Py_ssize_t = i
        flags: cython.int = 0
        if content == num.HOLDS_SCRIPT:
            end = self._end_of_script(i, name_start, name_end)
        else:
            end = self._end_tag_from(i, name_start, name_end)
        if content == num.HOLDS_TEXT:
            for j in range(i, end):
                flags |= self.classes[self.source[j]]
                if self.source[j] == ord("<"):
                    flags |= num.CARE
            self._emit(self.name, num.RAW, i, end, flags & (num.NOT_WHITE | num.CARE), 0)
        if end >= self.n:
            return self.n
        j = self._read_attributes(end + 2 + name_end - name_start)
        return self.n if j < 0 else j

    @cython.cfunc
    def _end_tag_from(
        self, i: cython.Py_ssize_t, name_start: cython.Py_ssize_t, name_end: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Where the end tag of that name is, from `i` on; n: nowhere.

        Sets `nested` when it passes a `<!--` and after it a start tag of that name.
        """
        length: cython.Py_ssize_t = name_end - name_start
        escaped: cython.bint = False
        self.nested = False
        while True:
            i = self._next_tag(i)
            after = i + 2 + length
            if i < 0 or after >= self.n:
                return self.n
            c = self.source[i + 1]
            if c == ord("!") and self.source[i + 2] == ord("-"):
                escaped = True
            elif escaped and (c | num.SMALL_LETTER) == (self.source[name_start] | num.SMALL_LETTER):
                self.nested = True
            elif c == ord("/"):
                k = 0
                while k < length and (
                    (self.source[i + 2 + k] | num.SMALL_LETTER)
                    == (self.source[name_start + k] | num.SMALL_LETTER)
                ):
                    k += 1
                c = self.source[after]
                if k == length and (c == ord(">") or c == ord("/") or self.classes[c] & num.IS_WHITE):
                    return i
            i += 1

    @cython.cfunc
    def _end_of_script(
        self, i: cython.Py_ssize_t, name_start: cython.Py_ssize_t, name_end: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Where the script's own end tag is: one that follows `<!-- <script` belongs to its text."""
        end: cython.Py_ssize_t = self._end_tag_from(i, name_start, name_end)
        if self.nested:
            end = self._end_of_escaped_script(i)
        if end == self.n and self.buffer.find(b"<!--", i) >= 0:  # its serialisation is no script any more
            self.aside = True
        return end

    @cython.cfunc
    def _end_of_escaped_script(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """As `_end_of_script`, of one that holds `<!--` and `<script`."""
        n: cython.Py_ssize_t = self.n
        escaped: cython.bint = False
        nested: cython.bint = False
        close: cython.Py_ssize_t = i - 1
        while True:
            if escaped and close < i:
                close = self.buffer.find(b"-->", i)
                close = n if close < 0 else close
            i = self._next_tag(i)
            if escaped and close < (n if i < 0 else i):
                escaped = nested = False
                i = close + 3
                continue
            if i < 0 or i + 3 >= n:
                return n
            c = self.source[i + 1]
            if c == ord("!") and self.source[i + 2] == ord("-") and self.source[i + 3] == ord("-"):
                if i + 4 < n and self.source[i + 4] == ord(">"):  # '<!-->' and '<!--->' open nothing
                    i += 1
                elif i + 5 < n and self.source[i + 4] == ord("-") and self.source[i + 5] == ord(">"):
                    i += 1
                else:
                    escaped = True
                    i += 4
            elif c == ord("/") and self._is_script(i + 2):
                if not nested:
                    return i
                nested = False
                i += 8
            elif self._is_script(i + 1):
                nested = escaped
                i += 7
            else:
                i += 1

    @cython.cfunc
    def _is_script(self, i: cython.Py_ssize_t) -> cython.bint:
        """Whether the name at `i` is that of a script, in any case, with something after it."""
        c: cython.uint = self.source[i + 6] if i + 6 < self.n else 0
        is_end: cython.bint = c == ord(">") or c == ord("/") or (self.classes[c] & num.IS_WHITE) != 0
        return is_end and self.buffer[i : i + 6].lower() == b"script"

    @cython.cfunc
    def _skip_drawing(self, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Just past the end tag of the svg whose inside starts at `i`; -1 where HTML or nothing ends it."""
        open_names: list[int] = [self.name]
        embeds: list[bool] = [False]
        while True:
            i = self._next_tag(i)
            if i < 0:
                return -1
            c: cython.uint = self.source[i + 1] if i + 1 < self.n else 0
            if c == ord("!") and self.buffer[i : i + 9] == b"<![CDATA[":
                i = self.buffer.find(b"]]>", i)
                if i < 0:
                    return self.n
                i += 3
            elif c == ord("!") and self.buffer[i : i + 4] == b"<!--":
                i = self._after_comment(i + 4)
            elif c == ord("!") or c == ord("?"):
                i = self._after_bogus_comment(i)
            elif c == ord("/"):
                if i + 2 >= self.n or not self.classes[self.source[i + 2]] & num.IS_LETTER:
                    return -1
                i = self._read_attributes(self._read_name(i + 2))
                if i < 0:
                    return self.n if i == _CUT_OFF else i
                if self.name not in open_names:
                    return -1
                while open_names.pop() != self.name:
                    embeds.pop()
                embeds.pop()
                if not open_names:
                    return i
            elif self.classes[c] & num.IS_LETTER:
                i = self._read_attributes(self._read_name(i + 1))
                if i < 0:
                    return self.n if i == _CUT_OFF else i
                if embeds[len(embeds) - 1] or len(open_names) >= _DEEPEST_DRAWING:
                    return -1
                content = self.contents[self.name] if self.name > 0 else 0
                if content & num.CONTENT_ENDS_DRAWING:
                    return -1
                if not self.closed_itself:
                    open_names.append(self.name)
                    embeds.append(content & num.HOLDS_HTML != 0)
            else:
                i += 1
