"""Markdown of each kind of structure, and of bad markup."""

import time
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

import victor_spark
from tests.documents import document

LINE = "<p>The ferry left at noon.</p>"


def md(source: str, *, url: str | None = None, **options: bool) -> str:
    page = replace(document(source), url=url, markup=source.encode)
    return page.render("markdown", **options)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<ul><li>a<ol start=3><li>b<li>c</ol><li>d</ul>", "- a\n\n  3. b\n  4. c\n\n- d"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"),
        (
            "<ul><li><input type=checkbox checked> done<li><input type=checkbox> open</ul>",
            "- [x] done\n- [ ] open",
        ),
        ("<ul><li>a</ul><ul><li>b</ul>", "- a\n\n* b"),
        ("<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b"),
        ("<p>a <b>b</b> <i>c</i> <del>d</del> <code>e`f</code></p>", "a **b** *c* ~~d~~ ``e`f``"),
        ("<p>a<b> b </b>c", "a **b** c"),
        ("<p>H<sub>2</sub>O", "H<sub>2</sub>O"),
        ("<h3><b>a</b></h3>", "### a"),
        ("<details><summary>more</summary>text</details>", "more\n\ntext"),
        ("<dl><dt>a<dd>b</dl>", "a\n\nb"),
        ("<p>a<hr><p>b", "a\n\n---\n\nb"),
        ('<h2>Use <a class="headerlink" href="#use">¶</a></h2>', "## Use"),
        ("<h2>Why? <button>Copy link</button></h2>", "## Why?"),
        ("<h2><a href=/y><div>Why</div><div>tides turn</div></a></h2>", "## [Why tides turn](/y)"),
        ("<h2>1. <button>Why?</button></h2>", "## 1. Why?"),
        (
            "<div class='admonition warning'><p class='admonition-title'>Warning</p><p>Hot.</p></div>",
            "> [!WARNING]\n> Hot.",
        ),
        (
            "<div class='markdown-alert markdown-alert-tip'><p class='markdown-alert-title'>Try<p>x</div>",
            "> [!TIP]\n> **Try**\n>\n> x",
        ),
        (
            "<p>See<a href='http://a.b/c'><img src='http://a.b/d.png' alt=e></a>here",
            "See [![e](http://a.b/d.png)](http://a.b/c) here",
        ),
        ("<p>wow!<a href='http://a.b/c'>d</a>", "wow\\![d](http://a.b/c)"),
        ("<p>a | b\n<br>--|--", "a | b  \n\\--|--"),
        (
            "<table><tr><th>a<th>b<tr><td><code style='white-space:pre'>f(<a href=/b>B</a>)</code> is<td>c",
            "| a | b |\n| --- | --- |\n| `f(B)` is | c |",
        ),
        ("<p>Words <code class=latex></code> words", "Words words"),
        (
            "<table><tr><th>a<th>b<tr><td class=codeblock>call()<td class=math>c</table>",
            "| a | b |\n| --- | --- |\n| call() | c |",
        ),
        (
            "<table><tr><th>a<th>b<tr><td><div style='white-space:pre'>call()\nx</div><td>c</table>",
            "| a | b |\n| --- | --- |\n| `call() x` | c |",
        ),
        (
            "<section class=math><h2>Numbers</h2><p>Let <math><mi>n</mi></math> be.</section>",
            "## Numbers\n\nLet $n$ be.",
        ),
        (
            "<dl><dt><a class=permalink href='#v'><code>-v</code></a> <var>file</var><dd>b</dl>",
            "`-v` *file*\n\nb",
        ),
        (
            "<summary class=hideme>Expand</summary>Tide.<div><a class=rightside href=/>Go</a><h4>a()</div>",
            "Tide.\n\n#### a()",
        ),
        ("<p>repeat step <a href='#s2'>2</a></p><ol><li>a<li id=s2>b</ol>", "repeat step 2\n\n1. a\n2. b"),
        (
            "<p>20 cm<sup>2</sup></p><h2>References</h2><ol><li>A<li>B</ol>",
            "20 cm<sup>2</sup>\n\n## References\n\n1. A\n2. B",
        ),
        ("<p>one <img src=http://a.b/nuclear.jpg alt=x> two", "one ![x](http://a.b/nuclear.jpg) two"),
        (
            "<p>a<p><img src=http://a.b/i?u=1><p>b<p><img src=http://a.b/i?u=2>",
            "a\n\n![](http://a.b/i?u=1)\n\nb\n\n![](http://a.b/i?u=2)",
        ),
        ("<pre><button>Run</button><code>a\nb</code></pre>", "```\na\nb\n```"),
        ("<ul><li>a<li><input type=checkbox checked> b</ul>", "- a\n- [x] b"),
        ("<title>How to use Python?</title><h2>Python</h2><p>a", "## Python\n\na"),
        ("<title>Ferries – Harbour News</title><h1>Ferries</h1><p>a", "a"),
        ("<p><a href='&#1;javascript:alert(1)'>one</a>", "one"),
        ("<h2>Net<button>Copy path</button></h2><h2><button>Open?</button></h2>", "## Net\n\n## Open?"),
        ("<h2><b>Question 1:</b> <button>Our prices</button></h2>", "## **Question 1:** Our prices"),
        (
            "<h2>1.<button>Open?</button></h2><h2>Use <a href=#t class=top-link>top</a></h2>",
            "## 1. Open?\n\n## Use",
        ),
        ("<p><a href=#f>§</a><code>mesh</code>, see § 5", "`mesh`, see § 5"),
        ("<ol><li>a</ol><ol start=2><li>b<li>c</ol><ol start=4><li>d</ol>", "1. a\n\n2. b\n3. c\n\n4. d"),
        (
            "<ol><li>a</ol><ol><li>b</ol><ol start=2><li>c</ol><ol start=9><li>d</ol>",
            "1. a\n\n1) b\n\n2) c\n\n9. d",
        ),
        ("<ol><li>a</ol><ul><li>b<li>c<li>d</ul><ol start=2><li>e</ol>", "1. a\n\n* b\n* c\n* d\n\n2. e"),
        ("<div>Code:</div><code>a<br>b</code><br>So it is.", "Code:\n\n```\na\nb\n```\n\nSo it is."),
        ("<div class='kg-card kg-callout-card'><div>Come early.</div></div>", "> [!NOTE]\n> Come early."),
        (
            "<p>See<sup>[<a href=#n>1</a>]</sup>.</p><h2>Footnotes:</h2><ol><li id=n>In fog.</ol>",
            "See[^1].\n\n[^1]: In fog.",
        ),
        (
            "<p>See [<a href=#B1>1</a>].</p><ul><li id=B1><b>1.</b> Kos 2001.</ul>",
            "See \\[[^1]\\].\n\n[^1]: Kos 2001.",
        ),
    ],
)
def test_structure_in_markdown(source: str, expected: str) -> None:
    assert md(source) == expected


