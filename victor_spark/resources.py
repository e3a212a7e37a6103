"""Where conf/ and models/ lie, in a checkout and in a wheel; files that are written whole; html reports."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from victor_spark.errors import ConfigurationError

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


def rendered(template: Path, **values: Any) -> str:
    """A page made of a Jinja template; the values are escaped, but for those of the type Markup."""
    from jinja2 import Environment, StrictUndefined  # executors make no reports

    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    return environment.from_string(template.read_text(encoding="utf-8")).render(values)
