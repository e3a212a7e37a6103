"""Imported for its effect: benchmarks then find `research` and `tests` in the checkout, wherever they run."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
