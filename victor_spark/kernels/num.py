"""The numbers that kernels share, by name: rows of columns and features, flags, classes of characters.

Kernels take them from here uncompiled. Compiled, they are constants of C: setup.py writes them to num.pxd,
with the types of arrays that kernels only read (num.Ints, num.IntRows, …: victor_html.num.ARRAYS).
"""

from collections.abc import Iterable
from functools import partial
from typing import Final, NamedTuple

from victor_html import elements
from victor_html import num as parser
from victor_spark import blocks, scripts

FNV_SEED, FNV_PRIME = elements.FNV_SEED, elements.FNV_PRIME
FNV_64_SEED, FNV_64_PRIME = 0xCBF29CE484222325, 0x100000001B3
"""Of the hash FNV-1a of 32 and of 64 bits."""
GOLDEN, MIXER = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
"""Odd numbers: to multiply by one spreads a number over the higher bits. GOLDEN: 2**64 / the golden ratio."""
ALL_64_BITS: Final = 0xFFFFFFFFFFFFFFFF
OTHER, LETTER, DIGIT, PUNCTUATION, WHITE = range(5)
"""Classes of characters: the low three bits of their properties (CLASS_MASK). Flags stand above them."""
CLASS_MASK: Final = 7
UPPER: Final = 8
"""An upper- or title-case letter, or one without case: what a sentence may begin with."""
SENTENCE_END: Final = 16
UNSPACED: Final = 32
"""A letter of a script written without spaces between words (scripts.UNSPACED)."""
CLOSING: Final = 64
"""Closing quotes and brackets, which may follow a sentence's end mark."""
GREEK: Final = 128
N_ASCII: Final = 128
N_CODE_POINTS: Final = 0x110000
LATER_BYTE, FIRST_OF_2, FIRST_OF_3, FIRST_OF_4 = 0x80, 0xC0, 0xE0, 0xF0
"""Of UTF-8: the least byte after a first one, and the least first byte of two, three and four."""
ASSIGNED: Final = 0x33480
"""From here on there are no letters, and no marks except the variation selectors of plane 14."""
FIRST_WIDE: Final = 0x2E80
"""The first Chinese or Japanese character (assemble.is_wide)."""
SMALL: Final = elements.SMALL_LETTER
ENTITIES: Final = ("lt", "amp", "nbsp")
"""The entities that the serialiser writes, and `&gt;`, which is as long as `&lt;`."""
HAN_FIRST, HAN_LAST = scripts.HAN
MORE_HAN_FIRST: Final = scripts.MORE_HAN[0]

TAG_FLAGS: Final = ("void", "block_level", "p", "br", "hr", "div", "td", "skipped", "img", "preformatted")
"""Properties of tags: bit i of a tag's flags stands for TAG_FLAGS[i]."""
STACK: Final = ("tag", "div", "td", "level", "parent_block", "hint_row", "named", "white_space", "listing")
"""The columns of the stack of markup.Scan: an element's tag, and what holds outside of it."""
LOOKS: Final = ("blank", "space", "high", "letter", "doubtful")
"""U+0020; any white space; beyond ASCII, but no typographic sign and no space; a letter or mark; a character
that every word has which ftfy finds bad: an uncommon one, with another high one beside it."""

ELEMENTS_OUTER, ELEMENTS_LAST_INSIDE = ELEMENTS = range(2)
"""Rows of `Blocks.elements`: the block-level element around an element, and the last one inside it."""
NAMED_AROUND, NAMED_END = NAMED_ELEMENTS = range(2)
"""Rows of `Blocks.named_elements`: the named element around one, and the end of its words in `name_words`."""
POINTS_PER_WORD: Final = 4
"""`Blocks.name_words` has room for a word in this many code points of a page; what is beyond is left out."""
NAME_SUMS: Final = ("all", "highest", "lowest", "fading", "innermost")
"""Weights of the named elements around a block: all, the extremes, near ones counting more, the innermost."""
PATH_TAGS, PATH_CLASSES = PATH = range(2)
"""Rows of the hashes of ancestors: `Blocks.path` and `Blocks.class_path`."""
KEPT_START, KEPT_LENGTH, KEPT_N_WORDS = KEPT_VALUE = range(3)
KEPT_GROUPS, KEPT_CLASSES = KEPT_BITS = range(2)
"""Columns of the values that markup.Scan keeps: where one stands, its words; what these say."""

