"""CPU time of hostile pages (tests/html/hostile.py), at n units and at 2n.

    python bench/hostile.py [--units N] [--rounds N]

Prints Markdown. A family whose time or html is out of proportion is printed in bold.
"""

import argparse
import time
from typing import Final

import _checkout  # noqa: F401

import victor_spark
from tests.html.hostile import FAMILIES, page

MOST_TIMES: Final = 2.6
MOST_HTML: Final = 8


def main() -> None:
    """Runs the benchmark and prints its table."""
    parser = argparse.ArgumentParser(description="CPU time of hostile pages, at n units and at 2n.")
    parser.add_argument("--units", type=int, default=20_000, metavar="N", help="default: 20000")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="default: 3")
    arguments = parser.parse_args()
    victor_spark.clean("<p>a")
    print(f"## Hostile pages\n\nAt {arguments.units} units and twice as many, best of {arguments.rounds}.\n")
    print("| pages | kB | ms | ms, twice | times | html / page |\n|---|---:|---:|---:|---:|---:|")
    for family in FAMILIES:
        pages = [page(family, arguments.units * times) for times in (1, 2)]
        once, twice = (_seconds(source, arguments.rounds) for source in pages)
        grown = len(victor_spark.clean(pages[1]).html) / len(pages[1])
        name = f"**{family}**" if twice > MOST_TIMES * once or grown > MOST_HTML else family
        print(
            f"| {name} | {len(pages[0]) / 1000:.0f} | {once * 1000:.1f} | {twice * 1000:.1f}"
            f" | {twice / once:.2f} | {grown:.2f} |"
        )


def _seconds(source: str, n_rounds: int) -> float:
    spent = []
    for _ in range(n_rounds):
        start = time.process_time()
        victor_spark.clean(source)
        spent.append(time.process_time() - start)
    return min(spent)


if __name__ == "__main__":
    main()
