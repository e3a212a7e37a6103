"""A hostile crawl costs no good page its row, with and without child processes for pages."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.hostile import making
from tests.spark.crawl import Victor, rows

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile") / "crawl"
    making.write(folder)
    making.sound(folder)
    return folder


def good_rows(found: list[dict[str, Any]]) -> dict[str, Counter[tuple[str, str, str | None]]]:
    """By shard: address, status and text of the good pages' rows, and how often each is there."""
    urls = {making.url(number) for number in making.NEIGHBOURS}
    by_shard: dict[str, Counter[tuple[str, str, str | None]]] = {}
    for row in found:
        counts = by_shard.setdefault(Path(row["warc_filename"]).name, Counter())
        if row["url"] in urls:
            counts[row["url"], row["status"], row["text"]] += 1
    return by_shard


def assert_no_good_row_is_lost(crawl: Path, found: list[dict[str, Any]]) -> None:
    """Every shard has the good rows of the sound one, once each; those that end early have those before."""
    by_shard = good_rows(found)
    sound = by_shard["sound.warc.gz"]
    assert len(sound) == len(making.NEIGHBOURS)
    assert {status for _, status, _ in sound} == {"ok"}
    cut = {name: n_whole for name, _, n_whole in making.cut_shards()}
    lost = {
        path.name: sound - by_shard.get(path.name, Counter())
        for path in sorted(crawl.iterdir())
        if path.name not in cut and by_shard.get(path.name) != sound
    }
    assert not lost
    for name, n_whole in cut.items():
        whole = {url for url, status, _ in by_shard[name] if status == "ok"}
        assert {making.url(number) for number in making.NEIGHBOURS[:n_whole]} <= whole, name


@pytest.mark.parametrize("options", [(), ("--no-sandbox",)], ids=["sandbox", "no sandbox"])
def test_every_good_page_keeps_its_row(
    crawl: Path, victor: Victor, tmp_path: Path, options: tuple[str, ...]
) -> None:
    n_shards = len(list(crawl.iterdir()))
    budgets = ("--max-failed-shards", n_shards, "--max-failed-pages", 10 * n_shards)
    output = tmp_path / "out"
    done = victor("clean", crawl, "--output", output, *budgets, "--master", "local[2]", *options)
    assert done.code == 0, done.lines
    assert_no_good_row_is_lost(crawl, rows(output))


def test_every_shard_that_ends_early_is_a_failed_shard(victor: Victor, tmp_path: Path) -> None:
    cut = [(name, content) for name, content, _ in making.cut_shards()]
    for name, content in cut:
        (tmp_path / name).write_bytes(content)
    paths = [tmp_path / name for name, _ in cut]
    done = victor("clean", *paths, "--output", tmp_path / "out", "--max-failed-shards", len(cut) - 1)
    assert done.code == 3, done.lines
