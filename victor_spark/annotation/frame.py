"""Canonical HTML → the page as the frame shows it: it keeps its looks, is inactive, and marks each block.

Nothing of the page is trusted: only tags and attributes listed here are written. So nothing can load, run,
submit or navigate, and the browser's parser gets no raw text, no foreign elements and no addresses. The
Content-Security-Policy of the answer (annotation/serving.py) forbids them a second time.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from html import escape, unescape
from pathlib import Path
from typing import Final

from victor_spark.errors import AnnotationError
from victor_spark.html.tags import VOID

STATIC: Final = Path(__file__).resolve().parent / "static"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KEPT: Final = _words(
    "a abbr acronym address article aside b bdi bdo big blockquote br caption center cite code col colgroup"
    " dd del dfn dir div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i ins kbd"
    " label li main mark menu nav nobr ol p pre q rb rp rt rtc ruby s samp section small span strike strong"
    " sub sup table tbody td tfoot th thead time tr tt u ul var wbr"
)
"""Tags that only affect layout."""

RENAMED: Final = _words(
    "button details dialog fieldset form img input legend marquee noscript optgroup option select summary"
    " textarea"
)
"""Active tags: they become v-NAME, which looks alike (static/page.css). All others become v-x."""

GONE: Final = _words("html head body frameset frame area param source track bgsound basefont keygen")
_VOID: Final = KEPT & VOID
_EMPTY: Final = RENAMED & VOID

ATTRIBUTES: Final = _words(
    "align bgcolor border cellpadding cellspacing class color colspan dir face height id lang nowrap rowspan"
    " size start title type valign value width"
)
"""Attributes that only affect looks; `style` and `hidden` are kept unless the view is plain."""

_OWN: Final = ("v-", "vb-", "victor-")
"""How classes and ids of ours begin; a page's own are removed, so that scripts do not take them for ours."""

_TAG: Final = re.compile(r"<(/?)([^\s/>]*)([^>]*)>")
_ATTRIBUTE: Final = re.compile(r'\s([^\s=>]+)="([^"]*)"')

MAX_CSS: Final = 1 << 20

_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_IMPORT: Final = re.compile(r"@(?:import|charset|namespace)\b[^;{}]*;?", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"""\b(?:url|src)\(\s*+(?:"[^"\n]*"|'[^'\n]*'|[^()"']*+)\s*+\)""", re.IGNORECASE)
_LOADS: Final = re.compile(r"(?i)\b(url|src|image|image-set|cross-fade|element|paint|expression)\s*\(")
_OVERLAY: Final = re.compile(r"(\bposition\s*:\s*)(?:fixed|-webkit-sticky|sticky)\b", re.IGNORECASE)


def render(
    html: str,
    blocks: Sequence[tuple[int, int]],
    *,
    kind: str = "frame",
    styles: str = "",
    nonce: str = "",
    plain: bool = False,
    title: str = "page",
    head: str = "",
    before: str = "",
    after: str = "",
) -> str:
    """The document for the frame: `blocks` (start, end in code points of `html`) wrapped in v-b elements.

    `kind`: the name of our script and style sheet in static/. `styles` is the page's own style sheet
    (`harmless_sheet`). With `plain`, the page's own styles are left out, and hidden elements are shown.
    `head` is markup for the head, `before` and `after` for the body.
    """
    tags = (re.search(rf"<{name}((?:\s[^>]*)?)>", html) for name in ("html", "body"))
    root, body = ("".join(_attributes(tag[1], plain=plain)) if tag else "" for tag in tags)
    own = "" if plain else f"<style>{styles}</style>\n"
    sheets = text_of_file("page.css") + text_of_file(f"{kind}.css")
    classes = "v-plain" if plain else "v-page"
    if ' class="' in body:
        body = body.replace(' class="', f' class="{classes} ', 1)
    else:
        body += f' class="{classes}"'
    return (
        f"<!DOCTYPE html>\n<html{root}>\n<head>\n"
        f'<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>{head}\n{own}<style>{sheets}</style>\n</head>\n"
        f"<body{body}>{before}{''.join(_content(html, blocks, plain=plain))}\n"
        f'{after}<script nonce="{nonce}">{text_of_file(f"{kind}.js")}</script>\n</body>\n</html>\n'
    )


