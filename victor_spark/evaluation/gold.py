"""Annotated pages in every format that `victor evaluate` reads, page by page.

- JSON lines, `<set>.jsonl` or `<set>.jsonl.xz`: one annotated page a line (a file, or a directory of them);
- CleanEval's folders: a folder of gold texts, one file per page, and the folder of their pages (or of texts
  that were already cleaned), matched by the part of the file names before the first dot;
- snippets: a .json file of URL → {"file": …, "with": […], "without": […]}, and the folder of its pages.
"""

import hashlib
import json
import lzma
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias

from victor_spark.errors import InputError, UsageError
from victor_spark.evaluation import cleaneval
from victor_spark.hosts import host_name, site_of_host
from victor_spark.html.charset import decode

_ENDINGS: Final = (".jsonl", ".jsonl.xz")
_CLEANED: Final = re.compile(r"[-_](?:cleaned|clean|gold)$")
_WRAPPER: Final = re.compile(
    rb"""\s*<text\b[^>]*?(?:\bencoding\s*=\s*["']?([-\w.:]+)[^>]*)?>""", re.IGNORECASE
)
_URL: Final = re.compile(r"\s*(?:<text\b[^>]*>\s*)?URL:\s*(https?://\S+)")
_N_EXAMPLES: Final = 3


@dataclass(frozen=True, slots=True)
class GoldPage:
    """One annotated page: its html, and the text that annotators kept (paragraphs by newline).

    `gold` is None if only snippets are annotated. `gold_markup`: CleanEval markup or a labelled DOM.
    """

    id: str
    set: str
    html: str
    gold: str | None
    url: str | None = None
    host: str | None = None
    language: str | None = None
    gold_markup: str | None = None
    split: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)


def usable(page: GoldPage) -> bool:
    """Whether the page can be scored: it has gold, and its html holds that gold."""
    return page.gold is not None and not page.meta.get("hard")


def distinct(pages: Iterable[GoldPage], ids: set[tuple[str, str]]) -> Iterator[GoldPage]:
    """The pages; `ids` gets the set and id of each. InputError for a page whose set and id it has already."""
    for page in pages:
        if (page.set, page.id) in ids:
            raise InputError(f"two gold pages of the set {page.set} have the id {page.id}")
        ids.add((page.set, page.id))
        yield page


def marked(page: GoldPage) -> str | None:
    """The gold with CleanEval's markers: as annotated, or with every line of the gold text as a paragraph."""
    if page.gold_markup and cleaneval.is_marked(page.gold_markup):
        return page.gold_markup
    return None if page.gold is None else cleaneval.from_text(page.gold)


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
    """The registered domain of the page's host.

    Without a host, that of the canonical, og:url or base address in the html, else the one linked most often.
    """
    name = host or host_name(url)
    if not name and (own := _OWN_ADDRESS.search(html)):
        name = own[own.lastindex or 0]
    if name:
        return site_of_host(name)
    linked = Counter(map(site_of_host, _LINKED.findall(html)))
    return linked.most_common(1)[0][0] if linked else None


def find(directory: Path, names: Sequence[str] = ()) -> dict[str, Path]:
    """Set name → file in `directory`, all sets or those named; InputError for a set not there."""
    if not directory.is_dir():
        raise InputError(f"no directory of annotated pages at {directory}")
    found = {set_name(path): path for ending in _ENDINGS for path in sorted(directory.glob(f"*{ending}"))}
    if not found:
        raise InputError(f"no *.jsonl or *.jsonl.xz in {directory}")
    if unknown := [name for name in names if name not in found]:
        raise InputError(f"no set {', '.join(unknown)} in {directory} (it has: {', '.join(sorted(found))})")
    return {name: found[name] for name in names or sorted(found)}


def set_name(path: Path) -> str:
    """The set that a file of annotated pages holds: its name without the endings."""
    return path.name.removesuffix(".xz").removesuffix(".jsonl")


