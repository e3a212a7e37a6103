"""Are the shards there, and which content is it? Asked of many at a time, before a run."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from victor_spark.errors import InputError
from victor_spark.warc import opening
from victor_spark.warc.inputs import Shard

N_THREADS: Final = 32
_AT_A_TIME: Final = 4096


@dataclass(frozen=True, slots=True)
class Checked:
    """A shard with its size and etag, or with the reason why nothing is known of it."""

    shard: Shard
    problem: str | None = None


def checked(shards: Iterable[Shard], *, tell: Callable[[int], None] = lambda _: None) -> Iterator[Checked]:
    """Every shard in its place, looked up; `tell` is told now and then how many are."""
    waiting, n_done = iter(shards), 0
    with ThreadPoolExecutor(N_THREADS, "victor-look-up") as pool:
        while some := list(islice(waiting, _AT_A_TIME)):
            for one in pool.map(_look_up, some):
                n_done += 1
                yield one
            tell(n_done)


def _look_up(shard: Shard) -> Checked:
    if shard.aligned or shard.etag is not None:  # one of many records of a file, or known already
        return Checked(shard)
    try:
        size, etag = opening.about(shard.path)
    except (OSError, InputError) as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else opening.one_line(error)
        return Checked(shard, f"{shard.filename}: {reason.removeprefix(f'{shard.path}: ')}")
    return Checked(replace(shard, size=shard.size if size is None else size, etag=etag))
