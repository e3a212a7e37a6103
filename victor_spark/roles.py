"""The role of each block on its page: title, paragraph, table cell, comment, navigation, …

The role follows from the elements around a block and from the words in their class, id, role and itemprop
(conf/words.toml). It does not depend on the cleaner: `ROLES` to drop or to add are applied to its decision.
"""

import re
from collections.abc import Collection
from typing import Any, Final

import numpy as np

from victor_spark.blocks import CODE, Blocks, Bool, UInt8
from victor_spark.errors import UsageError, choices
from victor_spark.html.tags import BIT, GROUPS, inside, tables
from victor_spark.scripts import WORD_CLASS

ROLES: Final = (
    "paragraph", "list-item", "table-cell", "quote", "date", "byline", "caption", "code", "heading", "title",
    "notice", "comment", "navigation",
)  # fmt: skip
"""If several roles apply to a block, it has the last of them."""

_MAX_DISTANCE: Final = 3
"""The most elements between a block and the ancestor that names its region; for comments, two more."""
_NEAR: Final = 2
_MAX_CELL_WORDS: Final = 50
"""Cells with more words hold the layout of the page, not a table."""
_MAX_LINE_WORDS: Final = 20
"""Longer blocks are neither a byline nor a date."""
_APART: Final = ("consent", "subscribe", "comment", "nav", "crumb")
"""Regions whose headings are not the page's title."""
GROUPS_OF_HEADLINE: Final = ("article", "post", *_APART)
"""The groups of words that `headline` looks at."""
_MIN_SENTENCE_WORDS: Final = 10
_MIN_ARTICLE_WORDS: Final = 80
"""If a page has fewer words in sentences outside its comments, these are the posts of a thread."""
_MAX_TITLE: Final = 1000
"""Characters of the page's title that headings are compared with."""
_MAX_H1: Final = 100
"""The most blocks in h1 that are examined if the page's title names none of them."""
_SEPARATOR: Final = re.compile(r"\s+(?:[|\-–—·»«•/]|::)+\s+|\s*｜\s*")
"""Separators in a page's title between the headline, the section and the site."""
_WITHIN_WORD: Final = re.compile(rf"[^\W_{WORD_CLASS}]{{2}}")
"""Two letters of one word, in scripts that put spaces between words."""
_MAX_WORDS_BETWEEN: Final = 300
"""The most dropped words between a headline and its text: with more, the text is another part of the page."""

_MIN_ENTRIES: Final = 2
_MIN_LINK_LETTERS: Final = 8
_MAX_ENTRY_LETTERS: Final = 200
_MAX_PER_LINK_LETTER: Final = 12
"""An entry with more letters is itself a text: an article among several, a post below its author."""


def check(roles: Collection[str]) -> None:
    """Raises UsageError for a name that is not in ROLES."""
    if unknown := [name for name in roles if name not in ROLES]:
        raise UsageError(f"no role {unknown[0]!r}{choices(unknown[0], ROLES)}")


def roles(blocks: Blocks, title: str | None) -> UInt8:
    """The role of each block as a row of ROLES; `title` is that of the page."""
    found = np.zeros(len(blocks), dtype=np.uint8)
    n_words = blocks.n_words
    of_cells = np.bincount(blocks.td_group, n_words)
    in_cell = (blocks.td_group > 0) & (of_cells[blocks.td_group] <= _MAX_CELL_WORDS)
    is_line = n_words <= _MAX_LINE_WORDS
    comment = _region(blocks.hints, "comment")
    is_prose = (n_words >= _MIN_SENTENCE_WORDS) & ~inside(blocks, "a") & (blocks.heading_level == 0)
    if n_words[is_prose & ~comment].sum() < _MIN_ARTICLE_WORDS:
        comment[:] = False
    dated = (blocks.hints[GROUPS.index("meta")] <= _NEAR) & (blocks.n_num_tokens + blocks.n_mix_tokens > 0)
    of_roles = {
        "list-item": blocks.in_list_item > 0,
        "table-cell": in_cell,
        "quote": inside(blocks, "blockquote"),
        "date": (inside(blocks, "time") | dated) & is_line,
        "byline": (inside(blocks, "address") | _region(blocks.hints, "byline")) & is_line,
        "caption": inside(blocks, "figcaption") | (blocks.tag == tables().names.index("caption")),
        "code": blocks.white_space == CODE,
        "heading": blocks.heading_level > 0,
        "title": _title(blocks, title)[0],
        "notice": _region(blocks.hints, "consent") | _region(blocks.hints, "subscribe"),
        "comment": comment,
        "navigation": inside(blocks, "nav") | _region(blocks.hints, "nav") | _region(blocks.hints, "crumb"),
    }
    for number, name in enumerate(ROLES[1:], 1):
        found[of_roles[name]] = number
    return found


def chosen(
    blocks: Blocks, title: str | None, kept: Bool, *, without: Collection[str], including: Collection[str]
) -> Bool:
    """The kept blocks without those of the roles `without`, plus all blocks of the roles `including`."""
    names = np.array(ROLES)[roles(blocks, title)]
    return (kept & ~np.isin(names, tuple(without))) | np.isin(names, tuple(including))


