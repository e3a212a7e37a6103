"""Extractors of other projects as cleaners, a thin adapter for each: the optional extra `[peers]`.

Every adapter is built when its cleaner is loaded, and imports its tool then. A tool gets the
canonical HTML, decoded and without scripts, and runs with its own defaults.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from typing import Final, TypeAlias

from victor_spark import words
from victor_spark.blocks import Cleaner, Page, Scores, by_rule
from victor_spark.langid.labels import languages

Extractor: TypeAlias = Callable[[Page], str]
"""Answers one question: what is this page's text? Paragraphs are separated by newlines."""


@dataclass(frozen=True, slots=True)
class Peer:
    """The package to install, its module, and the function that builds the extractor."""

    package: str
    module: str
    load: Callable[[], Extractor]


def extractor(name: str) -> Extractor:
    """The extractor of a name of PEERS, whose tool is installed.

    A tool's messages about pages are written only if logging is configured: a crawl has many bad pages.
    """
    logging.getLogger(PEERS[name].module).addHandler(logging.NullHandler())
    return PEERS[name].load()


def cleaner(extract: Extractor) -> Cleaner:
    """The extractor as a cleaner: 0/1 probabilities by aligning its words with the words of the blocks.

    The alignment is monotone: text that a tool moves or adds is in no block. `Scores.text` is the tool's own
    text, with lines trimmed and empty lines left out.
    """

    def clean(page: Page) -> Scores:
        lines = (" ".join(line.split()) for line in extract(page).splitlines())
        text = "\n".join(line for line in lines if line)
        kept, _ = words.locate(page.blocks, text)
        return by_rule(kept, page.blocks.heading_level > 0, text)

    return clean


def installed(peer: Peer) -> bool:
    """Whether the tool can be imported here; it is not imported."""
    return find_spec(peer.module) is not None


def boilerpipe() -> Extractor:
    """boilerpipe's ArticleExtractor, as ported by boilerpy3 (Kohlschütter et al. 2010)."""
    from boilerpy3.extractors import ArticleExtractor

    # Its parser then skips markup that it can't nest, instead of failing.
    extractor = ArticleExtractor(raise_on_failure=False)
    return lambda page: extractor.get_content(page.html)


def justext(*, stop_lists: bool) -> Extractor:
    """jusText (Pomikálek 2011), with the stop list of the page's language, or without any.

    Languages without a list get what jusText advises for them: an empty list, densities 0.
    """
    import justext as tool

    stop_list = cache(tool.get_stoplist)
    paragraphs = partial(tool.justext, stoplist=frozenset(), stopwords_low=0, stopwords_high=0)

    def extract(page: Page) -> str:
        language = languages().justext.get(page.language or "") if stop_lists else None
        found = tool.justext(page.html, stop_list(language)) if language else paragraphs(page.html)
        return "\n".join(paragraph.text for paragraph in found if not paragraph.is_boilerplate)

    return extract


def trafilatura() -> Extractor:
    """trafilatura (Barbaresi 2021); by its default, with comments."""
    from trafilatura import extract

    return lambda page: extract(page.html, url=page.url) or ""


def resiliparse() -> Extractor:
    """resiliparse's main content extraction (Bevendorff et al.), without its marks for lists and images."""
    from resiliparse.extract.html2text import extract_plain_text

    extract = partial(extract_plain_text, main_content=True, list_bullets=False, alt_texts=False)
    return lambda page: extract(page.html)


def readability() -> Extractor:
    """readability-lxml (arc90's readability); its result is html, which resiliparse converts to text."""
    from readability import Document
    from resiliparse.extract.html2text import extract_plain_text

    to_text = partial(extract_plain_text, list_bullets=False, alt_texts=False, noscript=True)
    return lambda page: to_text(Document(page.html, url=page.url).summary(html_partial=True))


PEERS: Final[Mapping[str, Peer]] = {
    "boilerpipe": Peer("boilerpy3", "boilerpy3", boilerpipe),
    "justext": Peer("justext", "justext", partial(justext, stop_lists=True)),
    "justext-nostop": Peer("justext", "justext", partial(justext, stop_lists=False)),
    "readability": Peer("readability-lxml", "readability", readability),
    "resiliparse": Peer("resiliparse", "resiliparse", resiliparse),
    "trafilatura": Peer("trafilatura", "trafilatura", trafilatura),
}
"""Name of the cleaner → the tool behind it."""
