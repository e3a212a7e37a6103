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
    assert text(f"<table>{ROWS}</table>", "2", "Pier") == "Boats\tDays\nNorth end\t\tMo Tu\nSouth\t\tWe"


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