def headline(blocks: Blocks, kept: Bool) -> Bool:
    """The blocks of the page's headline: its title, if most kept text follows closely and does not repeat it.

    An h1 that is not in the page's title is no headline if a kept heading lies between: it names the site.
    """
    found = np.zeros(len(blocks), dtype=bool)
    is_heading = blocks.heading_level > 0
    (texts,) = (kept & ~is_heading).nonzero()
    has_words = blocks.n_letters + blocks.n_num_tokens > 0  # no link to the headline itself, such as #
    dropped = is_heading & ~kept & has_words
    if not len(texts) or not dropped[: texts[-1]].any():
        return found
    title, is_named = _title(blocks, blocks.title)
    (rows,) = (title & dropped).nonzero()
    if not len(rows):
        return found
    n_words, end = blocks.n_words, int(rows[-1]) + 1
    after = texts[texts.searchsorted(end) :]
    is_above = len(after) > 0 and 2 * n_words[after].sum() >= n_words[texts].sum() > 0
    if not is_above or n_words[end : after[0]].sum() > _MAX_WORDS_BETWEEN:
        return found
    if is_named or not kept[end : after[0]].any():
        found[rows] = not {*blocks.letters_hash[rows].tolist()} <= {*blocks.letters_hash[kept].tolist()}
    return found


def list_share(blocks: Blocks, kept: Bool) -> float:
    """The share of the kept letters that are in a list of links, such as the teasers of a front page; 0 to 1.

    An entry is a line that begins with a link, and the text up to the next such line, if it is short.
    """
    (rows,) = (kept & (blocks.n_letters > 0)).nonzero()
    letters, is_link = blocks.n_letters[rows], inside(blocks, "a")[rows]
    is_first = np.diff(blocks.paragraph[rows], prepend=-1) != 0
    part = (is_first | np.diff(is_link, prepend=False) | (np.diff(rows, prepend=-1) > 1)).cumsum()
    of_part = np.bincount(part, letters)[part]  # a link may have several blocks
    begins = is_first & is_link & (of_part >= _MIN_LINK_LETTERS)
    if begins.sum() < _MIN_ENTRIES:
        return 0.0
    of_entry = np.bincount(begins.cumsum(), letters)[1:]  # first is what stands above the list
    most = np.minimum(_MAX_ENTRY_LETTERS, _MAX_PER_LINK_LETTER * of_part[begins])
    return float(of_entry[of_entry <= most].sum() / letters.sum())


def _region(hints: UInt8 | list[int], group: str) -> Any:
    """The blocks of a region that is named so and holds no article; `hints`: those of this name's group."""
    distance = hints[GROUPS.index(group)]
    reach = _MAX_DISTANCE + 2 * (group in ("comment", "byline"))
    return (distance <= reach) & (distance <= hints[_ARTICLE]) & (distance <= hints[_POST])


_ARTICLE, _POST = map(GROUPS.index, GROUPS_OF_HEADLINE[:2])


def _title(blocks: Blocks, title: str | None) -> tuple[Bool, bool]:
    """The blocks of the heading that is the page's title, and whether `title` names it; else the only h1.

    This heading is the longest that stands in `title` as whole words and is at least half of `title`, or of a
    part between separators. A heading that ends `title` and is less than half of it is the name of the site.
    """
    of_page = " ".join((title or "").casefold().split())[:_MAX_TITLE]
    parts = _SEPARATOR.split(of_page)
    levels = blocks.heading_level
    (headings,) = levels.nonzero()
    texts = [" ".join(text.casefold().split()) for text in blocks.texts(headings)]
    inside = [one for one in zip(headings.tolist(), texts, strict=True) if one[1] in of_page]
    longest = sorted(inside, key=lambda one: -len(one[1]))
    named = (row for row, text in longest if len(text) > 1 and _is_named(text, of_page, parts))
    chosen = next((row for row in named if not _is_apart(blocks, row)), None)
    is_named = chosen is not None
    if chosen is None:
        in_h1 = headings[levels[headings] == 1][:_MAX_H1]
        highest = [row for row in in_h1.tolist() if not _is_apart(blocks, row)]
        if not highest or (blocks.paragraph[highest] != blocks.paragraph[highest[0]]).any():
            return np.zeros(len(blocks), dtype=bool), False
        chosen = highest[0]
    return (blocks.paragraph == blocks.paragraph[chosen]) & (levels == levels[chosen]), is_named


def _is_named(heading: str, title: str, parts: list[str]) -> bool:
    """Whether a page's title contains a heading; all in lower case, `parts` are those of the title."""
    first = title.find(heading)
    if first < 0 or (first + len(heading) == len(title) and 2 * len(heading) < len(title)):
        return False
    if 2 * len(heading) < min((len(part) for part in parts if heading in part), default=len(title)):
        return False
    around = (title[:first][-1:] + heading[0], heading[-1] + title[first + len(heading) :][:1])
    return not any(_WITHIN_WORD.fullmatch(pair) for pair in around)


def _is_apart(blocks: Blocks, row: int) -> bool:
    hints = blocks.hints[:, row].tolist()
    return int(blocks.containers[row]) & BIT["nav"] > 0 or any(_region(hints, group) for group in _APART)