def test_links_are_resolved_and_those_that_run_scripts_are_text() -> None:
    source = (
        "<base href='/docs/'><p><a href='a.html?utm_source=x'>a</a> <a href='/b (c)'>b</a> <a href='#d'>d</a>"
        " <a href='java\nscript:x()'>e</a> <a href='data:text/html,x'>f</a> <a href='//g.h/'>g</a>"
    )
    assert md(source, url="https://example.com/x/y") == (
        "[a](https://example.com/docs/a.html?utm_source=x) [b](https://example.com/b%20\\(c\\)) d e f"
        " [g](https://g.h/)"
    )
    assert md(source, links=False) == "a b d e f g"


@pytest.mark.parametrize(
    ("url", "source", "expected"),
    [
        ("http://a.b/c", "<base href='http://[d/'><a href=e>f</a> <a href=/g>h</a>", "[f](http://a.b/e) [h](http://a.b/g)"),
        ("http://[a/b", "<a href=c>d</a> <a href=/e>f</a>", "[d](c) [f](/e)"),
        ("http://a.b/c", "<a href='//[d/e'>f</a>", "[f](//[d/e)"),
        (f"http://a.b/c?d={'e' * 3000}", "<a href=f>g</a> <a href=/h>i</a>", "[g](http://a.b/f) [i](http://a.b/h)"),
        ("http://a.b/c#d", "<a href='c#e'>the same page</a> <a href='f#e'>g</a>", "the same page [g](http://a.b/f#e)"),
        ("http://a.b/c#d", "<a href=http://a.b/c#e>here</a> <a href=http://a.b/c>g</a>", "here [g](http://a.b/c)"),
    ],
)  # fmt: skip
def test_invalid_addresses_do_not_change_and_places_in_the_page_are_no_links(
    url: str, source: str, expected: str
) -> None:
    assert md(source, url=url) == expected


def test_an_empty_line_that_a_style_keeps_ends_a_paragraph() -> None:
    lines = "High tide.\nLow tide.\n\n\nNo tide.\n\n<b>Fog\n\nand rain</b>"
    expected = "High tide.  \nLow tide.\n\nNo tide.\n\n**Fog  \nand rain**"
    for style in ("pre-line", "pre-wrap"):
        assert md(f"<div style='white-space: {style}'>{lines}</div>") == expected
        assert md(f"<h2 style='white-space: {style}'>Fog\n\nand rain</h2>") == "## Fog and rain"


def test_a_row_of_images_is_a_row_of_its_table() -> None:
    images = "<tr><td><td><a href=http://a.b/c><img src=http://a.b/d.jpg alt=e></a>"
    source = f"<table><tr><th>f<th>g<tr><td>h<td>i{images}<tr><td>j<td>k</table>"
    row = "|  | [![e](http://a.b/d.jpg)](http://a.b/c) |"
    assert md(source) == f"| f | g |\n| --- | --- |\n| h | i |\n{row}\n| j | k |"


def test_images_are_shown_beside_kept_text_by_their_best_address() -> None:
    tags = [
        "<img src='data:image/gif;base64,R0' data-src='/lazy.jpg' alt='a [b]'>",
        "<img srcset='/s.png 300w, /l.png 900w'>",
        "<picture><source srcset='/p.webp 2x, /q.webp 1x'><img src='data:image/gif;base64,R0'></picture>",
        "<img src='/pixel.gif' width=1 height=1>",
        "<img src='/icon.png' width=16>",
        "<img src='/s.gif' width=80 height=1>",
        "<img src='/wide.jpg' alt=sea width=80 height=1>",
    ]
    source = f"<div>{LINE}{LINE.join(tags)}{LINE}</div>"
    shown = [line for line in md(source, url="https://e.org/").split("\n\n") if line[0] == "!"]
    assert shown == [
        "![a \\[b\\]](https://e.org/lazy.jpg)",
        "![](https://e.org/l.png)",
        "![](https://e.org/p.webp)",
        "![sea](https://e.org/wide.jpg)",
    ]
    assert "![" not in md(source, images=False)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p>a <img src=/b.png>", "a ![](/b.png)"),
        ("<div><p>a</p><a href=/b><img src=/b.png></a><p>c</div>", "a\n\n[![](/b.png)](/b)\n\nc"),
        (
            "<p>a</p><div><img src=/b.png> <a href=/b><img src=/c.png></a></div>",
            "a\n\n![](/b.png) [![](/c.png)](/b)",
        ),
        ("<div><a href=/b><img src=/b.png></a></div>c", "[![](/b.png)](/b)\n\nc"),
        (
            "<p>a</p><div><a href=/b.png><img src=/c.png></a> <img src=/b.png></div>",
            "a\n\n[![](/c.png)](/b.png)",
        ),
    ],
)
def test_an_image_joins_a_line_only_inside_its_paragraph_and_stands_there_once(
    source: str, expected: str
) -> None:
    assert md(f"{LINE}{source}").removeprefix("The ferry left at noon.\n\n") == expected


@pytest.mark.parametrize(
    "card",
    [
        "<img src=/p.jpg><a href=/boat><h3>Heron</h3></a>",
        "<img src=/p.jpg><a href=/boat><span><h3>Heron</h3></span></a>",
        "<a href=/boat><img src=/p.jpg><h3>Heron</h3></a>",
        "<a href=/boat><picture><img src=/p.jpg></picture><div><div><h3>Heron</h3></div></div></a>",
    ],
)
def test_the_heading_below_an_image_keeps_the_link_around_it(card: str) -> None:
    shown = document(f"{LINE}<div>{card}<p>She sails at six.</p></div>").render("markdown").split("\n\n")
    assert shown[2:] == ["### [Heron](/boat)", "She sails at six."]
    assert shown[1] == ("![](/p.jpg)" if card.startswith("<img") else "[![](/p.jpg)](/boat)")


@pytest.mark.parametrize("before", ["", "<div><img src=http://a.b/p.jpg></div>"])
def test_bold_around_one_paragraph_is_bold(before: str) -> None:
    assert md(f"{before}<b><p>Heron</p></b>").split("\n\n")[-1] == "**Heron**"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<ul><h3>Boats</h3><li>Heron</ul>", ["- ### Boats", "- Heron"]),
        ("<ul><a href=http://a.b/b><h3>Boats</h3></a></ul>", ["- ### [Boats](http://a.b/b)"]),
    ],
)
def test_a_heading_directly_in_a_list_stays_a_heading(source: str, expected: list[str]) -> None:
    assert md(source).split("\n") == expected


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("<div>Late boat</div><div>Heron sails at six</div>", "Late boat Heron sails at six"),
        ("Late boat<p>Heron sails at six", "Late boat Heron sails at six"),
        ("<i>Late boat</i><div><b>Heron</b> sails</div>", "*Late boat* **Heron** sails"),
        ("<a href=http://a.b/b>Late boat</a><div>Heron</div>", "[Late boat](http://a.b/b) Heron"),
        ("<div>Late<b>r</b></div><div>boat</div><span>s</span>", "Late**r** boat s"),
        ("<img src=http://a.b/p.jpg>Late boat", "![](http://a.b/p.jpg)Late boat"),
    ],
)
def test_the_words_of_two_paragraphs_of_a_heading_do_not_run_together(heading: str, expected: str) -> None:
    assert md(f"<p>At the pier.</p><h2>{heading}</h2><p>Fog.") == f"At the pier.\n\n## {expected}\n\nFog."


