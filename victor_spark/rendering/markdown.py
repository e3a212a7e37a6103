"""The kept content as Markdown: leaves out what is stated elsewhere; `markdown_writer` writes the nodes."""

from itertools import islice
from typing import Final

from victor_spark.html.characters import properties
from victor_spark.kernels import views
from victor_spark.rendering.markdown_writer import Writer
from victor_spark.rendering.names import names
from victor_spark.rendering.num import N_A, N_END, N_OP
from victor_spark.rendering.structure import OP, Structure

_NOTES: Final = frozenset(("notes", "footnotes", "endnotes", "note", "footnote"))
_SEPARATORS: Final = frozenset(("", *"|｜_-–—:·•»«/<>~"))
"""Characters between the title of a page and the name of its site; "" if a heading is the whole title."""
_SHORT: Final = 5
"""A paragraph of one word has fewer nodes than this."""
_LONGEST_JOINED: Final = 10_000  # characters of a listing: longer ones would be copied too often


def markdown(page: Structure, title: str | None) -> str:
    """The kept content of a page as Markdown, without the heading that repeats `title`."""
    nodes = page.nodes
    left_out = [*_title(page, title), *_headings_of_notes(page), *_labels_of_code(page), *_joined_code(page)]
    nodes[N_OP, left_out] = OP["root"]
    return Writer(page, *views(page.points, nodes, properties())).blocks(0, nodes.shape[1])


def _title(page: Structure, title: str | None) -> list[int]:
    """The node of the heading that repeats the page's title, if there is one."""
    for node in islice(page.children(-1), 12 if title else 0):
        if title and page.nodes.item(N_OP, node) == OP["heading"] and page.nodes.item(N_A, node) <= 2:
            if len(text := page.words(node).lower()) < 2:
                return []
            before, found, after = " ".join(title.lower().split()).partition(text)
            parted = before.rstrip()[-1:] in _SEPARATORS and after.lstrip()[:1] in _SEPARATORS
            return [node] if found and parted else []
    return []


def _headings_of_notes(page: Structure) -> list[int]:
    """The nodes of headings above footnotes, such as "Notes": Markdown shows footnotes without a heading."""
    ops, ends = page.nodes[N_OP], page.nodes[N_END]
    found = []
    for node in (ops == OP["heading"]).nonzero()[0].tolist() if page.footnotes.notes else ():
        after = int(ends[node]) + 1
        inside = ops[after : ends[after] + 1] if after < len(ops) else ops[:0]
        if (inside == OP["footnote"]).any() and page.words(node).lower().rstrip(" :") in _NOTES:
            found.append(node)
    return found


def _labels_of_code(page: Structure) -> list[int]:
    """The nodes of paragraphs that only name the language of the listing below, as its fence does."""
    ops, values, ends = page.nodes[N_OP], page.nodes[N_A], page.nodes[N_END]
    found = []
    for listing in (ops == OP["code"]).nonzero()[0].tolist():
        label = int(values[listing - 1]) if listing else 0
        if (
            ops[listing - 1] == OP["close"]
            and ops[label] == OP["p"]
            and ends[label] - label < _SHORT
            and page.values[values[listing]][0] in names().languages
            and page.words(label).lower().rstrip(":") in names().languages
        ):
            found.append(label)
    return found


def _joined_code(page: Structure) -> list[int]:
    """The nodes of listings of Lean that are joined to the listing below: Verso writes code and output so."""
    is_code, found = page.nodes[N_OP] == OP["code"], []
    for node in (is_code[:-1] & is_code[1:]).nonzero()[0].tolist():
        upper, lower = page.nodes[N_A, node : node + 2].tolist()
        (language, code), (other, output) = page.values[upper], page.values[lower]
        if language == other == "lean" and len(code) < _LONGEST_JOINED:
            page.values[lower] = language, f"{code}\n{output}"
            found.append(node)
    return found
