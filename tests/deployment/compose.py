"""docker-compose.yml as Compose reads it: merged, with the defaults of its variables."""

import re
from pathlib import Path
from typing import Any, Final

import yaml

PATH: Final = Path(__file__).resolve().parents[2] / "docker-compose.yml"
_RUN: Final = re.compile(r"^#   docker compose run --rm (\S+)( \S+.*?)?(?:   .*)?$", re.MULTILINE)
_VARIABLE: Final = re.compile(r"\$\{\w+:-([^}]*)\}")


def loaded() -> dict[str, Any]:
    """The whole file; yaml itself merges what `<<` names."""
    text = _VARIABLE.sub(r"\1", PATH.read_text(encoding="utf-8"))
    content: dict[str, Any] = yaml.safe_load(text)
    return content


def service(name: str) -> dict[str, Any]:
    """One service, with an environment."""
    return {"environment": {}, **loaded()["services"][name]}


def runs() -> list[tuple[str, str]]:
    """The commands in the file's first comment: service and command; by default the service's own command."""
    found = _RUN.findall(PATH.read_text(encoding="utf-8"))
    return [(name, command.strip() or service(name)["command"]) for name, command in found]
