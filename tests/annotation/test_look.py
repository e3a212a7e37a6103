"""`victor look`: the responses of its server, and the requests that it refuses."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.annotation.serving import Server
from victor_spark.annotation import look
from victor_spark.cli import main
from victor_spark.warc import inputs, reading

SENTENCE = "The harbour master counted the boats twice that morning, because nobody believed the first count."
HOSTILE = (
    "<title>Boats</title><script>alert('page')</script>"
    "<style>body { background: url(//elsewhere.example/b) }</style>"
    "<nav><a href=/>Home</a> <a href=/b>All the boats</a></nav><h1>Boats</h1>"
    f"{f'<p onclick=alert(2)>{SENTENCE} {SENTENCE}</p>' * 4}"
    "<p>&lt;script&gt;alert(3)&lt;/script&gt; is code that this sentence only speaks of, as manuals do.</p>"
    "<p><a href='javascript:alert(4)'>A link</a> and <img src=//elsewhere.example/x.png alt=boat> "
    f"{SENTENCE} <img src=//elsewhere.example/y.png></p>"
    f"<ul class=comments><li class=comment>I counted them as well. {SENTENCE}</ul>"
)


@pytest.fixture(scope="module")
def server(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    page = tmp_path_factory.mktemp("pages") / "boats.html"
    page.write_text(HOSTILE, encoding="utf-8")
    shard = root / "sample" / "crawl-00000.warc.gz"
    served = Server([str(page), str(shard), "--limit", "5", "--no-open"], command="look")
    yield served
    served.stop()


def test_the_pages_of_all_inputs_are_listed_up_to_the_limit_of_each(server: Server) -> None:
    session = server.get("/api/session")
    names = [page["name"] for page in session["pages"]][:6]  # another test adds one
    assert len(names) == 6
    assert names[0].endswith("boats.html")
    assert all(name.startswith("http") for name in names[1:])


def test_a_page_is_shown_in_all_forms_with_metadata_and_their_sources(
    server: Server,
) -> None:
    seen = server.get("/api/page?page=0")
    assert SENTENCE in seen["text"]
    assert SENTENCE in seen["markdown"]
    assert f"<p>{SENTENCE}" in seen["html"]
    assert ["title", "Boats", "h1"] in seen["metadata"]
    assert '"blocks"' in seen["json"]
    assert seen["verdict"].startswith("ok, ")


def test_cleaner_threshold_and_roles_change_the_decision(server: Server) -> None:
    comment = "I counted them as well"
    assert comment in server.get("/api/page?including=comment")["text"]
    assert comment not in server.get("/api/page?without=comment")["text"]
    assert server.get("/api/page?threshold=0")["text"] == ""
    assert "All the boats" in server.get("/api/page?threshold=1")["text"]
    assert server.get("/api/page?cleaner=kimatu")["verdict"].endswith("cleaner kimatu")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("page=99", "there is no page 99"),
        ("page=-1", "there is no page -1"),
        ("cleaner=victr", "did you mean victor"),
        ("threshold=high", "between 0 and 1"),
        ("threshold=7", "between 0 and 1"),
        ("without=commnt", "did you mean comment"),
        ("prefer=speed", "choose from precision, recall"),
    ],
)
def test_a_wrong_value_is_refused_in_one_line(server: Server, query: str, message: str) -> None:
    status, answer = server.ask(f"/api/page?{query}")
    assert status == 400
    assert message in answer["error"]["message"]
    assert "\n" not in answer["error"]["message"]


def test_the_lines_that_only_another_cleaner_keeps_are_marked(server: Server) -> None:
    other = server.get("/api/other?threshold=0&other=victor")
    assert other["f1"] == 0
    assert [shared for _, shared in other["lines"]] == [False] * len(other["lines"])
    assert all(shared for _, shared in server.get("/api/other?other=victor")["lines"])


@pytest.mark.parametrize("path", ["frame", "markdown", "file"])
def test_nothing_of_a_page_acts_or_loads_in_any_of_its_forms(server: Server, path: str) -> None:
    status, html, headers = server.raw(f"/{path}?page=0")
    assert status == 200
    assert SENTENCE in html
    assert "default-src 'none'" in headers["content-security-policy"] or "default-src 'none'" in html
    for active in ("<script>alert", "onclick", "elsewhere.example/b", " src=", " href=", "url("):
        assert active not in html


def test_an_image_without_text_is_seen_in_the_markdown(server: Server) -> None:
    _, html, _ = server.raw("/markdown?page=0")
    assert '<img title="//elsewhere.example/y.png" alt="image"' in html


def test_html_that_is_sent_becomes_a_page(server: Server) -> None:
    status, answer = server.ask("/api/open", {"html": HOSTILE, "url": "https://boats.example/"})
    assert status == 200
    seen = server.get(f"/api/page?page={answer['page']}")
    assert seen["name"] == "https://boats.example/"
    assert SENTENCE in seen["text"]


@pytest.mark.parametrize("body", [{}, {"input": 7}, {"input": "/no/such/page.html"}, {"html": ["x"]}])
def test_an_input_that_cannot_be_opened_is_refused_in_one_line(server: Server, body: object) -> None:
    status, answer = server.ask("/api/open", body)
    assert status == 400
    assert answer["error"]["message"]


def test_of_an_archive_that_is_cut_off_the_pages_before_that_place_are_opened(
    tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = root / "sample" / "crawl-00000.warc.gz"
    (tmp_path / "clipped.warc.gz").write_bytes(whole.read_bytes()[:20_000])
    opened = look.Opened()
    assert opened.open(str(tmp_path), limit=500) == 0
    assert len(opened.pages) > 3
    assert "clipped.warc.gz: ends too early, at byte 20000" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["look", "--no-open"], ["annotate", "--import-only", "--store", "{}/a"]])
def test_an_archive_of_which_nothing_can_be_read_is_wrong_usage(
    tmp_path: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "page.warc.gz").write_text("<h1>403 Forbidden</h1>")
    assert main([*(word.format(tmp_path) for word in command), str(tmp_path / "page.warc.gz")]) == 2
    assert "page.warc.gz: ends at byte 22, and holds no WARC or ARC record" in capsys.readouterr().err


def test_without_the_token_every_request_is_refused(server: Server) -> None:
    assert server.raw("/api/page?page=0", Cookie="victor_token=guessed")[0] == 401
    assert server.raw("/frame?page=0", Cookie="victor_token=guessed")[0] == 401
    assert server.raw("/api/page?page=0", Origin="http://elsewhere.example")[0] == 403


def test_the_record_of_a_row_is_opened_by_its_offset(root: Path) -> None:
    shard = root / "sample" / "crawl-00000.warc.gz"
    third = list(reading.read(inputs.resolve([str(shard)])[0]))[2]
    offset = str(third.warc_record_offset)
    served = Server([str(shard), "--offset", offset, "--no-open"], command="look")
    try:
        assert [page["name"] for page in served.get("/api/session")["pages"]] == [third.url]
    finally:
        assert "Traceback" not in served.stop()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--offset", "1"], "needs exactly one archive as INPUT"),
        (["--port", "70000"], "between 0 and 65535"),
        (["missing.html"], "missing.html"),
        (["--cleaner", "victr"], "did you mean victor"),
    ],
)
def test_wrong_usage_is_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["look", *words]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 1
    assert message in errors[0]
