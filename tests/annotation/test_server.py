"""The annotation server: access, saved actions, and recovery after a kill or a full disk; two annotators."""

import http.client
import os
import resource
import signal
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tests.annotation.serving import Server, replay, running, write_pages
from victor_spark.annotation import store
from victor_spark.cli import main


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    with running(str(write_pages(folder / "pages", 8)), "--store", str(folder / "a.sqlite")) as started:
        yield started


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Server]:
    """A server whose pages are used by one test only."""
    words = ("--store", str(tmp_path / "queue.sqlite"), "--no-prelabels")
    with running(str(write_pages(tmp_path / "pages", 4)), *words) as started:
        yield started


def test_a_session_lists_labels_and_pages_and_the_result_of_the_import(server: Server) -> None:
    session = server.get("/api/session")
    assert [label["name"] for label in session["labels"]] == ["header", "text", "other"]
    assert (session["n_pages"], session["prelabelled"], len(session["practice"])) == (8, True, 2)
    assert "8 pages added" in session["messages"][-1]


def test_a_page_begins_with_the_models_labels_and_says_where_the_model_is_unsure(server: Server) -> None:
    state = server.page(7, "Anna")
    assert state["labels"] == state["prelabels"]
    assert len(state["labels"]) == state["n_blocks"] == 9
    assert "1" in state["labels"]
    assert all(0 <= block < 9 for block in state["uncertain"])


def test_labels_are_set_undone_redone_restored_and_cleared(server: Server) -> None:
    state = server.page(4, "Undoer")
    before = state["labels"]
    server.label(state, 2, 4, 0)
    server.label(state, 4, 5, 2)
    assert state["labels"][2:6] == "0022"
    for kind in ("undo", "undo"):
        assert server.act(state, kind)[0] == 200
    assert state["labels"] == before
    assert (state["can_undo"], state["can_redo"]) == (False, True)
    assert server.act(state, "undo")[0] == 400
    assert server.act(state, "redo")[0] == 200
    assert state["labels"][2:5] == "000"
    assert server.act(state, "clear")[0] == 200
    assert (state["labels"], state["can_redo"]) == ("2" * 9, False)
    assert server.act(state, "undo")[0] == 200
    assert state["labels"][2:5] == "000"
    assert server.act(state, "restore")[0] == 200
    assert state["labels"] == before
    assert server.page(4, "Undoer")["labels"] == before


def test_a_window_opened_on_another_store_changes_nothing_here(server: Server) -> None:
    session = server.get("/api/session")
    state = server.page(8, "Elsewhere")
    body = {"annotator": "Elsewhere", "revision": 0, "id": "a", "kind": "clear"}
    status, answer = server.ask("/api/pages/8/actions", body, Victor_Store="0123456789abcdef")
    assert (status, answer["error"]["code"]) == (409, "other_store")
    assert "another store is served now (a.sqlite)" in answer["error"]["message"]
    assert server.page(8, "Elsewhere")["revision"] == state["revision"]
    assert server.ask("/api/pages/8/actions", body, Victor_Store=session["store_id"])[0] == 200


def test_an_action_sent_twice_is_done_once(server: Server) -> None:
    state = server.page(5, "Twice")
    body = {"annotator": "Twice", "revision": 0, "id": "same", "kind": "label", "runs": [[0, 0]], "label": 0}
    first = server.ask("/api/pages/5/actions", body)
    assert server.ask("/api/pages/5/actions", body) == first
    assert server.page(5, "Twice")["revision"] == state["revision"] + 1


def test_a_second_window_receives_the_state_and_does_not_overwrite_it(server: Server) -> None:
    one, two = server.page(5, "Windows"), server.page(5, "Windows")
    server.label(one, 1, 1, 0)
    status, answer = server.act(two, "label", runs=[[1, 1]], label=1)
    assert (status, answer["error"]["code"]) == (409, "stale")
    assert answer["state"]["labels"] == one["labels"]