def test_html_and_tei_separate_the_paragraphs_of_a_heading() -> None:
    page = document("<h2><div>Late boat</div><div>Heron sails</div></h2><p>Fog.")
    assert "<h2>Late boat Heron sails</h2>" in page.render("html")
    assert "<head>Late boat Heron sails</head>" in page.render("tei")


@pytest.mark.parametrize("size", [40, 440])
@pytest.mark.parametrize("link", ["", "<a href=/boat>"])
def test_an_image_of_a_figure_is_shown_with_its_caption_short_or_long_linked_or_not(
    link: str, size: int
) -> None:
    caption = "At the pier. " * (size // 13)
    figure = f"<figure>{link}<img src=/p.jpg><figcaption>{caption}</figcaption></figure>"
    page = document(f"<article>{LINE * 20}{figure}{LINE}</article>", [caption.strip()])
    image = "[![](/p.jpg)](/boat)" if link else "![](/p.jpg)"
    text = f"[{caption.strip()}](/boat)" if link else caption.strip()
    assert page.render("markdown").split("\n\n")[20:22] == [image, text]


def test_words_over_an_image_that_links_to_its_larger_copy_do_not_hide_it() -> None:
    shown = {}
    for address in ("/large/pier.jpeg?v=1", "/article"):
        link = f"<a href='{address}'><img src=/p.jpg><div><span>Enlarge</span></div></a>"
        page = document(f"<article>{LINE}<div>{link}</div>{LINE}</article>", ["Enlarge"])
        shown[address] = page.render("markdown").split("\n\n")[1:-1]
    assert shown == {"/large/pier.jpeg?v=1": ["[![](/p.jpg)](/large/pier.jpeg?v=1)"], "/article": []}


def test_an_image_after_the_caption_of_a_shown_image_is_shown_too() -> None:
    captions = [f"The {name} pier in the evening" for name in ("north", "south", "old")]
    shown = "".join(f"<div class=wp-caption><img src=/{n[4]}.jpg><p>{n}</p></div>" for n in captions)
    page = document(f"<article>{LINE * 4}{shown}{LINE}</article>", captions)
    assert [line for line in page.render("markdown").split("\n\n") if line in captions] == captions
    assert page.render("markdown").count("![](") == 3


def test_the_image_for_browsers_without_scripts_replaces_a_placeholder_only() -> None:
    image = "<img src='{}' alt=a><noscript><img src=/b.png alt=b></noscript>".format
    assert md(f"{LINE}{image('data:,')}{LINE}").split("\n\n")[1] == "![b](/b.png)"
    assert md(f"{LINE}{image('/a.png')}{LINE}").split("\n\n")[1] == "![a](/a.png)"


def test_an_image_in_a_dropped_strip_is_dropped() -> None:
    source = f"<div>{LINE}</div><div><p>Read on</p><img src=/a.png><p>Other news</p></div>"
    assert "a.png" not in document(source, ["Read on", "Other news"]).render("markdown")


def test_a_table_has_a_header_row_and_spans_are_empty_cells() -> None:
    source = (
        "<table><tr><th>Pier<th colspan=2>Boats|day<tr><td rowspan=2>North<td>2<td>Mo<tr><td>3<td>"
        "<p>Tu</p><p>We</p></table>"
    )
    assert md(source) == (
        "| Pier | Boats\\|day |  |\n| --- | --- | --- |\n| North | 2 | Mo |\n|  | 3 | Tu We |"
    )


def test_a_table_that_lays_out_the_page_is_no_table() -> None:
    source = f"<table><tr><td><h2>a</h2>{LINE}<td><ul><li>b</ul></table>"
    assert md(source) == "## a\n\nThe ferry left at noon.\n\n- b"
    rows = "<tr><td colspan=2>a<tr><td>&nbsp;<td>b <img src=c.png><tr><td><td>c"
    assert md(f"<table>{rows}</table>") == "a\n\nb ![](c.png)\n\nc"
    assert md(f"<table>{rows}<tr><td><img src=d.png><td>d</table>").startswith("| a |  |\n| --- | --- |\n")


def test_a_table_of_which_most_is_kept_is_shown_whole() -> None:
    source = f"{LINE}<table><tr><th>a<th>b<tr><td>long enough<td>c</table>"
    assert "| long enough | c |" in document(source, ["c"]).render("markdown")


ROWS = "<tr><th>Pier<th>Boats<tr><td>North<td>2"


@pytest.mark.parametrize("element", [f"<table>{ROWS}</table>", "<pre>Pier\nBoats\nNorth\n2</pre>"])
def test_a_table_or_listing_between_or_after_kept_text_is_shown(element: str) -> None:
    dropped = ["Pier", "Boats", "North", "2", "Pier\nBoats\nNorth\n2"]
    assert "North" in document(f"<div>{LINE}{element}{LINE}</div>", dropped).render("markdown")
    assert "North" in document(f"<div>{LINE}{element}</div>", dropped).render("markdown")
    assert "North" not in document(f"<div>{LINE}</div>{element}", dropped).render("markdown")
    aside = f"<div><p>Most read</p>{element}<p>All about boats and piers</p></div>"
    page = document(f"{LINE}{aside}{LINE}", [*dropped, "Most read", "All about boats and piers"])
    assert "North" not in page.render("markdown")


def test_code_below_its_tool_bar_between_kept_text_is_shown_without_it() -> None:
    code = "<div><div>Shell</div><pre>go(north)\ngo(south)</pre></div>"
    page = document(f"<div>{LINE}{code}{LINE}</div>", ["Shell", "go(north)\ngo(south)"])
    assert page.render("markdown").split("\n\n")[1] == "```\ngo(north)\ngo(south)\n```"
    pair = "<div><div><pre>a pier</pre></div><div><pre>a boat</pre></div></div>"
    assert "boat" not in document(f"{LINE}<div>{pair}</div>", ["a pier", "a boat"]).render("markdown")


def test_a_table_below_the_heading_of_kept_text_is_shown_and_the_heading_with_it() -> None:
    dropped = ["Boats", "Pier", "North", "2"]
    page = document(f"<div><h1>Boats</h1><table>{ROWS}</table>{LINE}</div>", dropped)
    assert page.render("markdown").startswith("## Boats\n\n| Pier | Boats |")


@pytest.mark.parametrize("follows", ["<ul><li>north<li>south</ul>", "<pre>go(north)\ngo(south)</pre>"])
def test_a_paragraph_that_introduces_a_kept_list_or_listing_is_shown(follows: str) -> None:
    source = f"<p>Menu</p><div><h2>Piers</h2><p>The piers are:</p>{follows}</div>"
    shown = document(source, ["Menu", "Piers", "The piers are:"]).render("markdown")
    assert shown.startswith("## Piers\n\nThe piers are:\n\n")
    shown = document(source.replace("are:", "are"), ["Menu", "Piers", "The piers are"]).render("markdown")
    assert "The piers" not in shown
    source = f"<p>Menu</p><div><p>Share:</p>{LINE}</div>"
    assert document(source, ["Menu", "Share:"]).render("markdown") == "The ferry left at noon."


def test_a_picture_without_an_end_ends_where_the_next_one_begins() -> None:
    image = "<img src='data:image/gif;base64,R0'>"
    pictures = [f"<picture><source srcset='/{name}.webp'>{image}" for name in "ab"]
    source = LINE + LINE.join(pictures)
    shown = md(source + LINE, url="https://e.org/")
    assert shown.index("![](https://e.org/a.webp)") < shown.index("![](https://e.org/b.webp)")


def test_the_label_of_an_equation_is_its_tag() -> None:
    label = "<span class=eqno>(3)<a class=headerlink href=#e>¶</a></span>"
    assert md(f"{LINE}<div class=math>{label}\\[x = 1\\]</div>").endswith("$$\nx = 1 \\tag{3}\n$$")


def test_a_table_in_which_latexml_puts_equations_is_a_formula_with_its_label() -> None:
    cell = "<td class=ltx_eqn_cell><math alttext='{}'><mi>a</mi></math></td>".format
    label = "<td><span class='ltx_tag ltx_tag_equation'>(2)</span></td>"
    row = f"<tr class=ltx_eqn_row>{cell('a')}{cell('=b_1')}"
    table = "<table class='ltx_equation ltx_eqn_table'>{}</table>".format
    assert md(f"{LINE}{table(row + label)}").endswith("noon.\n\n$$\na =b_1 \\tag{2}\n$$")
    assert md(f"{LINE}{table(row + row)}").endswith(
        "$$\n\\begin{aligned}a & =b_1 \\\\ a & =b_1\\end{aligned}\n$$"
    )
    assert md(f"{LINE}{table('<tr><td>a<td>b')}").endswith("noon.\n\na\n\nb")


def test_names_of_highlighters_are_no_languages() -> None:
    assert md("<pre class='prism-code language-go'><code>a := 1\nb()</code></pre>").startswith("```go\n")


def test_a_heading_whose_section_has_kept_text_is_shown() -> None:
    page = document(f"<p>Menu</p><section><h3>Times</h3>{LINE}</section>", ["Menu", "Times"])
    assert page.render("markdown") == "### Times\n\nThe ferry left at noon."
    page = document(f"<p>Menu</p><div><h3>Times</h3></div>{LINE}", ["Menu", "Times"])
    assert page.render("markdown") == "The ferry left at noon."


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            (
                "<span class=katex><span class=katex-mathml><math><semantics><mrow><mi>x</mi></mrow>"
                "<annotation encoding='application/x-tex'>x_1&lt;2</annotation></semantics></math></span>"
                "<span class=katex-html aria-hidden=true>x1</span></span>"
            ),
            "$x_1<2$",
        ),
        ("<math><mfrac><mn>1</mn><msqrt><mi>α</mi></msqrt></mfrac></math>", r"$\frac{1}{\sqrt{\alpha}}$"),
        ("<math display=block><msup><mi>x</mi><mn>2</mn></msup></math>", "$$\nx^{2}\n$$"),
        ("<p>so <math display=inline><mi>x</mi></math> is", "so $x$ is"),
        ("<span class='math inline'>\\(a_b\\)</span>", "$a_b$"),
        ("<script type='math/tex'>a_b</script>", "$a_b$"),
        (
            (
                "<mjx-container><mjx-math><mjx-c>x</mjx-c></mjx-math><mjx-assistive-mml><math><msup><mi>x</mi>"
                "<mn>2</mn></msup></math></mjx-assistive-mml></mjx-container>"
            ),
            "$x^{2}$",
        ),
        ("<img class=latex alt='\\sum_i i' src=/f.png>", r"$\sum_i i$"),
        ("<img alt='$x^2$' src=img1.png width=18 height=12>", "$x^2$"),
        ("<img alt='\\begin{displaymath}\na=1\n\\end{displaymath}' src=img2.png>", "$$a=1$$"),
        ("<img alt='from $5 to $9' src=/a.png>", "![from $5 to $9](/a.png)"),
        (
            (
                "<span class=mwe-math-element><math alttext='{\\displaystyle a^{2}}'><mi>a</mi></math>"
                "<img alt='{\\displaystyle a^{2}}' src=/x.svg></span>"
            ),
            "$a^{2}$",
        ),
        (
            (
                "<span class=MathJax id=MathJax-Element-1-Frame><i class=math>a</i><span><math><mi>a</mi>"
                "</math></span></span><script type='math/tex' id=MathJax-Element-1>a_0</script>"
            ),
            "$a_0$",
        ),
        ("<span class=MathJax_SVG data-mathml='&lt;math>&lt;mi>a&lt;/mi>&lt;/math>'></span>", "$a$"),
        ("<mml:math><mml:msup><mml:mi>r</mml:mi><mml:mn>2</mml:mn></mml:msup></mml:math>", "$r^{2}$"),
        ("<span class=ztext-math data-tex='v_{1}'>v_{1}</span>", "$v_{1}$"),
        ("<math alttext='\\displaystyle a_b'><mi>a</mi></math>", "$a_b$"),
        ("<span class='math inline'>a_b</span>", "$a_b$"),
        ("<code class='math math-inline' data-math-style=inline>b^2</code>", "$b^2$"),
        ("<span class=math>d = 14</span>", "d = 14"),
        ("<span class=math>names of harbour_office</span>", "names of harbour\\_office"),
        (
            "\\begin{align*}a_1 &amp;= \\begin{pmatrix}1\\end{pmatrix}\\end{align*}",
            "$$\\begin{align*}a_1 &= \\begin{pmatrix}1\\end{pmatrix}\\end{align*}$$",
        ),
    ],
)
def test_a_formula_is_latex_once_and_not_escaped(source: str, expected: str) -> None:
    assert md(f"<p>so {source}</p>").removeprefix("so").strip() == expected


