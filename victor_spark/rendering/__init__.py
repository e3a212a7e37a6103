"""The forms of a cleaned page: its structure as columns, and Markdown, HTML, TEI and text made from them."""

import sys

sys.modules[f"cython.cimports.{__name__}"] = sys.modules[__name__]  # where uncompiled kernels look for `num`
