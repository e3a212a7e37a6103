"""Two models are compared page by page: in every group and over sets, on pages that both have."""

from research.previous import ALL, MEAN, MEAN_OLD, OLD, Measured, compared


def test_groups_have_paired_differences_and_newer_sets_stay_out_of_the_older_ones() -> None:
    pages = [Measured("wcxb", f"{n}", f"site{n}", "forum" if n % 2 else "article") for n in range(8)]
    pages += [Measured("aed", f"{n}", f"news{n}", None) for n in range(4)]
    before = {page[:2]: 0.4 if page.page_type == "forum" else 0.8 for page in pages}
    after = {page[:2]: before[page[:2]] + 0.2 for page in pages[:-1]}  # the last page has no result
    found = compared(pages, after, before)
    assert {name: row.get("n_pages") for name, row in found.items()} == {
        "aed": 3, "wcxb": 8, "wcxb: article": 4, "wcxb: forum": 4,
        ALL: 11, OLD: 8, MEAN_OLD: None, MEAN: None,
    }  # fmt: skip
    forum = found["wcxb: forum"]
    assert forum["below_half"] == [1.0, 0.0]
    assert [round(forum["difference"][key], 6) for key in ("mean", "low", "high")] == [0.2, 0.2, 0.2]
    assert (found[MEAN_OLD]["before"], found[MEAN]["before"]) == (0.6, 0.7)
