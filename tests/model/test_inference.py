"""Cleaning does not need the packages for training."""

import subprocess
import sys


def test_cleaning_imports_no_library_and_no_module_of_training() -> None:
    script = """
import sys
for name in ("catboost", "pycrfsuite", "scipy", "sklearn", "victor_spark.train"):
    sys.modules[name] = None  # importing it raises ImportError
import victor_spark
page = "<h1>Storm</h1>" + "<p>A whole sentence, of many words, that belongs to the story of the page.</p>" * 3
for cleaner in ("victor", "victor-2008", "ncleaner", "kimatu+line-block"):
    assert victor_spark.clean(page, cleaner=cleaner).status == "ok", cleaner
"""
    subprocess.run([sys.executable, "-c", script], check=True)
