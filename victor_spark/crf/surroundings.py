"""Features of `victor-2`: what stands around a block. One entry, one feature, by what it is computed for.

They work on paragraphs (runs of blocks without a paragraph break) and block-level elements, computed
once per page and copied to the blocks: link density, text density in windows, the element with the
densest text (the idea of readability), the best run of paragraphs (a maximum-sum span), statistics of
paragraphs with the same ancestors, words of class and id, and overlap with the title.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from victor_spark.crf.features import VICTOR_2008, BlockView, Column, container
from victor_spark.html.tags import BIT, CONTAINERS
from victor_spark.html.words import GROUPS
from victor_spark.page import Float64

_FAR: Final = 1000.0
_SPANS: Final = ((30.0, 3.0, 1.0), (60.0, 8.0, 1.5), (150.0, 15.0, 2.0))
"""Most words that a paragraph counts for, words that it costs, and what a linked word costs."""


@dataclass(frozen=True)
class Surroundings:
    """One page as paragraphs and elements; arrays end in _p (a row a paragraph) or _e (an element)."""

    view: BlockView

    @cached_property
    def starts(self) -> Column:
        """The first block of each paragraph."""
        paragraph = self.view.blocks.paragraph
        return np.flatnonzero(np.diff(paragraph, prepend=paragraph[0] - 1))

    @cached_property
    def of_block(self) -> Column:
        """The paragraph (0, 1, …) of each block."""
        return np.repeat(np.arange(len(self.starts)), np.diff(self.starts, append=len(self.view.blocks)))

    def sum(self, column: Column) -> Column:
        """Sums of a block column over each paragraph."""
        return np.asarray(np.add.reduceat(column, self.starts))

    @cached_property
    def words_p(self) -> Column:
        """Words per paragraph."""
        return self.sum(self.view.n_words).astype(np.float64)

    @cached_property
    def linked_p(self) -> Column:
        """Words in links per paragraph."""
        return self.sum(np.where(container(self.view.blocks, "a"), self.view.n_words, 0)).astype(np.float64)

    @cached_property
    def plain_p(self) -> Column:
        """Words outside links per paragraph."""
        return self.words_p - self.linked_p

    @cached_property
    def element_p(self) -> Column:
        """The block-level element that each paragraph begins in."""
        return self.view.blocks.parent_block[self.starts]

    @cached_property
    def ancestors_p(self) -> tuple[Column, ...]:
        """`element_p`, the block-level element around it, around that, and so on (0: none)."""
        around = self.view.blocks.elements[0]
        own = self.element_p
        return own, around[own], around[around[own]], around[around[around[own]]]

    @cached_property
    def n_elements(self) -> int:
        """One more than the number of the last element that holds a paragraph."""
        return int(self.element_p.max(initial=0)) + 1

    def inside_e(self, column: Column) -> Column:
        """Sums of a paragraph column over everything inside each element."""
        own = np.bincount(self.element_p, weights=column, minlength=self.n_elements)
        total = np.concatenate([[0.0], np.cumsum(own)])
        last = np.minimum(self.view.blocks.elements[1][: self.n_elements], self.n_elements - 1)
        inside = total[last + 1] - total[: self.n_elements]
        inside[0] = total[-1]
        return np.asarray(inside)

    @cached_property
    def words_e(self) -> Column:
        """Words inside each element."""
        return self.inside_e(self.words_p)

    @cached_property
    def linked_e(self) -> Column:
        """Words in links inside each element."""
        return self.inside_e(self.linked_p)

    @cached_property
    def score_e(self) -> Column:
        """How much unlinked text stands right inside each element: a paragraph counts for the element
        around it, half for the next; links inside scale it down."""
        score = np.clip(self.plain_p - 3.0 * self.linked_p - 4.0, 0.0, 80.0)
        near = np.bincount(self.ancestors_p[1], weights=score, minlength=self.n_elements)
        far = np.bincount(self.ancestors_p[2], weights=score, minlength=self.n_elements)
        scores = (near + 0.5 * far)[: self.n_elements]
        scores[0] *= 0.1
        return np.asarray(scores * (1.0 - self.links_e))

    @cached_property
    def links_e(self) -> Column:
        """Share of words in links inside each element."""
        return self.linked_e / np.maximum(self.words_e, 1.0)

    @cached_property
    def share_e(self) -> Column:
        """The share of the page's words inside each element."""
        return np.asarray(self.words_e / max(self.words_e[0], 1.0))

    @cached_property
    def relative_score_e(self) -> Column:
        """`score_e` as a share of the best."""
        return self.score_e / max(float(self.score_e.max()), 1e-9)

    @cached_property
    def paragraphs_e(self) -> Column:
        """Paragraphs inside each element."""
        return self.inside_e(np.ones(len(self.starts)))

    @cached_property
    def best_range(self) -> tuple[int, int]:
        """First and last paragraph inside the element with the highest score."""
        best = int(self.score_e.argmax())
        last = int(self.view.blocks.elements[1][best]) if best else self.n_elements
        inside = np.flatnonzero((self.element_p >= best) & (self.element_p <= last))
        return (int(inside[0]), int(inside[-1])) if len(inside) else (0, len(self.starts) - 1)

    def span(self, setting: int) -> tuple[int, int]:
        """First and last paragraph of the run with the highest sum."""
        most, cost, link_cost = _SPANS[setting]
        values = np.minimum(self.plain_p, most) - cost - link_cost * np.minimum(self.linked_p, most)
        total = np.cumsum(values)
        lowest = np.minimum.accumulate(np.concatenate([[0.0], total[:-1]]))
        last = int((total - lowest).argmax())
        first = int(np.concatenate([[0.0], total[:-1]])[: last + 1].argmin())
        return first, last

    def window(self, column: Column, reach: int) -> Column:
        """Mean of a paragraph column over the `reach` paragraphs to either side and the own one."""
        total = np.concatenate([[0.0], np.cumsum(column)])
        place = np.arange(len(column))
        low, high = np.maximum(place - reach, 0), np.minimum(place + reach + 1, len(column))
        return np.asarray((total[high] - total[low]) / (high - low))

    def shifted(self, column: Column, by: int) -> Column:
        """The column's value `by` paragraphs on; -1 beyond the page."""
        result = np.full(len(column), -1.0)
        if by > 0:
            result[:-by] = column[by:]
        elif len(column) > -by:
            result[-by:] = column[:by]
        return result

    @cached_property
    def density_p(self) -> Column:
        """Share of words in links per paragraph."""
        return self.linked_p / np.maximum(self.words_p, 1.0)

    def kin(self, kind: str) -> Mapping[str, Column]:
        """Statistics of the paragraphs with the same ancestors (`path`) or these and classes."""
        return self._path_kin if kind == "path" else self._class_kin

    @cached_property
    def _path_kin(self) -> Mapping[str, Column]:
        return self._kin(self.view.blocks.path)

    @cached_property
    def _class_kin(self) -> Mapping[str, Column]:
        return self._kin(self.view.blocks.class_path)

    def _kin(self, path: Column) -> Mapping[str, Column]:
        _, group = np.unique(path[self.starts], return_inverse=True)
        n_same = np.bincount(group)
        words = np.bincount(group, weights=self.words_p)
        linked = np.bincount(group, weights=self.linked_p)
        return {
            "count": n_same[group],
            "words": (words / n_same)[group],
            "links": (linked / np.maximum(words, 1.0))[group],
            "share": (words / max(words.sum(), 1.0))[group],
        }

    def since(self, marked: Column) -> Column:
        """Paragraphs since the last marked one; far where there was none."""
        place = np.arange(len(marked))
        last = np.maximum.accumulate(np.where(marked, place, -1))
        return np.asarray(np.where(last < 0, _FAR, place - last))

    @cached_property
    def level_p(self) -> Column:
        """Heading level per paragraph."""
        return self.view.blocks.heading_level[self.starts]

    @cached_property
    def title_share(self) -> Column:
        """Per block, the share of the title that it repeats (0: not part of the title)."""
        blocks = self.view.blocks
        shares = np.zeros(len(blocks))
        title, text = (blocks.title or "").lower(), blocks.text.lower()
        if len(text) != len(blocks.text):  # a letter whose small form is two: offsets would shift
            text = blocks.text
        rows = np.flatnonzero((self.view.n_words > 0) & (self.view.n_chars <= len(title)))
        spans = zip(blocks.text_start[rows].tolist(), blocks.text_end[rows].tolist(), strict=True)
        inside = [text[start:end] in title for start, end in spans]
        shares[rows] = np.where(inside, self.view.n_chars[rows] / max(len(title), 1), 0.0)
        return shares


