"""Invented news pages, some about epidemics, for tests of what a task makes of cleaned pages."""

import json
from pathlib import Path

_DISEASES = {"en": "cholera", "pl": "dżuma", "ru": "холера", "el": "χολέρα", "zh": "霍乱"}
_MENU = "".join(f"<li><a href='/{link}'>{link.title()}</a></li>" for link in ("home", "contact", "about"))
_QUIET = (
    "The harbour was quiet this morning, and the ships that had come during the night had gone by noon.",
    "Nobody in the council could say when the new bridge over the river would be opened to the public.",
    "The market on the old square will be held every Saturday, as the mayor told our newspaper on Monday.",
)
_DANGER = (
    "An outbreak of {0} has reached the harbour town, where doctors counted forty new cases in a night.",
    "The ministry said on Monday that the wells near the market had been closed by order of the mayor.",
    "Travellers are told to boil their water until the {0} has gone, and to see a doctor without delay.",
)


def write(path: Path, languages: str = "en ru", n_pages: int = 3) -> Path:
    """Writes `n_pages` pages a language, the first of each about an epidemic; returns `path`."""
    rows = [_row(language, page) for language in languages.split() for page in range(n_pages)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _row(language: str, page: int) -> dict[str, object]:
    texts = [text.format(_DISEASES[language]) for text in (_QUIET if page else _DANGER)]
    body = "".join(f"<p>{text}</p>" for text in texts)
    return {
        "id": f"{language}/{page}",
        "url": None,
        "host": f"{language}.example",
        "lang": language,
        "html": f"<body><ul>{_MENU}</ul>{body}<div>Copyright</div></body>",
        "gold": "\n".join(texts),
        "meta": {"epidemic": {"relevant": not page}},
    }
