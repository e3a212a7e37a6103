# cython: language_level=3, legacy_implicit_noexcept=True
"""Tags and text → the tree of a page (the HTML standard's tree construction, 13.2.6), as columns.

`build` is exact, or gives nothing: constructs that are rare and long to say (frames, MathML, a second `body`
with attributes) end it, and so does a tree beyond its budget. `follow` reads any page in linear time, and
`is_beyond` says whether it was within the budget: beyond it formatting elements are not opened again, and no
search for an open element goes further than _REACH elements. Cython pure Python mode.
"""

import re

import cython

COLUMNS = ("parent", "first", "last", "next", "previous", "name", "token")
"""What a node is: its family (0: none), its element (0: text), its token (-1: implied). A text node's `first`
and `last` are the span in the source, its `token` the token's flags."""

ELEMENTS = (
    " html head body title base basefont bgsound link meta noframes script style template noscript"
    " table caption colgroup col tbody tfoot thead tr td th p li dd dt h1 h2 h3 h4 h5 h6"
    " form button a nobr b big code em font i s small strike strong tt u applet marquee object"
    " area br embed img wbr input param source track hr textarea iframe noembed select optgroup option"
    " rb rtc rp rt svg math plaintext xmp frameset frame image pre listing selectedcontent keygen"
    " address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer"
    " header hgroup main menu nav ol search section summary ul"
    " canvas ruby span var sub sup foreignobject desc"
).split(" ")
"""The elements that the standard names, in the order of the numbers below; 0 is none of them."""

FLAGS = ("void", "special", "scope", "implied_end", "dropped", "ends_drawing")
STARTS = (
    "ordinary",
    "block",
    "heading",
    "preformatted",
    "form",
    "li",
    "dd",
    "button",
    "a",
    "formatting",
    "nobr",
    "marked",
    "table",
    "void",
    "input",
    "void_inside",
    "hr",
    "raw",
    "select",
    "optgroup",
    "option",
    "ruby_base",
    "ruby_text",
    "ignored",
    "head",
    "html",
    "drawing",
    "elsewhere",
)
"""What the start tag of an element does in a body."""
ENDS = ("ordinary", "block", "form", "p", "li", "dd", "heading", "formatting", "marked", "br", "body")
"""What its end tag does there."""

_HTML = cython.declare(cython.int, 1)
_HEAD = cython.declare(cython.int, 2)
_BODY = cython.declare(cython.int, 3)
_TITLE = cython.declare(cython.int, 4)
_BASEFONT = cython.declare(cython.int, 6)
_NOFRAMES = cython.declare(cython.int, 10)
_SCRIPT = cython.declare(cython.int, 11)
_STYLE = cython.declare(cython.int, 12)
_TEMPLATE = cython.declare(cython.int, 13)
_NOSCRIPT = cython.declare(cython.int, 14)
_TABLE = cython.declare(cython.int, 15)
_CAPTION = cython.declare(cython.int, 16)
_COLGROUP = cython.declare(cython.int, 17)
_COL = cython.declare(cython.int, 18)
_TBODY = cython.declare(cython.int, 19)
_THEAD = cython.declare(cython.int, 21)
_TR = cython.declare(cython.int, 22)
_TD = cython.declare(cython.int, 23)
_TH = cython.declare(cython.int, 24)
_P = cython.declare(cython.int, 25)
_LI = cython.declare(cython.int, 26)
_DD = cython.declare(cython.int, 27)
_DT = cython.declare(cython.int, 28)
_H1 = cython.declare(cython.int, 29)
_H6 = cython.declare(cython.int, 34)
_FORM = cython.declare(cython.int, 35)
_BUTTON = cython.declare(cython.int, 36)
_A = cython.declare(cython.int, 37)
_NOBR = cython.declare(cython.int, 38)
_APPLET = cython.declare(cython.int, 51)
_OBJECT = cython.declare(cython.int, 53)
_BR = cython.declare(cython.int, 55)
_IMG = cython.declare(cython.int, 57)
_INPUT = cython.declare(cython.int, 59)
_SELECT = cython.declare(cython.int, 67)
_OPTGROUP = cython.declare(cython.int, 68)
_OPTION = cython.declare(cython.int, 69)
_RTC = cython.declare(cython.int, 71)
_IMAGE = cython.declare(cython.int, 80)
_ADDRESS = cython.declare(cython.int, 85)
_DIV = cython.declare(cython.int, 93)
_OL = cython.declare(cython.int, 104)
_UL = cython.declare(cython.int, 108)
_RUBY = cython.declare(cython.int, 110)
_SVG = cython.declare(cython.int, 74)
_MATH = cython.declare(cython.int, 75)
_PLAINTEXT = cython.declare(cython.int, 76)
_XMP = cython.declare(cython.int, 77)
_PRE = cython.declare(cython.int, 81)
_SELECTEDCONTENT = cython.declare(cython.int, 83)
_KEYGEN = cython.declare(cython.int, 84)
_FONT = cython.declare(cython.int, 43)
_DESC = cython.declare(cython.int, 116)
_FOREIGNOBJECT = cython.declare(cython.int, 115)

_VOID = cython.declare(cython.int, 1)
_SPECIAL = cython.declare(cython.int, 2)
_SCOPE = cython.declare(cython.int, 4)
_IMPLIED_END = cython.declare(cython.int, 8)

# The insertion modes.
_BEFORE_HTML = cython.declare(cython.int, 0)
_BEFORE_HEAD = cython.declare(cython.int, 1)
_IN_HEAD = cython.declare(cython.int, 2)
_IN_NOSCRIPT = cython.declare(cython.int, 3)
_AFTER_HEAD = cython.declare(cython.int, 4)
_IN_BODY = cython.declare(cython.int, 5)
_IN_TABLE = cython.declare(cython.int, 6)
_IN_CAPTION = cython.declare(cython.int, 7)
_IN_COLGROUP = cython.declare(cython.int, 8)
_IN_TBODY = cython.declare(cython.int, 9)
_IN_ROW = cython.declare(cython.int, 10)
_IN_CELL = cython.declare(cython.int, 11)
_AFTER_BODY = cython.declare(cython.int, 12)
_AFTER_AFTER_BODY = cython.declare(cython.int, 13)
_IN_TEMPLATE = cython.declare(cython.int, 14)

_TEXT = cython.declare(cython.int, 0)
_START = cython.declare(cython.int, 1)
_END = cython.declare(cython.int, 2)
_DOCTYPE = cython.declare(cython.int, 3)
_NOT_WHITE = cython.declare(cython.int, 1)
_CARE = cython.declare(cython.int, 2)
_AFTER_COMMENT = cython.declare(cython.int, 4)
_ATTRIBUTES = cython.declare(cython.int, 8)
_JOINED = cython.declare(cython.int, 32)
_UNCLEAN = cython.declare(cython.int, 16)

_CLOSED = cython.declare(cython.int, 64)
_ENDS_DRAWING = cython.declare(cython.int, 32)

# How an element is open, beside 1: in a drawing or formula; one of these that holds HTML; a template, as
# _OPEN_TEMPLATE and the insertion mode of its inside.
_OPEN_FOREIGN = cython.declare(cython.int, 2)
_OPEN_HOLDING = cython.declare(cython.int, 3)
_OPEN_TEMPLATE = cython.declare(cython.int, 16)
_HOLDER = cython.declare(cython.int, -1000)
"""Names from here down to twice as low: what holds HTML in a drawing or formula."""
_REACH = cython.declare(cython.int, 64)
_COPY = cython.declare(cython.int, 16)
COPY = 16
"""What the tags of an element that is opened again count for, without attributes."""

_PARENT = cython.declare(cython.int, 0)
_FIRST = cython.declare(cython.int, 1)
_LAST = cython.declare(cython.int, 2)
_NEXT = cython.declare(cython.int, 3)
_PREVIOUS = cython.declare(cython.int, 4)
_NAME = cython.declare(cython.int, 5)
_TOKEN = cython.declare(cython.int, 6)

