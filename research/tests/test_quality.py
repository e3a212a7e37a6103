"""docs/quality.md is made of stored results, and says plainly what is ahead, behind and not examined."""

from pathlib import Path

import pytest

import research
from research import against_peers, out_of_fold, quality, quality_tables
from research.out_of_fold import Decided, PageRow
from research.peers_raw import PeerRow


def row(number: int, n_common: int, n_gold: int = 10) -> PageRow:
    decided = Decided(10, n_common, 0.8)
    return PageRow("news", f"page{number}", f"site{number}", "en", "article", 0, n_gold, decided, decided)


def test_the_worst_pages_have_content_and_a_reason_or_say_that_nobody_looked() -> None:
    rows = [row(1, 9), row(2, 1), row(3, 0, n_gold=0), row(4, 1, n_gold=30)]
    assert [each.id for each in quality_tables.worst_pages(rows, 3)] == ["page4", "page2", "page1"]
    table = list(quality_tables.worst(rows, {("news", "page2"): "a poem in a table"}))
    assert table[1].endswith("| not examined |")
    assert table[2].endswith("| a poem in a table |")


def test_groups_that_are_behind_are_named_first() -> None:
    mine = [row(n, 5) for n in range(6)]
    peers = [PeerRow("news", f"page{n}", "one", 10, 9, 10) for n in range(6)]
    compared = {"peers": {"one": "One 1.0"}, **against_peers.compare(mine, peers)}
    behind, settled, ahead = quality_tables.verdicts(compared)
    assert "news (set)" in behind
    assert settled.endswith("none")
    assert ahead.endswith("none")
    lines = "\n".join(quality_tables.peers(compared))
    assert "| news | 6 | 6 | 0.500 | one | **0.900** | -0.400 (-0.400 … -0.400) | behind |" in lines


def test_presets_stand_in_the_curve_with_the_best_of_each_measure_in_bold() -> None:
    curve = [
        {"beta": beta, "precision": p, "recall": r, "f0.5": p, "f1": 0.8, "f2": r}
        for beta, p, r in ((0.5, 0.9, 0.7), (1.0, 0.8, 0.8), (2.0, 0.7, 0.9))
    ]
    curve.append({**curve[1], "by themselves": True})
    table = list(quality_tables.preferences(curve))
    assert table[1] == "| 0.5 | `--prefer precision` | 0.900 | 0.700 | **0.900** | **0.800** | 0.700 |"
    assert "`--prefer recall`" in table[3]
    assert table[4].startswith("| 1 | independent blocks | 0.800")


@pytest.mark.skipif(not (research.RESULTS / out_of_fold.FILE_NAME).is_file(), reason="no results out of fold")
def test_the_document_in_the_repository_is_what_the_command_writes(tmp_path: Path) -> None:
    assert quality.main(["--output", str(tmp_path / "quality.md")]) == 0
    assert (tmp_path / "quality.md").read_text() == (
        research.FOLDER.parent / "docs" / "quality.md"
    ).read_text()
    assert (tmp_path / "pictures" / "quality-expected.png").is_file()
    assert "not examined" not in (tmp_path / "quality.md").read_text()
