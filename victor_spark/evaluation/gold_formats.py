"""Gold data in every format that `victor evaluate` reads, page by page.

- JSON lines, plain or .xz: one annotated page a line, as `gold` reads them (a file, or a directory of them);
- CleanEval's folders: a folder of gold texts, one file a page, and the folder of their pages (or of texts
  that were already cleaned), matched by the part of the file names before the first dot;
- snippets: a .json file of URL → {"file": …, "with": […], "without": […]}, and the folder of its pages.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

from victor_spark.errors import InputError, UsageError
from victor_spark.evaluation import cleaneval, gold
from victor_spark.evaluation.gold import GoldPage
from victor_spark.html.charset import decode


@dataclass(frozen=True, slots=True)
class Source:
    """One set of gold: its name, and what reads its pages, anew at every call."""

    set: str
    read: Callable[[], Iterator[GoldPage]]


_CLEANED: Final = re.compile(r"[-_](?:cleaned|clean|gold)$")
_WRAPPER: Final = re.compile(
    rb"""\s*<text\b[^>]*?(?:\bencoding\s*=\s*["']?([-\w.:]+)[^>]*)?>""", re.IGNORECASE
)
_N_EXAMPLES: Final = 3


@dataclass(frozen=True, slots=True)
class Choice:
    """Which pages to use: the sets, the split, and the first `limit` of each set."""

    sets: tuple[str, ...] = ()
    split: str | None = None
    limit: int | None = None


def sources(paths: Sequence[str], pages: str | None = None, *, without_pages: bool = False) -> list[Source]:
    """The sets of `--gold PATH...` and `--pages FOLDER`; `without_pages`: gold texts alone will do.

    InputError for missing or unreadable gold, UsageError where --pages is missing or not needed.
    """
    folder = _folder(pages) if pages is not None else None
    found: list[Source] = []
    needs_pages = False
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"there is no gold at {path}")
        if path.is_file() and path.suffix == ".json":
            needs_pages = True
            found.append(Source(path.stem, partial(_snippets, path, _needed(folder, path))))
        elif path.is_file():
            found.append(Source(gold.set_name(path), partial(gold.read, path)))
        elif _has_sets(path):
            found += [Source(name, partial(gold.read, each)) for name, each in gold.find(path).items()]
        else:
            needs_pages = True
            found.append(_cleaneval_source(path, None if without_pages else _needed(folder, path)))
    if folder is not None and not needs_pages:
        raise UsageError(
            "--pages is for a folder of gold texts or a .json of snippets: this gold holds its own pages"
        )
    return found


def chosen(found: Sequence[Source], choice: Choice) -> Iterator[GoldPage]:
    """The chosen pages that have a reference."""
    for source in found:
        if choice.sets and source.set not in choice.sets:
            continue
        of_split = (page for page in source.read() if choice.split in {None, page.split})
        yield from islice(filter(has_reference, of_split), choice.limit)


def has_reference(page: GoldPage) -> bool:
    """Whether the page has a reference: a gold text that its html holds, or snippets."""
    has_snippets = bool(page.meta.get("with") or page.meta.get("without"))
    return not page.meta.get("hard") and (page.gold is not None or has_snippets)


def marked(page: GoldPage) -> str | None:
    """The gold with CleanEval's markers: as annotated, or every line of the gold text a paragraph."""
    if page.gold_markup and cleaneval.is_marked(page.gold_markup):
        return page.gold_markup
    return None if page.gold is None else cleaneval.from_text(page.gold)


def stem(name: str) -> str:
    """The part of a file name that identifies a page: `12` of 12.html, 12.txt, 12-cleaned.txt."""
    return _CLEANED.sub("", Path(name).name.partition(".")[0])


def texts(folder: Path) -> dict[str, Path]:
    """Stem → file, of a folder of text files in CleanEval's manner; InputError if it has none."""
    found = {stem(path.name): path for path in sorted(folder.iterdir()) if _is_visible_file(path)}
    if not found:
        raise InputError(f"no files in {folder}")
    return found


