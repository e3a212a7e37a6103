"""Pages that `--max-list-share` drops, by set and kind."""

from research import link_lists
from victor_spark.evaluation.gold import GoldPage

LINE = "Late in the evening the last ferry came back to the old pier, and only the captain was on board. "
ARTICLE = f"<h1>The last ferry</h1><p>{LINE * 4}</p><p>{LINE * 5}</p>"
TEASERS = "".join(
    f"<h2><a href=/{n}>Ferry number {n} runs again</a></h2><p>After a long winter in the dock.</p>"
    for n in range(20)
)


def test_lists_are_counted_by_set_and_by_the_kinds_of_wcxb() -> None:
    pages = [
        GoldPage("1", "news", ARTICLE, LINE),
        GoldPage("2", "wcxb", f"{ARTICLE}<ul>{TEASERS}</ul>", LINE, meta={"page_type": "listing"}),
        GoldPage("3", "wcxb", "", None, meta={"page_type": "listing"}),
    ]
    assert [(row["name"], row["n_pages"]) for row in link_lists.count(pages)] == [
        ("news", 1),
        ("wcxb: listing", 1),
    ]
    front = [GoldPage("4", "news", f"<main>{TEASERS}</main>", LINE), pages[0]]
    assert [*link_lists.count(front)] == [{"name": "news", "n_pages": 2, "n_dropped": [1, 1, 1]}]
