"""Trains our small fastText model of languages.

python -m research.langid_fasttext TEXTS OUTPUT

TEXTS is a folder of text files named by their language, as `victor train langid` takes them. The model is
trained on normalised text; `victor clean --lid-model OUTPUT` uses it.
"""

import argparse
import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from research import langid_measure
from victor_spark.errors import EXIT_DONE, VictorError
from victor_spark.langid.fasttext_model import LABEL, OURS
from victor_spark.langid.normalise import normalised
from victor_spark.train import langid

LEAST_THREADS: Final = 12
"""Each thread of fastText 0.9.3 initialises a tenth of the weights; less than 11 leave some uninitialised."""
_PIECE_LENGTHS: Final = (4, 9, 20)
_LEAST_WORDS: Final = 40_000
_MOST_WORDS: Final = 80_000
_MOST_REPEATS: Final = 4
_LETTERS_PER_WORD: Final = 4
_LONG_WORD: Final = 30
_TRAINING: Final[Mapping[str, Any]] = {
    "minn": 2,
    "maxn": 5,
    "minCount": 1_000_000_000,  # no words of their own, only their n-grams: a third of the size
    "loss": "softmax",
    "lr": 0.5,
    "epoch": 6,
    "seed": 1,
    "verbose": 1,
}


def train(
    texts: Iterable[tuple[str, str]],
    output: Path,
    *,
    threads: int = LEAST_THREADS,
    dim: int = 16,
    bucket: int = 500_000,
) -> None:
    """Trains and quantises our model on (language, text) pairs: two minutes for 122 languages.

    `dim` and `bucket` (the number of hash buckets for n-grams) decide its size. Every run gives a slightly
    different model.
    """
    import fasttext

    with TemporaryDirectory(prefix="victor-langid-") as folder:
        lines = [f"{LABEL}{OURS}{language} {piece}\n" for language, text in texts for piece in _pieces(text)]
        random.Random(_TRAINING["seed"]).shuffle(lines)  # training goes in order and weighs later lines more
        file = Path(folder) / "train.txt"
        file.write_text("".join(lines), "utf-8")
        model = fasttext.train_supervised(
            input=str(file), thread=threads, dim=dim, bucket=bucket, **_TRAINING
        )
        model.quantize(qnorm=True)
        model.save_model(str(output))


def _pieces(text: str) -> Iterator[str]:
    """Normalised pieces of few, some and many words; short texts several times, long ones cut."""
    words = normalised(text).split()
    words = [part for word in words for part in _cut(word)][:_MOST_WORDS]
    repeats = min(max(-(-_LEAST_WORDS // max(len(words), 1)), 1), _MOST_REPEATS)
    for repeat in range(repeats):
        start, turn = 0, repeat
        while start < len(words):
            length = _PIECE_LENGTHS[turn % len(_PIECE_LENGTHS)]
            yield " ".join(words[start : start + length])
            start, turn = start + length, turn + 1


def _cut(word: str) -> Iterator[str]:
    """The word; a run of an unspaced script in short parts, so that lengths mean something."""
    if len(word) <= _LONG_WORD:
        return iter([word])
    return (word[i : i + _LETTERS_PER_WORD] for i in range(0, len(word), _LETTERS_PER_WORD))


def main(arguments: Sequence[str] | None = None) -> int:
    """Trains the model and writes it."""
    parser = argparse.ArgumentParser(
        prog="python -m research.langid_fasttext",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("texts", metavar="TEXTS", type=Path, help="a folder of LANGUAGE.txt (.gz, .xz)")
    parser.add_argument("output", metavar="OUTPUT", type=Path, help="the model to write")
    options = parser.parse_args(arguments)
    try:
        files = langid_measure.texts(options.texts)
        train(((language, langid.read(path)) for language, path in files.items()), options.output)
    except VictorError as error:
        print(f"langid_fasttext: error: {error}", file=sys.stderr)
        return error.exit_code
    return EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
