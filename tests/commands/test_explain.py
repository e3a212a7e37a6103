"""`victor explain`: one html file with the reasons, without active content of the page."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import victor_spark
from victor_spark.annotation import explained as explanation
from victor_spark.cli import main
from victor_spark.commands.explain import EXPLAIN
from victor_spark.extractors import victor

TEXT = (
    "The harbour master counted the boats twice that morning, because nobody could believe the first count. "
)
PAGE = (
    "<title>Boats</title><ul><li><a href=/>Home</a><li><a href=/b>Boats</a></ul><h1>Boats</h1>"
    + "".join(f"<p>{TEXT * 3}</p>" for _ in range(5))
    + "<script>alert('page')</script><img src=//elsewhere.example/x.png onerror=alert(1)>"
    "<p onclick='alert(2)'>&lt;/script&gt;&lt;b&gt; is shown as it is</p>"
)


def explained(tmp_path: Path, *arguments: str, page: str = PAGE) -> tuple[int, str]:
    """The exit code, and the file that was written."""
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    output = tmp_path / "why.html"
    code = main(["explain", str(tmp_path / "page.html"), "--output", str(output), *arguments])
    return code, output.read_text(encoding="utf-8") if output.exists() else ""


@pytest.mark.parametrize("cleaner", ["victor", "victor-2008", "kimatu"])
def test_every_block_has_its_label_and_probabilities(tmp_path: Path, cleaner: str) -> None:
    code, html = explained(tmp_path, "--cleaner", cleaner)
    assert code == 0
    match = re.search(r'<script type="application/json" id="victor-blocks">(.*?)</script>', html, re.DOTALL)
    assert match
    report = json.loads(match[1])
    assert len(report) == html.count("<v-b ")
    assert {one["label"] for one in report} >= {"text", "other"}
    assert all(abs(sum(one["p"]) - 1) < 0.01 for one in report)
    assert all(("why" in one) == cleaner.startswith("victor") for one in report)


def test_a_headline_that_is_kept_for_its_role_is_shown_as_such() -> None:
    document = victor_spark.clean(PAGE)
    probabilities = document.scores.probabilities.copy()
    title = [block.role for block in document.blocks].index("title")
    probabilities[:title] = (0.0, 0.05, 0.95)  # the menu has the title's word
    for p_other, is_shown in ((0.95, True), (0.01, False)):
        probabilities[title] = (1 - p_other, 0.0, p_other)
        scores = victor.scores(probabilities, document.columns)
        shown = replace(document, scores=scores, kept=scores.kept)
        tooltips = explanation.page(shown, {}, name="page", markup=PAGE)
        assert ('"headline": true' in tooltips) == is_shown
        assert "kept blocks have P(content)" in explanation.verdict(shown)


def test_nothing_of_the_page_acts_or_loads(tmp_path: Path) -> None:
    _, html = explained(tmp_path)
    assert "alert(" not in html
    assert "elsewhere.example" not in re.sub("<pre>.*?</pre>", "", html, flags=re.DOTALL)  # text in Markdown
    assert "Content-Security-Policy" in html
    assert html.count("<script") == html.count("</script>") == 2


def test_a_doubtful_page_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert explained(tmp_path, "--fail-below", "0.1")[0] == 0
    assert explained(tmp_path, "--fail-below", "1.0")[0] == 3
    assert "below 1" in capsys.readouterr().out
    assert explained(tmp_path, page="<div></div>")[0] == 0
    assert explained(tmp_path, "--fail-below", "0.1", "--lang", "cs")[0] == 0
    assert "wrong_language" in capsys.readouterr().out
    assert EXPLAIN.exit_codes.endswith("3 expected F1 below --fail-below")


def test_the_metadata_and_their_sources_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    authors = '<meta name="author" content="Jana Holubová"><meta name="author" content="Ben Rowan">'
    _, html = explained(tmp_path, page=authors + PAGE)
    printed = capsys.readouterr().out
    for line in ("title: Boats (from h1)", "authors: Jana Holubová, Ben Rowan (from meta author)"):
        assert f"\n  {line}\n" in printed
        assert line in html


def test_an_archive_is_no_page(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(root / "sample" / "crawl-00000.warc.gz")]) == 2
    assert "archive" in capsys.readouterr().err