@pytest.mark.parametrize(
    "action",
    [
        {"kind": "label", "runs": [[0, 9]], "label": 1},
        {"kind": "label", "runs": [[-1, 2]], "label": 1},
        {"kind": "label", "runs": [[0, 2]], "label": 3},
        {"kind": "label", "runs": [[0, 2]], "label": True},
        {"kind": "label", "runs": [], "label": 1},
        {"kind": "label", "runs": "all", "label": 1},
        {"kind": "label", "runs": [[0]], "label": 1},
        {"kind": "label", "runs": [[0, 8], [0, 8]], "label": 1},
        {"kind": "label", "runs": [[0, 10**30]], "label": 1},
        {"kind": "label", "runs": [[0, 2]], "label": 10**4000},
        {"kind": "note", "text": "half of a pair \ud800"},
        {"kind": "note", "text": float("nan")},
        {"kind": "explode"},
        {"kind": "note", "text": "x" * 3000},
    ],
)
def test_an_action_that_makes_no_sense_is_refused_in_words(server: Server, action: dict[str, object]) -> None:
    state = server.page(6, "Nonsense")
    status, answer = server.act(state, **action)  # type: ignore[arg-type]
    assert (status, answer["error"]["code"]) == (400, "bad_request")
    assert server.page(6, "Nonsense")["revision"] == 0


@pytest.mark.parametrize(
    "path", ["/api/pages/999?annotator=A", "/frame/999", "/nothing", "/static/../app.py", "/api/x"]
)
def test_unknown_addresses_are_404(server: Server, path: str) -> None:
    assert server.raw(path)[0] == 404


@pytest.mark.parametrize("name", ["", " ", "x" * 41, "a\nb\x00", None, 7])
def test_a_name_must_be_one(server: Server, name: object) -> None:
    assert server.ask("/api/annotators", {"name": name})[0] == 400


def test_no_other_site_and_no_other_name_gets_in(server: Server) -> None:
    path, body = "/api/next", {"annotator": "Mallory"}
    assert server.ask(path, body, Origin="http://evil.example")[0] == 403
    assert server.ask(path, body, Origin="null")[0] == 403
    assert server.ask(path, body, Sec_Fetch_Site="cross-site")[0] == 403
    assert server.ask(path, body, Sec_Fetch_Site="same-site")[0] == 403
    assert server.ask(path, body, Host=f"evil.example:{server.port}")[0] == 403
    assert server.ask(path, body, Content_Type="text/plain")[0] == 415
    assert server.ask(path, b"annotator=Mallory", Content_Type="application/x-www-form-urlencoded")[0] == 415
    assert server.ask(path, b"{", Content_Type="application/json")[0] == 400
    assert server.ask(path, b"[1]", Content_Type="application/json")[0] == 400
    assert server.ask(path, b" " * (1 << 20) + b"{}")[0] == 413
    assert server.ask("/api/session", Sec_Fetch_Site="cross-site")[0] == 403
    assert server.ask("/frame/4", Sec_Fetch_Site="cross-site")[0] == 403
    assert server.raw("/", Sec_Fetch_Site="cross-site", Sec_Fetch_Dest="document")[0] in (200, 404)
    assert server.raw("/", Sec_Fetch_Site="cross-site", Sec_Fetch_Dest="iframe")[0] == 403
    assert "Mallory" not in server.get("/api/session")["annotators"]
    good = f"http://{server.host}:{server.port}"
    assert server.ask(path, {"annotator": "Friend"}, Origin=good, Sec_Fetch_Site="same-origin")[0] == 200


def test_every_answer_has_a_strict_policy_and_the_frame_its_own(server: Server) -> None:
    for path in ("/", "/api/session", "/nothing", "/static/app.css"):
        policy = server.raw(path)[2]["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
    _, page, headers = server.raw("/frame/4")
    policy = headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none'; script-src 'nonce-")
    nonce = policy.partition("'nonce-")[2].partition("'")[0]
    assert page.count(f'nonce="{nonce}"') == 1
    assert nonce not in server.raw("/frame/4")[1]
    assert headers["referrer-policy"] == "no-referrer"


def test_two_annotators_get_different_pages_and_their_work_does_not_mix(queue: Server) -> None:
    _, one = queue.ask("/api/next", {"annotator": "Eva"})
    _, two = queue.ask("/api/next", {"annotator": "Max"})
    assert one["page"] != two["page"]
    assert queue.ask("/api/next", {"annotator": "Eva"})[1]["page"] == one["page"]  # reload in the middle

    def work(state: dict[str, object]) -> None:
        for n in range(12):
            queue.label(state, n % 9, n % 9, n % 3)

    same = [queue.page(one["page"], "Eva"), queue.page(one["page"], "Max")]
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(work, same))
    for state in same:
        assert queue.page(one["page"], state["annotator"])["labels"] == state["labels"]
        assert queue.page(one["page"], state["annotator"])["revision"] == 12


