"""The page in the frame: every block in its element, no active content, for any markup."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from resiliparse.parse.html import HTMLTree

from victor_spark.annotation import frame
from victor_spark.html.canonical import canonical, style_sheets
from victor_spark.html.segment import segment

TRICKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1) alt='a picture'>",
    "<svg onload=alert(1)><script>alert(1)</script><a xlink:href='javascript:alert(1)'>svg</a></svg>",
    "<a href='javascript:alert(1)' ping='//evil' onclick=alert(1) target=_top>link</a>",
    "<meta http-equiv=refresh content='0;url=//evil'>",
    "<base href='//evil/'>",
    "<link rel=stylesheet href=//evil/x.css><link rel=dns-prefetch href=//evil>",
    "<form action=//evil method=post onsubmit=alert(1)><input name=x onfocus=alert(1) value=v></form>",
    "<button formaction=//evil>send</button><select><option>one<option>two</select>",
    "<textarea>in &lt;b&gt; it <script>alert(1)</script></textarea>",
    "<iframe src=//evil srcdoc='<script>alert(1)</script>'>frame</iframe>",
    "<object data=//evil><embed src=//evil>object</object>",
    "<style>@import '//evil'; body { background: url(//evil/a.png) } @im@import;port '//evil';</style>",
    "<div style=\"background:u\\72l(//evil);mask:-webkit-image-set('//e' 1x);position:fixed\">styled</div>",
    "<p style='width:expression(alert(1))' background=//evil hidden>hidden</p>",
    "<noscript><img src=//evil><p>without script</p></noscript>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>",
    "<template><p>inert</p></template>",
    "<details open ontoggle=alert(1)><summary>more</summary>inside</details>",
    "<video src=//evil poster=//evil onerror=alert(1)><source src=//evil>no video</video>",
    "<xmp><script>alert(1)</script></xmp>",
    "<plaintext>",
    "<title>second</title>",
    "<table><tr><td>cell<form><tr>stray<td>other</table>",
    "<v-b id=vb-0 data-b=0 class='v-on x'>not ours</v-b>",
    "<p id=vb-1 name=getElementById>named</p>",
    "<custom-tag onwhatever=alert(1)>own tag</custom-tag>",
    "<p a<b='\"' \"'='x>y'>strange attributes</p>",
    "<body onload=alert(1) class='page' background=//evil>",
    "<html lang=ar dir=rtl onclick=alert(1)>",
    "<ul><li>متن<li>文本<li>עברית</ul>",
    "<!-- comment --><![CDATA[ x ]]><?php echo 1 ?>",
    "<select><option>a</option><optgroup label=g><option>b</select>",
    "<frameset><frame src=//evil></frameset>",
    "</v-b></body></html>text after the end",
    "&lt;script&gt;alert(1)&lt;/script&gt; &amp;lt;",
]
ALLOWED = frame.KEPT | {f"v-{name}" for name in frame.RENAMED} | {"v-x", "v-b"}
ALLOWED |= {"html", "head", "body", "meta", "title", "style", "script"}
ATTRIBUTES = frame.ATTRIBUTES | {"style", "hidden", "data-b", "nonce", "charset", "name", "content"}
LOADS = re.compile(r"\b(url|src|image|image-set|element|expression)\s*\(|@import|<", re.IGNORECASE)
NONCE = "nonce-of-this-answer"

pages = st.lists(
    st.sampled_from([*TRICKS, "<p>plain text</p>", "<div>", "</div>", "<b>", "</table>"]), max_size=12
)


def rendered(html: str, *, plain: bool = False) -> tuple[str, list[str]]:
    """The frame's document, and the text of each block."""
    source = canonical(html).html
    blocks = segment(source)
    offsets = list(zip(blocks.start.tolist(), blocks.end.tolist(), strict=True))
    css = frame.harmless_sheet(style_sheets(html))
    texts = [unescape(source[start:end]) for start, end in offsets]
    return frame.render(source, offsets, styles=css, nonce=NONCE, plain=plain), texts


def check(html: str) -> None:
    for plain in (False, True):
        document, texts = rendered(html, plain=plain)
        tree = HTMLTree.parse(document).document
        found = tree.query_selector_all("v-b")
        assert [element.text for element in found] == texts
        assert [element.getattr("id") for element in found] == [f"vb-{n}" for n in range(len(texts))]
        elements = list(tree.query_selector_all("*"))
        assert {element.tag for element in elements} <= ALLOWED
        for element in elements:
            assert set(element.attrs) <= ATTRIBUTES, element.html
            assert not LOADS.search(element.getattr("style") or "")
        (script,) = tree.query_selector_all("script")
        assert script.getattr("nonce") == NONCE
        for sheet in tree.query_selector_all("style"):
            assert not LOADS.search(sheet.text or "")
        assert len(tree.query_selector_all("meta")) == 2  # ours


@pytest.mark.parametrize("trick", TRICKS)
def test_a_trick_alone_is_inactive_and_its_text_is_in_its_block(trick: str) -> None:
    check(f"<p>before</p>{trick}<p>after</p>")


@given(pages)
def test_any_mixture_of_markup_keeps_its_blocks_and_loses_its_active_content(parts: list[str]) -> None:
    check("".join(parts))


@given(st.text(alphabet="<>/=\"' abiptsxyl&;!-", max_size=60))
def test_tag_soup_gives_every_block_its_element(soup: str) -> None:
    check(soup)


def test_the_page_keeps_its_looks_unless_the_plain_view_is_asked_for() -> None:
    html = "<html dir=rtl lang=ar><style>p { color: red }</style><body class=k><p style='margin:0' hidden>نص"
    page, _ = rendered(html)
    assert "p { color: red }" in page
    assert '<html dir="rtl" lang="ar">' in page
    assert '<body class="v-page k">' in page
    assert '<p style="margin:0" hidden="">' in page
    plain, _ = rendered(html, plain=True)
    assert "color: red" not in plain
    assert "<p>" in plain


def test_pictures_and_fields_leave_a_place_with_their_words() -> None:
    page, _ = rendered(
        "<img src=a.png width=90 height=9999999 alt='Tom &amp; Ann'><input placeholder=Search>"
    )
    assert '<v-img title="Tom &amp; Ann" style="width: 90px"></v-img>' in page
    assert '<v-input title="Search"></v-input>' in page


@pytest.mark.parametrize(
    "css",
    [
        "a { background: URL( 'x' ) }",
        "a { background: u/**/rl(x) }",
        "a { background: u\\52 l(x) }",
        "@IMPORT 'x';",
        "@im@import;port 'x'",
        "a { background: image-set('x' 1x) }",
        "</style><script>",
        "a { src: local(x), url(data:text/html,x) }",
        "/* open comment a { background: url(x)",
    ],
)
def test_no_style_sheet_loads_anything(css: str) -> None:
    clean = frame.harmless_sheet([css])
    assert not LOADS.search(clean)


def test_an_unclosed_style_sheet_does_not_reach_into_the_next() -> None:
    assert frame.harmless_sheet(["@media x { a { color: red", "b {}"]) == "@media x { a { color: red}}\nb {}"


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "unit", ["url(", "url( ", "url('", 'src("', "url(a b ", "@import ", "position : ", "/*"]
)
def test_a_style_sheet_of_addresses_that_nothing_ends_takes_no_longer_than_others(unit: str) -> None:
    """No clock is asserted: a step that is quadratic takes hours and runs into the timeout."""
    for css in (unit * 300_000, unit + " " * 1_000_000 + "x"):
        assert not LOADS.search(frame.harmless_css(css))
