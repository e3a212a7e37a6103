"""Invented annotated pages, for tests that need a few sites with gold text."""

import json
import random
from pathlib import Path

_WORDS = {
    "news": "council bridge river budget mayor opened spring vote street school winter market old new long",
    "forum": "battery screen reset works tried again cable update slow phone thanks noise menu bought week",
}


def write_sets(directory: Path, n_sites: int = 6, n_pages: int = 2) -> Path:
    """Writes news.jsonl and forum.jsonl of `n_sites` sites each with `n_pages` pages; returns `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    for name in _WORDS:
        rows = [_row(name, site, page) for site in range(n_sites) for page in range(n_pages)]
        (directory / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return directory


def _row(name: str, site: int, page: int) -> dict[str, object]:
    dice = random.Random(f"{name} {site} {page}")
    paragraphs = [_sentence(dice, name) for _ in range(dice.randint(2, 5))]
    menu = "".join(f"<li><a href='/{link}'>{link.title()}</a></li>" for link in ("home", "contact", "about"))
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    host = f"{name}{site}.example"
    return {
        "id": f"{name}/{site}/{page}",
        "url": f"http://{host}/{page}",
        "host": host,
        "html": f"<body><ul>{menu}</ul><h1>{name} {page}</h1>{body}<div>Copyright {host}</div></body>",
        "gold": "\n".join([f"{name} {page}", *paragraphs]),
        "split": "dev" if site % 2 else "train",
        "meta": {},
    }


def _sentence(dice: random.Random, name: str) -> str:
    return " ".join(dice.choices(_WORDS[name].split(), k=dice.randint(9, 30))).capitalize() + "."