def text_of_file(name: str) -> str:
    """The text of one of our files; it must not end the element that it is put into."""
    text = (STATIC / name).read_text(encoding="utf-8")
    if "</script" in text.lower() or "</style" in text.lower() or "<!--" in text:
        raise AnnotationError(f"{name} cannot be put into a page", "internal")
    return text


def _content(html: str, blocks: Sequence[tuple[int, int]], *, plain: bool) -> Iterator[str]:
    """The body: permitted tags, text unchanged, blocks in v-b elements."""
    block, done, in_title = 0, 0, False
    for tag in _TAG.finditer(html):
        start = tag.start()
        while block < len(blocks) and blocks[block][0] < start:
            first, end = blocks[block]
            yield _text(html[done:first])
            yield f'<v-b id="vb-{block}" data-b="{block}">{_text(html[first:end])}</v-b>'
            done, block = end, block + 1
        if done < start and not in_title:
            yield _text(html[done:start])
        if tag[2] == "title":
            in_title = not tag[1]
        else:
            yield _tag(tag[1], tag[2], tag[3], plain)
        done = tag.end()


def _text(text: str) -> str:
    """Text of canonical HTML is escaped already; escaping again guards against a bug."""
    return text.replace("<", "&lt;").replace(">", "&gt;") if "<" in text or ">" in text else text


@lru_cache(maxsize=8192)
def _tag(closing: str, name: str, attributes: str, plain: bool) -> str:
    """One tag for the frame, "" for a removed one."""
    if name in GONE or not name or name[0] in "!?":
        return ""
    shown = name if name in KEPT else f"v-{name}" if name in RENAMED else "v-x"
    if closing:
        return "" if name in _VOID or name in _EMPTY else f"</{shown}>"
    kept = "".join(_placeholder(attributes) if name in _EMPTY else _attributes(attributes, plain=plain))
    return f"<{shown}{kept}></{shown}>" if name in _EMPTY else f"<{shown}{kept}>"


def _attributes(source: str, *, plain: bool) -> Iterator[str]:
    for name, written in _ATTRIBUTE.findall(source):
        value = unescape(written)
        if name == "class":
            value = " ".join(word for word in value.split() if not word.startswith(_OWN))
        elif name == "style" and not plain:
            value = harmless_css(value)
        elif name == "hidden" and not plain:
            value = ""
        elif name not in ATTRIBUTES or (name == "id" and value.startswith(_OWN)):
            continue
        yield f' {name}="{escape(value)}"'


def _placeholder(source: str) -> Iterator[str]:
    """Attributes of an image or a field: its alternative text as title, and its size if declared."""
    found = {name: unescape(value) for name, value in _ATTRIBUTE.findall(source)}
    words = found.get("alt") or found.get("value") or found.get("placeholder") or ""
    yield f' title="{escape(words[:200])}"'
    sizes = [(side, found.get(side, "")) for side in ("width", "height")]
    known = [(side, int(size)) for side, size in sizes if re.fullmatch("[0-9]{1,5}", size)]
    css = "; ".join(f"{side}: {min(size, 2000)}px" for side, size in known)
    if css and "src" in found:
        yield f' style="{css}"'


def harmless_css(css: str) -> str:
    """CSS without addresses, imports, escapes and markup; fixed positions become static."""
    css = css.replace("\\", "").replace("<", "").replace("\0", "")
    css = _IMPORT.sub(" ", _COMMENT.sub(" ", css))
    css = _LOADS.sub("v-none(", _ADDRESS.sub("none", css))
    return _OVERLAY.sub(r"\1static", css)


def harmless_sheet(sheets: Iterable[str]) -> str:
    """The `style` elements of a page as one harmless sheet; unclosed braces of each are closed."""
    parts = map(harmless_css, sheets)
    css = "\n".join(part + "}" * max(0, part.count("{") - part.count("}")) for part in parts)
    return css if len(css) <= MAX_CSS else ""
