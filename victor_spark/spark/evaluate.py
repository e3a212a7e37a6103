"""An evaluation on Spark: pages of gold go out to the executors in waves, measurements come back.

Gold lies where the driver is, so the pages travel, a limited amount at a time; every task measures its
pages as a local run does, in a child process of its own.
"""

from collections.abc import Iterator
from functools import partial
from itertools import chain
from threading import Event
from typing import Final
from uuid import uuid4

from pyspark import Broadcast, SparkContext

from victor_spark.evaluation import evaluate
from victor_spark.evaluation.gold import GoldPage
from victor_spark.evaluation.measuring import Measurement, Plan
from victor_spark.spark.session import interruptible, session

WAVE_CHARACTERS: Final = 200_000_000
"""Html that is on its way at a time."""

_PAGES_PER_TASK: Final = 50


def measurements(
    pages: Iterator[GoldPage], plan: Plan, *, master: str | None, seconds: float
) -> Iterator[Measurement]:
    """The measurements of all pages, as `evaluate.locally` gives them, in any order."""
    group, stop = f"victor evaluate {uuid4()}", Event()
    with session(master=master) as spark:
        context = spark.sparkContext
        sent = context.broadcast(plan)
        for wave in waves(pages):
            run = partial(_measured, context, wave, sent, seconds, group)
            yield from interruptible(run, group=group, stop=stop)
            if stop.is_set():
                raise KeyboardInterrupt


def waves(pages: Iterator[GoldPage]) -> Iterator[list[GoldPage]]:
    """The pages in lists of about WAVE_CHARACTERS of html."""
    for first in pages:
        wave, size = [first], len(first.html)
        while size < WAVE_CHARACTERS and (page := next(pages, None)) is not None:
            wave.append(page)
            size += len(page.html)
        yield wave


def _measured(
    context: SparkContext, wave: list[GoldPage], plan: "Broadcast[Plan]", seconds: float, group: str
) -> list[Measurement]:
    context.setJobGroup(group, "victor evaluate", interruptOnCancel=True)
    n_tasks = max(min(context.defaultParallelism, len(wave)), len(wave) // _PAGES_PER_TASK)
    return (
        context.parallelize(wave, n_tasks)
        .mapPartitions(partial(_runner, plan=plan, seconds=seconds))
        .collect()
    )


def _runner(pages: Iterator[GoldPage], *, plan: "Broadcast[Plan]", seconds: float) -> Iterator[Measurement]:
    first = next(pages, None)
    if first is None:
        return iter(())
    return evaluate.locally(chain([first], pages), plan.value, n_jobs=1, seconds=seconds)
