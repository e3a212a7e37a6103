"""The tables of docs/quality.md beyond those of the model cards, as Markdown, from stored results."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from research import against_peers, rejecting
from research.link_lists import LIMITS
from research.out_of_fold import PageRow
from research.preferences import BY_THEMSELVES
from research.trials import ALL_STAGES, STAGES
from victor_spark.model import decision
from victor_spark.settings import PREFERENCES

Row = Mapping[str, Any]

N_WORST: Final = 30


def preferences(curve: Sequence[Mapping[str, float]]) -> Iterator[str]:
    """Precision and recall by beta, with the betas of `--prefer`."""
    named = {round(beta, 3): f"`--prefer {name}`" for name, beta in PREFERENCES.items()} | {1.0: "default"}
    yield "| beta | | precision | recall | F0.5 | F1 | F2 |\n|---|---|---|---|---|---|---|"
    best = {name: max(row[name] for row in curve) for name in ("f0.5", "f1", "f2")}
    for row in curve:
        cells = [_bold(row[name], best[name]) for name in ("f0.5", "f1", "f2")]
        name = "independent blocks" if BY_THEMSELVES in row else named.get(row["beta"], "")
        yield (
            f"| {row['beta']:g} | {name} | "
            + " | ".join([f"{row['precision']:.3f}", f"{row['recall']:.3f}", *cells])
            + " |"
        )


def reject(rows: Sequence[PageRow]) -> Iterator[str]:
    """Pages rejected by each minimum of the expected F1."""
    n_empty = rejecting.n_empty(rows)
    yield (
        f"| minimum | pages without content rejected (of {n_empty}) | pages with content rejected "
        f"(of {len(rows) - n_empty}) | word F1, all pages |\n|---|---|---|---|"
    )
    for bar in rejecting.curve(rows):
        mark = " (in use)" if bar.least == decision.MIN_EXPECTED_F1 else ""
        yield (
            f"| {bar.least:g}{mark} | {bar.n_empty_rejected} | {bar.n_content_rejected} | {bar.word_f1:.4f} |"
        )


def link_lists(rows: Sequence[Row]) -> Iterator[str]:
    """Pages dropped by each value of --max-list-share."""
    yield f"| | pages | {' | '.join(f'above {limit:g}' for limit in LIMITS)} |\n|{'---|' * (2 + len(LIMITS))}"
    for row in rows:
        yield f"| {row['name']} | {row['n_pages']} | {' | '.join(map(str, row['n_dropped']))} |"


def expected_f1(rows: Sequence[PageRow]) -> Iterator[str]:
    """Expected beside measured F1, by ranges."""
    yield "| expected F1 | pages | mean expected | mean measured |\n|---|---|---|---|"
    for each in rejecting.reliability(rows)[0]:
        yield (
            f"| {each.low:g} – {each.high:g} | {each.n_pages} | {each.expected:.3f} | {each.measured:.3f} |"
        )


def fail_below(rows: Sequence[PageRow]) -> Iterator[str]:
    """Quality of the pages that are left when uncertain ones are dropped."""
    yield "| `--fail-below` | pages left | mean word F1 | 10th percentile of word F1 |\n|---|---|---|---|"
    n_pages = sum(row.decided.n_found > 0 for row in rows)
    for each in rejecting.dropping(rows):
        yield (
            f"| {each.fail_below:g} | {each.n_pages / n_pages:.1%} | {each.word_f1:.3f} | "
            f"{each.worst_tenth:.3f} |"
        )


def peers(compared: Row) -> Iterator[str]:
    """All groupings, a table each."""
    names = [name for name in compared["mean over sets"] if name in compared["peers"]]
    yield (
        "| mean over sets | victor | best peer of each set | "
        + " | ".join(names)
        + " |\n|---|---|---|"
        + "---|" * len(names)
    )
    means = compared["mean over sets"]
    wanted = [against_peers.OURS, "best peer of each set", *names]
    yield "| | " + " | ".join(f"{means[name]:.3f}" for name in wanted) + " |"
    for grouping in against_peers.GROUPINGS:
        yield (
            f"\n| {grouping} | pages | sites | victor | best peer | "
            + " | ".join(names)
            + " | difference, 95 % | victor is |\n|---|---|---|---|---|"
            + "---|" * (len(names) + 2)
        )
        yield from (_peer_row(group, row, names) for group, row in compared[grouping].items())


def verdicts(compared: Row) -> Iterator[str]:
    """The groups in which `victor` is behind, not settled and ahead."""
    for word in (against_peers.BEHIND, against_peers.OPEN, against_peers.AHEAD):
        groups = [
            f"{group} ({grouping})"
            for grouping in against_peers.GROUPINGS
            for group, row in compared[grouping].items()
            if row["verdict"] == word
        ]
        yield f"- {word}: {'; '.join(groups) or 'none'}"


def ablation(found: Mapping[str, Row]) -> Iterator[str]:
    """Stages, and groups of features left out."""
    yield "| | word F1 | mean over sets | difference, 95 % |\n|---|---|---|---|"
    without = sorted((name for name in found if name not in STAGES), key=lambda name: found[name]["word_f1"])
    for name in (*STAGES, *without):
        row = found[name]
        difference = "" if name == ALL_STAGES else _interval(row["difference"])
        yield f"| {name} | {row['word_f1']:.4f} | {row['mean_over_sets']:.4f} | {difference} |"


def learning(found: Mapping[str, Row]) -> Iterator[str]:
    """More sites: word F1 over all pages, sets, and the kinds of pages of wcxb."""
    rows = sorted(found.items(), key=lambda each: each[1]["n_sites_trained"])
    yield f"| | {' | '.join(name for name, _ in rows)} |\n|{'---|' * (1 + len(rows))}"
    for name, key in (("training sites", "n_sites_trained"), ("training pages", "n_trained")):
        yield f"| {name} | {' | '.join(str(row[key]) for _, row in rows)} |"
    for name, key in (("all pages", "word_f1"), ("mean over sets", "mean_over_sets")):
        yield f"| {name} | {' | '.join(f'{row[key]:.4f}' for _, row in rows)} |"
    for kind in rows[-1][1]["kinds"]:
        yield f"| wcxb: {kind} | {' | '.join(format(row['kinds'][kind], '.3f') for _, row in rows)} |"


def languages(found: Mapping[str, Row]) -> Iterator[str]:
    """Each language, unseen and seen in training."""
    yield (
        "| language | test pages | training pages | word F1, language unseen | language seen | "
        "difference, 95 % |\n|---|---|---|---|---|---|"
    )
    for name, row in found.items():
        yield (
            f"| {name} | {row['n_tested']} | {row['n_trained']} | {row['word_f1']:.3f} | "
            f"{row['with_it']:.3f} | {_interval(row['difference'])} |"
        )


def sets(found: Mapping[str, Row]) -> Iterator[str]:
    """Each set, unseen in training with and without origins, and seen."""
    yield (
        "| set | test pages | training pages | word F1, set unseen | and origins unknown | "
        "difference, 95 % | set seen |\n|---|---|---|---|---|---|---|"
    )
    for name, row in found.items():
        yield (
            f"| {name} | {row['n_tested']} | {row['n_trained']} | {row['word_f1']:.3f} | "
            f"{row['without_origins']:.3f} | {_interval(row['difference'])} | {row['with_it']:.3f} |"
        )


def recipes(found: Mapping[str, Mapping[str, Row]]) -> Iterator[str]:
    """Each comparison of two recipes, by group of pages."""
    for pair, rows in found.items():
        after, _, before = pair.partition(" / ")
        yield f"| {after} | pages | {before} | {after} | difference, 95 % | below 0.5, before and after |"
        yield "|---|---|---|---|---|---|"
        for name, row in rows.items():
            if ":" in name and not name.startswith("wcxb:"):
                continue
            means = f"{row['before']:.3f} | {row['after']:.3f}"
            if not (difference := row.get("difference")):
                yield f"| {name} | | {means} | | |"
                continue
            below = " → ".join(f"{share:.1%}" for share in row["below_half"])
            yield f"| {name} | {row['n_pages']} | {means} | {_interval(difference)} | {below} |"
        yield ""


def snippets(found: Mapping[str, Row]) -> Iterator[str]:
    """By language, where only snippets are annotated."""
    names = [name for name in next(iter(found.values()))["means"] if name != against_peers.OURS]
    yield (
        "| language | pages | sites | victor | best peer | "
        + " | ".join(names)
        + " | difference, 95 % | victor is |\n|---|---|---|---|---|"
        + "---|" * (len(names) + 2)
    )
    yield from (_peer_row(language, row, names) for language, row in found.items())


def worst_pages(rows: Sequence[PageRow], n: int = N_WORST) -> list[PageRow]:
    """The pages with content of lowest word F1; of equal ones those with more to keep first."""
    with_content = [row for row in rows if row.n_gold]
    return sorted(with_content, key=lambda row: (row.word_f1, -row.n_gold, row.key))[:n]


def worst(rows: Sequence[PageRow], why: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """The worst pages; `why` describes what went wrong on each."""
    yield "| set | page | word F1 | expected | gold words | ours | why |\n|---|---|---|---|---|---|---|"
    for row in worst_pages(rows):
        yield (
            f"| {row.set} | {row.id} | {row.word_f1:.3f} | {row.unrejected.expected_f1:.2f} | {row.n_gold} | "
            f"{row.decided.n_found} | {why.get(row.key, 'not examined')} |"
        )


def _peer_row(group: str, row: Row, names: Sequence[str]) -> str:
    means = row["means"]
    cells = [f"**{means[name]:.3f}**" if name == row["best_peer"] else f"{means[name]:.3f}" for name in names]
    head = [group, row["n_pages"], row["n_sites"], f"{means[against_peers.OURS]:.3f}", row["best_peer"]]
    return (
        "| " + " | ".join(map(str, chain(head, cells, [_interval(row["difference"]), row["verdict"]]))) + " |"
    )


def _interval(difference: Mapping[str, float]) -> str:
    return f"{difference['mean']:+.3f} ({difference['low']:+.3f} … {difference['high']:+.3f})"


def _bold(value: float, best: float) -> str:
    return f"**{value:.3f}**" if value == best else f"{value:.3f}"
