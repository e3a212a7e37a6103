"""Model cards: what a model was trained on, under which licences, and its quality on unseen sites."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from victor_spark import configuration, resources
from victor_spark.evaluation import cross_validation

PAPER: Final[Mapping[str, Mapping[str, float]]] = {
    "paper, 271 pages with content (Tables 2, 3)": {
        "accuracy": 0.9113, "unlabelled_accuracy": 0.9223, "precision": 0.8075, "recall": 0.7988},
    "paper, the same with language features (Table 2)": {
        "accuracy": 0.9082, "unlabelled_accuracy": 0.9184, "precision": 0.8380, "recall": 0.7295},
    "paper, all 907 pages (Table 3)": {
        "accuracy": 0.9592, "unlabelled_accuracy": 0.9615, "precision": 0.7478, "recall": 0.6695},
}  # fmt: skip
"""Victor (2008), 10-fold cross-validation on its own, unpublished Czech pages."""

HELD_OUT: Final = "dev"
"""NCleaner is not trained on pages of this split."""

_MEASURES: Final = ("accuracy", "unlabelled_accuracy", "precision", "recall")
_TEMPLATE: Final = Path(__file__).with_name("card.md")


def write(name: str, metrics: Mapping[str, Any]) -> str:
    """The card of a model as Markdown, from what `victor train crf` put into metrics.json."""
    return _made("crf", name, metrics)


def unseen(metrics: Mapping[str, Any]) -> str:
    """The section on quality out of fold; its pictures are files beside the card."""
    return _made("unseen", metrics).rstrip("\n")


def write_ncleaner(name: str, metrics: Mapping[str, Any]) -> str:
    """The model card, from what `victor train ncleaner` puts into metrics.json."""
    rows = metrics["held_out"]
    return _made("ncleaner", name, metrics, rows[cross_validation.ALL]["n_sites"] if rows else 0)


def _made(macro: str, *arguments: Any) -> str:
    about = configuration.toml(resources.directory("conf") / "gold_sets.toml")
    known = {"about": about, "paper": PAPER, "held_out": HELD_OUT, "block_row": block_row}
    return str(getattr(resources.template(_TEMPLATE).make_module(known), macro)(*arguments))


def block_row(name: str, row: Mapping[str, float]) -> str:
    """A row of the paper's four measures, in per cent."""
    return f"| {name} | " + " | ".join(f"{100 * row[key]:.2f}" for key in _MEASURES) + " |"
