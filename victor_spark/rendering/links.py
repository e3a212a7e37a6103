"""Addresses of links and images: resolved, lazily loaded ones too; and the language of a listing."""

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from html import unescape
from itertools import pairwise
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

from victor_spark.blocks import Blocks
from victor_spark.html.tags import has, occurrences
from victor_spark.rendering.names import names
from victor_spark.rendering.num import KIND

if TYPE_CHECKING:
    from victor_spark.rendering.structure import Structure

_ATTRIBUTE: Final = re.compile(r' ([\w:.-]+)="([^"]*)"')
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_BASE: Final = re.compile(rb"<base\s[^<>]*?href\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)
_LONGEST_BASE: Final = 2048
"""Characters before a query, as in a sitemap: every relative address of the page repeats them."""
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")


class Links:
    """Resolves the addresses of a page."""

    def __init__(self, url: str | None, markup: Callable[[], bytes] | None, blocks: Blocks) -> None:
        self._url = url or ""
        self._markup = markup
        self._blocks = blocks

    def _source_with(self, element: str) -> bytes:
        """The source of the page if it has such an element, else b""."""
        return self._markup() if self._markup is not None and has(self._blocks, element) else b""

    @cached_property
    def _base(self) -> str:
        """The address that relative ones are relative to; "" where the page's is unknown or too long."""
        base = self._url
        if found := _BASE.search(self._source_with("base")[:100_000]):
            with suppress(ValueError):  # an invalid base is ignored, as in browsers
                base = urljoin(base, unescape(found[1].decode("utf-8", "replace")))
        return base if len(base.partition("?")[0]) <= _LONGEST_BASE else ""

    @cached_property
    def _origin(self) -> str:
        """Scheme and host of the base; ValueError if it is invalid."""
        return urljoin(self._base, "/")[:-1]

    def address(self, written: str) -> str | None:
        """The resolved form of an address; None for "", for a script and for a place in the page itself."""
        written = (written if written.isprintable() else _CONTROL.sub("", written)).strip()
        if not written or written[0] == "#":
            return None
        scheme = _SCHEME.match(written)
        if scheme and scheme[0][:-1].lower() not in names().schemes:
            return None
        if not scheme:
            is_path = written[0] == "/" and written[1:2] != "/"
            try:
                written = self._origin + written if is_path else urljoin(self._base, written)
            except ValueError:  # an invalid address stays as it is
                return written
        page = self._url.partition("#")[0] if "#" in written else ""
        return None if page and written.partition("#")[0] == page else written

    @cached_property
    def pictures(self) -> list[str]:
        """The largest image of each `picture` of the page's source, which ends where the next one begins.

        It is of the first `source` that states one; "" without one. Canonical HTML has no such elements.
        """
        source = self._source_with("source")
        lower = source.lower()  # an expression that ignores case takes fifty times as long
        found = []
        for at, after in pairwise([*occurrences(lower, b"<picture"), len(source)]):
            end = lower.find(b"</picture", at, after)
            markup = source[at : end if end >= 0 else after].decode("utf-8", "replace")
            sets = (_of_set(unescape(stated)) for stated in _SOURCE_SET.findall(markup))
            found.append(next(filter(None, sets), ""))
        return found


FORMULA: Final = re.compile(
    r"latex\.codecogs|/math/render/|latex\.php|mathtex|mimetex|/render_tex|mwe-math|tex2img|[?&](?:tex|latex)=|"
    r' class="[^"]*\b(?:latex|tex|math|formula)\b| alt="(?:\$[^"$]+\$"|\\[(\[]|\\begin\{)'
)
MAY_BE_FORMULA: Final = ("tex", "math", "formula", ' alt="$', ' alt="\\')
"""What a tag has that FORMULA matches: looked for first, which takes a tenth of the time."""
_SETS: Final = ("srcset", "data-srcset", "data-lazy-srcset", "data-sizes-srcset")
_PLACEHOLDER: Final = re.compile(
    r"(?<![^/_-])(?:placeholder|blank|spacer|transparent|1x1|pixel|loading|lazy|grey|clear)(?:[._-]?\d+)*+\.(?:gif|png|svg|jpe?g)",
    re.IGNORECASE,
)
_TRACKERS: Final = ("doubleclick", "scorecardresearch", "gravatar.com")
_TRACKING: Final = re.compile(
    r"/(?:(?:pixel|beacon|track|count(?:er)?)s?[./?]|stats?(?:\.(?!png|jpe?g|svg)|\?)"
    r"|(?:smil(?:e|ey|ie)s?|emojis?|emoticons?|icons?|buttons?)/|(?:(?:fav)?icon|btn|spacer|bullet|arrow|smiley)[\w-]*\.)"
)
_BUTTON: Final = re.compile(
    r"\.(?:(?<=Button\.)|(?<=[_-]icon\.)|(?<=[_-]btn\.)|(?<=[_-]button\.))(?:gif|png|svg)"
)
IMAGE_ADDRESS: Final = re.compile(r"[^?]*\.(?:jpe?g|png|gif|webp|avif|svg)(?:\?|$)", re.IGNORECASE)
_SMALLEST: Final = 33
_THINNEST: Final = 6
"""Pixels: images with smaller sides, or with a thinner one and no text, are icons, lines and spacers."""
_SIZE: Final = re.compile(r"\s*(\d{1,6})(?:\.\d*)?(?:px|\s*$)")
_CANDIDATE: Final = re.compile(r"([^\s,]\S*+)(?:(?<!,)\s++(?:(\d++(?:\.\d*+)?)[wxh])?+([^,]*+))?+")
"""A candidate of a `srcset`: its address and the commas after it, its width or density, other descriptors."""
_SOURCE_SET: Final = re.compile(r"""<source\s[^<>]*?srcset\s*=\s*["']([^"']*)""", re.IGNORECASE)


def image(page: "Structure", row: int) -> tuple[str, str] | None:
    """The address and the text of an image; None if it shows nothing or is a decoration."""
    s, found = page.s, dict(_ATTRIBUTE.findall(page.tag(row)))
    written, alt = unescape(found.get("src", "")).strip(), unescape(found.get("alt", ""))
    stated = [_SIZE.match(unescape(found[name])) for name in ("width", "height") if name in found]
    sizes = [int(size[1]) for size in stated if size]
    if sizes and (max(sizes) < _SMALLEST or (0 < min(sizes) < _THINNEST and not alt)):
        return None
    if any(name in written for name in _TRACKERS) or _TRACKING.search(written) or _BUTTON.search(written):
        return None
    is_in_page = written.startswith(("data:", "about:", "#"))
    if is_in_page or _PLACEHOLDER.search(written, written.rfind("/") + 1):  # scripts replace it
        written = ""
    around = s.parent.item(row)
    kind_around = s.kind.item(around)
    if not written or not found.keys().isdisjoint(names().lazy[:4]):
        stated_lazily = (unescape(found[name]) for name in names().lazy if name in found)
        lazy = next((address for address in stated_lazily if address.strip()), "")
        lazy = lazy or next((best for name in _SETS if (best := _of_set(unescape(found.get(name, ""))))), "")
        if not lazy and kind_around == KIND["picture"]:
            number, largest = int(page.pictures.searchsorted(around)), page.links.pictures
            lazy = largest[number] if number < len(largest) else ""
        written = lazy or written
    address = page.links.address(written) if written else None
    if address is None:
        return None
    if kind_around == KIND["noscript"] and page.last_image >= row - 4:
        return None  # what scripts show in its place stands before it
    key = address.split("?")[0] if IMAGE_ADDRESS.match(address) else address
    if page.shown_images.get(key, -9) >= row - 8:  # lazily loaded ones stand twice
        return None
    page.shown_images[key] = page.last_image = row
    if kind_around == KIND["a"]:
        target = page.links.address(page.attribute(around, "href"))
        page.shown_images[target or key] = row  # a larger one that the link leads to
    return address, " ".join(alt.split())


def _of_set(candidates: str) -> str:
    """The largest image of a `srcset`."""
    found = [
        (float(size or 1), address.rstrip(","))
        for address, size, more in _CANDIDATE.findall(candidates)
        if address[:5] != "data:" and (size or not more.strip())
    ]
    return max(found, key=lambda one: one[0], default=(0, ""))[1]


_LANGUAGE: Final = re.compile(
    r'[ "](?:(?:language|lang|highlight-source|highlight|sourceCode|src|prism)[-_:]|brush: ?)'
    r"([a-zA-Z][\w+#]*(?:-(?:lisp|c|session)\b)?)"
)
_STATED: Final = re.compile(r' (?:data-(?:code-|enlighter-)?)?lang(?:uage)?="([a-zA-Z][\w+#.-]*)"')


def language(page: "Structure", row: int) -> str:
    """The language that a listing, the `code` inside it or an element close around it states, or ""."""
    s, most = page.s, 3 * (page.size(row) + 30)
    rows = [row, *range(row + 1, min(page.after(row), row + 4))]
    up = s.parent.item(row)
    while up >= 0 and len(rows) < 8 and page.size(up) <= most:
        rows.append(up)
        up = s.parent.item(up)
    for at in rows:
        tag = page.tag(at)
        for found in (*_STATED.finditer(tag), *_LANGUAGE.finditer(tag)):
            name: str = found[1].lower()
            if name not in names().no_languages and (" lang=" not in found[0] or name in names().languages):
                return name
        if s.kind.item(at) != KIND["other"]:  # words of a highlighter's `span` are kinds of tokens
            for word in page.attribute(at, "class").lower().split():
                if word in names().languages and (word != "markdown" or s.kind.item(at) != KIND["block"]):
                    return word
    return ""
