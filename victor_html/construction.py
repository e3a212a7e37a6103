"""Tags and text → the tree of a page (the HTML standard's tree construction, 13.2.6), as columns.

`build` gives the exact tree or none: it stops at rare constructs that would take much code (frames, MathML,
a second `body` with attributes), and at a tree beyond its budget. `follow` reads any page in linear time, and
`is_beyond` says whether the budget was exceeded. Formatting elements are then not opened again, and no search
for an open element goes further than _REACH elements. Cython pure Python mode.
"""

import re

import cython
from cython.cimports.victor_html import num

from victor_html.elements import ELEMENTS, HTML_INTEGRATION_POINTS

num.check()

_HOLDER = cython.declare(cython.int, -1000)
"""Names from here down to twice as low: what holds HTML in a drawing or formula."""
_REACH = cython.declare(cython.int, 64)


_OF_FONT = re.compile(rb"""(?:^|[\s/"'])(?:color|face|size)(?=[\s/=]|$)""", re.IGNORECASE)
_HTML_INTEGRATION_POINTS = frozenset(map(ELEMENTS.index, HTML_INTEGRATION_POINTS.split()))
_MATHML_INTEGRATION_POINTS = (b"mi", b"mo", b"mn", b"ms", b"mtext", b"annotation-xml")
_NAME_END = re.compile(rb"[\s/>]")
_HIDDEN = re.compile(rb"""\stype\s*=\s*(?:"hidden"|'hidden'|hidden(?=[\s/]|$))""")