Feature = Callable[[Surroundings], Column]


def _neighbour(column: Feature, by: int) -> Feature:
    return lambda page: page.shifted(column(page), by)


def _window(column: Feature, reach: int) -> Feature:
    return lambda page: page.window(column(page), reach)


def _kin(kind: str, name: str) -> Feature:
    return lambda page: page.kin(kind)[name]


def _words(page: Surroundings) -> Column:
    return page.words_p


def _density(page: Surroundings) -> Column:
    return page.density_p


def _capped(page: Surroundings) -> Column:
    return np.minimum(page.plain_p, 100.0)


def _distance(place: Callable[[Surroundings], tuple[int, int]]) -> Feature:
    """Paragraphs to a range: negative before it, 0 inside, positive after."""

    def signed(page: Surroundings) -> Column:
        first, last = place(page)
        row = np.arange(len(page.starts))
        return np.where(row < first, row - first, np.where(row > last, row - last, 0))

    return signed


def _range_share(place: Callable[[Surroundings], tuple[int, int]]) -> Callable[[Surroundings], float]:
    """The share of the page's unlinked words inside a range."""

    def share(page: Surroundings) -> float:
        first, last = place(page)
        return float(page.plain_p[first : last + 1].sum() / max(page.plain_p.sum(), 1.0))

    return share


def _span(setting: int) -> Callable[[Surroundings], tuple[int, int]]:
    return lambda page: page.span(setting)


def _best(page: Surroundings) -> tuple[int, int]:
    return page.best_range


