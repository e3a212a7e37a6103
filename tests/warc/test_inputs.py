"""Arguments become shards; invalid ones give one clear line."""

import errno
import glob
import gzip
import os
import pickle
import re
import socket
from pathlib import Path

import pytest

from tests.warc import making
from victor_spark.errors import InputError, ShardError
from victor_spark.warc import inputs as module
from victor_spark.warc import storage
from victor_spark.warc.inputs import _located, checked, resolve
from victor_spark.warc.reading import read
from victor_spark.warc.shard import Shard

SHARD = making.shard(making.responses(2)).content


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A folder with shards at several depths, and other things beside them."""
    folder = tmp_path / "crawl"
    (folder / "b" / "deep er").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    for name in ("b/1.warc.gz", "b/deep er/2 é %20.warc.gz", "a.warc.gz", ".hidden/3.warc.gz"):
        (folder / name).write_bytes(SHARD)
    (folder / "notes.txt").write_text("nothing to see here")
    (folder / "page.html").write_bytes(making.page(1))
    return folder


def paths(*inputs: str | Path, base_url: str | None = None) -> list[str]:
    return [shard.path for shard in resolve([str(one) for one in inputs], base_url=base_url)]


def message(*inputs: str | Path, base_url: str | None = None) -> str:
    with pytest.raises(InputError) as caught:
        resolve([str(one) for one in inputs], base_url=base_url)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_folder_stands_for_the_archives_below_it(crawl: Path) -> None:
    expected = ["a.warc.gz", "b/1.warc.gz", "b/deep er/2 é %20.warc.gz"]
    assert paths(crawl) == [str(crawl / name) for name in expected]


def test_a_folder_without_archives_stands_for_its_pages(tmp_path: Path) -> None:
    for name in ("b.htm", "a.html", "c.xhtml", "d.txt"):
        (tmp_path / name).write_bytes(making.page(1))
    shards = resolve([str(tmp_path)])
    assert [(Path(s.path).name, s.kind) for s in shards] == [
        ("a.html", "html"),
        ("b.htm", "html"),
        ("c.xhtml", "html"),
    ]


def test_globs_match_files_and_folders(crawl: Path) -> None:
    assert paths(crawl / "b" / "*") == paths(crawl / "b")
    assert paths(crawl / "**" / "*.warc.gz") == paths(crawl)


def test_a_file_whose_name_looks_like_a_glob_is_that_file(tmp_path: Path) -> None:
    path = tmp_path / "odd[1]*.warc.gz"
    path.write_bytes(SHARD)
    assert paths(path) == [str(path)]


def test_each_file_is_one_shard_however_often_it_is_named(
    crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (crawl / "link.warc.gz").symlink_to(crawl / "a.warc.gz")
    monkeypatch.chdir(crawl)
    assert paths("b/1.warc.gz", crawl, "b/../b/1.warc.gz", "link.warc.gz") == [
        str(crawl / name) for name in ("b/1.warc.gz", "a.warc.gz", "b/deep er/2 é %20.warc.gz")
    ]


def test_a_shard_knows_its_size_and_name_and_pickles(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(crawl)
    (shard,) = resolve(["b/1.warc.gz"])
    assert shard == Shard(str(crawl / "b/1.warc.gz"), len(SHARD), "warc", "b/1.warc.gz")
    assert shard.filename == "b/1.warc.gz"
    assert pickle.loads(pickle.dumps(shard)) == shard


def test_file_urls_are_paths(crawl: Path) -> None:
    path = crawl / "b/deep er/2 é %20.warc.gz"
    assert paths(path.as_uri()) == [str(path)]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (SHARD, "warc"),
        (making.shard(making.responses(1), "plain").content, "warc"),
        (making.shard(making.responses(1), "zstd").content, "warc"),
        (making.arc_head() + making.arc(making.http(making.page(1))), "arc"),
        (gzip.compress(making.arc_head()), "arc"),
        (gzip.compress(b"".join(making.responses(3))), "warc"),
        (making.page(1), "html"),
        (b"\xef\xbb\xbf\n <!-- a comment --><html><p>Hi", "html"),
        ("<html><p>Hi".encode("utf-16"), "html"),
        (bytes(100) + SHARD, "warc"),
    ],
)
@pytest.mark.parametrize("name", ["list.txt", "x.warc.gz", "x"])
def test_the_type_of_a_file_follows_from_its_content(
    tmp_path: Path, content: bytes, kind: str, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert [shard.kind for shard in resolve([str(path)])] == [
        "warc" if name == "x.warc.gz" and kind == "html" else kind
    ]


def test_a_list_of_paths_is_a_list_packed_and_with_comments(crawl: Path) -> None:
    text = "\ufeff# my shards\r\n\r\nb/deep er/2 é %20.warc.gz  \r\n  a.warc.gz\n#b/1.warc.gz\n"
    expected = [str(crawl / "b/deep er/2 é %20.warc.gz"), str(crawl / "a.warc.gz")]
    for name in ("list.txt", "warc.paths.gz"):
        (crawl / name).write_text(text, encoding="utf-8")
        assert paths(crawl / name) == expected
        (crawl / name).write_bytes(gzip.compress(text.encode()))
        assert paths(crawl / name) == expected
        (crawl / name).unlink()


@pytest.mark.parametrize("name", ["x.warc", "x.warc.gz", "x.arc", "x.html"])
def test_a_file_named_like_an_archive_or_a_page_is_never_a_list(crawl: Path, name: str) -> None:
    text = f"{crawl}/a.warc.gz\nhttp://h.example/x.warc.gz\n"
    (crawl / name).write_text(text)
    assert paths(crawl / name) == [str(crawl / name)]
    (crawl / name).write_bytes(gzip.compress(text.encode()))
    assert paths(crawl / name) == [str(crawl / name)]


def test_a_list_may_name_folders_globs_pages_and_lists(crawl: Path) -> None:
    (crawl / "inner.txt").write_text("page.html\n")
    (crawl / "outer.txt").write_text(f"inner.txt\nb\n*.warc.gz\n{(crawl / 'a.warc.gz').as_uri()}\n")
    names = ("page.html", "b/1.warc.gz", "b/deep er/2 é %20.warc.gz", "a.warc.gz")
    assert paths(crawl / "outer.txt") == [str(crawl / name) for name in names]


def test_relative_lines_belong_to_the_list_or_else_to_the_working_directory(
    crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(crawl / "b")
    (crawl / "list.txt").write_text("a.warc.gz\n1.warc.gz\n")
    assert paths("../list.txt") == [str(crawl / "a.warc.gz"), str(crawl / "b" / "1.warc.gz")]


def test_relative_lines_belong_to_the_base_url_if_there_is_one(crawl: Path, tmp_path: Path) -> None:
    listed = tmp_path / "warc.paths"
    listed.write_text("b/1.warc.gz\ns3://other/x.warc.gz\n")
    assert paths(listed, base_url=str(crawl)) == [str(crawl / "b/1.warc.gz"), "s3://other/x.warc.gz"]
    shards = resolve([str(listed)], base_url="https://data.example/")
    assert [(s.path, s.filename, s.size, s.kind) for s in shards] == [
        ("https://data.example/b/1.warc.gz", "b/1.warc.gz", None, "warc"),
        ("s3://other/x.warc.gz", "s3://other/x.warc.gz", None, "warc"),
    ]


def test_the_name_of_a_listed_shard_is_its_line(crawl: Path) -> None:
    (crawl / "list.txt").write_text("b/1.warc.gz\n")
    assert [shard.filename for shard in resolve([str(crawl / "list.txt")])] == ["b/1.warc.gz"]


def test_rubbish_in_a_folder_is_left_to_the_reader(crawl: Path) -> None:
    (crawl / "text.warc.gz").write_text("no record\n")
    (crawl / "noise.warc.gz").write_bytes(bytes(99))
    shards = resolve([str(crawl)])
    assert {Path(shard.path).name for shard in shards} >= {"text.warc.gz", "noise.warc.gz", "a.warc.gz"}
    assert {shard.kind for shard in shards} == {"warc"}


def test_an_empty_shard_among_others_is_left_to_the_reader(crawl: Path) -> None:
    (crawl / "empty.warc.gz").write_bytes(b"")
    assert str(crawl / "empty.warc.gz") in paths(crawl)


def test_missing_inputs_are_named(tmp_path: Path) -> None:
    assert message(tmp_path / "gone.warc.gz") == f"{tmp_path}/gone.warc.gz: no such file"
    assert message(tmp_path / "*.warc.gz") == f"{tmp_path}/*.warc.gz: matches no file"
    assert message() == "no input given"
    assert "empty string" in message("")


def test_a_folder_without_archives_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no archive")
    assert message(tmp_path) == f"{tmp_path}: no archive in this folder"


def test_an_empty_file_is_named(tmp_path: Path) -> None:
    for name in ("empty.warc.gz", "empty.html", "empty"):
        (tmp_path / name).write_bytes(b"")
        assert message(tmp_path / name) == f"{tmp_path}/{name}: empty file"


def test_an_empty_page_among_others_is_a_record(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(making.page(1))
    (tmp_path / "b.html").write_bytes(b"")
    records = [record for shard in resolve([str(tmp_path)]) for record in read(shard)]
    assert [record.payload for record in records] == [making.page(1), b""]
    assert [record.status for record in records] == [None, None]


RUBBISH = {
    "binary data": bytes(range(256)) * 40,
    "image/png": b"\x89PNG\r\n\x1a\n" + bytes(99),
    "a PDF": b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n",
    "a damaged gzip file": b"\x1f\x8b\x08" + b"\xff" * 99,
    "a text": b"Service unavailable\nhttps://site.example/ is down\ntry again later\n",
    "a text, packed": gzip.compress(b"Saved x.warc.gz and more\nas it was asked for\n"),
    "binary data, packed": gzip.compress(bytes(999)),
    "application/x-tar, packed": gzip.compress(b"a.html".ljust(257, b"\0") + b"ustar\x0000<html><p>a</p>"),
}


@pytest.mark.parametrize("what", RUBBISH)
@pytest.mark.parametrize("name", ["rubbish", "rubbish.txt"])
def test_a_file_of_another_type_is_refused_by_the_name_of_its_type(
    tmp_path: Path, what: str, name: str
) -> None:
    (tmp_path / name).write_bytes(RUBBISH[what])
    what = what.partition(",")[0]
    expected = f"{tmp_path}/{name} is {what}, not an archive, an html page or a list of paths"
    assert message(tmp_path / name) == expected
    assert message(tmp_path / "*") == expected


@pytest.mark.parametrize("what", [*RUBBISH, "zeros", "nothing", "an error page", "comments", "clipped"])
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("x.warc", "warc"),
        ("x.warc.gz", "warc"),
        ("X.ARC.GZ", "arc"),
        ("x.wet.gz", "warc"),
        ("x.html", "html"),
    ],
)
def test_the_type_of_a_broken_file_follows_from_its_name(
    tmp_path: Path, what: str, name: str, kind: str
) -> None:
    others = {
        "zeros": bytes(5000),
        "nothing": b"",
        "an error page": making.page(1),
        "comments": b"# nothing\n",
        "clipped": b"\x1f\x8b\x08\x00",
    }
    (tmp_path / name).write_bytes((RUBBISH | others)[what])
    (tmp_path / "good.warc.gz").write_bytes(SHARD)
    for inputs in ([tmp_path / "good.warc.gz", tmp_path / name], [tmp_path / "*"]):
        shards = resolve([str(one) for one in inputs])
        assert {(Path(shard.path).name, shard.kind) for shard in shards} == {
            ("good.warc.gz", "warc"),
            (name, kind),
        }


@pytest.mark.parametrize("what", ["binary data", "image/png", "a PDF", "a damaged gzip file", "a text"])
def test_a_broken_archive_is_a_shard_that_fails(tmp_path: Path, what: str) -> None:
    (tmp_path / "x.warc.gz").write_bytes(RUBBISH[what])
    (shard,) = resolve([str(tmp_path / "x.warc.gz")])
    with pytest.raises(ShardError, match="holds no WARC or ARC record"):
        list(read(shard))


def test_rubbish_in_the_middle_of_a_list_is_named(crawl: Path) -> None:
    (crawl / "rubbish.bin").write_bytes(bytes(99))
    (crawl / "list.txt").write_text("a.warc.gz\nrubbish.bin\n")
    assert message(crawl / "list.txt") == (
        f"{crawl}/list.txt, line 2: {crawl}/rubbish.bin is binary data, not an archive, an html page or a "
        "list of paths"
    )
    (crawl / "list.txt").write_text("a.warc.gz\n\ngone.warc.gz\n")
    assert message(crawl / "list.txt").startswith(f"{crawl}/list.txt, line 3: gone.warc.gz: no such file")


@pytest.mark.parametrize("name", ["list.txt", "warc.paths"])
def test_a_list_of_which_nothing_is_there_is_a_list(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("# crawl\na.warc.gz\nb/c.arc\nb/*.gz\n")
    assert message(tmp_path / name) == f"{tmp_path}/{name}, line 2: a.warc.gz: no such file"


def test_lists_that_hold_nothing_or_each_other_are_named(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("# nothing yet\n\n")
    assert message(tmp_path / "list.txt") == f"{tmp_path}/list.txt: a list without any path"
    (tmp_path / "list.txt").write_text("list.txt\n")
    assert "more than 8 levels deep" in message(tmp_path / "list.txt")


def test_a_damaged_list_is_named(tmp_path: Path) -> None:
    packed = gzip.compress("\n".join(f"{number * 7919 % 104729}.warc.gz" for number in range(5000)).encode())
    (tmp_path / "list.gz").write_bytes(packed[: len(packed) // 2])
    assert message(tmp_path / "list.gz").startswith(f"{tmp_path}/list.gz: a damaged list of paths")


def test_a_list_longer_than_any_crawl_s_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_LIST", 1 << 20)
    (tmp_path / "list.txt").write_text("a.warc.gz\n" * (1 << 17))
    assert message(tmp_path / "list.txt") == f"{tmp_path}/list.txt: a list of paths longer than 1 MiB"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_named(crawl: Path) -> None:
    (crawl / "a.warc.gz").chmod(0)
    assert message(crawl / "a.warc.gz") == f"{crawl}/a.warc.gz: Permission denied"


@pytest.fixture
def odd(crawl: Path) -> dict[str, str]:
    """Adds files that cannot be inputs to a folder of archives: printable path → reason."""
    os.mkfifo(crawl / "pipe.warc.gz")
    os.mkfifo(crawl / "b" / "pipe")
    (crawl / "null.warc").symlink_to(os.devnull)
    (crawl / "dangling.warc.gz").symlink_to("gone.warc.gz")
    (crawl / "circle.warc.gz").symlink_to("circle.warc.gz")
    (crawl / "loop").symlink_to(".")
    (crawl / "b" / "loop").symlink_to("..")
    Path(os.fsdecode(bytes(crawl) + b"/caf\xe9.warc.gz")).write_bytes(SHARD)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(crawl / "socket.warc.gz"))
    return {
        f"{crawl}/pipe.warc.gz": "a FIFO, not a regular file",
        f"{crawl}/b/pipe": "a FIFO, not a regular file",
        f"{crawl}/socket.warc.gz": "a socket, not a regular file",
        f"{crawl}/null.warc": "a device, not a regular file",
        f"{crawl}/dangling.warc.gz": "a broken link",
        f"{crawl}/circle.warc.gz": "Too many levels of symbolic links",
        f"{crawl}/caf\\xe9.warc.gz": "a name that is not UTF-8",
        f"{crawl}/loop": "a link to a folder",
        f"{crawl}/b/loop": "a link to a folder",
    }


@pytest.mark.timeout(60)  # two loops and a glob that follows them: for ever
@pytest.mark.parametrize("below", ["", "*", "**/*", "**/*.warc*", "**"])
def test_odd_entries_are_skipped_with_a_line(
    crawl: Path, odd: dict[str, str], below: str, caplog: pytest.LogCaptureFixture
) -> None:
    for stray in ("notes.txt", "page.html"):
        (crawl / stray).unlink()
    names = ("a.warc.gz", "b/1.warc.gz", "b/deep er/2 é %20.warc.gz")
    assert paths(crawl / below) == [str(crawl / name) for name in names]
    lines = [re.sub(" around it$|, not followed$", "", record.getMessage()) for record in caplog.records]
    pipe = [] if below == "**/*.warc*" else [f"{crawl}/b/pipe"]
    expected = {f"skipped {path}: {why}" for path, why in odd.items() if "/b/pipe" not in path or pipe}
    assert set(lines) == expected
    assert len(lines) == len(expected)


@pytest.mark.parametrize("argument", ["", "*", "**", "**/*.html"])
def test_the_output_of_a_run_beside_pages_is_no_input(
    tmp_path: Path, argument: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A run writes OUT into the folder of its pages; the same command has to find the same pages again."""
    page = tmp_path / "page.html"
    page.write_bytes(making.page(1))
    for name in ("_run/config.json", "_run/report.html", "_run/manifest.parquet", "pages/a.parquet"):
        (tmp_path / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "out" / name).write_bytes(making.page(2))
    assert paths(tmp_path / argument) == [str(page)]
    assert {record.getMessage() for record in caplog.records} == {
        f"skipped {tmp_path}/out: the output of a run"
    }


