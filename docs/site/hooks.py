"""Additions to MkDocs: generated pages, links that leave docs/, commands in the navigation."""

import posixpath
import re
import sys
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent))

import reference
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT: Final = reference.ROOT
PROJECT: Final = "project"
"""Folder of the site for documents from outside docs/, and for files that they link to."""
ASSETS: Final = ("style.css", "iframe-worker.js")
LONGEST: Final = 100_000
IMAGES: Final = {".webp", ".svg", ".png"}
BOOSTS: Final = {"Start": 4, "How-to guides": 4, "Reference": 2, "Explanation": 1}
"""Section of the navigation → the weight of its pages in the search: plain words lead to guides first."""
PAGE_BOOSTS: Final = {"exploring.md": 1}
"""Pages of which the title has a word that most readers type for another page."""
GENERATED_BOOST: Final = 0.3
"""That of generated pages, and of documents from outside docs/."""
_LINK: Final = re.compile(r"(?<=\]\()([^)\s#:]+)(?=[)#])|(?<=\]\()([^)\s#:]+)(?=\s\")")
_FILE_NAME: Final = re.compile(r"\[([\w-]+\.md)\]\(([\w./-]+\.md)")
"""A link whose text is the name of a file: on the site, its text is the title of the page."""
_CODE: Final = re.compile(r"(^(?:```|~~~).*?^(?:```|~~~)|`[^`\n]*`|^    [^\n]*$)", re.DOTALL | re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The version, and the commands in the navigation."""
    config.extra["version_name"] = reference.victor_spark.__version__
    for section in config.nav or []:
        for pages in section.values():
            for number, page in enumerate(pages):
                if page == {"commands": "reference/commands/"}:
                    names = [name for name in reference.pages() if name.startswith("reference/commands/")]
                    pages[number] = {"Commands": names}
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Generated pages, and what documents link to outside docs/."""
    todo = [ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
    for name, text in reference.pages().items():
        files.append(File.generated(config, name, content=text))
        todo += [_target(ROOT / "docs" / name, link) for link in _links(text)]
    for asset in ASSETS:
        files.append(File.generated(config, f"assets/{asset}", abs_src_path=str(ROOT / "docs/site" / asset)))
    todo += [ROOT / "docs" / file.src_uri for file in files if file.is_documentation_page()]
    added: set[Path] = set()
    while todo:
        path = todo.pop()
        if not path.is_file():  # generated
            continue
        if (outside := _outside(path)) and path not in added:
            added.add(path)
            if path.suffix in IMAGES:
                files.append(File.generated(config, outside, abs_src_path=str(path)))
                continue
            file = File.generated(config, outside, content=_content(path))
            if path.name not in {"CHANGELOG.md", "CONTRIBUTING.md", "RESULTS.md"}:
                file.inclusion = file.inclusion.NOT_IN_NAV
            files.append(file)
        if path.suffix == ".md":
            links = (_target(path, found) for found in _links(path.read_text(encoding="utf-8")))
            todo += [link for link in links if _outside(link) and link not in added]
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - MkDocs passes them
    """Generated tables; links into the checkout become links to pages of the site. Sets the search weight."""
    own = page.file.src_uri
    section = page.ancestors[-1].title if page.ancestors else None
    boost = GENERATED_BOOST if page.file.generated_by else PAGE_BOOSTS.get(own, BOOSTS.get(section or "", 1))
    page.meta["search"] = {"boost": boost, **page.meta.get("search", {})}
    source = _source(own)

    def changed(match: re.Match[str]) -> str:
        target = _target(source, match[0])
        if not target.exists() or target.is_dir():
            return match[0]
        place = _outside(target) or target.relative_to(ROOT / "docs").as_posix()
        return posixpath.relpath(place, posixpath.dirname(own) or ".")

    def titled(match: re.Match[str]) -> str:
        target = _target(source, match[2])
        text = target.read_text(encoding="utf-8") if target.is_file() else ""
        head = re.search(r"^# (.+)$", text, re.MULTILINE)
        return f"[{head[1] if head else match[1]}]({match[2]}"

    markdown = _FILE_NAME.sub(titled, reference.filled(markdown))
    parts = _CODE.split(markdown)
    return "".join(part if n % 2 else _LINK.sub(changed, part) for n, part in enumerate(parts))


def _links(text: str) -> list[str]:
    prose = _CODE.split(text)[::2]
    return [match[0] for part in prose for match in _LINK.finditer(part)]


def _target(page: Path, link: str) -> Path:
    return Path(posixpath.normpath(page.parent / link))


def _source(place: str) -> Path:
    """The file of the checkout that a page of the site is made of."""
    if place.startswith(f"{PROJECT}/"):
        path = ROOT / place.removeprefix(f"{PROJECT}/")
        return path if path.exists() else path.with_suffix("")
    return ROOT / "docs" / place


def _outside(path: Path) -> str | None:
    """The place on the site of a file of the checkout outside docs/, or that MkDocs can't show; else None."""
    if not path.is_file() or not path.is_relative_to(ROOT):
        return None
    if path.is_relative_to(ROOT / "docs") and path.suffix in {".md", *IMAGES}:
        return None
    place = path.relative_to(ROOT).as_posix()
    return f"{PROJECT}/{place if path.suffix in {'.md', *IMAGES} else f'{place}.md'}"


def _content(path: Path) -> str:
    """A document, or another text file as a page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    language = {".py": "python", ".toml": "toml", ".json": "json"}.get(path.suffix, "text")
    name = path.relative_to(ROOT).as_posix()
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}\n…"
    return f"---\nsearch: {{exclude: true}}\n---\n# {name}\n\n~~~~{language}\n{text.rstrip()}\n~~~~\n"