OF_BLOCKS: Final[Mapping[str, Feature]] = {
    "heading.level": lambda page: page.view.blocks.heading_level,
    "depth": lambda page: page.view.blocks.depth,
    "depth.rel": lambda page: page.view.blocks.depth - page.view.blocks.depth.mean(),
    "block.words": lambda page: page.view.n_words,
    "block.chars": lambda page: page.view.n_chars,
    "block.word-length": lambda page: page.view.blocks.n_letters / np.maximum(page.view.n_words, 1),
    "block.place": lambda page: np.arange(len(page.of_block)) - page.starts[page.of_block],
    "block.title": lambda page: page.title_share,
}
OF_PARAGRAPHS: Final[Mapping[str, Feature]] = {
    "paragraph.words": _words,
    "paragraph.plain": lambda page: page.plain_p,
    "paragraph.links": _density,
    "paragraph.blocks": lambda page: np.diff(page.starts, append=len(page.view.blocks)),
    "paragraph.sentences": lambda page: page.sum(page.view.blocks.n_sentences),
    "paragraph.position": lambda page: np.arange(len(page.starts)) / len(page.starts),
    **{f"paragraph.words[{by}]": _neighbour(_words, by) for by in (-3, -2, -1, 1, 2, 3)},
    **{f"paragraph.links[{by}]": _neighbour(_density, by) for by in (-2, -1, 1, 2)},
    **{
        f"window.{name}[{reach}]": _window(column, reach)
        for reach in (2, 5, 15)
        for name, column in (("plain", _capped), ("links", _density))
    },
    "best.distance": _distance(_best),
    **{f"span{setting}.distance": _distance(_span(setting)) for setting in range(len(_SPANS))},
    **{
        f"{kind}.{name}": _kin(kind, name)
        for kind in ("path", "class")
        for name in ("count", "words", "links", "share")
    },
    "since.heading": lambda page: page.since(page.level_p > 0),
    "since.h1": lambda page: page.since(page.level_p == 1),
    "since.long": lambda page: page.since(page.plain_p >= 25),
    "until.long": lambda page: page.since((page.plain_p >= 25)[::-1])[::-1],
}
OF_ELEMENTS: Final[Mapping[str, Feature]] = {
    "around.words": lambda page: page.words_e,
    "around.links": lambda page: page.links_e,
    "around.share": lambda page: page.share_e,
    "around.score": lambda page: page.relative_score_e,
    "around.paragraphs": lambda page: page.paragraphs_e,
}
"""Each for the element that a paragraph begins in, [0], and the three around it, [1] to [3]."""
OF_PAGE: Final[Mapping[str, Callable[[Surroundings], float]]] = {
    "best.share": _range_share(_best),
    **{f"span{setting}.share": _range_share(_span(setting)) for setting in range(len(_SPANS))},
    "page.words": lambda page: float(page.words_p.sum()),
    "page.links": lambda page: float(page.linked_p.sum() / max(page.words_p.sum(), 1.0)),
    "page.paragraphs": lambda page: float(len(page.starts)),
    "page.long": lambda page: float((page.plain_p >= 25).sum()),
    "page.longest": lambda page: float(page.plain_p.max()),
    "page.mean": lambda page: float(page.plain_p.mean()),
    "page.score": lambda page: float(page.score_e.max()),
}

_CONTAINERS: Final = tuple(name for name in CONTAINERS if f"container.{name}" not in VICTOR_2008)
_BITS: Final = np.array([BIT[name] for name in _CONTAINERS], dtype=np.uint64)[:, None]
_N_AROUND: Final = 4

NAMES: Final = (
    *(f"container.{name}" for name in _CONTAINERS),
    *(f"hint.{name}" for name in GROUPS),
    *OF_BLOCKS,
    *OF_PARAGRAPHS,
    *(f"{name}[{n}]" for n in range(_N_AROUND) for name in OF_ELEMENTS),
    *OF_PAGE,
)
"""The rows of `matrix`."""


def matrix(view: BlockView) -> Float64:
    """All features of this module at once: shape (len(NAMES), n_blocks); computed once per view."""
    if "surroundings" not in view.derived:
        view.derived["surroundings"] = _matrix(view) if view.blocks.start.size else np.zeros((len(NAMES), 0))
    result: Float64 = view.derived["surroundings"]
    return result


def _matrix(view: BlockView) -> Float64:
    page = Surroundings(view)
    n_blocks = len(view.blocks)
    elements = np.array([feature(page) for feature in OF_ELEMENTS.values()])
    of_paragraphs = [
        np.array([feature(page) for feature in OF_PARAGRAPHS.values()]),
        *(elements[:, around] for around in page.ancestors_p),
    ]
    of_page = np.array([feature(page) for feature in OF_PAGE.values()])
    return np.concatenate(
        [
            (view.blocks.containers & _BITS) != 0,
            view.blocks.hints,
            [feature(page) for feature in OF_BLOCKS.values()],
            np.concatenate(of_paragraphs)[:, page.of_block],
            np.broadcast_to(of_page[:, None], (len(of_page), n_blocks)),
        ],
        dtype=np.float64,
    )
