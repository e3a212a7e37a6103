"""A page as cleaners see it: canonical HTML, blocks and language; wrong character sets are repaired."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from victor_spark.blocks import Page
from victor_spark.html import charset
from victor_spark.html.canonical import canonical
from victor_spark.html.segment import segment
from victor_spark.langid.pages import PageIdentifier, PageLanguage
from victor_spark.langid.repair import CONTROLS, Misreading, reread
from victor_spark.warc import compression, file_types
from victor_spark.warc.records import Record

_MAX_MISREADINGS: Final = 4
_LATIN_1: Final = 0x100
_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\x00": None})

Lap = Callable[[str], None]
"""Called with the name of each stage when it ends."""


def unmeasured(stage: str) -> None:
    """The `lap` of a run without measurements: it does nothing."""


@dataclass(frozen=True, slots=True)
class PageFacts:
    """Facts about a page that cleaners do not need.

    `misreadings`: the wrong character sets that were found and repaired; `mixed_with`: see `Canonical`;
    `markup`: reads the page's source again, as UTF-8.
    """

    charset: str | None
    language: PageLanguage
    misreadings: tuple[Misreading, ...] = ()
    mixed_with: str | None = None
    markup: Callable[[], bytes] | None = None

    @property
    def repairs(self) -> str | None:
        """A note on repaired character sets and on lost letters; None for a page without such problems."""
        parts = [f"{self.mixed_with} in {self.charset}: repaired"] if self.mixed_with else []
        for read_as, written_in in dict.fromkeys(misreading[:2] for misreading in self.misreadings):
            parts.append(f"{charset.name(written_in)} read as {charset.name(read_as)}: repaired")
        if lost := self.language.finding.lost:
            parts.append(f"{lost:.1%} of the letters are lost" if lost >= 0.001 else "a few letters are lost")
        return "; ".join(parts) or None


def prepare(
    source: bytes | str,
    identify: PageIdentifier,
    url: str | None = None,
    http_charset: str | None = None,
    lap: Lap = unmeasured,
) -> tuple[Page, PageFacts]:
    """A page as cleaners see it: canonical HTML, blocks, language; the same in training and cleaning."""
    document = canonical(source, http_charset=http_charset)
    lap("canonical")
    html, read_as = document.html, document.charset
    segmented = segment(html, document.elements)
    lap("segment")
    blocks, language = identify(segmented)
    misreadings: tuple[Misreading, ...] = ()
    while (found := language.finding.misreading) and len(misreadings) < _MAX_MISREADINGS:
        if found != CONTROLS or (not misreadings and blocks.points.max() < _LATIN_1):
            read_as = charset.name(found.written_in)
        misreadings += (found,)
        html = reread(html, found)
        blocks, language = identify(segment(html, document.elements))
    lap("language")
    page = Page(html, blocks, url, blocks.title, language.language)
    markup = partial(_markup, document.markup, misreadings)
    return page, PageFacts(read_as, language, misreadings, document.mixed_with, markup)


def _markup(markup: bytes, misreadings: tuple[Misreading, ...]) -> bytes:
    """The source of a page in UTF-8, with its character set repaired as that of its text was."""
    for misreading in misreadings:
        markup = reread(markup.decode(), misreading).encode()
    return markup


def prepare_text(
    source: bytes, identify: PageIdentifier, url: str | None = None, http_charset: str | None = None
) -> tuple[Page, PageFacts]:
    """A plain text as a page without a title, one block per line."""
    text, found = charset.decode(source, http_charset)
    lines = (line.strip() for line in text.translate(_ESCAPES).splitlines())
    paragraphs = "".join(f"<p>{line}</p>\n" for line in lines if line)
    html = f"<!DOCTYPE html><html><head></head><body>{paragraphs}</body></html>"
    page, facts = prepare(html, identify, url)
    return page, replace(facts, charset=facts.charset or found)


def handed_over(payload: bytes, url: str | None, charset: str | None = None) -> Record:
    """The record of a page given by a caller, not by an archive; a file of another kind gets a status."""
    record = Record(None, url, "", 0, len(payload), payload, http_charset=charset)
    is_packed = payload.startswith(compression.GZIP_MAGIC) and charset is None
    other = "application/gzip" if is_packed else file_types.binary_type(payload[:512])
    return replace(record, payload=None, status="not_html", reason=other) if other else record
