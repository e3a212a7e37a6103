"""CPU time of each step from a record to its text: the pipeline's own functions, one after the other."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from resiliparse.parse.html import HTMLTree

from victor_html.parse import parse
from victor_spark import pipeline
from victor_spark.extractors import MODELS, victor
from victor_spark.html import canonical
from victor_spark.html.charset import as_utf8
from victor_spark.html.segment import segment
from victor_spark.langid.pages import page_identifier
from victor_spark.model import crf, decision, revision
from victor_spark.model.files import from_bytes
from victor_spark.rendering.plain import plain_text
from victor_spark.settings import Settings
from victor_spark.warc import reading
from victor_spark.warc.shard import Shard

STEPS: Final = (
    "read",
    "charset",
    "parse",
    "segment",
    "language",
    "features",
    "first trees",
    "CRF",
    "context",
    "last trees",
    "decide",
    "text",
)
"""The steps from a record to its text, in their order."""

FLOOR: Final = "parse by the library"
"""The minimum beside reading: the parser library's tree of the page."""


def spent(shards: Sequence[Shard]) -> tuple[dict[str, float], int]:
    """Seconds of CPU time by step, and the number of records; every record passes all steps in turn."""
    settings = Settings()
    models = pipeline.models(settings)
    model, look = (
        from_bytes(models[MODELS[settings.cleaner]]),
        page_identifier(models[pipeline.PROFILES], block_features=False),
    )
    seconds: Counter[str] = Counter()
    n_records, last = 0, time.process_time()

    def lap(step: str) -> None:
        nonlocal last
        seconds[step] += time.process_time() - last
        last = time.process_time()

    for shard in shards:
        for record in reading.read(shard):
            lap("read")
            n_records += 1
            if record.payload is None or record.status is not None:
                continue
            markup, *_ = as_utf8(record.payload, record.http_charset)
            lap("charset")
            html, elements = parse(markup)
            html = canonical.by_library(markup.decode()) if html is None else html
            lap("parse")
            HTMLTree.parse(markup.decode())
            lap(FLOOR)
            blocks = segment(html, elements)
            lap("segment")
            blocks, _ = look(blocks)
            lap("language")
            if not len(blocks):
                continue
            own = model.table.values(blocks, model.weights)
            lap("features")
            values = np.vstack([own, model.first(own)])
            lap("first trees")
            chain = crf.chain_marginals(model, values)
            lap("CRF")
            rows = revision.features(blocks, values, chain)
            lap("context")
            probabilities = revision.revised(model.last, rows, chain, decision.n_words(blocks))
            lap("last trees")
            kept = victor.scores(probabilities, blocks).kept
            lap("decide")
            plain_text(blocks, kept, html)
            lap("text")
    return {step: seconds[step] for step in (*STEPS, FLOOR)}, n_records
