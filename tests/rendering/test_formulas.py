"""LaTeX of MathML, as browsers, MathJax and editors of formulas write it."""

import pytest

from tests.documents import document
from victor_spark.rendering.formulas import latex, of_mathml, tidy

CELLS = "<mtr><mtd><mn>1</mn></mtd><mtd><mi>a</mi></mtd></mtr><mtr><mtd><mn>2</mn></mtd><mtd></mtd></mtr>"
TABLE = f"<mtable>{CELLS}</mtable>"
ROWS = r"1 & a \\ 2 & "
TABLE_LATEX = f"\\begin{{aligned}}{ROWS}\\end{{aligned}}"
PILE = '<mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac>'


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (TABLE, TABLE_LATEX),
        (f"<mo>(</mo>{TABLE}<mo>)</mo>", f"\\begin{{pmatrix}}{ROWS}\\end{{pmatrix}}"),
        (f"<mi>A</mi><mo>[</mo>{TABLE}<mo>]</mo>", f"A \\begin{{bmatrix}}{ROWS}\\end{{bmatrix}}"),
        (f"<mo>|</mo>{TABLE}<mo>|</mo>", f"\\begin{{vmatrix}}{ROWS}\\end{{vmatrix}}"),
        (f"<mo>{{</mo>{TABLE}", f"\\begin{{cases}}{ROWS}\\end{{cases}}"),
        (f"<mo>{{</mo>{TABLE}<mo fence='true'></mo>", f"\\begin{{cases}}{ROWS}\\end{{cases}}"),
        (
            f"<mo>(</mo><mtable>{CELLS}<mtr><mtd>{TABLE}</mtd></mtr></mtable><mo>)</mo>",
            f"\\left( \\begin{{aligned}}{ROWS}\\\\ {TABLE_LATEX}\\end{{aligned}} \\right)",
        ),
        (f'<mfenced open="[" close="]">{TABLE}</mfenced>', f"\\begin{{bmatrix}}{ROWS}\\end{{bmatrix}}"),
        (f'<mfenced open="{{" close="">{TABLE}</mfenced>', f"\\begin{{cases}}{ROWS}\\end{{cases}}"),
        ("<mfenced><mi>x</mi><mi>y</mi></mfenced>", r"\left( x, y \right)"),
        (
            "<mmultiscripts><mi>C</mi><mn>6</mn><none/><mprescripts/><mn>2</mn><mn>14</mn></mmultiscripts>",
            "{}_{2}^{14}C_{6}",
        ),
        (
            "<mmultiscripts><mi>R</mi><mi>i</mi><none></none><none></none><mi>j</mi></mmultiscripts>",
            "R_{i}{}^{j}",
        ),
        ('<mn mathvariant="double-struck">1</mn><mo mathvariant="bold">+</mo>', r"\mathbb{1} \mathbf{+}"),
        ('<mfenced open="|" close="|" separators=";"><mi>x</mi><mi>y</mi></mfenced>', "| x; y |"),
        (f"<mo>(</mo>{PILE}<mo>)</mo>", r"\binom{n}{k}"),
        (
            f"<mo>(</mo><mrow>{PILE}<mo>+</mo><mi>q</mi></mrow><mo>)</mo>",
            r"\left( \genfrac{}{}{0pt}{}{n}{k} + q \right)",
        ),
        (PILE, r"\genfrac{}{}{0pt}{}{n}{k}"),
        ('<mfrac linethickness="0.8pt"><mi>n</mi><mi>k</mi></mfrac>', r"\frac{n}{k}"),
        (
            "<munder><mi>lim</mi><mrow><mi>x</mi><mo>→</mo><mn>0</mn></mrow></munder>",
            r"\lim_{x \rightarrow 0}",
        ),
        ("<munder><mi>A</mi><mi>n</mi></munder>", r"\underset{n}{A}"),
        ("<munder><mi>A</mi><mo>_</mo></munder>", r"\underline{A}"),
        ("<munder><mi>A</mi><mo>⏟</mo></munder>", r"\underbrace{A}"),
        ("<mover><mi>x</mi><mo>^</mo></mover>", r"\hat{x}"),
        ("<mover><mi>x</mi><mo>→</mo></mover>", r"\vec{x}"),
        ("<mover><mo>=</mo><mtext>def</mtext></mover>", r"\overset{\text{def}}{=}"),
        (
            "<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><mi>sin</mi><mo>\u2061</mo><mi>i</mi>",
            r"\sum_{i}^{n} \sin i",
        ),
        (
            '<mi mathvariant="double-struck">K</mi><mi mathvariant="bold">v</mi><mi>sgn</mi>',
            r"\mathbb{K} \mathbf{v} \operatorname{sgn}",
        ),
        ("<msup><mrow/><mn>2</mn></msup><mi>H</mi>", "{}^{2} H"),
        ("<mi>x</mi><mtext>&nbsp;if&nbsp;</mtext><mi>y</mi>", r"x \text{ if } y"),
        ("<mn>50%</mn><mtext>of a_b &amp; $3</mtext><mo>$</mo>", r"50\% \text{of a\_b \& \$3} \$"),
        ("<mo>(</mo><mi>a</mi>", "( a"),
        ("<mo>(</mo><mi>a</mi><mo>)</mo>", r"\left( a \right)"),
        ("<mi>a</mi><!-- <mi>\nb</mi> --><mspace width='1em'/><mi>c</mi>", "a c"),
        ("<mrow><mi>a</mi><mfrac><mn>1</mn><mn>2", r"a \frac{1}{2}"),
    ],
)
def test_mathml_is_the_latex_that_shows_the_same(markup: str, expected: str) -> None:
    assert of_mathml(markup) == expected


def test_deep_mathml_is_read_to_a_depth_and_its_text_stays() -> None:
    found = of_mathml("<msqrt>" * 70 + "<mi>x</mi>")
    assert (found.count(r"\sqrt"), found.count("x")) == (59, 1)


def test_a_formula_between_other_delimiters_is_one_by_itself_and_two_are_none() -> None:
    display = r"\begin{displaymath}x\end{displaymath}"
    assert latex(f"<span class=math>{display}</span>") == ("x", True)
    assert tidy("$a$ and $b$") == "$a$ and $b$"
    parts = "".join(f'<annotation encoding="application/x-tex">{tex}</annotation>' for tex in "ab")
    assert latex(f"<span>{parts}</span>") is None


def test_a_formula_that_is_too_long_stays_text() -> None:
    page = document(f"<p>So <math>{'<mi>x</mi><mo>+</mo>' * 1_000}<mi>y</mi></math> holds.")
    assert page.render("markdown").endswith("x+y holds.")
