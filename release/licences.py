"""Prints the licences of the package's files and of its dependencies as a Markdown table.

    ./dev licences [EXTRA...]

Packages are those that victor-spark requires, and what these require, as installed here; with names of extras
also theirs. The models that the wheel holds come first. Exit code 1 if a package states no licence.
"""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
UNKNOWN = "not stated"


def installed(extras: tuple[str, ...]) -> dict[str, Distribution]:
    """The distributions that are required, with their own requirements, by name."""
    found: dict[str, Distribution] = {}
    waiting = [("victor-spark", extras)]
    seen = set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue  # for another platform or Python
        for line in found[name].requires or ():
            required = Requirement(line)
            environments = [{"extra": extra} for extra in ("", *wanted)]
            if required.marker is None or any(map(required.marker.evaluate, environments)):
                waiting.append((canonicalize_name(required.name), tuple(sorted(required.extras))))
    return dict(sorted(found.items()))


def licence(package: Distribution) -> str:
    """The licence of a package: its SPDX expression, else its classifiers, else the text."""
    metadata = package.metadata
    if expression := metadata["License-Expression"]:
        return expression
    classifiers = [each for each in metadata.get_all("Classifier") or () if each.startswith("License ::")]
    names = [each.rpartition(" :: ")[2] for each in classifiers if each.count(" :: ") > 1]
    stated = (metadata["License"] or "").strip().partition("\n")[0][:60]
    return " / ".join(names) or stated or UNKNOWN


def models() -> Iterator[tuple[str, str]]:
    """The folders of models/ and the licences of their training data, as their cards state them."""
    for card in sorted((ROOT / "models").rglob("CARD.md")):
        text = card.read_text(encoding="utf-8")
        table = re.search(r"^\|.*\| licence as stated \|\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
        rows = [line.strip("| ").split("|") for line in table[1].splitlines()] if table else []
        data = sorted({row[-1].strip() for row in rows}) or ["see its card"]
        yield str(card.parent.relative_to(ROOT)), f"Apache-2.0; trained on pages under: {', '.join(data)}"


def main() -> None:
    """Prints the table."""
    print("| shipped | version | licence |\n|---|---|---|")
    for folder, terms in models():
        print(f"| {folder} | | {terms} |")
    packages = {
        name: (package.version, licence(package)) for name, package in installed(tuple(sys.argv[1:])).items()
    }
    for name, (version, terms) in packages.items():
        print(f"| {name} | {version} | {terms} |")
    if unknown := [name for name, (_, terms) in packages.items() if terms == UNKNOWN]:
        sys.exit(f"licences: not stated: {', '.join(unknown)}")


if __name__ == "__main__":
    main()
