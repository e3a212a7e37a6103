"""The types that all modules share: Page, Blocks, Scores, and the array types.

Blocks are columns (a struct of arrays), one row per text block: a maximal run of text of the
canonical HTML with no tag inside it (Victor, section 3.1, step 4). All offsets are code points
into the canonical HTML string.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Final, NamedTuple, TypeAlias, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]
UInt16 = npt.NDArray[np.uint16]
UInt32 = npt.NDArray[np.uint32]
UInt64 = npt.NDArray[np.uint64]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

LABELS: Final = ("header", "text", "other")
HEADER, TEXT, OTHER = range(3)

WHITE_SPACE: Final = ("collapsed", "lines", "prose", "code")
"""Values of `Blocks.white_space`. In preformatted text, lines: line breaks count; prose and code: all white
space counts. Elsewhere, collapsed: any white space counts as one space."""
CODE: Final = WHITE_SPACE.index("code")

Scanned = Annotated[Int32, "markup", "row"]
Measured = Annotated[Int32, "content", "row"]
"""The int32 columns that the kernels markup and content fill, each as a row of one array."""
STORED: Final = "stored"
LATER: Final = "later"
AFTERWARDS: Final = "afterwards"
NOT_PER_BLOCK: Final = "not per block"
DECISIVE: Final = "decisive"
"""The note of columns that the second pass of `victor clean --by-site` needs for decisions and plain text."""


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The text blocks of a page as columns, in document order.

    The fields are the table of columns. The columns of kernels (`ROWS`), of pages without text (`zeros`) and
    of Parquet (`STORED`) are derived from the annotations. An annotation names the kernel that fills the
    column, or says that the column is 0 until a later step of `html.segment` (`LATER`) or a step after that
    (`AFTERWARDS`) fills it, or that it does not have a row per block (`NOT_PER_BLOCK`). To add a column, add
    a field here and its computation in the kernel.

    The markup columns describe the place of a block in the page, the text columns its content. `text` is
    the decoded text of all blocks, each followed by a newline (`points`: the same as code points):
    block i is `text[text_start[i]:text_end[i]]` and equals `unescape(html[start[i]:end[i]])`.
    """

    start: Annotated[Scanned, STORED, DECISIVE]
    end: Annotated[Scanned, STORED, DECISIVE]
    text_start: Annotated[Scanned, DECISIVE]
    text_end: Annotated[Scanned, DECISIVE]
    # Markup: bit sets over html.tags.CONTAINERS of the open ancestors; tags since the
    # previous block; ordinals of the innermost div and td (0: none), of the paragraph (block-level
    # tags and two `br` begin one), of the innermost block-level element and the innermost named one.
    containers: Annotated[UInt64, "markup", DECISIVE]
    in_list_item: Annotated[UInt8, "markup"]
    n_split_p: Scanned
    n_split_br: Annotated[Scanned, DECISIVE]
    n_split_hr: Scanned
    n_split_inline: Scanned
    n_split_block: Scanned
    div_group: Scanned
    td_group: Annotated[Scanned, DECISIVE]
    paragraph: Annotated[Scanned, DECISIVE]
    heading_level: Annotated[Scanned, DECISIVE]
    depth: Scanned
    space_before: Annotated[Scanned, DECISIVE]
    tag: Annotated[Scanned, DECISIVE]
    parent_block: Scanned
    named: Scanned
    # Preformatted text: how white space counts (WHITE_SPACE), the ordinal of
    # the listing around the block (0: none), whether the block is no text of its own (the numbers of a
    # listing's lines, a button beside it, how a word is pronounced); the white space between blocks i - 1 and
    # i of a listing is gaps[gap_ends[i - 1]:gap_ends[i]].
    white_space: Annotated[Scanned, DECISIVE]
    listing: Annotated[Scanned, DECISIVE]
    left_out: Annotated[Bool, LATER, DECISIVE]
    gaps: Annotated[UInt32, NOT_PER_BLOCK, DECISIVE]
    gap_ends: Annotated[Int32, LATER, DECISIVE]
    # Hashes of the ancestors' tags, and of their tags and classes; hints[g, i]: how many elements up
    # the nearest ancestor of block i is that a word of html.tags.GROUPS[g] names (255: none);
    # elements[0, e]: the block-level element around block-level element e (0: none), elements[1, e]:
    # the last one inside e (e itself, if none). Named elements have words in class, id, role or itemprop,
    # or are hidden by their own attributes: named_elements[0, e] is the one around e (0: none),
    # named_elements[1, e] the end of its words' hashes in name_words, where those of e + 1 begin.
    path: Annotated[UInt64, "markup"]
    class_path: Annotated[UInt64, "markup", DECISIVE]
    hints: Annotated[UInt8, "markup", DECISIVE]
    elements: Annotated[Int32, NOT_PER_BLOCK]
    named_elements: Annotated[Int32, NOT_PER_BLOCK]
    name_words: Annotated[UInt32, NOT_PER_BLOCK]
    # Which of victor_html.elements.ELEMENTS the source of the page has, 1 or 0: (n_elements,).
    source_elements: Annotated[UInt8, NOT_PER_BLOCK, DECISIVE]
    # Text: characters by class, white-space separated tokens by class, sentences, and a hash of
    # the letters alone.
    n_letters: Annotated[Measured, DECISIVE]
    n_digits: Measured
    n_punctuation: Measured
    n_white: Measured
    n_other: Measured
    n_alpha_tokens: Annotated[Measured, DECISIVE]
    n_num_tokens: Annotated[Measured, DECISIVE]
    n_mix_tokens: Annotated[Measured, DECISIVE]
    n_other_tokens: Measured
    n_sentences: Measured
    sentence_begin: Measured
    sentence_end: Measured
    has_url_mark: Measured
    letters_hash: Annotated[UInt64, "content", DECISIVE]
    # Language (Victor's langid1 and langid2): 0 until the page's language is identified.
    langid1: Annotated[Float32, AFTERWARDS]
    langid2: Annotated[Float32, AFTERWARDS]
    # The share of the block's characters, white space apart, inside templates of the page's site: 0
    # until that is known.
    template_share: Annotated[Float32, AFTERWARDS, STORED]
    points: Annotated[UInt32, NOT_PER_BLOCK]
    text: str
    title: str | None

    def __len__(self) -> int:
        return len(self.start)

    @property
    def n_words(self) -> Int32:
        """Words per block: tokens with a letter or a digit (Victor, section 3.2)."""
        return self.n_alpha_tokens + self.n_num_tokens + self.n_mix_tokens

    def texts(self, rows: npt.NDArray[np.intp] | slice = slice(None)) -> list[str]:
        """The texts of the blocks, or of those in `rows`."""
        text, starts, ends = self.text, self.text_start[rows].tolist(), self.text_end[rows].tolist()
        return [text[start:end] for start, end in zip(starts, ends, strict=True)]


