"""What one page goes through, from bytes to Document, without Spark."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from victor_spark.cleaners import CLEANERS, MODELS, Cleaner, check_name
from victor_spark.crf import decision
from victor_spark.crf.model import read_bytes
from victor_spark.errors import UsageError
from victor_spark.html.canonical import Canonical, canonical
from victor_spark.html.characters import properties
from victor_spark.html.segment import segment
from victor_spark.kernels import assemble
from victor_spark.page import LABELS, OTHER, Blocks, Bool, Document, Page, Record, Scores, no_blocks
from victor_spark.resources import directory


@dataclass(frozen=True, slots=True)
class Settings:
    """How pages are cleaned; equal settings and models give equal documents.

    `threshold`: keep a block when P(other) is below it; None: the cleaner's own decision.
    `model`: a model directory instead of the cleaner's own.
    """

    cleaner: str = "victor"
    threshold: float | None = None
    model: str | None = None


def models(settings: Settings) -> dict[str, bytes]:
    """The bytes of every model the settings need, by name: read once, sent to every process.

    Raises UsageError for settings that make no sense and ModelError for a bad model, so that
    nothing of that kind can happen at the first page.
    """
    check_name(settings.cleaner)
    if settings.threshold is not None and not 0.0 <= settings.threshold <= 1.0:
        raise UsageError(f"the threshold is a probability between 0 and 1, not {settings.threshold}")
    name = MODELS[settings.cleaner]
    path = Path(settings.model) if settings.model else directory("models") / name
    needed = {name: read_bytes(path)}
    CLEANERS[settings.cleaner](needed[name])
    return needed


def cleaning(settings: Settings, models: Mapping[str, bytes]) -> Callable[[Record], Document]:
    """The function that cleans one record; it answers any fault of a page with a status."""
    cleaner = CLEANERS[settings.cleaner](models[MODELS[settings.cleaner]])

    def clean(record: Record) -> Document:
        if record.status is not None or record.payload is None:
            return _dropped(record, settings, record.status or "error", record.reason)
        try:
            return _clean_page(record, record.payload, cleaner, settings)
        except MemoryError:
            return _dropped(record, settings, "out_of_memory", "MemoryError")
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - a panic in native code is no Exception
            return _dropped(record, settings, "error", f"{type(error).__name__}: {error}"[:500])

    return clean


def clean(
    html: bytes | str, url: str | None = None, cleaner: str = "victor", threshold: float | None = None
) -> Document:
    """Cleans one page: the text worth keeping, and the reason for every block kept or dropped.

    `html` is the page's bytes, or a string; `threshold` keeps blocks with P(other) below it (None:
    the cleaner's own decision). A page without content gives a document whose `status` says why.
    Raises TypeError for other types, UsageError for an unknown cleaner or a threshold outside 0..1.
    """
    if not isinstance(html, bytes | str):
        raise TypeError(f"html must be bytes or str, not {type(html).__name__}")
    payload = html if isinstance(html, bytes) else html.encode("utf-8", "replace")
    charset = None if isinstance(html, bytes) else "utf-8"
    record = Record(None, url, "", 0, len(payload), payload, http_charset=charset)
    return _loaded(Settings(cleaner, threshold))(record)


@lru_cache(maxsize=8)
def _loaded(settings: Settings) -> Callable[[Record], Document]:
    return cleaning(settings, models(settings))


def _clean_page(record: Record, payload: bytes, cleaner: Cleaner, settings: Settings) -> Document:
    source = canonical(payload, http_charset=record.http_charset)
    page = Page(source.html, segment(source.html), record.url, source.title)
    scores = cleaner(page)
    kept = scores.kept
    if settings.threshold is not None:
        kept = decision.by_threshold(scores.probabilities, settings.threshold)
    return _document(page, source, scores, kept, settings)


def _document(page: Page, source: Canonical, scores: Scores, kept: Bool, settings: Settings) -> Document:
    text = plain_text(page.blocks, kept)
    reason = None if text else "no text block" if not len(page.blocks) else "no block kept"
    return Document(
        status="ok" if text else "empty",
        reason=reason,
        text=text,
        html=page.html,
        title=page.title,
        url=page.url,
        language=page.language,
        language_score=None,
        charset=source.charset,
        cleaner=settings.cleaner,
        columns=page.blocks,
        scores=scores,
        kept=kept,
        p_content=_p_content(page.blocks, scores, kept) if text else None,
        expected_f1=decision.expected_f1(scores.probabilities, decision.n_words(page.blocks), kept),
    )


def plain_text(blocks: Blocks, kept: Bool) -> str:
    """The kept blocks' text, paragraphs separated by newlines."""
    out = np.empty(len(blocks.points) + 1, dtype=np.uint32)
    if not len(blocks):
        return ""
    n = assemble.assemble(
        memoryview(blocks.points),
        memoryview(blocks.text_start),
        memoryview(blocks.text_end),
        memoryview(blocks.paragraph),
        memoryview(blocks.space_before),
        memoryview(blocks.in_pre),
        memoryview(kept.view(np.uint8)),
        memoryview(properties()),
        memoryview(out),
    )
    return out[:n].tobytes().decode("utf-32-le", "replace")


def _p_content(blocks: Blocks, scores: Scores, kept: Bool) -> float:
    """Mean marginal probability of content over the kept text, weighted by characters."""
    n_chars = (blocks.text_end - blocks.text_start)[kept]
    return float(((1.0 - scores.probabilities[kept, OTHER]) * n_chars).sum() / n_chars.sum())


def _dropped(record: Record, settings: Settings, status: str, reason: str | None) -> Document:
    return Document(
        status=status,
        reason=reason,
        text="",
        html="",
        title=None,
        url=record.url,
        language=None,
        language_score=None,
        charset=record.http_charset,
        cleaner=settings.cleaner,
        columns=no_blocks(),
        scores=Scores(np.zeros((0, len(LABELS))), np.zeros(0, dtype=bool)),
        kept=np.zeros(0, dtype=bool),
    )