def test_latex_delimiters_in_text_are_formulas_and_prices_are_not() -> None:
    assert md(r"<p>so \(a_b\) and $x^2$, for $5 or $6_a") == r"so $a_b$ and $x^2$, for $5 or $6\_a"


def test_footnotes_stand_with_their_labels_and_lose_what_leads_back() -> None:
    source = (
        "<p>First<sup><a href='#n1' id=r1>1</a></sup> second<sup><a href='#n2'>2</a></sup>.</p><h3>Notes</h3>"
        "<ol><li id=n1>One note. <a href='#r1'>↩</a></li>"
        "<li id=n2><p>Two notes. <a href='#r2'>↩</a></p></li></ol>"
    )
    assert md(source) == "First[^1] second[^2].\n\n[^1]: One note.\n\n[^2]: Two notes."


@pytest.mark.parametrize(
    ("notes", "expected"),
    [
        ("<p><sup>1</sup> A fog.</p><p><sup>2</sup> A calm.</p>", "[^1]: A fog.\n\n[^2]: A calm."),
        ("<ul><li><sup>1</sup> A fog.<li><sup>2</sup> A calm.</ul>", "[^1]: A fog.\n\n[^2]: A calm."),
        ("<h2>Notes:</h2><ol><li>A fog.<li>A calm.</ol>", "[^1]: A fog.\n\n[^2]: A calm."),
        (
            "<div class=footnotes><ol><li>A fog.<ol><li>Or haze.</ol><li>A calm.</ol></div>",
            "[^1]: A fog.\n\n    1. Or haze.\n\n[^2]: A calm.",
        ),
    ],
)
def test_footnotes_without_links_are_found_by_their_numbers_or_as_a_list(notes: str, expected: str) -> None:
    source = f"<p>First<sup>1</sup> words<sup>2</sup>.</p>{LINE}{notes}"
    assert md(source) == f"First[^1] words[^2].\n\nThe ferry left at noon.\n\n{expected}"


