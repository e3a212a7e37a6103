"""docs/quality.md, and its pictures in docs/pictures, from models/crf/ and research/results/.

python -m research.quality --output docs/quality.md

The figures come from `victor train crf` (metrics.json, out_of_fold.jsonl.gz),
`python -m research.against_peers` (peers.json), `... .studies` (ablation.json, curve.json, languages.json,
sets.json), `... .snippets` (snippets.json), `... .link_lists` (link_lists.json),
`... .preferences` (preferences.json), `... .previous` (previous.json) and `... .recipes` (recipes.json).
worst.toml describes the worst pages.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import research
from research import link_lists, out_of_fold, preferences, previous, quality_tables, rejecting
from research.out_of_fold import PageRow
from victor_spark import configuration, resources
from victor_spark.evaluation import pictures, report
from victor_spark.evaluation.measures import ALL

MODELS: Final = ("victor-3", "victor-2", "victor-2008")
WORST: Final = "worst.toml"
WITHOUT_LANGID: Final = "without-langid.json"
"""The metrics of victor-2008 trained `--without langid1 langid2`, beside the model's own."""


def page() -> str:
    """The document as Markdown."""
    models = resources.directory("models") / "crf"
    metrics = {name: _read(models / name / "metrics.json") for name in MODELS}
    without = _read(research.FOLDER / "results" / "victor-2008" / WITHOUT_LANGID)
    proof = _proof(research.RESULTS)
    head = _HEAD.format(n_pages=metrics[MODELS[0]]["cross_validation"]["victor"]["all"]["n_pages"])
    parts = [head, *proof, *_models(metrics), _ablation(metrics["victor-2008"], without), _READING]
    return "\n\n".join(parts) + "\n"


def _proof(results: Path) -> Iterator[str]:
    """The sections about the model that `victor` uses, and the studies, each where its results are there."""
    rows = out_of_fold.read(results / out_of_fold.FILE_NAME)
    yield _section(_PREVIOUS, results / previous.FILE_NAME, quality_tables.recipes)
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
    yield _section(_RECIPES, results / "recipes.json", quality_tables.recipes)
    yield _section(_PREFERENCES, results / preferences.FILE_NAME, quality_tables.preferences)
    yield _REJECT
    yield "\n".join(quality_tables.reject(rows))
    yield _section(_LISTS, results / link_lists.FILE_NAME, quality_tables.link_lists)
    yield from _expected(rows)
    why = configuration.toml(results / WORST)["page"] if (results / WORST).is_file() else []
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
            "pages with content, rejected": [
                (bar.least, bar.n_content_rejected / max(len(rows) - n_empty, 1)) for bar in bars
            ],
        },
        directory / "quality-reject.png",
        title="Pages rejected",
        names=("minimum of the expected F1", "share of pages"),
    )
    if (path := research.RESULTS / "curve.json").is_file():
        found = sorted(_read(path).values(), key=lambda row: float(row["n_sites_trained"]))
        _draw_lines(
            {
                "all pages": _points(found, "word_f1"),
                "mean over sets": _points(found, "mean_over_sets"),
                **{
                    f"wcxb: {kind}": [(row["n_sites_trained"], row["kinds"][kind]) for row in found]
                    for kind in found[-1]["kinds"]
                },
            },
            directory / "quality-learning.png",
            title="Word F1 out of fold",
            names=("training sites", "word F1"),
        )


def _points(found: Iterable[Mapping[str, Any]], key: str) -> list[tuple[float, float]]:
    return [(row["n_sites_trained"], row[key]) for row in found]


