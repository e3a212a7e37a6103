"""For tests alone, on the PYTHONPATH of a run: pages do to their process what their text says.

Python imports this by itself. Where VICTOR_TEST_DEEDS names a folder, `pipeline.cleaning` is wrapped as soon
as somebody imports it: the product knows nothing of tests.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

WRAPPED = "victor_spark.pipeline"


class _Finder(importlib.abc.MetaPathFinder):
    """Finds one module as anybody would, and changes it once it is loaded."""

    def find_spec(self, fullname, _path, _target=None):
        if fullname != WRAPPED:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            cleaning = module.cleaning

            def wrapped(settings, *others):
                from tests.cluster.deeds import doing  # late, as it imports what imports the pipeline

                return doing(cleaning(settings, *others), settings)

            module.cleaning = wrapped

        spec.loader.exec_module = exec_module
        return spec


if os.environ.get("VICTOR_TEST_DEEDS"):
    sys.meta_path.insert(0, _Finder())
