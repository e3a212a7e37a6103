"""Gold text becomes block labels: in order, half of a block's words decide, headings are headers."""

from hypothesis import given
from hypothesis import strategies as st

from victor_spark.blocks import LABELS
from victor_spark.evaluation.labelling import aligned_labels
from victor_spark.html.segment import segment

ARTICLE = "<h1>The bridge is open</h1><p>People walked over it on Sunday, <b>rain</b> or not.</p>"
GOLD = "The bridge is open\nPeople walked over it on Sunday, rain or not."


def labels(body: str, gold: str) -> list[str]:
    blocks = segment(f"<html><head></head><body>{body}</body></html>")
    return [LABELS[row] for row in aligned_labels(blocks, gold)[0]]


def test_heading_text_and_menu_get_their_labels() -> None:
    body = f"<ul><li>Home</li><li>Open positions</li></ul>{ARTICLE}<div>Read also: bridge closed</div>"
    assert labels(body, GOLD) == ["other", "other", "header", "text", "text", "text", "other"]


def test_the_same_words_far_from_the_text_are_not_taken_twice() -> None:
    assert labels(f"{ARTICLE}<p>rain or not</p>", GOLD) == ["header", "text", "text", "text", "other"]


def test_a_block_is_kept_from_half_of_its_words() -> None:
    body = "<p>one two three four five six</p><p>seven eight nine ten</p>"
    assert labels(body, "one two three four five six seven eight") == ["text", "text"]
    assert labels(body, "one two three four five six seven") == ["text", "other"]


def test_blocks_without_words_follow_when_both_neighbours_are_kept() -> None:
    body = "<p>one two three four</p><p>***</p><p>five six seven</p><p>***</p><p>menu</p><p>***</p>"
    expected = ["text", "text", "text", "other", "other", "other"]
    assert labels(body, "one two three four five six seven") == expected


def test_gold_without_text_means_that_nothing_is_content() -> None:
    blocks = segment("<html><body><p>nothing to keep here</p></body></html>")
    labels, found = aligned_labels(blocks, "")
    assert (labels.tolist(), found) == ([2], 1.0)


def test_gold_that_is_not_in_the_page_is_found_to_a_small_share() -> None:
    blocks = segment("<html><body><p>a page about something else</p></body></html>")
    _, found = aligned_labels(blocks, "Rivers, lakes and the sea: where to swim this summer")
    assert found == 0.0


def test_unspaced_scripts_align_by_character() -> None:
    assert labels("<p>首页 新闻</p><p>昨天大桥正式开放。</p>", "昨天大桥正式开放。") == ["other", "text"]


paragraphs = st.lists(
    st.lists(st.sampled_from(["river", "lake", "sea", "swim", "boat"]), min_size=3, max_size=9), max_size=6
)


@given(paragraphs)
def test_a_page_that_is_all_gold_is_kept_whole(texts: list[list[str]]) -> None:
    body = "".join(f"<p>{' '.join(text)}</p>" for text in texts)
    assert labels(body, "\n".join(map(" ".join, texts))) == ["text"] * len(texts)


@given(paragraphs, st.data())
def test_dropped_paragraphs_are_distinguished_from_kept_ones_with_other_words(
    texts: list[list[str]], data: st.DataObject
) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts)))
    shown = [text if keep else ["menu", "login"] for text, keep in zip(texts, kept, strict=True)]
    body = "".join(f"<p>{' '.join(text)}</p>" for text in shown)
    gold = "\n".join(" ".join(text) for text, keep in zip(texts, kept, strict=True) if keep)
    assert labels(body, gold) == ["text" if keep else "other" for keep in kept]
