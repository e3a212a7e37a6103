"""Huge and deep pages cost memory and time in proportion to their size, and lose no text.

No clock is asserted: a step that is quadratic takes many minutes on these and runs into the timeout.
"""

from dataclasses import replace

import pytest

from tests.documents import document
from tests.html.pages import blocks_of, texts_of
from victor_html.elements import MOST_ATTRIBUTES
from victor_html.parse import beyond_budget
from victor_spark.html.canonical import canonical
from victor_spark.html.segment import segment

pytestmark = pytest.mark.timeout(120)


@pytest.mark.parametrize(
    "tag", ["div", "b", "span", "blockquote", "ul><li", "table><tr><td", "x-y", "object"]
)
@pytest.mark.parametrize("depth", [50_000, 100_000])
def test_deep_nesting(tag: str, depth: int) -> None:
    source = f"<p>before</p>{f'<{tag}>' * depth}inside"
    expected = ["before"] if tag == "object" else ["before", "inside"]
    assert texts_of(blocks_of(source)) == expected


def test_deeply_nested_elements_are_all_counted() -> None:
    blocks = blocks_of("a" + "<div>" * 100_000 + "b" + "</div>" * 100_000 + "c")
    assert blocks.depth.tolist() == [2, 100_002, 2]
    assert blocks.n_split_block.tolist()[1:] == [100_000, 100_000]
    assert blocks.div_group.tolist() == [0, 100_000, 0]


def test_iframes_that_nothing_ends() -> None:
    texts = texts_of(blocks_of("<p>before" + "<iframe>" * 500_000 + "<p>after"))
    assert texts == ["before", "after"]


@pytest.mark.parametrize(
    "before",
    [
        "<p ",
        "</p ",
        "<!--a--!><p ",
        "<!--><p ",
        "<titles><p ",
        "<script>'<p '</script><p ",
        "<p/",
        "<a b='>'",
        "<é><a ",
    ],
)
def test_the_attributes_of_a_tag_are_capped(before: str) -> None:
    attributes = " ".join(f"a{number}" for number in range(100_000))
    source = f"<p>before</p>{before}{attributes}>after<i b=c>and</i>more"
    assert beyond_budget(source.encode()) is not None  # the library doesn't get to see it
    html = canonical(source).html
    assert texts_of(segment(html))[-3:] == ["after", "and", "more"]
    assert html.count('=""') <= MOST_ATTRIBUTES
    assert '<i b="c">' in html


@pytest.mark.parametrize(
    "written", ["a{}", "a{}=b", "a{}='b > c'", 'a{}="x"', 'a{}= "x"\n', "a{} = x/y", "a{}=b=c", "A{}\t"]
)
def test_the_first_attributes_stay_however_they_are_written(written: str) -> None:
    attributes = " ".join(written.format(number) for number in range(600))
    html = canonical(f"<p {attributes}>text").html
    assert [f" a{number}=" in html for number in (0, 63, 64, 599)] == [True, True, False, False]
    assert texts_of(segment(html)) == ["text"]


def test_attributes_that_nothing_parts_are_counted() -> None:
    attributes = "".join(f'a{number}="x"' for number in range(600))
    html = canonical(f"<p {attributes}>text").html
    assert (html.count('="x"'), texts_of(segment(html))) == (MOST_ATTRIBUTES, ["text"])


@pytest.mark.parametrize(
    "source",
    [
        "{}",
        "< {}",
        "<é {}",
        '<a href=?q="> " {}</a>',
        "<plaintext><a {}",
        "<textarea><a {}</textarea>",
        "<!-- --><3 {}",
        "<p title='a > b'>{}</p>",
        "<a href=/{}".replace("{}", "/".join(["x"] * 600)) + ">{}",
    ],
)
def test_text_that_looks_like_many_attributes_is_kept(source: str) -> None:
    text = "".join(texts_of(blocks_of(source.replace("{}", "word " * 700))))
    assert text.count("word") == 700


@pytest.mark.parametrize("quote", ["'", '"'])
def test_a_huge_attribute(quote: str) -> None:
    html = canonical(f"<p>a</p><img src={quote}data:{'x' * 5_000_000}{quote}><p>b</p>").html
    assert texts_of(segment(html)) == ["a", "b"]
    assert len(html) > 5_000_000


def test_many_blocks_are_all_there() -> None:
    source = "".join(f"<p>Block {number}</p>" for number in range(200_000))
    blocks = blocks_of(source)
    assert texts_of(blocks) == [f"Block {number}" for number in range(200_000)]
    assert blocks.n_digits.tolist() == [len(str(number)) for number in range(200_000)]


def test_many_words_with_their_pronunciation_are_all_there() -> None:
    page = document("<ruby>" + "a<rt>b</rt>" * 600_000)
    assert page.text.count("a") == 600_000
    assert "b" not in page.text


@pytest.mark.parametrize(
    ("unit", "shown"),
    [("10<sup>2</sup> ", "10^2"), ("<q>a</q> ", "“a”"), ("<cite>a</cite>b ", "a b")],
)
def test_many_elements_to_which_browsers_add_something(unit: str, shown: str) -> None:
    page = document(f"<blockquote>{unit * 400_000}</blockquote>")
    assert page.text.count(shown) >= 1
    assert len(page.text) > 400_000


def test_quotes_in_quotes_all_have_their_marks() -> None:
    page = document("<p>" + "<q>x" * 600_000 + "</p><p>" + "<q>" * 200_000 + "y" + "</q>" * 200_000)
    assert [page.text.count(mark) for mark in "“‘”’"] == [400_000] * 4


def test_items_by_role_in_each_other() -> None:
    page = document("<div role=listitem>" * 200_000 + "The ferry" + "<div role=listitem>x" * 200_000)
    assert page.render("markdown").endswith("x")


def test_all_paragraphs_of_a_division_are_in_tei() -> None:
    page = document("<p>The ferry is back in the harbour.</p>" * 400_000)
    assert page.render("tei").count("<p>The ferry") == 400_000


def test_an_image_among_many_candidates() -> None:
    spaces, word, digits = " " * 1_000_000, "x" * 1_000_000, "1" * 1_000_000
    for stated in (f"/a{spaces}b", f"{word} {word} c", f"/a {digits} b", "a," * 500_000 + " b"):
        page = document(f"<p>The ferry</p><img alt=sea srcset='{stated}, /c.png 2x'>", ())
        assert page.render("markdown") == "The ferry\n\n![sea](/c.png)"


def test_a_picture_of_many_images_and_sources() -> None:
    sources = "".join(f"<source srcset='/{number}.webp'>" for number in range(50_000))
    source = f"<p>The ferry</p><picture>{sources}{'<img alt=sea>' * 50_000}</picture>"
    page = replace(document(source), markup=source.encode)
    assert page.render("markdown").count("![sea](/0.webp)") > 1000


def test_a_long_base_is_not_repeated_in_every_address() -> None:
    source = f"<base href='https://e.org/{'b/' * 20_000}'>" + "<a href=c>The ferry</a> " * 2_000
    page = replace(document(source), markup=source.encode)
    assert page.render("markdown").count("[The ferry](c)") == 2_000


@pytest.mark.parametrize(
    "unit",
    [
        "<!--a-->",
        "<!--",
        "<script><!--</script>",
        "<script>",
        "<svg>",
        "<svg><!--</svg>-->",
        "<title>",
        "<xmp>",
        "<",
        "&",
    ],
)
def test_many_oddities_in_a_row(unit: str) -> None:
    texts = texts_of(blocks_of(f"before{unit * 50_000}"))
    assert texts[0].startswith("before")