def test_done_pages_leave_the_queue_and_count_in_the_progress(queue: Server) -> None:
    _, state = queue.ask("/api/next", {"annotator": "Doer"})
    time.sleep(0.05)
    assert queue.act(state, "done")[1]["state"] == "done"
    _, following = queue.ask("/api/next", {"annotator": "Doer"})
    assert following["page"] != state["page"]
    assert queue.act(following, "skip")[1]["state"] == "skipped"
    (who,) = queue.get("/api/progress?annotator=Doer")["annotators"]
    assert (who["n_done"], who["n_skipped"]) == (1, 1)
    assert who["pages_per_hour"] > 0
    assert queue.get("/api/history?annotator=Doer")["pages"] == [state["page"], following["page"]]
    listed = queue.get("/api/pages?annotator=Doer&limit=100")["pages"]
    assert {page["page"]: page["state"] for page in listed}[state["page"]] == "done"
    queue.label(state, 0, 0, 1)
    assert state["state"] == "open"  # labelling a finished page takes it up again


def test_practice_pages_are_checked_against_gold_with_reasons(server: Server) -> None:
    (first, _) = server.get("/api/session")["practice"]
    state = server.page(first["page"], "Pupil")
    assert set(state["labels"]) == {"2"}
    result = server.ask(f"/api/pages/{first['page']}/check", {"annotator": "Pupil"})[1]
    assert 10 < result["n_wrong"] < result["n_blocks"]
    for mistake in result["wrong"]:
        assert mistake["why"]
        server.label(state, mistake["block"], mistake["block"], mistake["gold"])
    result = server.ask(f"/api/pages/{first['page']}/check", {"annotator": "Pupil"})[1]
    assert (result["n_wrong"], result["wrong"]) == (0, [])
    assert server.ask("/api/pages/4/check", {"annotator": "Pupil"})[0] == 400


def test_the_queue_hands_overlap_pages_to_two_and_others_to_one(tmp_path: Path) -> None:
    pages = write_pages(tmp_path / "pages", 6)
    with running(str(pages), "--store", str(tmp_path / "a"), "--no-prelabels", "--overlap", "0.5") as server:
        wanted = {page["page"]: page["wanted"] for page in server.get("/api/pages?annotator=A")["pages"]}
        assert 0 < sum(n == 2 for n in wanted.values()) < 6
        given: dict[int, int] = dict.fromkeys(wanted, 0)
        for name in ("A", "B", "C"):
            while (state := server.ask("/api/next", {"annotator": name})[1])["page"] is not None:
                given[state["page"]] += 1
                server.label(state, 0, 0, "ABC".index(name))
                assert server.act(state, "done")[0] == 200
        assert given == wanted
        report = server.get("/api/agreement")
        assert report["n_pages"] == sum(n == 2 for n in wanted.values())
        assert [pair["annotators"] for pair in report["pairs"]] == [["A", "B"]]
        worst = server.get("/api/disagreements")["pages"][0]
        assert (worst["n_differing"], worst["judged"]) == (1, None)
        detail = server.get(f"/api/pages/{worst['page']}/disagreement")
        assert detail["differing"] == [[0, 0]]
        assert detail["majority"][0] == "2"  # a tie is other
        judge = server.page(worst["page"], "Judge", judge=True)
        server.label(judge, 0, 0, 1)
        server.act(judge, "done")
        judged = {page["page"]: page["judged"] for page in server.get("/api/disagreements")["pages"]}
        assert judged[worst["page"]] == "Judge"


def test_kill_9_and_restart_lose_nothing(tmp_path: Path) -> None:
    kept = tmp_path / "a.sqlite"
    with running(str(write_pages(tmp_path / "pages")), "--store", str(kept), "--no-prelabels") as server:
        state = server.page(4, "Anna")
        for block in range(5):
            server.label(state, block, block, 1)
        server.act(state, "undo")
        server.stop(signal.SIGKILL)
    with running("--store", str(kept), "--no-prelabels") as server:
        again = server.page(4, "Anna")
        assert again["labels"] == state["labels"] == "111122222"
        assert (again["revision"], again["can_undo"], again["can_redo"]) == (6, True, True)
        assert server.ask("/api/next", {"annotator": "Anna"})[1]["page"] == 4
    opened = store.open_existing(kept)
    assert replay(opened, 1) == state["labels"]
    opened.close()