def read_text(path: Path) -> str:
    """A text file in UTF-8 or a detected charset; InputError if it can't be read."""
    return _decoded(_bytes(path))


def _cleaneval_source(folder: Path, pages: Path | None) -> Source:
    gold_files = texts(folder)
    if pages is None:
        alone = [(key, path, None) for key, path in gold_files.items()]
        return Source(folder.name, partial(_cleaneval, folder.name, alone))
    page_files = texts(pages)
    matched = [(key, path, page_files[key]) for key, path in gold_files.items() if key in page_files]
    if not matched:
        names = f"gold: {_named(gold_files)}; pages: {_named(page_files)}"
        raise InputError(f"no gold text in {folder} has a page of its name in {pages} ({names})")
    return Source(folder.name, partial(_cleaneval, folder.name, matched))


def unmatched(paths: Sequence[str], pages: str | None, cleaned: Sequence[str]) -> Iterator[str]:
    """A line for every folder of CleanEval gold and folder beside it whose files don't all match."""
    for path in map(Path, paths):
        if not path.is_dir() or _has_sets(path):
            continue
        for other in filter(None, [pages, *cleaned]):
            if missing := sorted(texts(path).keys() - texts(Path(other)).keys()):
                shown = ", ".join(missing[:_N_EXAMPLES]) + ("…" if len(missing) > _N_EXAMPLES else "")
                yield f"{len(missing)} of the gold texts in {path} have no file in {other}: {shown}"


def _cleaneval(set_name: str, files: Sequence[tuple[str, Path, Path | None]]) -> Iterator[GoldPage]:
    for key, gold_path, page_path in files:
        markup = read_text(gold_path)
        is_marked = cleaneval.is_marked(markup)
        yield GoldPage(
            id=f"{set_name}/{key}",
            set=set_name,
            html="" if page_path is None else _page(page_path),
            gold=cleaneval.to_text(markup) if is_marked else markup,
            url=_url(markup),
            gold_markup=markup if is_marked else None,
        )


def _url(markup: str) -> str | None:
    found = re.match(r"\s*(?:<text\b[^>]*>\s*)?URL:\s*(https?://\S+)", markup)
    return found[1] if found else None


def _page(path: Path) -> str:
    """The html of a page without CleanEval's `<text …>` around it, decoded by the encoding stated there."""
    source = _bytes(path)
    wrapper = _WRAPPER.match(source)
    charset = wrapper[1].decode("ascii", "replace") if wrapper and wrapper[1] else None
    inside = re.sub(rb"</text\s*>\s*\Z", b"", source[wrapper.end() :]) if wrapper else source
    return decode(inside, charset)[0]


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
        yield GoldPage(
            id=name,
            set=path.stem,
            html=_page(files[Path(name).name]),
            gold=None,
            url=url,
            meta={**row, **snippets},
        )


def _folder(path: str) -> Path:
    if not Path(path).is_dir():
        raise InputError(f"--pages {path}: not a directory")
    return Path(path)


def _needed(folder: Path | None, path: Path) -> Path:
    if folder is None:
        raise UsageError(f"{path} holds no pages: add --pages FOLDER with their html")
    return folder


def _has_sets(path: Path) -> bool:
    return any(each.name.endswith((".jsonl", ".jsonl.xz")) for each in path.iterdir())


def _is_visible_file(path: Path) -> bool:
    return path.is_file() and not path.name.startswith(".")


def _named(files: dict[str, Path]) -> str:
    return ", ".join([path.name for path in files.values()][:_N_EXAMPLES]) + (
        "…" if len(files) > _N_EXAMPLES else ""
    )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"can't read {path}: {error.strerror or error}") from error


def _decoded(source: bytes) -> str:
    return decode(source, None)[0]
