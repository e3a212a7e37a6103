"""The shipped profiles, invented languages, and an uncompiled kernel."""

import importlib.util
import random
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import pytest

from victor_spark.langid.profiles import Profiles

Speak = Callable[[int, int], str]


@pytest.fixture(scope="session")
def shipped(root: Path) -> Profiles:
    """The profiles in models/langid."""
    return Profiles.load(root / "models" / "langid" / "profiles.npz")


@pytest.fixture(scope="session")
def speak() -> Speak:
    """speak(language, n_words): text in one of many invented languages, the same every time."""

    def spoken(language: int, n_words: int) -> str:
        dice = random.Random(language)
        letters = dice.choices("abcdefghijklmnoprstuvzáéíčřžšа", k=12)
        words = ["".join(dice.choices(letters, k=dice.randint(1, 8))) for _ in range(200)]
        return " ".join(dice.choices(words, k=n_words))

    return spoken


@pytest.fixture(scope="session")
def uncompiled(package: Path) -> Any:
    """kernels/ngrams.py as plain Python, whatever stands beside it."""
    loader = SourceFileLoader("ngrams_uncompiled", str(package / "kernels" / "ngrams.py"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
