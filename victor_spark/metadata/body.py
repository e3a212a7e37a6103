"""The text that a page carries in its JSON-LD, for pages that scripts draw."""

import re
from html import escape, unescape
from typing import Final

from victor_spark.metadata.evidence import Evidence
from victor_spark.metadata.statements import Statements, key
from victor_spark.words import words

_HEAD: Final = 1_000  # characters in which a text may begin with its headline
MIN_WORDS: Final = 30
"""A shorter text is a teaser."""


def body(markup: bytes, url: str | None, title: str | None) -> str | None:
    """The text of the work that the JSON-LD describes, as a page with this title; None where there is none.

    Of several works with texts, only one that is named like the page counts. `markup`: the source in UTF-8.
    """
    if b"ld+json" not in markup:
        return None
    page = Statements(Evidence(markup), url)
    stated = [(work.get("articleBody") or work.get("text"), work) for _, work in page.works]
    found = [(text, work) for text, work in stated if isinstance(text, str) and text.strip()]
    if not found or (len({text for text, _ in found}) > 1 and not page.is_titled(found[0][1])):
        return None
    text, work = found[0]
    if not _TAG.search(text):
        text = unescape(text)
    if not _TAG.search(text):
        text = "".join(f"<p>{escape(line)}</p>" for line in text.splitlines())
    headline = work.get("headline") or work.get("name")
    headline = unescape(headline) if isinstance(headline, str) else ""
    if key(headline) not in key(text[:_HEAD]):
        text = f"<h1>{escape(headline)}</h1>{text}"
    return f"<title>{escape(title or '')}</title><body>{text}"


def is_whole(text: str) -> bool:
    """Whether a text is long enough, and not a teaser that is cut off."""
    return _CUT_OFF.search(text[-_TAIL:]) is None and len(words(text)) >= MIN_WORDS


_TAIL: Final = 40
_CUT_OFF: Final = re.compile(
    r"(?:…|\.\.\.)[\s)\]]*(?:(?:read|continue|show|view|learn)\b.*)?\Z", re.IGNORECASE
)
_TAG: Final = re.compile(
    r"<(?:p|br|div|span|h[1-6]|[uo]l|li|a|b|i|em|strong|figure|img|section|table|blockquote)\b[^<>]*>",
    re.IGNORECASE,
)
