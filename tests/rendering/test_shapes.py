"""Invented pages as generators of documentation, forums, wikis, blogs and editors write them."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.documents import document

SHAPES = sorted((Path(__file__).parent / "shapes").glob("*.html"))


@pytest.mark.parametrize("path", SHAPES, ids=lambda path: path.stem)
def test_a_page_of_each_kind_of_site_becomes_the_markdown_beside_it(path: Path) -> None:
    source = path.read_text("utf-8")
    page = replace(document(source), markup=source.encode)
    assert page.render("markdown") == path.with_suffix(".md").read_text("utf-8").removesuffix("\n")


WORD = "<p class=MsoListParagraph"
TIDE = "The code below reads the tide of a day."
LINE = f"<p>{TIDE}</p>"
GUTTER = (
    "<div class='cm-gutters'><div class=cm-gutterElement>1</div><div class=cm-gutterElement>2</div></div>"
)


@pytest.mark.parametrize(
    "markup",
    [
        f"{GUTTER}<div class=cm-content><div class=cm-line>f(x):</div><div class=cm-line>  x</div></div>",
        "<div class=view-lines><div>f(x):</div><div>&nbsp; x</div></div>",
        "<div class=ace_content><div class=ace_line>f(x):</div><div class=ace_line>  x</div></div>",
        "<div class=enlighter-code><div><div>f(x):</div></div><div><div>  x</div></div></div>",
        "<p><code>f(x):<br>&nbsp; x</code></p>",
        "<pre><div><span>Python</span></div><div><button>Run</button></div><code>f(x):\n  x</code></pre>",
        "<pre><div>python</div><div class=cm-content><span>f(x):</span><br><span>  x</span></div></pre>",
    ],
)
def test_code_of_editors_and_of_lines_with_breaks_is_a_listing(markup: str) -> None:
    shown = document(LINE + markup + LINE).render("markdown").split("\n\n")[1]
    assert shown.split("\n", 1)[1] == "f(x):\n  x\n```"
    assert shown.startswith("```python" if "ython" in markup else "```\n")


def test_a_formula_without_text_is_apart_from_the_word_behind_it() -> None:
    formula = "<mjx-container data-latex='a_b'><svg></svg></mjx-container>"
    page = document(f"<p>The level {formula} rises, and {formula}.")
    assert page.render("markdown") == "The level $a_b$ rises, and $a_b$."


def test_code_with_a_break_inside_a_sentence_stays_there() -> None:
    assert document("<p>so <code>a<br>b</code> is").render("markdown") == "so `a b` is"


def test_code_of_lean_and_its_output_below_are_one_listing() -> None:
    source = "<code class='hl lean block'>#check\nx</code> <pre class='hl lean'>x : Nat</pre> <pre>y\nz</pre>"
    assert document(source).render("markdown") == "```lean\n#check\nx\nx : Nat\n```\n\n```\ny\nz\n```"


def test_many_listings_of_lean_above_one_another_take_linear_time() -> None:
    """Each listing would otherwise be copied once for each one below it: the longest one is bounded."""
    source = f"<pre class='hl lean'>{'x' * 99}</pre>" * 1000
    written = document(source).render("markdown")
    assert written.count("x" * 99) == 1000
    assert max(map(len, written.split("```lean"))) < 10_300


@pytest.mark.parametrize("name", ["rightside", "hideme", "margin-toggle"])
def test_a_column_with_the_class_of_hidden_links_stays(name: str) -> None:
    page = document(f"<div class={name}><h2>Tides</h2>{LINE}</div><a class={name} href=/>Source</a>{LINE}")
    assert page.render("markdown").split("\n\n") == ["## Tides", TIDE, TIDE]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<dl><dt class=hint>Rope<dd>A line</dl>", "Rope\n\nA line"),
        ("<table><caption class=alert>Tides<tr><th>a<th>b<tr><td>c<td>d</table>", "Tides\n\n| a | b |"),
        ("<details><summary class=notice>More</summary><p>Text</details>", "More\n\nText"),
    ],
)
def test_a_part_of_a_list_or_table_is_no_notice_by_its_class(source: str, expected: str) -> None:
    assert document(source).render("markdown").startswith(expected)


@pytest.mark.parametrize(
    "source", ["<h2 class=math>Unit_2</h2>", "<div class=math>School Work {Friday}</div>"]
)
def test_headings_and_words_with_the_class_math_are_text(source: str) -> None:
    assert "$" not in document(source + LINE).render("markdown")


def test_what_introduces_code_with_numbered_lines_is_shown_with_its_heading() -> None:
    code = "<pre><span class=lineno>1</span>f()\n<span class=lineno>2</span>g()</pre>"
    page = document(f"<div><h2>Use</h2><p>Call it:</p>{code}{LINE}</div>", ["Use", "Call it:"])
    assert page.render("markdown").startswith("## Use\n\nCall it:\n\n```\nf()")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "<ul><li>• a<li>‣ b<li>-5 c<li>- 5 °C<li>– No, said Bob</ul>",
            "- a\n- b\n- -5 c\n- \\- 5 °C\n- – No, said Bob",
        ),
        ("<ul><li><span>•</span> <b>a</b></ul>", "- **a**"),
        ("<ol><li><span>(ii)</span> <p>a</p><li><b>Yes.</b> b</ol>", "1. a\n2. **Yes.** b"),
        ("<ul><li><b>1.</b> a<li>•</ul>", "- **1.** a\n- •"),
        (
            "<ol><li><span>J.</span> Smith<li>12. <a>x</a> 1945<li><i>C.</i> a</ol>",
            "1. J. Smith\n2. 12\\. x 1945\n3. *C.* a",
        ),
        (
            f"{WORD} style='mso-list:l0'><span>o</span> a{WORD}><b>I.</b> b",
            "- a\n- **I.** b",
        ),
        ("<pre>go <code>build ./...</code></pre>", "```\ngo build ./...\n```"),
        ('<p>Use role="heading" here.<div role=heading>a</div>', 'Use role="heading" here.\n\n## a'),
        (
            "<table role=grid><caption>x<table><thead><tr><th>a</thead><tr><td>b</table></caption></table>",
            "x\n\n| a |\n| --- |\n| b |",
        ),
        ("<div role=list><div role=listitem>a</div><div role=listitem>b</div></div>", "- a\n- b"),
        ("<div role=listitem><h3>a</h3>b</div>", "### a\n\nb"),
        ("<div role=heading aria-level=4>a</div>b", "#### a\n\nb"),
        ("<div role=heading aria-level=99>a</div>b<h2 role=row>c</h2>", "###### a\n\nb\n\n## c"),
        (
            "<table><thead><tr><th>a</thead><tr><td>b<tr><td>c</table>",
            "| a |\n| --- |\n| b |\n| c |",
        ),
        ("<figure class=callout>💡<p>a</figure>", "> [!NOTE]\n> 💡\n>\n> a"),
        ("<div class='hint hint-warning'>a</div>", "> [!WARNING]\n> a"),
        ("<div class=callout data-callout=danger><p>a</div>", "> [!CAUTION]\n> a"),
        ("<blockquote class='callout tip'><p>a</blockquote>", "> [!TIP]\n> a"),
        ("<div class=NOTE><p>Note</p><p>a</div>", "> [!NOTE]\n> a"),
        ("<div class=tip><p><b>Tip:</b> a</div><p class=note>Note", "> [!TIP]\n> **Tip:** a\n\nNote"),
        ("<div class=note><p>Notes of the pilot</div>", "Notes of the pilot"),
        ("<div class=alert><h4>Note:</h4><p>a</div>", "> [!NOTE]\n> a"),
        ("<details class=warning><summary>Fog</summary><p>a</details>", "> [!WARNING]\n> **Fog**\n>\n> a"),
        ("<details class='alert details'><summary>Fog</summary><p>a</details>", "Fog\n\na"),
        ("<p>x <img src='//latex.codecogs.com/svg.latex?a%5E2&amp;space;b'> y", "x $a^2 b$ y"),
        ("<p>x <img class=tex src='/png?tex=%5Cpi'> y", "x $\\pi$ y"),
    ],
)
def test_lists_headings_tables_and_formulas_without_their_usual_elements(source: str, expected: str) -> None:
    assert document(source).render("markdown") == expected


@pytest.mark.parametrize(
    "source",
    [
        "<p>First<span class=sidenote><sup>1</sup> In calm weather.</span> words.</p>",
        "<p>First<span class=inline-footnote>1<span>In calm weather.</span></span> words.</p>",
        "<p>First<label>1</label><span class=sidenote><sup>1</sup> In calm weather.</span> words.</p>",
        "<p>First<span class=ltx_role_footnote><sup>1</sup><span>In calm weather.</span></span> words.",
        "<p>First<sup>1</sup><span class='x modern-footnotes-footnote__note'>In calm weather.</span> words.",
        "<p>First<sup><a href=#n>1</a></sup> words.</p><ol><li><p id=n>In calm weather.</p></ol>",
        "<p>First<a class=footnote-reference href=#n>1</a> words.</p><dl><dt id=n>1<dd>In calm weather.</dl>",
        (
            "<p>First<a class=footnote-reference href=#n>1</a> words.</p><div id=n>"
            "<span><span>[</span><a href=#r>1</a><span>]</span></span><p>In calm weather.</p></div>"
        ),
    ],
)
def test_a_note_beside_the_line_or_with_brackets_is_a_footnote(source: str) -> None:
    assert document(source).render("markdown") == "First[^1] words.\n\n[^1]: In calm weather."
    assert "In calm weather." in document(source).render("html").partition('<aside id="fn-1"')[2]


def test_references_to_a_bibliography_have_their_own_numbers() -> None:
    text = "<p>See [<a href=#bib.7>7</a>, <a href=#bib.2>2</a>].</p>"
    source = f"{text}<ul><li id=bib.2>[2] Two.<li id=bib.7>[7] Seven.</ul>"
    assert document(source).render("markdown") == ("See \\[[^7], [^2]\\].\n\n[^2]: Two.\n\n[^7]: Seven.")


def test_years_that_lead_to_a_bibliography_are_text_and_names_of_groups_of_notes_are_labels() -> None:
    source = "<p>So it is (Kos, <a href=#bib.b1>2001</a>).</p><ul><li id=bib.b1>Kos (2001): Tides.</ul>"
    assert document(source).render("markdown") == "So it is (Kos, 2001).\n\n- Kos (2001): Tides."
    source = "<p>One<sup><a href=#n1>[<i>note 1</i>]</a></sup>.</p><ol><li id=n1>In calm weather.</ol>"
    assert document(source).render("markdown") == "One[^1].\n\n[^1]: In calm weather."


def test_the_text_after_a_note_that_begins_with_a_quotation_is_shown() -> None:
    source = "<p>See<sup><a href=#n>1</a></sup>.</p><p id=n><q>Calm</q> sea.</p><p>The rest.</p>"
    assert document(source).render("markdown").endswith("[^1]: “Calm” sea.\n\nThe rest.")


def test_items_below_the_deepest_level_keep_their_text() -> None:
    page = document(f"{'<blockquote>' * 30}<ul><li>• a<ul><li>• b{'</blockquote>' * 30}")
    assert page.render("markdown").split()[-1] == "b"


def test_dropped_listings_that_follow_each_other_are_shown_between_kept_text() -> None:
    cells = (
        "<pre>print(1)</pre><div>Out:</div><pre>1</pre><div><pre>print(2)</pre><button>Copy</button></div>"
    )
    dropped = ["print(1)", "Out:", "1", "print(2)", "Copy"]
    page = document(f"<article>{LINE}<div>{cells}</div>{LINE}</article>", dropped)
    assert page.render("markdown").count("```") == 6
    page = document(f"<article>{LINE}<div>{cells}</div></article>", dropped)
    assert page.render("markdown").count("```") == 6, "also at the end of an article"
    foot = f"<div><p>{'Contact us. ' * 20}</p></div>"
    page = document(
        f"<article>{LINE}<div>{cells}{foot}</div></article>", [*dropped, "Contact us. " * 19 + "Contact us."]
    )
    assert "```" not in page.render("markdown")


def test_a_dropped_listing_below_a_title_and_above_a_button_is_shown() -> None:
    listing = "<div><div>Terminal</div><div><pre>cd port</pre><button>Copy</button></div></div>"
    page = document(f"<article>{LINE}{listing}{LINE}</article>", ["Terminal", "cd port", "Copy"])
    assert page.render("markdown").split("\n\n")[1] == "```\ncd port\n```"


def test_a_dropped_listing_in_a_table_with_numbers_of_lines_is_shown_between_kept_text() -> None:
    rows = "".join(
        f"<tr><td class=blob-num data-line-number={n}></td><td class='blob-code'>{line}</td></tr>"
        for n, line in enumerate(("f(x):", "  x"), 1)
    )
    page = document(f"<article>{LINE}<table>{rows}</table>{LINE}</article>", ["f(x):", "x"])
    assert page.render("markdown").split("\n\n")[1] == "```\nf(x):\n  x\n```"


def test_a_data_table_between_kept_text_is_shown_whole_if_little_of_it_is_kept() -> None:
    table = "<table><tr><td>Year<td>Depth<tr><td>2001<td>4<tr><td>2002<td>5</table>"
    page = document(f"<article>{LINE}{table}{LINE}</article>", ["Year", "Depth", "2002", "5"])
    assert "| Year | Depth |" in page.render("markdown")
    rows = "".join(f"<tr><td>Post {n}<td>{'a long title ' * 5}" for n in range(99))
    table = f"<table><tr><td>Subject<td>Title{rows}</table>"
    dropped = ["Subject", "Title", *(f"Post {n}" for n in range(1, 99)), ("a long title " * 5).strip()]
    page = document(f"<article>{LINE}{table}{LINE}</article>", dropped)
    assert "Subject" not in page.render("markdown"), "a long list of pages is not completed"


def test_a_link_around_an_image_in_a_block_is_a_link() -> None:
    image = "<div class=inset><picture><img src=/quay.jpg alt=Quay></picture></div>"
    link = f"<figure><a href=https://a.example/quay>{image}</a><figcaption>The quay</figcaption></figure>"
    shown = document(LINE + link + LINE).render("markdown").split("\n\n")
    assert shown[1:3] == ["[![Quay](/quay.jpg)](https://a.example/quay)", "The quay"]


def test_images_of_a_gallery_with_dropped_captions_are_shown() -> None:
    figure = "<figure><img src=/{0}.jpg alt={0}><figcaption>View {0}</figcaption></figure>"
    gallery = f"<figure>{figure.format('a')}{figure.format('b')}</figure>"
    page = document(f"<article>{LINE}{gallery}{LINE}</article>", ["View a", "View b"])
    assert page.render("markdown").split("\n\n")[1:5] == ["![a](/a.jpg)", "View a", "![b](/b.jpg)", "View b"]


def test_an_image_of_amp_is_an_image() -> None:
    image = "<amp-img src=/quay.jpg width=600 height=400 alt=Quay></amp-img>"
    source = f"<div><p>{TIDE}</p>{image}<p>{TIDE}</p></div><p><b>Old</b> port"
    shown = document(source).render("markdown").split("\n\n")
    assert shown == [TIDE, "![Quay](/quay.jpg)", TIDE, "**Old** port"]
    source = f"<p><math><mi>a</mi></math></p>{source}"
    assert document(source).render("markdown").split("\n\n")[1:] == shown, "also beside formulas"


def test_check_boxes_by_their_role_are_those_of_a_list() -> None:
    box = "<li><span role=checkbox aria-checked={}></span> {}"
    page = document(f"<ul>{box.format('true', 'Dredge')}{box.format('false', 'Paint')}</ul>")
    assert page.render("markdown") == "- [x] Dredge\n- [ ] Paint"


def test_a_dropped_caption_with_the_white_space_of_its_style_is_no_code() -> None:
    caption = "<span style='white-space: pre-wrap'>The port in winter</span>"
    table = f"<table><tr><td><img src=/port.jpg width=320></td></tr><tr><td>{caption}</td></tr></table>"
    page = document(f"<article>{LINE}{table}{LINE}</article>", ["The port in winter"])
    assert "```" not in page.render("markdown")