def read(path: Path) -> Iterator[GoldPage]:
    """The pages of one file in its order; InputError with file and line for invalid content."""
    name = set_name(path)
    try:
        with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8-sig") as lines:
            for line_number, line in enumerate(lines, 1):  # noqa: B007 - errors name it
                if line.strip():
                    row = json.loads(line)
                    if "\\ud" in line.lower():  # of lone surrogates, no result could be written
                        row = json.loads(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"))
                    yield _page(row, name)
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise InputError(f"can't read {path}: {error}") from error
    except KeyError as error:
        raise InputError(f"{path}, line {line_number}: has no {error.args[0]}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 ({error.reason}); gold is JSON lines, plain or .xz") from error
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}, line {line_number}: not an annotated page ({error})") from error


def _page(row: Any, set_name: str) -> GoldPage:
    row = {"meta": None, **row}
    for name, kinds in (("html", str), ("gold", str | None), ("meta", dict | None)):
        if not isinstance(row[name], kinds):
            raise TypeError(f"{name} has the wrong type")
    return GoldPage(
        id=str(row["id"]),
        set=set_name,
        html=row["html"],
        gold=row["gold"],
        url=row.get("url") or None,
        host=row.get("host") or None,
        language=row.get("lang"),
        gold_markup=row.get("gold_markup"),
        split=row.get("split"),
        meta=row["meta"] or {},
    )


def fingerprint(pages: Iterable[GoldPage]) -> str:
    """A hash of the pages' ids, html and gold, which does not depend on their order."""
    rows = (json.dumps([page.set, page.id, page.html, page.gold]) for page in pages)
    hashes = sorted(hashlib.sha256(row.encode()).hexdigest() for row in rows)
    return hashlib.sha256("\n".join(hashes).encode()).hexdigest()


Source: TypeAlias = tuple[str, Callable[[], Iterator[GoldPage]]]
"""The name of a set of gold, and a function that reads its pages again at every call."""


def sources(paths: Sequence[str], pages: str | None = None, *, without_pages: bool = False) -> list[Source]:
    """The sets of `--gold PATH...` and `--pages FOLDER`; `without_pages`: gold texts need no pages.

    InputError for missing or unreadable gold, UsageError where --pages is missing or not needed.
    """
    folder = None if pages is None else Path(pages)
    if folder is not None and not folder.is_dir():
        raise InputError(f"--pages {pages}: not a directory")
    found: list[Source] = []
    is_used = False
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"{path}: no such file or folder of annotated pages")
        if path.is_file() and path.suffix != ".json":
            found.append((set_name(path), partial(read, path)))
        elif _has_sets(path):
            found += [(name, partial(read, each)) for name, each in find(path).items()]
        elif folder is None and not (without_pages and path.is_dir()):
            raise UsageError(f"{path} holds no pages: add --pages FOLDER with their html")
        else:
            is_used = True
            if folder is not None and path.is_file():
                found.append((path.stem, partial(_snippets, path, folder)))
            else:
                found.append(_cleaneval_source(path, folder))
    if folder is not None and not is_used:
        raise UsageError(
            "--pages is for a folder of gold texts or a .json of snippets: this gold holds its own pages"
        )
    return found


def chosen(
    found: Sequence[Source], sets: Sequence[str], split: str | None = None, limit: int | None = None
) -> Iterator[GoldPage]:
    """The pages of these sets (of all if none is named) and this split that have a reference.

    A reference is a gold text that the html holds, or snippets. `limit`: the most pages of each set.
    """
    for name, read_set in found:
        if not sets or name in sets:
            pages = (
                page
                for page in read_set()
                if split in {None, page.split}
                and (page.gold is not None or page.meta.get("with") or page.meta.get("without"))
                and not page.meta.get("hard")
            )
            yield from islice(pages, limit)


