"""Published feature sets and models never change: a changed one gets a new name.

A failure here says that a change of the code, of conf/ or of a model changed what a published name means.
Give the changed feature set or model a new name; do not replace a hash, unless only a file's form changed.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import victor_spark
from tests.extractors.pages import page
from tests.html.pages import blocks_of
from victor_spark import configuration
from victor_spark.extractors import CLEANERS, MODELS, load, models_of
from victor_spark.model import crf
from victor_spark.model.features import FeatureTable, from_conf
from victor_spark.model.files import from_bytes, read_bytes

CONFIGURATION = {
    "features/victor-2008": "f27a08ceab23e689",
    "features/victor-2": "196c4efebb92d507",
    "features/victor-3": "4178b2fa7d3308b9",
    "kimatu": "44e73351d59101b9",
    "line_block": "2c6d17e3ef792b0d",
    "patterns": "bceb6053ac25a48e",
    "words": "107d39f0274f5d6c",
}
"""File of conf/ → hash of its tables, whatever its comments say."""

WEIGHTS = {
    "crf/victor-2/weights.npz": "5b90c43a1fcd0aef",
    "crf/victor-2008/weights.npz": "6364074e8710e34e",
    "crf/victor-3/weights.npz": "988caf464202b97c",
    "langid/profiles.npz": "90d52df7d1a7852a",
    "ncleaner/default/weights.npz": "13d769f225178379",
    "ncleaner/non-lexical/weights.npz": "d0fe79c710380235",
    "sites/model-3.json": "dc83ac70623057a2",
}
"""File of models/ → hash of its bytes."""

FEATURES = {
    "victor-2008": "7e2548b96ccc6c71",
    "victor-2": "c291f693b8df0431",
    "victor-3": "c291f693b8df0431",
}
"""Feature set → hash of its names and of their values on PAGES."""

PAGES = (
    "<p>One paragraph alone, with a date: 26 May 2008, 9:30.",
    "<title>Storm over the lake</title><div class=navbar><a>Home</a> <a>News</a></div>"
    "<main><div class='article-body'><h1>Storm over the lake</h1><p class=byline>By <b>Ann</b>, May 2008</p>"
    + "".join(f"<p>Sentence {n} of the story. It has <a>a link</a> and some words!</p>" for n in range(4))
    + "<pre>def f(x):\n    return x</pre></div></main><ul id=related><li><a>More</a><li><a>more</a></ul>"
    "<table><tr><td>Price<td>12 €<tr><td>Mail<td>ann@example.org</table><footer>© Lake News</footer>",
    "<center><font>我们的城市在河边。夏天很热，冬天很冷。</font></center><hr><form><label>Suche</label></form>",
)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def shown(values: np.ndarray) -> str:
    """Numbers to four digits: what compilers and processors agree on."""
    return " ".join(f"{value:.4g}" for value in np.asarray(values, dtype=np.float64).ravel().tolist())


def features(table: FeatureTable, root: Path) -> str:
    """The names, and all values on PAGES; the weights are those of the shipped victor-2."""
    shipped = from_bytes((root / "models" / "crf" / "victor-2" / "weights.npz").read_bytes())
    values = [
        table.values(blocks_of(page), shipped.weights, lambda known: known[:9].sum(axis=0)) for page in PAGES
    ]
    return " ".join(table.names) + " ".join(map(shown, values))


def hash_of(kind: str, name: str, root: Path) -> str:
    """The hash of the current content of a published name."""
    if kind == "configuration":
        return digest(json.dumps(configuration.toml(root / "conf" / f"{name}.toml")))
    if kind == "weights":
        return hashlib.sha256((root / "models" / name).read_bytes()).hexdigest()[:16]
    return digest(features(from_conf(name), root))


@pytest.mark.parametrize(
    ("kind", "name", "published"),
    [
        (kind, name, published)
        for kind, hashes in (("configuration", CONFIGURATION), ("weights", WEIGHTS), ("features", FEATURES))
        for name, published in hashes.items()
    ],
)
def test_a_published_name_keeps_its_meaning(kind: str, name: str, published: str, root: Path) -> None:
    assert hash_of(kind, name, root) == published


def test_every_model_and_every_file_of_features_is_published(root: Path) -> None:
    models = root / "models"
    shipped = {*models.rglob("*.npz"), *models.rglob("model-*.json")}
    assert {path.relative_to(models).as_posix() for path in shipped} == set(WEIGHTS)
    assert {f"{folder}/weights.npz" for folder in MODELS.values()} <= set(WEIGHTS)
    files = {f"features/{path.stem}" for path in (root / "conf" / "features").glob("*.toml")}
    assert files == {name for name in CONFIGURATION if name.startswith("features/")}
    assert {f"features/{name}" for name in FEATURES} == files


@pytest.mark.parametrize("name", ["victor-2", "victor-2008", "victor-3"])
def test_shipped_models_give_the_probabilities_that_they_gave(name: str, root: Path) -> None:
    model = from_bytes((root / "models" / "crf" / name / "weights.npz").read_bytes())
    found = [crf.marginals(model, blocks_of(page))[:, 2] for page in PAGES]
    assert digest(" ".join(" ".join(f"{p:.3f}" for p in of_page) for of_page in found)) == PROBABILITIES[name]


PROBABILITIES = {
    "victor-2": "d13e2dc223ac62c3",
    "victor-2008": "d526893c2a27189d",
    "victor-3": "6cf78e2127ac443f",
}
"""Model → hash of P(other) on PAGES, to three digits."""


@pytest.mark.parametrize("name", CLEANERS)
def test_cleaners_keep_the_blocks_that_they_kept(name: str, root: Path) -> None:
    models = {folder: read_bytes(root / "models" / folder) for folder in models_of(name)}
    found = [load(name, models)(page(source)).kept for source in (*PAGES, *practice_pages())]
    assert digest(" ".join("".join("01"[keep] for keep in kept.tolist()) for kept in found)) == KEPT[name]


def practice_pages() -> list[str]:
    """Whole pages of news and of a forum."""
    folder = Path(str(victor_spark.__file__)).parent / "annotation" / "practice_pages"
    return [path.read_text("utf-8") for path in sorted(folder.glob("*.html"))]


KEPT = {
    "victor": "7bf066819f0e0aca",
    "victor-2": "f5105cde73d202f7",
    "victor-2008": "bff0e18219e7fdc2",
    "kimatu": "1367e1595f72626b",
    "line-block": "d0f62708b49d7c02",
    "ncleaner": "8e2afccca4f186b0",
    "ncleaner-non-lexical": "76cbdd3bc78ebe72",
    "template": "a1b05e9b079f76ad",
}
"""Cleaner → hash of the blocks that it keeps of PAGES and of the practice pages, by its own decision."""
