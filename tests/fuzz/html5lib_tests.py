"""The tests that parsers of HTML share, as a package of Python's index has them: an oracle from outside.

    python tests/fuzz/html5lib_tests.py      gets them into .venv/html5lib-tests

`./dev test-checked` does that; without them, the tests that need them are skipped.
"""

import json
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

HOME: Final = Path(__file__).resolve().parents[2] / ".venv" / "html5lib-tests"
SOURCE: Final = "html5lib==1.0b8"
"""The last release whose sources hold the tests."""

_SECTION: Final = re.compile(r"#(data|errors|document|document-fragment|script-on|script-off)")
_CASES: Final = re.compile(r"\n\n(?=#data\n)")


class Case(NamedTuple):
    """A test: where it stands, a page, and the tree that it makes, in the notation of these tests."""

    name: str
    markup: str
    tree: str


def trees() -> Iterator[Case]:
    """The tests of tree construction that are about whole pages."""
    for path in sorted((HOME / "tree-construction").glob("*.dat")):
        content = path.read_text(encoding="utf-8")
        for number, written in enumerate(_CASES.split(content.strip("\n"))):
            sections: dict[str, list[str]] = {}
            name = ""
            for line in written.split("\n"):
                if name != "document" and _SECTION.fullmatch(line):
                    name = line[1:]
                    sections[name] = []
                else:
                    sections[name].append(line)
            if "document-fragment" not in sections:
                texts = {name: "\n".join(lines) for name, lines in sections.items()}
                yield Case(f"{path.stem} {number}", texts["data"], texts["document"])


def inputs() -> Iterator[str]:
    """The inputs of the tests of tokenization."""
    for path in sorted((HOME / "tokenizer").glob("*.test")):
        found = json.loads(path.read_text(encoding="utf-8"))
        for case in (*found.get("tests", ()), *found.get("xmlViolationTests", ())):
            yield case["input"]


def get() -> None:
    """Makes .venv/html5lib-tests, whole or not at all."""
    if HOME.exists():
        return
    with tempfile.TemporaryDirectory(dir=HOME.parent) as folder:
        options = ("--no-deps", "--no-binary", ":all:", "--dest", folder)
        subprocess.run([sys.executable, "-m", "pip", "download", *options, SOURCE], check=True)
        with tarfile.open(next(Path(folder).glob("*.tar.gz"))) as packed:
            packed.extraction_filter = getattr(tarfile, "data_filter", None)  # not in Python 3.11.2
            packed.extractall(folder)
        next(Path(folder).glob("*/html5lib/tests/testdata")).rename(HOME)


if __name__ == "__main__":
    get()
