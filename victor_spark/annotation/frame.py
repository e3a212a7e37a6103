"""Canonical HTML → the page as an annotator's frame shows it: looks alive, is dead, every block in its
element.

Nothing of the page is trusted: tags and attributes are those listed here, written anew; whatever would load,
run, submit or navigate has no place to stand. So the browser's parser meets no raw text, no foreign elements
and no addresses. The Content-Security-Policy of the answer (annotation/guard.py) would stop them a second
time.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import escape, unescape
from typing import Final

from victor_spark.annotation import style_sheets


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KEPT: Final = _words(
    """
    a abbr acronym address article aside b bdi bdo big blockquote br caption center cite code col
    colgroup dd del dfn dir div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header
    hgroup hr i ins kbd label li main mark menu nav nobr ol p pre q rb rp rt rtc ruby s samp section
    small span strike strong sub sup table tbody td tfoot th thead time tr tt u ul var wbr
    """
)
"""Tags that browsers lay out and nothing more."""

RENAMED: Final = _words(
    """
    button details dialog fieldset form img input legend marquee noscript optgroup option select
    summary textarea
    """
)
"""Tags that would do something: they become v-NAME, which looks alike (BASE_CSS). All others become v-x."""

GONE: Final = _words(
    """
    html head body frameset frame area param source track bgsound basefont keygen
    """
)
_VOID: Final = frozenset({"br", "col", "hr", "wbr"})
_EMPTY: Final = frozenset({"img", "input"})

ATTRIBUTES: Final = _words(
    """
    align bgcolor border cellpadding cellspacing class color colspan dir face height id lang nowrap
    rowspan size start title type valign value width
    """
)
"""Attributes that only say how something looks; `style` and `hidden` are let through unless the view is
plain."""

_TAG: Final = re.compile(r"<(/?)([^\s/>]*)([^>]*)>")
_ATTRIBUTE: Final = re.compile(r'\s([^\s=>]+)="([^"]*)"')

BASE_CSS: Final = """
html, body { height: auto !important; opacity: 1 !important; visibility: visible !important; }
html { overflow: auto !important; }
body { min-height: 100vh; overflow: visible !important; }
:where(a) { color: #0645ad; text-decoration: underline; }
v-img, v-input, v-button, v-select, v-textarea { display: inline-block; box-sizing: border-box; max-width:
100%;
  vertical-align: middle; }
v-img { min-width: 1em; min-height: 1em; overflow: hidden; border: 1px dashed #bbb; color: #767676;
  background: #f6f6f6; font: 11px/1.3 sans-serif; }
v-img::before { content: attr(title); }
v-input, v-textarea, v-select { border: 1px solid #bbb; min-width: 6em; min-height: 1.4em; padding: 1px 4px;
  color: #767676; background: #fff; }
v-input::before { content: attr(title); }
v-textarea { white-space: pre-wrap; }
v-button { border: 1px solid #999; border-radius: 3px; padding: 1px 8px; background: #eee; color: #222; }
v-form, v-fieldset, v-legend, v-details, v-dialog, v-summary, v-marquee, v-option, v-optgroup, v-noscript {
  display: block; }
v-fieldset { border: 1px solid #ccc; padding: 4px 8px; }
v-b { pointer-events: auto !important; }
"""


def render(
    html: str,
    blocks: Sequence[tuple[int, int]],
    *,
    styles: str = "",
    script: str = "",
    nonce: str = "",
    own_css: str = "",
    plain: bool = False,
) -> str:
    """The document for the frame: `blocks` (start, end in code points of `html`) wrapped in v-b elements.

    `styles` are the page's own style sheets, already made harmless; `script` and `own_css` are ours. With
    `plain` the page's own looks are left out, and what it hides is shown.
    """
    root, body = (_first(html, name, plain=plain) for name in ("html", "body"))
    own = "" if plain else f"<style>{styles}</style>\n"
    classes = "v-plain" if plain else "v-page"
    return (
        f"<!DOCTYPE html>\n<html{root}>\n<head>\n"
        f'<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>page</title>\n{own}<style>{BASE_CSS}{own_css}</style>\n</head>\n"
        f"<body{_with_class(body, classes)}>{''.join(_content(html, blocks, plain=plain))}\n"
        f'<script nonce="{nonce}">{script}</script>\n</body>\n</html>\n'
    )


def _first(html: str, name: str, *, plain: bool) -> str:
    """The attributes of the page's first such tag, as they may stay."""
    found = re.search(rf"<{name}((?:\s[^>]*)?)>", html)
    return "".join(_attributes(found[1], plain=plain)) if found else ""


def _with_class(attributes: str, name: str) -> str:
    if ' class="' in attributes:
        return attributes.replace(' class="', f' class="{name} ', 1)
    return f'{attributes} class="{name}"'


def _content(html: str, blocks: Sequence[tuple[int, int]], *, plain: bool) -> Iterator[str]:
    """The body: tags written anew, text as it is, blocks in their elements."""
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
            yield _tag(tag[0], plain)
        done = tag.end()


def _text(text: str) -> str:
    """Text of canonical HTML is escaped already; what is not would be a fault of ours, not a hole."""
    return text.replace("<", "&lt;").replace(">", "&gt;") if "<" in text or ">" in text else text


@lru_cache(maxsize=8192)
def _tag(source: str, plain: bool) -> str:
    """One tag as the frame has it, "" for those that go."""
    found = _TAG.match(source)
    if found is None:
        return ""
    closing, name, attributes = found.groups()
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
            value = " ".join(word for word in value.split() if not word.startswith("v-"))
        elif name == "style" and not plain:
            value = style_sheets.harmless(value)
        elif name == "hidden" and not plain:
            value = ""
        elif name not in ATTRIBUTES or (name == "id" and value.startswith("vb-")):
            continue
        yield f' {name}="{escape(value)}"'


def _placeholder(source: str) -> Iterator[str]:
    """A picture or a field: its words as a title, its size where it says one."""
    found = {name: unescape(value) for name, value in _ATTRIBUTE.findall(source)}
    words = found.get("alt") or found.get("value") or found.get("placeholder") or ""
    yield f' title="{escape(words[:200])}"'
    sizes = [(side, found.get(side, "")) for side in ("width", "height")]
    said = "; ".join(f"{side}: {min(int(size), 2000)}px" for side, size in sizes if _is_number(size))
    if said and "src" in found:
        yield f' style="{said}"'


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 6
