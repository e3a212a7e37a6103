"""Images: which address shows one, lazily loaded ones too; and the language of a listing."""

import re
from typing import TYPE_CHECKING, Final

from victor_spark.rendering.links import attribute, attributes
from victor_spark.rendering.num import KINDS

if TYPE_CHECKING:
    from victor_spark.rendering.structure import Structure

_FORMULA: Final = re.compile(
    r"latex\.codecogs|/math/render/|latex\.php|mathtex|mimetex|/render_tex|mwe-math|tex2img|"
    r' class="[^"]*\b(?:latex|tex|math|formula)\b'
)
_LAZY: Final = (
    "data-src", "data-lazy-src", "data-original", "data-original-src", "data-lazy", "data-url", "data-image",
    "data-hi-res-src", "data-full-src", "data-orig-file", "data-delayed-url", "data-actualsrc", "data-echo",
    "data-img-src", "data-large-file", "data-runner-src", "data-canonical-src",
)  # fmt: skip
_LAZY_FIRST: Final = tuple(f" {name}=" for name in _LAZY[:4])
_SETS: Final = ("srcset", "data-srcset", "data-lazy-srcset", "data-sizes-srcset")
_PLACEHOLDER: Final = re.compile(
    r"^data:|^about:|^#"
    r"|(?:^|[/_-])(?:placeholder|blank|spacer|transparent|1x1|pixel|loading|lazy|grey|clear)(?:[._-]?\d+)*\.(?:gif|png|svg|jpe?g)",
    re.IGNORECASE,
)
_TRACKERS: Final = ("doubleclick", "scorecardresearch", "gravatar.com")
_TRACKING: Final = re.compile(
    r"/(?:(?:pixel|beacon|track|count(?:er)?)s?[./?]|stats?(?:\.(?!png|jpe?g|svg)|\?)"
    r"|(?:smil(?:e|ey|ie)s?|emojis?|emoticons?|icons?|buttons?)/|(?:icon|btn|spacer|bullet|arrow|smiley)[\w-]*\.)"
)
_BUTTON: Final = re.compile(r"(?:Button|[_-](?:icon|btn|button))\.(?:gif|png|svg)")
_IMAGE_NAME: Final = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg)$", re.IGNORECASE)
_SMALLEST: Final = 33
_SIZE: Final = re.compile(r"\s*(\d{1,6})(?:px|\s*$|\.)")
_A, _NOSCRIPT, _IMG, _PICTURE = map(KINDS.index, ("a", "noscript", "img", "picture"))
_CANDIDATE: Final = re.compile(r"\s*([^\s,]\S*[^\s,])(?:\s+([\d.]+)([wxh]))?\s*(?:,|$)")


def is_formula(tag: str) -> bool:
    """Whether an image shows a formula."""
    return ("tex" in tag or "math" in tag or "formula" in tag) and _FORMULA.search(tag) is not None


def image(page: "Structure", row: int, tag: str) -> tuple[str, str] | None:
    """The address and the text of an image; None: it shows nothing, or is a decoration."""
    s = page.s
    written = attribute(tag, "src").strip()
    if _is_small(tag) or _is_decoration(written):
        return None
    if not written or _PLACEHOLDER.search(written) or any(name in tag for name in _LAZY_FIRST):
        found = attributes(tag)
        lazy = next((found[name] for name in _LAZY if found.get(name, "").strip()), "")
        lazy = lazy or next((best for name in _SETS if (best := _of_set(found.get(name, "")))), "")
        written = (
            lazy
            or _of_picture(page, row)
            or (written if written and not _PLACEHOLDER.search(written) else "")
        )
    address = page.links.address(written) if written else None
    if address is None:
        return None
    if s.kind[s.parent[row]] == _NOSCRIPT and any(s.kind[row - 4 : row - 1] == _IMG):
        return None  # what scripts show in its place stands before it
    path = address.split("?")[0]
    key = path if _IMAGE_NAME.search(path) else address
    if page.shown_images.get(key, -9) >= row - 8:  # lazily loaded ones stand twice
        return None
    page.shown_images[key] = row
    if s.kind[s.parent[row]] == _A and (whole := page.links.of(page.tag(int(s.parent[row])))):
        page.shown_images[whole] = row  # a larger one that the link leads to
    return address, " ".join(attribute(tag, "alt").split())


