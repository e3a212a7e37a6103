"""Plain text of tables: a row is a line, unless the table is layout or code."""

import time
from dataclasses import replace

import numpy as np
import pytest

from tests.documents import document
from victor_spark.rendering.plain import has_formulas, plain_text


def text(source: str, *dropped: str) -> str:
    page = document(source, dropped)
    return plain_text(page.columns, page.kept, page.html)


def test_a_block_that_templates_cover_altogether_leaves_no_line() -> None:
    page = document("<p>a</p><p>b</p><p>c</p>")
    blocks = replace(page.columns, text_end=page.columns.text_end - np.array([1, 0, 1], dtype=np.int32))
    assert plain_text(blocks, page.kept, page.html) == "b"


ROWS = (
    "<tr><th>Pier<th>Boats<th>Days<tr><td>North <b>end</b><td>2<td><p>Mo</p><p>Tu</p><tr><td>South<td><td>We"
)


def test_a_row_of_a_data_table_is_a_line_with_a_tab_for_each_cell_passed() -> None:
    expected = "a\nPier\tBoats\tDays\nNorth end\t2\tMo Tu\nSouth\t\tWe\nb"
    assert text(f"<p>a</p><table>{ROWS}</table><p>b") == expected


def test_a_row_of_a_table_that_roles_state_is_a_line_too() -> None:
    row = "<div role=row><span role={0}>{1}</span><span role={0}>{2}</span></div>".format
    rows = row("columnheader", "Boat", "Year"), row("cell", "Heron", 1874)
    assert text(f"<div role=table>{''.join(rows)}</div>") == "Boat\tYear\nHeron\t1874"


def test_a_row_with_kept_text_keeps_all_its_cells_and_a_table_of_which_a_third_is_kept_all_its_rows() -> None:
    whole = "Pier\tBoats\tDays\nNorth end\t2\tMo Tu\nSouth\t\tWe"
    assert text(f"<table>{ROWS}</table>", "2", "Pier") == whole
    long = "<tr><th>Name<td>Lighthouse of the outer harbour, built of granite<tr><th>Height<td>9 m"
    dropped = ("Name", "Lighthouse of the outer harbour, built of granite", "Height")
    assert text(f"<table>{long}</table>", *dropped) == "Height\t9 m"


def test_cells_stand_in_the_columns_that_spans_leave_to_them() -> None:
    rows = "<tr><th rowspan=2>A<th colspan=2>B<th>E<tr><th>C<th>D<th>F<tr><td>1<td>2<td>3<td>4"
    assert text(f"<table>{rows}</table>") == "A\tB\t\tE\n\tC\tD\tF\n1\t2\t3\t4"


def test_cells_reach_down_to_the_end_of_their_group_of_rows_at_most() -> None:
    page = "<table><thead><tr><th rowspan=5>Name<th>A</thead><tbody><tr><td>x<td>1</table>"
    assert text(page) == "Name\tA\nx\t1"
    assert document(page).render("markdown") == "| Name | A |\n| --- | --- |\n| x | 1 |"
    rows = "<tr><td>a<td rowspan=0>b<td>c<tr><td>d<td>e<tr><td>f<td>g<tbody><tr><td>h<td>i<td>j"
    assert text(f"<table>{rows}</table>") == "a\tb\tc\nd\t\te\nf\t\tg\nh\ti\tj"
    assert '<td rowspan="3">b' in document(f"<table>{rows}</table>").render("html")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>", "a\nb\nc\nd"),
        ("<table><tr><td><h2>a</h2><p>b<td>c<tr><td>d<td>e</table>", "a\nb\nc\nd\ne"),
        ("<table><tr><td>a<tr><td>b</table>", "a\nb"),
        ("<table><tr><td><td><p>a<p>b<tr><td><td></table>", "a\nb"),
        ("<table><tr><td>a<td><img src=/b><tr><td><img src=/c><td></table>", "a"),
        ("<table><tr><td><pre>a\nb</pre><td><pre>c</pre><tr><td>d<td>e</table>", "a\nb\nc\nd\ne"),
        ("<table><tr><td>a<td><table><tr><td>b<td>c<tr><td>d<td>e</table></table>", "a\nb\tc\nd\te"),
    ],
)
def test_layout_and_code_in_tables_are_lines_of_their_own(source: str, expected: str) -> None:
    assert text(source) == expected


