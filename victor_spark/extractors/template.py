"""The cleaner `template` keeps all of a page's text minus the templates of its site (Foschini, section 3.4).

In a cascade, `template+b`, it removes them before the cleaner b. The templates themselves, and their removal
after any cleaner, are in `templates/`.
"""

from typing import Final

from victor_spark.blocks import Cleaner, by_rule
from victor_spark.templates.coverage import keeps

NAME: Final = "template"


def load() -> Cleaner:
    """The cleaner that keeps blocks with text outside of templates; `taken_out` cuts the templates out."""
    return lambda page: by_rule(keeps(page), page.blocks.heading_level > 0)
