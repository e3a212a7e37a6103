"""The Kubernetes manifests, and the published schemas that they are validated against."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

PATH: Final = Path(__file__).resolve().parents[2] / "deploy" / "kubernetes" / "victor.yaml"


def loaded() -> dict[str, dict[str, Any]]:
    """The objects of the file by kind, with the template of executors as `Pod`."""
    found: dict[str, dict[str, Any]] = {
        one["kind"]: one for one in yaml.safe_load_all(PATH.read_text(encoding="utf-8"))
    }
    return {**found, "Pod": yaml.safe_load(found["ConfigMap"]["data"]["executor.yaml"])}


def validator(version: str) -> Callable[[dict[str, Any]], None]:
    """Raises if an object is invalid in a version of Kubernetes, or has a field that it does not know."""
    schemas = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")

    def validate(content: dict[str, Any]) -> None:
        schemas.validate(content, version, strict=True)

    return validate
