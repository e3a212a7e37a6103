"""The comparison says ahead only where its interval does; peers get raw html and may fail."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from research import against_peers, out_of_fold, peers_raw, snippets
from research.out_of_fold import Decided, PageRow
from research.peers_raw import PeerRow
from tests.evaluation.invented import write_sets
from victor_spark.errors import VictorError
from victor_spark.evaluation import gold
from victor_spark.evaluation.gold import GoldPage
from victor_spark.extractors import peers

needs_peers = pytest.mark.skipif(
    not all(peers.installed(peers.PEERS[name]) for name in peers_raw.NAMES),
    reason="extra peers not installed",
)


def rows(set_name: str, ours: list[int], theirs: dict[str, list[int]]) -> tuple[list[PageRow], list[PeerRow]]:
    """Pages of ten words, one a site; how many of them each finds."""
    mine = [
        PageRow(set_name, f"{n}", f"{set_name}{n}", "en", "article", 0, 10, *[Decided(10, right, 0.9)] * 2)
        for n, right in enumerate(ours)
    ]
    others = [
        PeerRow(set_name, f"{n}", name, 10, right, 10)
        for name, found in theirs.items()
        for n, right in enumerate(found)
    ]
    return mine, others


def test_ahead_behind_and_not_settled_are_distinguished_against_the_best_peer_of_each_set() -> None:
    found: tuple[list[PageRow], list[PeerRow]] = ([], [])
    for name, ours, one, other in (
        ("won", [9, 8, 9, 10, 9, 9], [7, 6, 7, 8, 7, 7], [1, 2, 3, 1, 2, 3]),
        ("lost", [5, 5, 6, 5, 5, 4], [2, 2, 3, 2, 3, 2], [9, 9, 8, 9, 9, 9]),
        ("open", [9, 5, 9, 5, 9, 5], [5, 9, 5, 9, 5, 9], [1, 1, 1, 1, 1, 1]),
    ):
        mine, others = rows(name, ours, {"one": one, "other": other})
        found[0].extend(mine)
        found[1].extend(others)
    compared = against_peers.compare(*found)
    sets = compared["set"]
    assert {name: row["verdict"] for name, row in sets.items()} == {
        "won": "ahead", "lost": "behind", "open": "not settled"}  # fmt: skip
    assert {name: row["best_peer"] for name, row in sets.items()} == {
        "won": "one",
        "lost": "other",
        "open": "one",
    }
    assert sets["won"]["difference"]["mean"] == pytest.approx(0.2)
    assert compared["mean over sets"]["best peer of each set"] == pytest.approx((0.7 + 53 / 60 + 0.7) / 3)
    assert set(compared["page type"]) == {"won: article", "lost: article", "open: article"}
    assert compared["all"]["all"]["n_pages"] == 18
    assert any("lost" in line and "behind" in line for line in against_peers.lines(compared))


def test_a_page_that_a_peer_never_saw_is_refused() -> None:
    mine, others = rows("news", [9] * 6, {"one": [9] * 6})
    with pytest.raises(VictorError, match="news 5 one"):
        against_peers.compare(mine, others[:-1])


@needs_peers
def test_peers_get_the_raw_html_and_what_fails_is_an_empty_output(tmp_path: Path) -> None:
    pages = [page for path in gold.find(write_sets(tmp_path, 1, 1)).values() for page in gold.read(path)]
    pages.append(GoldPage("nothing", "news", "", "A gold text of six words"))
    found = list(peers_raw.measure(pages, ("resiliparse", "readability"), n_jobs=1))
    by_page = {(row.id, row.peer): row for row in found}
    assert len(by_page) == 6
    assert by_page["news/0/0", "resiliparse"].f1 > 0.9
    assert by_page["nothing", "readability"].failure
    assert by_page["nothing", "readability"].n_gold == 6
    peers_raw.write(tmp_path / "rows.gz", found)
    assert sorted(map(repr, peers_raw.read(tmp_path / "rows.gz"))) == sorted(map(repr, found))


@needs_peers
def test_the_command_runs_peers_once_and_compares_again_without_the_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peers_raw, "NAMES", ("resiliparse",))
    data = write_sets(tmp_path / "pages", n_sites=3)
    decided = Decided(10, 10, 0.9)
    mine = [
        PageRow(page.set, page.id, gold.site(page), "en", None, 0, 10, decided, decided)
        for path in gold.find(data).values()
        for page in gold.read(path)
    ]
    model = tmp_path / "model"
    model.mkdir()
    out_of_fold.write(model / out_of_fold.FILE_NAME, mine)
    assert against_peers.main(["--results", str(model)]) == 2
    assert "--data" in capsys.readouterr().err
    assert against_peers.main(["--results", str(model), "--data", str(data), "--jobs", "1"]) == 0
    first = (model / against_peers.COMPARISON).read_text()
    assert "Resiliparse".casefold() in first.casefold()
    assert against_peers.main(["--results", str(model)]) == 0
    assert (model / against_peers.COMPARISON).read_text() == first
    (stored := peers_raw.read(model / against_peers.PER_PAGE)).sort(key=lambda row: row.id)
    peers_raw.write(model / against_peers.PER_PAGE, [replace(stored[0], n_common=0), *stored[2:]])
    assert against_peers.main(["--results", str(model), "--data", str(data), "--jobs", "1"]) == 0
    again = {row.id: row for row in peers_raw.read(model / against_peers.PER_PAGE)}
    assert again[stored[0].id].n_common == 0, "a stored result was made again"
    assert again[stored[1].id] == stored[1]


@needs_peers
def test_languages_without_gold_texts_are_measured_by_snippets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers_raw, "NAMES", ("resiliparse",))
    story = " ".join(f"The old bridge number {n} is closed until spring, said the mayor." for n in range(9))
    lines = [
        {
            "id": f"{n}", "host": f"site{n}.example", "lang": "de" if n < 6 else "pl", "gold": None,
            "html": f"<body><nav>Menu {n}</nav><article><h1>Bridges</h1><p>{story}</p></article></body>",
            "meta": {"with": ["bridge  number 3"], "without": [f"Menu {n}"]},
        }
        for n in range(8)
    ]  # fmt: skip
    (tmp_path / "few.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = ("--data", str(tmp_path), "--results", str(tmp_path), "--set", "few", "--jobs", "1")
    assert snippets.main(words) == 0
    found = json.loads((tmp_path / snippets.RESULTS).read_text())
    assert {name: row["n_pages"] for name, row in found.items()} == {"all": 8, "de": 6}
    assert found["de"]["means"]["victor"] == 1.0
    assert snippets.main([*words, "--set", "none"]) == 2