@pytest.mark.parametrize(
    "notes",
    [
        "<h2>Notes</h2><ol><li>A fog.</ol>",
        "<h2>Boats</h2><ol><li>A fog.<li>A calm.</ol>",
        "<table><tr><th>Boat<th>Year<tr><td><sup>1</sup> Heron<td>1874</table>",
        "<table><tr><td><sup>1</sup><td>A fog.<tr><td><sup>2</sup><td>A calm.</table>",
        "<div><sup>1</sup> A fog.</div>",
        "<p><sup>1</sup></p><p>A fog.</p>",
    ],
)
def test_numbers_set_high_without_notes_for_them_stay_what_they_are(notes: str) -> None:
    source = f"<p>First<sup>1</sup> words<sup>2</sup>.</p>{LINE}{notes}"
    assert md(source).startswith("First<sup>1</sup> words<sup>2</sup>.")
    assert "[^" not in md(source)


def test_a_note_stands_below_its_reference_and_has_a_number_of_its_own() -> None:
    reference = "<p>First<sup><a href='#{}'>1</a></sup> words.</p>"
    escaped = f"{reference.format('n%C3%A9')}<ol><li id=né>A fog.</ol>"
    assert md(escaped) == "First[^1] words.\n\n[^1]: A fog."
    above = f"<ol><li id=a>A fog.</ol>{reference.format('a')}"
    assert md(above) == "1. A fog.\n\nFirst<sup>1</sup> words."
    twice = f"{reference.format('a')}{reference.format('b')}<ol><li id=a>A fog.<li id=b>A calm.</ol>"
    assert md(twice).endswith("First[^2] words.\n\n[^1]: A fog.\n\n[^2]: A calm.")
    section = f"{reference.format('a')}<div id=a><h2>Part</h2><p>A fog.</div>"
    assert md(section).startswith("First<sup>1</sup> words.\n\n## Part")
    loose = "<p>First<sup>1</sup> words.</p><p><sup>1</sup> A fog.</p><p><sup>1</sup> A calm.</p>"
    assert md(loose) == "First[^1] words.\n\n[^1]: A fog.\n\n<sup>1</sup> A calm."
    of_three = "<p>First<sup>1</sup> words<sup>3</sup>.</p><h2>Notes</h2><ol><li>a<li>b<li>c</ol>"
    assert "[^" not in md(of_three), "numbers that are not all those of the list"


def test_several_footnotes_in_one_paragraph_begin_where_their_names_stand() -> None:
    source = (
        "<p>First<sup><a href='#a'>1</a></sup> words<sup><a href='#b'>2</a></sup>.</p>"
        "<p><a id=a></a>1. A fog.<br><a id=b></a>2. A calm.</p><p>The end."
    )
    assert md(source) == "First[^1] words[^2].\n\n[^1]: A fog.\n\n[^2]: A calm.\n\nThe end."


def test_a_long_part_of_the_page_is_no_footnote() -> None:
    part = f"<div id=a>{'<p>A <b>calm</b> day.' * 20}</div>"
    assert md(f"<p>First<sup><a href='#a'>1</a></sup> words.</p>{part}").startswith(
        "First<sup>1</sup> words."
    )


def test_what_a_reference_stands_in_is_not_its_footnote() -> None:
    source = "<p>First<sup><a href='#n'>1</a></sup> words.</p><a id=n></a>1 In calm weather.<p>Last.</p>"
    assert md(source) == "First<sup>1</sup> words.\n\n1 In calm weather.\n\nLast."


@pytest.mark.parametrize(
    ("mark", "note", "expected"),
    [
        ("*", "* In calm weather.", "In calm weather."),
        ("<sup>1</sup>", "[1] In calm weather.", "In calm weather."),
        ("<sup>1</sup>", "<b>†</b> In calm weather.", "In calm weather."),
        ("<sup>1</sup>", "1st class.", "1st class."),
    ],
)
def test_a_footnote_loses_its_mark_where_that_is_bare_text(mark: str, note: str, expected: str) -> None:
    page = document(f"<p>First<a href='#n'>{mark}</a> words.</p><p id=n>{note}</p>")
    assert page.render("markdown") == f"First[^1] words.\n\n[^1]: {expected}"
    assert f"<p>{expected}</p>" in page.render("tei").replace(" <", "<").replace("> ", ">")


