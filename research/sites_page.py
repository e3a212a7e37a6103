"""docs/sites.md: what a site's other pages contribute, from the results of `research.sites measure`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from victor_spark import configuration
from victor_spark.errors import ConfigurationError, InputError

Row = Mapping[str, Any]

BOUND = "bound: consensus of gold"
WORST = "sites-worst.toml"
"""Written by hand: what was seen when the worst pages were opened."""
READ = "sites-raw.toml"
"""Written by hand: what was seen when pages of the sites without annotation were read."""

INTRODUCTION = """# Decisions by site: measurements

What the other pages of a site contribute to each page (`--by-site`), measured on annotated pages.
[running.md](running.md#decisions-by-site) explains how to use it.

This document is made by `python -m research.sites page --output docs/sites.md` from results that
`python -m research.sites measure --data DATA --models M` stores (minutes of CPU time; the help of the
command says how to train the models of the five folds, which takes an hour).

In the first pass, the model `victor-3` gives every block of a page a probability. The second pass corrects
it by the other pages of the site (`victor_spark.sites`), with two kinds of evidence:

- **consensus**: the mean log-odds of content of the blocks with the same layout (the tags of all ancestors,
  and the words in their classes and ids) on the other pages;
- **repeated texts**: the share of these pages that have the same text in that layout. Links to an article
  do not count as repetitions of its headline. A page of which nearly all content is repeated is the same
  article at another address; its probabilities are not lowered. Neither do a few copies of a page protect
  what nearly all pages repeat.

The blocks of a paragraph change together, by the mean of their changes, so that fewer labels lose their
values and fewer sentences their links. A consensus that makes a block less likely needs more pages for the
same weight (`doubt`).

The parameters: {parameters} ([models/sites](../models/sites/CARD.md) says how they were fitted).
The classes and ids of `html` and `body`, which name the page on many sites, are no part of a layout.
A page whose site is not known, or has no other page, keeps exactly its probabilities. So does a block of
which no other page has the layout; unless `--prefer` is given, it is not dropped from a page that keeps text.


Measured on {n_pages} annotated pages of {n_sites} sites in {n_folds} folds, each page with a model
that is trained without its fold. Each site has at least three annotated pages. Tables are about the sites
with five and more unless they say otherwise. Word F1 is the mean over pages; intervals are bootstraps over
sites (95 %).
"""

DRAWN = """
The same for random samples of a fixed number of pages from each site (all sites that have as many pages, five
samples):
"""

ABLATION = """
The gain of the same samples over one pass, by kind of evidence, with 95 % intervals; each column includes the
kinds before it:
"""

RAW = """
The next table compares the decision with fewer known pages to the decision with the whole site: word F1 of
the kept texts, mean over up to 60 pages.
"""

READING = """
Ten pages of each site were read before and after the second pass, by hand: the six with the most words
changed, and four at random, two of them unchanged. They are not the pages of an earlier reading, after which
three rules were added, nor copies of them. On four sites, too few other pages change, so 24 of the 90 pages
are of the earlier reading; all are decided with these three rules. The change is right, wrong, or neither; an
unchanged page is right if the text that is kept is right, and wrong if a fifth of its content is missing or a
fifth of the text is no content. Of 40 changed pages that were not read before, 33 are right and 5 wrong, but
14 of them have one of only two changes. Of 22 others, 12 are right and 9 wrong. Two details are newer than
the reading: likely blocks without words, such as brackets, stay in a kept paragraph, and the mean change of a
paragraph is taken before the probabilities are calibrated.
"""

EVIDENCE = """
The gain over one pass is {gain:+.4f} ({low:+.4f} to {high:+.4f}). The rows "fitted on other sites" and
"fitted on other sets" are cross-validated: the parameters are fitted without the page's site, or without its
whole set, and estimate the result on new sites.

The rows "not shipped" have evidence that is not in use, because it gains nothing, or too little for its cost:

- *backing off*: if no other page has the layout of a block, the block gets the evidence of its tags and of
  the nearest class or id. This would add a third kind of rows to those that are summed up and joined;
- *runs of words*: the share of the other pages that have the block's runs of four words. This includes
  everything that templates mined from these pages could cover, so `--by-site` does not mine templates;
- *trees*: boosted trees (`research/site_trees.py`) that are fitted on other sites, in place of the few
  numbers of the model. They also get the two kinds above, the spread of the consensus, the place of a block
  among the blocks of its layout, its neighbours, and how much the page looks like the site's other pages.

In the last row, the consensus is taken from the gold of all other pages, not from the model: {bound:.4f} is
a bound for what consensus alone can add. Consensus does not correct an error that most pages of a site share,
as in most of the worst pages below.

In the table by set below, some sets have no gain. They hold single pages of many sites, or their collectors
put each page into an element with its own id, so that no two pages have a layout in common.
"""


def page(results: Path) -> str:
    """The document."""
    try:
        found = json.loads(results.read_text(encoding="utf-8"))
        reasons = configuration.toml(results.parent / WORST)["page"]
        read = configuration.toml(results.parent / READ)["site"]
    except (OSError, ValueError, ConfigurationError) as error:
        raise InputError(f"{results}: no results of `research.sites measure` ({error})") from error
    model = found["model"]
    parts = [
        INTRODUCTION.format(
            parameters=", ".join(f"{name} {value:g}" for name, value in model.items()),
            n_pages=f"{found['n_pages']:,}",
            n_sites=found["n_sites"],
            n_folds=found["n_folds"],
        ),
        "## By kind of evidence\n",
        *_evidence(found),
        "\n## By number of pages a site\n",
        *_groups("annotated pages a site", found["by pages"]),
        DRAWN,
        *_groups("pages known", found["curve"]),
        ABLATION,
        *_ablation(found["curve"]),
        "\n## By set, language and kind\n",
        *_groups("set", found["by set"]),
        "",
        *_groups("language", found["by language"]),
        "",
        *_groups("kind", found["by kind"]),
        "\n## Beside other tools\n",
        *_peers(found["peers"]),
        "\n## The expected F1\n",
        *_reliability(found["reliability"]),
        "\n## Whole sites without annotation\n",
        *_raw(found["raw"]),
        *_read(read),
        "\n## The worst pages\n",
        *_worst(found["worst"], reasons),
    ]
    return "\n".join(parts) + "\n"


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _head(*cells: str) -> Iterator[str]:
    yield _row(*cells)
    yield "|" + "---|" * len(cells)


def _evidence(found: Row) -> Iterator[str]:
    yield from _head("decided by", "word F1", "95 % interval", "below .5", "below .8")
    for name, row in found["columns"].items():
        interval = f"{row['low']:.3f} – {row['high']:.3f}"
        yield _row(name, f"{row['f1']:.4f}", interval, _percent(row["below 0.5"]), _percent(row["below 0.8"]))
    yield EVIDENCE.format(**found["gain"], bound=found["columns"][BOUND]["f1"])


def _groups(title: str, rows: Sequence[Row]) -> Iterator[str]:
    yield from _head(title, "sites", "pages", "one pass", "by site", "gain", "95 % interval", "below .5")
    for row in rows:
        below = (_percent(row[each]["below 0.5"]) for each in ("one", "by_site"))
        yield _row(
            row["name"],
            row["n_sites"],
            f"{row['n_pages']:,}",
            *(f"{row[each]['f1']:.4f}" for each in ("one", "by_site")),
            f"{row['gain']:+.4f}",
            f"{row['low']:+.4f} to {row['high']:+.4f}",
            " → ".join(below),
        )


def _ablation(rows: Sequence[Row]) -> Iterator[str]:
    yield from _head("pages known", "consensus", "repeated texts")
    for row in rows:
        gains = (row["consensus"], row)
        yield _row(
            row["name"],
            *(f"{each['gain']:+.4f} ({each['low']:+.4f} to {each['high']:+.4f})" for each in gains),
        )


def _peers(peers: Row) -> Iterator[str]:
    yield f"On {peers['n_pages']:,} of these pages, those that `research.against_peers` has results of:\n"
    yield from _head("tool", "word F1", "95 % interval", "below .5")
    for name, row in sorted(peers["tools"].items(), key=lambda each: -each[1]["f1"]):
        interval = f"{row['low']:.3f} – {row['high']:.3f}"
        yield _row(name, f"{row['f1']:.3f}", interval, _percent(row["below 0.5"]))


def _reliability(rows: Sequence[Row]) -> Iterator[str]:
    yield from _head("expected F1", "pages", "mean expected", "mean measured")
    for row in rows:
        bounds = f"{row['low']:g} – {row['high']:g}"
        yield _row(bounds, row["n"], f"{row['expected']:.3f}", f"{row['f1']:.3f}")


def _raw(rows: Sequence[Row]) -> Iterator[str]:
    yield "Words that one pass keeps, and those that the second pass adds and drops.\n"
    yield from _head(
        "site", "pages", "words", "added", "dropped", "pages changed by 10 %", "emptied", "filled"
    )
    for row in rows:
        counts = (f"{row[name]:,}" for name in ("n_pages", "before", "added", "dropped", "changed"))
        yield _row(row["site"], *counts, row["emptied"], row["filled"])
    numbers = sorted({int(n) for row in rows for n in row["curve"]})
    yield RAW
    yield from _head("pages known", *map(str, numbers))
    for row in rows:
        values = (row["curve"].get(str(n)) for n in numbers)
        yield _row(row["site"], *("" if value is None else f"{value:.3f}" for value in values))


def _read(rows: Sequence[Row]) -> Iterator[str]:
    yield READING
    yield from _head("site", "right", "wrong", "unclear", "what is gained, and what goes wrong")
    for row in rows:
        yield _row(*(row[name] for name in ("site", "right", "wrong", "unclear", "why")))
    yield _row("all", *(sum(row[name] for row in rows) for name in ("right", "wrong", "unclear")), "")


def _worst(rows: Sequence[Row], reasons: Sequence[Row]) -> Iterator[str]:
    why = {(row["set"], row["id"]): row["why"] for row in reasons}
    yield from _head("page", "one pass", "by site", "what is wrong")
    for row in rows:
        reason = why.get((row["set"], row["id"]), "")
        yield _row(f"{row['set']} {row['id'][-24:]}", f"{row['one']:.2f}", f"{row['by_site']:.2f}", reason)


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.1f} %"
