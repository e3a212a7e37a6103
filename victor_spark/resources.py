"""Finds conf/ and models/, in a checkout or a wheel; writes files and folders whole; reads templates."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from victor_spark.errors import ConfigurationError, OutputError

if TYPE_CHECKING:
    from jinja2 import Template

_PACKAGE = Path(__file__).resolve().parent


def directory(kind: str) -> Path:
    """The folder `kind` ("conf" or "models"): $VICTOR_HOME, else the wheel's, else the checkout's."""
    homes = [Path(own)] if (own := os.environ.get("VICTOR_HOME")) else [_PACKAGE, _PACKAGE.parent]
    if found := next((home / kind for home in homes if (home / kind).is_dir()), None):
        return found
    raise ConfigurationError(f"no {kind}/ folder in {' or '.join(map(str, homes))}")


def draft_name(name: str) -> str:
    """A hidden name for a file that is not yet whole; no other writer chooses the same name."""
    return f".{name}.{uuid4().hex[:12]}"


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A temporary path, which is renamed to `path` when the body ends, and removed if the body fails."""
    draft = path.with_name(draft_name(path.name))
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def written(path: Path) -> Iterator[None]:
    """Turns an OSError in the body into an OutputError with the path."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


@contextmanager
def new_directory(path: Path, *, overwrite: bool | None) -> Iterator[Path]:
    """A directory for results, made if it is missing. If the body fails, what is new in it is removed.

    Raises OutputError at once (not after an hour's work) if it cannot be written or holds files.
    """
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    with written(path):
        before = set() if missing else {file.name for file in path.iterdir()}
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path) as probe:
            probe.write(b"0")
    if before and not overwrite:
        raise OutputError(f"{path}: holds files ({min(before)}); choose another --output or add --overwrite")
    try:
        yield path
    except BaseException:
        with suppress(OSError):
            for file in path.iterdir():
                if file.name not in before:
                    file.unlink()
            for folder in missing:
                folder.rmdir()
        raise


@cache
def template(path: Path) -> "Template":
    """A Jinja template; in html, values are escaped, except those of the type Markup."""
    from jinja2 import Environment, StrictUndefined  # executors make no reports

    escape = path.suffix == ".html"
    made = Environment(autoescape=escape, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    return made.from_string(path.read_text(encoding="utf-8"))
