"""Exports of a store: gold that training reads unchanged, CleanEval's folders, pages with labels."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from resiliparse.parse.html import HTMLTree

from tests.annotation.serving import write_pages
from victor_spark.annotation import annotations, importing, progress, store
from victor_spark.annotation.annotations import Action
from victor_spark.annotation.export import carried_over, merged
from victor_spark.annotation.store import Store
from victor_spark.blocks import OTHER
from victor_spark.cli import main
from victor_spark.errors import AnnotationError
from victor_spark.evaluation import gold, labelling
from victor_spark.html.canonical import canonical
from victor_spark.html.segment import segment
from victor_spark.settings import Settings

PAGE = """<!DOCTYPE html><html lang=en><head><title>Bridge</title><script>var a = "<p>no</p>";</script>
<style>p { margin: 0 }</style></head><body><!-- top --><ul><li>Home</ul><b>A bridge at last</b>
<p>The mayor opened <a href=/b>the bridge</a> today.</p><script>more()</script><p>Photo: me</p>
<select><option>one</option></select><textarea>write
&lt;here&gt;</textarea><svg><text>x</text></svg><p>End.</p> <xmp><b>code</b></xmp></body></html>"""


def finish(kept: Store, page: int, name: str, labels: dict[int, int], *, judge: bool = False) -> None:
    """The annotator labels these blocks and is done."""
    for n, (block, label) in enumerate(labels.items()):
        annotations.act(kept, page, name, Action(f"{n}", "label", n, [[block, block]], label), judge=judge)
    annotations.act(kept, page, name, Action("done", "done", len(labels)), judge=judge)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Store]:
    """A store with one page, finished: header 1, text 2 to 4, a comment 5 (which means other)."""
    (tmp_path / "page.html").write_text(PAGE)
    path = tmp_path / "a.sqlite"
    words = ["annotate", str(tmp_path / "page.html"), "--store", str(path), "--label", "comment=other"]
    assert main([*words, "--no-prelabels", "--import-only"]) == 0
    opened = store.open_existing(path)
    finish(opened, 3, "Anna", {1: 0, 2: 1, 3: 1, 4: 1, 5: 3})
    yield opened
    opened.close()


def export(kept: Store, form: str, output: Path) -> Path:
    words = ["annotate", "export", "--store", str(kept.path), "--format", form, "--output", str(output)]
    assert main(words) == 0
    return output


@pytest.mark.parametrize("name", ["mine.jsonl", "mine.jsonl.xz"])
def test_gold_lines_hold_the_kept_text_and_give_training_the_labels_themselves(
    kept: Store, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (page,) = gold.read(export(kept, "gold", tmp_path / name))
    assert "exporting: 1/1, " in capsys.readouterr().err
    assert page.gold == "A bridge at last\nThe mayor opened the bridge today."
    assert page.html == PAGE
    assert page.gold_markup == "<h>A bridge at last\n<p>The mayor opened the bridge today.\n"
    assert page.meta["own_labels"][3] == "comment"
    assert page.meta["own_block_labels"][5] == "3"
    labelled = labelling.label(page)
    assert labelled.labels.tolist() == [2, 0, 1, 1, 1, 2, 2, 2, 2, 2]
    assert labelled.found == 1.0


def test_cleaneval_folders_are_read_by_evaluate(kept: Store, tmp_path: Path) -> None:
    output = export(kept, "cleaneval", tmp_path / "out")
    ((_, read),) = gold.sources([str(output / "gold")], str(output / "html"))
    (page,) = read()
    assert page.gold == "A bridge at last\nThe mayor opened the bridge today."
    assert page.html == PAGE


def test_the_page_with_labels_is_the_whole_page_scripts_and_all(kept: Store, tmp_path: Path) -> None:
    (path,) = export(kept, "html", tmp_path / "out").iterdir()
    html = path.read_text()
    for whole in (
        '<script>var a = "<p>no</p>";</script>',
        "<style>p { margin: 0 }</style>",
        "<!-- top -->",
        "<svg>",
    ):
        assert whole in html
    tree = HTMLTree.parse(html).document
    labelled = [
        (element.getattr("data-victor-label"), " ".join(element.text.split()))
        for element in tree.query_selector_all("[data-victor-label]")
    ]
    assert labelled == [
        ("other", "Home"),
        ("header", "A bridge at last"),
        ("text", "The mayor opened"),
        ("text", "the bridge"),
        ("text", "today."),
        ("comment", "Photo: me"),
        ("other", "one"),
        ("other", "write <here>"),
        ("other", "End."),
        ("other", "<b>code</b>"),
    ]


def test_a_page_of_several_has_the_majoritys_labels_until_a_judge_decides(
    kept: Store, tmp_path: Path
) -> None:
    finish(kept, 3, "Ben", {1: 0, 2: 1, 3: 1, 4: 1, 8: 1})
    finish(kept, 3, "Cy", {1: 1, 2: 1, 3: 1, 4: 1})
    (row,) = map(json.loads, export(kept, "gold", tmp_path / "m.jsonl").read_text().splitlines())
    assert row["meta"]["block_labels"] == "2011122222"
    assert row["meta"]["annotators"] == ["Anna", "Ben", "Cy"]
    finish(kept, 3, "Dee", {8: 1}, judge=True)
    (row,) = map(json.loads, export(kept, "gold", tmp_path / "m.jsonl").read_text().splitlines())
    assert row["meta"]["block_labels"] == "2011122212"
    assert row["meta"]["judge"] == "Dee"


def test_what_is_done_stays_so_with_a_note_and_is_open_again_after_a_change(kept: Store) -> None:
    def act(kind: str, revision: int, **more: Any) -> dict[str, Any]:
        return annotations.act(kept, 3, "Anna", Action(f"{revision}", kind, revision, **more))

    def row() -> store.Row:
        return annotations.open_page(kept, 3, "Anna")

    assert act("note", 6, text="dark")["state"] == "done"
    assert row()["done"] is not None
    undone = act("undo", 7)
    assert (undone["state"], undone["can_redo"], row()["done"]) == ("open", True, None)
    assert not act("label", 8, runs=[[0, 0]], label=1)["can_redo"]
    with pytest.raises(AnnotationError, match="nothing to redo"):
        act("redo", 9)


def test_a_judge_begins_with_the_labels_of_those_who_are_done_and_the_last_judge_decides(
    kept: Store, tmp_path: Path
) -> None:
    annotations.act(kept, 3, "Ben", Action("0", "label", 0, [[8, 8]], 1))  # not done
    annotations.act(kept, 3, "Anna", Action("n", "note", 6, text="dark"))
    blank, of_anna = "2" * 10, "2011132222"
    finish(kept, 3, "Dee", {8: 0}, judge=True)
    assert annotations.state(kept, 3, "Eve", judge=True)["labels"] == of_anna
    annotations.act(kept, 3, "Eve", Action("c", "clear", 0), judge=True)
    assert annotations.state(kept, 3, "Eve", judge=True)["labels"] == blank
    annotations.act(kept, 3, "Eve", Action("r", "restore", 1), judge=True)
    assert annotations.state(kept, 3, "Eve", judge=True)["labels"] == of_anna
    finish(kept, 1, "Anna", {0: 1})  # for practice
    annotations.act(kept, 3, "Eve", Action("d", "done", 2), judge=True)
    (line,) = map(json.loads, export(kept, "gold", tmp_path / "m.jsonl").read_text().splitlines())
    meta = line["meta"]
    assert (meta["annotators"], meta["judge"], meta["notes"]) == (["Anna"], "Eve", ["dark"])
    assert meta["block_labels"] == of_anna.replace("3", "2")


def test_a_page_that_somebody_opened_and_one_of_another_segmentation_keep_their_labels(
    kept: Store, tmp_path: Path
) -> None:
    (tmp_path / "other.html").write_text("<p>The ferry left at noon.<p>It came back at night.")
    ours = importing.prelabeller(Settings("kimatu"))
    importing.add_inputs(kept, [str(tmp_path / "other.html")], importing.prelabeller(None), limit=None)
    with kept.writing() as connection:
        connection.execute("UPDATE page SET n_blocks = 3 WHERE id = 4")
    assert importing.renew(kept, ours) == 0
    with kept.writing() as connection:
        connection.execute("UPDATE page SET n_blocks = 2 WHERE id = 4")
    assert [importing.renew(kept, ours) for _ in range(2)] == [1, 0]


def test_labels_of_an_older_segmentation_stay_where_they_were() -> None:
    markup = "<p>One<script>s()</script></p><p>two <b>three</b></p>"
    html = canonical(markup).html
    start = np.array([html.index("One"), html.index("two")], dtype=np.int32)
    older = store.Content(markup, html, start, start + 3)
    labels = carried_over(older, np.array([0, 1], dtype=np.uint8), segment(html))
    assert labels.tolist() == [0, 1, OTHER], "a block behind a stored one has no label"
    whole = merged(older, ["header", "text"])
    assert '<span data-victor-label="header">One</span><script>s()</script></p>' in whole
    changed = replace(older, html=html.replace("<b>", "<i>").replace("</b>", "</i>"))
    assert merged(changed, ["header", "text"]).endswith(
        '<p><span data-victor-label="header">One</span></p>'
        '<p><span data-victor-label="text">two</span> <i>three</i></p></body></html>'
    )


def test_nothing_finished_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "a.sqlite"
    pages = write_pages(tmp_path / "pages", 1)
    assert main(["annotate", str(pages), "--store", str(kept), "--no-prelabels", "--import-only"]) == 0
    out = tmp_path / "g.jsonl"
    assert main(["annotate", "export", "--store", str(kept), "--output", str(out)]) == 2
    assert "no page is done" in capsys.readouterr().err
    assert not out.exists()
    assert main(["annotate", "export", "--store", str(tmp_path / "none"), "--output", str(out)]) == 2
    assert "no such annotation store" in capsys.readouterr().err


def test_cohens_kappa_is_that_of_the_text_book() -> None:
    # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: observed 0.7, by chance 0.5.
    first = "1" * 25 + "0" * 25
    second = "1" * 20 + "0" * 5 + "1" * 10 + "0" * 15
    assert progress.cohen(first, second) == pytest.approx(0.4)
    assert progress.cohen("0123", "0123") == 1.0
    assert progress.cohen("000", "000") is None
    assert progress.cohen("", "") is None


def test_fleiss_kappa_is_that_of_fleiss_1971() -> None:
    # The table of ten subjects, fourteen raters and five categories known from the article on Fleiss' kappa.
    counts = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    blocks = [[str(label) for label, n in enumerate(row) for _ in range(n)] for row in counts]
    assert progress.fleiss(blocks) == pytest.approx(0.2099, abs=1e-4)
    assert progress.fleiss([]) is None
    assert progress.fleiss([["1", "1"], ["2", "2", "2"]]) == 1.0


def test_the_agreement_report_names_pairs_and_pages(kept: Store, capsys: pytest.CaptureFixture[str]) -> None:
    finish(kept, 3, "Ben", {1: 0})
    assert main(["annotate", "agreement", "--store", str(kept.path)]) == 0
    message = capsys.readouterr().out
    assert "Anna and Ben: kappa 0.259" in message
    assert "4 of 10 blocks differ, not decided" in message
    assert main(["annotate", "agreement", "--store", str(kept.path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"][0]["n_blocks"] == 10
