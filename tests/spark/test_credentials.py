"""Credentials in addresses of inputs open them, and are in no output or message of a run."""

import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pyarrow.parquet as pq
import pytest

from tests.spark.crawl import PARAGRAPH, Victor, page, rows
from tests.warc.flaky import Handler, Site, served
from victor_spark.cli import main
from victor_spark.spark import ledger
from victor_spark.spark.files import LocalFiles

pytestmark = pytest.mark.spark

USER, PASSWORD = "annawho", "hunter2"
SIGNATURES = ("f1r5ts1gnature", "s3c0nds1gnature")


def guarded(signature: str) -> Callable[[Handler], None]:
    """Serves who knows user, password and signature."""
    credentials = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()

    def answer(handler: Handler) -> None:
        parts = urlsplit(handler.path)
        given = parse_qs(parts.query).get("X-Amz-Signature")
        if handler.headers.get("Authorization") != f"Basic {credentials}" or given != [signature]:
            handler.answer(403)
            return
        handler.path = parts.path
        handler.serve()

    return answer


@pytest.fixture
def site(crawl: Path) -> Iterator[Site]:
    files = {f"/{path.name}": path.read_bytes() for path in crawl.glob("*.warc.gz")}
    html = page("Ferry", PARAGRAPH, PARAGRAPH).encode()
    with served(Site({**files, "/page.html": html}).always(guarded(SIGNATURES[0]))) as running:
        yield running


def signed(site: Site, name: str, number: int = 0) -> str:
    """The address of a file with all that opens it; what changes with the signature as well."""
    host = site.url.removeprefix("http://")
    date, signature = f"2025010{number + 1}T000000Z", SIGNATURES[number]
    return f"http://{USER}:{PASSWORD}@{host}/{name}?part=1&X-Amz-Date={date}&X-Amz-Signature={signature}"