def test_code_has_its_language_and_white_space_without_numbers_and_buttons() -> None:
    source = (
        "<div class='highlight-source-python'><pre><button>Copy</button><code>"
        "<span class=lineno>1</span>if x:\n"
        "<span class=lineno>2</span>    y()\n</code></pre></div>"
    )
    assert md(source) == "```python\nif x:\n    y()\n```"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            (
                "<table class=lntable><tr><td><pre><code><span class=lnt>1\n</span><span class=lnt>2\n</span>"
                "</code></pre><td><pre><code class=language-go>f()\ng()</code></pre></table>"
            ),
            "```go\nf()\ng()\n```",
        ),
        ("<pre data-enlighter-language=json>{1:\n2}</pre>", "```json\n{1:\n2}\n```"),
        ("<pre class='src src-emacs-lisp'>(f)\n(g)</pre>", "```emacs-lisp\n(f)\n(g)\n```"),
        (
            "<div class=fragment><div class=line>f(1);</div>\n<div class=line>  <i>g</i>();</div></div>",
            "```\nf(1);\n  g();\n```",
        ),
        (
            (
                "<div class=fragment><div class=line><a href=/f>f</a>(1);</div>\n<div class=line>  g();</div>"
                "<div class=ttc><div class=ttname><a href=/f>f</a></div><div class=ttdoc>x</div></div></div>"
            ),
            "```\nf(1);\n  g();\n```",
        ),
        ("<p class=fragment>A step\nof slides.</p>", "A step of slides."),
        (
            "<pre>let <b class=twoslash-hover>x<i class=twoslash-popup-container>T</i></b> = 1\nf(x)</pre>",
            "```\nlet x = 1\nf(x)\n```",
        ),
        ("<p>Call <code><i class=hover-info>f: Nat</i>f</code> once.", "Call `f` once."),
        ("<h2>Colour: <i class=hover-info>Dune</i></h2><p>f()</p>", "## Colour: *Dune*\n\nf()"),
        (
            "<pre><span class=gp>$ </span>ls\n<span class=go>a</span>\n<span class=c># b</span></pre>",
            "```\n$ ls\na\n# b\n```",
        ),
    ],
)
def test_code_as_highlighters_and_generators_write_it(source: str, expected: str) -> None:
    assert md(f"{LINE}{source}").removeprefix("The ferry left at noon.\n\n") == expected


def test_code_has_the_language_that_it_states_itself_not_that_of_what_is_around_it() -> None:
    code = "<div class=CodeBlock><div><p>1<p>2<p>3</div><pre class=language-sh>ls\ncd</pre></div>"
    page = document(f"<div class=markdown>{code}</div>", ["1", "2", "3"])
    assert page.render("markdown") == "```sh\nls\ncd\n```"


def test_the_names_of_several_tabs_above_code_are_not_its_language() -> None:
    tab = "<button>{}</button>".format
    code = "<pre><code>let a;</code></pre>"
    assert md(f"<div>{tab('Rust')}{code}</div>") == "```rust\nlet a;\n```"
    assert md(f"<div>{tab('Rust')}{tab('Swift')}{code}</div>") == "```\nlet a;\n```"
    assert md("<pre language=rust><code language=rust>let a;</code></pre>") == "```rust\nlet a;\n```"


def test_numbers_of_lines_that_nobody_can_copy_are_no_code() -> None:
    number = "<span style='white-space:pre;user-select:none;color:#777'>{}</span>".format
    page = document(f"<pre><code>{number(' 1')}f()\n{number(12)}g()</code></pre><p>{number(7)} boats</p>")
    assert page.render("markdown") == "```\nf()\ng()\n```\n\n7 boats"
    assert page.text == "f()\ng()\n7 boats"


def test_words_for_screen_readers_are_left_out_of_lines_but_not_signs() -> None:
    hidden = "<span class='price sr-only'>{}</span>".format
    page = document(
        f"<p>{hidden('Regular price')}30<i class=visually-hidden>: </i>euros</p>{hidden('Alone')}"
    )
    assert md("<p>Read the <b class='sr-only lg:not-sr-only'>rules</b>") == "Read the **rules**"
    assert page.render("markdown") == "30: euros\n\nAlone"
    assert page.text == "30: euros\nAlone"
    for name in ("visuallyhidden", "screen-reader-text", "wt-screen-reader-only", "govuk-visually-hidden"):
        price = f"<p><del>$36</del> <span class='{name}'>Original price was: $36.</span><ins>$22</ins></p>"
        assert md(price) == "~~$36~~ $22"
    assert md("<p>Read <b class='not-visually-hidden'>it</b>") == "Read **it**"
    assert md("<ul><li><span class='sr-only'>▢ </span>fish</ul>") == "- fish"


def test_signs_and_hidden_words_are_left_out_of_dropped_parts_that_are_shown() -> None:
    hidden = "<span class=visually-hidden>Image caption, </span>"
    figure = f"<figure><img src=/p.jpg><figcaption>{hidden}<i>The pier</i></figcaption></figure>"
    page = document(f"<article>{LINE}{figure}{LINE}</article>", ["Image caption,", "The pier"])
    assert page.render("markdown").split("\n\n")[1:3] == ["![](/p.jpg)", "*The pier*"]
    rows = "<tr><th>Boat<th>Year<tr><td>Heron<td>1874"
    table = f"<table><caption>Boats <a href=#t>¶</a></caption>{rows}</table>"
    page = document(f"<div>{LINE}{table}{LINE}</div>", ["Boats", "¶", "Boat", "Year", "Heron", "1874"])
    assert "\n\nBoats\n\n| Boat | Year |\n" in page.render("markdown")


@pytest.mark.parametrize(
    "formula",
    [
        "<table class=equation><tr><td><math alttext='a=b' display=block><mi>a</mi></math></table>",
        "<div class=math>\\[a=b\\]</div>",
        "<math display=block><mi>a</mi><mo>=</mo><mi>b</mi></math>",
    ],
)
def test_a_formula_between_kept_text_is_shown(formula: str) -> None:
    page = document(f"<p>The level is</p>{formula}<p>in May.</p>", ["\\[a=b\\]", "a", "=", "b"])
    assert "".join(page.render("markdown").split()) == "Thelevelis$$a=b$$inMay."
    page = document(f"<p>The level is</p>{formula}<p>in May.</p>", ["\\[a=b\\]", "a", "=", "b", "in May."])
    assert page.render("markdown") == "The level is"


def test_captions_headings_and_summaries_beside_kept_text_are_shown_whole() -> None:
    caption = "<figcaption>The <i>Heron</i> at the pier</figcaption>"
    page = document(f"<div>{LINE}<figure><img src=/p.jpg>{caption}</figure>{LINE}</div>", ["The", "Heron"])
    assert "The *Heron* at the pier" in page.render("markdown")
    assert document(f"<h2>Three new <b>boats</b></h2>{LINE}", ["boats"]).render("markdown")[:24] == (
        "## Three new **boats**\n\n"
    )
    rows = "<tr><th>Boat<th>Year<tr><td>Heron<td>1874"
    figure = f"<figure><figcaption>Table 1: Boats</figcaption><table>{rows}</table></figure>"
    assert document(figure, ["Table 1: Boats"]).render("markdown").startswith("Table 1: Boats\n\n| Boat")
    answer = f"<details><summary><h3>When does it leave?</h3></summary>{LINE}</details>"
    page = document(f"<p>Menu</p>{answer}", ["Menu", "When does it leave?"])
    assert page.render("markdown").startswith("### When does it leave?\n\n")


