"""How far the classifier depends on paragraphs: texts without their first line, and in one paragraph."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from research import extrinsic, findings
from research.extrinsic import Counts
from victor_spark import pipeline
from victor_spark.evaluation import measuring
from victor_spark.evaluation.gold import GoldPage
from victor_spark.settings import Settings

FORMS: Final[Mapping[str, Callable[[str], str]]] = {
    "as it is": lambda text: text,
    "without its first line": lambda text: text.partition("\n")[2],
    "in one paragraph": lambda text: " ".join(text.split("\n")),
}


def by_form(pages: Sequence[GoldPage], cleaner: str | None) -> dict[str, Counts]:
    """Form → counts over all pages, of the texts of a cleaner; None: of the gold texts."""
    texts = [page.gold or "" for page in pages] if cleaner is None else _texts(pages, cleaner)
    wanted = extrinsic.relevant(pages)
    reference = extrinsic.reference(pages)
    return {
        form: extrinsic.counts(
            (
                replace(row, evidence=findings.evidence(page, change(text)))
                for row, page, text in zip(reference, pages, texts, strict=True)
            ),
            wanted,
        )
        for form, change in FORMS.items()
    }


def _texts(pages: Sequence[GoldPage], cleaner: str) -> list[str]:
    clean = measuring.cleaner(cleaner, pipeline.models(Settings(cleaner)))
    return [clean(page).text for page in pages]
