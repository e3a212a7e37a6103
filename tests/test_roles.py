"""Roles of blocks follow from elements and names; a cleaner's decision can be changed by role."""

import numpy as np
import pytest

import victor_spark
from victor_spark.errors import UsageError
from victor_spark.html.segment import segment
from victor_spark.roles import ROLES, headline, list_share, roles

SENTENCE = "The ferry to the outer islands leaves from the north pier every morning at seven o'clock. "
ARTICLE = f"<p>{SENTENCE * 3}</p><p>{SENTENCE * 4}</p>"
COMMENT = (
    '<div class="comment"><p>I took it last week and the sea was rough all the way to the pier.</p></div>'
)
PAGE = f"""<html><head><title>Ferries run again - Harbour News</title></head><body>
<nav><a href="/">Home</a></nav><h1>Ferries run again</h1><p class="byline">By Ada Quay</p>
<time>3 May 2026</time>{ARTICLE}<h2>Timetable</h2><ul><li>Monday</li></ul><blockquote>All aboard</blockquote>
<table><tr><td>North pier</td></tr></table><figure><figcaption>The ferry at the pier</figcaption></figure>
<pre>sail --now</pre>{COMMENT}<div class="cookie-consent">We use cookies.</div></body></html>"""


def of(html: str, title: str | None = None) -> dict[str, str]:
    """Text → role."""
    blocks = segment(html)
    bounds = zip(blocks.text_start, blocks.text_end, strict=True)
    texts = [blocks.text[start:end] for start, end in bounds]
    return dict(zip(texts, (ROLES[role] for role in roles(blocks, title)), strict=True))


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("Home", "navigation"),
        ("Ferries run again", "title"),
        ("By Ada Quay", "byline"),
        ("3 May 2026", "date"),
        ("Timetable", "heading"),
        ("Monday", "list-item"),
        ("All aboard", "quote"),
        ("North pier", "table-cell"),
        ("The ferry at the pier", "caption"),
        ("sail --now", "code"),
        ("I took it last week and the sea was rough all the way to the pier.", "comment"),
        ("We use cookies.", "notice"),
        ((SENTENCE * 3).strip(), "paragraph"),
    ],
)
def test_a_block_has_the_role_of_the_elements_and_names_around_it(text: str, role: str) -> None:
    blocks = {block.text: block for block in victor_spark.clean(PAGE).blocks}
    assert blocks[text].role == role


def test_the_posts_of_a_thread_are_no_comments() -> None:
    assert set(of(COMMENT * 30).values()) == {"paragraph"}
    assert "comment" in of(ARTICLE + COMMENT * 30).values()


def test_what_stands_beside_the_name_of_who_posts_is_a_byline() -> None:
    box = '<div class="user-box"><div><dl><dt><a>tall_ship</a></dt><dd>Posts: 1,204</dd></dl></div></div>'
    assert of(f'<div class="post">{box}<p>{SENTENCE}</p></div>' * 2) == {
        "tall_ship": "byline",
        "Posts: 1,204": "byline",
        SENTENCE.strip(): "paragraph",
    }


def test_a_cell_that_lays_out_the_page_is_no_cell_of_a_table() -> None:
    assert set(of(f"<table><tr><td>{ARTICLE}</td></tr></table>").values()) == {"paragraph"}


def test_roles_are_dropped_and_added_whatever_the_cleaner_decides() -> None:
    everything = victor_spark.clean(PAGE, threshold=1.0)
    without = victor_spark.clean(PAGE, threshold=1.0, without="comment, notice")
    assert {"comment", "notice"} <= {block.role for block in everything.blocks}
    kept = {block.role for block in without.blocks if block.label != "other"}
    assert kept == {block.role for block in everything.blocks} - {"comment", "notice"}
    nothing = victor_spark.clean(PAGE, threshold=0.0, including=["title"])
    assert nothing.text == "Ferries run again"


def test_an_unknown_role_is_named_with_a_suggestion() -> None:
    with pytest.raises(UsageError, match=r"no role 'coment'.*comment"):
        victor_spark.clean(PAGE, without="coment")