def test_a_full_disk_gives_a_clear_message_and_loses_the_unsaved_action_only(tmp_path: Path) -> None:
    kept = tmp_path / "a.sqlite"
    pages = write_pages(tmp_path / "pages")
    assert main(["annotate", str(pages), "--store", str(kept), "--no-prelabels", "--import-only"]) == 0
    limit = kept.stat().st_size + 40_000

    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    with running("--store", str(kept), "--no-prelabels", before=small_disk) as server:
        state = server.page(4, "Anna")
        status, answer = 200, None
        while status == 200:
            saved = state["labels"]
            block = state["revision"] % 9
            status, answer = server.act(
                state, "label", runs=[[block, block]], label=state["revision"] // 9 % 2
            )
        assert (status, answer["error"]["code"]) == (507, "disk_full")
        assert "disk full" in answer["error"]["message"]
        assert server.page(4, "Anna")["labels"] == saved
        assert "disk full" in server.stop()
    with running("--store", str(kept), "--no-prelabels") as server:
        again = server.page(4, "Anna")
        assert again["labels"] == saved
        server.label(again, 0, 8, 1)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_token_is_needed_here_as_elsewhere(tmp_path: Path, host: str) -> None:
    pages = write_pages(tmp_path / "pages", 1)
    words = [str(pages), "--store", str(tmp_path / "a"), "--no-prelabels", "--host", host]
    with running(*words) as server:
        token, server.token = server.token, ""
        assert len(token) >= 20
        server.host = "127.0.0.1"
        named = f"127.0.0.1:{server.port}" if host == "127.0.0.1" else "annotators.example:1234"
        assert server.ask("/api/session")[0] == 401
        assert server.raw("/")[0] == 401
        assert server.raw("/frame/3")[0] == 401
        assert server.raw("/?token=wrong")[0] == 401
        assert server.raw("/static/app.js")[0] == 401
        assert server.ask("/api/next", {"annotator": "Anna"})[0] == 401
        status, page, headers = server.raw(f"/?token={token}", Host=named)
        assert (status, token in page) == (200, False)
        cookie = headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        assert server.ask("/api/session", Cookie=cookie.partition(";")[0])[0] == 200
        assert server.ask("/api/session", Authorization=f"Bearer {token}")[0] == 200
        assert server.ask(f"/api/session?token={token}")[0] == 401
        two = f"victor_token_00000000=another; {cookie.partition(';')[0]}"  # a server on another port
        assert server.ask("/api/session", Cookie=two)[0] == 200
    with running("--store", str(tmp_path / "a"), "--no-prelabels") as again:
        assert again.token == token  # windows that are open go on
        assert again.ask("/api/session")[0] == 200
    with running("--store", str(tmp_path / "a"), "--no-prelabels", "--no-token") as open_to_all:
        assert "token" not in open_to_all.address
        assert open_to_all.ask("/api/session")[0] == 200
    with running("--store", str(tmp_path / "a"), "--no-prelabels", "--token", "sesame") as chosen:
        assert chosen.address.endswith("/?token=sesame")
        assert chosen.ask("/api/session", Authorization=f"Bearer {token}")[0] == 401


def test_only_the_owner_may_read_the_store_and_the_files_beside_it(tmp_path: Path) -> None:
    kept = tmp_path / "a.sqlite"
    before = os.umask(0)
    try:
        for _ in range(2):
            with running(
                str(write_pages(tmp_path / "pages")), "--store", str(kept), "--no-prelabels"
            ) as server:
                server.label(server.page(4, "Anna"), 0, 1, 1)
                there = sorted(tmp_path.glob("a.sqlite*"))
                assert len(there) == 3
                assert {path.stat().st_mode & 0o777 for path in there} == {0o600}
            kept.chmod(0o644)  # as an older version left it
    finally:
        os.umask(before)


def test_a_body_without_a_length_is_read_no_further_than_the_limit(server: Server) -> None:
    def parts(n: int) -> Iterator[bytes]:
        yield b'{"annotator": "Chunks", "more": "'
        yield from [b"x" * 1000] * n
        yield b'"}'

    def ask(n: int) -> int:
        connection = http.client.HTTPConnection(server.host, server.port, timeout=20)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {server.token}"}
        try:
            connection.request("POST", "/api/next", parts(n), headers, encode_chunked=True)
            return connection.getresponse().status
        finally:
            connection.close()

    assert ask(10) == 200
    assert ask(1100) == 413