def test_a_glob_of_any_depth_does_not_match_the_report_of_a_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("a/b/page.html", "out/_run/report.html", "out/_run/config.json", "b/_run/page.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(making.page(1))
    assert paths(f"{tmp_path}/*/*/*.html") == [f"{tmp_path}/a/b/page.html", f"{tmp_path}/b/_run/page.html"]
    assert caplog.messages == [f"skipped {tmp_path}/out/_run/report.html: the output of a run"]


def test_lines_of_a_list_in_the_root_folder_belong_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "lexists", {"/1.warc.gz", "crawl/1.warc.gz"}.__contains__)
    assert _located("1.warc.gz", "/warc.paths", None) == "/1.warc.gz"
    assert _located("1.warc.gz", "crawl/warc.paths", None) == "crawl/1.warc.gz"
    assert _located("2.warc.gz", "warc.paths", None) == "2.warc.gz"


def test_odd_entries_named_directly_are_errors(crawl: Path, odd: dict[str, str]) -> None:
    for path, why in odd.items():
        if "folder" in why:  # whose archives are known already
            assert paths(crawl, path) == paths(crawl)
        else:
            assert message(os.fsdecode(path.encode().replace(rb"\xe9", b"\xe9"))) == f"{path}: {why}"


def test_an_archive_of_which_no_byte_can_be_read_is_a_shard(crawl: Path) -> None:
    (crawl / "sick.warc.gz").symlink_to("/proc/self/mem")
    if not os.path.exists("/proc/self/mem"):
        pytest.skip("no file here that opens and can't be read")
    assert str(crawl / "sick.warc.gz") in paths(crawl)
    (crawl / "sick").symlink_to("/proc/self/mem")
    assert message(crawl / "sic*").startswith(f"{crawl}/sick: ")