def test_a_page_without_blocks_has_no_roles() -> None:
    assert roles(segment(""), None).tolist() == []


def kept_headline(html: str) -> list[str]:
    """The headline that is kept where all long paragraphs are."""
    blocks = segment(html)
    added = headline(blocks, (blocks.n_words >= 15) & (blocks.heading_level == 0))
    places = zip(blocks.text_start[added], blocks.text_end[added], strict=True)
    return [blocks.text[start:end] for start, end in places]


TITLE = "<title>Ferries run again - Harbour News</title>"
REVERSED = "<title>Harbour News - Ferries run again</title>"
HEADLINE = "<h1>Ferries run again</h1>"


@pytest.mark.parametrize(
    ("html", "found"),
    [
        (f"{TITLE}{HEADLINE}<p>By Ada Quay</p>{ARTICLE}", ["Ferries run again"]),
        (f"{TITLE}<h1>Ferries <em>run again</em></h1>{ARTICLE}", ["Ferries", "run again"]),
        (f"{TITLE}<h1>Ferries run again <a href=#a>#</a></h1>{ARTICLE}", ["Ferries run again"]),
        (f"{TITLE}<h1>Harbour News</h1><h2>Ferries run again</h2>{ARTICLE}", ["Ferries run again"]),
        (f"{TITLE}<h1>The north pier reopens</h1>{ARTICLE}", ["The north pier reopens"]),
        (f"{TITLE}<h1>Weather</h1><h1>Tides</h1>{ARTICLE}", []),
        (f"{TITLE}<h2>Harbour News</h2>{ARTICLE}", []),
        (f'{TITLE}<div class="cookie-consent">{HEADLINE}<button>Yes</button></div>{ARTICLE}', []),
        (f"{TITLE}<nav>{HEADLINE}</nav>{ARTICLE}", []),
        (f"{TITLE}{HEADLINE}{'<p>Another story</p>' * 200}{ARTICLE}", []),
        (f"{TITLE}{ARTICLE}{HEADLINE}<p>{SENTENCE}</p>", []),
        (f"{TITLE}{HEADLINE}", []),
        (f"{TITLE}{HEADLINE}<p>By Ada Quay</p>", []),
        (ARTICLE, []),
        (f"<title>Harbour News</title><h1>Harbour News</h1>{ARTICLE}", ["Harbour News"]),
        (f"{TITLE}{'<h1>Ferries run again</h1>' * 10_000}{ARTICLE}", []),
        (f"{TITLE}{'<h1>x</h1>' * 10_000}{HEADLINE}{ARTICLE}", ["Ferries run again"]),
        (f"{TITLE}<h3>Ferries</h3><h1>The north pier reopens</h1>{ARTICLE}", ["The north pier reopens"]),
        (f"<title>Votes count</title><h3>Vote</h3>{ARTICLE}", []),
        (f"<title>渡し船が再開 - 港新聞</title><h2>渡し船が再開</h2>{ARTICLE}", ["渡し船が再開"]),
        (f"{REVERSED}<h2>Harbour{'&nbsp; ' * 9}News</h2>{HEADLINE}{ARTICLE}", ["Ferries run again"]),
    ],
    ids=[
        "repeated by the title",
        "in two blocks",
        "with a link to itself",
        "below the site's name",
        "the only h1",
        "two h1 that the title has not",
        "the site's name alone",
        "in a consent box",
        "in the navigation",
        "far from the text",
        "most text is before it",
        "nothing else",
        "no text is kept",
        "no headline",
        "named as the site",
        "a heading 10,000 times",
        "below 10,000 headings",
        "a word of the title",
        "a part of a word of the title",
        "without spaces",
        "longer without white space",
    ],
)
def test_kept_text_has_its_headline(html: str, found: list[str]) -> None:
    assert kept_headline(html) == found


