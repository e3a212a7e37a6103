"""Writes the cards of models and of the sample crawl as Hugging Face's hub reads them.

    ./dev cards OUTPUT

OUTPUT gets a folder for each model, and one for the sample crawl, with a README.md: front matter in YAML
(licence, languages, tags, measured values) above CARD.md, or above the README of sample/. Values are those of
metrics.json.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
TAGS = ["boilerplate-removal", "content-extraction", "web-pages", "common-crawl"]
LANGUAGES = "multilingual"


def written(output: Path) -> Iterator[Path]:
    """The cards, after they are written."""
    for card in sorted((ROOT / "models").rglob("CARD.md")):
        name = "-".join(card.parent.relative_to(ROOT / "models").parts)
        yield _write(output / name, model_matter(card.parent, name), card)
    matter = {
        "license": "apache-2.0",
        "language": ["cs", "en", "pl", "ja", "el"],
        "tags": TAGS,
        "pretty_name": "Sample crawl of invented sites",
        "size_categories": ["n<1K"],
        "configs": [{"config_name": "gold", "data_files": "gold.jsonl"}],
    }
    yield _write(output / "sample-crawl", matter, ROOT / "sample" / "README.md")


def model_matter(folder: Path, name: str) -> dict[str, Any]:
    """The front matter of a model's card."""
    matter: dict[str, Any] = {
        "license": "apache-2.0",
        "library_name": "victor-spark",
        "language": LANGUAGES,
        "tags": [*TAGS, "crf"] if "crf" in folder.parts else TAGS,
        "metrics": ["f1", "precision", "recall"],
    }
    file = folder / "metrics.json"
    metrics = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    of_sets = next(iter(metrics.get("cross_validation", {}).values()), metrics.get("held_out"))
    if of_sets:
        matter["model-index"] = [{"name": name, "results": list(_results(of_sets))}]
    return matter


def _results(of_sets: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Means over the pages of each set, on sites that the model has not seen."""
    for name, found in of_sets.items():
        words = found["words_macro"]
        yield {
            "task": {"type": "token-classification", "name": "boilerplate removal"},
            "dataset": {"type": name, "name": name},
            "metrics": [
                {"type": kind, "value": round(words[kind], 4), "name": f"word {kind}, mean over pages"}
                for kind in ("f1", "precision", "recall")
            ],
        }


def _write(folder: Path, matter: dict[str, Any], text: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    front = yaml.safe_dump(matter, sort_keys=False, allow_unicode=True)
    path = folder / "README.md"
    path.write_text(f"---\n{front}---\n\n{text.read_text(encoding='utf-8')}", encoding="utf-8")
    return path


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: ./dev cards OUTPUT")
    for path in written(Path(sys.argv[1])):
        print(path)