PLACES: Final = ("block", "element", "element_1", "element_2", "element_3", "path", "class")
"""Of a paragraph: its first block, the element it begins in and the three around that, path and class kin."""
SUMS: Final = ("words", "linked", "sentences")
"""Of a paragraph: its words, those in links, its sentences."""
ELEMENT_SUMS: Final = ("words", "linked", "paragraphs", "link_share", "score", "of_best")
"""Of a block-level element: what stands inside it, its score, and that as a share of the best."""
SCRATCH: Final = ("plain", "links", "plain_up_to", "links_up_to", "kin_count", "kin_words", "kin_linked")
"""Of a paragraph: words outside links, share of words in links, running totals; of a kin: paragraphs, words,
words in links."""
RUN_FIRST, RUN_LAST = RUN = range(2)
"""Of a run of paragraphs: the first and the last one."""
TWINS_FIRST, TWINS_COUNT = TWINS = range(2)
"""Of a block: the first one with the same letters; how many there are."""
KEYED_LAYOUT, KEYED_TEXT = KEYED = range(2)
"""What blocks have keys for on a site, whose last bits are these numbers."""
SITE_SUMS: Final = ("n_pages", "log_odds")
EVIDENCE: Final = ("consensus", "n_pages", "share", "repeats")
SITE_PARAMETERS: Final = ("weight", "prior_pages", "doubt", "repeated", "calibration")
"""See victor_spark.sites.evidence: the sums of a site, its evidence for a block, and what weighs it."""
N_PAGE_LEVELS: Final = 65
"""The levels of a number of pages, of 64 bits: 0 for none, 1 for one, 2 from two on, 3 from four on …"""
RATIO_DIV, RATIO_TD = GROUP_RATIOS = range(2)

MASSES: Final = ("content", "words")
"""Of a paragraph: its words that are likely content, and its words."""
GUESS_SCRATCH: Final = ("content_up_to", "words_up_to", "kin_content", "kin_words")
"""Of a paragraph: running totals of `MASSES`; of a kin: their sums."""
GUESS_ELEMENTS: Final = ("content", "words", "content_up_to", "words_up_to")
"""Of a block-level element: `MASSES` inside it, and running totals of them."""
LEVELS: Final = 64
"""Into how many levels probabilities are put: blocks of a level are kept or dropped together."""
MAX_TREE_DEPTH: Final = 16
TREES_AT_ONCE: Final = 4
"""Trees: how deep they are at most, and how many are evaluated together."""
MAX_ORIGINS: Final = 8
"""The most collections with weights (model.weights): those with most pages."""
NO_HINT: Final = 255
"""Of `Blocks.hints`: no element within 254 around the block is named so."""
LONGEST_NGRAM: Final = 5
"""Of the profiles of languages, in characters."""
N_RANKED, RANK_STEP, FARTHEST_RANK, NO_RANK = 400, 4, 100, 201
"""How many n-grams of a text are ranked; what ranks are divided by, to fit a byte. The distance of an n-gram
that a profile does not have (N_RANKED // RANK_STEP), and its rank, which is farther from all others."""
LEAF: Final = 1
"""Of a node of the trie of n-grams: no n-gram goes on from here."""
NOT_COMPOSED: Final = 0x80000000
"""Flag of langid's table of letters: this character may have to be composed first (NFC)."""

