"""The page's own style sheets, made harmless: they load nothing, and nothing stays in the reader's way."""

import re
from collections.abc import Iterable
from typing import Final

MAX_LENGTH: Final = 1 << 20

_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_IMPORT: Final = re.compile(r"@(?:import|charset|namespace)\b[^;{}]*;?", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"""\b(?:url|src)\(\s*(?:"[^"\n]*"|'[^'\n]*'|[^)"']*)\s*\)""", re.IGNORECASE)
_LOADS: Final = re.compile(
    r"\b(url|src|image|image-set|cross-fade|element|paint|expression)\s*\(", re.IGNORECASE
)
_OVERLAY: Final = re.compile(r"(\bposition\s*:\s*)(?:fixed|-webkit-sticky|sticky)\b", re.IGNORECASE)


def harmless(css: str) -> str:
    """CSS without addresses, imports, escapes and mark-up; what was fixed to the window stands in its
    place in the page.
    """
    css = css.replace("\\", "").replace("<", "").replace("\0", "")
    css = _COMMENT.sub(" ", css)
    css = _IMPORT.sub(" ", css)
    css = _ADDRESS.sub("none", css)
    css = _LOADS.sub("v-none(", css)
    return _OVERLAY.sub(r"\1static", css)


def joined(sheets: Iterable[str]) -> str:
    """The `style` elements of a page as one harmless sheet; each closed, so that none reaches into the
    next.
    """
    css = "\n".join(_closed(harmless(sheet)) for sheet in sheets)
    return css if len(css) <= MAX_LENGTH else ""


def _closed(css: str) -> str:
    return css + "}" * max(0, css.count("{") - css.count("}"))
