"""A document's blocks are a sequence that is made on demand, and columns have one shape and type."""

from collections.abc import Sequence

import numpy as np
import pytest

from tests.documents import document
from tests.html.pages import blocks_of
from victor_spark.blocks import COLUMNS, HEADER, NOT_PER_BLOCK, OTHER, TEXT, Blocks, Scores, labels, no_blocks
from victor_spark.document import Block

PAGE = "<h1>Heading</h1><p>Text <b>of</b> words</p><p>noise</p>"


def test_blocks_of_a_document_say_where_they_are_and_what_they_are() -> None:
    shown = document(PAGE, ["noise"])
    assert [(block.text, block.label) for block in shown.blocks] == [
        ("Heading", "header"),
        ("Text", "text"),
        ("of", "text"),
        ("words", "text"),
        ("noise", "other"),
    ]
    assert all(shown.html[block.start : block.end] == block.text for block in shown.blocks)
    assert shown.blocks[0] == Block(
        shown.html.index("Heading"), shown.html.index("</h1>"), "Heading", "header", 1, 0, 0, "title"
    )
    assert (shown.n_blocks, shown.n_kept_blocks) == (5, 4)


def test_blocks_are_a_sequence() -> None:
    blocks = document(PAGE).blocks
    assert isinstance(blocks, Sequence)
    assert len(blocks) == 5
    assert blocks[-1] == blocks[4] == list(blocks)[4]
    assert blocks[1:4:2] == [blocks[1], blocks[3]]
    assert list(reversed(blocks)) == list(blocks)[::-1]
    assert blocks[2] in blocks
    for row in (5, -6):
        with pytest.raises(IndexError):
            blocks[row]


def test_numbers_of_a_block_are_pythons_own() -> None:
    block = document(PAGE).blocks[0]
    assert {type(value) for value in (block.start, block.end)} == {int}
    assert {type(value) for value in (block.p_header, block.p_text, block.p_other)} == {float}


def test_kept_blocks_are_labelled_by_the_likelier_content_label() -> None:
    probabilities = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.8, 0.1, 0.1]])
    kept = np.array([True, True, True, False])
    assert labels(Scores(probabilities, kept), kept).tolist() == [
        HEADER,
        TEXT,
        TEXT,
        OTHER,
    ]


def columns(blocks: Blocks) -> dict[str, np.ndarray]:
    """All arrays."""
    values = {name: getattr(blocks, name) for name in Blocks.__slots__}
    return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}


def test_no_blocks_has_the_types_of_a_segmented_page() -> None:
    types = [
        {name: column.dtype for name, column in columns(blocks).items()}
        for blocks in (no_blocks(), blocks_of(PAGE), blocks_of(""))
    ]
    assert types[0] == types[1] == types[2]
    assert (len(no_blocks()), no_blocks().text) == (0, "")


def test_every_column_has_a_row_a_block() -> None:
    blocks = blocks_of(PAGE)
    for name, column in columns(blocks).items():
        assert column.shape[-1] == 5 or NOT_PER_BLOCK in COLUMNS[name].notes, name
    assert blocks.points.tolist() == [ord(character) for character in blocks.text]