def test_a_list_that_is_reversed_counts_down() -> None:
    source = "<ol reversed><li>c<li>b<ol reversed start=9><li>x<li value=4>y<li>z</ol><li>a</ol>"
    assert md(source) == "3. c\n\n2. b\n\n   9. x\n   4. y\n   3. z\n\n1. a"
    assert '<ol start="3" reversed>' in document(source).render("html")
    assert md('<ol class="list reversed"><li>a<li>b</ol>') == "1. a\n2. b"


def test_a_line_with_the_language_of_the_code_below_is_left_out() -> None:
    code = "<pre class='brush: js'>f()\ng()</pre>"
    assert md(f"{LINE}<div><p><span>JS</span></p>{code}</div>").endswith("noon.\n\n```js\nf()\ng()\n```")
    assert "Go\n\n```\n" in md("<p>Go</p><pre>f()\ng()</pre>")


@pytest.mark.parametrize("title", ["Ferries | Harbour", "Ferries_Harbour_News", "Ferries｜Harbour"])
def test_the_heading_that_repeats_the_title_is_left_out(title: str) -> None:
    assert md(f"<title>{title}</title><h1>Ferries</h1>{LINE}") == "The ferry left at noon."


def test_a_first_heading_without_text_is_no_title() -> None:
    assert md("<h1><title>Ferries</title ><img src=f><ul>The ferry left").endswith("The ferry left")


def test_emphasis_can_be_left_out() -> None:
    assert md("<p>a <b>b</b> <i>c</i>", emphasis=False) == "a b c"


@pytest.mark.parametrize("url", [None, "file:///home/anna/page.html"])
def test_without_an_address_of_the_web_relative_links_stay_relative(url: str | None) -> None:
    source = "<p>a <a href='b.html'>b</a> <a href='/c'>c</a> <img src=d.png>"
    assert md(source, url=url) == "a [b](b.html) [c](/c) ![](d.png)"
    assert "file:" not in replace(document(source), url=url, markup=source.encode).render("tei")


BAD = {
    "10,000 columns": "<table>" + ("<tr>" + "<td>x" * 10_000) * 2 + "</table>",
    "a wide row above many short ones": "<table><tr>" + "<td>x" * 5_000 + "<tr><td>y" * 10_000 + "</table>",
    "colspan": "<table>" + "<tr><td colspan=1000000000>a<td>b" * 4_000 + "</table>",
    "rowspan": "<table>" + "<tr><td rowspan=1000000000>a<td>b" * 4_000 + "</table>",
    "nested tables": "<table><tr><td>a<td>b<tr><td>" * 2_000,
    "a list in a table in a list": "<ul><li>a<table><tr><th>h<th>i<tr><td><ul><li>q</ul><td>z</table></ul>"
    * 300,
    "nested lists": "<ul><li>a" * 8_000,
    "nested quotes": "<blockquote>a" * 8_000,
    "code without an end": "<pre><code>x\n y" * 2_000,
    "a MathML bomb": "<math>" + "<mrow><mi>x</mi>" * 20_000,
    "nested formulas that are none": "<span class=math>x" * 10_000,
    "100,000 nested elements": "<b>x" * 100_000,
    "nested links": "<a href=/x>x" * 10_000,
    "delimiters of formulas": "\\(" * 50_000 + "\\[" * 50_000 + "$x" * 50_000,
    "environments": "\\begin{align}x" * 50_000 + "\\end{align}",
    "lines of code without an end": f"<div class=fragment>x\n{'<div class=line>x ' * 900}" * 20,
    "line numbers that cannot be copied": "<span style='user-select:none'>1" * 8_000,
    "words for screen readers": f'<span class="{"sr-only " * 60_000}">1</span>',
    "many words for screen readers": "<p>a" + "<i class=screen-reader-text>x<b>y" * 8_000,
    "names for screen readers without text": "<i class=screen-reader-text></i>" * 30_000,
    "a long name of an element that hides": f"<p>a<a-{'a-' * 50_000} hidden>" + "<b>x</b>" * 5_000,
    "images": "<div><img src=a.png>" * 10_000 + "x",
    "items with bullets": "<ul>" + "<li>• a<li><b>1.</b> b" * 8_000 + "</ul>",
    "roles in each other": "<div role=rowgroup><div role=row><div role=cell><div role=listitem>x" * 3_000,
    "notes in each other": "<p>words " + "<span class=sidenote>a note of words " * 8_000,
    "notes beside each other": "<p>" + "words<span class=footnote>a note of words</span> " * 8_000,
    "code with breaks": "<p><code>a<br>b</code></p>" * 4_000 + "<code>a<br>" * 4_000,
    "tool bars in code": ("<pre>python" + "<div></div>" * 50 + "<code>a\n```\nb</code></pre>") * 1_000,
    "links around blocks": "<a href=/x><h2>x</h2><ul><li>a</ul></a>" * 4_000,
    "references": "<sup><a href='#a'>1</a></sup>" * 5_000 + "<div id=a>x" * 5_000,
}


@pytest.mark.parametrize("name", BAD)
def test_bad_markup_takes_linear_time_and_raises_nothing(name: str) -> None:
    page = document(LINE + BAD[name] + LINE)
    start = time.process_time()
    text = page.render("markdown")
    assert "ferry" in text
    assert len(text) < 40 * len(BAD[name])
    assert time.process_time() - start < 10  # seconds; what is quadratic takes minutes
    ET.fromstring(page.render("tei"))


def test_code_in_a_table_beside_numbers_of_lines_has_its_language() -> None:
    numbers = "<td class=linenos><div class=linenodiv><pre>1\n2</pre></div></td>"
    code = "<td class=code><div><pre class=language-python><span>print</span>(1)\nx = 2</pre></div></td>"
    assert md(f"<table><tr>{numbers}{code}</tr></table>{LINE}").startswith("```python\nprint(1)\nx = 2\n```")


def test_an_image_after_a_paragraph_of_a_cell_of_layout_is_a_paragraph() -> None:
    cell = "<p>It hangs since February.</p><img src=/w.jpg alt='The wheel'><p>And on.</p>"
    blocks = ["It hangs since February.", "![The wheel](/w.jpg)", "And on."]
    assert md(f"<table><tr><td>{cell}</td></tr></table>").split("\n\n") == blocks
    assert md("<table><tr><td>Words <img src=/w.jpg alt=w> on</td></tr></table>") == "Words ![w](/w.jpg) on"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from $7 to 8$, no more", r"from \$7 to 8$, no more"),
        ("for $5 or $6", "for $5 or $6"),
        ("$ 5 and 6$", "$ 5 and 6$"),
    ],
)
def test_a_dollar_that_would_open_a_formula_is_escaped(text: str, expected: str) -> None:
    assert md(f"<p>{text}") == expected