KATEX = (
    "<span class=katex><span class=katex-mathml><math><semantics><mrow><mi>x</mi><mn>2</mn></mrow>"
    "<annotation encoding='application/x-tex'>x_1 &lt; 2</annotation></semantics></math></span>"
    "<span class=katex-html aria-hidden=true><span>x</span><span>1</span> <span>2</span></span></span>"
)
ASSISTIVE = (
    "<mjx-container><mjx-math><mjx-c>x</mjx-c><mjx-c>2</mjx-c></mjx-math>"
    "<mjx-assistive-mml><math><mi>x</mi><mn>2</mn></math></mjx-assistive-mml></mjx-container>"
)


@pytest.mark.parametrize(("formula", "expected"), [(KATEX, r"\(x_1 < 2\)"), (ASSISTIVE, "x2")])
@pytest.mark.parametrize("dropped", [(), ("x",)])
def test_a_formula_is_there_once_as_latex_if_it_has_some(
    formula: str, expected: str, dropped: tuple[str, ...]
) -> None:
    assert text(f"<p>for f({formula}), and</p><p>so</p>", *dropped) == f"for f({expected}), and\nso"


HALF = "<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (f"Use {HALF} a cup.", r"Use \(\frac{1}{2}\) a cup."),
        ("Of <math display=block><msqrt><mn>2</mn></msqrt></math>.", r"Of \[\sqrt{2}\]."),
        ("Let <math><mi>f</mi><mo>(</mo><mi>α</mi><mo>)</mo></math> be.", "Let f(α) be."),
        (r"So <img class=latex alt='\sum_i i' src=/f.png> is it.", r"So \(\sum_i i\) is it."),
        (r"<img class=latex alt='\sum_i i' src=/f.png> is it.", r"\(\sum_i i\) is it."),
        (r"So:</p><p><img class=latex alt='\pi' src=/f.png></p><p>Next", "So: \\(\\pi\\)\nNext"),
    ],
)
def test_a_formula_that_plain_text_would_garble_is_latex_in_the_delimiters_of_pages(
    source: str, expected: str
) -> None:
    assert text(f"<p>{source}</p>") == expected
    assert document(f"<p>{source}</p>").render("cleaneval").replace("\n<p>", "\n") == f"<p>{expected}\n"


def test_a_line_break_between_chinese_or_japanese_characters_is_no_space() -> None:
    page = document("<p>これは\n日本語。\n  東京 <b>中文</b>\nabc 한국\n말</p>")
    assert page.text == "これは日本語。東京 中文 abc 한국 말"
    assert page.render("markdown") == "これは日本語。東京 **中文** abc 한국 말"
    assert "<p>これは日本語。東京 <strong>中文</strong> abc 한국 말</p>" in page.render("html")


def test_a_line_break_between_letters_of_hangul_is_a_space() -> None:
    page = document("<p>ㅋ\nㅋ</p>")
    assert page.text == page.render("markdown") == "ㅋ ㅋ"
    assert "<p>ㅋ ㅋ</p>" in page.render("html")


def test_how_words_are_pronounced_is_left_out() -> None:
    source = "<p><ruby>東京<rp>(</rp><rt>とうきょう</rt><rp>)</rp></ruby>に<ruby>漢<rt>かん</ruby>。</p>"
    page = document(source)
    assert page.text == page.render("markdown") == "東京に漢。"


def test_words_beside_a_formula_in_an_element_named_so_stay() -> None:
    source = "<p class=math>Let <math><mi>n</mi></math> be a number of ferries.</p>"
    assert text(source) == "Let n be a number of ferries."


NAVIGATION = r"<div class=nav><a href=/x><img class=tex src=b alt='\alpha'></a></div>"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"<p>Of <img alt='\alpha + x' class=tex src=a.png>", r"Of \(\alpha + x\)"),
        (f"<p>Kept sentence.</p>{NAVIGATION}", "Kept sentence."),
        (r"<p>So</p><p><img class=tex alt='\beta'></p><p>holds.", "So \\(\\beta\\)\nholds."),
        (r"<p><img class=tex alt='\beta'><i><img class=tex alt='\pi'></i> hold.", r"\(\beta\) \(\pi\) hold."),
        ("<table><tr><td>a<td>b</table><p>So <img class=tex alt='x^2'>", "a\nb\nSo \\(x^2\\)"),
    ],
)
def test_formulas_of_images_stand_where_the_images_do(source: str, expected: str) -> None:
    assert text(source) == expected