@dataclass(frozen=True, slots=True)
class Page:
    """A page ready for a cleaner: canonical HTML, its blocks, its address, title and language.

    `in_template`: which code points of `blocks.text` templates of its site cover; None without templates.
    """

    html: str
    blocks: Blocks
    url: str | None = None
    title: str | None = None
    language: str | None = None
    in_template: Bool | None = None


@dataclass(frozen=True, slots=True)
class Scores:
    """The result of a cleaner: probabilities and the cleaner's own decision, one row per block.

    `probabilities` has shape (n_blocks, 3), columns as in LABELS, rows summing to 1 (marginal probabilities
    from the CRF, 0/1 from rules). `kept` is the cleaner's own decision. `expected_f1` is the F1 by words that
    the cleaner expects of `kept`, None for cleaners without an estimate. `text` is the own text of a tool
    that yields text only; `kept` are then the blocks that hold it. `headline`: blocks that are kept as the
    page's headline only, None for cleaners that keep none so.
    """

    probabilities: Float64
    kept: Bool
    expected_f1: float | None = None
    text: str | None = None
    headline: Bool | None = None


Cleaner: TypeAlias = Callable[[Page], Scores]
"""Answers one question: which blocks of this page are content?"""


def uniform(n_blocks: int, label: int) -> Scores:
    """Scores that give all blocks one label with probability 1; they are kept unless it is OTHER."""
    probabilities = np.zeros((n_blocks, len(LABELS)))
    probabilities[:, label] = 1.0
    return Scores(probabilities, np.full(n_blocks, label != OTHER))


