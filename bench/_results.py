"""The sections of bench/RESULTS.md, one a benchmark; each can be replaced alone."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import _checkout  # noqa: F401

PATH: Final = Path(__file__).resolve().with_name("RESULTS.md")
_MARK: Final = re.compile(r"^`python bench/(\w+\.py)` prints:\n", re.MULTILINE)


def parts(path: Path = PATH) -> dict[str, str]:
    """The last output of each benchmark's script, in the file's order."""
    _, *marked = _MARK.split(path.read_text(encoding="utf-8")) if path.is_file() else [""]
    return {name: text.strip() + "\n" for name, text in zip(marked[::2], marked[1::2], strict=True)}


def written(head: str, of_scripts: Mapping[str, str]) -> str:
    """The whole file."""
    marked = [f"`python bench/{name}` prints:\n\n{text.strip()}\n" for name, text in of_scripts.items()]
    return "\n".join([head.strip() + "\n", *marked])


def replace(name: str, printed: str, path: Path = PATH) -> None:
    """Replaces the section of a script by its new output, or adds it at the end."""
    head = _MARK.split(path.read_text(encoding="utf-8"))[0]
    path.write_text(written(head, {**parts(path), name: printed}), encoding="utf-8")
