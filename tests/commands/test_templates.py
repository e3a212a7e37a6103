"""`victor templates show, diff, evaluate, apply` without Spark: output and errors."""

import json
import random
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.evaluation.invented import write_sets
from victor_spark.cli import main
from victor_spark.templates import table
from victor_spark.templates.mine import mine

Run = Callable[..., tuple[int, list[str], list[str]]]

MARCH = datetime(2025, 3, 1, tzinfo=UTC)
NOTICE = "Subscribe to our newsletter today\nAll rights reserved, Harbour Gazette\n"


def text(n: int) -> str:
    """A page of a gazette."""
    chance = random.Random(n)
    story = " ".join("".join(chance.choices("aeioubdfgklmnprst", k=6)) for _ in range(60))
    return f"{story}\n{NOTICE}"


def mined(path: Path, *, site: str = "gazette.example", more: str = "") -> Path:
    """A table of one site, mined now."""
    found = mine(site, [text(n) + more for n in range(8)])
    rows = table.rows(found, MARCH)
    pq.write_table(table.with_grouping(rows, "host"), path)
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def of(*words: object) -> tuple[int, list[str], list[str]]:
        code = main(["templates", *map(str, words)])
        printed = capsys.readouterr()
        return code, printed.out.splitlines(), printed.err.splitlines()

    return of


def test_show_lists_sites_and_tells_of_one(tmp_path: Path, run: Run) -> None:
    path = mined(tmp_path / "t.parquet")
    code, sites, _ = run("show", path)
    assert code == 0
    assert sites[1].split() == [str(len(table.read(path))), "8", "gazette.example"]
    _, lines, _ = run("show", path, "gazette.example")
    report = "\n".join(lines)
    assert "on 8 of 8 pages" in report
    assert "Harbour" in report
    assert report.count("   example: ") == 1


def several(path: Path) -> Path:
    """A table of one site with three templates: of letter0, letter1, letter2. The most frequent vanished."""
    (row,) = table.read(mined(path)).to_pylist()
    rows = [
        {
            **row,
            "regex": row["regex"].replace("newsletter", f"letter{n}"),
            "tokens": [token.replace("newsletter", f"letter{n}") for token in row["tokens"]],
            "document_frequency": 8 - n,
            "vanished": n == 0,
        }
        for n in range(3)
    ]
    pq.write_table(pa.Table.from_pylist(rows, schema=pq.read_schema(path)), path)
    return path


def test_show_stops_at_its_limit_and_says_so_and_ends_with_templates_that_vanished(
    tmp_path: Path, run: Run
) -> None:
    path = several(tmp_path / "t.parquet")
    for limit, shown, more in ((1, ["letter1"], 2), (0, ["letter1", "letter2", "letter0"], 0)):
        _, lines, _ = run("show", path, "gazette.example", "--limit", limit)
        assert re.findall(r"letter\d", "".join(lines)) == shown
        assert (f"{more} more: --limit 0" in lines) == bool(more)
    assert "3. on 8 of 8 pages" in "".join(lines)
    assert "vanished after 2025-03-01" in "".join(lines)


def test_diff_shows_kept_templates_of_one_site_and_all_changes_without_a_limit(
    tmp_path: Path, run: Run
) -> None:
    old, new = mined(tmp_path / "old.parquet"), several(tmp_path / "new.parquet")
    assert len(run("diff", new, new)[1]) == 1
    assert len(run("diff", new, new, "--site", "gazette.example")[1]) == 3
    _, lines, _ = run("diff", old, new)
    assert run("diff", old, new, "--limit", 0)[1] == lines
    assert len(lines) > 3


def test_show_names_near_sites(tmp_path: Path, run: Run) -> None:
    path = mined(tmp_path / "t.parquet")
    code, _, printed = run("show", path, "www.gazette.example")
    assert code == 2
    assert "did you mean gazette.example" in printed[-1]


@pytest.mark.parametrize("command", ["show", "diff"])
def test_a_mistyped_site_gets_a_suggestion(tmp_path: Path, run: Run, command: str) -> None:
    path = mined(tmp_path / "t.parquet")
    words = {
        "show": (path, "gazete.example"),
        "diff": (path, path, "--site", "gazete.example"),
    }
    code, out, (line,) = run(command, *words[command])
    assert (code, out) == (2, [])
    assert "no templates of gazete.example (did you mean gazette.example?)" in line


def test_diff_tells_what_came_and_what_went(tmp_path: Path, run: Run) -> None:
    old = mined(tmp_path / "old.parquet")
    new = mined(tmp_path / "new.parquet", more="Written with care by the sea\n")
    code, lines, _ = run("diff", old, new, "--output", tmp_path / "changes.parquet")
    assert code == 0
    assert lines[0].startswith("gazette.example: ")
    assert any(line.startswith("  + ") and "care" in line for line in lines)
    assert pq.read_table(tmp_path / "changes.parquet").num_rows > 0
    _, same, _ = run("diff", old, old, "--site", "gazette.example")
    assert "0 added, 0 vanished" in same[0]
    assert run("diff", old, new, "--limit", 1)[1] == [*lines[:2], f"  {len(lines) - 2} more: --limit 0"]
    pq.write_table(pq.read_table(old).slice(0, 0), tmp_path / "empty.parquet")
    assert run("diff", *[tmp_path / "empty.parquet"] * 2)[1] == ["no templates in either table"]


