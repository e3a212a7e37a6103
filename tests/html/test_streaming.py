"""Parts of a page that React streams are put where its scripts put them; no text is lost or repeated."""

import pytest

from tests.html.pages import blocks_of, texts_of
from victor_spark.html.canonical import canonical, restored
from victor_spark.html.streaming import with_parts_placed

PLACE = '<!--$?--><template id="B:{0}"></template><i>Loading</i><!--/$-->'.format
PART = '<div hidden id="S:{0}">{1}</div>'.format
MOVE = '<script>$RC=function(b,c){{}};$RC("B:{0}","S:{0}")</script>'.format


def texts(source: str) -> list[str]:
    return texts_of(blocks_of(source))


def test_a_part_replaces_what_its_place_shows_while_it_is_loaded() -> None:
    source = f"<h2>Ferry</h2>{PLACE(0)}<h2>Fees</h2>{PART(0, '<p>Leaves at <div>six</div></p>')}{MOVE(0)}"
    assert texts(source) == ["Ferry", "Leaves at", "six", "Fees"]
    assert restored(source)[0] == canonical(source).html
    assert "hidden" not in canonical(source).html


def test_scripts_and_links_may_follow_a_part() -> None:
    between = '<script>x()</script><link rel="preload" href="/a.png"/><script>y()</script>'
    assert texts(f"a{PLACE(0)}b{PART(0, '<p>c</p><script>z()</script>')}{between}{MOVE(0)}") == [
        "a",
        "c",
        "b",
    ]


def test_places_in_parts_and_in_limits_of_others() -> None:
    source = (
        f"<!--$-->a{PLACE('1')}b<!--/$-->{PLACE('a')}<!--$!-->c<!--/$-->"
        + PART(
            1,
            f"d<!--</div>-->{PLACE(2)}<script>'</div>'</script>e<div>f</div><template id='x'></template>"
            '<!--$--><template id="P:3"></template>k<!--/$-->',
        )
        + f'{PART(3, "g")}<script>$RS("S:3","P:3")</script>{PART(2, "h")}'
        + f'<script>$RR("B:2","S:2",[["x.css","high"]]);$RC("B:1","S:1")</script>{PART("a", "i")}{MOVE("a")}j'
    )
    assert "".join(texts(source)) == "adhefgkbicj"


@pytest.mark.parametrize(
    "source",
    [
        PLACE(0) + PART(0, "a"),  # no script moves it
        PART(0, "a") + PLACE(0) + MOVE(0),
        PART(0, f"a{PLACE(0)}") + MOVE(0),
        PLACE(0) + MOVE(0) + '<div hidden id="S:0">a',
        PART(0, "a") + MOVE(0),
        f"<p>a</p>{PLACE(0)}{MOVE(0)}",
        f'<!--$?--><template id="B:0"></template>{PART(1, "a<!--/$-->b")}{MOVE(2)}{PART(0, "c")}{MOVE(0)}',
        PLACE(0) + PART(0, "a") + "</script>" + PART(1, "b"),  # an end of a script that has no beginning
        PLACE(0) + PART(0, "a") + "</script><script>x</script>" + MOVE(0),
        PLACE(0) + PART(0, "a") + "<SCRIPT>x</SCRIPT></script><script>x</script><script>y</script>" + MOVE(0),
    ],
)
def test_other_pages_stay_as_they_are(source: str) -> None:
    assert with_parts_placed(source.encode()) == source.encode()


def test_a_part_stands_once_however_often_it_is_moved() -> None:
    source = PLACE(0) + PLACE(1) + PART(0, "a") + '<script>$RC("B:0","S:0");$RC("B:1","S:0")</script>'
    assert texts(source) == ["a", "Loading"]


def test_a_place_takes_the_first_part_and_the_text_of_the_second_stays() -> None:
    source = PLACE(0) + PART(0, "a") + PART(1, "b") + '<script>$RC("B:0","S:0");$RC("B:0","S:1")</script>'
    assert texts(source) == ["a", "b"]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("n", [20_000])
@pytest.mark.parametrize(
    "piece",
    [
        PLACE("{0}") + PART("{0}", "x") + MOVE("{0}"),
        '<template id="B:{0}"></template><div hidden id="S:{0}"><!--$?-->' + MOVE("{0}"),
        '<div hidden id="S:{0}"><script>',
        '<div hidden id="S:{0}"><!--',
        "<!--/$--></div><!--$?-->",
        '<div hidden id="S:{0}"></script><script></script>',
        '</div<div hidden id="S:<template id="B:{0}"',
    ],
)
def test_many_parts_take_linear_time(piece: str, n: int) -> None:
    pieces = [piece.replace("{0}", str(number)) for number in range(n)]
    for source in ("".join(pieces), "".join(pieces) + "</div>" * n, "".join(reversed(pieces))):
        with_parts_placed(f"{PART('x', 'x')}{source}".encode())


@pytest.mark.timeout(120)
def test_parts_in_each_other_are_placed_without_recursion() -> None:
    n = 20_000
    pieces = (PART(number, f"a{PLACE(number + 1)}") + MOVE(number) for number in range(n))
    assert "".join(texts(PLACE(0) + "".join(pieces))) == "a" * n + "Loading"
