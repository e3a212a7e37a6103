"""Model cards: what a model was trained on, under which licences, and its quality on unseen sites."""

from collections.abc import Mapping
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


def write(name: str, metrics: Mapping[str, Any]) -> str:
    """The card of a model as Markdown, from what `victor train crf` put into metrics.json."""
    sections = [
        f"# {name}",
        (
            f"A linear-chain CRF over text blocks, labels header, text and other, feature set "
            f"`{metrics['feature_set']}`, after Victor (Spousta, Marek, Pecina 2008). "
            f"Trained with `{metrics['command']}`."
        ),
        training_data(metrics, also_left_out=", and pages of very many blocks,"),
        unseen(metrics),
        _LIMITS,
    ]
    return "\n\n".join(sections) + "\n"


def training_data(metrics: Mapping[str, Any], *, also_left_out: str = "") -> str:
    """The card's section on what a model learnt from, by set, with the licences."""
    about = configuration.toml(resources.directory("conf") / "gold_sets.toml")
    lines = [
        (
            f"## Training data\n\n{metrics['n_training_pages']} annotated pages; block labels come from "
            "aligning each gold text with its page. Pages whose gold is not in their html"
            f"{also_left_out} are left out. No page is part of this repository.\n"
        ),
        "| set | pages | what | licence as stated |\n|---|---|---|---|",
    ]
    for set_name, n_pages in metrics["training_pages"].items():
        known = about.get(set_name, {"about": "", "licence": "unknown"})
        lines.append(f"| {set_name} | {n_pages} | {known['about']} | {known['licence']} |")
    return "\n".join(lines)


def unseen(metrics: Mapping[str, Any]) -> str:
    """The section on quality out of fold; its pictures are files beside the card."""
    results = metrics.get("cross_validation")
    if not results:
        return f"## Quality\n\nNot measured: {metrics.get('not_measured', '`--folds 0`')}."
    n_pages = next(iter(results.values()))[cross_validation.ALL]["n_pages"]
    of_folds = f" of {n} of the folds" if (n := metrics.get("n_measured_folds")) else ""
    parts = [
        (
            f"## Quality on sites it has not seen\n\n{metrics['n_folds']}-fold cross-validation by site "
            f"(no site in two folds), {n_pages} pages{of_folds}. Word F1 is the mean over pages "
            f"(bag of words against the gold text), its interval a bootstrap over sites. "
            f"`shingles` is F1 over runs of four words, `empty` the share of pages with no output."
        ),
        *(f"### Cleaner `{cleaner}`\n\n{_words(rows)}" for cleaner, rows in results.items()),
        _blocks(results),
        "![Precision and recall by threshold](curve.png)\n\n![Word F1 per set](word_f1.png)",
    ]
    if errors := metrics.get("calibration_error"):
        parts.append(
            "### Calibration\n\nOut of fold, a stated P(content) differs from the share of blocks that are "
            f"content by {next(iter(errors.values())):.3f} on average (20 ranges, weighted by blocks).\n\n"
            "![Reliability](reliability.png)"
        )
    return "\n\n".join(parts)


def _words(rows: Mapping[str, Mapping[str, Any]], *, short: bool = False) -> str:
    """The table of word F1 by set; a short one lacks the median and the shingles."""
    head = ["set", "pages", "word F1", "95 % interval", "precision", "recall", "empty"]
    if not short:
        head[4:4], head[-1:-1] = ["median"], ["shingles"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name, row in rows.items():
        words, means = row["word_f1"], row["words_macro"]
        cells = {
            "set": name,
            "pages": row["n_pages"],
            "95 % interval": f"{words['low']:.3f} – {words['high']:.3f}",
            "word F1": f"{words['mean']:.3f}",
            "median": f"{words['median']:.3f}",
            "precision": f"{means['precision']:.3f}",
            "recall": f"{means['recall']:.3f}",
            "shingles": f"{row['shingle_f1']:.3f}",
            "empty": f"{row['empty_ratio']:.3f}",
        }
        lines.append(f"| {' | '.join(str(cells[each]) for each in head)} |")
    return "\n".join(lines)


def _blocks(results: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    lines = [
        "### Blocks, with the measures of the paper\n",
        (
            "The paper's figures are on other pages, in another language, with other proportions of content: "
            "they stand here for orientation, not as a comparison.\n"
        ),
        "| | accuracy | unlabelled accuracy | precision | recall |\n|---|---|---|---|---|",
    ]
    for cleaner, rows in results.items():
        every = rows[cross_validation.ALL]
        lines.append(block_row(f"`{cleaner}`, pages with content", every["blocks_of_pages_with_content"]))
        lines.append(block_row(f"`{cleaner}`, all pages", every["blocks"]))
    lines += [block_row(name, row) for name, row in PAPER.items()]
    return "\n".join(lines)


def block_row(name: str, row: Mapping[str, float]) -> str:
    """A row of the paper's four measures, in per cent."""
    return f"| {name} | " + " | ".join(f"{100 * row[key]:.2f}" for key in _MEASURES) + " |"


_LIMITS: Final = """\
## Limits

The sets disagree on conventions (title in or out, comments, captions); the model learns the majority. Index
pages with next to nothing to keep, forums and product listings are where it loses most. Labels are aligned,
not annotated by hand: a block is content when half of its words are."""


def write_ncleaner(name: str, metrics: Mapping[str, Any]) -> str:
    """The model card, from what `victor train ncleaner` puts into metrics.json."""
    alphabet = "its letters told apart" if metrics["lexical"] else "all letters `a`, all digits `0`"
    decision = "its length weighed in" if metrics["calibrated"] else "nothing else weighed in"
    held_out = "Not measured: no page of the data is held out."
    if rows := metrics["held_out"]:
        n_sites = rows[cross_validation.ALL]["n_sites"]
        held_out = (
            f"Pages of the split `{HELD_OUT}`, of {n_sites} sites that it has not seen. Word F1 is the mean "
            f"over pages, its interval a bootstrap over sites.\n\n{_words(rows, short=True)}"
        )
    sections = [
        f"# {name}",
        (
            f"Character trigram models of clean and of dirty text, {alphabet}, after NCleaner (Evert 2008) "
            "as Lejeune and Zhu (2018) describe it. A paragraph is kept when its characters are likelier in "
            f"clean text, {decision}. Trained with `{metrics['command']}`."
        ),
        training_data(metrics),
        "## Quality on pages it has not seen",
        held_out,
        "## Limits",
        _NCLEANER_LIMITS,
    ]
    return "\n\n".join(sections) + "\n"


_NCLEANER_LIMITS: Final = """\
No markup is looked at, and every paragraph is judged by itself. A language or script that the training pages
lack is judged by its length, spaces and punctuation."""