def test_links_to_other_folders_and_folders_that_cannot_be_read_are_skipped_with_a_line(
    crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "other").mkdir()
    (crawl / "link").symlink_to(tmp_path / "other")
    scan = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("/b"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert paths(crawl) == [str(crawl / "a.warc.gz")]
    assert caplog.messages == [
        f"skipped {crawl}/link: a link to a folder, not followed",
        f"skipped {crawl}/b: Permission denied",
    ]
    assert message(crawl / "b") == f"{crawl}/b: Permission denied"


def test_a_file_that_became_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.warc.gz")
    with pytest.raises(OSError, match="a FIFO, not a regular file"):
        storage.open_file(str(tmp_path / "a.warc.gz"))


def test_records_of_a_file_and_files_of_known_content_are_not_looked_up() -> None:
    known = [Shard("gone.warc", 9, "warc", etag="mtime:1"), Shard("gone.warc", None, "warc", aligned=True)]
    assert [problem for _, problem in checked([*known, Shard("gone.warc", None, "warc")])] == [
        None,
        None,
        "gone.warc: no such file",
    ]


@pytest.mark.parametrize(
    "pattern", ["**/*.warc.gz", "./**/*.warc.gz", "b/../**/*.gz", "**/**/*.warc.gz", "**//*.warc.gz"]
)
def test_globs_of_any_depth_name_files_as_python_does(
    crawl: Path, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(crawl)
    for where in ("", f"{crawl}/", f"{crawl}/[ab]*/"):
        if expected := sorted(set(glob.glob(where + pattern, recursive=True))):
            assert [shard.filename for shard in resolve([where + pattern])] == expected


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("file:///a%20b/c%23d", "/a b/c#d"),
        ("file:///a#b?c.warc", "/a#b?c.warc"),
        ("FILE://localhost/a", "/a"),
        ("file:/a", "/a"),
        ("file:a", "file:a"),
        ("a%20b", "a%20b"),
    ],
)
def test_an_address_of_a_local_file_is_its_path_with_all_that_follows(text: str, path: str) -> None:
    assert storage.local(text) == path


def test_an_address_of_a_file_on_another_host_is_refused(tmp_path: Path) -> None:
    """Such as `file://data/a.warc.gz`, by which a user means a relative path."""
    assert message("file://data/a.warc.gz") == ("file://data/a.warc.gz: data is a host; write file:///FOLDER")


def test_a_path_with_a_null_byte_is_named() -> None:
    assert message("file:///tmp/%00x") == r"/tmp/\x00x: embedded null byte"


def test_unknown_schemes_are_named() -> None:
    assert message("gopher://site.example/x.warc.gz").startswith("gopher://site.example/x.warc.gz: ")
