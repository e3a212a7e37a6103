"""The documentation names the keys that the page listens to."""

import re
from pathlib import Path

NAMES = {
    "ArrowDown": "↓", "ArrowUp": "↑", "ArrowRight": "→", "ArrowLeft": "←",
    "Escape": "Esc", "Delete": "Del", "Backspace": "⌫",
}  # fmt: skip
LABELS = "label"


def test_every_key_of_the_page_is_documented_and_the_other_way_round(root: Path, package: Path) -> None:
    source = (package / "annotation" / "static" / "keys.js").read_text(encoding="utf-8")
    rows = re.findall(r'\[\[(.*?)\], "([a-z-]+)", "(.*?)", "\w+"\]', source)
    keys = {command: [_shown(key) for key in re.findall(r'"(.*?)"', names)] for names, command, _ in rows}
    page = (
        (root / "docs" / "annotate.md")
        .read_text(encoding="utf-8")
        .partition("| keys |")[2]
        .partition("\n\n")[0]
    )
    rows_shown = [line for line in page.splitlines() if line[:3] == "| `"]
    documented = [re.findall(r"`(.+?)`", line.split("|")[1]) for line in rows_shown]
    assert len(keys) > 20
    assert sorted(documented) == sorted(keys[c][:3] if c == LABELS else keys[c] for c in keys)
    for _, command, words in rows:
        assert command == LABELS or f"| {words} |" in page


def _shown(key: str) -> str:
    first, plus, last = key.rpartition("+")
    return first + plus + NAMES.get(last, last) if first else NAMES.get(key, key)
