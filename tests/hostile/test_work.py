"""The cost of hostile input is proportional to its bytes; cost is bytes allocated and written."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hostile import making
from tests.hostile.making import Part
from tests.warc import making as archives
from victor_html import parse
from victor_spark import pipeline
from victor_spark.document import Document
from victor_spark.html import segment
from victor_spark.html.canonical import canonical
from victor_spark.settings import Settings
from victor_spark.warc import inputs, reading
from victor_spark.warc.records import Record

N = 1000
MOST_TIMES = 2.6
"""The largest allowed ratio of costs when the number of parts is doubled ..."""
ALWAYS = 1 << 20
"""... after subtraction of the constant cost of a page, in bytes."""
MOST_OUTPUT_TIMES = 8


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays that are kept between pages would hide what a page that fits into them allocates."""
    monkeypatch.setattr(parse, "_KEPT_BYTES", -1)
    for name in ("_KEPT_POINTS", "_KEPT_TAGS"):
        monkeypatch.setattr(segment, name, 0)
    monkeypatch.setattr(segment, "_kept", segment._Kept())


@pytest.fixture(scope="module")
def clean() -> Callable[[Record], Document]:
    settings = Settings()
    return pipeline.cleaning(settings, pipeline.models(settings))


def allocated(work: Callable[[], object]) -> int:
    """The most bytes that were allocated at once."""
    work()
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("name", making.PAGES)
def test_canonical_html_is_in_proportion_to_the_page(name: str) -> None:
    page = making.of(making.PAGES[name], 4 * N)
    assert len(canonical(page).html) <= MOST_OUTPUT_TIMES * len(page) + 65_536


def read_and_clean(path: Path, clean: Callable[[Record], Document]) -> None:
    for shard in inputs.resolve([str(path)]):
        for record in reading.read(shard):
            if record.status is None:
                clean(record)


def grows_in_proportion(
    path: Path, make: Callable[[int], bytes], clean: Callable[[Record], Document]
) -> bool:
    peaks = []
    for n in (N, 2 * N):
        path.write_bytes(archives.shard([make(n)]).content)
        peaks.append(allocated(lambda: read_and_clean(path, clean)))
    return peaks[1] <= MOST_TIMES * peaks[0] + ALWAYS


@pytest.mark.parametrize("name", making.PAGES)
def test_memory_is_in_proportion_to_the_page(
    name: str, tmp_path: Path, clean: Callable[[Record], Document]
) -> None:
    part = making.PAGES[name]
    assert grows_in_proportion(tmp_path / "made.warc.gz", lambda n: making.of_page(making.of(part, n)), clean)


@pytest.mark.parametrize("part", making.BODIES.values(), ids=making.BODIES)
def test_memory_is_in_proportion_to_the_answer(
    part: Part, tmp_path: Path, clean: Callable[[Record], Document]
) -> None:
    assert grows_in_proportion(
        tmp_path / "made.warc.gz", lambda n: making.record(making.of(part, n // 4)), clean
    )
