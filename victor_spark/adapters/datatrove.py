"""A step of datatrove's pipelines that cleans html, in the place of `Trafilatura`."""

from dataclasses import replace
from typing import Any

from datatrove.data import DocumentsPipeline
from datatrove.pipeline.extractors.base import BaseExtractor

import victor_spark
from victor_spark.adapters import page
from victor_spark.extractors.victor import NAME


class VictorExtractor(BaseExtractor):  # type: ignore[misc] # datatrove has no annotations
    """Replaces html by the text worth keeping; documents without such text are dropped and counted.

    `timeout`: seconds per document; slower ones are dropped. `form`: one of `document.FORMS`. `options`: as
    in `victor_spark.load`. The metadata get `language` (None: too little text), `title` and `expected_f1`.
    """

    name = "⛏ victor-spark"

    def __init__(
        self, cleaner: str = NAME, *, timeout: float = 20, form: str = "text", **options: Any
    ) -> None:
        super().__init__(timeout)
        self.form = form
        self.clean = victor_spark.load(cleaner, **options)
        self.clean(b"").render(form)  # raises ValueError for an unknown form

    def extract(self, text: str, url: str | None = None) -> str:
        """The text of a page, "" if none is kept."""
        document = self.clean(page(text), url)
        kept = _Kept(document.render(self.form) if document.status == "ok" else "")
        kept.facts = {name: getattr(document, name) for name in ("language", "title", "expected_f1")}
        return kept

    def run(self, data: DocumentsPipeline, rank: int = 0, world_size: int = 1) -> DocumentsPipeline:
        """The documents with text."""
        pages = (replace(one, text=(one.text, one.metadata.get("url"))) for one in data)  # for `extract`
        for document in super().run(pages, rank, world_size):
            document.metadata |= document.text.facts
            document.text = str(document.text)
            yield document


class _Kept(str):
    """A text with facts about its page: `extract` runs in another process and gives text only."""

    __slots__ = ("facts",)
    facts: dict[str, Any]
