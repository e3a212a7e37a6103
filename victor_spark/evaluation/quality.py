"""docs/quality.md from the metrics.json of the shipped models: every figure comes from `victor train crf`.

python -m victor_spark.evaluation.quality --output docs/quality.md
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from victor_spark import resources
from victor_spark.evaluation import card, summary

MODELS: Final = ("victor-2", "victor-2008")
WITHOUT_LANGID: Final = "without-langid.json"
"""The metrics of victor-2008 trained `--without langid1 langid2`, beside the model's own."""


def page() -> str:
    """The document as Markdown."""
    models = resources.directory("models") / "crf"
    metrics = {name: _read(models / name / "metrics.json") for name in MODELS}
    without = _read(models / "victor-2008" / WITHOUT_LANGID)
    return (
        "\n\n".join([_HEAD, *_models(metrics), _ablation(metrics["victor-2008"], without), _READING]) + "\n"
    )


def _models(metrics: Mapping[str, Mapping[str, Any]]) -> list[str]:
    parts = []
    for name, of_model in metrics.items():
        parts.append(
            f"## Model `{name}`\n\nMade by `{of_model['command']}`, where PAGES is the annotated data."
        )
        parts.append(
            card.unseen(of_model)
            .replace("](", f"](../models/crf/{name}/")
            .replace("## Quality", "### Quality")
        )
    return parts


def _ablation(full: Mapping[str, Any], without: Mapping[str, Any]) -> str:
    lines = [
        "## With and without the language features (the paper's Table 2)\n",
        (
            f"Feature set victor-2008, pages with content, {full['n_folds']} folds by site; the second row "
            f"is `{without['command']}`.\n"
        ),
        "| | accuracy | unlabelled accuracy | precision | recall | word F1, all pages |",
        "|---|---|---|---|---|---|",
    ]
    for name, of_model in (("with langid1, langid2", full), ("without", without)):
        every = of_model["cross_validation"]["victor-2008"][summary.ALL]
        measures = card.block_row(name, every["blocks_of_pages_with_content"])
        lines.append(f"{measures} {every['word_f1']['mean']:.3f} |")
    lines += [
        "| paper, with | 90.82 | 91.84 | 83.80 | 72.95 | |",
        "| paper, without | 91.13 | 92.23 | 80.75 | 79.88 | |",
    ]
    return "\n".join(lines)


def _read(path: Path) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return stored


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the document."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.parse_args(arguments).output.write_text(page(), encoding="utf-8")
    return 0


_HEAD: Final = """\
# Quality on sites the models have not seen

Made by `python -m victor_spark.evaluation.quality --output docs/quality.md` from the `metrics.json` of the
shipped models. All figures are out of fold: no page is judged by a model that saw a page of its site. The
gold sets are other people's, with other conventions; block labels come from aligning gold text with the
page."""

_READING: Final = """\
## How to read this beside the paper

The paper's 2,000 pages are Czech, hand-labelled block by block, and not available; 92.5 % of its blocks are
`other`. Ours are in many languages, most have content, and labels are aligned. So its figures stand here for
orientation only. In the paper the language features traded recall for precision; on our pages, where
boilerplate and text mostly share a language, they have less to say."""


if __name__ == "__main__":
    sys.exit(main())