def by_rule(kept: Bool, headings: Bool, text: str | None = None) -> Scores:
    """Scores of a rule: probability 1 for header or text where `kept`, by `headings`, else for other."""
    chosen = np.where(kept, np.where(headings, HEADER, TEXT), OTHER)
    return Scores(np.eye(len(LABELS))[chosen], kept, text=text)


def labels(scores: Scores, kept: Bool) -> UInt8:
    """A label index per block: the likelier of header and text where kept, else other."""
    content = np.where(scores.probabilities[:, HEADER] > scores.probabilities[:, TEXT], HEADER, TEXT)
    return np.where(kept, content, OTHER).astype(np.uint8)


class Column(NamedTuple):
    """The annotation of a field of `Blocks`: the type of its numbers, and its notes."""

    dtype: np.dtype[Any]
    notes: tuple[str, ...]


def _column(annotation: Any) -> Column:
    """The column that an annotation such as Annotated[Int32, "markup", "row"] describes."""
    array, *notes = get_args(annotation)
    kind = get_args(array)[-1]  # np.dtype[np.int32]; since numpy 2.5 np.int32
    return Column(np.dtype((get_args(kind) or [kind])[0]), tuple(notes))


COLUMNS: Final = {
    name: _column(annotation)
    for name, annotation in get_type_hints(Blocks, include_extras=True).items()
    if name not in ("text", "title")
}
ROWS: Final = tuple(name for name, column in COLUMNS.items() if "row" in column.notes)
"""The columns that kernels fill and read as the rows of one array: kernels.num holds their numbers."""


def zeros(n_blocks: int, *notes: str) -> dict[str, npt.NDArray[Any]]:
    """Zeros for the columns with one of the notes; without any, for all. Columns of one type share them."""
    columns: dict[str, npt.NDArray[Any]] = {}
    for is_per_block, dtype, names in _noted(notes):
        columns |= dict.fromkeys(names, np.zeros(n_blocks * is_per_block, dtype))
    return columns


@cache
def _noted(notes: tuple[str, ...]) -> list[tuple[bool, np.dtype[Any], list[str]]]:
    """The columns that `zeros` makes, by kind: whether they have a row per block, their type, their names."""
    kinds: dict[tuple[bool, np.dtype[Any]], list[str]] = {}
    for name, column in COLUMNS.items():
        if not notes or set(notes) & set(column.notes):
            kinds.setdefault((NOT_PER_BLOCK not in column.notes, column.dtype), []).append(name)
    return [(*kind, names) for kind, names in kinds.items()]


def first_from(starts: Int32, place: int) -> int:
    """The index of the first of the sorted `starts` that is at least `place`."""
    return int(starts.searchsorted(starts.dtype.type(place)))  # for a Python int, numpy would convert all


def unite(starts: Int32, ends: Int32, near: int = 0) -> Int32:
    """Shape (n, 2): the union of intervals, ordered by their starts; those at most `near` apart are one."""
    n, reached = len(starts), np.maximum.accumulate(ends)
    is_apart = starts[1:] - reached[:-1] > near
    first, last = np.append(True, is_apart)[:n], np.append(is_apart, True)[:n]
    return np.stack([starts[first], reached[last]], axis=1).astype(np.int32)


def no_blocks() -> Blocks:
    """The columns of a page without text."""
    return Blocks(**zeros(0), text="", title=None)
