"""docs/quality.md, and its pictures in docs/pictures, from what is stored beside the shipped models.

python -m research.quality --output docs/quality.md

Every figure there comes from `victor train crf` (metrics.json, out_of_fold.jsonl.gz), or from
`python -m research.against_peers` (peers.json), `... .studies` (ablation.json, curve.json, languages.json,
sets.json), `... .snippets` (snippets.json) and `... .preferences` (preferences.json). What people saw on the
worst pages is in worst.toml.
"""

import argparse
import json
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import research
from research import out_of_fold, preferences, quality_tables, rejecting
from research.out_of_fold import PageRow
from victor_spark import resources
from victor_spark.evaluation import card, cross_validation, pictures

MODELS: Final = ("victor-2", "victor-2008")
WORST: Final = "worst.toml"
WITHOUT_LANGID: Final = "without-langid.json"
"""The metrics of victor-2008 trained `--without langid1 langid2`, beside the model's own."""


def page() -> str:
    """The document as Markdown."""
    models = resources.directory("models") / "crf"
    metrics = {name: _read(models / name / "metrics.json") for name in MODELS}
    without = _read(research.FOLDER / "results" / "victor-2008" / WITHOUT_LANGID)
    proof = _proof(research.RESULTS)
    parts = [_HEAD, *proof, *_models(metrics), _ablation(metrics["victor-2008"], without), _READING]
    return "\n\n".join(parts) + "\n"


def _proof(results: Path) -> Iterator[str]:
    """The sections about the model that `victor` uses, each where its results are there."""
    rows = out_of_fold.read(results / out_of_fold.FILE_NAME)
    if (path := results / "peers.json").is_file():
        compared = _read(path)
        yield _PEERS.format(
            tools=", ".join(compared["peers"].values()), failures=_counts(compared["failures"])
        )
        yield "\n".join(quality_tables.verdicts(compared))
        yield "\n".join(quality_tables.peers(compared))
    yield _section(_LANGUAGES, results / "languages.json", quality_tables.languages)
    yield _section(_SETS, results / "sets.json", quality_tables.sets)
    yield _section(_SNIPPETS, results / "snippets.json", quality_tables.snippets)
    yield _section(_ABLATION, results / "ablation.json", quality_tables.ablation)
    yield _section(_LEARNING, results / "curve.json", quality_tables.learning)
    yield _section(_PREFERENCES, results / preferences.FILE_NAME, quality_tables.preferences)
    yield _REJECT
    yield "\n".join(quality_tables.reject(rows))
    yield from _expected(rows)
    why = (
        tomllib.loads((results / WORST).read_text(encoding="utf-8"))["page"]
        if (results / WORST).is_file()
        else []
    )
    yield _WORST.format(n=quality_tables.N_WORST)
    yield "\n".join(quality_tables.worst(rows, {(row["set"], row["id"]): row["why"] for row in why}))


def _section(text: str, path: Path, table: Any) -> str:
    if not path.is_file():
        return f"{text.splitlines()[0]}\n\nNot measured yet."
    return text + "\n\n" + "\n".join(table(_read(path)))


def _expected(rows: Sequence[PageRow]) -> Iterator[str]:
    _, error, correlation = rejecting.reliability(rows)
    yield _EXPECTED.format(error=error, correlation=correlation)
    yield "\n".join(quality_tables.expected_f1(rows))
    yield "\n".join(quality_tables.fail_below(rows))


def _counts(failures: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in failures.items() if n) or "none"


def draw(directory: Path) -> None:
    """The pictures of the document."""
    rows = out_of_fold.read(research.RESULTS / out_of_fold.FILE_NAME)
    ranges = rejecting.reliability(rows)[0]
    _draw_lines(
        {"measured": [(each.expected, each.measured) for each in ranges], "as expected": [(0, 0), (1, 1)]},
        directory / "quality-expected.png",
        title="Pages, out of fold",
        names=("expected F1", "word F1"),
    )
    n_empty = rejecting.n_empty(rows)
    bars = rejecting.curve(rows)
    _draw_lines(
        {
            "pages without content, rejected": [
                (bar.least, bar.n_empty_rejected / max(n_empty, 1)) for bar in bars
            ],
            "pages with content, lost": [
                (bar.least, bar.n_content_rejected / max(len(rows) - n_empty, 1)) for bar in bars
            ],
        },
        directory / "quality-reject.png",
        title="Pages given up",
        names=("below this expected F1", "share of pages"),
    )
    if (path := research.RESULTS / "curve.json").is_file():
        found = sorted(_read(path).values(), key=lambda row: float(row["n_sites_learnt"]))
        _draw_lines(
            {
                "all pages": _points(found, "word_f1"),
                "mean over sets": _points(found, "mean_over_sets"),
            },
            directory / "quality-learning.png",
            title="Word F1 on one fold",
            names=("sites learnt from", "word F1"),
        )


def _points(found: Iterable[Mapping[str, Any]], key: str) -> list[tuple[float, float]]:
    return [(row["n_sites_learnt"], row[key]) for row in found]


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
        every = of_model["cross_validation"]["victor-2008"][cross_validation.ALL]
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


