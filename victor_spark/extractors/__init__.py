"""Cleaners by name. A cleaner answers one question: which blocks of this page are content?"""

from collections.abc import Callable, Mapping
from functools import partial, reduce
from typing import Final

from victor_spark.blocks import Cleaner
from victor_spark.errors import UsageError, choices
from victor_spark.extractors import cascade, kimatu, line_block, ncleaner, peers, template, victor

CLEANERS: Final[dict[str, Callable[..., Cleaner]]] = {
    victor.NAME: victor.load,
    "victor-2": partial(victor.load, decide=victor.decide_2),
    "victor-2008": partial(victor.load, decide=victor.decide_2008),
    "kimatu": kimatu.load,
    "line-block": line_block.load,
    "ncleaner": ncleaner.load,
    "ncleaner-non-lexical": ncleaner.load,
    template.NAME: template.load,
}
"""Name → the function that builds the cleaner, from its model's bytes if it has one. Peers: peers.PEERS."""

MODELS: Final[dict[str, str]] = {
    victor.NAME: "crf/victor-3",
    "victor-2": "crf/victor-2",
    "victor-2008": "crf/victor-2008",
    "ncleaner": "ncleaner/default",
    "ncleaner-non-lexical": "ncleaner/non-lexical",
}
"""Name → the folder under models/ that the cleaner is built from."""

CRF_CLEANERS: Final = tuple(name for name, folder in MODELS.items() if folder.startswith("crf/"))
"""The cleaners built from a CRF model: they estimate the F1 of a page, and differ in how they decide."""


def available() -> tuple[str, ...]:
    """The names that can be loaded here: ours, and those of installed peers; cascades are made of them."""
    return (*CLEANERS, *(name for name, peer in peers.PEERS.items() if peers.installed(peer)))


def check_name(name: str) -> None:
    """Raises UsageError for a name, or a part of a cascade's, that can't be loaded here."""
    for part in cascade.parts(name):
        if (peer := peers.PEERS.get(part)) and not peers.installed(peer):
            extra = "pip install 'victor-spark[peers]'"
            raise UsageError(f"the cleaner {part} needs {peer.package}, which is not installed: {extra}")
        if peer is None and part not in CLEANERS:
            raise UsageError(f"no cleaner {part!r}{choices(part, (*available(), 'cascades a+b'))}")


def models_of(name: str) -> tuple[str, ...]:
    """The folders under models/ that the cleaner, or all parts of a cascade, are built from; each once."""
    return tuple(dict.fromkeys(MODELS[part] for part in cascade.parts(name) if part in MODELS))


def load(name: str, models: Mapping[str, bytes]) -> Cleaner:
    """The cleaner of that name; `models` holds the bytes of every folder that `models_of` names."""
    check_name(name)
    made = []
    for part in cascade.parts(name):
        if part in peers.PEERS:
            made.append(peers.cleaner(peers.extractor(part)))
        else:
            made.append(CLEANERS[part](*(models[folder] for folder in models_of(part))))
    return reduce(cascade.then, made)
