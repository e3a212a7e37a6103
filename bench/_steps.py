"""What each step from a record to its text costs: the pipeline's own functions, one after the other."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from resiliparse.parse.html import HTMLTree

from victor_spark import pipeline
from victor_spark.archive import records
from victor_spark.archive.inputs import Shard
from victor_spark.cleaners import MODELS
from victor_spark.crf import decision, revision
from victor_spark.crf import decode as crf
from victor_spark.crf.model import from_bytes
from victor_spark.html import canonical
from victor_spark.html.charset import decode
from victor_spark.html.segment import segment
from victor_spark.kernels import preclean
from victor_spark.langid.pages import linguist

KNOWN: Final[dict[str, float | None]] = {
    "read": 0.13,
    "decode": 0.09,
    "cap": None,
    "parse": 0.41,
    "serialise": 0.32,
    "preclean": 0.10,
    "segment": 0.28,
    "language": 0.55,
    "features": None,
    "first trees": None,
    "CRF": 0.04,
    "context": None,
    "last trees": None,
    "decide": None,
    "text": None,
}
"""Step → milliseconds for 100 kB of html that it took when ways to do it were compared, on an idle machine.

Measured on 1,000 pages of 117 kB, and of 93 kB for serialise and preclean. segment: a compiled scan, and
the classes of characters; language: Beesley and Cavnar-Trenkle; CRF: a compiled forward–backward alone, here
with bins and state scores.
"""


def spent(shards: Sequence[Shard]) -> tuple[dict[str, float], int]:
    """Seconds of CPU time by step, and the number of records; every record passes all steps in turn."""
    settings = pipeline.Settings()
    models = pipeline.models(settings)
    model, look = from_bytes(models[MODELS[settings.cleaner]]), linguist(models[pipeline.PROFILES])
    seconds: Counter[str] = Counter()
    n_records, last = 0, time.process_time()

    def lap(step: str) -> None:
        nonlocal last
        seconds[step] += time.process_time() - last
        last = time.process_time()

    for shard in shards:
        for record in records.read(shard):
            lap("read")
            n_records += 1
            if record.payload is None or record.status is not None:
                continue
            markup, _ = decode(record.payload, record.http_charset)
            lap("decode")
            capped = canonical.capped(markup)
            lap("cap")
            tree = HTMLTree.parse(capped)
            lap("parse")
            html = tree.document.html
            lap("serialise")
            html = preclean.drop_textless(html)
            lap("preclean")
            blocks = segment(html)
            lap("segment")
            blocks, _ = look(blocks)
            lap("language")
            own = model.table.values(blocks)
            lap("features")
            values = np.vstack([own, model.first(own)])
            lap("first trees")
            chain = crf.chain_marginals(model, values)
            lap("CRF")
            rows = revision.features(blocks, values, chain)
            lap("context")
            probabilities = revision.revised(model.last, rows, chain, decision.n_words(blocks))
            lap("last trees")
            kept = decision.by_expected_f1(probabilities, decision.n_words(blocks))
            lap("decide")
            pipeline.plain_text(blocks, kept)
            lap("text")
    return {step: seconds[step] for step in KNOWN}, n_records
