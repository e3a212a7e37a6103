"""bench/RESULTS.md by sections: some are a benchmark's own, and stay when others are renewed."""

from pathlib import Path
from typing import Final

PATH: Final = Path(__file__).resolve().with_name("RESULTS.md")
APART: Final = ("## Scale",)
"""Sections that `./dev bench` leaves as they are: too long a run for every time."""


def sections(text: str) -> list[str]:
    """The head, and every section with its title."""
    head, *rest = text.split("\n## ")
    return [head.rstrip("\n") + "\n", *(f"## {section}".rstrip("\n") + "\n" for section in rest)]


def replace(title: str, section: str, path: Path = PATH) -> None:
    """Puts a section in the place of the one whose title begins so, or at the end."""
    kept = [old for old in sections(path.read_text(encoding="utf-8")) if not old.startswith(title)]
    path.write_text("\n".join([*kept, section.rstrip("\n") + "\n"]), encoding="utf-8")


def apart(path: Path = PATH) -> str:
    """The sections of APART that are there."""
    found = sections(path.read_text(encoding="utf-8")) if path.is_file() else []
    return "\n".join(section for section in found if section.startswith(APART))