_OF_FONT = re.compile(rb"""(?:^|[\s/"'])(?:color|face|size)(?=[\s/=]|$)""", re.IGNORECASE)
_HOLDS_HTML = (b"mi", b"mo", b"mn", b"ms", b"mtext", b"annotation-xml")
_NAME_END = re.compile(rb"[\s/>]")
_HIDDEN = re.compile(rb"""\stype\s*=\s*(?:"hidden"|'hidden'|hidden(?=[\s/]|$))""")


@cython.final
@cython.cclass
class Builder:
    """One page's tree construction; make it, then `build` once."""

    buffer: bytes
    source: cython.const[cython.uchar][::1]
    tokens: cython.int[:, ::1]
    element_flags: cython.const[cython.uchar][::1]
    starts: cython.const[cython.uchar][::1]
    ends: cython.const[cython.uchar][::1]
    nodes: cython.int[:, ::1]
    stack: cython.int[::1]
    is_open: cython.uchar[::1]
    formatting: cython.int[::1]
    n_tokens: cython.Py_ssize_t
    n_nodes: cython.int
    most_nodes: cython.int
    depth: cython.int
    n_formatting: cython.int
    n_open_p: cython.int
    mode: cython.int
    head: cython.int
    form: cython.int
    templates: cython.int
    markers: cython.int
    fostering: cython.bint
    quirks: cython.int
    drops_line_feed: cython.bint
    aside: cython.bint
    place_before: cython.int
    leaves_nothing: cython.bint
    n_done: cython.Py_ssize_t
    steps: cython.longlong
    most_steps: cython.longlong
    copied: cython.longlong
    most_copied: cython.longlong
    merged: cython.longlong

    def __init__(
        self,
        buffer: bytes,
        source: cython.const[cython.uchar][::1],
        tokens: cython.int[:, ::1],
        element_flags: cython.const[cython.uchar][::1],
        starts: cython.const[cython.uchar][::1],
        ends: cython.const[cython.uchar][::1],
        nodes: cython.int[:, ::1],
        stack: cython.int[::1],
        is_open: cython.uchar[::1],
        formatting: cython.int[::1],
        quirks: cython.int,
        most_steps: cython.longlong,
        most_copied: cython.longlong,
    ):
        self.buffer = buffer
        self.source = source
        self.tokens = tokens
        self.element_flags = element_flags
        self.starts = starts
        self.ends = ends
        self.nodes = nodes
        self.stack = stack
        self.is_open = is_open
        self.formatting = formatting
        self.quirks = quirks
        self.n_nodes = 2  # 0 is no node, 1 the document
        self.most_nodes = cython.cast(cython.int, nodes.shape[0])
        self.depth = 0
        self.n_formatting = 0
        self.n_open_p = 0
        self.mode = _BEFORE_HTML
        self.head = 0
        self.form = 0
        self.templates = 0
        self.markers = 0
        self.fostering = False
        self.drops_line_feed = False
        self.aside = False
        self.place_before = 0
        self.leaves_nothing = False
        self.n_done = 0
        self.steps = 0
        self.most_steps = most_steps
        self.copied = 0
        self.most_copied = most_copied
        self.merged = 0
        for k in range(7):
            nodes[0, k] = 0
            nodes[1, k] = 0

    @cython.ccall
    def build(self, n_tokens: cython.Py_ssize_t) -> cython.int:
        """Fills `nodes` (a row a node, len(COLUMNS) wide) from the tokens; how many, -1: left aside.

        Room: `nodes`, `stack`, `is_open` and `formatting` of one length; when it doesn't suffice, -1. So it
        is when looking for open elements takes more than `most_steps`, or the tags of elements opened again
        more than `most_copied` bytes.
        """
        t: cython.Py_ssize_t
        kind: cython.int
        for t in range(n_tokens):
            kind = self.tokens[t, 1]
            if self.templates:
                self._in_template(t)
            elif kind == _TEXT:
                self._text(t)
            elif kind == _START:
                self.drops_line_feed = False
                self._start(self.tokens[t, 0], t)
            elif kind == _END:
                self.drops_line_feed = False
                self._end(self.tokens[t, 0])
            elif kind == _DOCTYPE:
                self.drops_line_feed = False
                if self.mode == _IN_COLGROUP:
                    self.aside = True  # the library ends the group
            if self.aside or self.steps > self.most_steps or self.copied > self.most_copied:
                return -1
        return self.end()

    @cython.ccall
    def end(self) -> cython.int:
        """Ends the page: what every page has is there. How many nodes there are, -1: left aside."""
        while self.templates and self.leaves_nothing:
            self._end_template()
            self.aside = False
        while self.mode < _IN_BODY:
            self._go_on()
        return -1 if self.aside else self.n_nodes

    @cython.ccall
    def is_beyond(self) -> cython.bint:
        """Whether the tree is beyond its budget."""
        return self.steps > self.most_steps or self.copied > self.most_copied

    @cython.ccall
    def follow(self, n_tokens: cython.Py_ssize_t) -> cython.int:
        """As `build`, up to token n_tokens, and leaves nothing aside; where the next token stands.

        0 in HTML, 1 in a drawing or formula, 2 in one of its elements that holds HTML; -1 when there is no
        room. It suffices with five nodes for each `<`, one for each _COPY bytes of `most_copied`, and 200.
        """
        kind: cython.int
        open_as: cython.int
        t: cython.Py_ssize_t
        self.leaves_nothing = True
        while self.n_done < n_tokens:
            if self.n_nodes >= self.most_nodes:
                return -1
            t = self.n_done
            kind = self.tokens[t, 1]
            self.steps += self.depth  # the library may search all open elements for each token
            if kind == _TEXT:
                self._text(t)
            elif kind == _START or kind == _END:
                self.drops_line_feed = False
                if kind == _START:
                    self._start(self.tokens[t, 0], t)
                else:
                    self._end_anywhere(self.tokens[t, 0], t)
            self.fostering = False
            self.aside = False
            self.n_done += 1
        open_as = self.is_open[self.stack[self.depth - 1]] if self.depth else 1
        return open_as - 1 if open_as < _OPEN_TEMPLATE else 0

    @cython.cfunc
    @cython.inline
    def _low(self, n: cython.int) -> cython.int:
        """The lowest place to look at from n places down."""
        return 0 if self.steps <= self.most_steps or n <= _REACH else n - _REACH

    # --- nodes -----------------------------------------------------------------------------------

    @cython.cfunc
    def _new(self, name: cython.int, token: cython.Py_ssize_t) -> cython.int:
        node: cython.int = self.n_nodes
        k: cython.int
        if node >= self.most_nodes:
            self.aside = True
            return 0
        for k in range(5):
            self.nodes[node, k] = 0
        self.nodes[node, _NAME] = name
        self.nodes[node, _TOKEN] = cython.cast(cython.int, token)
        self.is_open[node] = 0
        self.n_nodes = node + 1
        return node

    @cython.cfunc
    def _link(self, node: cython.int, parent: cython.int, before: cython.int) -> cython.void:
        """Makes `node` a child of `parent`: the last, or the one before `before`."""
        previous: cython.int
        previous = self.nodes[before, _PREVIOUS] if before else self.nodes[parent, _LAST]
        self.nodes[node, _PARENT] = parent
        self.nodes[node, _NEXT] = before
        self.nodes[node, _PREVIOUS] = previous
        if previous:
            self.nodes[previous, _NEXT] = node
        else:
            self.nodes[parent, _FIRST] = node
        if before:
            self.nodes[before, _PREVIOUS] = node
        else:
            self.nodes[parent, _LAST] = node

    @cython.cfunc
    def _unlink(self, node: cython.int) -> cython.void:
        parent: cython.int = self.nodes[node, _PARENT]
        after: cython.int = self.nodes[node, _NEXT]
        previous: cython.int = self.nodes[node, _PREVIOUS]
        if not parent:
            return
        if previous:
            self.nodes[previous, _NEXT] = after
        else:
            self.nodes[parent, _FIRST] = after
        if after:
            self.nodes[after, _PREVIOUS] = previous
        else:
            self.nodes[parent, _LAST] = previous
        self.nodes[node, _PARENT] = 0

    @cython.cfunc
    @cython.inline
    def _flags(self, name: cython.int) -> cython.int:
        if name > 0:
            return self.element_flags[name]
        return _SPECIAL | _SCOPE if 2 * _HOLDER <= name <= _HOLDER else 0

    @cython.cfunc
    @cython.inline
    def _current(self) -> cython.int:
        """The element that the innermost open node is (0: none)."""
        return self.nodes[self.stack[self.depth - 1], _NAME] if self.depth else 0

    @cython.cfunc
    def _place(self, target: cython.int) -> cython.int:
        """The parent of what is inserted at `target`; sets `place_before` (foster parenting)."""
        k: cython.int
        low: cython.int
        table: cython.int
        name: cython.int = self.nodes[target, _NAME]
        self.place_before = 0
        if not self.fostering or not (name == _TABLE or _TBODY <= name <= _TR):
            return target
        k = self.depth - 1
        low = self._low(self.depth)
        while k > low and self.nodes[self.stack[k], _NAME] != _TABLE:
            if self.nodes[self.stack[k], _NAME] == _TEMPLATE:
                return self.stack[k]
            k -= 1
        self.steps += self.depth - k
        if k <= low:
            return self.stack[0] if not low else target
        table = self.stack[k]
        if self.nodes[table, _PARENT]:
            self.place_before = table
            return self.nodes[table, _PARENT]
        return self.stack[k - 1]

    @cython.cfunc
    def _insert(self, name: cython.int, token: cython.Py_ssize_t) -> cython.int:
        """A new open element where the standard puts it."""
        node: cython.int = self._add(name, token)
        self._push(node)
        return node

    @cython.cfunc
    def _add(self, name: cython.int, token: cython.Py_ssize_t) -> cython.int:
        """A new element where the standard puts it, not opened."""
        node: cython.int = self._new(name, token)
        parent: cython.int = self._place(self.stack[self.depth - 1]) if self.depth else 1
        if node:
            self._link(node, parent, self.place_before if self.depth else 0)
        return node

    @cython.cfunc
    def _add_text(
        self, start: cython.int, end: cython.int, flags: cython.int, parent: cython.int
    ) -> cython.void:
        """A new text node where the standard puts it, given the current node."""
        node: cython.int
        if start >= end:
            return
        node = self._new(0, flags)
        if node:
            parent = self._place(parent)
            self._link(node, parent, self.place_before)
            self.nodes[node, _FIRST] = start
            self.nodes[node, _LAST] = end

    @cython.cfunc
    @cython.inline
    def _push(self, node: cython.int) -> cython.void:
        if self.depth >= self.most_nodes:
            self.aside = True
            return
        self.stack[self.depth] = node
        self.is_open[node] = 1
        self.depth += 1
        if self.nodes[node, _NAME] == _P:
            self.n_open_p += 1

    @cython.cfunc
    @cython.inline
    def _pop(self) -> cython.void:
        node: cython.int
        if self.depth > 0:
            self.depth -= 1
            node = self.stack[self.depth]
            self.is_open[node] = 0
            if self.nodes[node, _NAME] == _P:
                self.n_open_p -= 1

    @cython.cfunc
    def _pop_until(self, name: cython.int) -> cython.void:
        found: cython.bint = False
        while self.depth > 1 and not found:
            found = self._current() == name
            self._pop()

    @cython.cfunc
    def _remove_open(self, node: cython.int) -> cython.void:
        """Takes `node` out of the open elements, wherever it is."""
        k: cython.int = self.depth - 1
        low: cython.int = self._low(self.depth)
        if not self.is_open[node]:
            return
        while k >= low and self.stack[k] != node:
            k -= 1
        self.steps += self.depth - k
        if k < low:
            return
        self.is_open[node] = 0
        if self.nodes[node, _NAME] == _P:
            self.n_open_p -= 1
        while k < self.depth - 1:
            self.stack[k] = self.stack[k + 1]
            k += 1
        self.depth -= 1

    # --- scopes ----------------------------------------------------------------------------------

    @cython.cfunc
    def _in_scope(self, name: cython.int) -> cython.bint:
        k: cython.int = self.depth - 1
        low: cython.int = self._low(self.depth)
        other: cython.int
        while k >= low:
            other = self.nodes[self.stack[k], _NAME]
            if other == name:
                self.steps += self.depth - k
                return True
            if self._flags(other) & _SCOPE:
                self.steps += self.depth - k
                return False
            k -= 1
        self.steps += self.depth - k
        return False

    @cython.cfunc
    def _node_in_scope(self, node: cython.int) -> cython.bint:
        k: cython.int = self.depth - 1
        low: cython.int = self._low(self.depth)
        while k >= low:
            if self.stack[k] == node:
                self.steps += self.depth - k
                return True
            if self._flags(self.nodes[self.stack[k], _NAME]) & _SCOPE:
                self.steps += self.depth - k
                return False
            k -= 1
        self.steps += self.depth - k
        return False

    @cython.cfunc
    def _in_list_scope(self) -> cython.bint:
        k: cython.int = self.depth - 1
        low: cython.int = self._low(self.depth)
        name: cython.int
        while k >= low:
            name = self.nodes[self.stack[k], _NAME]
            if name == _LI:
                self.steps += self.depth - k
                return True
            if self._flags(name) & _SCOPE or name == _OL or name == _UL:
                self.steps += self.depth - k
                return False
            k -= 1
        self.steps += self.depth - k
        return False

    @cython.cfunc
    def _p_in_button_scope(self) -> cython.bint:
        k: cython.int = self.depth - 1
        low: cython.int = self._low(self.depth)
        name: cython.int
        if not self.n_open_p:
            return False
        while k >= low:
            name = self.nodes[self.stack[k], _NAME]
            if name == _P:
                self.steps += self.depth - k
                return True
            if self._flags(name) & _SCOPE or name == _BUTTON:
                self.steps += self.depth - k
                return False
            k -= 1
        self.steps += self.depth - k
        return False

    @cython.cfunc
    def _in_table_scope(self, first: cython.int, last: cython.int) -> cython.bint:
        """Whether an element of the numbers first … last is in table scope."""
        k: cython.int = self.depth - 1
        low: cython.int = self._low(self.depth)
        name: cython.int
        while k >= low:
            name = self.nodes[self.stack[k], _NAME]
            if first <= name <= last:
                self.steps += self.depth - k
                return True
            if name == _TABLE or name == _HTML or name == _TEMPLATE:
                self.steps += self.depth - k
                return False
            k -= 1
        self.steps += self.depth - k
        return False

    @cython.cfunc
    def _close_implied(self, but: cython.int) -> cython.void:
        name: cython.int = self._current()
        while name != but and self._flags(name) & _IMPLIED_END:
            self._pop()
            name = self._current()

    @cython.cfunc
    def _close_p(self) -> cython.void:
        if self._p_in_button_scope():
            self._close_implied(_P)
            self._pop_until(_P)

    # --- active formatting elements ----------------------------------------------------------------

    @cython.cfunc
    def _reconstruct(self) -> cython.void:
        k: cython.int = self.n_formatting - 1
        entry: cython.int
        if k < 0 or self.copied > self.most_copied:
            return
        entry = self.formatting[k]
        if entry < 0 or self.is_open[entry]:
            return
        while k > 0:
            entry = self.formatting[k - 1]
            if entry < 0 or self.is_open[entry]:
                break
            k -= 1
        self.steps += self.n_formatting - k
        if self.leaves_nothing:  # the library searches all open elements for each entry
            self.steps += cython.cast(cython.longlong, self.n_formatting - k) * self.depth
        while k < self.n_formatting and not self.aside and self.copied <= self.most_copied:
            entry = self.formatting[k]
            self._count_copy(entry)
            self.formatting[k] = self._insert(self.nodes[entry, _NAME], self.nodes[entry, _TOKEN])
            k += 1

    @cython.cfunc
    def _count_copy(self, node: cython.int) -> cython.void:
        """Counts what the tags of another element like `node` take: six times the attributes, if unclean."""
        token: cython.int = self.nodes[node, _TOKEN]
        length: cython.int = self.tokens[token, 3] - self.tokens[token, 2]
        self.copied += _COPY + (length * 6 if self.tokens[token, 4] & _UNCLEAN else length)

    @cython.cfunc
    def _push_formatting(self, node: cython.int) -> cython.void:
        """Adds `node` to the list; of more than three alike the earliest goes (the Noah's Ark clause)."""
        k: cython.int = self.n_formatting - 1
        low: cython.int = self._low(self.n_formatting)
        alike: cython.int = 0
        perhaps: cython.int = 0
        earliest: cython.int = -1
        while k >= low and self.formatting[k] >= 0:
            if self.nodes[self.formatting[k], _NAME] == self.nodes[node, _NAME]:
                if self._same_attributes(self.nodes[self.formatting[k], _TOKEN], self.nodes[node, _TOKEN]):
                    alike += 1
                    earliest = k
                elif (
                    self.tokens[self.nodes[self.formatting[k], _TOKEN], 4]
                    | self.tokens[self.nodes[node, _TOKEN], 4]
                ) & _UNCLEAN:
                    perhaps += 1  # the same, perhaps, written in another way
            k -= 1
        self.steps += self.n_formatting - k
        if perhaps and alike + perhaps >= 3:
            self.aside = True
        elif alike >= 3:
            self._forget(earliest)
        if self.n_formatting < self.most_nodes:
            self.formatting[self.n_formatting] = node
            self.n_formatting += 1

    @cython.cfunc
    def _same_attributes(self, one: cython.int, other: cython.int) -> cython.bint:
        start: cython.int = self.tokens[one, 2]
        length: cython.int = self.tokens[one, 3] - start
        k: cython.int
        if self.tokens[other, 3] - self.tokens[other, 2] != length:
            return False
        self.steps += length
        for k in range(length):
            if self.source[start + k] != self.source[self.tokens[other, 2] + k]:
                return False
        return True

    @cython.cfunc
    def _mark(self) -> cython.void:
        if self.n_formatting < self.most_nodes:
            self.formatting[self.n_formatting] = -1
            self.n_formatting += 1

    @cython.cfunc
    def _clear_to_mark(self) -> cython.void:
        entry: cython.int = 0
        while self.n_formatting and entry >= 0:
            self.n_formatting -= 1
            entry = self.formatting[self.n_formatting]

    @cython.cfunc
    def _forget(self, place: cython.int) -> cython.void:
        k: cython.int
        for k in range(place, self.n_formatting - 1):
            self.formatting[k] = self.formatting[k + 1]
        self.n_formatting -= 1

    @cython.cfunc
    def _formatting_place(self, node: cython.int) -> cython.int:
        """Where `node` is in the list of active formatting elements, -1: nowhere."""
        k: cython.int = self.n_formatting - 1
        low: cython.int = self._low(self.n_formatting)
        while k >= low and self.formatting[k] != node:
            k -= 1
        self.steps += self.n_formatting - k
        return k if k >= low else -1

    @cython.cfunc
    def _last_formatting(self, name: cython.int) -> cython.int:
        """The place of the last such element after the last marker, -1: none."""
        k: cython.int = self.n_formatting - 1
        low: cython.int = self._low(self.n_formatting)
        while k >= low and self.formatting[k] >= 0 and self.nodes[self.formatting[k], _NAME] != name:
            k -= 1
        self.steps += self.n_formatting - k
        return k if k >= low and self.formatting[k] >= 0 else -1

    @cython.cfunc
    def _adopt(self, name: cython.int) -> cython.void:
        """The adoption agency algorithm for an end tag."""
        current: cython.int = self.stack[self.depth - 1]
        outer: cython.int = 0
        if self._current() == name and self._formatting_place(current) < 0:
            self._pop()
            return
        while outer < 8 and not self.aside and self._adopt_once(name):
            outer += 1

    @cython.cfunc
    def _adopt_once(self, name: cython.int) -> cython.bint:
        """One round of the adoption agency; False when it is done."""
        place: cython.int = self._last_formatting(name)
        element: cython.int
        at: cython.int
        furthest: cython.int = -1
        k: cython.int
        ancestor: cython.int
        bookmark: cython.int
        node: cython.int
        last: cython.int
        block: cython.int
        inner: cython.int = 0
        in_list: cython.int
        parent: cython.int
        child: cython.int
        copy: cython.int
        if place < 0:
            self._end_ordinary(name)
            return False
        element = self.formatting[place]
        if not self.is_open[element]:
            self._forget(place)
            return False
        if not self._node_in_scope(element):
            return False
        if self.copied > self.most_copied:
            self._forget(place)
            self._end_ordinary(name)
            return False
        at = self.depth - 1
        while self.stack[at] != element:
            if self._flags(self.nodes[self.stack[at], _NAME]) & _SPECIAL:
                furthest = at
            at -= 1
        if furthest < 0:
            while self.depth > at:
                self._pop()
            self._forget(place)
            return False
        ancestor = self.stack[at - 1]
        block = self.stack[furthest]
        bookmark = place
        last = block
        k = furthest
        while True:
            inner += 1
            k -= 1
            node = self.stack[k]
            if node == element:
                break
            in_list = self._formatting_place(node)
            if inner > 3 and in_list >= 0:
                self.aside = True  # nested wrongly and deeply; here the library differs from the standard
                if not self.leaves_nothing:
                    return False
                self._forget(in_list)
                place -= in_list < place
                bookmark -= in_list < bookmark
                in_list = -1
            if in_list < 0:
                self._remove_open(node)
                continue
            self._count_copy(node)
            copy = self._new(self.nodes[node, _NAME], self.nodes[node, _TOKEN])
            if not copy:
                return False
            self.formatting[in_list] = copy
            self.is_open[node] = 0
            self.is_open[copy] = 1
            self.stack[k] = copy
            node = copy
            if last == block:
                bookmark = in_list + 1
            self._unlink(last)
            self._link(last, node, 0)
            last = node
        self._unlink(last)
        parent = self._place(ancestor)
        self._link(last, parent, self.place_before)
        self._count_copy(element)
        copy = self._new(self.nodes[element, _NAME], self.nodes[element, _TOKEN])
        if not copy:
            return False
        child = self.nodes[block, _FIRST]
        self.nodes[copy, _FIRST] = child
        self.nodes[copy, _LAST] = self.nodes[block, _LAST]
        while child:
            self.nodes[child, _PARENT] = copy
            child = self.nodes[child, _NEXT]
            self.steps += 1
        self.nodes[block, _FIRST] = 0
        self.nodes[block, _LAST] = 0
        self._link(copy, block, 0)
        self._forget(place)
        if place < bookmark:
            bookmark -= 1
        for k in range(self.n_formatting, bookmark, -1):
            self.formatting[k] = self.formatting[k - 1]
        self.formatting[bookmark] = copy
        self.n_formatting += 1
        self._remove_open(element)
        k = self.depth
        while self.stack[k - 1] != block:
            self.stack[k] = self.stack[k - 1]
            k -= 1
        self.stack[k] = copy
        self.is_open[copy] = 1
        self.depth += 1
        return True

    # --- text ------------------------------------------------------------------------------------

    @cython.cfunc
    def _text(self, t: cython.Py_ssize_t) -> cython.void:
        start: cython.int = self.tokens[t, 2]
        end: cython.int = self.tokens[t, 3]
        flags: cython.int = self.tokens[t, 4]
        mode: cython.int = self.mode
        white_end: cython.int = start
        second: cython.uint
        if self.drops_line_feed:
            start = self._without_line_feed(start, end, flags)
            self.drops_line_feed = False
        if self.leaves_nothing and self._is_in_foreign():
            self._add_text(start, end, flags, self.stack[self.depth - 1])
            return
        if mode == _IN_BODY or mode == _IN_TEMPLATE or mode == _IN_CELL or mode == _IN_CAPTION:
            self._text_in_body(start, end, flags)
            return
        if mode >= _AFTER_BODY:
            if flags & _NOT_WHITE:
                self.mode = _IN_BODY
            self._text_in_body(start, end, flags)
            return
        while white_end < end and self._is_white(self.source[white_end]):
            white_end += 1
        if white_end + 1 < end and self.source[white_end] == 38:
            second = self.source[white_end + 1]
            if second == 35 or second == 84 or second == 78:  # a reference to white space, perhaps
                self.aside = True
                if not self.leaves_nothing:
                    return
        if mode == _IN_TABLE or mode == _IN_TBODY or mode == _IN_ROW:
            self._text_in_table(start, end, flags)
            return
        if mode == _IN_COLGROUP:
            self._add_text(start, white_end, _CARE, self.stack[self.depth - 1])
            if white_end < end and self._current() == _COLGROUP:
                self._pop()
                self.mode = _IN_TABLE
                self._text_in_table(white_end, end, flags)
            return
        if _IN_HEAD <= mode <= _AFTER_HEAD:
            self._add_text(start, white_end, _CARE, self.stack[self.depth - 1])
        if white_end < end:
            while self.mode < _IN_BODY:
                self._go_on()
            self._text_in_body(white_end, end, flags)

    @cython.cfunc
    @cython.inline
    def _is_white(self, c: cython.uint) -> cython.bint:
        return c == 32 or c == 10 or c == 9 or c == 13 or c == 12

    @cython.cfunc
    def _without_line_feed(self, start: cython.int, end: cython.int, flags: cython.int) -> cython.int:
        """Where the text goes on after the line feed that begins it (first thing in a `pre`)."""
        if flags & _AFTER_COMMENT or start >= end:
            return start
        if self.source[start] == 38 and start + 1 < end:
            if self.source[start + 1] == 35 or self.source[start + 1] == 78:
                self.aside = True  # a reference to a line feed, perhaps
        if self.source[start] == 13:
            start += 1
            return start + 1 if start < end and self.source[start] == 10 else start
        return start + 1 if self.source[start] == 10 else start

    @cython.cfunc
    def _text_in_body(self, start: cython.int, end: cython.int, flags: cython.int) -> cython.void:
        if start < end:
            self._reconstruct()
            self._add_text(start, end, flags, self.stack[self.depth - 1])

    @cython.cfunc
    def _text_in_table(self, start: cython.int, end: cython.int, flags: cython.int) -> cython.void:
        name: cython.int = self._current()
        if flags & _JOINED:
            self.aside = True  # the run that it belongs to decides
        if not flags & _NOT_WHITE and (name == _TABLE or _TBODY <= name <= _TR):
            self._add_text(start, end, flags, self.stack[self.depth - 1])
            return
        self.fostering = True
        self._text_in_body(start, end, flags)
        self.fostering = False

    # --- before the body -------------------------------------------------------------------------

    @cython.cfunc
    def _go_on(self) -> cython.void:
        """One step towards the body, as when a token comes that belongs there."""
        mode: cython.int = self.mode
        if mode == _BEFORE_HTML:
            self._insert(_HTML, -1)
            self.mode = _BEFORE_HEAD
        elif mode == _BEFORE_HEAD:
            self.head = self._insert(_HEAD, -1)
            self.mode = _IN_HEAD
        elif mode == _IN_HEAD:
            self._pop()
            self.mode = _AFTER_HEAD
        elif mode == _IN_NOSCRIPT:
            self._pop()
            self.mode = _IN_HEAD
        else:
            self._insert(_BODY, -1)
            self.mode = _IN_BODY

    @cython.cfunc
    def _start_before_body(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        """A start tag in the modes before the body; True: to be seen again in the next mode."""
        mode: cython.int = self.mode
        if name == _HTML:
            if mode == _BEFORE_HTML:
                self._insert(_HTML, t)
                self.mode = _BEFORE_HEAD
            else:
                self._merge(name, t)
            return False
        if mode == _BEFORE_HEAD and name == _HEAD:
            self.head = self._insert(_HEAD, t)
            self.mode = _IN_HEAD
            return False
        if mode == _IN_HEAD or mode == _AFTER_HEAD:
            if name == _HEAD:
                return False
            if _TITLE <= name <= _TEMPLATE:
                if mode == _AFTER_HEAD:
                    self._push(self.head)
                self._start_in_head(name, t)
                if mode == _AFTER_HEAD:
                    self._remove_open(self.head)
                return False
        if mode == _IN_HEAD and name == _NOSCRIPT:
            self._insert(_NOSCRIPT, t)
            self.mode = _IN_NOSCRIPT
            return False
        if mode == _IN_NOSCRIPT:
            if _BASEFONT <= name <= _NOFRAMES or name == _STYLE:
                self._start_in_head(name, t)
                return False
            if name == _HEAD or name == _NOSCRIPT:
                return False
        if mode == _AFTER_HEAD and name == _BODY:
            self._insert(_BODY, t)
            self.mode = _IN_BODY
            return False
        self._go_on()
        return True

    @cython.cfunc
    def _start_in_head(self, name: cython.int, t: cython.Py_ssize_t) -> cython.void:
        """Elements of the head, wherever they stand; script, style and noframes leave nothing behind."""
        if name == _TEMPLATE and self.leaves_nothing:
            self.is_open[self._insert(name, t)] = _OPEN_TEMPLATE + _IN_TEMPLATE
            self._mark()
            self.templates += 1
            self.mode = _IN_TEMPLATE
        elif name == _TEMPLATE:
            self.templates = 1
        elif name == _TITLE:
            self._add_raw(self._add(name, t), t)
        elif name < _NOFRAMES:
            self._add(name, t)

    @cython.cfunc
    def _add_raw(self, node: cython.int, t: cython.Py_ssize_t) -> cython.void:
        """Gives the element of token t the raw text that follows it as its child."""
        was: cython.bint = self.fostering
        start: cython.int = self.tokens[t + 1, 2]
        end: cython.int = self.tokens[t + 1, 3]
        if self.nodes[node, _NAME] != _TITLE:
            start = self._without_line_feed(start, end, self.tokens[t + 1, 4])
        self.fostering = False
        self._add_text(start, end, self.tokens[t + 1, 4], node)
        self.fostering = was

    @cython.cfunc
    def _merge(self, name: cython.int, t: cython.Py_ssize_t) -> cython.void:
        """A second html or body tag: the attributes that the first doesn't have go to it."""
        node: cython.int = self.stack[0 if name == _HTML else 1]
        token: cython.int = self.nodes[node, _TOKEN]
        if not self.tokens[t, 4] & _ATTRIBUTES or self.nodes[node, _NAME] != name:
            return
        self.merged += self.tokens[t, 3] - self.tokens[t, 2]
        self.steps += self.merged
        if token >= 0 and self.tokens[token, 4] & _ATTRIBUTES:
            self.aside = True
        self.nodes[node, _TOKEN] = cython.cast(cython.int, t)

    @cython.cfunc
    def _in_template(self, t: cython.Py_ssize_t) -> cython.void:
        """Inside a template nothing is built; only markers that it may leave behind are counted."""
        name: cython.int = self.tokens[t, 0]
        kind: cython.int = self.tokens[t, 1]
        if name == _TEMPLATE and kind == _START:
            self.templates += 1
        elif name == _TEMPLATE and kind == _END:
            self.templates -= 1
            if self.markers:
                self.aside = True
        elif name == _COLGROUP or name == _COL:
            self.aside = True
        elif name == _CAPTION or _TD <= name <= _TH or _APPLET <= name <= _OBJECT:
            if kind == _START:
                self.markers += name  # a number of its own, so that only its own end makes it good
            elif kind == _END:
                self.markers -= name

    # --- start tags ------------------------------------------------------------------------------

    @cython.cfunc
    def _start(self, name: cython.int, t: cython.Py_ssize_t) -> cython.void:
        again: cython.bint = True
        mode: cython.int
        if self.leaves_nothing and self._is_in_foreign() and self._start_in_foreign(name, t):
            return
        while again and not self.aside:
            mode = self.mode
            if mode == _IN_BODY:
                self._start_in_body(name, t)
                again = False
            elif mode == _IN_TEMPLATE:
                again = self._start_in_template(name, t)
            elif mode < _IN_BODY:
                again = self._start_before_body(name, t)
            elif mode >= _AFTER_BODY:
                again = name != _HTML
                if again:
                    self.mode = _IN_BODY
                else:
                    self._merge(name, t)
            elif mode == _IN_CELL:
                again = self._start_in_cell(name, t)
            elif mode == _IN_ROW:
                again = self._start_in_row(name, t)
            elif mode == _IN_TBODY:
                again = self._start_in_tbody(name, t)
            elif mode == _IN_TABLE:
                again = self._start_in_table(name, t)
            elif mode == _IN_COLGROUP:
                again = self._start_in_colgroup(name, t)
            else:
                again = self._start_in_caption(name, t)

    @cython.cfunc
    def _start_in_body(self, name: cython.int, t: cython.Py_ssize_t) -> cython.void:
        """13.2.6.4.7, by what STARTS says of the element."""
        what: cython.int = self.starts[name] if name > 0 else 0
        place: cython.int
        node: cython.int
        if what == 0:
            self._reconstruct()
            self._insert(name, t)
        elif what == 1:  # block
            self._close_p()
            self._insert(name, t)
        elif what == 9:  # formatting
            self._reconstruct()
            self._push_formatting(self._insert(name, t))
        elif what == 8:  # a
            place = self._last_formatting(_A)
            if place >= 0:
                node = self.formatting[place]
                self._adopt(_A)
                place = self._formatting_place(node)
                if place >= 0:
                    self._forget(place)
                self._remove_open(node)
            self._reconstruct()
            self._push_formatting(self._insert(name, t))
        elif what == 5:  # li
            self._close_item(_LI, _LI)
            self._insert(name, t)
        elif what == 13:  # void
            self.aside = self.aside or (name == _IMAGE and self.fostering)  # lost by the library
            self._reconstruct()
            self._add(_IMG if name == _IMAGE else name, t)
        elif what == 2:  # heading
            self._close_p()
            if _H1 <= self._current() <= _H6:
                self._pop()
            self._insert(name, t)
        elif what == 24:  # head
            self._start_in_head(name, t)
        elif what == 26:  # drawing: a leaf that is dropped
            self._reconstruct()
            if self.leaves_nothing:
                self._insert_foreign(name, t)
        elif what == 14:  # input
            if self._in_scope(_SELECT):
                self._pop_until(_SELECT)
            self._reconstruct()
            self._add(name, t)
        elif what == 15:  # void_inside
            self._add(name, t)
        elif what == 4:  # form
            if self.leaves_nothing and self.templates:
                self._close_p()
                self._insert(name, t)
            elif not self.form:
                self._close_p()
                self.form = self._insert(name, t)
        elif what == 12:  # table
            if self.quirks == 2 and self._p_in_button_scope():
                self.aside = True
            if not self.quirks:
                self._close_p()
            self._insert(name, t)
            self.mode = _IN_TABLE
        elif what == 7:  # button
            if self._in_scope(_BUTTON):
                self._close_implied(0)
                self._pop_until(_BUTTON)
            self._reconstruct()
            self._insert(name, t)
        elif what == 6:  # dd
            self._close_item(_DD, _DT)
            self._insert(name, t)
        elif what == 3:  # preformatted
            self._close_p()
            self._insert(name, t)
            self.drops_line_feed = True
        elif what == 16:  # hr
            self._close_p()
            if self._in_scope(_SELECT):
                self._close_implied(0)
            self._add(name, t)
        elif what == 17:  # raw: textarea, iframe, noembed
            if name != 65 and name != 66:
                self._add_raw(self._add(name, t), t)
        elif what == 18:  # select
            if self._in_scope(_SELECT):
                self._pop_until(_SELECT)
            else:
                self._reconstruct()
                self._insert(name, t)
        elif what == 19:  # optgroup
            if self._in_scope(_SELECT):
                self._close_implied(0)
            elif self._current() == _OPTION:
                self._pop()
            self._reconstruct()
            self._insert(name, t)
        elif what == 20:  # option
            if self._in_scope(_SELECT):
                self._close_implied(_OPTGROUP)
            elif self._current() == _OPTION:
                self._pop()
            self._reconstruct()
            self._insert(name, t)
        elif what == 10:  # nobr
            self._reconstruct()
            if self._in_scope(_NOBR):
                self._adopt(_NOBR)
                self._reconstruct()
            self._push_formatting(self._insert(name, t))
        elif what == 11:  # marked
            self._reconstruct()
            self._insert(name, t)
            self._mark()
        elif what == 21:  # ruby_base
            if self._in_scope(_RUBY):
                self._close_implied(0)
            self._insert(name, t)
        elif what == 22:  # ruby_text
            if self._in_scope(_RUBY):
                self._close_implied(_RTC)
            self._insert(name, t)
        elif what == 25:  # html, body
            self._merge(name, t)
        elif what == 27 and not self.leaves_nothing:  # elsewhere
            self.aside = True
        elif what == 27:
            self._start_rare(name, t)

    @cython.cfunc
    def _close_item(self, name: cython.int, other: cython.int) -> cython.void:
        """Ends the item that is open when the next begins (li; dd and dt), then a p."""
        k: cython.int = self.depth - 1
        low: cython.int = self._low(self.depth)
        found: cython.int
        while k >= low:
            self.steps += 1
            found = self.nodes[self.stack[k], _NAME]
            if found == name or found == other:
                self._close_implied(found)
                self._pop_until(found)
                break
            if self._flags(found) & _SPECIAL and found != _ADDRESS and found != _DIV and found != _P:
                break
            k -= 1
        self._close_p()

    @cython.cfunc
    def _back_to(self, first: cython.int, last: cython.int) -> cython.void:
        """Closes all up to an element of the numbers first … last, or html."""
        name: cython.int = self._current()
        while self.depth > 1 and not first <= name <= last and name != _TEMPLATE:
            self._pop()
            name = self._current()

    @cython.cfunc
    def _start_in_table(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        if name == _CAPTION:
            self._back_to(_TABLE, _TABLE)
            self._mark()
            self._insert(name, t)
            self.mode = _IN_CAPTION
        elif name == _COLGROUP or name == _COL:
            self._back_to(_TABLE, _TABLE)
            self._insert(_COLGROUP, t if name == _COLGROUP else -1)
            self.mode = _IN_COLGROUP
            return name == _COL
        elif _TBODY <= name <= _THEAD or _TR <= name <= _TH:
            self._back_to(_TABLE, _TABLE)
            self._insert(name if name <= _THEAD else _TBODY, t if name <= _THEAD else -1)
            self.mode = _IN_TBODY
            return name > _THEAD
        elif name == _TABLE:
            if self._in_table_scope(_TABLE, _TABLE):
                self._pop_until(_TABLE)
                self._reset_mode()
                return True
        elif name == _SCRIPT or name == _STYLE or name == _TEMPLATE:
            self._start_in_head(name, t)
        elif name == _INPUT and self._is_hidden(t):
            self._add(name, t)
        elif name == _FORM:
            if not self.form:
                self.form = self._insert(name, t)
                self._pop()
        else:
            self.fostering = True
            self._start_in_body(name, t)
            self.fostering = False
        return False

    @cython.cfunc
    def _is_hidden(self, t: cython.Py_ssize_t) -> cython.bint:
        span: bytes = self.buffer[self.tokens[t, 2] : self.tokens[t, 3]].lower()
        if b"hidden" not in span:
            return False
        if span.count(b"type") != 1 or not _HIDDEN.search(span):
            self.aside = True
        return True

    @cython.cfunc
    def _start_in_tbody(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        if _TR <= name <= _TH:
            self._back_to(_TBODY, _THEAD)
            self._insert(_TR, t if name == _TR else -1)
            self.mode = _IN_ROW
            return name != _TR
        if _CAPTION <= name <= _THEAD:
            if not self._in_table_scope(_TBODY, _THEAD):
                return False
            self._back_to(_TBODY, _THEAD)
            self._pop()
            self.mode = _IN_TABLE
            return True
        return self._start_in_table(name, t)

    @cython.cfunc
    def _start_in_row(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        if _TD <= name <= _TH:
            self._back_to(_TR, _TR)
            self._insert(name, t)
            self.mode = _IN_CELL
            self._mark()
            return False
        if _CAPTION <= name <= _TR:
            return self._close_row()
        return self._start_in_table(name, t)

    @cython.cfunc
    def _close_row(self) -> cython.bint:
        """Ends the row, if there is one; whether there was."""
        if not self._in_table_scope(_TR, _TR):
            return False
        self._back_to(_TR, _TR)
        self._pop()
        self.mode = _IN_TBODY
        return True

    @cython.cfunc
    def _start_in_cell(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        if _CAPTION <= name <= _TH:
            if not self._in_table_scope(_TD, _TH):
                return False
            self._close_cell()
            return True
        self._start_in_body(name, t)
        return False

    @cython.cfunc
    def _close_cell(self) -> cython.void:
        self._close_implied(0)
        self._back_to(_TD, _TH)
        self._pop()
        self._clear_to_mark()
        self.mode = _IN_ROW

    @cython.cfunc
    def _start_in_caption(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        if _CAPTION <= name <= _TH:
            return self._close_caption()
        self._start_in_body(name, t)
        return False

    @cython.cfunc
    def _close_caption(self) -> cython.bint:
        if not self._in_table_scope(_CAPTION, _CAPTION):
            return False
        self._close_implied(0)
        self._pop_until(_CAPTION)
        self._clear_to_mark()
        self.mode = _IN_TABLE
        return True

    @cython.cfunc
    def _start_in_colgroup(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        if name == _HTML:
            self._merge(name, t)
        elif name == _COL:
            self._add(name, t)
        elif name == _TEMPLATE:
            self._start_in_head(name, t)
        elif self._current() == _COLGROUP:
            self._pop()
            self.mode = _IN_TABLE
            return True
        return False

    @cython.cfunc
    def _reset_mode(self) -> cython.void:
        """The insertion mode that the open elements ask for (13.2.4.1)."""
        k: cython.int = self.depth - 1
        low: cython.int = self._low(self.depth)
        name: cython.int
        while k >= low:
            self.steps += 1
            name = self.nodes[self.stack[k], _NAME]
            if self.is_open[self.stack[k]] >= _OPEN_TEMPLATE:
                self.mode = self.is_open[self.stack[k]] - _OPEN_TEMPLATE
            elif name == _TD or name == _TH:
                self.mode = _IN_CELL
            elif name == _TR:
                self.mode = _IN_ROW
            elif _TBODY <= name <= _THEAD:
                self.mode = _IN_TBODY
            elif name == _CAPTION:
                self.mode = _IN_CAPTION
            elif name == _COLGROUP:
                self.mode = _IN_COLGROUP
            elif name == _TABLE:
                self.mode = _IN_TABLE
            elif name == _BODY:
                self.mode = _IN_BODY
            elif name == _HEAD and self.leaves_nothing:
                self.mode = _IN_HEAD
            elif name == _HTML and self.leaves_nothing:
                self.mode = _AFTER_HEAD
            else:
                k -= 1
                continue
            return
        self.aside = True
        self.mode = _IN_BODY

    # --- end tags --------------------------------------------------------------------------------

    @cython.cfunc
    def _end(self, name: cython.int) -> cython.void:
        again: cython.bint = True
        mode: cython.int
        while again and not self.aside:
            mode = self.mode
            if mode == _IN_BODY:
                again = self._end_in_body(name)
            elif mode < _IN_BODY:
                again = self._end_before_body(name)
            elif mode == _AFTER_BODY and name == _HTML:
                self.mode = _AFTER_AFTER_BODY
                again = False
            elif mode == _IN_TEMPLATE:
                again = False
            elif mode >= _AFTER_BODY:
                self.mode = _IN_BODY
            elif mode == _IN_CELL:
                again = self._end_in_cell(name)
            elif mode == _IN_ROW:
                again = self._end_in_row(name)
            elif mode == _IN_TBODY:
                again = self._end_in_tbody(name)
            elif mode == _IN_TABLE:
                again = self._end_in_table(name)
            elif mode == _IN_COLGROUP:
                again = self._end_in_colgroup(name)
            else:
                again = self._end_in_caption(name)

    @cython.cfunc
    def _end_before_body(self, name: cython.int) -> cython.bint:
        mode: cython.int = self.mode
        if mode == _IN_HEAD and name == _HEAD:
            self._go_on()
            return False
        if mode == _IN_NOSCRIPT and name == _NOSCRIPT:
            self._go_on()
            return False
        if name == _BR or (mode != _IN_NOSCRIPT and (name == _BODY or name == _HTML)):
            self._go_on()
            return True
        if name == _HEAD and mode <= _BEFORE_HEAD:
            self._go_on()
            return True
        return False

    @cython.cfunc
    def _end_in_body(self, name: cython.int) -> cython.bint:
        """13.2.6.4.7, by what ENDS says of the element; True: to be seen again in the next mode."""
        what: cython.int = self.ends[name] if name > 0 else 0
        node: cython.int
        if what == 0:
            self._end_ordinary(name)
        elif what == 1:  # block
            if self._in_scope(name):
                self._close_implied(0)
                self._pop_until(name)
        elif what == 7:  # formatting
            self._adopt(name)
        elif what == 3:  # p
            if not self._p_in_button_scope():
                self._insert(_P, -1)
            self._close_p()
        elif what == 4:  # li
            if self._in_list_scope():
                self._close_implied(_LI)
                self._pop_until(_LI)
        elif what == 5:  # dd
            if self._in_scope(name):
                self._close_implied(name)
                self._pop_until(name)
        elif what == 6:  # heading
            self._end_heading()
        elif what == 2:  # form
            node = self.form
            if self.leaves_nothing and self.templates:
                if self._in_scope(name):
                    self._close_implied(0)
                    self._pop_until(name)
                return False
            self.form = 0
            if node and self._node_in_scope(node):
                self._close_implied(0)
                self._remove_open(node)
        elif what == 8:  # marked
            if self._in_scope(name):
                self._close_implied(0)
                self._pop_until(name)
                self._clear_to_mark()
        elif what == 9:  # br
            self._reconstruct()
            self._add(_BR, -1)
        elif what == 10:  # body, html
            if self._in_scope(_BODY):
                self.mode = _AFTER_BODY
                return name == _HTML
        return False

    @cython.cfunc
    def _end_heading(self) -> cython.void:
        k: cython.int = self.depth - 1
        low: cython.int = self._low(self.depth)
        name: cython.int
        while k >= low:
            self.steps += 1
            name = self.nodes[self.stack[k], _NAME]
            if _H1 <= name <= _H6:
                self._close_implied(0)
                self._back_to(_H1, _H6)
                self._pop()
                return
            if self._flags(name) & _SCOPE:
                return
            k -= 1

    @cython.cfunc
    def _end_ordinary(self, name: cython.int) -> cython.void:
        k: cython.int = self.depth - 1
        low: cython.int = self._low(self.depth)
        found: cython.int
        while k > low:
            self.steps += 1
            found = self.nodes[self.stack[k], _NAME]
            if found == name:
                self._close_implied(name)
                while self.depth > k:
                    self._pop()
                return
            if self._flags(found) & _SPECIAL:
                return
            k -= 1

    @cython.cfunc
    def _end_in_table(self, name: cython.int) -> cython.bint:
        if name == _TABLE:
            if self._in_table_scope(_TABLE, _TABLE):
                self._pop_until(_TABLE)
                self._reset_mode()
            return False
        if name == _BODY or name == _HTML or _CAPTION <= name <= _TH or name == _TEMPLATE:
            return False
        self.fostering = True
        self._end_in_body(name)
        self.fostering = False
        return False

    @cython.cfunc
    def _end_in_tbody(self, name: cython.int) -> cython.bint:
        if _TBODY <= name <= _THEAD or name == _TABLE:
            if not (
                self._in_table_scope(_TBODY, _THEAD) if name == _TABLE else self._in_table_scope(name, name)
            ):
                return False
            self._back_to(_TBODY, _THEAD)
            self._pop()
            self.mode = _IN_TABLE
            return name == _TABLE
        return self._end_in_table(name)

    @cython.cfunc
    def _end_in_row(self, name: cython.int) -> cython.bint:
        if name == _TR:
            self._close_row()
            return False
        if name == _TABLE:
            return self._close_row()
        if _TBODY <= name <= _THEAD:
            return self._in_table_scope(name, name) and self._close_row()
        return self._end_in_table(name)

    @cython.cfunc
    def _end_in_cell(self, name: cython.int) -> cython.bint:
        if name == _TD or name == _TH:
            if self._in_table_scope(name, name):
                self._close_implied(0)
                self._pop_until(name)
                self._clear_to_mark()
                self.mode = _IN_ROW
            return False
        if name == _BODY or name == _HTML or _CAPTION <= name <= _COL:
            return False
        if name == _TABLE or _TBODY <= name <= _TR:
            if not self._in_table_scope(name, name):
                return False
            self._close_cell()
            return True
        return self._end_in_body(name)

    @cython.cfunc
    def _end_in_caption(self, name: cython.int) -> cython.bint:
        if name == _CAPTION:
            self._close_caption()
            return False
        if name == _TABLE:
            return self._close_caption()
        if name == _BODY or name == _HTML or _COLGROUP <= name <= _TH:
            return False
        return self._end_in_body(name)

    @cython.cfunc
    def _end_in_colgroup(self, name: cython.int) -> cython.bint:
        if name == _COL or name == _TEMPLATE or self._current() != _COLGROUP:
            return False
        self._pop()
        self.mode = _IN_TABLE
        return name != _COLGROUP

    # --- what only `follow` reads -----------------------------------------------------------------

    @cython.cfunc
    @cython.inline
    def _is_in_foreign(self) -> cython.bint:
        """Whether the innermost open element belongs to a drawing or formula and holds no HTML."""
        return self.depth > 0 and self.is_open[self.stack[self.depth - 1]] == _OPEN_FOREIGN

    @cython.cfunc
    def _insert_foreign(self, name: cython.int, t: cython.Py_ssize_t) -> cython.void:
        """An element of a drawing or formula, under a name that no element of HTML has."""
        written: bytes
        open_as: cython.int = _OPEN_FOREIGN
        if name <= 0:
            written = self.buffer[self.tokens[t, 5] : self.tokens[t, 2]].lower()
            if written in _HOLDS_HTML:
                name = 2 * _HOLDER + _HOLDS_HTML.index(written)
                open_as = _OPEN_HOLDING
        elif name == _FOREIGNOBJECT or name == _DESC or name == _TITLE:
            name = _HOLDER - name
            open_as = _OPEN_HOLDING
        elif name != _SVG:
            name = -name
        self.is_open[self._insert(name, t)] = open_as
        if self.tokens[t, 4] & _CLOSED:
            self._pop()

    @cython.cfunc
    def _start_in_foreign(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        """A start tag in a drawing or formula; False: one of HTML, which has ended it."""
        ends: cython.bint = (self._flags(name) & _ENDS_DRAWING) != 0 if name > 0 else False
        if name == _FONT:
            ends = _OF_FONT.search(self.buffer[self.tokens[t, 2] : self.tokens[t, 3]]) is not None
        if not ends:
            self._insert_foreign(name, t)
            return True
        while self._is_in_foreign():
            self._pop()
        return False

    @cython.cfunc
    def _end_anywhere(self, name: cython.int, t: cython.Py_ssize_t) -> cython.void:
        """An end tag, in a drawing or formula, too."""
        k: cython.int = self.depth - 1
        low: cython.int = self._low(self.depth)
        foreign: cython.int = name if name <= 0 or name == _SVG else -name
        holder: cython.int = _HOLDER - name
        written: bytes
        if name == _TEMPLATE and (k < 0 or self.is_open[self.stack[k]] != _OPEN_FOREIGN):
            self._end_template()
            return
        if k >= 0 and self.is_open[self.stack[k]] in (_OPEN_FOREIGN, _OPEN_HOLDING):
            if name <= 0:
                written = _NAME_END.split(self.buffer[self.tokens[t, 5] : self.tokens[t, 3]], 1)[0].lower()
                if written in _HOLDS_HTML:
                    holder = 2 * _HOLDER + _HOLDS_HTML.index(written)
            if name == _P or name == _BR:
                while self._is_in_foreign():
                    self._pop()
                k = -1
            while k >= low and self.is_open[self.stack[k]] in (_OPEN_FOREIGN, _OPEN_HOLDING):
                self.steps += 1
                if self.nodes[self.stack[k], _NAME] in (foreign, holder):
                    while self.depth > k:
                        self._pop()
                    return
                k -= 1
        self._end(name)

    @cython.cfunc
    def _start_in_template(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        """A start tag right inside a template; True: to be seen again in the mode that it asks for."""
        if _TITLE <= name <= _TEMPLATE:
            self._start_in_head(name, t)
            return False
        if name == _COL:
            self.mode = _IN_COLGROUP
        elif name == _TR:
            self.mode = _IN_TBODY
        elif name == _TD or name == _TH:
            self.mode = _IN_ROW
        elif _CAPTION <= name <= _THEAD:
            self.mode = _IN_TABLE
        else:
            self.mode = _IN_BODY
        self.is_open[self.stack[self.depth - 1]] = _OPEN_TEMPLATE + self.mode
        return True

    @cython.cfunc
    def _end_template(self) -> cython.void:
        if not self.templates:
            return
        self._pop_until(_TEMPLATE)
        self._clear_to_mark()
        self.templates -= 1
        self._reset_mode()

    @cython.cfunc
    def _start_rare(self, name: cython.int, t: cython.Py_ssize_t) -> cython.void:
        """What `build` leaves aside: frames are left out, `xmp` and `plaintext` become a `pre`."""
        if name == _XMP or name == _PLAINTEXT:
            self._close_p()
            self._reconstruct()
            self._add_raw(self._add(_PRE, -1), t)
        elif name == _MATH:
            self._reconstruct()
            self._insert_foreign(name, t)
        elif name == _KEYGEN:
            self._reconstruct()
            self._add(name, t)
        elif name == _SELECTEDCONTENT:
            self._reconstruct()
            self._insert(name, t)