# Features in the order of their rows, under their published names.
RATIOS: Final = (
    *(f"char.{kind}-rel" for kind in ("alpha", "num", "punct", "white", "other")),
    *(f"token.{kind}-rel" for kind in ("alpha", "num", "mix", "other")),
    "sentence.avg-length",
    "block.words",
    "block.chars",
    "block.word-length",  # letters per word
    "block.place",  # in its paragraph
    "position",
    "depth.rel",  # to the mean
    "first-duplicate",
    "duplicate-count",
    "div-group.word-ratio",
    "td-group.word-ratio",
)
PARAGRAPH: Final = ("words", "plain", "links", "blocks", "sentences", "position")
WINDOW: Final = ("plain", "links")
KIN: Final = ("count", "words", "links", "share")
SINCE: Final = ("since.heading", "since.h1", "since.long", "until.long")
AROUND: Final = ("words", "links", "share", "score", "paragraphs")
PAGE: Final = ("words", "links", "paragraphs", "long", "longest", "mean", "score")
DOCUMENT: Final = ("word-count", "sentence-count", "block-count", "max-div-group", "max-td-group")
OWN_GUESS: Final = 0
GUESS: Final = ("before", "after", "run", "since", "until")
GUESS_KIN: Final = {"mean": "", "share": "-share", "others": "-others"}
CRF: Final = ("content", "header")
GUESS_PAGE: Final = ("words", "share", "paragraphs", "most", "run", "doubt")

N_AROUND: Final = 4
"""How many block-level elements around a paragraph have features: those in PLACES."""
WORDS_REACH: Final = 3
LINKS_REACH: Final = 2
BLOCK_GUESS_REACH: Final = 2
GUESS_REACH: Final = 4
"""How many neighbours on either side have features: their words, links and guesses."""
WINDOWS: Final = {"near": 2, "middle": 5, "far": 15}
GUESS_WINDOWS: Final = {"near": 3, "middle": 8, "far": 25}
N_WINDOWS: Final = 3
"""Windows: how many paragraphs on either side are in one."""
FARTHEST: Final = 1000
"""The distance of a paragraph or heading that is missing or farther away."""
NO_PARAGRAPH: Final = -1
"""The value for a missing paragraph."""

ANYWHERE, BEGINS_LINE, ENDS_LINE, FILLS_LINES = range(4)
"""Edges of a token or string that are those of a line: bits."""

# Of the kernel `repeats`: open intervals of the LCP array, repeats, and where they stand.
OPEN_FIRST, OPEN_LENGTH, OPEN_KNOWN, OPEN_BEFORE = OPEN = range(4)
REPEAT_FIRST, REPEAT_LAST, REPEAT_LENGTH, REPEAT_DOCUMENTS = REPEAT = range(4)
STANDING_ALL, STANDING_BEGIN, STANDING_END, STANDING_BOTH = range(4)
STANDING_IN_BEGIN, STANDING_IN_END, STANDING_IN_BOTH, STANDING_FIRST = range(4, 8)
N_STANDING: Final = 8

# Work space of the kernel `matching`.
STATE_LENGTH, STATE_LINK, STATE_EDGE, STATE_END = STATE = range(4)
EDGE_SYMBOL, EDGE_TARGET, EDGE_NEXT = EDGE = range(3)
ENDS_A, ENDS_B, ENDS_NEXT, ENDS_LENGTH = ENDS = range(4)
PENDING_A_LOW, PENDING_A_HIGH, PENDING_B_LOW, PENDING_B_HIGH = PENDING = range(4)
FOUND_A, FOUND_B, FOUND_LENGTH = FOUND = range(3)
THRESHOLD_POSITION, THRESHOLD_PAIR = THRESHOLD = range(2)
ALIGNED_ROW, ALIGNED_SCORE, ALIGNED_PAIR = ALIGNED = range(3)


class Stated(NamedTuple):
    """A tag that states something about the page: see kernels.statements."""

    start: int
    end: int
    rank: int
    first: int
    first_end: int
    second: int
    second_end: int


def numbered(prefix: str, names: Iterable[str]) -> dict[str, int]:
    """The names as those of constants, each with its place."""
    constants = (f"{prefix}{name}".upper().replace(".", "_").replace("-", "_") for name in names)
    return {name: place for place, name in enumerate(constants)}