@pytest.mark.parametrize(
    ("tag", "stated"),
    [
        (r'<img class="tex" alt="\pi" src="a.png">', True),
        (r'<img src="data:a>\b" alt="">\pi', False),
        (r'<span title="\a" data-tex="\pi">', True),
        (r'<span class="x">the attribute data-tex="\pi"', False),
        (r'<spanner data-tex="\pi">', False),
        (r'<p data-tex="\pi">', False),
    ],
)
def test_an_image_or_element_states_a_formula_in_an_attribute_of_its_own(tag: str, stated: bool) -> None:
    assert has_formulas(document("<p>x").columns, rf"\ <p>{tag} \ x") == stated


@pytest.mark.parametrize(
    "source",
    [
        "<span class=math><math><mi>x</mi>" * 5_000,
        "<math>x" * 20_000,
        f"<p>{KATEX * 2_000}",
        "<p>a" + r'<img class=tex alt="\x">' * 400_000,
        "<p>" + r'<img class=tex alt="\x">' * 400_000 + "a",
    ],
)
def test_many_formulas_take_linear_time(source: str) -> None:
    start = time.process_time()
    assert text(source)
    assert time.process_time() - start < 10  # seconds; what is quadratic takes minutes


@pytest.mark.parametrize(
    "source",
    [
        "<table>" + ("<tr>" + "<td>x" * 10_000) * 2 + "</table>",
        "<table>" + "<tr><td>a<td colspan=1000000000>b" * 10_000 + "</table>",
        "<table><tr><td>a<td>b<tr><td>" * 2_000,
        "<table><tr><td>a" + "<td>" * 20_000 + "b<tr><td>c<td>d</table>",
    ],
)
def test_bad_tables_take_linear_time_and_lose_no_word(source: str) -> None:
    page = document(source)
    start = time.process_time()
    assert plain_text(page.columns, page.kept, page.html).split() == page.text.split()
    assert time.process_time() - start < 10  # seconds; what is quadratic takes minutes


def test_a_formula_with_mathml_and_an_image_has_its_text_once() -> None:
    page = (
        "<p>The area of the circle is <span class=mwe-math-element><span class=mwe-math-mathml-inline>"
        '<math alttext="{\\displaystyle \\pi r^{2}}"><mi>π</mi></math></span>'
        '<img src=s.svg alt="{\\displaystyle \\pi r^{2}}"></span>, as Archimedes showed.'
    )
    assert text(page) == r"The area of the circle is \(\pi r^{2}\), as Archimedes showed."


def test_a_short_formula_of_katex_has_its_letters_once() -> None:
    page = (
        '<p>If <span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>g</mi></mrow>'
        '<annotation encoding="application/x-tex">g</annotation></semantics></math></span><span '
        'class="katex-html" aria-hidden="true"><span class="mord">g</span></span></span> is an element.'
    )
    assert text(page) == "If g is an element."


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "<p>About 10<sup>8</sup> cells, 2x<sup>n+1</sup>, 5 km<sup>2</sup>, s<sup>−1</sup>",
            "About 10^8 cells, 2x^n+1, 5 km^2, s^−1",
        ),
        ("<p>(a + b)<sup>2</sup> of <sup>14</sup>C, the 2<sup>nd</sup>", "(a + b)^2 of 14C, the 2nd"),
        ("<p>The ferry<sup>1</sup> of 1998<sup>3</sup>.<sup>2</sup>", "The ferry1 of 1998 3.2"),
        ("<p>a<sup><a href=#n>2</a></sup> <a href=#n>10<sup>3</sup></a>", "a2 10^3"),
        ("<p>At 8<sup>00</sup>, for $19<sup>99</sup>, 5<sup>1</sup>/2 m", "At 8 00, for $19 99, 5 1/2 m"),
        ("<p>J. Roe<sup>2</sup>, 注<sup>2</sup>, page 12<sup class=note>3</sup>", "J. Roe2, 注2, page 12 3"),
        ("<p>πr<sup>2</sup>, R<sup><i>n</i></sup>, min<sup>-1</sup>", "πr^2, R^n, min^-1"),
        ("<p>x<sup class=note>2</sup>, y<a href=#n><sup>2</sup></a>, z<sup>2</sup>", "x2, y2, z^2"),
    ],
)
def test_powers_have_a_sign_and_marks_of_footnotes_have_none(source: str, expected: str) -> None:
    assert text(source) == expected