def test_tei_has_the_caption_of_a_table_as_its_head_and_no_space_at_the_end_of_cells() -> None:
    source = "<table><caption>Costs</caption><tr><th>a<th>b<tr><td><p>0.4</p><td>0.5</table>"
    text = replace(document(source), url=None, markup=source.encode).render("tei")
    assert "<table>\n<head>Costs</head>\n<row>" in text
    assert "<cell>0.4</cell><cell>0.5</cell>" in text


def test_tei_has_metadata_structure_and_only_characters_of_xml() -> None:
    head = (
        "<title>Ferry &amp; pier</title><meta name=author content='Anna Kos'>"
        "<meta property='article:published_time' content='2024-05-01'>"
    )
    body = "<p>The <b>ferry</b>\x0b is late again &lt;today&gt;. </p>" * 9 + "<ul><li>a<li>b</ul>"
    page = victor_spark.clean(f"{head}<h2>Part</h2>{body}", url="https://e.org/a b")
    root = ET.fromstring(page.render("tei"))
    name = {"t": "http://www.tei-c.org/ns/1.0"}
    assert root.findtext(".//t:titleStmt/t:author", namespaces=name) == "Anna Kos"
    assert root.find(".//t:date", name).get("when") == "2024-05-01"  # type: ignore[union-attr]
    assert root.findtext(".//t:body/t:div/t:head", namespaces=name) == "Part"
    assert len(root.findall(".//t:hi", name)) == 9
    assert "<hi" not in page.render("tei", emphasis=False)


def test_tei_and_html_state_what_their_schemas_allow() -> None:
    source = (
        "<title>Pier | Ferry</title><meta property=og:title content=Ferry>"
        "<meta property='article:published_time' content='2024-05-01T10:00:00Z'>"
        "<h1>Ferry</h1><p>a <img src='http://a.b/c d.png' alt='e\ufffe\nf' width=99> g</p>"
        "<pre class='language-a\"b'>x\ufffe\x0by</pre><ul><li><input type=checkbox>h"
        "<li><input type=checkbox checked>i</ul>"
        "<table><tr><th colspan=2 rowspan=2>j<th>k<tr><td>l</table>"
    )
    page = replace(document(source), markup=source.encode, language="not a language")
    header, tei = page.render("tei").split("<text>")
    assert "<titleStmt><title>Ferry</title></titleStmt>" in header
    assert '<date when="2024-05-01"/>' in header
    assert '<div type="h1">\n<head>Ferry</head>\n<p>a <graphic url="http://a.b/c%20d.png"><desc>e f' in tei
    assert '<code lang="a">xy</code>' in tei
    assert '<cell cols="2" rows="2" role="label">j</cell><cell role="label">k</cell>' in tei
    html = page.render("html")
    assert "<html>" in html
    assert '<img src="http://a.b/c%20d.png" alt="e f">' in html
    assert '<code class="language-a">xy</code>' in html
    assert '<th colspan="2" rowspan="2">j</th><th>k</th>' in html
    assert (html.count(" disabled>"), html.count(" disabled checked>")) == (1, 1)
    assert "<body>\n<div><p/></div></body>" in document("").render("tei")
    assert '<head>Pier</head>\n<p/></div>\n<div type="h2">' in document("<h1>Pier</h1><h2>a").render("tei")


def test_the_reference_to_a_footnote_is_raised_once_in_html() -> None:
    page = document("<p>a<sup><a href=#fn1>1</a></sup> b</p><ol><li id=fn1>Note.</li></ol>").render("html")
    assert '<p>a<sup><a href="#fn-1">1</a></sup> b</p>' in page


@pytest.mark.parametrize(
    ("tag", "language", "expected"),
    [
        ("<html dir=rtl>", None, '<html dir="rtl">'),
        ("<html><body dir=RTL class=a>", None, '<html dir="rtl">'),
        ("<html>", "ar", '<html lang="ar" dir="rtl">'),
        ("<html dir=ltr>", "fa-IR", '<html lang="fa-IR" dir="ltr">'),
        ("<html>", "en", '<html lang="en">'),
    ],
)
def test_html_states_the_direction_of_the_text(tag: str, language: str | None, expected: str) -> None:
    page = replace(document(f"{tag}<p>a"), language=language)
    assert page.render("html").splitlines()[1] == expected


def test_addresses_are_relative_to_a_base_that_is_not_too_long() -> None:
    link = "<p>a <a href=b>c</a>"
    query, path = f"http://x.example/p/?q={'p' * 3000}", f"http://x.example/{'p' * 3000}/"
    assert md(link, url=query) == "a [c](http://x.example/p/b)"
    assert md(link, url=path) == "a [c](b)"
    base = f"<base href='/a&amp;b/'>{link}"
    page = replace(document(base), url="http://x.example/", markup=base.encode)
    assert page.render("markdown") == "a [c](http://x.example/a&b/b)"


@pytest.mark.parametrize(
    ("image", "shown"),
    [
        ("src=/b.png width=300 height=0", "![](http://a.b/b.png)"),
        ("src=/b.png width=300 height=3", ""),
        ("src=/b.png width=300 height=3 alt=c", "![c](http://a.b/b.png)"),
        ("src=/b.png alt='c\n  d'", "![c d](http://a.b/b.png)"),
        ("src=about:blank srcset=/b.png", "![](http://a.b/b.png)"),
        ("src=data:, srcset='data:image/gif;base64,R0 2x, /b.png 1x'", "![](http://a.b/b.png)"),
        ("src=data:, srcset='/b.png,'", "![](http://a.b/b.png)"),
    ],
)
def test_an_image_is_the_one_that_browsers_show(image: str, shown: str) -> None:
    assert md(f"{LINE}<figure><img {image}></figure>", url="http://a.b/") == f"{md(LINE)}\n\n{shown}".rstrip()


def test_the_name_of_an_image_with_many_digits_is_read_once() -> None:
    address = f"http://a.b/blank{'1' * 60}x.png"
    assert f"![c]({address})" in md(f"{LINE}<figure><img src='{address}' alt=c></figure>{LINE}")


@pytest.mark.timeout(60)
def test_sources_of_a_picture_that_nothing_ends_are_read_once() -> None:
    source = f"<picture><img src='data:,' alt=c>{'<source ' * 100_000}></picture>"
    assert md(f"{LINE}<figure>{source}</figure>{LINE}").count("ferry") == 2
    source = "<picture><source media='(min-width: 9px)' srcset='/d.png 2x'><img src='data:,' alt=c></picture>"
    assert "![c](http://a.b/d.png)" in md(f"{LINE}<figure>{source}</figure>{LINE}", url="http://a.b/")
