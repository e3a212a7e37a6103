"""The columns of a table line up if its cells differ in length."""

from victor_spark.logs import aligned


def test_names_are_flush_left_and_numbers_flush_right() -> None:
    rows = [("site", "language", "pages"), ("heron.example", "cs", 3), ("x", "a long name", 12_000)]
    assert aligned(rows, n_left=2) == [
        "site           language     pages",
        "heron.example  cs               3",
        "x              a long name  12000",
    ]