def test_quotations_have_their_marks_in_all_forms() -> None:
    source = "<p>She said: <q>Boats <b>and <q>gulls</q></b></q>, no more.</p><p>Who? <q></q></p>"
    assert text(source) == "She said: “Boats and ‘gulls’”, no more.\nWho?"
    assert "“Boats **and ‘gulls’”**" in document(source).render("markdown")


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("de-AT", "„a ‚b‘“"), ("fr", "«a “b”»"), ("pl", "„a «b»”"), ("ja", "「a 『b』」"),
        ("zh-TW", "「a 『b』」"), ("zh", "“a ‘b’”"), ("tlh", "“a ‘b’”"), ("", "“a ‘b’”"),
    ],
)  # fmt: skip
def test_quotation_marks_are_those_of_the_page_s_language(language: str, expected: str) -> None:
    page = document(f"<!DOCTYPE html><html lang='{language}'><p><q>a <q>b</q></q></p>")
    assert page.text == page.render("markdown") == expected


def test_who_is_quoted_stands_apart_from_the_quote() -> None:
    source = "<blockquote><cite>Anna wrote:</cite>No boats. The <cite>Pilot</cite>s say so.</blockquote>"
    assert text(source) == "Anna wrote: No boats. The Pilots say so."
    assert document(source).render("markdown") == f"> {text(source)}"


@pytest.mark.parametrize("form", ["text", "markdown", "html", "tei", "cleaneval"])
def test_invisible_characters_are_left_out_and_joiners_stay(form: str) -> None:
    page = document("<p>har\u00adbour\u200b \ufeffpier\u2060s, می\u200cخواهم</p><p>\u200b</p><p>b</p>")
    shown = page.render(form)
    assert "harbour piers, می\u200cخواهم" in shown
    assert not set("\u00ad\u200b\ufeff\u2060") & set(shown)
    assert form != "text" or shown.endswith("هم\nb")


def test_joiners_beside_latin_letters_and_spaces_join_nothing_and_are_left_out() -> None:
    assert text("<p>a</p><p>\u200d</p><p>\u200dharbour \u200d<b>pier</b></p>") == "a\nharbour pier"
    assert text("<p>harbour \u200b<b>pier</b><i>\u200b</i>s<u>\u200b at</u></p>") == "harbour piers at"
    assert text("<p>Weight &rlm; : &lrm; <b>&lrm;2 kg</b></p>") == "Weight : 2 kg"
    assert text("<p>\u200b\u200d</p><p>a \u200d\u200e b</p>") == "a b"
    assert text("<pre>a \u200b b</pre>") == "a  b"
    assert text("<p><q>har\u200bbour</q></p>") == "“harbour”"
    joined = "👩\u200d🚀 ن\u200d ന്\u200d می\u200cخواهم"
    assert text(f"<p>{joined}</p>") == joined


@pytest.mark.parametrize("player", ["video", "audio"])
def test_words_for_browsers_that_cannot_play_a_video_or_sound_are_left_out(player: str) -> None:
    instead = f"This browser cannot play it: <a href=/tide.mp4>{'load the file, ' * 9}</a> <b>please.</b>"
    page = document(f"<p>High tide.</p><{player} src=/tide><p>{instead}</p></{player}><p>Low tide.</p>")
    assert page.text == "High tide.\nLow tide."
    assert page.render("markdown") == "High tide.\n\nLow tide."
    page = document(f"<p>Listen <{player} src=/tide><source src=/t>{instead}</{player}> to the tide.</p>")
    assert page.text == page.render("markdown") == "Listen to the tide."


