"""Our HTML parser: UTF-8 markup → canonical HTML. Imports nothing of victor_spark (README.md)."""

import sys

sys.modules[f"cython.cimports.{__name__}"] = sys.modules[__name__]  # where uncompiled kernels look for `num`