@pytest.mark.parametrize(
    ("title", "heading", "role"),
    [
        ("한국어책", "한국어", "heading"),
        ("한국어 책", "한국어", "title"),
        ("ភាសាខ្មែរងាយ", "ភាសាខ្មែរ", "title"),
        ("ภาษาไทยง่าย", "ภาษาไทย", "title"),
        ("渡船｜港口新聞速報｜港口電子報", "渡船", "title"),
    ],
    ids=[
        *("a part of a Korean word", "a Korean word", "Khmer, without spaces", "Thai, without spaces"),
        "full-width bars",
    ],
)
def test_only_scripts_with_spaces_have_parts_of_words(title: str, heading: str, role: str) -> None:
    assert of(f"<h3>{heading}</h3>{ARTICLE}", title)[heading] == role


def test_the_name_of_the_site_above_a_kept_heading_is_no_headline() -> None:
    blocks = segment(f"<title>A pier opens</title><h1>Harbour News</h1><h2>The pier is open</h2>{ARTICLE}")
    kept = np.arange(len(blocks)) > 0
    assert not headline(blocks, kept).any()


def test_a_headline_that_is_kept_elsewhere_is_not_kept_twice() -> None:
    blocks = segment(f"{TITLE}{HEADLINE}<p>Ferries run again</p>{ARTICLE}")
    kept = np.array([False, True, True, True])
    assert not headline(blocks, kept).any()


def test_the_headline_is_dropped_by_its_role() -> None:
    assert victor_spark.clean(PAGE).text.startswith("Ferries run again\n")
    assert "Ferries run again" not in victor_spark.clean(PAGE, without="title").text
    assert victor_spark.clean(PAGE, prefer="precision").text.startswith("Ferries run again\n")
    assert "Ferries run again" not in victor_spark.clean(PAGE, threshold=0.01).text


def share_of_list(html: str) -> float:
    blocks = segment(html)
    return list_share(blocks, np.ones(len(blocks), dtype=bool))


TEASER = '<h2><a href="/a">The ferry to the outer islands runs again</a></h2><p>After a winter in dock.</p>'
POST = f'<p><a href="/u">tall_ship</a></p><p>{SENTENCE * 2}</p>'


def test_teasers_and_links_are_a_list() -> None:
    assert share_of_list(TEASER * 5) == 1.0
    assert share_of_list('<ul><li><a href="/b">Timetable of the ferries</a> 3 May</li></ul>' * 5) == 1.0
    assert (
        share_of_list('<a href="/c">外の島へ行く船の時刻表です</a><p>冬の間は港で休みます。</p>' * 5) == 1.0
    )


def test_a_link_of_several_blocks_is_one_link() -> None:
    assert share_of_list('<p><a href="/b">1. <b>New</b> timetable of the ferries</a> 3 May</p>' * 5) == 1.0
    assert share_of_list('<p><a href="/b">Boats</a> | <a href="/c">Piers</a></p>' * 5) == 0.0


def test_what_stands_beside_a_list_lowers_its_share() -> None:
    teasers, whole = share_of_list(TEASER * 5 + "<p></p>"), share_of_list(ARTICLE + TEASER * 5)
    assert 0.2 < whole < 0.6 < teasers


def test_posts_articles_and_few_links_are_no_list() -> None:
    assert share_of_list(POST * 10) == 0.0
    assert share_of_list(f'<h2><a href="/a">Ferries run again</a></h2>{ARTICLE}' * 5) == 0.0
    assert share_of_list(TEASER) == 0.0
    assert share_of_list(f'<p>Take <a href="/f">the morning ferry</a>. {SENTENCE}</p>' * 5) == 0.0
    assert list_share(segment(TEASER * 5), np.zeros(10, dtype=bool)) == 0.0


def test_a_page_whose_text_is_a_list_is_dropped_on_request() -> None:
    front = f"<title>Harbour News</title>{TEASER * 12}"
    assert victor_spark.clean(front, threshold=1.0).status == "ok"
    dropped = victor_spark.clean(front, threshold=1.0, max_list_share=0.5)
    assert (dropped.status, dropped.reason) == ("empty", "100% of the text is a list of links")
    assert victor_spark.clean(PAGE, max_list_share=0.5).status == "ok"
