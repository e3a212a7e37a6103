"""`victor` without Spark: one page to stdout, help, options from three places, errors in one line."""

import argparse
import dataclasses
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

import victor_spark
from tests.messages import messages
from victor_spark import cli, configuration, extractors, kernels, logs
from victor_spark.cli import main
from victor_spark.commands import COMMANDS, clean, lists
from victor_spark.commands.clean import CLEAN, requested
from victor_spark.document import FORMS
from victor_spark.request import CleanRequest

TEXT = "The lighthouse keeper wrote down the weather every evening, and nobody ever asked him for his books."
PAGE = (
    "<!DOCTYPE html><html><head><meta charset='utf-8'><title>Lighthouse</title></head><body>"
    "<ul><li><a href='/'>Home</a></li><li><a href='/map'>Map</a></li><li><a href='/shop'>Shop</a></li></ul>"
    f"<h1>Lighthouse</h1><p>{TEXT}</p><p>{TEXT} Žádný.</p><div><a href='/terms'>Terms</a></div></body></html>"
)
VICTOR = (sys.executable, "-c", "import sys; from victor_spark.cli import main; sys.exit(main())")


@pytest.fixture
def html(tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(PAGE, encoding="utf-8")
    return path


def victor(
    *arguments: object, environment: dict[str, str] | None = None, stdin: bytes = b""
) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command as a process of its own."""
    command = [*VICTOR, *map(str, arguments)]
    finished = subprocess.run(
        command, input=stdin, env={**os.environ, **(environment or {})}, capture_output=True, check=False
    )
    return finished.returncode, finished.stdout.decode(), finished.stderr.decode()


def test_a_page_is_printed_as_text(html: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clean", str(html)]) == 0
    printed = capsys.readouterr()
    assert TEXT in printed.out
    assert "Žádný." in printed.out
    assert printed.out == (victor_spark.clean(PAGE.encode()).text or "") + "\n"
    assert messages(printed.err) == []


def test_cleaning_a_page_loads_no_spark(html: Path) -> None:
    script = (
        "import sys; from victor_spark.cli import main; code = main(['clean', sys.argv[1]]); "
        "sys.exit(code or not {'pyspark', 'py4j', 'pandas'}.isdisjoint(sys.modules))"
    )
    finished = subprocess.run(
        [sys.executable, "-c", script, str(html)], capture_output=True, text=True, check=False
    )
    assert (finished.returncode, messages(finished.stderr)) == (0, [])
    assert TEXT in finished.stdout


def test_a_page_from_stdin_equals_the_file(html: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["clean", str(html)])
    code, out, err = victor("clean", "-", stdin=html.read_bytes())
    assert (code, out, messages(err)) == (0, capsys.readouterr().out, [])


def test_a_page_from_stdin_is_as_long_as_one_in_a_file_may_be(html: Path) -> None:
    for name in (html, "-"):
        code, out, err = victor("clean", name, "--max-bytes", "10", stdin=html.read_bytes())
        assert (code, out) == (2, "")
        assert "oversize (over 10 bytes)" in err


@pytest.mark.parametrize("option", ["--format", "--url"])
def test_a_plan_has_no_options_for_one_page(
    option: str, html: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", str(html), option, "markdown"]) == 2
    assert f"unrecognized arguments: {option} markdown" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("stdin", "says"),
    [
        (b"", "stdin: empty"),
        (b"%PDF-1.7 1 0 obj", "stdin: not_html (application/pdf)"),
        (b"https://example.org/\n", "stdin holds an address, not a page: give it as INPUT"),
        (b"page.html", "stdin holds a path, not a page"),
    ],
)
def test_input_other_than_a_page_on_stdin_is_named_by_its_type(stdin: bytes, says: str) -> None:
    code, out, err = victor("clean", "-", stdin=stdin)
    (line,) = messages(err)
    assert (code, out) == (2, "")
    assert says in line


@pytest.mark.parametrize(("form", "mark"), [("cleaneval", "<p>"), ("markdown", "Žádný"), ("html", "</p>")])
def test_formats(html: Path, capsys: pytest.CaptureFixture[str], form: str, mark: str) -> None:
    assert main(["clean", str(html), "--format", form]) == 0
    printed = capsys.readouterr().out
    assert printed.rstrip("\n") == victor_spark.clean(PAGE.encode()).render(form).rstrip("\n")
    assert mark in printed


def test_html_without_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<p>{'The ferry is late again today. ' * 9}<a href='pier.html'>More</a></p>")
    assert main(["clean", str(page), "--format", "html"]) == 0
    assert '<a href="pier.html">More</a>' in capsys.readouterr().out
    assert main(["clean", str(page), "--format", "html", "--no-links"]) == 0
    assert "<a" not in capsys.readouterr().out


def test_markdown_has_the_heading_with_the_title_if_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<title>Ferries</title><h1>Ferries</h1><p>{'The ferry is late again today. ' * 9}</p>")
    assert main(["clean", str(page), "--format", "markdown"]) == 0
    assert "Ferries" not in capsys.readouterr().out
    assert main(["clean", str(page), "--format", "markdown", "--with", "title"]) == 0
    assert capsys.readouterr().out.startswith("## Ferries\n\n")


def test_a_page_without_content_is_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "hollow.html").write_text("<html><body><div></div></body></html>")
    assert main(["clean", str(tmp_path / "hollow.html"), "--format", "markdown"]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "hollow.html: empty" in printed.err


@pytest.mark.parametrize("form", FORMS)
def test_a_page_in_another_language_is_no_error(
    html: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    assert main(["clean", str(html), "--lang", "el,zh", "--format", form]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "page.html: wrong_language" in printed.err


def test_output_in_a_locale_without_its_characters_is_utf_8(html: Path) -> None:
    _, out, _ = victor(
        "clean", html, environment={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    )
    assert "Žádný." in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["clean", "missing.html"], "missing.html"),
        (["clean"], "INPUT"),
        (["clean", "page.html", "page2.html"], "--output"),
        (["clean", "page.html", "--blocks"], "--blocks needs --output"),
        (["clean", "page.html", "--no-sandbox"], "--no-sandbox needs --output"),
        (["clean", "page.html", "--status", "404"], "--status needs --output"),
        (["clean", "page.html", "--all-statuses"], "--all-statuses needs --output"),
        (["clean", "page.html", "--mime", "text/html"], "--mime needs --output"),
        (["clean", "page.html", "--record-types", "response"], "--record-types needs --output"),
        (["clean", "crawl.warc", "--output", "out", "--record-types", "respond"], "did you mean response"),
        (
            ["clean", "crawl.warc", "--output", "out", "--mime", "html"],
            "'html' is not a media type such as text/html",
        ),
        (
            ["clean", "crawl.warc", "--output", "out", "--status", "20"],
            "an HTTP status is a number between 100 and 999, not 20",
        ),
        (
            ["clean", "page.html", "--cleaner", "kimatu", "--prefer", "recall"],
            "needs a cleaner that",
        ),
        (["clean", "page.html", "--cleaner", "kimatu+victor", "--fail-below", ".5"], "needs a cleaner that"),
        (["clean", "page.html", "--threshold", "x"], "--threshold"),
        (["clean", "page.html", "--format", "pdf"], "--format"),
        (["clean", "-", "page.html"], "stdin"),
        (["clean", "-", "--output", "out"], "- (stdin) is for one page without --output"),
        (["clean", "page.html", "--output", "out", "--format", "tei"], "--format is for one page without"),
        (["clean", "lost.html"], "lost.html: broken_encoding"),
        (["explain", "picture.html"], "picture.html: not_html"),
        (["clean", "page.html", "--no-links"], "--no-links, --no-images and --no-emphasis are for --format"),
        (["clean", "page.html", "--sites", "t"], "--sites needs --url, the address of the page"),
        (
            ["clean", "page.html", "--sites", "t", "--url", "http://a.example/", "--cleaner", "kimatu"],
            "--sites needs the cleaner victor, not kimatu",
        ),
        (
            ["clean", "page.html", "--templates", "."],
            "no table of templates (`victor templates mine` makes one)",
        ),
        (["explain", "page.html", "--max-bytes", "10"], "page.html: oversize (over 10 bytes)"),
        (["plan", "-"], "- (stdin) is one page, which `victor clean` prints: victor plan needs files"),
        (["annotate", "--store", "s", "--port", "70000"], "--port must be between 0 and 65535"),
        (["clean", "crawl.warc"], "--output"),
        (["explain", "crawl.warc"], "crawl.warc is an archive, not an html page: see `victor clean"),
        (["clean", "page.html", "--threshold", "0", "--prefer", "recall"], "--threshold and --prefer cannot"),
        (["clean", "page.html", "--lang", "cz"], "unknown language 'cz' (did you mean cs (Czech)"),
        (["clean", "empty.html"], "empty"),
        (["clean", "picture.html"], "picture.html"),
        (["wash", "page.html"], "no command 'wash'"),
        (["cleen", "page.html"], "no command 'cleen' (did you mean clean"),
        (["templates", "mien"], "no command 'templates mien' (did you mean templates mine"),
        (["--versoin"], "no option '--versoin' (did you mean --version?)"),
        (["train", "--fast"], "no option '--fast' (see `victor train --help`)"),
        (["train", "--version"], "--version stands alone: victor --version"),
        (["--quiet", "clean", "page.html"], "--quiet must follow the command: victor COMMAND --quiet"),
        (["clean", "page.html", "--cleaner", "VICTOR-2008X"], "(did you mean victor-2008 or"),
        (
            ["evaluate", "--cleaner", "victor", "--measures", "tm", "--gold", ".", "--output", "o"],
            "no measure 'tm' (did you mean TM",
        ),
        (["clean", "page.html", "--treshold", "1"], "did you mean --threshold"),
        (["clean", "page.html", "--cleaner", "kimatsu"], "no cleaner 'kimatsu' (did you mean kimatu?)"),
        (["clean", "page.html", "--format", "markdwn"], "(did you mean markdown?)"),
        (["completion", "bsh"], "(did you mean bash or zsh?)"),
        (["package", "--extras", "fech", "--output", "nowhere"], "no extra 'fech' (did you mean fetch?)"),
        (["train", "crf", "--data", "x", "--features", "viktor-3", "--output", "y"], "did you mean victor-3"),
        (["train", "crf", "--data", "x", "--start-from", "viktor", "--output", "y"], "did you mean victor"),
        (["clean", "page.html", "--lang", "czech"], "unknown language 'czech' (did you mean cs (Czech)"),
        (["clean", "page.html", "--max-bytes", "9" * 400], "is not a size"),
        (["clean", "page.html", "--max-bytes", "10X"], "'10X' is not a size such as 512K, 10M or 1G"),
        (
            ["explain", "page.html", "--master", "local"],
            "arguments: --master local (see victor explain --help)",
        ),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    says: str,
) -> None:
    for name in ("page.html", "page2.html"):
        (tmp_path / name).write_text(PAGE)
    (tmp_path / "empty.html").touch()
    (tmp_path / "lost.html").write_text("<p>Gestern wurde die neue Br\ufffdcke er\ufffdffnet." * 9, "utf-8")
    (tmp_path / "picture.html").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8)
    (tmp_path / "crawl.warc").write_bytes(
        b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    )
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    printed = capsys.readouterr()
    lines = messages(printed.err)
    assert printed.out == ""
    assert len(lines) == 1
    assert lines[0].startswith("victor: error: ")
    assert says in lines[0]


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in COMMANDS)
    assert "examples:" in shown
    assert main([]) == 2
    assert "examples:" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["--help"], ["help"], ["train", "--help"], [], ["train"], ["clean", "--help"]]
)
def test_argparse_prints_all_help_so_that_it_has_colours_from_python_3_14_on(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It asks whether stdout is a terminal: help that goes to stderr must look like stdout to it."""

    def formatted(_: argparse.HelpFormatter) -> str:
        return "to stderr" if sys.stdout is sys.stderr else "to stdout"

    monkeypatch.setattr(argparse.RawDescriptionHelpFormatter, "format_help", formatted)
    is_asked = not {"help", "--help"}.isdisjoint(words)
    assert main(words) == (0 if is_asked else 2)
    assert capsys.readouterr() == (("to stdout", "") if is_asked else ("", "to stderr"))


def test_the_version_names_model_kernels_and_python(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    version, model, compiled, python = capsys.readouterr().out.splitlines()
    assert version == f"victor {victor_spark.__version__}"
    assert model == f"model: {extractors.models_of('victor')[0]}"
    if not kernels.uncompiled():
        abi = {path.name.split(".")[1] for path in Path(kernels.__file__).parent.glob("blocks.*.so")}
        assert compiled.removeprefix("kernels: ") in {f"compiled ({name})" for name in abi}
    else:
        assert compiled.startswith("kernels: not compiled: ")
    assert python.startswith(f"Python: {platform.python_version()} ")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*name.split(), "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"usage: victor {name}" in shown
    assert f"victor {name}" in shown.partition("examples:")[2]
    assert "default: None" not in shown


def test_a_group_of_commands_has_help_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "train crf" in shown
    assert "templates mine" not in shown
    assert main(["train"]) == 2
    assert capsys.readouterr() == ("", shown)


def test_the_help_of_a_command_lists_its_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    found = {}
    for name in COMMANDS:
        main([*name.split(), "--help"])
        (found[name],) = re.findall(r"^exit codes: (.*)$", capsys.readouterr().out, re.MULTILINE)
    assert found["cleaners"] == "0 done, 1 internal error, 2 wrong usage or unreadable input"
    assert "3 failure budget exceeded, 4 stopped; run the same command again" in found["clean"]
    assert "3 expected F1 below" in found["explain"]
    assert found["plan"].endswith("3 by the sample, `victor clean` would exceed its failure budget")
    assert "2 wrong usage, unreadable input or no page written, 4 stopped" in found["fetch"]
    assert found["status"].startswith("0 complete, 1 internal error, ")
    assert found["status"].endswith(", 4 incomplete")


def test_the_help_of_limits_says_what_happens_beyond_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clean", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for words in (
        "remove from the kept text what the site repeats",
        "beyond: status timeout (default: 20)",
        "(a bare number is megabytes); beyond: status out_of_memory (default: 1G)",
        "such as 500M",
    ):
        assert words in shown


@pytest.mark.parametrize(
    "words",
    [
        ["--format", "text", "--format", "html"],
        ["--url=a", "--url", "b"],
        ["--log-format", "text", "--log-format", "json"],
    ],
)
def test_an_option_that_is_given_twice_is_an_error(
    words: list[str], html: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """argparse keeps the last value and says nothing."""
    assert main(["clean", str(html), *words]) == 2
    flag = words[0].partition("=")[0]
    assert messages(capsys.readouterr().err) == [f"victor: error: {flag} is given twice: give it once"]


def test_quiet_leaves_out_progress_but_not_warnings(html: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "xx.txt").write_text("the ferry is late again today because of the fog\n" * 50)
    lines = []
    for words in ([], ["--quiet"]):
        code, _, err = victor("train", "langid", texts, "--output", tmp_path / "p.npz", "--overwrite", *words)
        assert code == 0, err
        lines.append(messages(err))
    assert lines[1] == []
    assert any(line.startswith("victor: reading: 1/1") for line in lines[0])
    code, _, err = victor("clean", html, "--output", tmp_path / "out", "--quiet", "--log-format", "json")
    assert (code, err) == (0, ""), "the tasks of Spark are quiet too"
    html.write_text("<html><body><div></div></body></html>")
    _, _, err = victor("clean", html, "--quiet")
    assert "page.html: empty" in err


@pytest.mark.parametrize(("n", "rate"), [(3, "0.3/s"), (124, "12.4/s"), (65540, "6,550/s")])
def test_a_rate_is_a_number_without_an_exponent(n: int, rate: str) -> None:
    assert rate in logs.counted("reading", n, 0, 10.0)


def test_a_line_of_the_log_holds_no_control_characters_and_no_colours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tabs and newlines are spaces in text; JSON escapes them."""
    line = "a server said \x1b[31mred\x1b[0m\r\n\tand went\u3000on\xa0"
    logs.log(line)
    assert capsys.readouterr().err == "victor: a server said �[31mred�[0m�  and went\u3000on\xa0\n"
    monkeypatch.setattr(logs, "FIELDS", {})
    logs.log(line)
    assert (
        json.loads(capsys.readouterr().err)["message"]
        == "a server said �[31mred�[0m�\n\tand went\u3000on\xa0"
    )


def test_a_line_of_the_log_is_one_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python workers share one stderr, and with PYTHONUNBUFFERED every write goes there at once."""
    written: list[str] = []
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(write=written.append, flush=lambda: None))
    logs.log("one line")
    assert list(filter(None, written)) == ["victor: one line\n"]


def test_progress_in_a_log_has_rate_and_time_left_and_no_carriage_return(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = iter([0.0, 1.0, 30.0, 40.0])
    monkeypatch.setattr(logs.time, "monotonic", lambda: next(now))
    report = logs.reporter("reading", 400)
    for done in (1, 300, 400):
        report(done, "")
    assert capsys.readouterr().err.splitlines() == [
        "victor: reading: 300/400, 30 s, 10/s, about 10 s left",
        "victor: reading: 400/400, 40 s, 10/s",
    ]


def test_of_an_unknown_number_progress_has_the_rate_and_says_nothing_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = iter([0.0, 1.0, 30.0])
    monkeypatch.setattr(logs.time, "monotonic", lambda: next(now))
    assert [*logs.track("ab", "reading", 0)] == ["a", "b"]
    assert capsys.readouterr().err == "victor: reading: 1, 30 s, 0.0333/s\n"


def test_completion_knows_commands_options_values_and_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("shtab")
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "victor.bash"
    script.write_text(capsys.readouterr().out)
    if not (bash := shutil.which("bash")):
        pytest.skip("needs bash")
    (tmp_path / "out").mkdir()

    def completed(*words: str) -> set[str]:
        lines = f"source {script}; COMP_WORDS=({shlex.join(words)!s}); COMP_CWORD={len(words) - 1}; "
        lines += "_shtab_victor; printf '%s\\n' \"${COMPREPLY[@]}\""
        command = [bash, "--norc", "-c", lines]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return {word.strip() for word in done.stdout.splitlines()}

    assert {"clean", "export", "templates"} <= completed("victor", "")
    assert {"mine", "show"} <= completed("victor", "templates", "")
    assert {"--format", "--quiet"} <= completed("victor", "clean", "--")
    assert {"markdown", "tei"} <= completed("victor", "clean", "--format", "")
    assert "out" in completed("victor", "status", "o")


def test_cleaners_lists_the_names_that_can_be_loaded(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cleaners"]) == 0
    assert capsys.readouterr().out.split() == list(victor_spark.cleaners())


def test_languages_lists_code_name_and_share_identified(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["languages", "--json"]) == 0
    found = {row["code"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert found["cs"]["name"] == "Czech"
    assert all(row["name"] and row["exact"] <= row["group"] <= 1 for row in found.values())
    assert main(["languages"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["code", "language", "exact", "group"]
    assert len(rows) == len(found)
    assert re.fullmatch(r"cs +Czech +\d+\.\d% +\d+\.\d%", next(row for row in rows if row.startswith("cs")))


def test_a_home_without_configuration_is_named(html: Path, tmp_path: Path) -> None:
    code, _, err = victor("clean", html, environment={"VICTOR_HOME": str(tmp_path)})
    assert (code, messages(err)) == (2, [f"victor: error: no conf/ folder in {tmp_path}"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10M", 10 << 20),
        ("512k", 512 << 10),
        ("1G", 1 << 30),
        ("1.5 GB", 3 << 29),
        ("7", 7),
        ("2MiB", 2 << 20),
    ],
)
def test_sizes_are_read_alike_everywhere(text: str, expected: int) -> None:
    assert configuration.n_bytes(text) == expected


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--split-bytes", "999999999999999T"),
        ("--target-file-size", "2000000G"),
        ("--max-bytes", "0.1"),
        ("--partitions", "99999999999999"),
        ("--partitions", "9" * 5000),
        ("--partitions", "0"),
        ("--page-memory", "0M"),
        ("--page-seconds", "nan"),
        ("--page-seconds", "1e400"),
        ("--page-seconds", "-1"),
    ],
)
def test_a_limit_that_no_run_can_have_is_refused_in_one_line(
    option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["clean", "missing.warc", "--output", "out", option, value]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"argument {option}: {value!r} is not a" in line


def test_a_path_that_the_system_refuses_is_one_line(
    tmp_path: Path, html: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = str(tmp_path / ("x" * 300))
    for words in (
        ["plan", str(html), "--output", long],
        ["evaluate", "--gold", long, "--cleaner", "victor", "--output", "o"],
    ):
        assert main([*words]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line == f"victor: error: {long}: File name too long"


def test_a_bare_number_is_megabytes_for_the_memory_of_a_page() -> None:
    parser = cli.parser("clean", CLEAN)
    for text in ("200", "200M", "200 MiB"):
        words = ["a.warc", "--output", "out", "--page-memory", text]
        assert requested(parser.parse_args(words)).limits.page_memory == 200 << 20


@pytest.fixture
def home(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the configuration, with this project's models, that the command uses."""
    (tmp_path / "home" / "conf").mkdir(parents=True)
    for path in (root / "conf").iterdir():
        if path.name != "cleaning.toml":
            (tmp_path / "home" / "conf" / path.name).symlink_to(path)
    (tmp_path / "home" / "models").symlink_to(root / "models")
    monkeypatch.setenv("VICTOR_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "conf" / "cleaning.toml"


def test_the_command_line_wins_over_conf_and_conf_over_the_built_in_values(
    home: Path, html: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home.write_text("[cleaning]\nthreshold = 0.0\n")
    assert main(["clean", str(html)]) == 0
    assert capsys.readouterr().out == ""
    assert main(["clean", str(html), "--threshold", "1"]) == 0
    assert TEXT in capsys.readouterr().out


def test_tables_are_requested_by_paths_that_executors_find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["a.warc", "--output", "out", "--sites", "sites", "--templates", "t.parquet"]
    cleaning = requested(cli.parser("clean", CLEAN).parse_args(words)).cleaning
    assert (cleaning.sites, cleaning.templates) == (str(tmp_path / "sites"), str(tmp_path / "t.parquet"))


def test_sizes_in_conf_are_bytes_or_those_of_the_command_line(home: Path) -> None:
    parser = cli.parser("clean", CLEAN)
    for size in ('"1.5K"', "1536"):
        home.write_text(f"[reading]\nmax_bytes = {size}\n[output]\ntarget_file_size = {size}\n")
        request = requested(parser.parse_args(["a.warc", "--output", "out"]))
        assert (request.reading.max_bytes, request.rows.target_file_size) == (1536, 1536)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[cleaning]\ntreshold = 0.5\n", "unknown key 'treshold'"),
        ("[cleaning]\nthreshold = 'low'\n", "threshold = 'low' is not a number"),
        ("[cleaning]\nthreshold = 3\n", "cleaning.toml: threshold must be between 0 and 1, not 3.0"),
        ("[cleaning]\nprefer = 'precison'\n", "'precison' (did you mean precision?)"),
        ("[cleaning]\nlanguages = 'cs'\n", "languages = 'cs' is not a list such as"),
        ("[limts]\nsandbox = false\n", "unknown table or key 'limts' (did you mean limits?)"),
        ("[output]\ntarget_file_size = -5\n", "target_file_size = '-5' is not a size such as"),
        ("[reading]\nstatuses = [200, 'ok']\n", "statuses = 'ok' is not a whole number"),
        ("[reading]\nmax_bytes = true\n", "max_bytes = True is not a whole number"),
        ("[reading]\nmax_bytes = '10Q'\n", "max_bytes = '10Q' is not a size such as"),
        ("[laundry]\nsoap = 1\n", "'laundry'"),
        ("threshold = 0.5\n", "'threshold'"),
        ("cleaning = 3\n", "cleaning.toml: cleaning is not a table"),
        ("[cleaning\n", "cleaning.toml"),
    ],
)
def test_a_mistake_in_conf_is_one_line_and_exit_2(
    home: Path, html: Path, capsys: pytest.CaptureFixture[str], content: str, says: str
) -> None:
    home.write_text(content)
    assert main(["clean", str(html)]) == 2
    lines = messages(capsys.readouterr().err)
    assert len(lines) == 1
    assert says in lines[0]


def test_the_configuration_that_is_shipped_names_every_setting(root: Path) -> None:
    shipped = (root / "conf" / "cleaning.toml").read_text()
    shown = tomllib.loads(re.sub(r"^# (?=\w+ = )", "", shipped, flags=re.MULTILINE))
    groups = {table: getattr(CleanRequest(), group) for group, table in clean.TABLES.items()}
    stated = {table: {one.name for one in dataclasses.fields(group)} for table, group in groups.items()}
    assert {table: set(keys) for table, keys in shown.items()} == stated


def test_the_configuration_that_is_shipped_is_valid_and_its_examples_are_too(
    root: Path, home: Path, html: Path
) -> None:
    shipped = (root / "conf" / "cleaning.toml").read_text()
    home.write_text(shipped)
    assert main(["clean", str(html)]) == 0
    examples = [line.removeprefix("# ") for line in shipped.splitlines() if '= "path"' not in line]
    values = [line for line in examples if line.startswith("[") or " = " in line.partition("#")[0]]
    values.remove(next(line for line in values if line.startswith("prefer")))  # a threshold leaves no choice
    home.write_text("\n".join(values))
    assert main(["clean", str(html)]) == 0
    assert "threshold" in home.read_text()


def test_an_internal_error_is_one_line_with_a_hint_and_a_traceback_with_debug(
    html: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(COMMANDS, "clean", ("no_such_module:CLEAN", ""))
    assert main(["clean", str(html)]) == 1
    lines = messages(capsys.readouterr().err)
    assert len(lines) == 1
    assert "internal error: ModuleNotFoundError" in lines[0]
    assert "--debug" in lines[0]
    assert main(["clean", str(html), "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("", "RuntimeError"),
        ("no space\nleft", "RuntimeError: no space"),
        (
            "An error occurred while calling o1.parquet.\n: a.b.SparkException: Job aborted.\n\tat x",
            "RuntimeError: a.b.SparkException: Job aborted.",
        ),
        (
            "Job aborted.\n\tat a.b\nCaused by: a.Exception: first\n\tat d\nCaused by: b.Error: disk full",
            "RuntimeError: b.Error: disk full",
        ),
        (
            'Thrown\nTraceback (most recent call last):\n File "x", line 1\nValueError: the reason\n\n\tat a',
            "RuntimeError: ValueError: the reason",
        ),
    ],
)
def test_an_internal_error_says_the_line_that_matters(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], message: str, line: str
) -> None:
    def fail(_: object) -> int:
        raise RuntimeError(message)

    monkeypatch.setattr(lists, "CLEANERS", dataclasses.replace(lists.CLEANERS, run=fail))
    assert main(["cleaners"]) == 1
    assert messages(capsys.readouterr().err) == [
        f"victor: error: internal error: {line} (--debug prints the traceback)"
    ]


def test_a_reader_that_goes_away_is_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "long.html"
    path.write_text(PAGE.replace(f"<p>{TEXT}</p>", f"<p>{TEXT}</p>" * 3_000))
    command = [*VICTOR, "clean", str(path), "--threshold", "1"]
    # Unbuffered, Python itself forgets what a pipe didn't take, and there is no error to see.
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(command, env=buffered, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.read(10)
        process.stdout.close()
        assert messages(process.stderr.read().decode()) == []
    assert process.returncode == 141


AS_IN_A_TERMINAL = """
import signal
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
"""
"""What may start these tests ignores signals, as `nohup` and shells do for what runs in the background."""

WAITING = """
import signal, sys, types
from victor_spark import cli
from victor_spark.commands.options import Command

def run(arguments):
    print("runs", signal.getsignal(signal.SIGHUP) is signal.SIG_IGN, flush=True)
    signal.pause()

cli.COMMANDS["wait"] = ("wait:WAIT", "")
sys.modules["victor_spark.commands.wait"] = types.SimpleNamespace(WAIT=Command("", (), run, sys.argv[1]))
sys.argv[1:] = ["wait"]
sys.exit(cli.main())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(
    ("stopped", "expected"),
    [
        ("", (130, "victor: stopped\n")),
        ("nothing was written", (4, "victor: stopped; nothing was written\n")),
    ],
)
def test_a_signal_that_ends_programs_ends_a_command_with_a_line_at_any_time(
    number: signal.Signals, stopped: str, expected: tuple[int, str]
) -> None:
    """Also before Spark starts, and in commands without Spark."""
    command = [sys.executable, "-c", AS_IN_A_TERMINAL + WAITING, stopped]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        process.send_signal(number)
        _, said = process.communicate()
    assert (process.returncode, said) == expected


def test_what_nohup_started_outlives_its_terminal() -> None:
    command = ["sh", "-c", 'trap "" HUP; exec "$0" "$@"', sys.executable, "-c", WAITING, ""]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "runs True\n"
        process.terminate()


@pytest.mark.parametrize("where", ["2>/dev/full", "2>&1 | true"])
def test_a_stderr_that_takes_no_line_changes_no_exit_code(html: Path, tmp_path: Path, where: str) -> None:
    """A log on a full disk, or the reader of a pipe that went away."""
    for page, expected in ((html, 0), (tmp_path / "none.html", 2)):
        shell = f'{{ "$@" >/dev/null; echo $? >{tmp_path}/code; }} {where}'
        subprocess.run(["sh", "-c", shell, "sh", *VICTOR, "clean", str(page), "--lang", "cs"], check=True)
        assert int((tmp_path / "code").read_text()) == expected


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_change_no_exit_code(html: Path, tmp_path: Path, closed: str) -> None:
    """Schedulers and daemons may start a program without them; no other file gets their numbers."""
    seen = tmp_path / "seen"
    code = (
        "import os, sys; from victor_spark import cli; cli._run_as_usual = cli._run; "
        f"note = lambda: open({str(seen)!r}, 'w').write(' '.join(map(os.readlink, "
        "[f'/proc/self/fd/{n}' for n in range(3)]))); "
        "cli._run = lambda words: (note(), cli._run_as_usual(words))[1]; sys.exit(cli.main())"
    )
    for page, expected in ((html, 0), (tmp_path / "none.html", 2)):
        shell = f'exec "$@" {closed}'
        command = ["sh", "-c", shell, "sh", sys.executable, "-c", code, "clean", str(page)]
        finished = subprocess.run(command, input="", capture_output=True, text=True, check=False)
        assert finished.returncode == expected
        assert (TEXT in finished.stdout) == (expected == 0 and ">&-" not in closed.split())
        assert ("no such file" in finished.stderr) == (expected == 2 and "2>&-" not in closed)
        for stream, file in zip(("<&-", ">&-", "2>&-"), seen.read_text().split(), strict=True):
            assert (file == os.devnull) == (stream in closed.split())


def test_a_stdout_on_a_full_disk_is_one_line(html: Path) -> None:
    command = [sys.executable, "-m", "victor_spark", "clean", str(html)]
    with open("/dev/full", "w") as full:
        finished = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (finished.returncode, finished.stderr) == (
        4,
        "victor: error: can't write: No space left on device\n",
    )


LATE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void unwound(void *nothing) { abort(); }
static void *work(void *nothing) {
    int (*ensure)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "PyGILState_Ensure");
    int (*ends)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "_Py_IsFinalizing");
    if (!ends) ends = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsFinalizing");
    while (!ends()) usleep(100);
    pthread_cleanup_push(unwound, 0);
    ensure();
    pthread_cleanup_pop(0);
    return 0;
}
void start(void) { pthread_t thread; pthread_create(&thread, 0, work, 0); }
"""
COMMAND = """
import ctypes, sys, time, types
from victor_spark import cli
from victor_spark.commands.options import Command

class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(1)

slow = Slow()  # taken apart with the interpreter, which gives the thread its time
late = ctypes.CDLL(sys.argv[1])

def run(arguments):
    late.start()
    print("the answer")
    return 4

cli.COMMANDS["late"] = ("late:LATE", "")
sys.modules["victor_spark.commands.late"] = types.SimpleNamespace(LATE=Command("", (), run))
is_program = sys.argv[2] == "program"
sys.argv[1:] = ["late"]
sys.exit(cli.main() if is_program else cli.main(["late"]))
"""


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python 3.14 lets late threads sleep")
def test_a_library_s_thread_that_is_late_to_release_an_object_aborts_no_command(tmp_path: Path) -> None:
    """It aborts when it is unwound, as C++ does; the control, which only calls `main`, shows that it is."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs a C compiler, on Linux")
    source, library = tmp_path / "late.c", tmp_path / "late.so"
    source.write_text(LATE)
    subprocess.run([compiler, "-shared", "-fPIC", "-pthread", "-o", library, source, "-ldl"], check=True)

    def finished(how: str) -> tuple[int, bytes]:
        command = [sys.executable, "-c", COMMAND, str(library), how]
        run = subprocess.run(command, capture_output=True, check=False)
        return run.returncode, run.stdout

    assert finished("called") == (-signal.SIGABRT, b"the answer\n")
    assert finished("program") == (4, b"the answer\n")


def test_functions_registered_for_the_exit_run_before_the_process_ends(html: Path) -> None:
    script = (
        "import atexit, sys; from victor_spark import cli; sys.argv[1:] = ['clean', sys.argv[1]]; "
        "clean = cli._dispatch; "
        "cli._dispatch = lambda words: (atexit.register(print, 'bye'), clean(words))[1]; "
        "sys.exit(cli.main())"
    )
    finished = subprocess.run([sys.executable, "-c", script, str(html)], capture_output=True, check=False)
    assert (finished.returncode, finished.stdout.splitlines()[-1]) == (0, b"bye")


def test_a_warning_of_the_library_is_a_line_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "broken.warc.gz").symlink_to("nowhere")
    (tmp_path / "page.html").write_text("<p>The port is open.</p>", encoding="utf-8")
    command = [sys.executable, "-m", "victor_spark", "clean", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.stderr.splitlines()[0] == f"victor: skipped {tmp_path}/broken.warc.gz: a broken link"
