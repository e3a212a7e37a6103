"""Studies, reproductions of papers, comparisons with other tools, and the documents made from them."""

from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
RESULTS: Final = FOLDER / "results" / "victor-3"
"""Results of studies of the model that `victor` uses."""