def _draw_lines(
    drawn: Mapping[str, Sequence[tuple[float, float]]], path: Path, *, title: str, names: tuple[str, str]
) -> None:
    """A line through the points (x, y) of each name; `names` are those of the axes; format by ending."""
    figure, axes = pictures.figure_of(6, 4, title)
    for name, points in drawn.items():
        axes.plot([x for x, _ in points], [y for _, y in points], marker="o", markersize=4, label=name)
    axes.set(xlabel=names[0], ylabel=names[1])
    if len(drawn) > 1:
        axes.legend(fontsize="small")
    pictures.save(figure, path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the document."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True)
    output = parser.parse_args(arguments).output
    output.write_text(page(), encoding="utf-8")
    draw(output.parent / "pictures")
    return 0


_HEAD: Final = """\
# Quality on sites the models have not seen

Made by `python -m research.quality --output docs/quality.md` from what is stored beside the
shipped models in `models/crf/`; each section names the command that made its figures. All figures are out of
fold: no page is judged by a model that saw a page of its site, but models saw other sites of its set; what
they are worth on sets that they saw nothing of is in a section of its own below. The gold sets are other
people's, with other conventions; block labels come from aligning gold text with the page."""

_PEERS: Final = """\
## Beside other extractors

Made by `python -m research.against_peers --data PAGES`: word F1 on
the same pages, `victor` out of fold, the others with their own defaults on the raw html, jusText with the
stop list of the page's language: {tools}. Pages that they failed on, which count as an empty output:
{failures}.

In every group the best peer is the one with the highest mean there: it is chosen after the fact, so the
comparison leans towards the peers. The interval is of the mean difference between `victor` and that peer
(paired bootstrap by site, 95 %); *ahead* and *behind* are said where it leaves out 0. trafilatura keeps
comments by default, which some sets count as content and others don't; the set `readability` is accepted
output of a readability library, so that peer is judged there by its own kin, and the pages there that count
as Latin (`la`) are placeholder text. `cleanportaleval` is a single site, so its interval is about that site's
pages only. `victor` learnt from other sites of the same sets, and can tell which set a page is like; the
peers can't. Languages are as annotated, otherwise as our profiles see them."""

_LANGUAGES: Final = """\
## Languages: trained without, tested on

Made by `python -m research.studies languages --data PAGES
--languages en zh el ru pl fr`: the languages with most pages, placeholder Latin aside. Each is judged by a
model that learnt from no page in it and from none of its sites; beside it the same pages out of fold, where
other sites of the language were there to learn from. What is left to learn from without English is a seventh
of the pages; without another language it is more than in a fold. The models of this study grow their trees
from a tenth of the blocks that a shipped model's see (30,000), and their CRF gets 20 iterations instead of
60, so part of a loss is not the language's. Pages of most languages are from few sites, and their intervals
are wide."""

_SETS: Final = """\
## Sets: trained without, tested on

Made by `python -m research.studies sets --data PAGES`. What counts
as content is agreed on within a set: titles, captions, comments. A model learns what each set wants, and by
the elements that pages are written with tells which of its sets a new one is most like
([method.md](method.md)). Here the sets with most sites are judged by models that learnt from no page of the
set and from none of its sites: with that knowledge, and without (difference and interval: of these two). The
last column is the model of all sets, out of fold. The models of this study are grown from fewer blocks, as
those above."""

_SNIPPETS: Final = """\
## Languages without gold texts

Made by `python -m research.snippets --data PAGES`: pages that no
model learnt from, in languages of which we have few or no gold texts, by snippets that must and must not
stand in the output (F1 a page). `victor` as shipped and the peers get the same canonical HTML here;
difference and verdict as above."""

_ABLATION: Final = """\
## What features and stages are worth

Made by `python -m research.studies ablation --data PAGES`: one
fold of five judged by models of the other four, trees grown from 30,000 blocks (a shipped model's: 300,000),
the CRF trained for 20 iterations (60). A group is silenced for the
trees and for the CRF; every feature but the first trees' guess is in exactly one group. Differences are to
all features and all stages, paired by site."""

_LEARNING: Final = """\
## More sites to learn from

Made by `python -m research.studies curve --data PAGES`, with the
fold and the trees of the ablation. A larger share of the sites holds the smaller ones.

![Learning curve](pictures/quality-learning.png)"""

_PREFERENCES: Final = """\
## Precision or recall

`--prefer` keeps what makes the expected F with another beta highest. Made by
`python -m research.preferences --data PAGES`: means over all pages, by words, out of fold; the best of each
measure is bold. The presets are the betas that do best for F0.5 and F2 here. The last row shows what it is
worth that what the model doubts on a page stands or falls together: it decides as if blocks were content each
by itself."""

_REJECT: Final = """\
## Pages with nothing to keep

A page is `empty` when the expected F1 of the best that could be kept stays below a bar. From the results out
of fold of `victor train crf`: what every bar gives up.

![Pages given up](pictures/quality-reject.png)"""

_EXPECTED: Final = """\
## Can `expected_f1` be believed?

The column that `--fail-below` drops pages by, beside what was measured on pages with output, out of fold. On
average over the ranges they are {error:.3f} apart (weighted by pages); their correlation over pages is
{correlation:.2f}.

![Expected and measured F1](pictures/quality-expected.png)"""

_WORST: Final = """\
## The {n} worst pages, looked at

Lowest word F1 out of fold among the pages whose gold has any text; `expected` is what the model expected of
its own best output. We opened raw page, gold text and our output of each."""

_READING: Final = """\
## How to read this beside the paper

The paper's 2,000 pages are Czech, hand-labelled block by block, and not available; 92.5 % of its blocks are
`other`. Ours are in many languages, most have content, and labels are aligned. So its figures stand here for
orientation only. In the paper the language features traded recall for precision; on our pages, where
boilerplate and text mostly share a language, they have less to say."""


if __name__ == "__main__":
    sys.exit(main())
