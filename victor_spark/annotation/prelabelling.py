"""The current model's labels of the store's pages: what annotators begin with, and where it is unsure."""

import hashlib
from dataclasses import dataclass

from victor_spark import pipeline, preparation
from victor_spark.annotation import pages
from victor_spark.annotation.pages import Prelabel
from victor_spark.annotation.store import Store
from victor_spark.blocks import Page, labels
from victor_spark.extractors import load
from victor_spark.extractors.victor import reads_language
from victor_spark.langid.pages import Linguist, linguist
from victor_spark.model.decision import n_words
from victor_spark.pipeline import PROFILES, Settings


@dataclass(frozen=True)
class Assistant:
    """A loaded model: its name, how it looks at languages, and what it says of a page."""

    name: str
    look: Linguist
    prelabel: Prelabel


def assistant(settings: Settings) -> Assistant:
    """The cleaner of these settings as a source of prelabels."""
    models = pipeline.models(settings)
    cleaner = load(settings.cleaner, models)
    digest = hashlib.sha256(b"".join(models[name] for name in sorted(models))).hexdigest()
    name = f"{settings.model or settings.cleaner} {digest[:8]}"
    needs_language = any(reads_language(model) for key, model in models.items() if key.startswith("crf/"))

    def prelabel(page: Page) -> pages.Prelabels:
        scores = cleaner(page)
        found = labels(scores, scores.kept).tolist()
        return pages.as_prelabels(name, scores.probabilities, found, n_words(page.blocks))

    return Assistant(name, linguist(models[PROFILES], block_features=needs_language), prelabel)


def renew(store: Store, predictor: Assistant) -> int:
    """Labels anew, with this model, the pages that an older one labelled and nobody has begun; how many."""
    rows = store.rows(
        "SELECT page.id, page.url, page.n_blocks FROM page LEFT JOIN prelabel ON prelabel.page = page.id"
        " WHERE NOT practice AND coalesce(prelabel.model, '') != ?"
        " AND NOT EXISTS (SELECT 1 FROM annotation WHERE annotation.page = page.id) ORDER BY page.id",
        predictor.name,
    )
    n_renewed = 0
    for row in rows:
        page, _ = preparation.prepare(pages.content(store, row["id"]).markup, predictor.look, row["url"])
        if len(page.blocks) != row["n_blocks"]:
            continue  # imported by another version of the segmentation: its offsets stay what they are
        with store.writing() as connection:
            pages.set_prelabels(connection, row["id"], predictor.prelabel(page))
        n_renewed += 1
    return n_renewed
