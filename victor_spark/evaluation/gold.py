"""Annotated pages: one JSON object a line in `<set>.jsonl` or `<set>.jsonl.xz`, read as a stream."""

import hashlib
import json
import lzma
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from victor_spark.errors import InputError
from victor_spark.hosts import host_name, registered_domain

_ENDINGS: Final = (".jsonl.xz", ".jsonl")
_REPOSITORY: Final = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class GoldPage:
    """One annotated page: its html, and the text that annotators kept (paragraphs by newline).

    `gold` is None where only snippets are annotated; `comments` are readers' comments that the
    gold leaves out; `gold_markup` is CleanEval markup or a labelled DOM, as the set has it.
    """

    id: str
    set: str
    html: str
    gold: str | None
    url: str | None = None
    host: str | None = None
    language: str | None = None
    comments: str | None = None
    gold_markup: str | None = None
    split: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)


def usable(page: GoldPage) -> bool:
    """Whether the page can be scored: it has gold, and its html holds that gold."""
    return page.gold is not None and not page.meta.get("hard")


def site(page: GoldPage) -> str:
    """The site of the page, whose pages share a fold; a page without an address is a site of its own."""
    return site_of(page.host, page.url, page.html) or page.id


_OWN_ADDRESS: Final = re.compile(
    r"""<link[^>]{0,200}\brel=["']?canonical\b[^>]{0,200}\bhref=["']?https?://([^/"'\s>]+)"""
    r"""|<meta[^>]{0,200}\bproperty=["']?og:url\b[^>]{0,200}\bcontent=["']?https?://([^/"'\s>]+)"""
    r"""|<base[^>]{0,200}\bhref=["']?https?://([^/"'\s>]+)""",
    re.IGNORECASE,
)
_LINKED: Final = re.compile(r"""\bhref=["']?https?://([^/"'\s>?#]+)""", re.IGNORECASE)


def site_of(host: str | None, url: str | None, html: str) -> str | None:
    """The registered domain of the page's host; without a host, of the address in its html."""
    name = host or host_name(url) or _host_in(html)
    return (registered_domain(name) or name) if name else None


def _host_in(html: str) -> str | None:
    """The host of the canonical, og:url or base address, else the one that is linked most often."""
    own = _OWN_ADDRESS.search(html)
    if own:
        return next(host for host in own.groups() if host)
    linked = Counter(registered_domain(host) or host for host in _LINKED.findall(html))
    return linked.most_common(1)[0][0] if linked else None


def data_directory() -> Path | None:
    """The optional annotated data: $VICTOR_DATA, else ../shared/data beside the repository."""
    directory = Path(os.environ.get("VICTOR_DATA") or _REPOSITORY.parent / "shared" / "data")
    return directory if directory.is_dir() else None


def find(directory: Path, names: Sequence[str] = ()) -> dict[str, Path]:
    """Set name → file in `directory`, all sets or those named; InputError for a set not there."""
    if not directory.is_dir():
        raise InputError(f"no directory of annotated pages at {directory}")
    found = {
        path.name.removesuffix(ending): path
        for ending in reversed(_ENDINGS)
        for path in sorted(directory.glob(f"*{ending}"))
    }
    if not found:
        raise InputError(f"no *.jsonl or *.jsonl.xz in {directory}")
    unknown = [name for name in names if name not in found]
    if unknown:
        raise InputError(f"no set {', '.join(unknown)} in {directory} (there: {', '.join(sorted(found))})")
    return {name: found[name] for name in names or sorted(found)}


def set_name(path: Path) -> str:
    """The set that a file of annotated pages holds: its name without the endings."""
    name = path.name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name


def read(path: Path) -> Iterator[GoldPage]:
    """The pages of one file in its order; InputError with file and line for what can't be read."""
    name = set_name(path)
    line_number = 0
    try:
        with _open(path) as lines:
            for line in lines:
                line_number += 1
                if line.strip():
                    yield _page(json.loads(line), name)
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise InputError(f"can't read {path}: {error}") from error
    except KeyError as error:
        raise InputError(f"{path}, line {line_number}: has no {error.args[0]}") from error
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}, line {line_number}: not an annotated page ({error})") from error


def _open(path: Path) -> Any:
    if path.name.endswith(".xz"):
        return lzma.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def _page(row: Any, set_name: str) -> GoldPage:
    row = {"meta": None, **row}
    for name, kinds in (("html", str), ("gold", str | None), ("meta", dict | None)):
        if not isinstance(row[name], kinds):
            raise TypeError(f"{name} has the wrong type")
    meta = row["meta"] or {}
    return GoldPage(
        id=str(row["id"]),
        set=set_name,
        html=row["html"],
        gold=row["gold"],
        url=row.get("url") or None,
        host=row.get("host") or None,
        language=row.get("lang"),
        comments=meta.get("comments_gold"),
        gold_markup=row.get("gold_markup"),
        split=row.get("split"),
        meta=meta,
    )


def fixed_sample(directory: Path, per_set: int) -> list[GoldPage]:
    """At most `per_set` usable pages of every set: those of the dev split first, by hash of their id."""
    chosen = []
    for path in find(directory).values():
        pages = [page for page in read(path) if usable(page)]
        chosen += sorted(pages, key=lambda page: (page.split != "dev", _hash(page.id)))[:per_set]
    return chosen


def fingerprint(pages: Sequence[GoldPage]) -> str:
    """A hash of the pages' ids, html and gold, whatever their order."""
    return of_hashes([_hash(json.dumps([page.set, page.id, page.html, page.gold])) for page in pages])


def of_hashes(hashes: Sequence[str]) -> str:
    """One hash of those of many pages, whatever their order."""
    return _hash("\n".join(sorted(hashes)))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
