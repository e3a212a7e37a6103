"""A quick model trained without the sites of some sets, to measure a trained cleaner on unseen sites."""

from collections.abc import Collection
from pathlib import Path
from typing import Final

from research import sample
from victor_spark import resources
from victor_spark.evaluation import crf, gold, labelling
from victor_spark.logs import track
from victor_spark.model import files as model_files
from victor_spark.model.features import from_conf
from victor_spark.train.crfsuite import TrainingOptions

MAX_ITERATIONS: Final = 60
PAGES_PER_SET: Final = 60
"""Both as in the gate."""


def model(directory: Path, folder: str, without: Collection[str]) -> bytes:
    """A CRF with the feature set of models/`folder`, from the gate's sample of all sets but these.

    Pages of other sets that come from the same sites are left out too.
    """
    sites = {gold.site(page) for name in without for page in gold.read(gold.find(directory, [name])[name])}
    pages = [page for page in sample.fixed_sample(directory, PAGES_PER_SET) if page.set not in without]
    usable = [page for page in pages if gold.site(page) not in sites and gold.usable(page)]
    labelled = [
        page
        for page in map(labelling.label, track(usable, "labelling other sets", len(usable)))
        if labelling.trainable(page)
    ]
    shipped = model_files.from_bytes(model_files.read_bytes(resources.directory("models") / folder), folder)
    table = from_conf(shipped.table.feature_set)
    return model_files.to_bytes(crf.train(labelled, table, TrainingOptions(max_iterations=MAX_ITERATIONS)))
