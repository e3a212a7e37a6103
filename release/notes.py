"""Prints the release notes of a version: its section of CHANGELOG.md.

    python release/notes.py v1.2.3

Exit code 1 if the tag is not the version of the package, or CHANGELOG.md has no section for it.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def notes(tag: str) -> str:
    """The section's text, without its heading."""
    source = (ROOT / "victor_spark/__init__.py").read_text(encoding="utf-8")
    [version] = re.findall(r'^__version__ = "(.+)"$', source, re.MULTILINE)
    if tag != f"v{version}":
        raise SystemExit(f"notes: the tag is {tag}, the version is {version}")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {re.escape(version)}\b.*\n((?:(?!## ).*\n?)*)", changes, re.MULTILINE)
    if section is None:
        raise SystemExit(f"notes: CHANGELOG.md has no section '## {version}': rename 'Unreleased'")
    return section[1].strip()


if __name__ == "__main__":
    print(notes(sys.argv[1]))