def test_apply_cleans_one_page_by_its_address(tmp_path: Path, run: Run) -> None:
    path = mined(tmp_path / "t.parquet")
    page = tmp_path / "page.html"
    page.write_text(
        "".join(f"<p>{line}</p>" for line in f"The fog lies on the water.\n{NOTICE}".splitlines())
    )
    code, lines, _ = run("apply", page, "--url", "http://gazette.example/9", "--templates", path)
    assert (code, lines) == (0, ["The fog lies on the water."])
    _, elsewhere, _ = run("apply", page, "--url", "http://other.example/9", "--templates", path)
    assert len(elsewhere) == 3


def test_evaluate_judges_templates_the_cleaner_and_both(tmp_path: Path, run: Run) -> None:
    gold = write_sets(tmp_path / "gold", n_sites=1, n_pages=6)
    words = ("--cleaner", "kimatu", "--min-pages", 3, "--output", tmp_path / "out")
    code, lines, _ = run("evaluate", "--gold", gold, *words)
    assert code == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert set(results["mean_over_sites"]) == {
        "all text",
        "kimatu",
        "templates",
        "kimatu, then templates",
        "templates, then kimatu",
    }
    assert any(line.startswith("most recall lost after kimatu") for line in lines)
    code, lines, _ = run("evaluate", "--gold", gold, "--view", "cleaned", *words, "--overwrite")
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert set(results["mean_over_sites"]) == {"all text", "kimatu", "kimatu, then templates"}
    code, _, printed = run("evaluate", "--gold", gold, "--min-pages", 7, "--output", tmp_path / "none")
    assert code == 2
    assert "no site has 7 gold pages (the largest has 6): lower --min-pages" in printed[-1]


def other_version(path: Path) -> Path:
    found = table.read(mined(path))
    schema = found.schema.with_metadata({table.VERSION_KEY: "99"})
    pq.write_table(found.cast(schema), path)
    return path


def parquet_of_something_else(path: Path) -> Path:
    pq.write_table(pa.table({"site": ["a"]}), path)
    return path


def no_parquet(path: Path) -> Path:
    path.write_text("site,regex\n")
    return path


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (other_version, "a table of templates of version 99, not 2"),
        (parquet_of_something_else, "is no table of templates"),
        (no_parquet, "table of templates can't be read"),
        (lambda path: path, "no such"),
    ],
)
@pytest.mark.parametrize("command", ["show", "diff", "apply", "clean"])
def test_what_is_no_table_of_ours_is_one_line_and_exit_code_2(
    make: Callable[[Path], Path],
    message: str,
    command: str,
    tmp_path: Path,
    run: Run,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = make(tmp_path / "t.parquet")
    page = tmp_path / "page.html"
    page.write_text("<p>The fog lies on the water.</p>")
    if command == "clean":
        code = main(["clean", str(page), "--templates", str(path)])
        printed = capsys.readouterr().err.splitlines()
    else:
        words = {
            "show": (path, "gazette.example"),
            "diff": (path, path),
            "apply": (page, "--templates", path),
        }[command]
        code, _, printed = run(command, *words)
    assert code == 2
    assert len(printed) == 1
    assert message in printed[0].lower() or message in printed[0]
    assert "t.parquet" in printed[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--pattern", "sid=[0-9"), "sid"),
        (("--pattern", "no-equals"), "expected NAME=REGEX"),
        (("--pattern", "sid="), "expected NAME=REGEX"),
        (("--pattern", "=[0-9]+"), "expected NAME=REGEX"),
        (("--group-by", "planet"), "registered-domain, host or path-prefix:N"),
        (("--cleaner", "kimatu"), "--view cleaned"),
        (("--update", "nowhere.parquet"), "nowhere.parquet"),
        (("--min-pages", "1"), "at least 2"),
        (("--max-pages-per-site", "0"), "not a whole number between 1 and 1,000,000"),
    ],
)
def test_mine_refuses_what_makes_no_sense_before_spark_starts(
    words: tuple[str, ...], message: str, tmp_path: Path, run: Run
) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>The fog lies on the water.</p>")
    code, _, printed = run("mine", page, "--output", tmp_path / "t.parquet", *words)
    assert code == 2
    assert len(printed) == 1
    assert message in printed[0]
    assert not (tmp_path / "t.parquet").exists()


def test_a_cleaner_called_template_needs_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>The fog lies on the water.</p>")
    assert main(["clean", str(page), "--cleaner", "victor+template"]) == 2
    assert "needs a table of templates" in capsys.readouterr().err