def unmatched(paths: Sequence[str], pages: str | None, cleaned: Sequence[str]) -> Iterator[str]:
    """A warning for each folder of pages or cleaned texts that lacks files of the gold folder."""
    for path in map(Path, paths):
        if path.is_dir() and not _has_sets(path):
            for other in filter(None, [pages, *cleaned]):
                if missing := sorted(texts(path).keys() - texts(Path(other)).keys()):
                    shown = f"{other}: {_examples(missing)}"
                    yield f"{len(missing)} of the gold texts in {path} have no file in {shown}"


def _has_sets(path: Path) -> bool:
    return path.is_dir() and any(each.name.endswith(_ENDINGS) for each in path.iterdir())


def _examples(names: Sequence[str]) -> str:
    return ", ".join(names[:_N_EXAMPLES]) + ("…" if len(names) > _N_EXAMPLES else "")


def stem(name: str) -> str:
    """The part of a file name that identifies a page: `12` of 12.html, 12.txt, 12-cleaned.txt."""
    return _CLEANED.sub("", Path(name).name.partition(".")[0])


def texts(folder: Path) -> dict[str, Path]:
    """Stem → file, of a folder of text files in CleanEval's manner; InputError if it has none."""
    files = (path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith("."))
    found = {stem(path.name): path for path in files}
    if not found:
        raise InputError(f"no files in {folder}")
    return found


def read_text(path: Path) -> str:
    """A text file in UTF-8 or a detected charset; InputError if it can't be read."""
    return decode(_bytes(path), None)[0]


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"can't read {path}: {error.strerror or error}") from error


def _html(path: Path) -> str:
    """The html of a page without CleanEval's `<text …>` around it, decoded by the encoding stated there."""
    source = _bytes(path)
    wrapper = _WRAPPER.match(source)
    if wrapper is None:
        return decode(source, None)[0]
    inside = re.sub(rb"</text\s*>\s*\Z", b"", source[wrapper.end() :])
    return decode(inside, wrapper[1].decode("ascii", "replace") if wrapper[1] else None)[0]


def _cleaneval_source(folder: Path, pages: Path | None) -> Source:
    """A folder of gold texts; with `pages`, those whose page is there."""
    gold_files = texts(folder)
    page_files = {} if pages is None else texts(pages)
    keys = [key for key in gold_files if pages is None or key in page_files]
    if not keys:
        names = [_examples([path.name for path in each.values()]) for each in (gold_files, page_files)]
        shown = f"(gold: {names[0]}; pages: {names[1]})"
        raise InputError(f"no gold text in {folder} has a page with the same name in {pages} {shown}")
    files = [(key, gold_files[key], page_files.get(key)) for key in keys]
    return folder.name, partial(_cleaneval, folder.name, files)


def _cleaneval(set_name: str, files: Sequence[tuple[str, Path, Path | None]]) -> Iterator[GoldPage]:
    for key, gold_path, page_path in files:
        markup = read_text(gold_path)
        is_marked = cleaneval.is_marked(markup)
        url = _URL.match(markup)
        yield GoldPage(
            id=f"{set_name}/{key}",
            set=set_name,
            html="" if page_path is None else _html(page_path),
            gold=cleaneval.to_text(markup) if is_marked else markup,
            url=url[1] if url else None,
            gold_markup=markup if is_marked else None,
        )


def _snippets(path: Path, pages: Path) -> Iterator[GoldPage]:
    content = _bytes(path)
    try:
        rows: Any = json.loads(content)
        listed = [(url, row["file"], row) for url, row in rows.items()]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: not a table of URL → file, with, without ({error!r})") from error
    files = {each.name: each for each in pages.rglob("*") if each.is_file()}
    matched = [entry for entry in listed if Path(entry[1]).name in files]
    if not matched:
        raise InputError(f"none of the {len(listed)} files that {path} names is in {pages}")
    for url, name, row in matched:
        snippets = {key: [str(text) for text in row.get(key) or ()] for key in ("with", "without")}
        html = _html(files[Path(name).name])
        yield GoldPage(id=name, set=path.stem, html=html, gold=None, url=url, meta={**row, **snippets})