@cython.final
@cython.cclass
class Builder:
    """The tree construction of pages, one after the other: `begin`, then `build` or `follow`.

    `views`: memory views of the fields, from `classes` to `formatting`.
    """

    buffer: bytes
    classes: num.Bytes
    element_flags: num.UInt16s
    starts: num.Bytes
    ends: num.Bytes
    source: cython.pointer(cython.const[cython.uchar])
    tokens: cython.int[:, ::1]
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
    adopted: cython.int
    bookmark: cython.int
    leaves_nothing: cython.bint
    n_done: cython.Py_ssize_t
    steps: cython.longlong
    most_steps: cython.longlong
    copied: cython.longlong
    most_copied: cython.longlong
    merged: cython.longlong
    n_options: cython.int

    def __init__(self, *views: object):
        self.classes, self.element_flags, self.starts, self.ends = views[:4]
        self.tokens, self.nodes, self.stack, self.is_open, self.formatting = views[4:]

    def begin(
        self,
        buffer: bytes,
        quirks: cython.int,
        most_steps: cython.longlong,
        most_copied: cython.longlong,
        most_nodes: cython.int,
    ) -> None:
        """Takes a page, and the budget for it."""
        self.buffer = buffer
        self.source = buffer
        self.quirks = quirks
        self.most_steps = most_steps
        self.most_copied = most_copied
        self.most_nodes = most_nodes
        self.n_nodes = num.DOCUMENT + 1
        self.mode = num.BEFORE_HTML
        self.depth = self.n_formatting = self.n_open_p = self.n_options = 0
        self.head = self.form = self.place_before = self.templates = self.markers = 0
        self.n_done = self.steps = self.copied = self.merged = 0
        self.fostering = self.drops_line_feed = self.aside = self.leaves_nothing = False
        for k in range(self.nodes.shape[1]):
            self.nodes[num.NO_NODE, k] = 0
            self.nodes[num.DOCUMENT, k] = 0

    @cython.ccall
    def build(self, n_tokens: cython.Py_ssize_t) -> cython.int:
        """Fills `nodes` (a row a node, NODE_COLUMNS) from the tokens; how many, -1: left aside.

        `nodes`, `stack`, `is_open` and `formatting` have `most_nodes` rows. It is also -1 if that is too few,
        if the searches for open elements take more than `most_steps`, or if the tags of elements that are
        opened again take more than `most_copied` bytes.
        """
        for t in range(n_tokens):
            kind = self.tokens[t, num.TOKEN_KIND]
            if self.templates:
                self._skip_in_template(t)
            elif kind == num.TEXT:
                self._text(t)
            elif kind == num.START:
                self.drops_line_feed = False
                self._start(self.tokens[t, num.TOKEN_NAME], t)
            elif kind == num.END:
                self.drops_line_feed = False
                self._end(self.tokens[t, num.TOKEN_NAME])
            elif kind == num.DOCTYPE:
                self.drops_line_feed = False
                if self.mode == num.IN_COLUMN_GROUP:
                    self.aside = True  # the library ends the group
            if self.aside or self.steps > self.most_steps or self.copied > self.most_copied:
                return -1
        return self.end()

    @cython.ccall
    def end(self) -> cython.int:
        """Ends the page, adds the elements that every page has; how many nodes there are, -1: left aside."""
        while self.templates and self.leaves_nothing:
            self._end_template()
            self.aside = False
        while self.mode < num.IN_BODY:
            self._anything_else()
        return -1 if self.aside else self.n_nodes

    @cython.ccall
    def is_beyond(self) -> cython.bint:
        """Whether the tree is beyond its budget."""
        return self.steps > self.most_steps or self.copied > self.most_copied

    @cython.ccall
    def follow(self, n_tokens: cython.Py_ssize_t) -> cython.int:
        """Builds the tree of any page up to token n_tokens; returns where the next token stands.

        That is num.PLACE_HTML, PLACE_FOREIGN in a drawing or formula, or PLACE_HOLDER in an element there
        that holds HTML; -1 if there is no room. Five nodes for each `<`, one for each num.COPY bytes of
        `most_copied` and 200 more are enough.
        """
        self.leaves_nothing = True
        while self.n_done < n_tokens:
            if self.n_nodes >= self.most_nodes:
                return -1
            t = self.n_done
            kind = self.tokens[t, num.TOKEN_KIND]
            self.steps += self.depth  # the library may search all open elements for each token
            if kind == num.TEXT:
                self._text(t)
            elif kind == num.START or kind == num.END:
                self.drops_line_feed = False
                if kind == num.START:
                    self._start(self.tokens[t, num.TOKEN_NAME], t)
                else:
                    self._end_anywhere(self.tokens[t, num.TOKEN_NAME], t)
            self.fostering = False
            self.aside = False
            self.n_done += 1
        open_as = self.is_open[self.stack[self.depth - 1]] if self.depth else num.OPEN_HTML
        return num.PLACE_HTML if open_as >= num.OPEN_TEMPLATE else open_as - num.OPEN_HTML  # in their order

    @cython.cfunc
    @cython.inline
    def _low(self, n: cython.int) -> cython.int:
        """The lowest place in the stack that a search from place n looks at."""
        return 0 if self.steps <= self.most_steps or n <= _REACH else n - _REACH

    # --- nodes -----------------------------------------------------------------------------------

    @cython.cfunc
    def _new(self, name: cython.int, token: cython.Py_ssize_t) -> cython.int:
        node: cython.int = self.n_nodes
        if node >= self.most_nodes:
            self.aside = True
            return 0
        for k in range(num.NAME):  # its relatives
            self.nodes[node, k] = 0
        self.nodes[node, num.NAME] = name
        self.nodes[node, num.TOKEN] = cython.cast(cython.int, token)
        self.is_open[node] = 0
        self.n_nodes = node + 1
        return node

    @cython.cfunc
    def _link(self, node: cython.int, parent: cython.int, before: cython.int) -> cython.void:
        """Makes `node` a child of `parent`: the last, or the one before `before`."""
        previous = self.nodes[before, num.PREVIOUS] if before else self.nodes[parent, num.LAST]
        self.nodes[node, num.PARENT] = parent
        self.nodes[node, num.NEXT] = before
        self.nodes[node, num.PREVIOUS] = previous
        if previous:
            self.nodes[previous, num.NEXT] = node
        else:
            self.nodes[parent, num.FIRST] = node
        if before:
            self.nodes[before, num.PREVIOUS] = node
        else:
            self.nodes[parent, num.LAST] = node

    @cython.cfunc
    def _unlink(self, node: cython.int) -> cython.void:
        parent: cython.int = self.nodes[node, num.PARENT]
        after: cython.int = self.nodes[node, num.NEXT]
        previous: cython.int = self.nodes[node, num.PREVIOUS]
        if not parent:
            return
        if previous:
            self.nodes[previous, num.NEXT] = after
        else:
            self.nodes[parent, num.FIRST] = after
        if after:
            self.nodes[after, num.PREVIOUS] = previous
        else:
            self.nodes[parent, num.LAST] = previous
        self.nodes[node, num.PARENT] = 0

    @cython.cfunc
    @cython.inline
    def _flags(self, name: cython.int) -> cython.int:
        if name > 0:
            return self.element_flags[name]
        return (
            num.SPECIAL | num.SCOPE | num.LIST_SCOPE | num.BUTTON_SCOPE
            if 2 * _HOLDER <= name <= _HOLDER
            else 0
        )

    @cython.cfunc
    @cython.inline
    def _is(self, name: cython.int, wanted: cython.int, kind: cython.int) -> cython.bint:
        """Whether `name` is the element `wanted` or, where that is 0, one with a flag of `kind`."""
        return name == wanted if wanted else (self._flags(name) & kind) != 0

    @cython.cfunc
    @cython.inline
    def _current(self) -> cython.int:
        """The element that the innermost open node is (0: none)."""
        return self.nodes[self.stack[self.depth - 1], num.NAME] if self.depth else 0

    @cython.cfunc
    def _appropriate_place(self, target: cython.int) -> cython.int:
        """The parent of what is inserted at `target`; sets `place_before` (foster parenting)."""
        name: cython.int = self.nodes[target, num.NAME]
        self.place_before = 0
        if not self.fostering or not (name == num.TABLE or self._flags(name) & (num.ROW_GROUP | num.ROW)):
            return target
        k = self.depth - 1
        low = self._low(self.depth)
        while k > low and self.nodes[self.stack[k], num.NAME] != num.TABLE:
            if self.nodes[self.stack[k], num.NAME] == num.TEMPLATE:
                return self.stack[k]
            k -= 1
        self.steps += self.depth - k
        if k <= low:
            return self.stack[0] if not low else target
        table = self.stack[k]
        if self.nodes[table, num.PARENT]:
            self.place_before = table
            return self.nodes[table, num.PARENT]
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
        parent: cython.int = num.DOCUMENT
        if self.depth:
            parent = self._appropriate_place(self.stack[self.depth - 1])
        if node:
            self._link(node, parent, self.place_before if self.depth else 0)
        return node

    @cython.cfunc
    def _add_text(
        self, start: cython.int, end: cython.int, flags: cython.int, parent: cython.int
    ) -> cython.void:
        """A new text node where the standard puts it, given the current node."""
        if start >= end:
            return
        node = self._new(0, flags)
        if node:
            parent = self._appropriate_place(parent)
            self._link(node, parent, self.place_before)
            self.nodes[node, num.FIRST] = start
            self.nodes[node, num.LAST] = end

    @cython.cfunc
    @cython.inline
    def _push(self, node: cython.int) -> cython.void:
        if self.depth >= self.most_nodes:
            self.aside = True
            return
        self.stack[self.depth] = node
        self.is_open[node] = num.OPEN_HTML
        self.depth += 1
        if self.nodes[node, num.NAME] == num.P:
            self.n_open_p += 1

    @cython.cfunc
    @cython.inline
    def _pop(self) -> cython.void:
        if self.depth > 0:
            self.depth -= 1
            node = self.stack[self.depth]
            self.is_open[node] = 0
            if self.nodes[node, num.NAME] == num.P:
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
        if self.nodes[node, num.NAME] == num.P:
            self.n_open_p -= 1
        while k < self.depth - 1:
            self.stack[k] = self.stack[k + 1]
            k += 1
        self.depth -= 1

    # --- scopes ----------------------------------------------------------------------------------

    @cython.cfunc
    def _is_in_scope(self, wanted: cython.int, kind: cython.int, scope: cython.int) -> cython.bint:
        """Whether an element, or one with a flag of `kind`, is in `scope` (the flag of what ends it)."""
        k: cython.int = self.depth - 1
        low: cython.int = self._low(self.depth)
        name: cython.int = 0
        found: cython.bint = False
        while k >= low and not found:
            name = self.nodes[self.stack[k], num.NAME]
            found = self._is(name, wanted, kind)
            if found or self._flags(name) & scope:
                break
            k -= 1
        self.steps += self.depth - k
        return found

    @cython.cfunc
    def _node_in_scope(self, node: cython.int) -> cython.bint:
        k: cython.int = self.depth - 1
        low: cython.int = self._low(self.depth)
        while k >= low and self.stack[k] != node:
            if self._flags(self.nodes[self.stack[k], num.NAME]) & num.SCOPE:
                break
            k -= 1
        self.steps += self.depth - k
        return k >= low and self.stack[k] == node

    @cython.cfunc
    def _p_in_button_scope(self) -> cython.bint:
        return self.n_open_p > 0 and self._is_in_scope(num.P, 0, num.BUTTON_SCOPE)

    @cython.cfunc
    def _generate_implied_end_tags(self, except_for: cython.int) -> cython.void:
        """Closes the elements with implied ends, up to one with the name `except_for` (0: none)."""
        name: cython.int = self._current()
        while name != except_for and self._flags(name) & num.IMPLIED_END:
            self._pop()
            name = self._current()

    @cython.cfunc
    def _close_in_scope(self, name: cython.int, except_for: cython.int) -> cython.bint:
        """Closes an element that is in scope, and those inside it; whether it was."""
        found: cython.bint = self._is_in_scope(name, 0, num.SCOPE)
        if found:
            self._generate_implied_end_tags(except_for)
            self._pop_until(name)
        return found

    @cython.cfunc
    def _close_p(self) -> cython.void:
        if self._p_in_button_scope():
            self._generate_implied_end_tags(num.P)
            self._pop_until(num.P)

    # --- active formatting elements ----------------------------------------------------------------

    @cython.cfunc
    def _reconstruct_active_formatting(self) -> cython.void:
        k: cython.int = self.n_formatting - 1
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
            self.formatting[k] = self._insert(self.nodes[entry, num.NAME], self.nodes[entry, num.TOKEN])
            k += 1

    @cython.cfunc
    def _count_copy(self, node: cython.int) -> cython.void:
        """Counts what the tags of another element like `node` take: six times the attributes, if unclean."""
        token: cython.int = self.nodes[node, num.TOKEN]
        length: cython.int = self.tokens[token, num.TOKEN_END] - self.tokens[token, num.TOKEN_START]
        self.copied += num.COPY + (
            length * 6 if self.tokens[token, num.TOKEN_FLAGS] & num.UNCLEAN else length
        )

    @cython.cfunc
    def _push_formatting(self, node: cython.int) -> cython.void:
        """Adds `node` to the list; of more than three alike the earliest goes (the Noah's Ark clause)."""
        k: cython.int = self.n_formatting - 1
        low: cython.int = self._low(self.n_formatting)
        alike: cython.int = 0
        perhaps: cython.int = 0
        earliest: cython.int = -1
        while k >= low and self.formatting[k] >= 0:
            if self.nodes[self.formatting[k], num.NAME] == self.nodes[node, num.NAME]:
                if self._same_attributes(
                    self.nodes[self.formatting[k], num.TOKEN], self.nodes[node, num.TOKEN]
                ):
                    alike += 1
                    earliest = k
                elif (
                    self.tokens[self.nodes[self.formatting[k], num.TOKEN], num.TOKEN_FLAGS]
                    | self.tokens[self.nodes[node, num.TOKEN], num.TOKEN_FLAGS]
                ) & num.UNCLEAN:
                    perhaps += 1  # the same, perhaps, written in another way
            k -= 1
        self.steps += self.n_formatting - k
        if perhaps and alike + perhaps >= num.MOST_ALIKE:
            self.aside = True
        elif alike >= num.MOST_ALIKE:
            self._forget(earliest)
        if self.n_formatting < self.most_nodes:
            self.formatting[self.n_formatting] = node
            self.n_formatting += 1

    @cython.cfunc
    def _same_attributes(self, one: cython.int, other: cython.int) -> cython.bint:
        start: cython.int = self.tokens[one, num.TOKEN_START]
        length: cython.int = self.tokens[one, num.TOKEN_END] - start
        if self.tokens[other, num.TOKEN_END] - self.tokens[other, num.TOKEN_START] != length:
            return False
        self.steps += length
        for k in range(length):
            if self.source[start + k] != self.source[self.tokens[other, num.TOKEN_START] + k]:
                return False
        return True

    @cython.cfunc
    def _insert_marker(self) -> cython.void:
        if self.n_formatting < self.most_nodes:
            self.formatting[self.n_formatting] = -1
            self.n_formatting += 1

    @cython.cfunc
    def _clear_active_formatting_to_marker(self) -> cython.void:
        entry: cython.int = 0
        while self.n_formatting and entry >= 0:
            self.n_formatting -= 1
            entry = self.formatting[self.n_formatting]

    @cython.cfunc
    def _forget(self, place: cython.int) -> cython.void:
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
        while k >= low and self.formatting[k] >= 0 and self.nodes[self.formatting[k], num.NAME] != name:
            k -= 1
        self.steps += self.n_formatting - k
        return k if k >= low and self.formatting[k] >= 0 else -1

    @cython.cfunc
    def _run_adoption_agency(self, name: cython.int) -> cython.void:
        """The adoption agency algorithm for an end tag."""
        current: cython.int = self.stack[self.depth - 1]
        outer: cython.int = 0
        if self._current() == name and self._formatting_place(current) < 0:
            self._pop()
            return
        while outer < num.ADOPTION_ROUNDS and not self.aside and self._run_adoption_agency_once(name):
            outer += 1

    @cython.cfunc
    def _run_adoption_agency_once(self, name: cython.int) -> cython.bint:
        """One round of the adoption agency (13.2.6.4.7, step 4); False when it is done."""
        place: cython.int = self._last_formatting(name)
        if place < 0:
            self._any_other_end_tag(name)
            return False
        element = self.formatting[place]
        if not self.is_open[element]:
            self._forget(place)
            return False
        if not self._node_in_scope(element):
            return False
        if self.copied > self.most_copied:
            self._forget(place)
            self._any_other_end_tag(name)
            return False
        furthest: cython.int = -1
        at = self.depth - 1
        while self.stack[at] != element:
            if self._flags(self.nodes[self.stack[at], num.NAME]) & num.SPECIAL:
                furthest = at
            at -= 1
        if furthest < 0:
            while self.depth > at:
                self._pop()
            self._forget(place)
            return False
        ancestor = self.stack[at - 1]
        block = self.stack[furthest]
        self.adopted = place
        self.bookmark = place
        last = self._copied_between(element, furthest)
        if not last:
            return False
        self._unlink(last)
        parent = self._appropriate_place(ancestor)
        self._link(last, parent, self.place_before)
        return self._move_into_block(element, block)

    @cython.cfunc
    def _copied_between(self, element: cython.int, furthest: cython.int) -> cython.int:
        """Steps 4.11 to 4.13: copies the formatting elements between `element` and the furthest block.

        `furthest` is the block's place in the stack. The copies stand inside one another, the block in the
        innermost; elements that are not formatting are closed. Returns the outermost; 0: left aside.
        """
        block: cython.int = self.stack[furthest]
        last: cython.int = block
        passed: cython.int = 0
        k: cython.int = furthest
        while True:
            passed += 1
            k -= 1
            node = self.stack[k]
            if node == element:
                return last
            in_list = self._formatting_place(node)
            if passed > num.ADOPTION_PASSED and in_list >= 0:
                self.aside = True  # nested wrongly and deeply; here the library differs from the standard
                if not self.leaves_nothing:
                    return 0
                self._forget(in_list)
                self.adopted -= in_list < self.adopted
                self.bookmark -= in_list < self.bookmark
                in_list = -1
            if in_list < 0:
                self._remove_open(node)
                continue
            copy = self._copy(node)
            if not copy:
                return 0
            self.formatting[in_list] = copy
            self.is_open[node] = 0
            self.is_open[copy] = num.OPEN_HTML
            self.stack[k] = copy
            if last == block:
                self.bookmark = in_list + 1
            self._unlink(last)
            self._link(last, copy, 0)
            last = copy

    @cython.cfunc
    def _move_into_block(self, element: cython.int, block: cython.int) -> cython.bint:
        """Steps 4.15 to 4.19: a copy of `element` takes the content of `block`, and its place in lists."""
        copy: cython.int = self._copy(element)
        if not copy:
            return False
        child: cython.int = self.nodes[block, num.FIRST]
        self.nodes[copy, num.FIRST] = child
        self.nodes[copy, num.LAST] = self.nodes[block, num.LAST]
        while child:
            self.nodes[child, num.PARENT] = copy
            child = self.nodes[child, num.NEXT]
            self.steps += 1
        self.nodes[block, num.FIRST] = 0
        self.nodes[block, num.LAST] = 0
        self._link(copy, block, 0)
        self._forget(self.adopted)
        if self.adopted < self.bookmark:
            self.bookmark -= 1
        for k in range(self.n_formatting, self.bookmark, -1):
            self.formatting[k] = self.formatting[k - 1]
        self.formatting[self.bookmark] = copy
        self.n_formatting += 1
        self._remove_open(element)
        k = self.depth
        while self.stack[k - 1] != block:
            self.stack[k] = self.stack[k - 1]
            k -= 1
        self.stack[k] = copy
        self.is_open[copy] = num.OPEN_HTML
        self.depth += 1
        return True

    @cython.cfunc
    def _copy(self, node: cython.int) -> cython.int:
        """A new element with the tag of `node`; 0 if there is no room."""
        self._count_copy(node)
        return self._new(self.nodes[node, num.NAME], self.nodes[node, num.TOKEN])

    # --- text ------------------------------------------------------------------------------------

    @cython.cfunc
    def _text(self, t: cython.Py_ssize_t) -> cython.void:
        start: cython.int = self.tokens[t, num.TOKEN_START]
        end: cython.int = self.tokens[t, num.TOKEN_END]
        flags: cython.int = self.tokens[t, num.TOKEN_FLAGS]
        mode: cython.int = self.mode
        white_end: cython.int = start
        if self.drops_line_feed:
            start = self._without_line_feed(start, end, flags)
            self.drops_line_feed = False
        if self.leaves_nothing and self._is_in_foreign():
            self._add_text(start, end, flags, self.stack[self.depth - 1])
            return
        if mode == num.IN_BODY or mode == num.IN_TEMPLATE or mode == num.IN_CELL or mode == num.IN_CAPTION:
            self._text_in_body(start, end, flags)
            return
        if mode >= num.AFTER_BODY:
            if flags & num.NOT_WHITE:
                self.mode = num.IN_BODY
            self._text_in_body(start, end, flags)
            return
        while white_end < end and self.classes[self.source[white_end]] & num.IS_WHITE:
            white_end += 1
        if white_end + 1 < end and self.source[white_end] == ord("&"):
            second = self.source[white_end + 1]
            # a reference to white space, perhaps
            if second == ord("#") or second == ord("T") or second == ord("N"):
                self.aside = True
                if not self.leaves_nothing:
                    return
        if mode == num.IN_TABLE or mode == num.IN_TABLE_BODY or mode == num.IN_ROW:
            self._text_in_table(start, end, flags)
            return
        if mode == num.IN_COLUMN_GROUP:
            self._add_text(start, white_end, num.CARE, self.stack[self.depth - 1])
            if white_end < end and self._current() == num.COLGROUP:
                self._pop()
                self.mode = num.IN_TABLE
                self._text_in_table(white_end, end, flags)
            return
        if num.IN_HEAD <= mode <= num.AFTER_HEAD:
            self._add_text(start, white_end, num.CARE, self.stack[self.depth - 1])
        if white_end < end:
            while self.mode < num.IN_BODY:
                self._anything_else()
            self._text_in_body(white_end, end, flags)

    @cython.cfunc
    def _without_line_feed(self, start: cython.int, end: cython.int, flags: cython.int) -> cython.int:
        """Where the text goes on after the line feed that begins it (first thing in a `pre`)."""
        if flags & num.AFTER_COMMENT or start >= end:
            return start
        if self.source[start] == ord("&") and start + 1 < end:
            if self.source[start + 1] == ord("#") or self.source[start + 1] == ord("N"):
                self.aside = True  # a reference to a line feed, perhaps
        if self.source[start] == ord("\r"):
            start += 1
            return start + 1 if start < end and self.source[start] == ord("\n") else start
        return start + 1 if self.source[start] == ord("\n") else start

    @cython.cfunc
    def _text_in_body(self, start: cython.int, end: cython.int, flags: cython.int) -> cython.void:
        if start < end:
            self._reconstruct_active_formatting()
            self._add_text(start, end, flags, self.stack[self.depth - 1])

    @cython.cfunc
    def _text_in_table(self, start: cython.int, end: cython.int, flags: cython.int) -> cython.void:
        name: cython.int = self._current()
        if flags & num.JOINED:
            self.aside = True  # the run that it belongs to decides
        if not flags & num.NOT_WHITE and (name == num.TABLE or self._flags(name) & (num.ROW_GROUP | num.ROW)):
            self._add_text(start, end, flags, self.stack[self.depth - 1])
            return
        self.fostering = True
        self._text_in_body(start, end, flags)
        self.fostering = False

    # --- before the body (13.2.6.4.2 to 13.2.6.4.6) ------------------------------------------------

    @cython.cfunc
    def _anything_else(self) -> cython.void:
        """The rule `anything else` of a mode before the body: one step towards it."""
        mode: cython.int = self.mode
        if mode == num.BEFORE_HTML:
            self._insert(num.HTML, -1)
            self.mode = num.BEFORE_HEAD
        elif mode == num.BEFORE_HEAD:
            self.head = self._insert(num.HEAD, -1)
            self.mode = num.IN_HEAD
        elif mode == num.IN_HEAD:
            self._pop()
            self.mode = num.AFTER_HEAD
        elif mode == num.IN_HEAD_NOSCRIPT:
            self._pop()
            self.mode = num.IN_HEAD
        else:
            self._insert(num.BODY, -1)
            self.mode = num.IN_BODY

    @cython.cfunc
    def _start_before_html(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        if name == num.HTML:
            self._insert(name, t)
            self.mode = num.BEFORE_HEAD
            return False
        self._anything_else()
        return True

    @cython.cfunc
    def _start_before_head(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        if name == num.HTML:
            self._merge_attributes(name, t)
        elif name == num.HEAD:
            self.head = self._insert(name, t)
            self.mode = num.IN_HEAD
        else:
            self._anything_else()
            return True
        return False

    @cython.cfunc
    def _start_in_head(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        """Also elements of the head elsewhere; script, style and noframes leave nothing behind."""
        if name == num.HTML:
            self._merge_attributes(name, t)
        elif name == num.TEMPLATE and self.leaves_nothing:
            self.is_open[self._insert(name, t)] = num.OPEN_TEMPLATE + num.IN_TEMPLATE
            self._insert_marker()
            self.templates += 1
            self.mode = num.IN_TEMPLATE
        elif name == num.TEMPLATE:
            self.templates = 1
        elif name == num.TITLE:
            self._add_raw(self._add(name, t), t)
        elif self._flags(name) & num.HEAD_CONTENT:
            if self._flags(name) & num.VOID:
                self._add(name, t)
        elif name == num.NOSCRIPT:
            self._insert(name, t)
            self.mode = num.IN_HEAD_NOSCRIPT
        elif name != num.HEAD:
            self._anything_else()
            return True
        return False

    @cython.cfunc
    def _start_in_head_noscript(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        if name == num.HTML:
            self._merge_attributes(name, t)
        elif self._flags(name) & num.NOSCRIPT_CONTENT:
            self._start_in_head(name, t)
        elif name != num.HEAD and name != num.NOSCRIPT:
            self._anything_else()
            return True
        return False

    @cython.cfunc
    def _start_after_head(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        if name == num.HTML:
            self._merge_attributes(name, t)
        elif name == num.BODY:
            self._insert(name, t)
            self.mode = num.IN_BODY
        elif self._flags(name) & num.HEAD_CONTENT:
            self._push(self.head)
            self._start_in_head(name, t)
            self._remove_open(self.head)
        elif name != num.HEAD:
            self._anything_else()
            return True
        return False

    @cython.cfunc
    def _add_raw(self, node: cython.int, t: cython.Py_ssize_t) -> cython.void:
        """Gives the element of token t the raw text that follows it as its child."""
        was: cython.bint = self.fostering
        start: cython.int = self.tokens[t + 1, num.TOKEN_START]
        end: cython.int = self.tokens[t + 1, num.TOKEN_END]
        if self.nodes[node, num.NAME] != num.TITLE:
            start = self._without_line_feed(start, end, self.tokens[t + 1, num.TOKEN_FLAGS])
        self.fostering = False
        self._add_text(start, end, self.tokens[t + 1, num.TOKEN_FLAGS], node)
        self.fostering = was

    @cython.cfunc
    def _merge_attributes(self, name: cython.int, t: cython.Py_ssize_t) -> cython.void:
        """A second html or body tag: the first gets the attributes that it doesn't have."""
        node: cython.int = self.stack[0 if name == num.HTML else 1]
        token: cython.int = self.nodes[node, num.TOKEN]
        if not self.tokens[t, num.TOKEN_FLAGS] & num.ATTRIBUTES or self.nodes[node, num.NAME] != name:
            return
        self.merged += self.tokens[t, num.TOKEN_END] - self.tokens[t, num.TOKEN_START]
        self.steps += self.merged
        if token >= 0 and self.tokens[token, num.TOKEN_FLAGS] & num.ATTRIBUTES:
            self.aside = True
        self.nodes[node, num.TOKEN] = cython.cast(cython.int, t)

    @cython.cfunc
    def _skip_in_template(self, t: cython.Py_ssize_t) -> cython.void:
        """Inside a template, `build` adds nothing; only markers that it may leave behind are counted."""
        name: cython.int = self.tokens[t, num.TOKEN_NAME]
        kind: cython.int = self.tokens[t, num.TOKEN_KIND]
        if name == num.TEMPLATE and kind == num.START:
            self.templates += 1
        elif name == num.TEMPLATE and kind == num.END:
            self.templates -= 1
            if self.markers:
                self.aside = True
        elif name == num.COLGROUP or name == num.COL:
            self.aside = True
        elif (
            name == num.CAPTION
            or self._flags(name) & num.CELL
            or (name > 0 and self.starts[name] == num.START_MARKED)
        ):
            if kind == num.START:
                self.markers += name  # a number of its own, so that only its own end makes it good
            elif kind == num.END:
                self.markers -= name

    # --- start tags ------------------------------------------------------------------------------

    @cython.cfunc
    def _start(self, name: cython.int, t: cython.Py_ssize_t) -> cython.void:
        """A start tag, by the function of the insertion mode: True means to reprocess it in the next mode."""
        again: cython.bint = True
        if self.leaves_nothing and self._is_in_foreign() and self._start_in_foreign(name, t):
            return
        while again and not self.aside:
            mode = self.mode
            if mode == num.IN_BODY:
                self._start_in_body(name, t)
                again = False
            elif mode == num.BEFORE_HTML:
                again = self._start_before_html(name, t)
            elif mode == num.BEFORE_HEAD:
                again = self._start_before_head(name, t)
            elif mode == num.IN_HEAD:
                again = self._start_in_head(name, t)
            elif mode == num.IN_HEAD_NOSCRIPT:
                again = self._start_in_head_noscript(name, t)
            elif mode == num.AFTER_HEAD:
                again = self._start_after_head(name, t)
            elif mode == num.IN_TABLE:
                again = self._start_in_table(name, t)
            elif mode == num.IN_CAPTION:
                again = self._start_in_caption(name, t)
            elif mode == num.IN_COLUMN_GROUP:
                again = self._start_in_column_group(name, t)
            elif mode == num.IN_TABLE_BODY:
                again = self._start_in_table_body(name, t)
            elif mode == num.IN_ROW:
                again = self._start_in_row(name, t)
            elif mode == num.IN_CELL:
                again = self._start_in_cell(name, t)
            elif mode == num.IN_TEMPLATE:
                again = self._start_in_template(name, t)
            else:
                again = self._start_after_body(name, t)

    @cython.cfunc
    def _start_in_body(self, name: cython.int, t: cython.Py_ssize_t) -> cython.void:
        """13.2.6.4.7: the start tags in the order of the standard; STARTS has the elements of each rule."""
        rule: cython.int = self.starts[name] if name > 0 else num.START_ORDINARY
        if rule == num.START_HTML:  # html, body
            self._merge_attributes(name, t)
        elif rule == num.START_HEAD:
            self._start_in_head(name, t)
        elif rule == num.START_BLOCK:
            self._close_p()
            self._insert(name, t)
        elif rule == num.START_HEADING:
            self._close_p()
            if self._flags(self._current()) & num.HEADING:
                self._pop()
            self._insert(name, t)
        elif rule == num.START_PREFORMATTED:
            self._close_p()
            self._insert(name, t)
            self.drops_line_feed = True
        elif rule == num.START_FORM:
            self._start_form(t)
        elif rule == num.START_LI:
            self._close_item(num.LI, num.LI)
            self._insert(name, t)
        elif rule == num.START_DD:
            self._close_item(num.DD, num.DT)
            self._insert(name, t)
        elif rule == num.START_BUTTON:
            self._close_in_scope(num.BUTTON, 0)
            self._reconstruct_active_formatting()
            self._insert(name, t)
        elif rule == num.START_A:
            self._start_a(t)
        elif rule == num.START_FORMATTING:
            self._reconstruct_active_formatting()
            self._push_formatting(self._insert(name, t))
        elif rule == num.START_NOBR:
            self._start_nobr(t)
        elif rule == num.START_MARKED:
            self._reconstruct_active_formatting()
            self._insert(name, t)
            self._insert_marker()
        elif rule == num.START_TABLE:
            self._start_table(t)
        elif rule == num.START_VOID:  # `image` is an img
            self.aside |= name == num.IMAGE and self.fostering  # lost by the library
            self._reconstruct_active_formatting()
            self._add(num.IMG if name == num.IMAGE else name, t)
        elif rule == num.START_INPUT:
            if self._is_in_scope(num.SELECT, 0, num.SCOPE):
                self._pop_until(num.SELECT)
            self._reconstruct_active_formatting()
            self._add(name, t)
        elif rule == num.START_VOID_INSIDE:
            self._add(name, t)
        elif rule == num.START_HR:
            self._close_p()
            if self._is_in_scope(num.SELECT, 0, num.SCOPE):
                self._generate_implied_end_tags(0)
            self._add(name, t)
        elif rule == num.START_RAW:  # textarea; the content of iframe and noembed is dropped
            if name == num.TEXTAREA:
                self._add_raw(self._add(name, t), t)
        elif rule == num.START_SELECT:
            self._start_select(t)
        elif rule == num.START_OPTION:
            self._start_option(t)
        elif rule == num.START_OPTGROUP:
            self._close_option(0)
            self._reconstruct_active_formatting()
            self._insert(name, t)
        elif rule == num.START_RUBY_BASE:
            self._close_in_ruby(0)
            self._insert(name, t)
        elif rule == num.START_RUBY_TEXT:
            self._close_in_ruby(num.RTC)
            self._insert(name, t)
        elif rule == num.START_DRAWING:  # a leaf that is dropped, except in `follow`
            self._reconstruct_active_formatting()
            if self.leaves_nothing:
                self._insert_foreign(name, t)
        elif rule == num.START_ELSEWHERE:
            self._start_rare(name, t)
        elif rule == num.START_ORDINARY:
            self._reconstruct_active_formatting()
            self._insert(name, t)

    @cython.cfunc
    def _start_form(self, t: cython.Py_ssize_t) -> cython.void:
        in_template: cython.bint = self.leaves_nothing and self.templates > 0
        if self.form and not in_template:
            return
        self._close_p()
        form = self._insert(num.FORM, t)
        if not in_template:
            self.form = form

    @cython.cfunc
    def _start_a(self, t: cython.Py_ssize_t) -> cython.void:
        """A link ends the link that is open."""
        place = self._last_formatting(num.A)
        if place >= 0:
            node = self.formatting[place]
            self._run_adoption_agency(num.A)
            place = self._formatting_place(node)
            if place >= 0:
                self._forget(place)
            self._remove_open(node)
        self._reconstruct_active_formatting()
        self._push_formatting(self._insert(num.A, t))

    @cython.cfunc
    def _start_nobr(self, t: cython.Py_ssize_t) -> cython.void:
        self._reconstruct_active_formatting()
        if self._is_in_scope(num.NOBR, 0, num.SCOPE):
            self._run_adoption_agency(num.NOBR)
            self._reconstruct_active_formatting()
        self._push_formatting(self._insert(num.NOBR, t))

    @cython.cfunc
    def _start_table(self, t: cython.Py_ssize_t) -> cython.void:
        """In quirks mode, a table does not end a p."""
        if self.quirks == num.QUIRKS_UNKNOWN and self._p_in_button_scope():
            self.aside = True
        if self.quirks == num.QUIRKS_NO:
            self._close_p()
        self._insert(num.TABLE, t)
        self.mode = num.IN_TABLE

    @cython.cfunc
    def _start_select(self, t: cython.Py_ssize_t) -> cython.void:
        """Inside another select, it ends that one, and is ignored."""
        if self._is_in_scope(num.SELECT, 0, num.SCOPE):
            self._pop_until(num.SELECT)
        else:
            self._reconstruct_active_formatting()
            self._insert(num.SELECT, t)

    @cython.cfunc
    def _start_option(self, t: cython.Py_ssize_t) -> cython.void:
        self._close_option(num.OPTGROUP)
        if self.leaves_nothing:  # the library may search all options before it
            self.n_options += 1
            self.steps += self.n_options
        self._reconstruct_active_formatting()
        self._insert(num.OPTION, t)

    @cython.cfunc
    def _close_option(self, except_for: cython.int) -> cython.void:
        """Ends the option that is open; inside a select, generates implied end tags."""
        if self._is_in_scope(num.SELECT, 0, num.SCOPE):
            self._generate_implied_end_tags(except_for)
        elif self._current() == num.OPTION:
            self._pop()

    @cython.cfunc
    def _close_in_ruby(self, except_for: cython.int) -> cython.void:
        """Inside a ruby, generates implied end tags."""
        if self._is_in_scope(num.RUBY, 0, num.SCOPE):
            self._generate_implied_end_tags(except_for)

    @cython.cfunc
    def _close_item(self, name: cython.int, other: cython.int) -> cython.void:
        """Ends the item that is open when the next begins (li; dd and dt), then a p."""
        k: cython.int = self.depth - 1
        low: cython.int = self._low(self.depth)
        while k >= low:
            self.steps += 1
            found = self.nodes[self.stack[k], num.NAME]
            if found == name or found == other:
                self._generate_implied_end_tags(found)
                self._pop_until(found)
                break
            if (
                self._flags(found) & num.SPECIAL
                and found != num.ADDRESS
                and found != num.DIV
                and found != num.P
            ):
                break
            k -= 1
        self._close_p()

    @cython.cfunc
    def _clear_stack_back_to(self, wanted: cython.int, kind: cython.int) -> cython.void:
        """Closes all up to an element, or one with a flag of `kind`, or html."""
        name: cython.int = self._current()
        while self.depth > 1 and not self._is(name, wanted, kind) and name != num.TEMPLATE:
            self._pop()
            name = self._current()

    @cython.cfunc
    def _start_in_table(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        is_group: cython.bint = (self._flags(name) & num.ROW_GROUP) != 0
        if name == num.CAPTION:
            self._clear_stack_back_to(num.TABLE, 0)
            self._insert_marker()
            self._insert(name, t)
            self.mode = num.IN_CAPTION
        elif name == num.COLGROUP or name == num.COL:
            self._clear_stack_back_to(num.TABLE, 0)
            self._insert(num.COLGROUP, t if name == num.COLGROUP else -1)
            self.mode = num.IN_COLUMN_GROUP
            return name == num.COL
        elif self._flags(name) & (num.ROW_GROUP | num.ROW | num.CELL):
            self._clear_stack_back_to(num.TABLE, 0)
            self._insert(name if is_group else num.TBODY, t if is_group else -1)
            self.mode = num.IN_TABLE_BODY
            return not is_group
        elif name == num.TABLE:
            if self._is_in_scope(num.TABLE, 0, num.TABLE_SCOPE):
                self._pop_until(num.TABLE)
                self._reset_insertion_mode()
                return True
        elif name == num.SCRIPT or name == num.STYLE or name == num.TEMPLATE:
            self._start_in_head(name, t)
        elif name == num.INPUT and self._is_hidden(t):
            self._add(name, t)
        elif name == num.FORM:
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
        span: bytes = self.buffer[self.tokens[t, num.TOKEN_START] : self.tokens[t, num.TOKEN_END]].lower()
        if b"hidden" not in span:
            return False
        if span.count(b"type") != 1 or not _HIDDEN.search(span):
            self.aside = True
        return True

    @cython.cfunc
    def _start_in_caption(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        if self._flags(name) & num.TABLE_PART:
            return self._close_caption()
        self._start_in_body(name, t)
        return False

    @cython.cfunc
    def _close_caption(self) -> cython.bint:
        if not self._is_in_scope(num.CAPTION, 0, num.TABLE_SCOPE):
            return False
        self._generate_implied_end_tags(0)
        self._pop_until(num.CAPTION)
        self._clear_active_formatting_to_marker()
        self.mode = num.IN_TABLE
        return True

    @cython.cfunc
    def _start_in_column_group(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        if name == num.HTML:
            self._merge_attributes(name, t)
        elif name == num.COL:
            self._add(name, t)
        elif name == num.TEMPLATE:
            self._start_in_head(name, t)
        elif self._current() == num.COLGROUP:
            self._pop()
            self.mode = num.IN_TABLE
            return True
        return False

    @cython.cfunc
    def _start_in_table_body(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        if self._flags(name) & (num.ROW | num.CELL):
            self._clear_stack_back_to(0, num.ROW_GROUP)
            self._insert(num.TR, t if name == num.TR else -1)
            self.mode = num.IN_ROW
            return name != num.TR
        if self._flags(name) & (num.COLUMNS | num.ROW_GROUP):
            if not self._is_in_scope(0, num.ROW_GROUP, num.TABLE_SCOPE):
                return False
            self._clear_stack_back_to(0, num.ROW_GROUP)
            self._pop()
            self.mode = num.IN_TABLE
            return True
        return self._start_in_table(name, t)

    @cython.cfunc
    def _start_in_row(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        if self._flags(name) & num.CELL:
            self._clear_stack_back_to(num.TR, 0)
            self._insert(name, t)
            self.mode = num.IN_CELL
            self._insert_marker()
            return False
        if self._flags(name) & (num.COLUMNS | num.ROW_GROUP | num.ROW):
            return self._close_row()
        return self._start_in_table(name, t)

    @cython.cfunc
    def _close_row(self) -> cython.bint:
        """Ends the row, if there is one; whether there was."""
        if not self._is_in_scope(num.TR, 0, num.TABLE_SCOPE):
            return False
        self._clear_stack_back_to(num.TR, 0)
        self._pop()
        self.mode = num.IN_TABLE_BODY
        return True

    @cython.cfunc
    def _start_in_cell(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        if self._flags(name) & num.TABLE_PART:
            if not self._is_in_scope(0, num.CELL, num.TABLE_SCOPE):
                return False
            self._close_cell()
            return True
        self._start_in_body(name, t)
        return False

    @cython.cfunc
    def _close_cell(self) -> cython.void:
        self._generate_implied_end_tags(0)
        self._clear_stack_back_to(0, num.CELL)
        self._pop()
        self._clear_active_formatting_to_marker()
        self.mode = num.IN_ROW

    @cython.cfunc
    def _start_after_body(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        """In the modes `after body` and `after after body`, whose rules are the same."""
        if name == num.HTML:
            self._merge_attributes(name, t)
            return False
        self.mode = num.IN_BODY
        return True

    @cython.cfunc
    def _reset_insertion_mode(self) -> cython.void:
        """The insertion mode that the open elements ask for (13.2.4.1)."""
        k: cython.int = self.depth - 1
        low: cython.int = self._low(self.depth)
        while k >= low:
            self.steps += 1
            name = self.nodes[self.stack[k], num.NAME]
            if self.is_open[self.stack[k]] >= num.OPEN_TEMPLATE:
                self.mode = self.is_open[self.stack[k]] - num.OPEN_TEMPLATE
            elif name == num.TD or name == num.TH:
                self.mode = num.IN_CELL
            elif name == num.TR:
                self.mode = num.IN_ROW
            elif self._flags(name) & num.ROW_GROUP:
                self.mode = num.IN_TABLE_BODY
            elif name == num.CAPTION:
                self.mode = num.IN_CAPTION
            elif name == num.COLGROUP:
                self.mode = num.IN_COLUMN_GROUP
            elif name == num.TABLE:
                self.mode = num.IN_TABLE
            elif name == num.BODY:
                self.mode = num.IN_BODY
            elif name == num.HEAD and self.leaves_nothing:
                self.mode = num.IN_HEAD
            elif name == num.HTML and self.leaves_nothing:
                self.mode = num.AFTER_HEAD
            else:
                k -= 1
                continue
            return
        self.aside = True
        self.mode = num.IN_BODY

    # --- end tags --------------------------------------------------------------------------------

    @cython.cfunc
    def _end(self, name: cython.int) -> cython.void:
        """An end tag, by the function of the insertion mode: True means to reprocess it in the next mode."""
        again: cython.bint = True
        while again and not self.aside:
            mode = self.mode
            if mode == num.IN_BODY:
                again = self._end_in_body(name)
            elif mode == num.BEFORE_HTML or mode == num.BEFORE_HEAD:
                again = self._end_before_head(name)
            elif mode == num.IN_HEAD:
                again = self._end_in_head(name)
            elif mode == num.IN_HEAD_NOSCRIPT:
                again = self._end_in_head_noscript(name)
            elif mode == num.AFTER_HEAD:
                again = self._end_after_head(name)
            elif mode == num.IN_TABLE:
                again = self._end_in_table(name)
            elif mode == num.IN_CAPTION:
                again = self._end_in_caption(name)
            elif mode == num.IN_COLUMN_GROUP:
                again = self._end_in_column_group(name)
            elif mode == num.IN_TABLE_BODY:
                again = self._end_in_table_body(name)
            elif mode == num.IN_ROW:
                again = self._end_in_row(name)
            elif mode == num.IN_CELL:
                again = self._end_in_cell(name)
            elif mode == num.IN_TEMPLATE:
                again = False
            elif mode == num.AFTER_BODY and name == num.HTML:
                self.mode = num.AFTER_AFTER_BODY
                again = False
            else:  # after body, after after body
                self.mode = num.IN_BODY

    @cython.cfunc
    def _end_before_head(self, name: cython.int) -> cython.bint:
        """In the modes `before html` and `before head`, whose rules are the same."""
        if name != num.HEAD and name != num.BODY and name != num.HTML and name != num.BR:
            return False
        self._anything_else()
        return True

    @cython.cfunc
    def _end_in_head(self, name: cython.int) -> cython.bint:
        if name != num.HEAD and name != num.BODY and name != num.HTML and name != num.BR:
            return False
        self._anything_else()
        return name != num.HEAD

    @cython.cfunc
    def _end_in_head_noscript(self, name: cython.int) -> cython.bint:
        if name != num.NOSCRIPT and name != num.BR:
            return False
        self._anything_else()
        return name == num.BR

    @cython.cfunc
    def _end_after_head(self, name: cython.int) -> cython.bint:
        if name != num.BODY and name != num.HTML and name != num.BR:
            return False
        self._anything_else()
        return True

    @cython.cfunc
    def _end_in_body(self, name: cython.int) -> cython.bint:
        """13.2.6.4.7, by what ENDS says of the element."""
        what: cython.int = self.ends[name] if name > 0 else 0
        if what == num.END_ORDINARY:
            self._any_other_end_tag(name)
        elif what == num.END_BLOCK:
            self._close_in_scope(name, 0)
        elif what == num.END_FORMATTING:
            self._run_adoption_agency(name)
        elif what == num.END_P:
            if not self._p_in_button_scope():
                self._insert(num.P, -1)
            self._close_p()
        elif what == num.END_LI:
            if self._is_in_scope(num.LI, 0, num.LIST_SCOPE):
                self._generate_implied_end_tags(num.LI)
                self._pop_until(num.LI)
        elif what == num.END_DD:
            self._close_in_scope(name, name)
        elif what == num.END_HEADING:
            self._end_heading()
        elif what == num.END_FORM:
            node = self.form
            if self.leaves_nothing and self.templates:
                self._close_in_scope(name, 0)
                return False
            self.form = 0
            if node and self._node_in_scope(node):
                self._generate_implied_end_tags(0)
                self._remove_open(node)
        elif what == num.END_MARKED:
            if self._close_in_scope(name, 0):
                self._clear_active_formatting_to_marker()
        elif what == num.END_BR:
            self._reconstruct_active_formatting()
            self._add(num.BR, -1)
        elif what == num.END_BODY:  # body, html
            if self._is_in_scope(num.BODY, 0, num.SCOPE):
                self.mode = num.AFTER_BODY
                return name == num.HTML
        return False

    @cython.cfunc
    def _end_heading(self) -> cython.void:
        k: cython.int = self.depth - 1
        low: cython.int = self._low(self.depth)
        while k >= low:
            self.steps += 1
            name = self.nodes[self.stack[k], num.NAME]
            if self._flags(name) & num.HEADING:
                self._generate_implied_end_tags(0)
                self._clear_stack_back_to(0, num.HEADING)
                self._pop()
                return
            if self._flags(name) & num.SCOPE:
                return
            k -= 1

    @cython.cfunc
    def _any_other_end_tag(self, name: cython.int) -> cython.void:
        k: cython.int = self.depth - 1
        low: cython.int = self._low(self.depth)
        while k > low:
            self.steps += 1
            found = self.nodes[self.stack[k], num.NAME]
            if found == name:
                self._generate_implied_end_tags(name)
                while self.depth > k:
                    self._pop()
                return
            if self._flags(found) & num.SPECIAL:
                return
            k -= 1

    @cython.cfunc
    def _end_in_table(self, name: cython.int) -> cython.bint:
        if name == num.TABLE:
            if self._is_in_scope(num.TABLE, 0, num.TABLE_SCOPE):
                self._pop_until(num.TABLE)
                self._reset_insertion_mode()
            return False
        if name == num.BODY or name == num.HTML or self._flags(name) & num.TABLE_PART or name == num.TEMPLATE:
            return False
        self.fostering = True
        self._end_in_body(name)
        self.fostering = False
        return False

    @cython.cfunc
    def _end_in_caption(self, name: cython.int) -> cython.bint:
        if name == num.CAPTION:
            self._close_caption()
            return False
        if name == num.TABLE:
            return self._close_caption()
        if name == num.BODY or name == num.HTML or self._flags(name) & num.TABLE_PART:
            return False
        return self._end_in_body(name)

    @cython.cfunc
    def _end_in_column_group(self, name: cython.int) -> cython.bint:
        if name == num.COL or name == num.TEMPLATE or self._current() != num.COLGROUP:
            return False
        self._pop()
        self.mode = num.IN_TABLE
        return name != num.COLGROUP

    @cython.cfunc
    def _end_in_table_body(self, name: cython.int) -> cython.bint:
        if self._flags(name) & num.ROW_GROUP or name == num.TABLE:
            if not (
                self._is_in_scope(0, num.ROW_GROUP, num.TABLE_SCOPE)
                if name == num.TABLE
                else self._is_in_scope(name, 0, num.TABLE_SCOPE)
            ):
                return False
            self._clear_stack_back_to(0, num.ROW_GROUP)
            self._pop()
            self.mode = num.IN_TABLE
            return name == num.TABLE
        return self._end_in_table(name)

    @cython.cfunc
    def _end_in_row(self, name: cython.int) -> cython.bint:
        if name == num.TR:
            self._close_row()
            return False
        if name == num.TABLE:
            return self._close_row()
        if self._flags(name) & num.ROW_GROUP:
            return self._is_in_scope(name, 0, num.TABLE_SCOPE) and self._close_row()
        return self._end_in_table(name)

    @cython.cfunc
    def _end_in_cell(self, name: cython.int) -> cython.bint:
        if name == num.TD or name == num.TH:
            if self._is_in_scope(name, 0, num.TABLE_SCOPE):
                self._generate_implied_end_tags(0)
                self._pop_until(name)
                self._clear_active_formatting_to_marker()
                self.mode = num.IN_ROW
            return False
        if name == num.BODY or name == num.HTML or self._flags(name) & num.COLUMNS:
            return False
        if name == num.TABLE or self._flags(name) & (num.ROW_GROUP | num.ROW):
            if not self._is_in_scope(name, 0, num.TABLE_SCOPE):
                return False
            self._close_cell()
            return True
        return self._end_in_body(name)

    # --- what only `follow` reads -----------------------------------------------------------------

    @cython.cfunc
    @cython.inline
    def _is_in_foreign(self) -> cython.bint:
        """Whether the innermost open element belongs to a drawing or formula and holds no HTML."""
        return self.depth > 0 and self.is_open[self.stack[self.depth - 1]] == num.OPEN_FOREIGN

    @cython.cfunc
    def _insert_foreign(self, name: cython.int, t: cython.Py_ssize_t) -> cython.void:
        """An element of a drawing or formula, under a name that no element of HTML has."""
        open_as: cython.int = num.OPEN_FOREIGN
        if name <= 0:
            written = self.buffer[
                self.tokens[t, num.TOKEN_NAME_START] : self.tokens[t, num.TOKEN_START]
            ].lower()
            if written in _MATHML_INTEGRATION_POINTS:
                name = 2 * _HOLDER + _MATHML_INTEGRATION_POINTS.index(written)
                open_as = num.OPEN_HOLDER
        elif name in _HTML_INTEGRATION_POINTS:
            name = _HOLDER - name
            open_as = num.OPEN_HOLDER
        elif name != num.SVG:
            name = -name
        self.is_open[self._insert(name, t)] = open_as
        if self.tokens[t, num.TOKEN_FLAGS] & num.CLOSED:
            self._pop()

    @cython.cfunc
    def _start_in_foreign(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        """A start tag in a drawing or formula; False: one of HTML, which has ended it."""
        ends: cython.bint = (self._flags(name) & num.ENDS_DRAWING) != 0
        if name == num.FONT:
            ends = (
                _OF_FONT.search(self.buffer[self.tokens[t, num.TOKEN_START] : self.tokens[t, num.TOKEN_END]])
                is not None
            )
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
        foreign: cython.int = name if name <= 0 or name == num.SVG else -name
        holder: cython.int = _HOLDER - name
        if name == num.TEMPLATE and (k < 0 or self.is_open[self.stack[k]] != num.OPEN_FOREIGN):
            self._end_template()
            return
        if k >= 0 and self.is_open[self.stack[k]] in (num.OPEN_FOREIGN, num.OPEN_HOLDER):
            if name <= 0:
                written = _NAME_END.split(
                    self.buffer[self.tokens[t, num.TOKEN_NAME_START] : self.tokens[t, num.TOKEN_END]], 1
                )[0].lower()
                if written in _MATHML_INTEGRATION_POINTS:
                    holder = 2 * _HOLDER + _MATHML_INTEGRATION_POINTS.index(written)
            if name == num.P or name == num.BR:
                while self._is_in_foreign():
                    self._pop()
                k = -1
            while k >= low and self.is_open[self.stack[k]] in (num.OPEN_FOREIGN, num.OPEN_HOLDER):
                self.steps += 1
                if self.nodes[self.stack[k], num.NAME] in (foreign, holder):
                    while self.depth > k:
                        self._pop()
                    return
                k -= 1
        self._end(name)

    @cython.cfunc
    def _start_in_template(self, name: cython.int, t: cython.Py_ssize_t) -> cython.bint:
        if self._flags(name) & num.HEAD_CONTENT:
            self._start_in_head(name, t)
            return False
        if name == num.COL:
            self.mode = num.IN_COLUMN_GROUP
        elif name == num.TR:
            self.mode = num.IN_TABLE_BODY
        elif name == num.TD or name == num.TH:
            self.mode = num.IN_ROW
        elif self._flags(name) & (num.COLUMNS | num.ROW_GROUP):
            self.mode = num.IN_TABLE
        else:
            self.mode = num.IN_BODY
        self.is_open[self.stack[self.depth - 1]] = num.OPEN_TEMPLATE + self.mode
        return True

    @cython.cfunc
    def _end_template(self) -> cython.void:
        if not self.templates:
            return
        self._pop_until(num.TEMPLATE)
        self._clear_active_formatting_to_marker()
        self.templates -= 1
        self._reset_insertion_mode()

    @cython.cfunc
    def _start_rare(self, name: cython.int, t: cython.Py_ssize_t) -> cython.void:
        """What `build` leaves aside: frames are left out, `xmp` and `plaintext` become a `pre`."""
        if not self.leaves_nothing:
            self.aside = True
        elif name == num.XMP or name == num.PLAINTEXT:
            self._close_p()
            self._reconstruct_active_formatting()
            self._add_raw(self._add(num.PRE, -1), t)
        elif name == num.MATH:
            self._reconstruct_active_formatting()
            self._insert_foreign(name, t)
        elif name == num.KEYGEN:
            self._reconstruct_active_formatting()
            self._add(name, t)
        elif name == num.SELECTEDCONTENT:
            self._reconstruct_active_formatting()
            self._insert(name, t)