def _models(metrics: Mapping[str, Mapping[str, Any]]) -> list[str]:
    parts = []
    for name, of_model in metrics.items():
        parts.append(
            f"## Model `{name}`\n\nMade by `{of_model['command']}`; PAGES and FILES are the annotated data."
        )
        parts.append(
            report.card("unseen", of_model)
            .rstrip("\n")
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
        every = of_model["cross_validation"]["victor-2008"][ALL]
        measures = report.block_row(name, every["blocks_of_pages_with_content"])
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
        figure.legend(loc="outside right center", fontsize="small")
    pictures.save(figure, path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the document."""
    parser = argparse.ArgumentParser(
        prog="python -m research.quality",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--output", metavar="FILE", type=Path, required=True, help="the document")
    output = parser.parse_args(arguments).output
    output.write_text(page(), encoding="utf-8")
    draw(output.parent / "pictures")
    return 0


_HEAD: Final = """\
# Quality on unseen sites

How well the shipped models find the text of pages, on sites that they have not seen.
[Comparison with other extractors](#comparison-with-other-extractors) has the main result. Word F1 is the
harmonic mean of precision and recall over the words of the output and of the gold text (the text that an
annotator kept).

Made by `python -m research.quality --output docs/quality.md` from the metrics of the shipped models in
`models/crf/` and the results of studies in `research/results/`. Each section names the command that made its
figures. All figures are *out of fold*: the model that cleans a page was trained without its site, but with
other sites of the same set. The section *Sets: trained without, tested on* shows the quality on sets that the
model was not trained on. The gold sets were annotated by others, each with its own conventions. Block labels
come from aligning the gold text with the page.

`victor` is the model `victor-3`. Its features, bins and trees are those of `victor-2`; it is trained with two
more sets, `aed` and `fundus`, articles and news of today. PAGES is the directory of the older sets; the newer
ones are in `more/` beside it, and FILES are the files of both. `victor-3` is measured on all {n_pages} pages,
with the headline of each kept text, as `victor` keeps it. The studies that train models again (*Languages*,
*Sets*, features and stages, the learning curve) decide without headlines, which changes the mean over all
pages by less than 0.001."""

_PREVIOUS: Final = """\
## victor-3 beside victor-2

Made by `python -m research.previous --data PAGES`: word F1 on the same pages. Both models are measured out of
fold, each by its own five folds. `victor-2` was not trained on any page of `aed` and `fundus`, so there the
shipped model is measured. Differences are paired; their intervals are by site. `victor-3` is measured as the
cleaner `victor` decides: with the headline of each kept text, which the gold of most sets leaves out
(`aed`, `fundus`, articles of `wcxb`)."""

_RECIPES: Final = """\
## More sets in training

Made by `python -m research.recipes --data PAGES --generated FILE --folds 0 --scratch DIR --recipes "older
sets" "two more sets" "two more sets, one origin" "and generated pages"`, on one fold of five by site, where
FILE has 300 pages by `python -m research.generated`. Trees are trained on 30,000 blocks (shipped model:
300,000), the CRF for 20 iterations (60). Only the eight largest sets are origins ([method.md](method.md)). If
the two new sets count as two origins, the smallest older sets are not among these eight; if they count as
one, only `chinese_web` is not. *Smoothed by group*: before the decision, the log-odds of each block are
averaged with their mean over all blocks with the same enclosing tags and class names; the number is the
weight of the mean.

Generated pages bring no significant gain, and lower the quality of products and listings: they are not in
training. Smoothing by group gains less than 0.003 and takes time on every page: it is not in use either."""

_PEERS: Final = """\
## Comparison with other extractors

The tables compare `victor` with trafilatura and other tools; the list before them says for which groups of
pages `victor` is better or worse.

Made by `python -m research.against_peers --data PAGES`: word F1 on the same pages. `victor` is measured out
of fold. The other tools run with their default settings on the raw HTML, and jusText with the stop list of
the page's language: {tools}. Pages on which a tool failed count as an empty output: {failures}.

The best peer of a group is the one with the highest mean in that group. It is chosen after the measurement,
which favours the peers. The interval is that of the mean difference between `victor` and this peer (paired
bootstrap by site, 95 %). `victor` is *ahead* or *behind* if the interval excludes 0, otherwise *not settled*.

- trafilatura keeps comments by default. Some sets count comments as content, others do not.
- The gold of the set `readability` is the accepted output of a readability library, which favours the peer
  readability. Its pages in Latin (`la`) are placeholder text.
- `cleanportaleval` is a single site; its interval is over the pages of that site only.
- `victor` was trained on other sites of the same sets and can estimate which set a page resembles; the
  peers were not.
- Languages are those of the annotation, or else as identified by our profiles."""

_LANGUAGES: Final = """\
## Languages: trained without, tested on

Made by `python -m research.studies languages --data PAGES --languages en zh el ru pl fr`, for the languages
with most pages except placeholder Latin. Each language is cleaned by a model trained without any page in it
and without any of its sites. The column *language seen* is the result out of fold on the same pages, by
models trained on other sites of the language. Without English, a seventh of the pages is left for training;
without any other language, more pages are left than in a fold. The trees of these models are trained on
30,000 blocks (shipped model: 300,000) and their CRF for 20 iterations (60), which explains part of each loss.
Pages of most languages are from few sites, so their intervals are wide."""

_SETS: Final = """\
## Sets: trained without, tested on

Made by `python -m research.studies sets --data PAGES`. Each set has its own convention whether titles,
captions and comments are content. A model learns these conventions, and estimates from the elements of a page
which training set it resembles ([method.md](method.md)). Here the sets with most sites are cleaned by models
trained without any page of the set and without any of its sites: with that estimate, and without it (*origins
unknown*). The difference and its interval compare these two. The last column is the model of all sets, out of
fold. The models of this study are trained on fewer blocks, as in the section above."""

_SNIPPETS: Final = """\
## Languages without gold texts

Made by `python -m research.snippets --data PAGES`, on pages that no model was trained on, in languages with
few or no gold texts. The measure is F1 of a page over snippets that must and must not be in the output. The
shipped model and the peers get the same canonical HTML. Differences are computed as above."""

_ABLATION: Final = """\
## What each group of features and each stage contributes

Made by `python -m research.studies ablation --data PAGES`: one fold of five, cleaned by models trained on the
other four. Trees are trained on 30,000 blocks (shipped model: 300,000), the CRF for 20 iterations (60). A
group of features is removed from the trees and from the CRF. Every feature, except the output of the first
trees, is in exactly one group. Differences are to the model with all features and stages, paired by site."""

_LEARNING: Final = """\
## More sites for training

Made by `python -m research.studies curve --data PAGES`, with all five folds and the smaller trees of the
ablation. A larger share of the sites includes the smaller shares. Training sites and pages are those of the
first fold. Trees are trained on at most 30,000 blocks in every column.

![Learning curve](pictures/quality-learning.png)"""

_PREFERENCES: Final = """\
## Precision or recall

`--prefer` keeps the blocks with the highest expected F for another beta. Made by
`python -m research.preferences --data PAGES`: means over all pages, by words, out of fold. The best value of
each measure is bold. The presets are within 0.001 of the best F0.5 and F2. The model decides on
the uncertain blocks of a page together: it keeps all blocks of one level of probability or none. The last row
treats every block as independent of the others instead. The betas are compared without headlines.

On pages with a low expected F1, the model assumes more often than the probabilities say that all uncertain
blocks are content, or none ([method.md](method.md)).

These changes were tried and are not in use, because they brought no significant gain. No script of this
repository repeats these trials:

- another beta for each page, chosen by features of the page (its expected F1, its length, the shares of
  links, list items and the largest group of kept blocks); tried by site and with sets left out;
- the true kind of each page of `wcxb` as a feature; features of repeated cards; a larger weight for pages of
  `wcxb` that are no articles; the mean of several models; more and deeper last trees. These were tried on one
  fold, with the last trees grown again."""

_REJECT: Final = """\
## Pages with nothing to keep

A page gets the status `empty` when the highest expected F1 is below a minimum. The table shows what each
minimum rejects, from the out-of-fold results of `victor train crf` (section *Model `victor-3`*).

![Pages rejected](pictures/quality-reject.png)"""

_LISTS: Final = """\
## Pages that are lists of links

`--max-list-share` drops pages whose text is, to a higher share, a list of links: front pages, lists of
teasers, boards, tables of contents ([method.md](method.md#which-blocks-are-kept) says what counts). Made by
`python -m research.link_lists --data PAGES`: how many annotated pages each value drops, of those on which
`victor` keeps text. Gold texts of `wcxb` keep such lists, so the option is off by default."""

_EXPECTED: Final = """\
## How reliable is `expected_f1`?

`--fail-below` drops pages by the column `expected_f1`. Here it is compared with the F1 measured out of fold
by `victor train crf` (section *Model `victor-3`*), on pages with output. The mean difference over the ranges,
weighted by pages, is {error:.3f}. The correlation over pages is {correlation:.2f}.

![Expected and measured F1](pictures/quality-expected.png)"""

_WORST: Final = """\
## The {n} worst pages

The pages with the lowest word F1 out of fold whose gold is not empty, from the same results of `victor train
crf`. The reasons are written by hand, in `research/results/victor-3/worst.toml`. `expected` is the expected
F1 of the best output. For pages with a reason, the text, the gold text and our output were compared. There
are two kinds. On some pages, the gold text is less than the article or service that the page is about, or
counts readers' comments as content; no decision would be right there. Others are pages of a short text with
comments and further stories in whole sentences, auctions and shops with short lines, and lists of links."""

_READING: Final = """\
## Comparison with the paper

The paper's 2,000 pages are Czech, labelled by hand block by block, and not published; 92.5 % of its blocks
are `other`. Ours are in many languages, most have content, and their labels come from alignment. The
paper's figures are therefore for orientation only. In the paper, the language features raise precision and
lower recall. On our pages they change little, because boilerplate and text mostly share a language."""


if __name__ == "__main__":
    sys.exit(main())
