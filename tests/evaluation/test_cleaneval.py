"""CleanEval's measures: tokens, and the result for the published example."""

import pytest

from victor_spark.evaluation import cleaneval
from victor_spark.evaluation.measures import Overlap

GOLD = """URL: http://example.org/page

<h>A title
<p>Some words &amp; more
   in two lines
<l>first item
<l>second"""


def test_the_worked_example_of_the_paper_has_its_six_matches() -> None:
    # Lejeune and Zhu (2018), Table 3; their s2 has the characters that are inserted before "totiti".
    assert cleaneval.overlap("totititoti", "tototiti").n_common == 6
    assert cleaneval.matching_blocks("totititoti", "tototiti").tolist() == [[0, 2, 6]]


def test_segments_have_markers_and_words_and_no_url_line() -> None:
    kinds = [(segment.kind, " ".join(segment.words)) for segment in cleaneval.segments(GOLD)]
    assert kinds == [
        ("h", "A title"),
        ("p", "Some words & more in two lines"),
        ("l", "first item"),
        ("l", "second"),
    ]


def test_the_wrapper_and_closing_tags_of_cleaneval_files_are_no_text() -> None:
    wrapped = '<text id="1" title="x">\nURL: http://a.example/\n<P>one</P>\n<p>two\n</text>\n'
    assert cleaneval.tokens(wrapped, labelled=True) == ["<p>", "one", "<p>", "two"]


def test_labels_matter_for_tm_and_not_for_iu_or_to() -> None:
    ours = GOLD.replace("<l>", "<p>")
    labelled = cleaneval.markup_overlap(ours, GOLD, labelled=True)
    assert labelled == {"TM": Overlap(14, 16, 16), "TM-tags": Overlap(2, 4, 4)}
    assert cleaneval.markup_overlap(ours, GOLD, labelled=False) == {
        "IU": Overlap(16, 16, 16),
        "IU-tags": Overlap(4, 4, 4),
    }
    assert cleaneval.text_overlap(ours, GOLD) == {"TO": Overlap(12, 12, 12)}


def test_characters_are_those_of_the_words_with_single_spaces() -> None:
    assert cleaneval.character_overlap("<p>ab   cd", "<p>ab\ncd")["CHA"] == Overlap(5, 5, 5)
    assert cleaneval.character_overlap("<p>abcde", "<p>abcdX")["CHA-4"] == Overlap(1, 2, 2)


def test_returning_everything_need_not_give_full_recall() -> None:
    everything = "<p>b c d <p>menu <p>a"
    assert cleaneval.text_overlap(everything, "<p>a <p>b c d") == {"TO": Overlap(3, 5, 4)}


@pytest.mark.parametrize(
    ("markup", "marked"),
    [
        ("<p>text", True),
        ("URL: x\n<h>title", True),
        ("plain text", False),
        ("<html><body><p>page</p></body></html>", False),
        ("<table><tr><td><p>x", False),
    ],
)
def test_cleaneval_markup_is_distinguished_from_plain_text_and_from_a_dom(markup: str, marked: bool) -> None:
    assert cleaneval.is_marked(markup) is marked


def test_lines_of_plain_text_are_paragraphs_and_survive_the_way_there_and_back() -> None:
    text = "1 < 2 & <p> is a tag\nsecond line"
    assert cleaneval.to_text(cleaneval.from_text(text)) == text
