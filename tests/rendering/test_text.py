"""Plain text of tables: a row is a line, unless the table is layout or code."""

import time

import pytest

from tests.documents import document
from victor_spark.rendering.plain import plain_text


def text(source: str, *dropped: str) -> str:
    page = document(source, dropped)
    return plain_text(page.columns, page.kept, page.html)


ROWS = (
    "<tr><th>Pier<th>Boats<th>Days<tr><td>North <b>end</b><td>2<td><p>Mo</p><p>Tu</p><tr><td>South<td><td>We"
)


def test_a_row_of_a_data_table_is_a_line_with_a_tab_for_each_cell_passed() -> None:
    expected = "a\nPier\tBoats\tDays\nNorth end\t2\tMo Tu\nSouth\t\tWe\nb"
    assert text(f"<p>a</p><table>{ROWS}</table><p>b") == expected


def test_dropped_cells_leave_their_tabs() -> None:
    assert text(f"<table>{ROWS}</table>", "2", "Pier") == "\tBoats\tDays\nNorth end\t\tMo Tu\nSouth\t\tWe"
    assert text(f"<table>{ROWS}</table>", "Pier", "North", "end", "South") == "Boats\tDays\n2\tMo Tu\n\tWe"


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
    ],
)
def test_formulas_of_images_stand_where_the_images_do(source: str, expected: str) -> None:
    assert text(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "<span class=math><math><mi>x</mi>" * 5_000,
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
