"""Pinned floors of quality, and the reason for each floor that was lowered.

The file is TOML: `gold` (hash of the annotated pages), a table `[cleaner.kind]` of set → floor,
and one `[[lowered]]` entry for each floor that was lowered on purpose.
"""

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from victor_spark.errors import ConfigurationError, UsageError
from victor_spark.evaluation.measures import ALL

Key: TypeAlias = tuple[str, str, str]
"""Cleaner, kind ("seen" or "unseen" pages), set."""

MARGIN: Final = 0.003
"""How far below what was measured the floor over all sets is put: other machines round differently."""

SET_MARGIN: Final = 0.02
"""The same for a single set, where a few pages decide and a good change may cost a little."""

_HEAD: Final = """\
# Floors of word F1, checked by `./dev gate`; written by `python -m tests.gate.gate --pin`.
# seen: the shipped model, which was trained on these very pages. unseen: models trained without the page's
# site, on a sample only, so they stay below what the shipped model does on pages that nobody has seen.
"""


@dataclass(frozen=True, slots=True)
class Floors:
    """The floors, the hash of the gold data they were measured on, and the record of lowered ones."""

    gold: str
    floors: Mapping[Key, float]
    lowered: tuple[Mapping[str, Any], ...] = ()


def read(path: Path) -> Floors | None:
    """The pinned floors, None where nothing is pinned yet."""
    if not path.is_file():
        return None
    try:
        stored = tomllib.loads(path.read_text(encoding="utf-8"))
        lowered = tuple(stored.pop("lowered", ()))
        gold = str(stored.pop("gold"))
        floors = {
            (cleaner, kind, name): float(floor)
            for cleaner, kinds in stored.items()
            for kind, names in kinds.items()
            for name, floor in names.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"{path}: not a floors file ({error})") from error
    return Floors(gold, floors, lowered)


def broken(pinned: Floors, measured: Mapping[Key, float]) -> list[str]:
    """A line for every floor that a measured figure falls below, or that nothing was measured for."""
    lines = []
    for key, floor in pinned.floors.items():
        if key not in measured:
            lines.append(f"{_named(key)}: pinned at {floor:.3f}, but not measured")
        elif measured[key] < floor:
            lines.append(f"{_named(key)}: {measured[key]:.4f} is below its floor {floor:.3f}")
    return lines


def pinned(before: Floors | None, measured: Mapping[Key, float], gold: str, because: str | None) -> Floors:
    """New floors just below what was measured.

    UsageError when that lowers or drops a floor and nobody says why; the reason is kept in the file.
    """
    floors = {
        key: max(0.0, math.floor((value - _margin(key)) * 1000) / 1000) for key, value in measured.items()
    }
    old = before.floors if before else {}
    lowered = [key for key, floor in old.items() if floors.get(key, 0.0) < floor - _margin(key)]
    if lowered and not because:
        raise UsageError(
            f"pinning would lower {', '.join(map(_named, lowered))}: say why with --lower-because REASON"
        )
    kept = {
        key: max(floor, old.get(key, 0.0)) if key not in lowered else floor for key, floor in floors.items()
    }
    record = [
        {"floor": _named(key), "from": old[key], "to": floors.get(key, 0.0), "because": because}
        for key in lowered
    ]
    return Floors(gold, kept, (*(before.lowered if before else ()), *record))


def differences(before: Floors | None, after: Floors) -> list[str]:
    """A line for every floor that is new, gone or moved."""
    old = before.floors if before else {}
    lines = []
    for key in sorted(old.keys() | after.floors.keys()):
        was, now = old.get(key), after.floors.get(key)
        if was != now:
            lines.append(f"{_named(key)}: {_shown(was)} → {_shown(now)}")
    return lines


def write(path: Path, floors: Floors) -> None:
    """Writes the floors as TOML."""
    lines = [_HEAD + f"gold = {json.dumps(floors.gold)}"]
    tables = sorted({key[:2] for key in floors.floors})
    for cleaner, kind in tables:
        lines.append(f'\n["{cleaner}".{kind}]')
        lines += [
            f"{json.dumps(name)} = {floor:.3f}"
            for (*table, name), floor in sorted(floors.floors.items())
            if tuple(table) == (cleaner, kind)
        ]
    for entry in floors.lowered:
        lines.append("\n[[lowered]]")
        lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _margin(key: Key) -> float:
    return MARGIN if key[2] == ALL else SET_MARGIN


def _named(key: Key) -> str:
    return ".".join(key)


def _shown(floor: float | None) -> str:
    return "none" if floor is None else f"{floor:.3f}"
