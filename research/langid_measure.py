"""The quality of identification, block features and repair of misread text, on test texts by language.

python -m research.langid_measure DATA/langid/test

prints the effect of repair on good and on misread texts, and the figures of identification on the parts of
the files that come after those of langid.json. A test folder holds one text file a language (`cs.txt`, `.gz`
and `.xz` too), one sentence a line.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from victor_spark import resources
from victor_spark.blocks import Int32
from victor_spark.errors import EXIT_DONE, InputError, VictorError
from victor_spark.kernels import code_points, num
from victor_spark.langid import encoding, repair, scores
from victor_spark.langid.identify import UNKNOWN, Guess, Identifier, best_and_rival, guesses
from victor_spark.langid.normalise import folded, joined
from victor_spark.langid.profiles import Profiles
from victor_spark.langid.settings import settings
from victor_spark.train.langid import read

_UNSPACED: Final = frozenset(["bo", "ja", "km", "lo", "my", "th", "zh"])
"""Languages written without spaces (ISO 639-1)."""
_LETTERS_PER_WORD: Final = 2
_WRITTEN: Final = {
    "windows-1250": "cs sk pl hu sl hr ro bs sr_latn sq",
    "iso8859-2": "cs sk pl hu sl hr",
    "windows-1251": "ru uk bg be sr mk",
    "koi8-r": "ru",
    "iso8859-5": "ru bg sr",
    "cp866": "ru",
    "windows-1252": "de fr es pt sv da nb fi is it nl ca",
    "windows-1253": "el",
    "windows-1254": "tr",
    "windows-1255": "he",
    "windows-1256": "ar fa ur",
    "windows-1257": "lt lv et",
    "shift_jis": "ja",
    "euc_jp": "ja",
    "gbk": "zh",
    "big5": "zh",
    "euc_kr": "ko",
    "cp874": "th",
}
_OTHERS: Final = [name for name in _WRITTEN if name != "windows-1252"]
MOST_REPAIRS: Final = 4
N_WORDS, N_TEXTS = 60, 30
"""Of the texts whose charset is misread: their words, and how many there are of a language."""
NEXT: Final = ((20, 300, 300), (N_WORDS, N_TEXTS, 100))
"""Words of a text, texts of a file that langid.json is about, and how many of those after them are read."""
MIN_TEXTS: Final = 50
MIN_HIGH_BYTES: Final = 4
"""A text with fewer characters that change is not counted as broken."""
MOJIBAKE: Final[Mapping[str, tuple[list[tuple[str, str]], Mapping[str, str]]]] = {
    "legacy read as utf-8": ([(name, "utf-8") for name in _WRITTEN], _WRITTEN),
    "utf-8 read as windows-1252": ([("utf-8", "windows-1252")], {}),
    "legacy read as windows-1252": ([(name, "windows-1252") for name in _OTHERS], _WRITTEN),
    "koi8-r and windows-1251 swapped": (
        [("koi8-r", "windows-1251"), ("windows-1251", "koi8-r")],
        {"koi8-r": "ru", "windows-1251": "ru uk bg"},
    ),
}
"""Kind of damage → (written in, read as) pairs, and the languages to take (none given: all)."""


def texts(folder: Path) -> dict[str, Path]:
    """The text files of a folder by language; InputError when there are none."""
    files = {path.name.split(".")[0]: path for path in sorted(folder.glob("*.txt*"))}
    if not files:
        raise InputError(f"no text files (LANGUAGE.txt, .txt.gz, .txt.xz) in {folder}")
    return files


def pieces(path: Path, language: str, n_words: int, most: int = 300) -> list[str]:
    """Texts of n_words words each, cut from a file's sentences joined."""
    words = read(path).split()
    separator = " "
    if language in _UNSPACED:
        words, n_words, separator = list(" ".join(words)), n_words * _LETTERS_PER_WORD, ""
    starts = range(0, len(words) - n_words + 1, n_words)[:most]
    return [separator.join(words[start : start + n_words]) for start in starts]


def accuracy(identify: Identifier, tests: Mapping[str, Sequence[str]]) -> tuple[float, float]:
    """Mean over languages of the share identified: as exactly that label, and as one of its group."""
    exact, grouped = zip(*by_language(identify, tests).values(), strict=True)
    return float(np.mean(exact)), float(np.mean(grouped))


def by_language(identify: Identifier, tests: Mapping[str, Sequence[str]]) -> dict[str, tuple[float, float]]:
    """Language → the share of its texts identified as exactly that label, and as one of its group."""
    shares = {}
    for language, test in tests.items():
        found = [guess.language for guess in identify(test)]
        group = settings().group(language)
        shares[language] = (
            sum(name == language for name in found) / len(found),
            sum(name in group for name in found) / len(found),
        )
    return shares


def feature_auc(profiles: Profiles, target: str, tests: Mapping[str, Sequence[str]]) -> tuple[float, float]:
    """The areas under the ROC curves of langid1 and langid2: texts of the target against all others."""
    is_target = np.concatenate([np.full(len(test), name == target) for name, test in tests.items()])
    text, starts, ends = joined([text for test in tests.values() for text in test])
    langid1, langid2, _ = scores.block_scores(text, starts, ends, [target], profiles)
    return auc(langid1, is_target), auc(langid2, is_target)