def test_what_is_hidden_within_a_line_is_left_out_and_hidden_paragraphs_stay_as_they_were_decided() -> None:
    source = "<p>The fer<span style='color: red; display: none'>xx</span>ry <b hidden>yy</b>leaves.</p>"
    inner = "<span hidden><b>x</b> 1 <a href=/y>y</a></span>"
    row = f"<tr><td>{inner}4</td><td style='display:none'>z</td><td>5</td></tr>"
    assert text(f"<p>The {inner}ferry</p><table><tr><td>2</td><td>3</td></tr>{row}</table>").startswith(
        "The ferry"
    )
    assert not {"x", "y", "z"} & set(document(f"<table>{row}{row}</table>").render("markdown"))
    hidden = "<div style='display:none'>The second tab.</div>"
    assert text(source + hidden) == "The ferry leaves.\nThe second tab."
    assert document(source).render("markdown") == "The ferry leaves."
    for tag in ("u", "mark", "time", "code", "cite", "q", "s", "button", "boat-name"):
        assert text(f"<p>The <{tag} hidden>xx</{tag}>ferry leaves.</p>") == "The ferry leaves."
    assert text("<p>The <i style='visibility: hidden'>xx</i>ferry leaves.</p>") == "The ferry leaves."


def test_words_for_screen_readers_that_are_all_of_a_cell_stay() -> None:
    cell = "<td><i class=icon></i><span class=sr-only>{}</span>{}".format
    rows = f"<tr><th>Boat<th>Lights<th>Radio<tr><td>Heron{cell('Yes', '')}{cell('Channel', '<p>12</p>')}"
    page = document(f"<table>{rows}</table>")
    assert page.text == "Boat\tLights\tRadio\nHeron\tYes\t12"
    assert page.render("markdown").endswith("| Heron | Yes | 12 |")


def test_a_column_that_is_empty_at_the_left_has_no_tab_and_long_hidden_text_stays() -> None:
    assert text("<table><tr><td><td>a<td>b<tr><td><td>c<td>d</table>") == "a\tb\nc\td"
    hidden = "<p>a <i style='display:none'>{}</i> b"
    assert text(hidden.format("words")) == "a b"
    assert text(hidden.format("opens on a click " * 9)).count("click") == 9
    assert document("<p>a &lt;b&gt; &amp; c").render("cleaneval") == "<p>a &lt;b&gt; &amp; c\n"


def test_signs_of_links_to_headings_and_back_from_footnotes_are_left_out() -> None:
    source = (
        "<h2>Piers <a href=#p>¶</a></h2><h2><a href=#q>#</a> Boats</h2><h3>Fees<a href=#f>🔗</a></h3>"
        "<p>In C<a href=/sharp>#</a> and § 3.</p><p>1. As the office says. <a href=#r>↩︎</a></p>"
    )
    assert text(source) == "Piers\nBoats\nFees\nIn C# and § 3.\n1. As the office says."
    assert text("<h2>Tides <a href=#t>#2</a></h2><p>See <a href=/x>#</a> there.") == "Tides #2\nSee # there."
    sign = "<a class=headerlink href=#t>¶</a>"
    table = f"<table><caption>Piers.{sign}</caption><tr><th>a<th>b<tr><td>1<td>2</table>"
    captions = f"<figure><figcaption>Boats.{sign}</figcaption></figure><p><i>ferry.py</i>{sign}</p>"
    assert text(table + captions) == "Piers.\na\tb\n1\t2\nBoats.\nferry.py"
    assert "¶" not in document(table + captions).render("markdown")
    assert text("<ol><li><a href=#r>^</a> As the office says.</ol>") == "As the office says."
    assert text("<h2>Tides <span class=mw-editsection>[<a href=/e>edit</a>]</span></h2>") == "Tides"


DRAWN = (
    "<p>So <span class=MathJax_Preview></span><span class=MathJax id=MathJax-Element-1-Frame><nobr>"
    "<span class=math><span>x</span><span>=</span><span>1</span></span></nobr></span>"
    "<script type='math/tex{}' id=MathJax-Element-1>x=\\frac{{1}}{{2}}</script> holds.</p>"
)


