"""Pages to annotate, written for these tests."""

from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parent / "html"

# The blocks of article.html: three of the menu, then headline, paragraph, a paragraph of three blocks with a
# link, subheading, paragraph, a hidden paragraph, two of the footer.
HOME, HEADLINE, FIRST, SECOND, SECOND_END, SUBHEADING, LAST, HIDDEN, FOOTER = 0, 3, 4, 5, 7, 8, 9, 10, 11
N_BLOCKS = 13


def article(title: str) -> str:
    """A page of N_BLOCKS blocks."""
    return (FOLDER / "article.html").read_text(encoding="utf-8").replace("TITLE", title)


def hostile(elsewhere: str) -> str:
    """A page full of tricks; each would set `tricked` on a window, or ask `elsewhere` for something."""
    trick = f"top.tricked=parent.tricked=window.tricked=1;fetch('{elsewhere}/fetch')"
    encoded = "".join(f"&#{ord(character)};" for character in trick)
    html = (FOLDER / "tricks.html").read_text(encoding="utf-8")
    return html.replace("TRICK", trick).replace("ENCODED", encoded).replace("ELSEWHERE", elsewhere)


def huge(n_blocks: int = 2000, size: int = 5_000_000) -> str:
    """A page of so many blocks and bytes."""
    filler = "The fog had eaten the lighthouse by ten. "
    each = filler * (size // n_blocks // len(filler))
    rows = "".join(f"<div class=row><p>{i} {each}</p></div>" for i in range(n_blocks))
    return f"<!doctype html><html><head><title>Huge</title></head><body>{rows}</body></html>"