def auc(scores: npt.NDArray[np.float32], positive: npt.NDArray[np.bool_]) -> float:
    """The probability that a positive scores above a negative, ties counting half."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    middle_ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    n_positive = int(positive.sum())
    wins = middle_ranks[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(wins / (n_positive * (len(positive) - n_positive)))


def misread(text: str, written_in: str, read_as: str) -> str:
    """The text as a browser shows it that decodes its bytes by another charset.

    Characters the charset doesn't have are left out, bytes it leaves undefined become C1 controls.
    """
    content = text.encode(written_in, "ignore")
    if read_as == "utf-8":
        return content.decode("utf-8", "replace")
    return "".join(bytes([byte]).decode(read_as, "ignore") or chr(byte) for byte in content)


def mojibake(tests: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Synthetic broken texts by kind, of those test texts that have enough characters to break."""
    broken: dict[str, list[str]] = {kind: [] for kind in MOJIBAKE}
    for kind, (pairs, languages) in MOJIBAKE.items():
        for written_in, read_as in pairs:
            for language in languages.get(written_in, "").split() or tests:
                broken[kind] += [
                    misread(text, written_in, read_as)
                    for text in tests.get(language, ())
                    if sum(byte > 0x7F for byte in text.encode(written_in, "ignore")) >= MIN_HIGH_BYTES
                ]
    return broken


def repaired(text: str, profiles: Profiles) -> tuple[str, bool]:
    """The text as cleaning reads it again, and whether it is damaged even then."""
    finding = encoding.examined(text, profiles, code_points(text))
    for _ in range(MOST_REPAIRS):
        if finding.misreading is None:
            break
        text = repair.again(text, finding.misreading)
        finding = encoding.examined(text, profiles, code_points(text))
    return text, finding.problem is not None


def repair_lines(texts: Sequence[str], profiles: Profiles) -> Iterator[str]:
    """The effect of repair on good texts, and on the same texts in UTF-8 read as windows-1252."""
    changed = [text for text in texts if repaired(text, profiles)[0] != text]
    yield f"good texts: {len(texts)}, changed: {len(changed)}"
    yield from changed
    high = [text for text in texts if sum(byte > 0x7F for byte in text.encode()) >= MIN_HIGH_BYTES]
    found = [(text, *repaired(misread(text, "utf-8", "windows-1252"), profiles)) for text in high]
    exact = sum(text == after for text, after, _ in found) / len(found)
    dropped = sum(text != after and damaged for text, after, damaged in found) / len(found)
    yield f"utf-8 read as windows-1252: {len(found)}, restored exactly {exact:.1%}, dropped {dropped:.1%}"


def unseen_lines(folder: Path, profiles: Profiles) -> Iterator[str]:
    """Identification on the next texts of each file that has MIN_TEXTS of them."""
    short, long = ({name: _next(path, name, *each) for name, path in texts(folder).items()} for each in NEXT)
    short = {name: found for name, found in short.items() if len(found) >= MIN_TEXTS}
    for name, identify in IDENTIFIERS.items():
        yield f"{name}: {accuracy(identify(profiles), short)[1]:.1%} grouped, {len(short)} labels"
    for kind, broken in mojibake(long).items():
        n_found = sum(encoding.problem(text, profiles) is not None for text in broken)
        yield f"{kind}: {n_found / len(broken):.0%} found"
    good = [text for found in long.values() for text in found]
    n_alarms = sum(encoding.problem(text, profiles) is not None for text in good)
    yield f"good texts: {len(good)}, reported {n_alarms / len(good):.2%} ({n_alarms})"


def _next(path: Path, language: str, n_words: int, n_before: int, n_next: int) -> list[str]:
    return pieces(path, language, n_words, n_before + n_next)[n_before:]


def _by_trigrams(profiles: Profiles, texts: Sequence[str]) -> list[Guess]:
    """Beesley (1988)."""
    return guesses(*scores.gains(profiles, *joined(texts)), profiles)


def _by_ranks(profiles: Profiles, texts: Sequence[str]) -> list[Guess]:
    """Cavnar and Trenkle (1994)."""
    table = scores.rank_table(profiles, profiles.languages, False)
    text, starts, ends = folded(*joined(texts))
    letters = np.concatenate([[0], np.cumsum(text != ord(" "))])
    n_letters = letters[ends] - letters[starts]
    distances, n_ngrams = scores.distances(table, text, starts, ends, np.iinfo(np.int32).max)
    columns = zip(-distances.astype(np.int32), n_letters.tolist(), n_ngrams.tolist(), strict=True)
    return [_by_nearness(row, n, ngrams_read, profiles.languages) for row, n, ngrams_read in columns]


def _by_nearness(nearness: Int32, n_letters: int, n_ngrams: int, languages: tuple[str, ...]) -> Guess:
    if n_letters < settings().page.least_letters or not n_ngrams:
        return UNKNOWN
    best, rival = best_and_rival(nearness, languages)
    lead = (float(nearness[best]) - rival) / (min(n_ngrams, num.N_RANKED) * num.FARTHEST_RANK)
    return Guess(languages[best], 1 / (1 + math.exp(-lead * math.sqrt(n_letters) * 10)))


IDENTIFIERS: Final[Mapping[str, Callable[[Profiles], Identifier]]] = {
    "beesley": lambda profiles: partial(_by_trigrams, profiles),
    "cavnar-trenkle": lambda profiles: partial(_by_ranks, profiles),
}
"""Name of a method → what builds it from profiles; pages are identified with `beesley` alone."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        prog="python -m research.langid_measure",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("texts", metavar="TEXTS", type=Path, help="a folder of LANGUAGE.txt (.gz, .xz)")
    folder = parser.parse_args(arguments).texts
    try:
        shipped = Profiles.load(resources.directory("models") / "langid" / "profiles.npz")
        files = texts(folder)
        of_metrics = [text for name, path in files.items() for text in pieces(path, name, N_WORDS, N_TEXTS)]
        print(*repair_lines(of_metrics, shipped), *unseen_lines(folder, shipped), sep="\n")
    except VictorError as error:
        print(f"langid_measure: error: {error}", file=sys.stderr)
        return error.exit_code
    return EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
