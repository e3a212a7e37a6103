"""Where the files of conf/ and models/ lie, in a checkout and in an installed wheel."""

import os
from pathlib import Path

from victor_spark.errors import ConfigurationError

_PACKAGE = Path(__file__).resolve().parent


def directory(kind: str) -> Path:
    """The folder `kind` ("conf" or "models"): $VICTOR_HOME, else the wheel's, else the checkout's."""
    homes = [Path(home)] if (home := os.environ.get("VICTOR_HOME")) else [_PACKAGE, _PACKAGE.parent]
    for home_path in homes:
        if (home_path / kind).is_dir():
            return home_path / kind
    raise ConfigurationError(f"no {kind}/ folder in {' or '.join(map(str, homes))}")
