"""Where conf/ and models/ lie, in a checkout and in a wheel; files that are written whole; templates."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from victor_spark.errors import ConfigurationError, OutputError

if TYPE_CHECKING:
    from jinja2 import Template

_PACKAGE = Path(__file__).resolve().parent


def directory(kind: str) -> Path:
    """The folder `kind` ("conf" or "models"): $VICTOR_HOME, else the wheel's, else the checkout's."""
    homes = [Path(home)] if (home := os.environ.get("VICTOR_HOME")) else [_PACKAGE, _PACKAGE.parent]
    for home_path in homes:
        if (home_path / kind).is_dir():
            return home_path / kind
    raise ConfigurationError(f"no {kind}/ folder in {' or '.join(map(str, homes))}")


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A path to write to, which becomes `path` when the body ends; if it fails, nothing is left of it."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def written(path: Path) -> Iterator[None]:
    """OutputError with the path, if writing it fails in the body."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def template(path: Path) -> "Template":
    """A Jinja template; in html, values are escaped, but for those of the type Markup."""
    from jinja2 import Environment, StrictUndefined  # executors make no reports

    escape = path.suffix == ".html"
    made = Environment(autoescape=escape, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    return made.from_string(path.read_text(encoding="utf-8"))
