"""docs/sites.md from the stored results of `research.sites measure`."""

from pathlib import Path


def page(results: Path) -> str:
    return ""
