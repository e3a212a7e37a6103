"""CPU time of Ratcliff–Obershelp matching by character: ours beside difflib, and cydifflib where it is.

Texts are invented words; `edited` shares two thirds with the other text, `other` nothing but letters.
difflib runs on the short ones only. Run it with `./dev bench matching`.
"""

import importlib.util
import random
import sys
import time
from collections.abc import Callable
from difflib import SequenceMatcher
from typing import Any

from victor_spark.evaluation import cleaneval
from victor_spark.kernels import uncompiled

LENGTHS = (6_000, 25_000, 100_000)
LONGEST_OF = {"ours": 100_000, "cydifflib": 25_000, "difflib": 6_000}


def main() -> int:
    """Prints a table."""
    print(f"kernels compiled: {not uncompiled()}\n")
    print(f"{'characters':>10}  {'texts':<8}{'matcher':<10}{'seconds':>9}")
    for length in LENGTHS:
        for name, (first, second) in texts(length).items():
            for matcher, blocks in matchers().items():
                if length <= LONGEST_OF[matcher]:
                    started = time.process_time()
                    blocks(first, second)
                    seconds = time.process_time() - started
                    print(f"{length:>10}  {name:<8}{matcher:<10}{seconds:>9.3f}")
    return 0


def matchers() -> dict[str, Callable[[str, str], object]]:
    """Name → what finds the matching blocks."""
    found: dict[str, Callable[[str, str], object]] = {
        "ours": cleaneval.matching_blocks,
        "difflib": lambda a, b: _blocks(SequenceMatcher, a, b),
    }
    if importlib.util.find_spec("cydifflib"):
        cydifflib = importlib.import_module("cydifflib")
        found["cydifflib"] = lambda a, b: _blocks(cydifflib.SequenceMatcher, a, b)
    return found


def _blocks(matcher: Any, a: str, b: str) -> object:
    return matcher(None, a, b, autojunk=False).get_matching_blocks()


def texts(length: int) -> dict[str, tuple[str, str]]:
    """Pairs of texts of about `length` characters."""
    dice = random.Random(length)
    words = ["".join(dice.choices("etaoinshrdlu", k=dice.randint(2, 9))) for _ in range(3000)]

    def text(n_characters: int) -> str:
        return " ".join(dice.choices(words, k=n_characters // 6))[:n_characters]

    first = text(length)
    edited = first[: length // 3] + text(length // 3) + first[2 * length // 3 :]
    return {"edited": (first, edited), "other": (first, text(length))}


if __name__ == "__main__":
    sys.exit(main())