def test_what_mathjax_2_has_drawn_is_the_latex_that_it_was_drawn_from_in_all_forms() -> None:
    assert text(DRAWN.format("")) == "So \\(x=\\frac{1}{2}\\) holds."
    assert text(DRAWN.format("; mode=display")) == "So \\[x=\\frac{1}{2}\\] holds."
    assert document(DRAWN.format("")).render("markdown") == "So $x=\\frac{1}{2}$ holds."


def test_a_formula_whose_mathml_a_style_hides_stays() -> None:
    stated = "<annotation encoding='application/x-tex'>x^2</annotation>"
    mathml = f"<math><msup><mi>x</mi><mn>2</mn></msup>{stated}</math>"
    hidden = f"<span class=mwe-math-mathml-inline style='display: none;'>{mathml}</span>"
    page = document(
        f"<p>So <span class=mwe-math-element>{hidden}<img src=/x.svg alt='x^2'></span> grows.</p>"
    )
    assert (page.text, page.render("markdown")) == ("So \\(x^2\\) grows.", "So $x^2$ grows.")


def test_latex_that_an_element_states_is_text_instead_of_what_is_drawn_in_it() -> None:
    drawn = "<span class=katex data-math='\\frac{x}{2}'><i>x</i>2</span>"
    assert text(f"<p>So {drawn} holds.</p>") == "So \\(\\frac{x}{2}\\) holds."
    assert text("<p>So <span data-math='\\frac{x}{2}'>half</span>.</p>") == "So half."


def test_a_table_in_a_cell_of_a_larger_data_table_is_text_of_that_cell() -> None:
    inner = "<table><tr><td>bow<td>2<tr><td>stern<td>1</table>"
    rows = f"<tr><th>Boat<th>Lights<tr><td>Heron<td>{inner}<tr><td>Gull<td>none"
    page = document(f"<p>All boats.</p><table>{rows}</table>")
    assert page.text == "All boats.\nBoat\tLights\nHeron\tbow 2 stern 1\nGull\tnone"
    assert "| Heron | bow 2 stern 1 |\n| Gull | none |" in page.render("markdown")


def test_tables_side_by_side_in_a_table_are_tables() -> None:
    inner = f"<table>{'<tr><td>bow<td>2' * 3}</table>"
    page = document(f"<table><tr><th colspan=2>Boats<tr><td>{inner}<td>{inner}</table>")
    assert page.text == "Boats" + "\nbow\t2" * 6


def test_labels_of_equations_in_mathml_stay() -> None:
    row = (
        "<mlabeledtr><mtd><mtext>(3{})</mtext></mtd><mtd><msup><mi>a</mi><mn>2</mn></msup></mtd></mlabeledtr>"
    )
    one = f"<math display=block><mtable>{row.format('')}</mtable></math>"
    assert text(one) == "\\[a^{2} \\tag{3}\\]"
    two = f"<math display=block><mtable>{row.format('a')}{row.format('b')}</mtable></math>"
    assert text(two) == r"\[\begin{align}a^{2} \tag{3a} \\ a^{2} \tag{3b}\end{align}\]"


def test_numbers_between_kept_code_stay_and_marks_in_a_paragraph_do_not() -> None:
    code = "<pre><b>captured = date(</b><i>1961</i><b>, harbour)</b></pre>"
    assert text(code, "1961") == "captured = date(1961, harbour)"
    prose = "<p>The pier was rebuilt <i>1961</i> after the storm.</p>"
    assert text(prose, "1961") == "The pier was rebuilt after the storm."


def test_punctuation_between_words_that_are_all_dropped_is_dropped() -> None:
    page = "<p>The ferry is late.</p><p><a href=/a>Boats</a>, <a href=/b>Piers</a>.</p><p>—</p>"
    assert text(page, "Boats", "Piers") == "The ferry is late.\n—"
    assert text("<p><a href=/a>Boats</a>, <sup>2</sup></p>", "Boats", "2") == ""


def test_buttons_stand_apart_from_the_words_beside_them() -> None:
    button = "<button>{}</button>".format
    page = document(
        f"<h1>Boats{button('Copy')}</h1><p>Scale{button('1x')}{button('2x')}, now{button('go')}</p>"
    )
    assert page.text == "Boats Copy\nScale 1x 2x, now go"
    assert text(f"<p>Press ({button('Copy')}) or “{button('Go')}”</p>") == "Press (Copy) or “Go”"