def test_a_store_of_another_schema_version_or_of_another_program_is_refused_untouched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    later, earlier = tmp_path / "a.sqlite", tmp_path / "earlier.sqlite"
    for path, version in ((later, 99), (earlier, 1)):
        store.create_or_open(path).close()
        with sqlite3.connect(path) as connection:
            connection.execute(f"PRAGMA user_version = {version}")
        connection.close()
    foreign = tmp_path / "b.sqlite"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    text = tmp_path / "c.sqlite"
    text.write_text("no database at all, but long enough to be looked at" * 30)
    refused = {
        later: "schema version 99, this victor-spark needs version 2: update victor-spark.",
        earlier: "made by an earlier version: export it with that one",
        foreign: "not an annotation store",
        text: "not an",
    }
    for path, words in refused.items():
        before = path.read_bytes()
        assert main(["annotate", "--store", str(path), "--no-prelabels"]) == 2
        assert words in capsys.readouterr().err
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing-there.warc", "--store", "{}/a"], "no such file"),
        (["{}/picture.png", "--store", "{}/a"], "not an archive, an html page or a list"),
        (["--store", "{}/a"], "give INPUT to create it"),
        (["--store", "{}/none/a", "{}/page.html"], "none"),
        (["--store", "{}", "{}/page.html"], ": is a folder, or no file can be created there"),
        (["--store", "{}/a", "{}/page.html", "--host", "192.0.2.9"], "(see --host and --port)"),
        (["--store", "{}/a", "{}/page.html", "--overlap", "2"], "--overlap must be between 0 and 1"),
        (["--store", "{}/a", "{}/page.html", "--overlap-annotators", "1"], "--overlap-annotators must be at"),
        (["--store", "{}/a", "{}/page.html", "--label", "x"], "NAME=ROLE"),
        (["--store", "{}/a", "{}/page.html", "--label", "X=text"], "NAME=ROLE"),
        (["--store", "{}/a", "{}/page.html", "--label", "x=body"], "'body' must be header, text or other"),
        (["--store", "{}/a", "{}/page.html", "--host", "203.0.113.1"], "cannot listen"),
        (["--store", "{}/a", "{}/page.html", "--host", "0.0.0.0", "--no-token"], "not 0.0.0.0"),
        (["--store", "{}/a", "{}/page.html", "--token", "x", "--no-token"], "not allowed with"),
        (["--store", "{}/a", "{}/page.html", "--token", "ř a&b"], "must consist of ASCII letters"),
    ],
)
def test_bad_input_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    (tmp_path / "page.html").write_text("<p>text</p>")
    assert main(["annotate", *(word.format(tmp_path) for word in words), "--no-prelabels"]) == 2
    assert message in capsys.readouterr().err


def test_the_browser_names_inputs_relative_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = write_pages(tmp_path / "pages", 5)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    words = ["annotate", str(pages), "--store", "a", "--no-prelabels", "--import-only"]
    assert main(words) == 0
    names = ", ".join(os.path.join("..", "pages", f"page{n}.html") for n in range(3))
    with closing(store.open_existing(Path("a"))) as kept:
        assert store.remarks(kept)[-1] == f"{names} and 2 more: 5 pages added"


def test_a_limit_adds_the_first_pages_only(tmp_path: Path) -> None:
    pages, path = write_pages(tmp_path / "pages", 5), tmp_path / "a"
    words = ["annotate", str(pages), "--store", str(path), "--no-prelabels", "--import-only"]
    assert main([*words, "--limit", "2"]) == 0
    with closing(store.open_existing(path)) as kept:
        titles = [title for (title,) in kept.rows("SELECT url FROM page WHERE NOT practice ORDER BY id")]
    assert [Path(title).name for title in titles] == ["page0.html", "page1.html"]


def test_the_same_page_twice_is_once_and_one_without_text_is_left_out_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = write_pages(tmp_path / "pages", 2)
    (pages / "copy.html").write_bytes((pages / "page0.html").read_bytes())
    (pages / "empty.html").write_text("<html><body><img src=x></body></html>")
    words = ["annotate", str(pages), "--store", str(tmp_path / "a"), "--no-prelabels", "--import-only"]
    assert main(words) == 0
    assert "2 pages added, 1 already in the store, 1 without a text block skipped" in capsys.readouterr().err
    assert main(words) == 0
    assert "0 pages added, 3 already in the store" in capsys.readouterr().err
