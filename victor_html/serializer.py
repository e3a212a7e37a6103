"""The tree of a page → its canonical HTML (the HTML standard's fragment serialisation, 13.3).

References are resolved, the few characters escaped that must be, attributes in double quotes, each name once.
Elements with the flag DROPPED, and hidden inputs, are left out. Cython pure Python mode.
"""

import cython
from cython.cimports.victor_html import num

if cython.compiled:
    from cython.cimports.libc.string import memcpy

num.check()

_LONGEST_REFERENCE = cython.declare(cython.int, 32)
_GROWTH = cython.declare(cython.Py_ssize_t, 7)  # bytes written for a byte of the source are fewer than this
_ROOM_OF_TEXT = cython.declare(cython.Py_ssize_t, 64)  # spare room after text, or for an end tag
_ROOM_OF_TAG = cython.declare(cython.Py_ssize_t, 128)  # for a start tag without its attributes
_LOW_BITS = cython.declare(cython.uint, 0xFFFFFFFF)
_LAST_POINT = cython.declare(cython.uint, 0x10FFFF)


@cython.final
@cython.cclass
class Serializer:
    """The serialisation of pages, one after the other.

    `views`: memory views of the fields, from `classes` to `names`.
    """

    classes: num.Bytes
    element_flags: num.UInt16s
    letters: num.Bytes
    letter_ends: num.Ints
    reference_slots: num.UInts
    reference_rows: num.Ints
    expansions: num.UIntRows
    c1: num.UInts
    source: cython.pointer(cython.const[cython.uchar])
    tokens: cython.int[:, ::1]
    nodes: cython.int[:, ::1]
    out: cython.uchar[::1]
    names: cython.int[:, ::1]
    n: cython.Py_ssize_t
    room: cython.Py_ssize_t
    in_attribute: cython.bint

    def __init__(self, *views: object):
        self.classes, self.element_flags, self.letters, self.letter_ends = views[:4]
        self.reference_slots, self.reference_rows, self.expansions, self.c1 = views[4:8]
        self.tokens, self.nodes, self.out, self.names = views[8:]

    @cython.ccall
    def serialize(self, source: bytes, room: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Fills `out` with UTF-8, `room` bytes at most; returns its length, -1 if there is no room.

        `letters[letter_ends[e]:letter_ends[e + 1]]`: the name of element e; `reference_slots` and
        `reference_rows`: from the 32-bit FNV-1a hash of a reference's name to its row of `expansions`
        (REFERENCE_COLUMNS); `c1`: what the references 128 … 159 mean; `names`: room for the spans in `out`
        of the names of a tag's attributes.
        """
        node: cython.int = self.nodes[num.DOCUMENT, num.FIRST]
        self.source = source
        self.n = 0
        self.room = room
        self.in_attribute = False
        while node:
            name = self.nodes[node, num.NAME]
            if name == 0:
                if not self._text(
                    self.nodes[node, num.FIRST], self.nodes[node, num.LAST], self.nodes[node, num.TOKEN]
                ):
                    return -1
            else:
                flags = self.element_flags[name] if name > 0 else 0
                if not flags & num.DROPPED:
                    if not self._start_tag(name, self.nodes[node, num.TOKEN]):
                        return -1
                    if self.nodes[node, num.FIRST] and not flags & num.VOID:
                        node = self.nodes[node, num.FIRST]
                        continue
                    if not flags & num.VOID:
                        self._end_tag(name, self.nodes[node, num.TOKEN])
            while not self.nodes[node, num.NEXT]:
                node = self.nodes[node, num.PARENT]
                if node <= num.DOCUMENT:
                    return self.n
                if self.n + _ROOM_OF_TEXT > self.room or not self._end_tag(
                    self.nodes[node, num.NAME], self.nodes[node, num.TOKEN]
                ):
                    return -1
            node = self.nodes[node, num.NEXT]
        return self.n

    @cython.cfunc
    @cython.inline
    def _put(self, c: cython.uint) -> cython.void:
        self.out[self.n] = cython.cast(cython.uchar, c)
        self.n += 1

    @cython.cfunc
    @cython.inline
    def _copy(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.void:
        """Copies a span of the source."""
        if cython.compiled:
            memcpy(cython.address(self.out[self.n]), self.source + start, end - start)
        else:
            self.out[self.n : self.n + end - start] = self.source[start:end]
        self.n += end - start

    @cython.cfunc
    def _name(self, name: cython.int, token: cython.int) -> cython.bint:
        """The element's name, in small letters."""
        if name > 0:
            start = self.letter_ends[name]
            if cython.compiled:  # of one length for all, without a call
                memcpy(
                    cython.address(self.out[self.n]), cython.address(self.letters[start]), num.LONGEST_NAME
                )
            else:
                self.out[self.n : self.n + num.LONGEST_NAME] = self.letters[start : start + num.LONGEST_NAME]
            self.n += self.letter_ends[name + 1] - start
            return True
        first, end = self.tokens[token, num.TOKEN_NAME_START], self.tokens[token, num.TOKEN_START]
        if self.n + end - first + _ROOM_OF_TEXT > self.room:
            return False
        for k in range(first, end):
            c = self.source[k]
            self._put(c + num.SMALL_LETTER if ord("A") <= c <= ord("Z") else c)
        return True

    @cython.cfunc
    def _end_tag(self, name: cython.int, token: cython.int) -> cython.bint:
        if self.n + _ROOM_OF_TEXT > self.room:
            return False
        self._put(ord("<"))
        self._put(ord("/"))
        if not self._name(name, token):
            return False
        self._put(ord(">"))
        return True

    @cython.cfunc
    def _start_tag(self, name: cython.int, token: cython.int) -> cython.bint:
        begin: cython.Py_ssize_t = self.n
        if self.n + _ROOM_OF_TAG > self.room:
            return False
        self._put(ord("<"))
        if not self._name(name, token):
            return False
        flags = self.tokens[token, num.TOKEN_FLAGS] if token >= 0 else 0
        if flags & num.ATTRIBUTES:
            start = self.tokens[token, num.TOKEN_START]
            end = self.tokens[token, num.TOKEN_END]
            if flags & num.UNCLEAN:
                if self.n + _GROWTH * (end - start) + _ROOM_OF_TAG > self.room:
                    return False
                self._attributes(start, end)
            else:
                if self.n + end - start + _ROOM_OF_TAG > self.room:
                    return False
                self._copy(start, end)
        self._put(ord(">"))
        if name == num.INPUT and self._is_hidden(begin):
            self.n = begin
        return True

    @cython.cfunc
    def _is_hidden(self, begin: cython.Py_ssize_t) -> cython.bint:
        """Whether the tag written from `begin` on holds type="hidden".

        Not in `_start_tag`, which is compiled to faster code without objects of Python.
        """
        tag: bytes = bytes(self.out[begin : self.n])
        return b'type="hidden"' in tag.lower()

    @cython.cfunc
    def _attributes(self, i: cython.int, end: cython.int) -> cython.void:
        """The attributes of a tag as the standard reads them, each name once."""
        n: cython.int = 0
        while True:
            while i < end and (self._is_white(self.source[i]) or self.source[i] == ord("/")):
                i += 1
            if i >= end:
                return
            at = self.n
            self._put(ord(" "))
            start = i
            while i < end:
                c = self.source[i]
                if c == ord("/") or self._is_white(c) or (c == ord("=") and i > start):
                    break
                self.out[at + 1 + i - start] = c + num.SMALL_LETTER if ord("A") <= c <= ord("Z") else c
                i += 1
            self.n += i - start
            self.names[n, num.SPAN_START] = cython.cast(cython.int, at)
            self.names[n, num.SPAN_END] = cython.cast(cython.int, self.n)
            self._put(ord("="))
            self._put(ord('"'))
            while i < end and self._is_white(self.source[i]):
                i += 1
            if i < end and self.source[i] == ord("="):
                i += 1
                while i < end and self._is_white(self.source[i]):
                    i += 1
                quote: cython.uint = self.source[i] if i < end else 0
                start = i
                if quote == ord('"') or quote == ord("'"):
                    start = i + 1
                    i = start
                    while i < end and self.source[i] != quote:
                        i += 1
                else:
                    while i < end and not self._is_white(self.source[i]):
                        i += 1
                self.in_attribute = True
                self._escaped(start, i)
                self.in_attribute = False
                if quote == ord('"') or quote == ord("'"):
                    i += 1
            self._put(ord('"'))
            if self._was_there(n):
                self.n = at
            else:
                n += 1

    @cython.cfunc
    @cython.inline
    def _is_white(self, c: cython.uint) -> cython.bint:
        return (self.classes[c] & num.IS_WHITE) != 0

    @cython.cfunc
    def _was_there(self, n: cython.int) -> cython.bint:
        """Whether the name of attribute n of this tag is that of one before it."""
        start: cython.int = self.names[n, num.SPAN_START]
        length: cython.int = self.names[n, num.SPAN_END] - start
        for k in range(n):
            other = self.names[k, num.SPAN_START]
            if self.names[k, num.SPAN_END] - other == length:
                j = 0
                while j < length and self.out[other + j] == self.out[start + j]:
                    j += 1
                if j == length:
                    return True
        return False

    @cython.cfunc
    def _text(self, start: cython.int, end: cython.int, flags: cython.int) -> cython.bint:
        if not flags & num.CARE:
            if self.n + end - start + _ROOM_OF_TEXT > self.room:
                return False
            self._copy(start, end)
            return True
        if self.n + _GROWTH * (end - start) + _ROOM_OF_TEXT > self.room:
            return False
        self._escaped(start, end)
        return True

    @cython.cfunc
    def _escaped(self, i: cython.int, end: cython.int) -> cython.void:
        """Text or a value: line ends made one, references resolved, the result escaped."""
        while i < end:
            start = i
            while i < end and not self.classes[self.source[i]] & num.IS_NOT_PLAIN:
                i += 1
            self._copy(start, i)
            if i >= end:
                break
            c = self.source[i]
            if c == ord("&"):
                i = self._reference(i, end)
            elif c == ord("\r"):
                self._put(ord("\n"))
                i += 2 if i + 1 < end and self.source[i + 1] == ord("\n") else 1
            elif c == 0xC2 and i + 1 < end and self.source[i + 1] == 0xA0:  # U+00A0 in UTF-8
                self._put_point(ord("\xa0"))
                i += 2
            elif c == ord("<") or c == ord(">") or c == ord('"'):
                self._put_point(c)
                i += 1
            else:
                self._put(c)
                i += 1

    @cython.cfunc
    def _put_point(self, point: cython.uint) -> cython.void:
        """A code point as UTF-8, escaped where it must be."""
        if point == ord("&"):
            self._put_all(b"&amp;")
        elif point == ord("<"):
            self._put_all(b"&lt;")
        elif point == ord(">"):
            self._put_all(b"&gt;")
        elif point == ord("\xa0"):
            self._put_all(b"&nbsp;")
        elif point == ord('"') and self.in_attribute:
            self._put_all(b"&quot;")
        elif point < 0x80:
            self._put(point)
        elif point < 0x800:
            self._put(0xC0 | (point >> 6))
            self._put_later_byte(point)
        elif point < 0x10000:
            self._put(0xE0 | (point >> 12))
            self._put_later_byte(point >> 6)
            self._put_later_byte(point)
        else:
            self._put(0xF0 | (point >> 18))
            self._put_later_byte(point >> 12)
            self._put_later_byte(point >> 6)
            self._put_later_byte(point)

    @cython.cfunc
    @cython.inline
    def _put_later_byte(self, bits: cython.uint) -> cython.void:
        """The lowest six bits as a byte of UTF-8 after the first one."""
        self._put(0x80 | (bits & 0x3F))

    @cython.cfunc
    def _put_all(self, written: bytes) -> cython.void:
        for c in written:
            self._put(c)

    @cython.cfunc
    def _reference(self, i: cython.int, end: cython.int) -> cython.int:
        """The character reference at `i`, or the ampersand alone; where to go on."""
        j: cython.int = i + 1
        code: cython.uint = num.FNV_SEED
        best: cython.int = -1
        best_end: cython.int = 0
        if j < end and self.source[j] == ord("#"):
            return self._numeric_reference(i, end)
        while j < end and j - i <= _LONGEST_REFERENCE:
            c = self.source[j]
            if not self._is_alphanumeric(c):
                break
            code = ((code ^ c) * num.FNV_PRIME) & _LOW_BITS
            j += 1
            row = self._find_reference(code)
            if row < 0:
                continue
            if j < end and self.source[j] == ord(";"):
                best = row
                best_end = j + 1
            elif self.expansions[row, num.REFERENCE_ALONE]:
                best = row
                best_end = j
        if best < 0 or (
            self.in_attribute
            and self.source[best_end - 1] != ord(";")
            and best_end < end
            and (self.source[best_end] == ord("=") or self._is_alphanumeric(self.source[best_end]))
        ):
            self._put_point(ord("&"))
            return i + 1
        self._put_point(self.expansions[best, num.REFERENCE_FIRST])
        if self.expansions[best, num.REFERENCE_SECOND]:
            self._put_point(self.expansions[best, num.REFERENCE_SECOND])
        return best_end

    @cython.cfunc
    @cython.inline
    def _is_alphanumeric(self, c: cython.uint) -> cython.bint:
        return (self.classes[c] & num.IS_LETTER) != 0 or ord("0") <= c <= ord("9")

    @cython.cfunc
    def _find_reference(self, code: cython.uint) -> cython.int:
        mask: cython.uint = cython.cast(cython.uint, self.reference_slots.shape[0] - 1)
        slot: cython.uint = code & mask
        while self.reference_slots[slot] != code and self.reference_slots[slot] != 0:
            slot = (slot + 1) & mask
        return self.reference_rows[slot] if self.reference_slots[slot] else -1

    @cython.cfunc
    def _numeric_reference(self, i: cython.int, end: cython.int) -> cython.int:
        j: cython.int = i + 2
        point: cython.uint = 0
        hexadecimal: cython.bint = j < end and (self.source[j] | num.SMALL_LETTER) == ord("x")
        if hexadecimal:
            j += 1
        start = j
        while j < end:
            c = self.source[j]
            digit = -1
            if ord("0") <= c <= ord("9"):
                digit = cython.cast(cython.int, c) - ord("0")
            elif hexadecimal and ord("a") <= (c | num.SMALL_LETTER) <= ord("f"):
                digit = cython.cast(cython.int, c | num.SMALL_LETTER) - ord("a") + 10
            if digit < 0:
                break
            if point <= _LAST_POINT:
                point = point * (16 if hexadecimal else 10) + digit
            j += 1
        if j == start:
            self._put_point(ord("&"))
            return i + 1
        if j < end and self.source[j] == ord(";"):
            j += 1
        if point == 0 or point > _LAST_POINT or 0xD800 <= point <= 0xDFFF:  # surrogates
            point = ord("\ufffd")
        elif 0x80 <= point < 0x80 + self.c1.shape[0]:
            point = self.c1[point - 0x80]
        self._put_point(point)
        return j
