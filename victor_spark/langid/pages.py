"""Decides the language of a page and whether its charset was misread; sets the block features of language."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeAlias

from victor_spark.blocks import Blocks
from victor_spark.langid import encoding, fasttext_model, identify, scores
from victor_spark.langid.encoding import Finding
from victor_spark.langid.identify import Guess
from victor_spark.langid.labels import iso, resolve
from victor_spark.langid.profiles import Profiles
from victor_spark.langid.settings import settings

MIXED_BELOW: Final = 0.9
"""If the score of the whole page is lower, the language is guessed block by block."""
_expanded: Final = lru_cache(maxsize=4)(Profiles.from_bytes)


@dataclass(frozen=True, slots=True)
class PageLanguage:
    """The language of a page's text, and problems with its charset (`finding`).

    `language` is ISO 639-1 (or -3), None if there is too little text, no language fits, or the text cannot be
    read as it is. `is_wanted`: it is a requested language or confusable with one, or none is requested.
    """

    finding: Finding
    language: str | None = None
    score: float | None = None
    is_wanted: bool = True
    has_text: bool = True


PageIdentifier: TypeAlias = Callable[[Blocks], tuple[Blocks, PageLanguage]]
"""Blocks → the blocks with langid1 and langid2, and the language of the page."""


def page_identifier(
    profiles: bytes,
    languages: tuple[str, ...] = (),
    lid_model: bytes | None = None,
    *,
    block_features: bool = True,
) -> PageIdentifier:
    """Built once per process; `languages` are the requested codes, `lid_model` is a fastText file.

    Without `block_features`, langid1 and langid2 stay 0, for cleaners that don't use them.
    Raises UsageError for an unknown language or a missing package, ModelError for a bad file.
    """
    known = _expanded(profiles)
    targets = resolve(languages, known.languages) if languages else ()
    loaded = _expanded(profiles, targets) if targets and lid_model is None else known
    by_fasttext = None
    if lid_model is not None:
        with tempfile.NamedTemporaryFile(prefix="victor-", suffix=".bin") as file:
            file.write(lid_model)
            file.flush()
            by_fasttext = fasttext_model.identifier(Path(file.name))  # fastText reads only files

    def look(blocks: Blocks) -> tuple[Blocks, PageLanguage]:
        found = encoding.examined(blocks.text, loaded, blocks.points)
        if found.problem or found.misreading:
            return blocks, PageLanguage(found)
        guess = by_fasttext([blocks.text])[0] if by_fasttext else _guess(blocks, loaded)
        page = _page_language(found, guess, targets, blocks)
        if block_features and page.is_wanted:
            own = guess.language  # used where no language is requested
            if chosen := targets or ((own,) if own is not None and own in loaded.profiles else ()):
                texts = (blocks.points, blocks.text_start, blocks.text_end)
                langid1, langid2, _ = scores.block_scores(*texts, chosen, loaded)
                blocks = replace(blocks, langid1=langid1, langid2=langid2)
        return blocks, page

    return look


def _guess(blocks: Blocks, profiles: Profiles) -> Guess:
    """The language of the whole text; of a mixed page the one with most letters, block by block."""
    guess = identify.page(blocks.points, profiles)
    if guess.language is None or guess.score >= MIXED_BELOW:
        return guess
    shares = identify.shares(blocks.points, blocks.text_start, blocks.text_end, profiles)
    return Guess(*next(iter(shares.items()))) if shares else guess


def _page_language(found: Finding, guess: Guess, targets: tuple[str, ...], blocks: Blocks) -> PageLanguage:
    has_text = not targets or bool(blocks.n_letters.sum() >= settings().page.least_letters)
    if guess.language is None:
        return PageLanguage(found, is_wanted=not targets, has_text=has_text)
    language = iso(guess.language)
    is_target = language in map(iso, targets) or identify.is_among(guess.language, targets)
    return PageLanguage(found, language, guess.score, not targets or is_target, has_text)