def _is_decoration(address: str) -> bool:
    """Whether an address is that of an icon, a button or a tracking pixel."""
    if any(name in address for name in _TRACKERS) or _TRACKING.search(address):
        return True
    return ("utton." in address or "icon." in address or "btn." in address) and bool(_BUTTON.search(address))


def _is_small(tag: str) -> bool:
    """Whether the stated size is that of an icon or a tracking pixel."""
    found = [_SIZE.match(attribute(tag, name)) for name in ("width", "height")]
    stated = [int(size[1]) for size in found if size]
    return bool(stated) and max(stated) < _SMALLEST


def _of_set(candidates: str) -> str:
    """The largest image of a `srcset`."""
    best, size = "", -1.0
    for address, number, _ in _CANDIDATE.findall(candidates):
        try:
            at = float(number or 1)
        except ValueError:
            at = 0.0
        if at > size and not address.startswith("data:"):
            best, size = address, at
    return best


def _of_picture(page: "Structure", row: int) -> str:
    """The largest image of the `picture` around an image: canonical HTML has no `source` elements."""
    s = page.s
    up = int(s.parent[row])
    if up < 0 or s.kind[up] != _PICTURE:
        return ""
    sources = page.links.pictures
    number = int((s.kind[:up] == _PICTURE).sum())
    if number >= len(sources):
        return ""
    markup = sources[number].decode("utf-8", "replace")
    for candidates in re.findall(r"""(?i)<source\s[^>]*?srcset\s*=\s*["']([^"']*)""", markup):
        if best := _of_set(attributes(f' x="{candidates}"')["x"]):
            return best
    return ""


_LANGUAGE: Final = re.compile(
    r'[ "](?:(?:language|lang|highlight-source|highlight|sourceCode|src|prism)[-_:]|brush: ?)'
    r"([a-zA-Z][\w+#]*)"
)
_STATED: Final = re.compile(r' (?:data-(?:lang|language|code-language)|lang)="([a-zA-Z][\w+#.-]*)"')
_NO_LANGUAGE_WORDS: Final = (
    "plaintext plain text none nohighlight txt auto block wrapper container box body toolbar content table"
    " line lines numbers highlight highlighter rouge wrap example snippet view panel numberlines hljs"
    " undefined default"
)
_NO_LANGUAGE: Final = frozenset(_NO_LANGUAGE_WORDS.split())
_KNOWN_LANGUAGES: Final = (
    "python py javascript js typescript ts java c cpp csharp cs go rust ruby php bash sh shell zsh console"
    " html css scss json yaml yml xml sql kotlin swift scala perl r lua haskell elixir erlang clojure lean"
    " dart toml ini diff makefile dockerfile powershell matlab julia groovy objectivec vim graphql jsx tsx"
    " vue markdown"
)
KNOWN: Final = frozenset(_KNOWN_LANGUAGES.split())


def language(page: "Structure", row: int) -> str:
    """The language that a listing, the `code` inside it or an element close around it states, or ""."""
    s = page.s
    rows = [row]
    after = row + 1
    while after < min(len(s.kind), row + 4) and s.start[after] < s.end[row]:
        rows.append(after)
        after += 1
    up = int(s.parent[row])
    while up >= 0 and len(rows) < 8:
        if page.size(up) > 3 * (page.size(row) + 30):
            break
        rows.append(up)
        up = int(s.parent[up])
    for at in rows:
        tag = page.tag(at)
        for found in (*_STATED.finditer(tag), *_LANGUAGE.finditer(tag)):
            name: str = found[1].lower()
            if name not in _NO_LANGUAGE and (" lang=" not in found[0] or name in KNOWN):
                return name
        for word in attributes(tag).get("class", "").lower().split():
            if word in KNOWN:
                return word
    return ""
