"""A small crawl, and the command run in this process."""

from pathlib import Path

import pytest

from tests.messages import messages
from tests.spark.crawl import CZECH, PARAGRAPH, Outcome, Response, Victor, page, write_warc
from victor_spark.cli import main


@pytest.fixture(scope="session")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of three shards: 14 pages, a 404, a page without content and a PDF that says it is html."""
    folder = tmp_path_factory.mktemp("crawl")
    english = [
        Response(f"http://www.harbour.example.co.uk/{n}", page(f"Ferry {n}", *[PARAGRAPH] * (n + 1)).encode())
        for n in range(8)
    ]
    missing = Response(
        "http://www.harbour.example.co.uk/gone", page("Gone", PARAGRAPH).encode(), "404 Not Found"
    )
    write_warc(folder / "a.warc.gz", [*english, missing])
    czech = [
        Response(f"https://Přívoz.example.cz:8080/{n}", page(f"Přívoz {n}", CZECH, CZECH).encode())
        for n in range(6)
    ]
    write_warc(folder / "b.warc.gz", czech)
    hollow = Response("http://192.168.7.1/", b"<html><head><title>Hollow</title></head><body></body></html>")
    pdf = Response("http://harbour.example.org/timetable.pdf", b"%PDF-1.4\n\x00\x01\x02\x03" * 40)
    write_warc(folder / "c.warc.gz", [hollow, pdf])
    return folder


@pytest.fixture
def victor(capfd: pytest.CaptureFixture[str]) -> Victor:
    """Runs the command `victor` in this process."""

    def run(*arguments: object) -> Outcome:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        return Outcome(code, messages(capfd.readouterr().err))

    return run