@contextmanager
def nothing_leaks(folder: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """No file below the folder, no cell of its tables and no line said holds a credential."""
    yield
    caught = capfd.readouterr()
    texts = {"stdout": caught.out, "stderr": caught.err}
    for path in folder.rglob("*"):
        if path.suffix == ".parquet":
            texts[str(path)] = repr(pq.ParquetFile(path).read().to_pylist())
        elif path.is_file():
            texts[str(path)] = path.read_bytes().decode("latin-1")
        texts[f"name of {path}"] = path.name
    for where, text in texts.items():
        for secret in (USER, PASSWORD, *SIGNATURES, "20250101T", "20250102T"):
            assert secret not in text, (where, secret)


def test_a_run_reads_with_credentials_and_keeps_none(
    site: Site, tmp_path: Path, victor: Victor, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    with nothing_leaks(out, capfd):
        inputs = [signed(site, name) for name in ("a.warc.gz", "b.warc.gz", "page.html")]
        outcome = victor("clean", *inputs, "--output", out)
    assert outcome.code == 0
    assert not any(PASSWORD in line or SIGNATURES[0] in line for line in outcome.lines)
    found = rows(out)
    host = site.url.removeprefix("http://")
    names = {row["warc_filename"] for row in found}
    assert names == {f"http://{host}/{name}?part=1" for name in ("a.warc.gz", "b.warc.gz", "page.html")}
    assert sum(row["status"] == "ok" for row in found) == 15
    assert f"http://{host}/page.html?part=1" in {row["url"] for row in found}
    stored = ledger.stored_plan(LocalFiles(str(out))).shards
    assert set(stored["path"].to_pylist()) == names


def test_a_run_is_resumed_with_addresses_that_are_signed_anew(
    site: Site, tmp_path: Path, victor: Victor, capfd: pytest.CaptureFixture[str]
) -> None:
    names, out = ("a.warc.gz", "b.warc.gz", "c.warc.gz"), tmp_path / "out"
    cut = ("--wave-bytes", "1K", "--split-bytes", "64M")
    with nothing_leaks(out, capfd):
        assert victor("clean", *[signed(site, name) for name in names], "--output", out, *cut).code == 0
    whole = rows(out)
    (out / "_run" / "run.json").unlink()
    min((out / "_run" / "ledger").glob("*.json")).unlink()
    site.always(guarded(SIGNATURES[1]))
    with nothing_leaks(out, capfd):
        outcome = victor("clean", *[signed(site, name, 1) for name in names], "--output", out, *cut)
    assert outcome.code == 0, outcome.lines
    assert "resuming" in outcome.lines[0]
    assert rows(out) == whole
    again = victor("clean", *[signed(site, name, 1) for name in names], "--output", out)
    assert "already done" in again.lines[0]
    other = victor("clean", *[signed(site, name, 1) for name in names[:2]], "--output", out)
    assert "other inputs" in other.lines[0]


def test_lists_and_tables_of_signed_addresses_keep_none(
    site: Site, tmp_path: Path, victor: Victor, capfd: pytest.CaptureFixture[str]
) -> None:
    listed, table = tmp_path / "paths.txt", tmp_path / "records.csv"
    first = victor("clean", signed(site, "b.warc.gz"), "--output", tmp_path / "first")
    assert first.code == 0
    row = rows(tmp_path / "first")[0]
    where = f"{row['warc_record_offset']},{row['warc_record_length']}"
    table.write_text(f'filename,offset,length\n"{signed(site, "b.warc.gz")}",{where}\n')
    listed.write_text(f"{signed(site, 'a.warc.gz')}\n{signed(site, 'gone.warc.gz')}\n")
    for name, source in (("by-list", listed), ("by-table", table)):
        out = tmp_path / name
        with nothing_leaks(out, capfd):
            outcome = victor("clean", source, "--output", out, "--max-failed-shards", "1")
        assert outcome.code == 0, outcome.lines
    failed = [row for row in rows(tmp_path / "by-list") if row["warc_record_offset"] is None]
    assert [row["warc_filename"].rpartition("/")[2] for row in failed] == ["gone.warc.gz?part=1"]
    assert "404" in failed[0]["reason"]


def test_errors_and_other_commands_name_no_credential(
    site: Site, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    nowhere = f"http://{USER}:{PASSWORD}@127.0.0.1:9/x.warc.gz?X-Amz-Signature={SIGNATURES[0]}"
    monkeypatch.setattr("victor_spark.warc.remote_files.FIRST_WAIT", 0.0)
    listed = tmp_path / "urls.txt"
    listed.write_text(f"http://{USER}:{PASSWORD}@x.example/\nhttp://127.0.0.1:9/?token={PASSWORD}\n")
    commands = {
        ("clean", nowhere, "--output", "out"): 2,
        ("clean", nowhere, "--output", "out", "--debug"): 2,
        ("clean", "--no-such-option", signed(site, "a.warc.gz")): 2,
        ("clean", signed(site, "gone.html")): 2,
        ("clean", signed(site, "page.html")): 0,
        ("explain", signed(site, "page.html")): 0,
        ("plan", signed(site, "a.warc.gz"), "--json"): 0,
        ("plan", signed(site, "gone.warc.gz")): 2,
        ("annotate", signed(site, "a.warc.gz"), "--store", "a.sqlite", "--import-only", "--no-prelabels"): 0,
        ("fetch", str(listed), "--output", "x.warc.gz", "--tries", "1", "--allow-private"): 2,
        ("templates", "mine", signed(site, "a.warc.gz"), "--output", "t.parquet"): 0,
        ("evaluate", "--gold", signed(site, "gold.jsonl"), "--cleaner", "victor", "--output", "report"): 2,
    }
    for words, code in commands.items():
        with nothing_leaks(tmp_path / "nothing", capfd):
            assert main(words) == code, words
    listed.unlink()
    (tmp_path / "x.warc.gz").unlink(missing_ok=True)  # there the address of a page is data
    with nothing_leaks(tmp_path, capfd):
        assert (tmp_path / "a.sqlite").is_file()
        assert [path.name for path in tmp_path.glob("*.html")] == ["page.explained.html"]
