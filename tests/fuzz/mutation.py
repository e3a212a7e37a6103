"""Random inputs from a corpus, the same for the same seed, and the shortest input that still fails."""

import random
from collections.abc import Callable, Sequence
from typing import Final

MOST_BYTES: Final = 2000
MOST_TRIALS: Final = 2000
BOUNDARIES: Final = (0, 1, 9, 10, 13, 32, 34, 38, 39, 60, 62, 127, 128, 191, 192, 224, 237, 240, 254, 255)


def mutated(seed: str, corpus: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    """An input: an entry of the corpus, changed by chance in a few places."""
    dice = random.Random(seed)
    made = bytearray(dice.choice(corpus))
    for _ in range(dice.choice((1, 1, 2, 4, 8, 16))):
        _change(made, dice, corpus, words)
    return bytes(made[:MOST_BYTES])


def _change(made: bytearray, dice: random.Random, corpus: Sequence[bytes], words: Sequence[bytes]) -> None:
    start = dice.randrange(len(made) + 1)
    end = min(len(made), start + dice.choice((1, 2, 4, 8, 16, 64)))
    match dice.randrange(8):
        case 0 | 1:
            made[start:start] = dice.choice(words)
        case 2:
            del made[start:end]
        case 3:
            made[start:start] = made[start:end] * dice.choice((1, 1, 2, 3, 10, 40))
        case 4:
            made[start:end] = bytes(dice.choice(BOUNDARIES) for _ in range(start, end))
        case 5:
            made[start:end] = dice.randbytes(end - start)
        case 6:
            other = dice.choice(corpus)
            begin = dice.randrange(len(other) + 1)
            made[start:start] = other[begin : begin + dice.choice((8, 32, 128))]
        case 7:
            place = dice.randrange(len(made) + 1)
            made[place:place] = made[start:end]


def shortest(failing: bytes, fails: Callable[[bytes], bool]) -> bytes:
    """The input without all the parts that it fails without, largest parts first."""
    n_trials = 0
    size = len(failing) // 2
    while size:
        start = 0
        while start < len(failing) and n_trials < MOST_TRIALS:
            shorter = failing[:start] + failing[start + size :]
            n_trials += 1
            if fails(shorter):
                failing = shorter
            else:
                start += size
        size //= 2
    return failing
