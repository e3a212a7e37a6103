"""A few thousand random inputs per target: the product's results equal those of the oracle.

The seed is fixed (VICTOR_FUZZ_SEED chooses another), so that the same commit gives the same answer twice.
"""

import hashlib
import os

import pytest

from tests.fuzz import built
from tests.fuzz.mutation import mutated, shortest
from tests.fuzz.targets import TARGETS, WORDS, Target, seeds

SEED = os.environ.get("VICTOR_FUZZ_SEED", "0")
REPRODUCERS = built.ROOT / "build" / "reproducers"
SHARE = 1.0 if built.VARIANT else 0.05
"""Of the inputs: without kernels that look for errors of their own a few are enough."""


def failure(target: Target, content: bytes) -> Exception | None:
    try:
        target.check(content)
    except Exception as error:  # noqa: BLE001 - whatever is raised is what we look for
        return error
    return None


@pytest.mark.parametrize("name", TARGETS)
def test_what_the_product_gives_is_what_the_oracle_says(name: str) -> None:
    target = TARGETS[name]
    corpus = list(seeds(target))
    inputs = (mutated(f"{SEED} {name} {n}", corpus, WORDS) for n in range(int(target.n_inputs * SHARE)))
    for content in (*corpus, *inputs):
        if found := failure(target, content):
            kind = type(found)
            least = shortest(content, lambda shorter, kind=kind: type(failure(target, shorter)) is kind)
            REPRODUCERS.mkdir(parents=True, exist_ok=True)
            path = REPRODUCERS / f"{name}-{hashlib.sha256(least).hexdigest()[:12]}"
            path.write_bytes(least)
            print(f"seed {SEED}; again: python -m tests.fuzz.targets {name} {path.relative_to(built.ROOT)}")
            print(f"input: {least!r}")
            target.check(least)
            raise found


def test_kernels_are_those_of_the_build_that_is_asked_for() -> None:
    if not built.VARIANT:
        pytest.skip("VICTOR_KERNELS names no build: the usual kernels are tried")
    from victor_html import construction
    from victor_spark.kernels import crf, matching, ngrams, tokens
    from victor_spark.rendering import walk

    for kernel in (construction, crf, matching, ngrams, tokens, walk):
        assert str(kernel.__file__).startswith(str(built.FOLDER))


def test_shortening_leaves_what_makes_an_input_fail() -> None:
    assert shortest(b"a" * 100 + b"xy" + b"b" * 77, lambda content: b"x" in content) == b"x"


def test_the_same_seed_makes_the_same_input() -> None:
    made = [mutated(str(n), [b"abc", b"<p>d"], WORDS) for n in range(50)]
    assert made == [mutated(str(n), [b"abc", b"<p>d"], WORDS) for n in range(50)]
    assert len(set(made)) > 40
