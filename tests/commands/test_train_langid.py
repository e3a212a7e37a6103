"""`victor train langid`: profiles from text files, one more language, listings, and bad input."""

import bz2
import gzip
import lzma
from pathlib import Path

import pytest

from tests.langid.conftest import Speak, speak  # noqa: F401 - a fixture
from victor_spark import cli
from victor_spark.commands import train_ngrams
from victor_spark.errors import InputError, ModelError, OutputError, UsageError
from victor_spark.langid.profiles import Profiles


def run(*words: object) -> int:
    parser = cli.parser("train langid", train_ngrams.LANGID)
    return train_ngrams.train_langid(parser.parse_args([str(word) for word in words]))


@pytest.fixture
def texts(tmp_path: Path, speak: Speak) -> Path:  # noqa: F811 - the fixture
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "aa.txt").write_text(speak(1, 1000), "utf-8")
    (folder / "bb.txt.gz").write_bytes(gzip.compress(speak(2, 1000).encode()))
    (folder / "sr_latn.txt.xz").write_bytes(lzma.compress(speak(3, 1000).encode()))
    (folder / "notes.md").write_text("no text to train on")
    return folder


@pytest.fixture
def trained(texts: Path, tmp_path: Path) -> Path:
    output = tmp_path / "profiles.npz"
    assert run(texts, "--output", output) == 0
    return output


def test_a_folder_of_texts_becomes_profiles(trained: Path) -> None:
    assert Profiles.load(trained).languages == ("aa", "bb", "sr_latn")
    assert not list(trained.parent.glob("*.partial"))


def test_a_language_is_added_to_profiles(trained: Path, tmp_path: Path, speak: Speak) -> None:  # noqa: F811
    (tmp_path / "new.txt").write_text(speak(4, 1000), "utf-8")
    assert run("--add", f"cc={tmp_path / 'new.txt'}", "--profiles", trained, "--output", trained) == 0
    assert Profiles.load(trained).languages == ("aa", "bb", "cc", "sr_latn")


def test_a_profile_is_listed(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--list", "bb", "--profiles", trained) == 0
    assert capsys.readouterr().out.startswith("# bb: 400 n-grams by rank")


def test_the_shipped_profiles_are_listed_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--list", "cs") == 0
    assert "\ně\n" in capsys.readouterr().out.replace("\t", "\n")


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("aa.txt", b"", "aa has 0 letters"),
        ("aa.txt", b"1234 5678 " * 900, "aa has 0 letters"),
        ("aa.txt", b"a few words", "at least 1000"),
        ("aa.txt", b"\x89PNG\r\n\x1a\n" * 500, "no UTF-8 text"),
        ("aa.txt", b"abc\0def " * 900, "holds NUL"),
        ("aa.txt.gz", b"not gzip at all", "can't read"),
        ("aa.txt.xz", b"not xz at all", "can't read"),
        ("aa.txt.bz2", bz2.compress(b"a few words")[:-5], "can't read"),
    ],
)
def test_files_that_are_no_text(tmp_path: Path, name: str, content: bytes, complaint: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=complaint) as caught:
        run(tmp_path / name, "--output", tmp_path / "out.npz")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out.npz").exists()


def test_wrong_usage(texts: Path, trained: Path, tmp_path: Path) -> None:
    output, new = ("--output", tmp_path / "out.npz"), texts / "aa.txt"
    wrong: list[tuple[tuple[object, ...], type[Exception], str]] = [
        ((texts,), UsageError, "--output FILE or --list LANG is required"),
        (output, UsageError, "give either"),
        ((texts, "--add", "cs=x", *output), UsageError, "give either"),
        (("--add", "cs", *output), UsageError, "expected LANG=FILE"),
        (
            ("--add", f"cc={new}", "--add", f"cc={new}", *output),
            UsageError,
            "two training files for language",
        ),
        (("--add", "czech=x", *output), UsageError, "'czech' is not a language code"),
        ((texts, texts / "aa.txt", *output), UsageError, "two training files for language 'aa'"),
        ((texts / "notes.md", *output), UsageError, "'notes' is not a language code"),
        ((tmp_path / "missing.txt", *output), InputError, "no such file"),
        (("--add", f"cs={tmp_path / 'missing.txt'}", *output), InputError, "can't read"),
        (("--list", "xx", "--profiles", trained), UsageError, "no profile of language 'xx'"),
        (("--list", "cs", "--profiles", texts / "aa.txt"), ModelError, "not a language profiles file"),
        ((texts, "--output", tmp_path / "no" / "out.npz"), OutputError, "cannot write"),
    ]
    wrong.append(((texts, "--output", trained), OutputError, "exists; choose another --output"))
    for words, error, complaint in wrong:
        with pytest.raises(error, match=complaint):
            run(*words)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no text files"):
        run(tmp_path / "empty", *output)