NUMBERS: Final = parser.named(
    {name: value for name, value in vars().items() if isinstance(value, int)},
    {f"TAG_{name.upper()}": 1 << bit for bit, name in enumerate(TAG_FLAGS)},
    numbered("ROW_", blocks.ROWS),
    numbered("LABEL_", blocks.LABELS),
    numbered("", blocks.WHITE_SPACE),
    {f"WIDTH_{name.upper()}": len(f"&{name};") for name in ENTITIES},
    numbered("STACK_", STACK),
    numbered("NAMES_", NAME_SUMS),
    numbered("PLACE_", PLACES),
    numbered("SUM_", SUMS),
    numbered("ELEMENT_", ELEMENT_SUMS),
    numbered("SCRATCH_", SCRATCH),
    numbered("SPAN_", ("most", "cost", "link_cost")),
    numbered("", RATIOS),
    numbered("PARAGRAPH_", PARAGRAPH),
    numbered("WINDOW_", WINDOW),
    {f"WINDOW_{name.upper()}": reach for name, reach in WINDOWS.items()},
    numbered("KIN_", KIN),
    numbered("", SINCE),
    numbered("AROUND_", AROUND),
    numbered("PAGE_", PAGE),
    numbered("DOCUMENT_", DOCUMENT),
    numbered("MASS_", MASSES),
    numbered("GUESS_", GUESS),
    numbered("GUESS_KIN_", GUESS_KIN),
    {f"GUESS_WINDOW_{name.upper()}": reach for name, reach in GUESS_WINDOWS.items()},
    numbered("GUESS_SCRATCH_", GUESS_SCRATCH),
    numbered("GUESS_ELEMENT_", GUESS_ELEMENTS),
    numbered("GUESS_PAGE_", GUESS_PAGE),
    numbered("CONJUNCTION_", ("first_weight", "n_parts", "feature", "offset", "stride")),
    numbered("CRF_", CRF),
    {"N_LABELS": len(blocks.LABELS), "N_PART_COLUMNS": 3, "N_TOKEN_KINDS": 5},
    numbered("DOWN_TO_", ("all", "kept")),
    # Of the kernel `sites`.
    {"N_KEYED": len(KEYED)},
    numbered("MEAN_", ("sum", "weight")),
    numbered("SITE_", SITE_SUMS),
    numbered("EVIDENCE_", EVIDENCE),
    numbered("PARAMETER_", SITE_PARAMETERS),
    # Of the kernel `ngrams`: where fields of a slot and an entry begin, and how wide they are, as masks.
    {"FINGERPRINT_AT": 34, "ENTRIES_AT": 10, "ENTRIES_MASK": 0xFFFFFF, "COUNT_MASK": 1023},
    {"LANGUAGE_AT": 8, "GAIN_MASK": 255, "POINT_MASK": 0x1FFFFF},
    numbered("TOKEN_", ("none", "alpha", "num", "mix", "other")),
    # Of the kernel `statements`: a name that it looks for, and a tag that it found.
    numbered("NAME_", ("letters", "pair", "rank")),
    numbered("STATED_", Stated._fields),
    # Of the kernel `tokens`: the end of one; kinds of characters.
    {"ENDS_TOKEN": 1},
    numbered("VISIT_", ("node", "position")),
    numbered("KEY_", ("one", "two")),
    numbered("", ("between_white", "between_newline", "inside")),
    # Of the kernel `letters`: bits of a character, and what is counted.
    {f"LOOKS_{name.upper()}": 1 << bit for bit, name in enumerate(LOOKS)},
    numbered("CENSUS_", ("replaced", "controls", "high", "read_twice", "begun")),
)
globals().update(NUMBERS, **dict.fromkeys(parser.ARRAYS, memoryview))

check, hashed, place, Vectorised = parser.check, parser.hashed, parser.place, parser.Vectorised
compiled_with = partial(parser.compiled_with, numbers=NUMBERS)


def spread(code: int, key: int) -> int:
    """A hash of 64 bits for tables of codes that a page chooses; `key`: a random number of this process."""
    slot = ((code ^ key) * MIXER) & ALL_64_BITS
    slot = ((slot ^ (slot >> 32)) * key) & ALL_64_BITS
    return (((slot ^ (slot >> 32)) * MIXER) & ALL_64_BITS) >> 32
