"""NCleaner in the settings of Lejeune and Zhu (2018): as it comes, and trained on 5 and on 25 pages."""

from typing import Final

from research import FOLDER
from victor_spark.extractors import CLEANERS, MODELS

SETTINGS: Final = {"ncleaner-2008": "english", "ncleaner-5": "pairs-5", "ncleaner-25": "pairs-25"}
"""Name of the cleaner → its folder in research/models/ncleaner."""


def add() -> None:
    """Adds the settings to the cleaners of this process. Child processes call it again."""
    for name, folder in SETTINGS.items():
        CLEANERS[name] = CLEANERS["ncleaner"]
        MODELS[name] = str(FOLDER / "models" / "ncleaner" / folder)
