"""Pages made to grow in a parser: their trees, and the input of the parser library, have linear size."""

import tracemalloc

import pytest
from resiliparse.parse.html import HTMLParserException

import victor_spark
from tests.html.hostile import FAMILIES, page
from tests.html.pages import blocks_of, texts_of
from victor_spark.html import canonical as canonical_html
from victor_spark.html.canonical import canonical, restored

pytestmark = pytest.mark.timeout(120)

N = 2000


@pytest.mark.parametrize("family", FAMILIES)
def test_a_hostile_page_becomes_html_in_proportion(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read, by_library = [], canonical_html.by_library

    def recorded(markup: str) -> str:
        read.append(by_library(markup))
        return read[-1]

    monkeypatch.setattr(canonical_html, "by_library", recorded)
    pages = [page(family, N), page(family, 2 * N)]
    html = [canonical(source).html for source in pages]
    assert all(len(one) <= 8 * len(source) for one, source in zip(html, pages, strict=True))
    assert len(html[1]) < 2.6 * len(html[0]) + 1000
    assert all(len(one) <= 8 * len(pages[1]) for one in read)
    assert restored(pages[0])[0] == html[0] or read  # labels belong to the same html


@pytest.mark.parametrize("family", FAMILIES)
def test_reading_a_hostile_page_takes_memory_in_proportion(family: str) -> None:
    source = page(family, N)
    tracemalloc.start()
    canonical(source)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300 * len(source) + 1_000_000


@pytest.mark.parametrize(
    "family",
    [
        "formatting with attributes of its own",
        "nested font",
        "adoption",
        "end tags of formatting that nothing opened",
        "end tags of headings that nothing opened",
        "formatting in table cells",
        "links in blocks",
        "ruby",
        "bodies with attributes",
        "NUL",
    ],
)
def test_a_page_beyond_the_budget_loses_no_text(family: str) -> None:
    """A hundred times as long as what takes minutes where a step is quadratic."""
    text = "".join(texts_of(blocks_of(page(family, 50_000))))
    assert text.count("x") == 50_000


@pytest.mark.parametrize("before", ["", "<math></math>", "<svg></g></svg>", "\0", "<template><b></template>"])
def test_a_bomb_goes_to_no_parser_without_a_budget(before: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With any other markup that the kernels cannot read exactly."""
    monkeypatch.delattr(canonical_html, "by_library")
    source = before + page("formatting with attributes of its own", N)
    assert canonical(source).html == restored(source)[0]
    assert victor_spark.clean(source).html.count("<p>") == N


def test_a_tiny_block_takes_less_than_a_kilobyte() -> None:
    n, peaks = 40_000, []
    victor_spark.clean("<p>a")
    for times in (1, 2):
        tracemalloc.start()
        document = victor_spark.clean("<p>a" * n * times)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(document.columns) == n * times
    assert peaks[1] - peaks[0] < 1000 * n


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("<p>a<plaintext><b>x</b> y</p><p>z", ["a", "x", "y", "z"]),
        ("<p>a<PLAINTEXT >b<br/>c", ["a", "b", "c"]),
        ("<table><tr><td><plaintext>b</td><td>c", ["b", "c"]),
        ("<plaintext><b>a</b></plaintext>b", ["a", "b"]),
        ("<plaintext>From <joe@b.example>, 1 < 2 and <é>", ["From <joe@b.example>, 1 < 2 and <é>"]),
    ],
)
def test_text_after_a_plaintext_holds_no_markup(source: str, texts: list[str]) -> None:
    assert texts_of(blocks_of(source)) == texts
    assert restored(source)[0] == canonical(source).html


@pytest.mark.parametrize(
    "error",
    [
        HTMLParserException("Failed to parse HTML document."),
        type("PanicException", (BaseException,), {})("PyObject pointer is null"),
    ],
)
def test_a_parser_that_fails_for_want_of_memory_says_so(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are what the library raised on pages of 20 MB under a limit on address space."""

    class Starved:
        @staticmethod
        def parse(_markup: str) -> None:
            raise error

    monkeypatch.setattr(canonical_html, "HTMLTree", Starved)
    assert victor_spark.clean("<math><mi>x</math>").status == "out_of_memory"
